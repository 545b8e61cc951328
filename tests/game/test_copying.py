"""Copies: whatever is changed in one table or House, the other stays as it was."""

from __future__ import annotations

from array import array
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import pytest
from msgspec import Struct

from taisai.game.table import Purse, Seat
from taisai.game.vocabulary import Means
from taisai.rules import rulebook
from tests.game import copying
from tests.game.copying import deeply_copied
from tests.game.playing import MBS, RWS, THREE_CARD, US, standing
from tests.game.snapshots import copied, plain, snapshot


class Pair(NamedTuple):
    """A tuple with a name."""

    one: Any
    other: Any


class Frozen(Struct, frozen=True):
    """Something that cannot change, though what it holds may."""

    held: Any


@dataclass
class Loose:
    """Something without slots."""

    held: list[int] = field(default_factory=lambda: [1])


class Linked:
    """Something that leads back to itself."""

    __slots__ = ("me", "never_set", "rows")

    def __init__(self) -> None:
        self.rows = [[1]]
        self.me = [self]


@pytest.mark.parametrize(
    "thing",
    [
        [1, 2],
        [[1], {2: [3]}],
        {"a": {1, 2}, (1, 2): [3]},
        {(1, "a")},
        array("q", [1, 2]),
        Pair([1], Means.CASH_CHIPS),
        (1, ([2], (3, 4))),
        Frozen([1]),
        Frozen(1),
        Loose(),
    ],
    ids=repr,
)
def test_a_copy_is_equal_and_shares_nothing_that_changes(thing: Any) -> None:
    other = deeply_copied(thing)
    assert other == thing == deepcopy(thing)
    assert type(other) is type(thing)
    assert shared(thing, other) == []


def shared(thing: Any, other: Any) -> list[Any]:
    """Whatever can change and is found in both."""
    mine = {id(one): one for one in changeable(thing)}
    return [mine[id(one)] for one in changeable(other) if id(one) in mine]


def changeable(thing: Any) -> list[Any]:
    """Everything in a thing that can change, the thing itself among it."""
    inside: list[Any] = []
    if isinstance(thing, dict):
        inside = [*thing, *thing.values()]
    elif isinstance(thing, list | tuple | set):
        inside = list(thing)
    elif isinstance(thing, Frozen | Loose):
        inside = [thing.held]
    here = [thing] if isinstance(thing, dict | list | set | array | Loose) else []
    return here + [one for each in inside for one in changeable(each)]


def test_whatever_leads_back_leads_back_in_the_copy() -> None:
    thing = Linked()
    other = deeply_copied(thing)
    assert other.me == [other]
    assert other.me[0] is not thing
    assert other.rows == thing.rows
    assert other.rows[0] is not thing.rows[0]
    assert not hasattr(other, "never_set")


def test_what_two_share_is_shared_by_their_copies() -> None:
    columns = (array("q", [0, 0]), array("q", [0, 0]), array("q", [0, 0]), array("q", [0, 0]))
    purses = [Purse(Seat(name), Means.CREDITS, columns, index) for index, name in enumerate("12")]
    first, second = deeply_copied(purses)
    first.credits = 5
    assert (first.index, second.index) == (0, 1)
    assert (first._credits.tolist(), purses[0]._credits.tolist()) == ([5, 0], [0, 0])
    assert second._credits is first._credits


@pytest.mark.parametrize("book", [MBS, RWS, THREE_CARD, US])
def test_a_fork_of_a_table_is_the_table(book: str) -> None:
    here = standing(rulebook(book), "settled")
    before = snapshot(here.table)
    fork = here.fork()
    assert snapshot(fork.table) == before == snapshot(copied(here.table))
    fork.act("collect" if book == US else "collect-and-pay")
    assert snapshot(fork.table) != before
    assert snapshot(here.table) == before


def test_sabotage_a_copy_that_shares_its_lists_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    here = standing(rulebook(MBS), "settled").fork()
    before = plain(here.table.seats)
    monkeypatch.setattr(copying, "_PLAIN", copying._PLAIN | {list, dict, array})
    here.fork().act("collect-and-pay")
    assert plain(here.table.seats) != before

"""Whatever a snapshot leaves out is noticed: each field of a table and of all it is made of, one by one."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from functools import cache
from typing import Any, NamedTuple

import pytest

from taisai.cage import House
from taisai.game import Table, evolve, snapshot
from taisai.game.equipment.items import Equipment, Shoe
from taisai.game.events import RoundResettled
from taisai.game.money.ledger import Ledger
from taisai.game.rounds.round import PastRounds, Round
from taisai.game.snapshot_codec import SnapshotCodec, SnapshotError, form_of
from taisai.game.table import Seat
from taisai.game.terms.terms import InForce
from taisai.rules.vocabulary import Act, Phase
from tests.game.past_rounds import SnapshotStore, compiled_once, unlike
from tests.game.playbooks import PLAYBOOKS, told
from tests.game.snapshots import THE_BOOK, plain
from tests.game.test_snapshot import faults_when_taken_up_at_every_step, opened_table

Parts = Callable[[Table], list[Any]]
PARTS: dict[type, Parts] = {
    Table: lambda table: [table],
    Round: lambda table: [*table.rounds, *([table.round] if table.round else [])],
    Seat: lambda table: list(table.seats.values()),
    Shoe: lambda table: [table.shoe],
    Equipment: lambda table: [table.equipment],
    Ledger: lambda table: [table.ledger],
}
"""What has fields, and where a table has it."""
OF_THE_BOOK = {(Table, name) for name in THE_BOOK} | {(Equipment, "items"), (Shoe, "rule")}
"""No snapshot could lose these: a table has them from its rulebook before anything is restored."""
BETWEEN_TWO_EVENTS = {(Round, "restaked"), (Round, "passed_on")}
"""Between a correction and its resettlement, which one command brings together: no snapshot falls there."""
FIELDS: list[tuple[type, str]] = [
    (kind, field)
    for kind in PARTS
    for field in getattr(kind, "__slots__", ())
    if (kind, field) not in OF_THE_BOOK | BETWEEN_TWO_EVENTS
]


@pytest.fixture(scope="module", autouse=True)
def _terms_compiled_once() -> Iterator[None]:
    with compiled_once():
        yield


def new(kind: type, table: Table) -> Any:
    """A thing of its kind as it is at first."""
    if kind is Round:
        return Round(0, Phase.BETWEEN, "", "", 0)
    fresh = Table(table.book)
    return Seat("") if kind is Seat else PARTS[kind](fresh)[0]


class Seen(NamedTuple):
    """Where a field was first seen to be other than at first."""

    name: str
    place: int


@cache
def first_seen() -> dict[tuple[type, str], Seen]:
    """Field → the playbook, and the number of commands after which it is other than at first."""
    seen: dict[tuple[type, str], Seen] = {}
    for name in sorted(PLAYBOOKS):
        table = opened_table(name)
        for place, played in enumerate(told(name).played, 1):
            for event in played.events:
                evolve(table, event)
            for kind, field in FIELDS:
                if (kind, field) not in seen and _differs(kind, field, table):
                    seen[kind, field] = Seen(name, place)
        if len(seen) == len(FIELDS):
            break
    return seen


def _differs(kind: type, field: str, table: Table) -> bool:
    at_first = _told(field, new(kind, table))
    return any(_told(field, one) != at_first for one in PARTS[kind](table))


def _told(field: str, owner: Any) -> Any:
    value = getattr(owner, field)
    if field == "terms" and isinstance(owner, Seat):
        return value is None
    return plain(value)


def table_at(seen: Seen) -> Table:
    """The table of a playbook after so many commands."""
    table = opened_table(seen.name)
    for played in told(seen.name).played[: seen.place]:
        for event in played.events:
            evolve(table, event)
    return table


def forgetting(kind: type, field: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Snapshots that leave out a field: what is restored has it as at first."""
    restored, restored_round = snapshot.read_table, snapshot.read_round

    def table_without(*restoring: Any) -> Table:
        table = restored(*restoring)
        for one in PARTS[kind](table) if kind is not Round else [table.round] if table.round else []:
            setattr(one, field, getattr(new(kind, table), field))
        return table

    def round_without(*restoring: Any) -> Round:
        round_ = restored_round(*restoring)
        setattr(round_, field, getattr(Round(0, Phase.BETWEEN, "", "", 0), field))
        return round_

    if kind is Round:
        monkeypatch.setattr(snapshot, "read_round", round_without)
    monkeypatch.setattr(snapshot, "read_table", table_without)


DERIVED = {
    Table: {*THE_BOOK, "rounds", "terms", "purses"},
    Seat: {"terms", "purses", "purse"},
    Shoe: {"rule"},
    Equipment: {"items"},
    InForce: {"book", "_compiled"},
}
"""What no snapshot stores: it follows from the rulebook, from other fields, or stands beside the state."""


@pytest.mark.parametrize("kind", [*PARTS, InForce, House], ids=lambda kind: kind.__name__)
def test_a_snapshot_has_every_field_but_what_follows_from_others(kind: type) -> None:
    stored = set(form_of(kind).stored.__struct_fields__)
    assert stored == {field.name for field in fields(kind)} - DERIVED.get(kind, set())


def test_a_new_field_is_stored_without_any_other_place() -> None:
    @dataclass
    class Longer(Round):
        colours: dict[tuple[str, int], set[Act]] = dataclasses.field(default_factory=dict)

    codec = SnapshotCodec(Longer)
    colours = {("red", 2): {Act.COLLECT, Act.PAY}, ("blue", 1): set()}
    round_ = codec.read(codec.write(Longer(1, Phase.BETWEEN, "", "", 0, colours=colours)))
    assert (list(round_.colours.items()), round_.number) == (list(colours.items()), 1)
    with pytest.raises(SnapshotError, match="missing required field `colours`"):
        codec.read(SnapshotCodec(Round).write(Round(1, Phase.BETWEEN, "", "", 0)))


@pytest.mark.parametrize(("kind", "field"), FIELDS, ids=lambda one: getattr(one, "__name__", one))
def test_a_field_that_a_snapshot_leaves_out_is_noticed(
    kind: type, field: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = table_at(first_seen()[kind, field])
    assert unlike(table, SnapshotStore().again(table)) == []
    forgetting(kind, field, monkeypatch)
    assert _faults(table) != []


def _faults(table: Table) -> list[str]:
    try:
        return unlike(table, SnapshotStore().again(table))
    except (AssertionError, KeyError, ValueError) as error:  # a round without its number is not loaded at all
        return [repr(error)]


def test_a_correction_that_does_not_say_so_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    corrected = "rws-wrong-result"
    assert any(isinstance(event, RoundResettled) for event in told(corrected).events())
    assert faults_when_taken_up_at_every_step(corrected) == []
    monkeypatch.setattr(PastRounds, "to_correct", lambda rounds, number: rounds[number - 1])
    assert faults_when_taken_up_at_every_step(corrected) != []


def test_an_order_that_a_snapshot_loses_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    restored = snapshot.read_table

    def turned_round(*restoring: Any) -> Table:
        table = restored(*restoring)
        table.people = dict(reversed(table.people.items()))
        return table

    monkeypatch.setattr(snapshot, "read_table", turned_round)
    name = next(name for name in sorted(PLAYBOOKS) if len(told(name).table.people) > 1)
    assert any("order of people" in fault for fault in faults_when_taken_up_at_every_step(name))

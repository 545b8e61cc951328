"""A table made again from its snapshot is the same table, and goes on as if nothing had been."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, reduce
from random import Random

import pytest

from taisai.game import Refusal, Table, decide, evolve
from taisai.game.events import Event
from taisai.game.playbook import PlayedCommand
from taisai.game.rounds.round import PastRounds
from taisai.game.snapshot import write_table
from tests.game.machine import SETUPS, Setup, opened
from tests.game.past_rounds import SnapshotStore, compiled_once, unlike
from tests.game.playbooks import PLAYBOOKS, book_of, some_playbooks, told
from tests.game.seeded_player import STEPS, Hand
from tests.tiers import LONG, count

EVERY = 1 if LONG else 3
"""Of so many prefixes of a playbook, one is gone on from."""
RUNS = count(1, 10)
"""At every setup of the machine."""


@pytest.fixture(scope="module", autouse=True)
def _terms_compiled_once() -> Iterator[None]:
    with compiled_once():
        yield


def answer_of(played: PlayedCommand) -> tuple[Event, ...] | Refusal:
    """What the table said when the playbook was played."""
    return played.events if played.refusal is None else played.refusal


def opened_table(name: str, rounds: PastRounds | None = None) -> Table:
    """The table of a playbook after its header."""
    book = book_of(told(name).story.book)
    return reduce(evolve, told(name).opened, Table(book, PastRounds() if rounds is None else rounds))


@cache
def end_of(name: str) -> bytes:
    """The end of a playbook, as bytes."""
    return write_table(told(name).table)


def faults_when_taken_up_at_every_step(name: str) -> list[str]:
    """What goes wrong where the table is written down and taken up again before each command."""
    shelf, faults = SnapshotStore(), []
    plain, table = opened_table(name), opened_table(name)
    for place, played in enumerate(told(name).played):
        again = shelf.again(table)
        faults += [f"{name} before command {place}: {what}" for what in unlike(plain, again)]
        if faults:
            return faults
        table = again
        answer = decide(table, played.command)
        if answer != answer_of(played):
            return [f"{name}: expected {answer_of(played)}, got {answer} to command {place}"]
        for event in played.events:
            evolve(table, event)
            evolve(plain, event)
    return faults + [f"{name} at the end: {what}" for what in unlike(told(name).table, shelf.again(table))]


def faults_going_on_from(name: str, place: int, data: bytes, shelf: SnapshotStore) -> list[str]:
    """What goes wrong where the rest is played at a table taken up once, every round put away at once."""
    own = SnapshotStore()
    own.rounds = dict(shelf.rounds)
    table = own.taken_up(book_of(told(name).story.book), data)
    for played in told(name).played[place:]:
        answer = decide(table, played.command)
        if answer != answer_of(played):
            return [f"{name} from {place}: expected {answer_of(played)}, got {answer} to {played.command}"]
        for event in played.events:
            evolve(table, event)
        own.put_away(table)
    if write_table(table) != end_of(name):
        return [f"{name} from {place}: another end"]
    return [f"{name} from {place}, at the end: {what}" for what in unlike(told(name).table, table)]


@some_playbooks
def test_after_every_command_a_snapshot_makes_the_same_table(name: str) -> None:
    assert faults_when_taken_up_at_every_step(name) == []


@some_playbooks
def test_from_any_snapshot_the_rest_of_a_playbook_is_the_same(name: str) -> None:
    shelf = SnapshotStore()
    table = opened_table(name, PastRounds(load=shelf.load))
    first = sorted(PLAYBOOKS).index(name) % EVERY  # so that short and long prefixes are all met
    for place, played in enumerate(told(name).played):
        if place % EVERY == first:
            data = write_table(table)
            assert faults_going_on_from(name, place, data, shelf) == []
        for event in played.events:
            evolve(table, event)
        shelf.put_away(table)


@pytest.mark.parametrize("setup", SETUPS, ids=lambda setup: setup.name)
def test_whatever_is_asked_a_table_goes_on_from_its_snapshot(setup: Setup) -> None:
    for run in range(RUNS):
        assert faults_under_any_hand(setup, f"{setup.name} {run}") == ""


def faults_under_any_hand(setup: Setup, seed: str) -> str:
    """What goes wrong at a table that is taken up again after every step of a hand, beside its twin."""
    random = Random(seed)
    under, shelf = opened(setup), SnapshotStore()
    hand = Hand(under)
    for _ in range(120):
        hand.step(random.choice(STEPS), random.getrandbits(32))
        again = shelf.again(under.table)
        faults = [*under.faults, *unlike(under.twin, again)]
        if faults:
            return "\n".join([f"seed {seed!r}", *faults, "after", *map(repr, under.asked[-3:])])
        under.table = again
    return ""


def test_a_snapshot_shares_nothing_with_its_table() -> None:
    name = "tour"
    shelf, table = SnapshotStore(), opened_table(name)
    for played in told(name).played:
        data = write_table(table)
        shelf.save(table)
        twice = [shelf.taken_up(table.book, data) for _ in range(2)]
        for event in played.events:
            evolve(table, event)
            evolve(twice[0], event)
        assert write_table(twice[1]) == data

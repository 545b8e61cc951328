"""Staffing: who is assigned to the table, in which position, and who relieved whom."""

from __future__ import annotations

from typing import ClassVar, Final

from taisai.game.checks import at_table, bad_name, listed, refused
from taisai.game.messages import Command, Event, Events
from taisai.game.refusals import Reason, Refusal
from taisai.game.table import Deciders, Effects, Person, Table
from taisai.game.vocabulary import HOUSE, SYSTEM, folded
from taisai.rules.clauses import Clause

__all__ = ["Assign", "Leave", "PersonAssigned", "PersonLeft"]


class Assign(Command, frozen=True, kw_only=True, tag="assign"):
    """A person is assigned to a position at the table and acts in it; a Dealer relieves the one before."""

    after_closing: ClassVar[bool] = True
    person: str
    rank: str
    """The person's own rank."""
    position: str


class Leave(Command, frozen=True, kw_only=True, tag="leave"):
    """A person leaves the table."""

    after_closing: ClassVar[bool] = True
    person: str


class PersonAssigned(Event, frozen=True, kw_only=True, tag="person-assigned"):
    """A person is assigned to a position and acts in it."""

    person: str
    rank: str
    position: str
    relieved: str | None
    """The Dealer whom this person relieved, and whose items they took into custody."""


class PersonLeft(Event, frozen=True, kw_only=True, tag="person-left"):
    """A person left the table."""

    person: str


PEOPLE: Final = Clause("house:people")
MOST_PEOPLE: Final = 100  # at one table at once
NO_RELIEF: Final = "the Dealer cannot leave during a round: “Assign a person to the table” first"


def assign(table: Table, command: Assign) -> Events | Refusal:
    """A person takes a position: assigned by a supervisor, or signed in by the House."""
    ranks = table.ranks.ranks()
    for what, rank in (("rank", command.rank), ("position", command.position)):
        if rank not in ranks:
            return refused(Reason.BAD_VALUE, PEOPLE, f"unknown {what} {rank!r}; known: {listed(ranks)}")
    if refusal := _may_assign(table, command) or bad_name("a person's name", command.person):
        return refusal
    if folded(command.person) in SYSTEM or any(
        command.person == seat.terminal for seat in table.seats.values()
    ):
        message = f"{command.person!r} is a terminal or one of the system's own actors, not a person"
        return refused(Reason.BAD_VALUE, PEOPLE, message)
    for name in table.people:
        if name != command.person and folded(name) == folded(command.person):
            message = f"{command.person!r} is too similar to {name!r}, who is at the table"
            return refused(Reason.BAD_VALUE, PEOPLE, message)
    if table.round is not None and command.person == table.dealer() and command.position != ranks[0]:
        return refused(Reason.UNDER_LIVE_BETS, PEOPLE, NO_RELIEF)
    if command.position != ranks[0] and (custody := _has_custody(table, command.person)):
        return custody
    if len(table.people) >= MOST_PEOPLE and command.person not in table.people:
        return refused(Reason.TOO_MANY, PEOPLE, f"the table has {MOST_PEOPLE} people, the greatest number")
    dealing = table.dealer() if command.position == ranks[0] else None
    clause = next(rank.clause for rank in table.ranks.ladder if rank.id == command.position)
    return (
        PersonAssigned(
            at=command.at, by=command.by, clause=clause, person=command.person,
            rank=command.rank, position=command.position,
            relieved=dealing if dealing != command.person else None,
        ),
    )  # fmt: skip


def _may_assign(table: Table, command: Assign) -> Refusal | None:
    """Why someone may not assign a position: only the House assigns those who can be second persons."""
    ranks = table.ranks
    if command.by == HOUSE:
        return None
    if refusal := at_table(table, command.by):
        return refusal
    holder = table.people[command.by].position
    if ranks.at_least(command.position, ranks.second):
        message = f"only the House assigns a {command.position}, not {command.by} ({holder})"
        return refused(Reason.NOT_PERMITTED, PEOPLE, message)
    if not ranks.at_least(holder, ranks.second):
        message = f"only the {ranks.second} or a higher rank may do this, not {command.by} ({holder})"
        return refused(Reason.NOT_PERMITTED, PEOPLE, message)
    return None


def leave(table: Table, command: Leave) -> Events | Refusal:
    """A person leaves: by themselves, or sent away by a supervisor or the House."""
    refusal = at_table(table, command.by) if command.by != HOUSE else None
    if refusal:
        return refusal
    if command.person not in table.people:
        message = f"{command.person!r} is not at the table; at the table: {listed(table.people)}"
        return refused(Reason.UNKNOWN_PERSON, PEOPLE, message)
    refusal = _may_send_away(table, command) if command.by != HOUSE else None
    refusal = refusal or _has_custody(table, command.person)
    return refusal or (PersonLeft(at=command.at, by=command.by, clause=PEOPLE, person=command.person),)


def _may_send_away(table: Table, command: Leave) -> Refusal | None:
    """Why a person may not be sent away, except by the House: the Dealer of a round stays."""
    holder = table.people[command.by].position
    if command.by != command.person and not table.ranks.at_least(holder, table.ranks.second):
        message = f"only the {table.ranks.second} or a higher rank may do this, not {command.by} ({holder})"
        return refused(Reason.NOT_PERMITTED, PEOPLE, message)
    if table.round is not None and (command.person == table.dealer() or len(table.people) == 1):
        return _has_custody(table, command.person) or refused(Reason.UNDER_LIVE_BETS, PEOPLE, NO_RELIEF)
    return None


def _has_custody(table: Table, person: str) -> Refusal | None:
    """Why the last Dealer stays: an item on the table is the Dealer's responsibility at all times."""
    if table.practice == 1 or person != table.dealer():
        return None
    for name, placed in table.equipment.placed.items():
        if placed.custodian == person:
            clause = table.equipment.items[name].clause
            message = f"{name} is in the custody of {person}: hand it over or remove it first"
            return refused(Reason.UNMET_NEED, clause, message)
    return None


def on_assigned(table: Table, event: PersonAssigned) -> None:
    """A person is at the table; the person whom they relieved is not."""
    if event.relieved is not None:
        table.people.pop(event.relieved, None)
    table.people[event.person] = Person(event.rank, event.position)
    if event.position == table.ranks.ladder[0].id:
        table.equipment.hand_over(event.person)


def on_left(table: Table, event: PersonLeft) -> None:
    table.people.pop(event.person, None)


DECIDERS: Final[Deciders] = {Assign: assign, Leave: leave}

EFFECTS: Final[Effects] = {PersonAssigned: on_assigned, PersonLeft: on_left}

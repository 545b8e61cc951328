"""Staffing: who is assigned to the table, in which position, and who relieved whom."""

from __future__ import annotations

from typing import ClassVar, Final

from taisai.game.checks import at_table, bad_name, refused
from taisai.game.messages import Command, Event, Events
from taisai.game.refusals import Reason, Refusal
from taisai.game.table import Deciders, Effects, Person, Table
from taisai.game.vocabulary import HOUSE, SYSTEM, folded
from taisai.rules.clauses import Clause

__all__ = [
    "Assign",
    "Leave",
    "PersonAssigned",
    "PersonLeft",
]


# Commands


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


# Events


class PersonAssigned(Event, frozen=True, kw_only=True, tag="person-assigned"):
    """A person is assigned to a position and acts in it."""

    person: str
    rank: str
    position: str
    relieved: str | None
    """The person whose place he took, with all in that person's custody."""


class PersonLeft(Event, frozen=True, kw_only=True, tag="person-left"):
    """A person left the table."""

    person: str


PEOPLE: Final = Clause("house:people")
MOST_PEOPLE: Final = 100  # at one table at once


def assign(table: Table, command: Assign) -> Events | Refusal:
    """A person takes a position: assigned by a supervisor, or signed in by the House."""
    ranks = table.ranks.ranks()
    for what, rank in (("a rank", command.rank), ("a position", command.position)):
        if rank not in ranks:
            return refused(Reason.BAD_VALUE, PEOPLE, f"{what} of {', '.join(ranks)}", rank)
    wrong = _may_assign(table, command) or bad_name("a person's name", command.person)
    if wrong:
        return wrong
    if folded(command.person) in SYSTEM or any(
        command.person == seat.terminal for seat in table.seats.values()
    ):
        return refused(Reason.BAD_VALUE, PEOPLE, "a person", command.person)
    if any(one != command.person and folded(one) == folded(command.person) for one in table.people):
        return refused(Reason.BAD_VALUE, PEOPLE, "a name that nobody at the table has", command.person)
    if table.round is not None and command.person == table.dealer() and command.position != ranks[0]:
        return refused(Reason.UNDER_LIVE_BETS, PEOPLE, "a relief for the Dealer of a round in hand", "none")
    if len(table.people) >= MOST_PEOPLE and command.person not in table.people:
        return refused(Reason.TOO_MANY, PEOPLE, f"at most {MOST_PEOPLE} people", "one more")
    dealing = table.dealer() if command.position == ranks[0] else None
    return (
        PersonAssigned(
            at=command.at, by=command.by, clause=_clause(table, command.position), person=command.person,
            rank=command.rank, position=command.position,
            relieved=dealing if dealing != command.person else None,
        ),
    )  # fmt: skip


def _may_assign(table: Table, command: Assign) -> Refusal | None:
    """A supervising position is filled by the House's word alone: nobody makes his own second person."""
    ranks = table.ranks
    if command.by == HOUSE:
        return None
    wrong = at_table(table, command.by)
    if wrong:
        return wrong
    holder = table.people[command.by].position
    if ranks.at_least(command.position, ranks.second):
        expected = "the House's staff roll to sign a supervisor in"
        return refused(Reason.NOT_PERMITTED, PEOPLE, expected, f"{command.by}, {holder}")
    if not ranks.at_least(holder, ranks.second):
        expected = f"the {ranks.second} or above"
        return refused(Reason.NOT_PERMITTED, PEOPLE, expected, f"{command.by}, {holder}")
    return None


def _clause(table: Table, position: str) -> Clause:
    """The document's clause on the position, where it has one."""
    return next(rank.clause for rank in table.ranks.ladder if rank.id == position)


def leave(table: Table, command: Leave) -> Events | Refusal:
    """A person leaves: himself, sent away by a supervisor, or by the House where its roll has changed."""
    wrong = at_table(table, command.by) if command.by != HOUSE else None
    if wrong:
        return wrong
    if command.person not in table.people:
        return refused(Reason.UNKNOWN_PERSON, PEOPLE, "someone at the table", command.person)
    wrong = _may_send_away(table, command) if command.by != HOUSE else None
    return wrong or (PersonLeft(at=command.at, by=command.by, clause=PEOPLE, person=command.person),)


def _may_send_away(table: Table, command: Leave) -> Refusal | None:
    """Nobody's Dealer goes with a round in hand; whom the roll does not have as he stands here does."""
    holder = table.people[command.by].position
    if command.by != command.person and not table.ranks.at_least(holder, table.ranks.second):
        return refused(Reason.NOT_PERMITTED, PEOPLE, f"the {table.ranks.second} or above", command.by)
    if table.round is not None and (command.person == table.dealer() or len(table.people) == 1):
        return refused(Reason.UNDER_LIVE_BETS, PEOPLE, "a relief for the Dealer of a round in hand", "none")
    return None


# Evolving


def on_assigned(table: Table, event: PersonAssigned) -> None:
    """Someone is there; whom he relieved is not."""
    if event.relieved is not None:
        table.people.pop(event.relieved, None)
    table.people[event.person] = Person(event.rank, event.position)
    if event.position == table.ranks.ladder[0].id:
        table.equipment.hand_over(event.person)


def on_left(table: Table, event: PersonLeft) -> None:
    """Someone is gone."""
    table.people.pop(event.person, None)


DECIDERS: Final[Deciders] = {
    Assign: assign,
    Leave: leave,
}

EFFECTS: Final[Effects] = {
    PersonAssigned: on_assigned,
    PersonLeft: on_left,
}

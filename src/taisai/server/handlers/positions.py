"""Positions of staff at tables, checked against the staff list of the House.

Each function runs in the engine's turn, so that the check and the command that follows it are one step.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from taisai.game.commands import Assign
from taisai.game.refusals import Reason, Refusal
from taisai.game.table import Person
from taisai.game.vocabulary import HOUSE as BY_THE_HOUSE
from taisai.journal import Answer, Engine
from taisai.rules.clauses import Clause
from taisai.rules.errors import RulesError
from taisai.rules.people import People
from taisai.server.auth.permissions import SECOND_PERSONS, role_of

_PEOPLE: Final = Clause("house:people")


class _Known(NamedTuple):
    """What the House and a table know of a person."""

    rank: str | None
    here: Person | None
    """The person's position at the table, and the rank under which they took it."""
    people: People

    @property
    def position(self) -> str | None:
        """The position, if the person holds it under the rank of the staff list."""
        return self.here.position if self.here is not None and self.here.rank == self.rank else None


def _known(engine: Engine, table: str, person: str) -> _Known:
    state = engine.table(table)
    return _Known(engine.house().people.get(person), state.people.get(person), state.ranks)


def _not_of_rank(expected: str, got: str) -> Refusal:
    return Refusal(Reason.NOT_PERMITTED, _PEOPLE, f"expected {expected}, got {got}")


def take(engine: Engine, table: str, person: str, position: str, *, at: int) -> Assign | Answer:
    """A member of staff takes a position up to their rank; no command if they hold it already."""
    known = _known(engine, table, person)
    ladder = known.people.ranks()
    if known.position == position:
        return ()
    if known.rank not in ladder or position not in ladder:
        got = f"{person}, {known.rank or 'not on the staff list'}, as {position}"
        return _not_of_rank(f"a rank and a position of {', '.join(ladder)}", got)
    if known.people.place(position) > known.people.place(known.rank):
        return _not_of_rank(f"a position up to {known.rank}", position)
    return _assign(person, known.rank, position, at)


def second_person(engine: Engine, person: str, table: str | None, *, at: int) -> Assign | Answer:
    """Checks the rank of a person who approved a request; at a table, assigns them a position there."""
    rank = engine.house().people.get(person, "")
    if role_of(rank) not in SECOND_PERSONS:
        return _not_of_rank(f"one of {', '.join(sorted(SECOND_PERSONS))}", rank or person)
    return () if table is None else bring_second(engine, table, person, at=at)


def bring_second(engine: Engine, table: str, person: str, *, at: int) -> Assign | Answer:
    """Assigns a second person to the table where they approve something, if they are not there already."""
    known = _known(engine, table, person)
    if known.position is not None:
        return ()
    if known.rank not in known.people.ranks() or not known.people.at_least(known.rank, known.people.second):
        got = f"{person}, {known.rank or 'not on the staff list'}"
        return _not_of_rank(f"a second person of the rank {known.people.second} or above", got)
    return _assign(person, known.rank, known.rank, at)


def out_of_place(engine: Engine, table: str, person: str) -> Refusal | None:
    """Why someone may not act in their position: they took it under another rank than they have now."""
    try:
        known = _known(engine, table, person)
    except RulesError:
        return None  # the engine's own refusal of an unknown table is better
    if known.here is None or known.here.rank == known.rank:
        return None  # the table decides what they may do
    expected = f"{person} in a position taken as {known.rank or 'someone on the staff list'}"
    return _not_of_rank(expected, f"{known.here.position}, taken as {known.here.rank}")


def not_on_list(engine: Engine, person: str, rank: str) -> Refusal | None:
    """Why someone does not have a rank."""
    listed = engine.house().people.get(person)
    if listed == rank:
        return None
    return _not_of_rank(f"{person} as {rank}", f"{listed or 'nobody of this name'} on the staff list")


def _assign(person: str, rank: str, position: str, at: int) -> Assign:
    return Assign(at=at, by=BY_THE_HOUSE, person=person, rank=rank, position=position)

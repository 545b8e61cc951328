"""Positions: the House's word at a table on who someone is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from taisai.game.commands import Assign
from taisai.game.refusals import Reason, Refusal
from taisai.game.table import Person
from taisai.game.vocabulary import HOUSE as BY_THE_HOUSE
from taisai.journal import Answer, Engine, stream_of
from taisai.rules.clauses import Clause
from taisai.rules.errors import RulesError
from taisai.rules.people import People

if TYPE_CHECKING:
    from taisai.server.handlers.context import Context

_PEOPLE: Final = Clause("house:people")


class _Known(NamedTuple):
    """What House and table know of a person."""

    rank: str | None
    here: Person | None
    """As what they stand at the table."""
    people: People

    @property
    def position(self) -> str | None:
        """Their position, if they hold it under the rank that the roll has."""
        return self.here.position if self.here is not None and self.here.rank == self.rank else None


def not_of_rank(expected: str, got: str) -> Refusal:
    """A refusal about someone's rank."""
    return Refusal(Reason.NOT_PERMITTED, _PEOPLE, f"expected {expected}, got {got}")


async def take(context: Context, table: str, person: str, position: str) -> Answer:
    """A member of staff comes to a table, in a position up to their rank."""
    known = await _known(context, table, person)
    ladder = known.people.ranks()
    if known.position == position:
        return ()
    if known.rank not in ladder or position not in ladder:
        got = f"{person}, {known.rank or 'not on the roll'}, as {position}"
        return not_of_rank(f"a rank and a position of {', '.join(ladder)}", got)
    if known.people.place(position) > known.people.place(known.rank):
        return not_of_rank(f"a position up to {known.rank}", position)
    return await _assigned(context, table, person, known.rank, position)


async def bring_second(context: Context, table: str, person: str) -> Refusal | None:
    """A second person stands at the table where they approve something; the table records that they came."""
    known = await _known(context, table, person)
    if known.position is not None:
        return None
    if known.rank not in known.people.ranks() or not known.people.at_least(known.rank, known.people.second):
        got = f"{person}, {known.rank or 'not on the roll'}"
        return not_of_rank(f"a second person of the rank {known.people.second} or above", got)
    answer = await _assigned(context, table, person, known.rank, known.rank)
    return answer if isinstance(answer, Refusal) else None


async def out_of_place(context: Context, table: str, person: str) -> Refusal | None:
    """Why someone may not act as they stand at a table: the roll has another rank of them since they came."""
    try:
        known = await _known(context, table, person)
    except RulesError:
        return None  # there is no such table, which the queue says better
    if known.here is None or known.here.rank == known.rank:
        return None  # and the table says what they may
    expected = f"{person} in a position that they took as {known.rank or 'someone on the roll'}"
    return not_of_rank(expected, f"{known.here.position}, taken as {known.here.rank}")


async def on_roll(context: Context, person: str, rank: str) -> Refusal | None:
    """Why someone has not the rank that is told of them."""
    found = await context.queue.run(lambda engine: engine.house().people.get(person))
    return (
        None
        if found == rank
        else not_of_rank(f"{person} as {rank}", f"{found or 'nobody'} on the staff roll")
    )


async def _known(context: Context, table: str, person: str) -> _Known:
    def found(engine: Engine) -> _Known:
        at = engine.table(table)
        return _Known(engine.house().people.get(person), at.people.get(person), at.ranks)

    return await context.queue.run(found)


async def _assigned(context: Context, table: str, person: str, rank: str, position: str) -> Answer:
    command = Assign(at=context.clock.now(), by=BY_THE_HOUSE, person=person, rank=rank, position=position)
    return await context.queue.execute(stream_of(table), command)

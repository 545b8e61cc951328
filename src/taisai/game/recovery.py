"""Recovery: the table as its events left it, and what becomes of a round that a stop cut off.

Decisions are appended whole, so a prefix ends between two of them.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from taisai.game import play
from taisai.game.commands import Declare, Recover
from taisai.game.events import Event, Interrupted
from taisai.game.refusals import Refusal
from taisai.game.table import Table
from taisai.game.vocabulary import RECOVERY
from taisai.rules.book import Rulebook
from taisai.rules.clauses import Clause
from taisai.rules.procedure import Declared, Recovery


class Declaration(NamedTuple):
    """What Dealer and supervisor declare."""

    declared: Declared
    by: str
    second: str


class Recovered(NamedTuple):
    """A table that is back, what was decided on its round, and the events to be appended for it."""

    table: Table
    action: Recovery
    clause: Clause
    events: tuple[Event, ...]
    refusal: Refusal | None = None
    """Why the declaration was not accepted, if it was not."""


def recover(
    prefix: Iterable[Event],
    rulebook: Rulebook,
    declaration: Declaration | None = None,
    *,
    at: int = 0,
    stopped_for: int | None = None,
) -> Recovered:
    """The table as the events left it, and what follows from the stop."""
    table = play.replayed(rulebook, prefix)
    events = play.decide(table, Recover(at=at, by=RECOVERY, stopped_for=stopped_for))
    assert not isinstance(events, Refusal), "recovery is never refused"
    for event in events:
        play.evolve(table, event)
    refusal = None
    if declaration is not None:
        declare = Declare(at=at, by=declaration.by, declared=declaration.declared, second=declaration.second)
        answer = play.decide(table, declare)
        if isinstance(answer, Refusal):
            refusal = answer
        else:
            for event in answer:
                play.evolve(table, event)
            events = (*events, *answer)
    stops = [event for event in events if isinstance(event, Interrupted)]
    if not stops:
        return Recovered(table, Recovery.NOTHING, Clause("house:recovery"), events, refusal)
    return Recovered(table, stops[-1].action, stops[-1].clause, events, refusal)

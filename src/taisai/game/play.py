"""Play: `decide` turns a command into events or a refusal, `evolve` applies an event to the table."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

from taisai.game import seating, staffing
from taisai.game.betting import placing, record, rewriting, stakes
from taisai.game.by_hand import entering, handed_over
from taisai.game.checks import not_open, refused
from taisai.game.dice import readings, seeds
from taisai.game.equipment import maintenance
from taisai.game.irregularities import holds, referrals, reports, rulings, withdrawal
from taisai.game.irregularities.messages import Declare, Interrupted, Recover
from taisai.game.messages import LATEST, Command, Event
from taisai.game.money import archive, cashier, claims
from taisai.game.refusals import Reason, Refusal
from taisai.game.rounds import effects, steps
from taisai.game.table import Deciders, Effects, Table
from taisai.game.terms import opening
from taisai.game.vocabulary import RECOVERY
from taisai.rules.book import Rulebook
from taisai.rules.clauses import Clause
from taisai.rules.procedure import Declared, Recovery

_MODULES: Final = (
    opening, staffing, maintenance, seating, archive, cashier, claims, placing, stakes, record, rewriting,
    steps, effects, rulings, referrals, reports, holds, withdrawal, entering, handed_over, readings, seeds,
)  # fmt: skip
_DECIDERS: Final[Deciders] = {
    kind: decider for module in _MODULES for kind, decider in getattr(module, "DECIDERS", {}).items()
}
_EFFECTS: Final[Effects] = {
    kind: effect for module in _MODULES for kind, effect in getattr(module, "EFFECTS", {}).items()
}


def decide(table: Table, command: Command) -> tuple[Event, ...] | Refusal:
    """The events that follow from a command, none if it is a retry, or a refusal with its clause."""
    kind = type(command)
    at = command.at
    if type(at) is not int or not 0 <= at <= LATEST:
        message = f"expected a time from 0 to {LATEST} milliseconds, got {at!r}"
        return refused(Reason.BAD_VALUE, "house:most", message)
    if not table.open and not kind.before_opening and not (table.name and kind.after_closing):
        return not_open(table)
    return _DECIDERS[kind](table, command)


def evolve(table: Table, event: Event) -> Table:
    """The table after an event: the same object, changed."""
    table.ledger.latest = []
    table.latest = max(table.latest, event.at)
    _EFFECTS[type(event)](table, event)
    return table


def replayed(book: Rulebook, past: Iterable[Event]) -> Table:
    """The table that a stream of events makes."""
    table = Table(book)
    for event in past:
        evolve(table, event)
    return table


class Declaration(NamedTuple):
    """What the Dealer and a supervisor declare after a stop."""

    declared: Declared
    by: str
    second: str


class Recovered(NamedTuple):
    """A table after a stop, what was decided on its round, and the events to append."""

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
    """Replays a table and decides what follows from the stop."""
    table = replayed(rulebook, prefix)
    events = decide(table, Recover(at=at, by=RECOVERY, stopped_for=stopped_for))
    assert not isinstance(events, Refusal), "recovery is never refused"
    for event in events:
        evolve(table, event)
    refusal = None
    if declaration is not None:
        declare = Declare(at=at, by=declaration.by, declared=declaration.declared, second=declaration.second)
        answer = decide(table, declare)
        if isinstance(answer, Refusal):
            refusal = answer
        else:
            for event in answer:
                evolve(table, event)
            events = (*events, *answer)
    stops = [event for event in events if isinstance(event, Interrupted)]
    if not stops:
        return Recovered(table, Recovery.NOTHING, Clause("house:recovery"), events, refusal)
    return Recovered(table, stops[-1].action, stops[-1].clause, events, refusal)

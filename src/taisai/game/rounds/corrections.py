"""Voiding rounds and correcting results, also when they are long over, under dual control."""

from __future__ import annotations

from itertools import chain
from typing import Protocol

from taisai.game.checks import refused, two_people
from taisai.game.commands import Faces
from taisai.game.events import Event, ResultCorrected, RoundResettled, RoundVoided, TableShut
from taisai.game.refusals import Reason, Refusal
from taisai.game.rounds.adjusting import adjustments, owed
from taisai.game.rounds.round import Round
from taisai.game.rounds.settlement import due_again, stakes_by_purse
from taisai.game.table import Table
from taisai.rules.clauses import Clause
from taisai.rules.errors import RulesError
from taisai.rules.irregularities import RulingCell
from taisai.rules.outcomes import Outcome
from taisai.rules.vocabulary import Phase

Events = tuple[Event, ...]


class Ordered(Protocol):
    """Who orders it, when, with whom, by which ruling."""

    @property
    def at(self) -> int: ...
    @property
    def by(self) -> str: ...
    @property
    def second(self) -> str | None: ...
    @property
    def ruled(self) -> RulingCell: ...


def voided(
    table: Table, case: Ordered, first: int, last: int, *, by_itself: bool = False
) -> Events | Refusal:
    """A range of rounds is void; those that are void already stay so.

    What moves settled money takes two people, unless the system does it by itself after a stop.
    """
    current = table.round
    newest = len(table.rounds) + (current is not None)
    if not 1 <= first <= last <= newest:
        got = f"{first} to {last}"
        return refused(Reason.WRONG_ROUND, case.ruled.clause, f"rounds from 1 to {newest}", got)
    reaches_current = current is not None and last == current.number
    spent: dict[int, int] = {}
    void = [
        _voided(table, case, one, spent)
        for one in chain(table.rounds[first - 1 : last], [current] if reaches_current else [])
        if one is not None and not one.voided
    ]
    if not void:
        return refused(
            Reason.RULED_OUT, case.ruled.clause, "a round that is not void yet", f"{first} to {last}"
        )
    if not by_itself and (len(void) > 1 or void[0].settled):
        wrong = two_people(table, case.by, case.second)
        if wrong:
            return wrong
    return (*void, *(shut_now(table, case.at, case.by) if reaches_current else ()))


def shut_now(table: Table, at: int, by: str) -> Events:
    """The table is shut with the end of its round, where that was ordered."""
    if table.shut_after is None:
        return ()
    return (TableShut(at=at, by=by, clause=table.witnessed_by, reason=table.shut_after),)


def _voided(table: Table, case: Ordered, round_: Round, spent: dict[int, int]) -> RoundVoided:
    to_players = by_players = 0
    settled = round_.settled is not None
    stakes = stakes_by_purse(table, round_)
    if settled and not unpaid(table, round_):
        to_players, by_players = owed(adjustments(table, round_, stakes, spent))
    return RoundVoided(
        at=case.at, by=case.by, clause=case.ruled.clause, round=round_.number,
        staked=round_.staked, settled=settled, owed_to_players=to_players, owed_by_players=by_players,
        later=_later(table, round_), second=case.second,
    )  # fmt: skip


def _decks_hold(table: Table, round_: Round, outcome: Outcome) -> bool:
    """Whether the shoe can have shown it; of cards that were shuffled away since, nothing is known."""
    shoe = table.shoe
    if not shoe.used or round_.result is None or round_.shuffle != shoe.shuffles:
        return True
    return shoe.can_hold(outcome.faces, instead_of=round_.result.faces)


def _later(table: Table, round_: Round) -> Clause | None:
    newest = len(table.rounds) + (table.round is not None)
    return table.irregularities.later if round_.number < newest else None


def unpaid(table: Table, round_: Round) -> bool:
    """Whether a settlement is recorded and not yet paid."""
    return round_ is table.round and round_.settled is not None and round_.phase is not Phase.PAID


def corrected(table: Table, case: Ordered, round_: Round, faces: Faces) -> Events | Refusal:
    """A result gives way to what the dice or cards showed."""
    clause = case.ruled.clause
    try:
        outcome = Outcome.of(*faces)
    except RulesError as error:
        return Refusal(Reason.BAD_VALUE, clause, f"what the dice or cards showed: {error}")
    if round_.voided or round_.result is None:
        got = "a void round" if round_.voided else "no result yet"
        return refused(Reason.RULED_OUT, clause, "a round with a result", got)
    if not _decks_hold(table, round_, outcome):
        expected = "cards that the decks hold"
        return refused(Reason.BAD_VALUE, table.shoe.rule.clause, expected, " ".join(map(str, outcome.faces)))
    if outcome is round_.result:
        return refused(Reason.BAD_VALUE, clause, f"another outcome than {outcome}", "the same")
    wrong = two_people(table, case.by, case.second)
    if wrong:
        return wrong
    assert case.second is not None
    if round_.settled is None:
        faces = tuple(outcome.faces)
        return (ResultCorrected(at=case.at, by=case.by, clause=clause, faces=faces, second=case.second),)
    again, due = due_again(table, round_, outcome)
    to_players = by_players = 0
    if not unpaid(table, round_):
        to_players, by_players = owed(adjustments(table, round_, due))
    return (
        RoundResettled(
            at=case.at, by=case.by, clause=clause, round=round_.number, entered=tuple(round_.result.faces),
            faces=tuple(outcome.faces), staked=again.staked, collected=again.collected, won=again.won,
            stakes_back=again.stakes_back, owed_to_players=to_players, owed_by_players=by_players,
            later=_later(table, round_), second=case.second,
        ),
    )  # fmt: skip

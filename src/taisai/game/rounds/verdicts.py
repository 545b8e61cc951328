"""Verdicts: what became of each bet of a round and by which clause. Derived, never recorded."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from taisai.game.events import BetRegistered
from taisai.game.rounds.round import KeptOut, Round
from taisai.game.table import Table
from taisai.rules.clauses import Clause

Lying = dict[tuple[str, str, str], int]
"""(seat, layout, area) → all stakes of the seat that lie there."""


class Verdict(NamedTuple):
    """What one bet got."""

    bet: BetRegistered
    won: int
    """Above the stake."""
    returned: int
    """In all: stake and winnings of a winner, and whatever was kept out of the game."""
    clause: Clause
    kept_out: int = 0
    """How much of the stake the limits kept out, to be returned whatever the dice show."""
    kept_out_by: Clause | None = None


def verdicts(table: Table, round_: Round, bets: Sequence[BetRegistered] | None = None) -> list[Verdict]:
    """What became of every bet that stood: settled, returned by a void, or still open (then nothing yet).

    Of one seat alone where all its `bets` that stood are given.
    """
    stood = round_.live() if bets is None else bets
    if round_.voided:
        void = table.irregularities.void
        return [Verdict(bet, 0, bet.stake, void) for bet in stood]
    if round_.settled is None or round_.result is None:
        return []
    left: KeptOut = {}
    lying = _lying(stood) if round_.kept_out else {}
    found = [_verdict(table, round_, bet, left, lying) for bet in reversed(stood)]
    return found[::-1]


def _lying(stood: Sequence[BetRegistered]) -> Lying:
    lying: Lying = {}
    for bet in stood:
        cell = (bet.seat, bet.layout, bet.area)
        lying[cell] = lying.get(cell, 0) + bet.stake
    return lying


def _verdict(table: Table, round_: Round, bet: BetRegistered, left: KeptOut, lying: Lying) -> Verdict:
    """The verdict on a bet; the latest bets of a purse on an area are the first to be kept out."""
    assert round_.result is not None
    terms = table.in_force[round_.terms][bet.layout]
    row = terms.rows[bet.area]
    cell = (bet.layout, row, table.seats[bet.seat].purses[bet.means.purse].lane)
    kept = min(bet.stake, left.setdefault(cell, round_.kept_out.get(cell, 0)))
    left[cell] -= kept
    playing = bet.stake - kept
    returned = playing * terms.returns[row][round_.result.index] // terms.unit
    clause = terms.matrix.clauses[row][round_.result.index]
    by = None
    if kept:
        limits, is_over = table.book.limits, lying[bet.seat, bet.layout, bet.area] > terms.most[row]
        by = limits.over_clause if is_over else limits.under_clause
    return Verdict(bet, max(0, returned - playing), returned + kept, clause, kept, by)

"""Settlement: what a round comes to for the house, for every purse and for every bet."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from math import gcd
from typing import Final, NamedTuple

from taisai.game.betting.messages import BetRegistered
from taisai.game.money import packed_sums
from taisai.game.rounds.round import Columns, KeptOut, Round, RoundSettlement, RowTotals, SettlementTotals
from taisai.game.seating.seats import Purse
from taisai.game.table import Table
from taisai.game.terms.terms import Terms
from taisai.game.vocabulary import Means
from taisai.rules.clauses import Clause
from taisai.rules.limits import LimitPolicy
from taisai.rules.outcomes import Outcome

_CASH: Final = Means.CASH_CHIPS


_PLAQUES: Final = Means.PLAQUES


# What a round comes to


def kept_out_by(table: Table, round_: Round, kept: KeptOut) -> dict[Clause, int]:
    """Clause → how much the minimum, and how much the maximum, keeps out."""
    by: dict[Clause, int] = {}
    limits, columns = table.book.limits, (round_.columns or columns_of(table, round_)) if kept else {}
    for (layout, row, index), amount in kept.items():
        column = columns[layout][row]
        assert column is not None
        purses = table.purses[index].seat.purses.values()
        lying = sum(column[purse.index] for purse in purses if purse.index < len(column))
        over = lying > table.in_force[round_.terms][layout].most[row]
        clause = limits.over_clause if over else limits.under_clause
        by[clause] = by.get(clause, 0) + amount
    return by


def kept_out(table: Table, round_: Round) -> tuple[KeptOut, set[str]]:
    """What the limits keep out of the settlement, and the players whose tolerance it uses up."""
    kept: KeptOut = {}
    tolerated: set[str] = set()
    limits = table.book.limits
    memory = int(table.settings[limits.memory]) if limits.memory else 0
    for name, layout, row in sorted(round_.outside):
        seat, terms = table.seats[name], table.in_force[round_.terms][layout]
        column = round_.columns[layout][row]
        assert column is not None
        stakes = {
            purse.index: column[purse.index]
            for purse in seat.purses.values()
            if purse.index < len(column) and column[purse.index]
        }
        lying = sum(stakes.values())
        if lying > terms.most[row]:
            over = lying - terms.most[row] if limits.over_maximum is LimitPolicy.SETTLE_TO_MAXIMUM else 0
            for index in sorted(stakes, reverse=True):
                cut = min(over, stakes[index])
                over -= cut
                if cut:
                    kept[layout, row, index] = cut
        elif table.tolerated.get(seat.memory_key, 0) < memory:
            tolerated.add(seat.memory_key)
        else:
            kept |= {(layout, row, index): stake for index, stake in stakes.items()}
    return kept, tolerated


def house_side(table: Table, round_: Round, outcome: Outcome) -> SettlementTotals:
    """What the round in hand comes to for the house; with no stake outside the limits, no purse is read."""
    if round_.outside:
        return SettlementTotals(*settlement(table, round_, outcome)[:4])
    return _totals(table.in_force[round_.terms], round_.totals, outcome)


def settlement(table: Table, round_: Round, outcome: Outcome) -> RoundSettlement:
    """What every purse gets on an outcome, the limits' say included."""
    kept = round_.kept_out if round_.settled else kept_out(table, round_)[0]
    return _settlement(table, round_, kept, outcome)


def _settlement(table: Table, round_: Round, kept: KeptOut, outcome: Outcome) -> RoundSettlement:
    in_force, place = table.in_force[round_.terms], outcome.index
    columns = _without(round_.columns or columns_of(table, round_), kept)
    staked, collected, won, back = _totals(
        in_force, round_.totals if round_.totals and not kept else _added_up(columns), outcome
    )
    winning = [
        (column, weight)
        for layout, rows in columns.items()
        for row, weight in in_force[layout].winners[place]
        if (column := rows[row]) is not None
    ]
    unit = _unit(in_force)
    common = gcd(unit, *(weight for _, weight in winning))
    weighed = packed_sums.weighed((column, weight // common) for column, weight in winning)
    if unit > common:  # every stake is a multiple of its area's step, so nothing is left over
        weighed //= unit // common
    by_purse = packed_sums.unpacked(weighed, len(table.purses))
    for (_, _, index), amount in kept.items():
        by_purse[index] += amount
    held = sum(kept.values())
    return RoundSettlement(staked + held, collected, won, back + held, by_purse)


def _totals(in_force: dict[str, Terms], totals: RowTotals, outcome: Outcome) -> SettlementTotals:
    staked = back = gross = 0
    for layout, rows in totals.items():
        staked += sum(rows)
        for row, weight in in_force[layout].winners[outcome.index]:
            back += rows[row]
            gross += rows[row] * weight
    return SettlementTotals(staked, staked - back, gross // _unit(in_force) - back, back)


def _unit(in_force: dict[str, Terms]) -> int:
    return next(iter(in_force.values())).unit


def _added_up(columns: Columns) -> RowTotals:
    return {
        layout: [0 if column is None else sum(column) for column in rows] for layout, rows in columns.items()
    }


def _without(columns: Columns, kept: KeptOut) -> Columns:
    """The stakes less what the limits keep out."""
    if not kept:
        return columns
    playing = {
        layout: [None if column is None else array("q", column) for column in rows]
        for layout, rows in columns.items()
    }
    for (layout, row, index), amount in kept.items():
        column = playing[layout][row]
        assert column is not None
        column[index] -= amount
    return playing


def columns_of(table: Table, round_: Round) -> Columns:
    """The columns of a round that is over, from its bets."""
    columns: Columns = {}
    in_force = table.in_force[round_.terms]
    for bet in round_.live():
        terms = in_force[bet.layout]
        rows = columns.setdefault(bet.layout, [None] * len(terms.least))
        row = terms.rows[bet.area]
        column = rows[row]
        if column is None:
            column = rows[row] = array("q", bytes(8 * len(table.purses)))
        column[_purse(table, bet.seat, bet.means).index] += bet.stake
    return columns


def stakes_by_purse(table: Table, round_: Round) -> dict[int, int]:
    """Lane → what the purse staked in the round."""
    stakes: dict[int, int] = {}
    for bet in round_.live():
        index = _purse(table, bet.seat, bet.means).index
        stakes[index] = stakes.get(index, 0) + bet.stake
    return stakes


def _purse(table: Table, seat: str, means: Means) -> Purse:
    return table.seats[seat].purses[means.purse]


# Undone, or done again


def due_again(table: Table, round_: Round, outcome: Outcome) -> tuple[RoundSettlement, dict[int, int]]:
    """What a settled round comes to on another outcome, in all and by purse."""
    again = settlement(table, round_, outcome)
    return again, {index: amount for index, amount in enumerate(again.by_purse) if amount}


def tray_needs(table: Table) -> int:
    """What leaves the tray when winners are paid."""
    if _CASH not in table.means and _PLAQUES not in table.means:
        return 0  # terminals alone, of which there may be thousands
    return sum(purse.payable for purse in table.purses if purse.means is _CASH)


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
    cell = (bet.layout, row, table.seats[bet.seat].purses[bet.means.purse].index)
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

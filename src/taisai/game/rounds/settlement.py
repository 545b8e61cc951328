"""Settlement: the result of a round for the house, for every purse and for every bet."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping, Sequence
from math import gcd
from typing import Final, NamedTuple

from taisai.game.betting.messages import BetRegistered, BetReturned, BetTakenBack, RecordCorrected
from taisai.game.irregularities.messages import WithdrawalChosen
from taisai.game.money import packed_sums
from taisai.game.rounds.round import (
    ColumnsByArea,
    KeptOut,
    Round,
    RoundSettlement,
    RowTotals,
    SettlementTotals,
)
from taisai.game.table import Purse, Seat, Table
from taisai.game.terms.terms import Terms
from taisai.game.vocabulary import Means
from taisai.rules.clauses import Clause
from taisai.rules.equipment import LimitPolicy, RememberedFor
from taisai.rules.outcomes import Outcome
from taisai.rules.settlement import BetRecord, BetState, settled_record

_CASH: Final = Means.CASH_CHIPS
_PLAQUES: Final = Means.PLAQUES


# The result of a round


def kept_out_by(table: Table, round_: Round, kept: KeptOut) -> dict[Clause, int]:
    """Clause of the minimum or the maximum → the sum that it keeps out."""
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
    """What the limits keep out of the settlement, and the players whose tolerance is used up by it."""
    kept: KeptOut = {}
    tolerated: set[str] = set()
    limits = table.book.limits
    memory = _tolerated_rounds(table)
    columns = (round_.columns or columns_of(table, round_)) if round_.outside else {}
    for name, layout, row in sorted(round_.outside):
        seat, terms = table.seats[name], table.in_force[round_.terms][layout]
        column = columns[layout][row]
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
        elif _tolerated_before(table, round_, seat) < memory:
            tolerated.add(memory_key_in(round_, seat))
        else:
            kept |= {(layout, row, index): stake for index, stake in stakes.items()}
    return kept, tolerated


def _tolerated_rounds(table: Table) -> int:
    """For how many rounds bets under the minimum are settled for a player: one, or as old rulebooks say."""
    memory = table.book.limits.memory
    if memory is None:
        return 0
    return int(table.settings[memory]) if table.book.settings[memory].bounds else 1


def memory_key_in(round_: Round, seat: Seat) -> str:
    """Whose under-minimum bets are remembered: of the player who sat there in the round."""
    seated = round_.seated.get(seat.name)
    return seated.memory_key if seated is not None else seat.memory_key


def is_remembered(table: Table, round_: Round, seat: Seat) -> bool:
    """Whether the table still counts the tolerated rounds of the player who sat there in the round."""
    memory = table.book.limits.memory
    is_for_good = memory is not None and table.settings[memory] != RememberedFor.STAY
    return is_for_good or (seat.taken and seat.session == round_.sessions.get(seat.name))


def _tolerated_before(table: Table, round_: Round, seat: Seat) -> int:
    """In how many other rounds a bet of the player under the minimum was settled."""
    if round_.settled is None:
        return table.tolerated.get(seat.memory_key, 0) + _freed_since(table, round_, seat.memory_key)
    key = memory_key_in(round_, seat)
    if is_remembered(table, round_, seat):
        others = table.tolerated.get(key, 0) - (key in round_.tolerated)
        return others + _freed_since(table, round_, key)
    count, session = 0, round_.sessions.get(seat.name)
    for step in (-1, 1):  # the player has left: the rounds of a stay follow each other
        other = table.glance(round_.number + step)
        while other is not None and seat.name in other.seated and other.seated[seat.name].session == session:
            count += key in other.tolerated
            other = table.glance(other.number + step)
    return count


def _freed_since(table: Table, round_: Round, key: str) -> int:
    """How many tolerated rounds of a player were freed after the round opened; they still count for it."""
    through = table.freed.get(key, {})
    return sum(number != round_.number <= last for number, last in through.items())


def remember_tolerance(table: Table, round_: Round, was: set[str]) -> None:
    """The tolerated rounds of players follow a settled round that changed, from the next round opened."""
    for name in round_.sessions:
        seat = table.seats[name]
        key = memory_key_in(round_, seat)
        change = (key in round_.tolerated) - (key in was)
        if not change or not is_remembered(table, round_, seat):
            continue
        was = was ^ {key}  # a player with two seats is counted once
        table.tolerated[key] = max(0, table.tolerated.get(key, 0) + change)
        others = {
            number: last for number, last in table.freed.get(key, {}).items() if number != round_.number
        }
        latest = table.round.number if table.round is not None else len(table.rounds)
        freed = {round_.number: latest} if change < 0 and latest > round_.number else {}
        table.freed.pop(key, None)
        if others or freed:
            table.freed[key] = others | freed


def house_side(table: Table, round_: Round, outcome: Outcome) -> SettlementTotals:
    """The totals of the round in play for the house; without stakes outside the limits, no purse is read."""
    if round_.outside:
        return SettlementTotals(*settlement(table, round_, outcome)[:4])
    return _totals(table.in_force[round_.terms], round_.totals, outcome)


def settlement(table: Table, round_: Round, outcome: Outcome) -> RoundSettlement:
    """What every purse gets on an outcome, within the limits."""
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
    if unit > common:  # exact: every stake is a multiple of its area's step
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


def _added_up(columns: ColumnsByArea) -> RowTotals:
    return {
        layout: [0 if column is None else sum(column) for column in rows] for layout, rows in columns.items()
    }


def _without(columns: ColumnsByArea, kept: KeptOut) -> ColumnsByArea:
    """The stakes without what the limits keep out."""
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


def columns_of(table: Table, round_: Round) -> ColumnsByArea:
    """The columns of a past round, from its bets."""
    columns: ColumnsByArea = {}
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
    """Index of a purse → what it staked in the round."""
    stakes: dict[int, int] = {}
    for bet in round_.live():
        index = _purse(table, bet.seat, bet.means).index
        stakes[index] = stakes.get(index, 0) + bet.stake
    return stakes


def _purse(table: Table, seat: str, means: Means) -> Purse:
    return table.seats[seat].purses[means.purse]


# Corrections and payment


def due_again(table: Table, round_: Round, outcome: Outcome) -> tuple[RoundSettlement, dict[int, int]]:
    """The settlement of a settled round on another outcome, and what each purse gets."""
    again = settlement(table, round_, outcome)
    return again, {index: amount for index, amount in enumerate(again.by_purse) if amount}


def tray_needs(table: Table) -> int:
    """The chips that leave the tray when winners are paid."""
    if _CASH not in table.means and _PLAQUES not in table.means:
        return 0  # terminals alone, of which there may be thousands
    return sum(purse.payable for purse in table.purses if purse.means is _CASH)


# Records of bets


class BetReturn(NamedTuple):
    """How a bet left the layout before its round was settled, and by which clause."""

    state: BetState
    clause: Clause


BetReturns = dict[str, BetReturn]
"""Bet → how it left the layout."""


def note_returns(returns: BetReturns, event: object, round_: Round) -> None:
    """Adds the bets that left the layout of a round by an event, which the round has evolved by."""
    if isinstance(event, BetTakenBack):
        returns[event.id] = BetReturn(BetState.TAKEN_BACK, event.clause)
    elif isinstance(event, BetReturned):
        returns[event.id] = BetReturn(BetState.RETURNED, event.clause)
    elif isinstance(event, RecordCorrected):
        if event.before is not None and event.after is None:
            returns[event.before.id] = BetReturn(BetState.TAKEN_BACK, event.clause)
    elif isinstance(event, WithdrawalChosen) and event.withdraw:
        withdrawn = BetReturn(BetState.WITHDRAWN, event.clause)
        returns.update(dict.fromkeys(round_.gone - returns.keys(), withdrawn))


def bet_records(
    table: Table,
    round_: Round,
    bets: Sequence[BetRegistered] | None = None,
    returns: Mapping[str, BetReturn] | None = None,
) -> list[BetRecord[BetRegistered]]:
    """The records of all bets of a round, or of the given bets.

    All standing bets of a seat must be given together, because the limits apply to their sum. A bet that left
    the layout in a way that `returns` does not know is recorded as taken back.
    """
    bets = list(round_.bets.values()) if bets is None else bets
    sums = _sums(round_, bets) if round_.kept_out else {}
    left: KeptOut = {}
    records: list[BetRecord[BetRegistered]] = []
    for bet in reversed(bets):  # the limits keep out the latest bets first
        if bet.id in round_.gone:
            state, clause = (returns or {}).get(bet.id, (BetState.TAKEN_BACK, None))
            records.append(BetRecord(bet, state, 0, bet.stake, clause))
        elif round_.voided:
            records.append(BetRecord(bet, BetState.VOID, 0, bet.stake, table.irregularities.void))
        elif round_.settled is None or round_.result is None:
            records.append(BetRecord(bet, BetState.OPEN))
        else:
            records.append(_settled_record(table, round_, bet, left, sums))
    return records[::-1]


StakeSums = dict[tuple[str, str, str], int]
"""(seat, layout, area) → the sum of the seat's standing stakes there."""


def _sums(round_: Round, bets: Iterable[BetRegistered]) -> StakeSums:
    sums: StakeSums = {}
    for bet in bets:
        if bet.id not in round_.gone:
            cell = (bet.seat, bet.layout, bet.area)
            sums[cell] = sums.get(cell, 0) + bet.stake
    return sums


def _settled_record(
    table: Table, round_: Round, bet: BetRegistered, left: KeptOut, sums: StakeSums
) -> BetRecord[BetRegistered]:
    """The record of a settled bet. `left` counts what the limits have still to keep out of earlier bets."""
    assert round_.result is not None
    terms, place = table.in_force[round_.terms][bet.layout], round_.result.index
    row = terms.rows[bet.area]
    kept, by = 0, None
    if round_.kept_out:
        cell = (bet.layout, row, _purse(table, bet.seat, bet.means).index)
        kept = min(bet.stake, left.setdefault(cell, round_.kept_out.get(cell, 0)))
        left[cell] -= kept
    if kept:
        limits, is_over = table.book.limits, sums[bet.seat, bet.layout, bet.area] > terms.most[row]
        by = limits.over_clause if is_over else limits.under_clause
    returned = (bet.stake - kept) * terms.returns[row][place] // terms.unit
    return settled_record(bet, returned, terms.matrix.clauses[row][place], kept, by)

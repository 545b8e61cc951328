"""Settling: what a round comes to, and how a settlement is undone or done again."""

from __future__ import annotations

from array import array
from math import gcd
from typing import Final

from taisai.game.betting.stakes import hand_back
from taisai.game.events import RoundResettled, RoundSettled, RoundVoided, SettlementUndone, WinnersPaid
from taisai.game.money import packed_sums
from taisai.game.money.ledger import Account, Entry, UnbalancedError
from taisai.game.money.packed_sums import Column
from taisai.game.rounds.adjusting import adjust, adjustments, claim_excess, owed
from taisai.game.rounds.round import Columns, KeptOut, Round, RowTotals, Settled, Totals
from taisai.game.seating.seats import Purse
from taisai.game.table import Table
from taisai.game.terms.terms import Terms
from taisai.game.vocabulary import Means
from taisai.rules.clauses import Clause
from taisai.rules.limits import LimitPolicy
from taisai.rules.outcomes import Outcome
from taisai.rules.settlement import GREATEST_SUM
from taisai.rules.vocabulary import Phase

_CASH: Final = Means.CASH_CHIPS
_PLAQUES: Final = Means.PLAQUES


# What a round comes to


def kept_out_by(table: Table, round_: Round, kept: KeptOut) -> dict[Clause, int]:
    """Clause → how much the minimum, and how much the maximum, keeps out."""
    by: dict[Clause, int] = {}
    limits, columns = table.book.limits, (round_.columns or columns_of(table, round_)) if kept else {}
    for (layout, row, lane), amount in kept.items():
        column = columns[layout][row]
        assert column is not None
        purses = table.purses[lane].seat.purses.values()
        lying = sum(column[purse.lane] for purse in purses if purse.lane < len(column))
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
            p.lane: column[p.lane] for p in seat.purses.values() if p.lane < len(column) and column[p.lane]
        }
        lying = sum(stakes.values())
        if lying > terms.most[row]:
            over = lying - terms.most[row] if limits.over_maximum is LimitPolicy.SETTLE_TO_MAXIMUM else 0
            for lane in sorted(stakes, reverse=True):
                cut = min(over, stakes[lane])
                over -= cut
                if cut:
                    kept[layout, row, lane] = cut
        elif table.tolerated.get(seat.memory_key, 0) < memory:
            tolerated.add(seat.memory_key)
        else:
            kept |= {(layout, row, lane): stake for lane, stake in stakes.items()}
    return kept, tolerated


def house_side(table: Table, round_: Round, outcome: Outcome) -> Totals:
    """What the round in hand comes to for the house; with no stake outside the limits, no purse is read."""
    if round_.outside:
        return Totals(*settlement(table, round_, outcome)[:4])
    return _totals(table.in_force[round_.terms], round_.totals, outcome)


def settlement(table: Table, round_: Round, outcome: Outcome) -> Settled:
    """What every purse gets on an outcome, the limits' say included."""
    kept = round_.kept_out if round_.settled else kept_out(table, round_)[0]
    return _settlement(table, round_, kept, outcome)


def _settlement(table: Table, round_: Round, kept: KeptOut, outcome: Outcome) -> Settled:
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
    if unit > common:  # every stake is a multiple of its area's step, so no lane leaves a rest
        weighed //= unit // common
    by_purse = packed_sums.unpacked(weighed, len(table.purses))
    for (_, _, lane), amount in kept.items():
        by_purse[lane] += amount
    held = sum(kept.values())
    return Settled(staked + held, collected, won, back + held, by_purse)


def _totals(in_force: dict[str, Terms], totals: RowTotals, outcome: Outcome) -> Totals:
    staked = back = gross = 0
    for layout, rows in totals.items():
        staked += sum(rows)
        for row, weight in in_force[layout].winners[outcome.index]:
            back += rows[row]
            gross += rows[row] * weight
    return Totals(staked, staked - back, gross // _unit(in_force) - back, back)


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
    for (layout, row, lane), amount in kept.items():
        column = playing[layout][row]
        assert column is not None
        column[lane] -= amount
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
        column[_purse(table, bet.seat, bet.means).lane] += bet.stake
    return columns


def stakes_by_purse(table: Table, round_: Round) -> dict[int, int]:
    """Lane → what the purse staked in the round."""
    stakes: dict[int, int] = {}
    for bet in round_.live():
        lane = _purse(table, bet.seat, bet.means).lane
        stakes[lane] = stakes.get(lane, 0) + bet.stake
    return stakes


def _purse(table: Table, seat: str, means: Means) -> Purse:
    return table.seats[seat].purses[means.purse]


# Undone, or done again


def due_again(table: Table, round_: Round, outcome: Outcome) -> tuple[Settled, dict[int, int]]:
    """What a settled round comes to on another outcome, in all and by purse."""
    again = settlement(table, round_, outcome)
    return again, {lane: amount for lane, amount in enumerate(again.by_purse) if amount}


# Evolving


def _check(what: str, expected: object, got: object) -> None:
    if expected != got:
        raise UnbalancedError(f"expected the {what} {expected} that the record carries, got {got}")


def _nothing(table: Table) -> Column:
    return array("q", bytes(packed_sums.BYTES * len(table.purses)))


def on_settled(table: Table, event: RoundSettled) -> None:
    """What was at risk is the house's, or payable."""
    round_ = table.round
    assert round_ is not None
    kept, tolerated = kept_out(table, round_) if round_.outside else ({}, set())
    outcome = Outcome.of(*event.faces)
    settled = _settlement(table, round_, kept, outcome)
    _check("totals", (event.staked, event.collected, event.won, event.stakes_back), settled[:4])
    round_.kept_out, round_.tolerated = kept, tolerated
    for name in tolerated:
        table.tolerated[name] = table.tolerated.get(name, 0) + 1
    clause = event.clause
    entries = (
        Entry(Account.AT_RISK, -settled.staked, clause),
        Entry(Account.HOUSE_WON, settled.collected, clause),
        Entry(Account.HOUSE_LOST, settled.won, clause),
        Entry(Account.PAYABLE, settled.won + settled.stakes_back - sum(kept.values()), clause),
        *(Entry(Account.PAYABLE, amount, by) for by, amount in kept_out_by(table, round_, kept).items()),
    )
    table.ledger.post(*(entry for entry in entries if entry.amount))
    # Whoever staked sits there still: none leaves while he has bets in hand.
    table.nets[:] = packed_sums.changed(table.nets, settled.by_purse, table.at_risk)
    table.at_risk[:] = _nothing(table)
    table.payable[:] = settled.by_purse
    round_.settled, round_.result, round_.phase = settled, outcome, event.phase


def _count(table: Table, round_: Round, stakes: dict[int, int], settled: Settled, *, sign: int = 1) -> None:
    """Counts another settlement for the players who still sit there, or one no longer; who left has left."""
    for lane, stake in stakes.items():
        purse = table.purses[lane]
        if round_.sessions[purse.seat.name] == purse.seat.session:
            purse.net += sign * (settled.by_purse[lane] - stake)


def on_paid(table: Table, event: WinnersPaid) -> None:
    """What was payable is the players' again: as credits, as colour chips, or out of the tray."""
    round_ = table.round
    assert round_ is not None
    from_tray, payable = tray_needs(table), table.payable
    paid = packed_sums.weighed([(payable, 1)])
    _check("sum paid", event.paid, packed_sums.total(paid, len(payable)))
    if from_tray:
        for purse in table.purses:
            if purse.means is _CASH:
                payable[purse.lane] = 0
        paid = packed_sums.weighed([(payable, 1)])
    table.credits[:] = packed_sums.unpacked(packed_sums.weighed([(table.credits, 1)]) + paid, len(payable))
    payable[:] = _nothing(table)
    table.ledger.move(Account.PAYABLE, Account.CREDITS, event.paid - from_tray, event.clause)
    table.ledger.withdraw(Account.CHIPS, Account.PAYABLE, from_tray, event.clause)
    if table.ledger.balances[Account.CREDITS] > GREATEST_SUM:  # else no purse can be beyond it
        claim_excess(table, round_, event.clause)
    round_.phase = event.phase


def tray_needs(table: Table) -> int:
    """What leaves the tray when winners are paid."""
    if _CASH not in table.means and _PLAQUES not in table.means:
        return 0  # terminals alone, of which there may be thousands
    return sum(purse.payable for purse in table.purses if purse.means is _CASH)


def on_voided(table: Table, event: RoundVoided) -> None:
    """Every stake goes back; a settlement is undone."""
    round_ = table.to_change(event.round)
    clause, stakes = table.irregularities.void, stakes_by_purse(table, round_)
    if round_.settled is not None:
        _count(table, round_, stakes, round_.settled, sign=-1)
    if round_.settled is None:
        for lane, stake in stakes.items():
            table.at_risk[lane] -= stake
            hand_back(table, table.purses[lane], Account.AT_RISK, stake, clause)
    elif round_ is table.round and round_.phase is not Phase.PAID:
        _unsettle(table, round_, clause)
    else:
        changes = adjustments(table, round_, stakes)
        _check("claims", (event.owed_to_players, event.owed_by_players), owed(changes))
        entries = [
            Entry(Account.HOUSE_WON, -round_.settled.collected, clause),
            Entry(Account.HOUSE_LOST, -round_.settled.won, clause),
        ]
        adjust(table, round_, changes, entries, clause)
    _check("stakes", event.staked, round_.staked)
    forget_tolerance(table, round_)
    round_.settled, round_.result, round_.voided, round_.tolerated = None, None, True, set()
    if round_ is table.round:
        close_round(table)


def _unsettle(table: Table, round_: Round, clause: Clause) -> None:
    """A settlement that is not yet paid: what was payable is a stake again, and goes back."""
    assert round_.settled is not None
    _take_from_payable(table, round_.settled, clause)
    for lane, stake in stakes_by_purse(table, round_).items():
        hand_back(table, table.purses[lane], Account.AT_RISK, stake, clause)


def _take_from_payable(table: Table, settled: Settled, clause: Clause) -> None:
    table.ledger.post(
        *(
            entry
            for entry in (
                Entry(Account.PAYABLE, -(settled.won + settled.stakes_back), clause),
                Entry(Account.HOUSE_WON, -settled.collected, clause),
                Entry(Account.HOUSE_LOST, -settled.won, clause),
                Entry(Account.AT_RISK, settled.staked, clause),
            )
            if entry.amount
        )
    )
    table.payable[:] = _nothing(table)


def forget_tolerance(table: Table, round_: Round) -> None:
    """A bet that goes back was not settled after all, so it does not count against its player."""
    for name in round_.tolerated if round_.day == table.day else ():
        if table.tolerated.get(name, 0):
            table.tolerated[name] -= 1


def on_undone(table: Table, event: SettlementUndone) -> None:
    """A settlement that is not yet paid is undone: the stakes are at risk again."""
    round_ = table.round
    assert round_ is not None
    assert round_.settled is not None
    stakes = stakes_by_purse(table, round_)
    _count(table, round_, stakes, round_.settled, sign=-1)
    _take_from_payable(table, round_.settled, event.clause)
    for lane, stake in stakes.items():
        table.at_risk[lane] = stake
    forget_tolerance(table, round_)
    round_.settled, round_.phase, round_.kept_out, round_.tolerated = None, event.phase, {}, set()


def on_resettled(table: Table, event: RoundResettled) -> None:
    """The difference between two settlements is booked; later rounds are not touched."""
    round_ = table.to_change(event.round)
    assert round_.settled is not None
    outcome = Outcome.of(*event.faces)
    again, due = due_again(table, round_, outcome)
    _check("totals", (event.staked, event.collected, event.won, event.stakes_back), again[:4])
    clause, was = event.clause, round_.settled
    entries = [
        Entry(Account.HOUSE_WON, again.collected - was.collected, clause),
        Entry(Account.HOUSE_LOST, again.won - was.won, clause),
    ]
    if round_ is table.round and round_.phase is not Phase.PAID:
        difference = again.won + again.stakes_back - was.won - was.stakes_back
        entries.append(Entry(Account.PAYABLE, difference, clause))
        table.ledger.post(*(entry for entry in entries if entry.amount))
        table.payable[:] = again.by_purse
    else:
        changes = adjustments(table, round_, due)
        _check("claims", (event.owed_to_players, event.owed_by_players), owed(changes))
        adjust(table, round_, changes, entries, clause)
    if round_.shuffle and round_.shuffle == table.shoe.shuffles:
        assert round_.result is not None
        table.shoe.unshow(round_.result.faces)
        table.shoe.show(outcome.faces)
    stakes = stakes_by_purse(table, round_)
    _count(table, round_, stakes, was, sign=-1)
    _count(table, round_, stakes, again)
    round_.settled, round_.result = again, outcome


def close_round(table: Table) -> None:
    """The round in hand is over and joins the others; its columns can be made again from its bets."""
    round_ = table.round
    assert round_ is not None
    table.shoe.end_round(table.settings, dealt=round_.dealt)
    round_.phase = Phase.BETWEEN
    round_.columns, round_.totals = {}, {}
    round_.returned = round_.bound = 0
    table.rounds.append(round_)
    table.round = None
    table.holds.clear()
    for name, referral in table.referrals.items():
        if referral.holds:  # the question stays open, but there is no round left to wait for it
            table.referrals[name] = referral._replace(holds=False)

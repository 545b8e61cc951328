"""Settling: what a round comes to, and how a settlement is undone or done again."""

from __future__ import annotations

from array import array
from typing import NamedTuple

from taisai.game import lanes
from taisai.game.events import RoundResettled, RoundSettled, RoundVoided, SettlementUndone, WinnersPaid
from taisai.game.lanes import Column
from taisai.game.laying import hand_back
from taisai.game.money import Account, Entry, UnbalancedError
from taisai.game.round import Columns, Round, Settled
from taisai.game.seats import Purse
from taisai.game.table import Claim, Table
from taisai.game.terms import Terms
from taisai.game.words import Means
from taisai.rules.clauses import Clause
from taisai.rules.limits import LimitPolicy
from taisai.rules.outcomes import Outcome
from taisai.rules.round import Act, Phase


class Adjustment(NamedTuple):
    """What a purse gets or gives when a settlement is undone or done again."""

    purse: Purse
    credits: int
    """Added to the purse, or taken from it where negative."""
    claim: int
    """Owed to the player beyond that, or by him where negative."""


# What a round comes to


def kept_out(table: Table, round_: Round) -> tuple[dict[tuple[str, int, int], int], set[str]]:
    """What the limits keep out of the settlement, and the seats whose tolerance it uses up."""
    kept: dict[tuple[str, int, int], int] = {}
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
        elif seat.tolerated < memory:
            tolerated.add(name)
        else:
            kept |= {(layout, row, lane): stake for lane, stake in stakes.items()}
    return kept, tolerated


def settlement(table: Table, round_: Round, outcome: Outcome) -> Settled:
    """What every purse gets on an outcome, the limits' say included."""
    kept = round_.kept_out if round_.settled else kept_out(table, round_)[0]
    terms = table.in_force[round_.terms]
    return _settlement(terms, round_.columns or columns_of(table, round_), kept, outcome)


def _settlement(
    in_force: dict[str, Terms], columns: Columns, kept: dict[tuple[str, int, int], int], outcome: Outcome
) -> Settled:
    place = outcome.index
    winning: list[tuple[Column, int]] = []
    staked = stakes_back = 0
    for layout, rows in columns.items():
        returns = in_force[layout].returns
        for row, column in enumerate(rows):
            if column is None:
                continue
            staked += sum(column)
            if returns[row][place]:
                playing = _without(column, layout, row, kept)
                winning.append((playing, returns[row][place]))
                stakes_back += sum(playing)
    unit = next(iter(in_force.values())).unit
    by_purse = lanes.unpacked(lanes.weighed(winning), max((len(one) for one, _ in winning), default=0))
    if unit > 1:
        by_purse = array("q", [amount // unit for amount in by_purse])
    gross, held = sum(by_purse), sum(kept.values())
    for (_, _, lane), amount in kept.items():
        if lane >= len(by_purse):
            by_purse.extend([0] * (lane + 1 - len(by_purse)))
        by_purse[lane] += amount
    return Settled(staked, staked - held - stakes_back, gross - stakes_back, stakes_back + held, by_purse)


def _without(column: Column, layout: str, row: int, kept: dict[tuple[str, int, int], int]) -> Column:
    """The stakes on an area less what the limits keep out."""
    if not kept:
        return column
    playing = array("q", column)
    for (on, at, lane), amount in kept.items():
        if on == layout and at == row:
            playing[lane] -= amount
    return playing


def columns_of(table: Table, round_: Round) -> Columns:
    """The columns of a round that is over, from its bets."""
    columns: Columns = {}
    for bet in round_.live():
        terms = table.in_force[round_.terms][bet.layout]
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
    return table.seats[seat].purses[Means.CASH_CHIPS if means is Means.PLAQUES else means]


# Undone, or done again


def adjustments(
    table: Table, round_: Round, due: dict[int, int], spent: dict[int, int] | None = None
) -> list[Adjustment]:
    """What each purse gets or gives, where `due` is what it should have got of a round that was paid.

    `spent` remembers, over several rounds at once, what earlier ones already took from a purse.
    """
    assert round_.settled is not None
    spent = {} if spent is None else spent
    found = []
    got = round_.settled.by_purse
    for lane in sorted({*due, *(lane for lane, amount in enumerate(got) if amount)}):
        purse = table.purses[lane]
        change = due.get(lane, 0) - (got[lane] if lane < len(got) else 0)
        reachable = (
            purse.means is not Means.CASH_CHIPS
            and purse.seat.taken
            and purse.seat.session == round_.sessions.get(purse.seat.name)
        )
        put = 0
        if reachable:
            put = max(change, -(purse.credits + spent.get(lane, 0)))
            spent[lane] = spent.get(lane, 0) + put
        if change:
            found.append(Adjustment(purse, put, change - put))
    return found


def owed(changes: list[Adjustment]) -> tuple[int, int]:
    """What becomes a claim of players, and what a claim on them."""
    to_players = sum(change.claim for change in changes if change.claim > 0)
    by_players = -sum(change.claim for change in changes if change.claim < 0)
    return to_players, by_players


def _adjust(
    table: Table, round_: Round, changes: list[Adjustment], entries: list[Entry], clause: Clause
) -> None:
    put = sum(change.credits for change in changes)
    to_players, by_players = owed(changes)
    entries += [
        Entry(Account.CREDITS, put, clause),
        Entry(Account.CLAIMS_OF_PLAYERS, to_players, clause),
        Entry(Account.CLAIMS_ON_PLAYERS, by_players, clause),
    ]
    table.ledger.post(*(entry for entry in entries if entry.amount))
    for change in changes:
        change.purse.credits += change.credits
        if change.claim:
            claim = _claim(table, round_, change)
            table.claims[claim.id] = claim


def _claim(table: Table, round_: Round, change: Adjustment) -> Claim:
    seat = change.purse.seat
    made = sum(1 for one in table.claims.values() if one.round == round_.number) + 1
    session = round_.sessions[seat.name]
    return Claim(
        f"{round_.number}-{made}", round_.number, seat.name, session, abs(change.claim), change.claim > 0
    )


def due_again(table: Table, round_: Round, outcome: Outcome) -> tuple[Settled, dict[int, int]]:
    """What a settled round comes to on another outcome, in all and by purse."""
    again = settlement(table, round_, outcome)
    return again, {lane: amount for lane, amount in enumerate(again.by_purse) if amount}


# Evolving


def _check(what: str, expected: object, got: object) -> None:
    if expected != got:
        raise UnbalancedError(f"expected the {what} {expected} that the record carries, got {got}")


def on_settled(table: Table, event: RoundSettled) -> None:
    """What was at risk is the house's, or payable."""
    round_ = table.round
    assert round_ is not None
    kept, tolerated = kept_out(table, round_) if round_.outside else ({}, set())
    outcome = Outcome.of(*event.faces)
    settled = _settlement(table.in_force[round_.terms], round_.columns, kept, outcome)
    _check("totals", (event.staked, event.collected, event.won, event.returned), settled[:4])
    round_.kept_out, round_.tolerated = kept, tolerated
    for name in tolerated:
        table.seats[name].tolerated += 1
    clause = event.clause
    entries = (
        Entry(Account.AT_RISK, -settled.staked, clause),
        Entry(Account.HOUSE_WON, settled.collected, clause),
        Entry(Account.HOUSE_LOST, settled.won, clause),
        Entry(Account.PAYABLE, settled.won + settled.returned, clause),
    )
    table.ledger.post(*(entry for entry in entries if entry.amount))
    by_purse = settled.by_purse
    count = len(by_purse)
    for lane, purse in enumerate(table.purses):
        purse.at_risk = 0
        purse.payable = by_purse[lane] if lane < count else 0
    round_.settled, round_.result, round_.phase = settled, outcome, event.phase


def on_paid(table: Table, event: WinnersPaid) -> None:
    """What was payable is the players' again: as credits, as colour chips, or out of the tray."""
    round_ = table.round
    assert round_ is not None
    credited = from_tray = 0
    for purse in table.purses:
        if purse.payable:
            if purse.means is Means.CASH_CHIPS:
                from_tray += purse.payable
            else:
                credited += purse.payable
                purse.credits += purse.payable
            purse.payable = 0
    _check("sum paid", event.paid, credited + from_tray)
    table.ledger.move(Account.PAYABLE, Account.CREDITS, credited, event.clause)
    table.ledger.withdraw(Account.CHIPS, Account.PAYABLE, from_tray, event.clause)
    round_.phase = event.phase


def tray_needs(table: Table) -> int:
    """What leaves the tray when winners are paid."""
    return sum(purse.payable for purse in table.purses if purse.means is Means.CASH_CHIPS)


def on_voided(table: Table, event: RoundVoided) -> None:
    """Every stake goes back; a settlement is undone."""
    round_ = table.round if table.round and table.round.number == event.round else table.past(event.round)
    assert round_ is not None
    clause = table.irregularities.void
    if round_.settled is None:
        stakes = stakes_by_purse(table, round_)
        for lane, stake in stakes.items():
            table.purses[lane].at_risk -= stake
            hand_back(table, table.purses[lane], Account.AT_RISK, stake, clause)
    elif round_ is table.round and round_.phase is not Phase.PAID:
        _unsettle(table, round_, clause)
    else:
        stakes = stakes_by_purse(table, round_)
        changes = adjustments(table, round_, stakes)
        _check("claims", (event.owed_to_players, event.owed_by_players), owed(changes))
        entries = [
            Entry(Account.HOUSE_WON, -round_.settled.collected, clause),
            Entry(Account.HOUSE_LOST, -round_.settled.won, clause),
        ]
        _adjust(table, round_, changes, entries, clause)
    _check("stakes", event.staked, round_.staked)
    for name in round_.tolerated:  # a bet that went back was not settled after all
        if table.seats[name].session == round_.sessions[name]:
            table.seats[name].tolerated -= 1
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
                Entry(Account.PAYABLE, -(settled.won + settled.returned), clause),
                Entry(Account.HOUSE_WON, -settled.collected, clause),
                Entry(Account.HOUSE_LOST, -settled.won, clause),
                Entry(Account.AT_RISK, settled.staked, clause),
            )
            if entry.amount
        )
    )
    for purse in table.purses:
        purse.payable = 0


def on_undone(table: Table, event: SettlementUndone) -> None:
    """A settlement that is not yet paid is undone: the stakes are at risk again."""
    round_ = table.round
    assert round_ is not None
    assert round_.settled is not None
    stakes = stakes_by_purse(table, round_)
    _take_from_payable(table, round_.settled, event.clause)
    for lane, stake in stakes.items():
        table.purses[lane].at_risk = stake
    for name in round_.tolerated:
        table.seats[name].tolerated -= 1
    round_.settled, round_.phase, round_.kept_out, round_.tolerated = None, event.phase, {}, set()


def on_resettled(table: Table, event: RoundResettled) -> None:
    """The difference between two settlements is booked; later rounds are not touched."""
    round_ = table.round if table.round and table.round.number == event.round else table.past(event.round)
    assert round_ is not None
    assert round_.settled is not None
    outcome = Outcome.of(*event.faces)
    again, due = due_again(table, round_, outcome)
    _check("totals", (event.staked, event.collected, event.won, event.returned), again[:4])
    clause, was = event.clause, round_.settled
    entries = [
        Entry(Account.HOUSE_WON, again.collected - was.collected, clause),
        Entry(Account.HOUSE_LOST, again.won - was.won, clause),
    ]
    if round_ is table.round and round_.phase is not Phase.PAID:
        difference = again.won + again.returned - was.won - was.returned
        entries.append(Entry(Account.PAYABLE, difference, clause))
        table.ledger.post(*(entry for entry in entries if entry.amount))
        for purse in table.purses:
            purse.payable = due.get(purse.lane, 0)
    else:
        changes = adjustments(table, round_, due)
        _check("claims", (event.owed_to_players, event.owed_by_players), owed(changes))
        _adjust(table, round_, changes, entries, clause)
    round_.settled, round_.result = again, outcome


def close_round(table: Table) -> None:
    """The round in hand is over and joins the others; its columns can be made again from its bets."""
    round_ = table.round
    assert round_ is not None
    table.shoe.end_round(table.settings, dealt=Act.DEAL_CARDS in round_.acts)
    round_.phase = Phase.BETWEEN
    round_.columns = {}
    round_.returned = round_.bound = 0
    table.rounds.append(round_)
    table.round = None
    table.held = None
    if table.shut_after is not None:
        table.shut, table.shut_after = table.shut_after, None

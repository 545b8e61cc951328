"""Stakes: what a bet changes in the round, the purse and the ledger."""

from __future__ import annotations

from array import array
from typing import Final

from taisai.game.betting.messages import BetMoved, BetRegistered, BetTakenBack
from taisai.game.money.ledger import Account
from taisai.game.rounds.round import Round
from taisai.game.table import Effects, Purse, Seat, Table
from taisai.game.terms.terms import Terms
from taisai.game.vocabulary import Means
from taisai.rules.clauses import Clause
from taisai.rules.equipment import LimitPolicy

_CASH, _REFUSE = Means.CASH_CHIPS, LimitPolicy.REFUSE
_CHIPS, _CREDITS, _AT_RISK = Account.CHIPS, Account.CREDITS, Account.AT_RISK


def on_registered(table: Table, event: BetRegistered) -> None:
    """The stake is at risk, on its area."""
    round_ = table.round
    assert round_ is not None
    seat = table.seats[event.seat]
    means = event.means
    purse = seat.purses.get(means)
    if purse is None:
        purse = purse_of(table, seat, means)
    stake, clause = event.stake, event.clause
    if purse.means is _CASH:
        table.ledger.move(_CHIPS, _AT_RISK, stake, clause)
    else:
        table.credits[purse.index] -= stake
        table.ledger.move(_CREDITS, _AT_RISK, stake, clause)
    table.at_risk[purse.index] += stake
    round_.bets[event.id] = event
    round_.sessions[event.seat] = seat.session
    lay(table, round_, purse, event, stake)


def purse_of(table: Table, seat: Seat, means: Means) -> Purse:
    """The purse of a seat for what a bet is made with; made where there is none yet."""
    kind = means.purse
    if kind not in seat.purses:
        purse = Purse(seat, kind, table.columns, len(table.purses))
        for column in table.columns:
            column.append(0)
        table.purses.append(purse)
        seat.purses[kind] = purse
    return seat.purses[kind]


def lay(table: Table, round_: Round, purse: Purse, bet: BetRegistered, stake: int) -> None:
    """Puts a stake on its area, or takes it off where it is negative."""
    layout = bet.layout
    terms = table.terms[layout]
    row = terms.rows[bet.area]
    columns = round_.columns.get(layout)
    if columns is None:
        columns = round_.columns[layout] = [None] * len(terms.least)
        round_.totals[layout] = [0] * len(terms.least)
    column = columns[row]
    index = purse.index
    if column is None:
        column = columns[row] = array("q", bytes(8 * len(table.purses)))
    elif len(column) <= index:
        column.extend([0] * (len(table.purses) - len(column)))
    column[index] += stake
    round_.totals[layout][row] += stake
    round_.staked += stake
    if table.book.limits.over_maximum is _REFUSE:
        round_.returned += stake * terms.packed_returns[row]
        round_.bound += stake * terms.best[row]
        round_.counted += stake
    else:
        _note_limits(round_, purse.seat, terms, row, stake)


def _note_limits(round_: Round, seat: Seat, terms: Terms, row: int, stake: int) -> None:
    """Where stakes are recorded as they lie: those outside the limits, and what is at risk of them."""
    column = round_.columns[terms.layout][row]
    assert column is not None
    lying = sum(column[purse.index] for purse in seat.purses.values() if purse.index < len(column))
    most = terms.most[row]
    counted = min(lying, most) - min(lying - stake, most)
    round_.returned += counted * terms.packed_returns[row]
    round_.bound += counted * terms.best[row]
    round_.counted += counted
    cell = (seat.name, terms.layout, row)
    if 0 < lying < terms.least[row] or lying > most:
        round_.outside.add(cell)
    else:
        round_.outside.discard(cell)


def take_off(table: Table, round_: Round, bet: BetRegistered, clause: Clause) -> None:
    """A bet leaves the layout, and its stake goes back where it came from."""
    seat = table.seats[bet.seat]
    purse = purse_of(table, seat, bet.means)
    lay(table, round_, purse, bet, -bet.stake)
    round_.gone.add(bet.id)
    table.at_risk[purse.index] -= bet.stake
    hand_back(table, purse, Account.AT_RISK, bet.stake, clause)


def hand_back(table: Table, purse: Purse, source: Account, amount: int, clause: Clause) -> None:
    """Money owed to a player goes to their credits or colour chips, or leaves the tray as cash chips."""
    if purse.means is Means.CASH_CHIPS:
        table.ledger.withdraw(Account.CHIPS, source, amount, clause)
    else:
        purse.credits += amount
        table.ledger.move(source, Account.CREDITS, amount, clause)


def on_taken_back(table: Table, event: BetTakenBack) -> None:
    take_off(table, table.current, table.current.bets[event.id], event.clause)


def on_moved(table: Table, event: BetMoved) -> None:
    round_ = table.round
    assert round_ is not None
    bet = round_.bets[event.id]
    seat = table.seats[bet.seat]
    purse = purse_of(table, seat, bet.means)
    lay(table, round_, purse, bet, -bet.stake)
    moved = BetRegistered(
        at=bet.at, by=bet.by, clause=bet.clause, round=bet.round, id=bet.id, seat=bet.seat, means=bet.means,
        layout=bet.layout, area=event.area, stake=bet.stake, at_request=bet.at_request,
    )  # fmt: skip
    round_.bets[event.id] = moved
    round_.laid_on.setdefault(event.id, bet.area)
    lay(table, round_, purse, moved, moved.stake)


EFFECTS: Final[Effects] = {
    BetRegistered: on_registered,
    BetTakenBack: on_taken_back,
    BetMoved: on_moved,
}

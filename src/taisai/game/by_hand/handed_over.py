"""What was handed over by hand beside what was due: the differences, which become claims."""

from __future__ import annotations

from typing import Final, NamedTuple

from taisai.game.by_hand import messages
from taisai.game.money.ledger import Account, LedgerEntry
from taisai.game.rounds.corrections import next_claim
from taisai.game.rounds.round import Round
from taisai.game.rounds.settlement import stakes_by_purse
from taisai.game.table import Claim, Effects, Purse, Table
from taisai.game.vocabulary import Hold, Means


class HandedChange(NamedTuple):
    """What a seat got by hand beyond what was due, in chips of one kind; negative if it got less."""

    seat: str
    purse: Purse | None
    """The colour chips; None for cash chips, which leave the tray."""
    amount: int


def due_by_purse(table: Table, round_: Round) -> dict[int, int]:
    """Index of a purse → what the rules order for it in this round."""
    if round_.settled is None:
        return stakes_by_purse(table, round_)
    return {index: amount for index, amount in enumerate(round_.settled.by_purse) if amount}


def changes(table: Table, event: messages.SettlementEntered) -> list[HandedChange]:
    """The differences, seat by seat; a difference is in cash chips as far as the seat played with them."""
    current = table.round
    round_ = current if current is not None and current.number == event.round else table.past(event.round)
    assert round_ is not None
    due, differences = due_by_purse(table, round_), list[HandedChange]()
    for name in sorted(event.returned):
        difference = event.returned[name] - event.due[name]
        purses = table.seats[name].purses
        played = {bet.means.purse for bet in round_.live() if bet.seat == name}
        colour = purses.get(Means.COLOUR_CHIPS) if Means.COLOUR_CHIPS in played else None
        cash = purses.get(Means.CASH_CHIPS)
        in_cash = difference
        if colour is not None and difference < 0:
            in_cash = max(difference, -due.get(cash.index, 0) if cash is not None else 0)
        elif colour is not None and Means.CASH_CHIPS not in played:
            in_cash = 0
        if in_cash:
            differences.append(HandedChange(name, None, in_cash))
        if difference != in_cash:
            differences.append(HandedChange(name, colour, difference - in_cash))
    return differences


def on_settlement_entered(table: Table, event: messages.SettlementEntered) -> None:
    """What was handed back beyond what was due is owed by the player; what is missing is owed to them."""
    handed = changes(table, event)
    round_ = table.to_change(event.round)
    round_.by_hand, round_.void_by = True, None
    table.holds.pop(Hold.SETTLEMENT, None)
    for change in handed:
        amount, clause = change.amount, event.clause
        if change.purse is not None:
            change.purse.credits += amount
        held = LedgerEntry(Account.CREDITS, amount, clause)
        if change.purse is None:
            held = LedgerEntry(Account.CHIPS, -amount, clause)
        owed = LedgerEntry(Account.CLAIMS_OF_PLAYERS, -amount, clause)
        if amount > 0:
            owed = LedgerEntry(Account.CLAIMS_ON_PLAYERS, amount, clause)
        table.ledger.post(held, owed)
    short: dict[str, int] = {}
    for change in handed:
        short[change.seat] = short.get(change.seat, 0) - change.amount
    for name, amount in short.items():
        session = round_.sessions.setdefault(name, table.seats[name].session)
        claim = Claim(next_claim(table), event.round, name, session, abs(amount), of_player=amount > 0)
        table.claims[claim.id] = claim


EFFECTS: Final[Effects] = {messages.SettlementEntered: on_settlement_entered}

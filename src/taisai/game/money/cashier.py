"""Money at the table: credits, colour chips, tickets, fills and the drop box."""

from __future__ import annotations

from typing import Final

from taisai.game.betting.stakes import note_seated, purse_of
from taisai.game.checks import (
    AMOUNTS,
    above_most,
    at_table,
    bad_amount,
    bad_name,
    money_waits,
    refused,
    two_people,
)
from taisai.game.messages import Events
from taisai.game.money import messages
from taisai.game.money.ledger import Account
from taisai.game.refusals import Reason, Refusal
from taisai.game.rounds.corrections import next_claim
from taisai.game.rounds.settlement import stakes_by_purse
from taisai.game.seating import TERMINALS, seat_refusal
from taisai.game.table import Claim, Deciders, Effects, Table, TableTransfer
from taisai.game.vocabulary import CAGE, Means, TransferKind
from taisai.rules.clauses import Clause
from taisai.rules.settlement import GREATEST_SUM
from taisai.rules.vocabulary import Phase

CREDITS: Final = Clause("house:credits")
COLOURS: Final = Clause("house:colour-chips")
FLOAT: Final = Clause("house:float")
DROP: Final = Clause("house:drop")
TRANSFERS: Final = Clause("house:transfers")
MOST_DISPENSED: Final = 20  # transfers of one session that a seat remembers; few players have more tickets


# Credits and colour chips


def _beyond(purse_has: int, amount: int, clause: Clause) -> Refusal | None:
    if purse_has + amount > GREATEST_SUM:
        message = f"expected a balance of at most 2^53 - 1, got {purse_has + amount}"
        return refused(Reason.BEYOND_GREATEST_SUM, clause, message)
    return None


def buy_credits(table: Table, command: messages.BuyCredits) -> Events | Refusal:
    """Cash becomes credits at a terminal."""
    refusal = seat_refusal(table, command.seat, command.by)
    refusal = refusal or bad_amount("an amount", command.amount, CREDITS)
    if refusal:
        return refusal
    seat = table.seats[command.seat]
    if seat.purse is None:
        return refused(Reason.WRONG_MEANS, TERMINALS, f"seat {seat.name} has no terminal")
    second, alone = None, command.alone
    if alone is not None:
        if refusal := above_most(command.amount):
            return refusal
        if command.amount > alone:
            if refusal := two_people(table, command.by, command.second, clause=AMOUNTS):
                return refusal
            second = command.second
    clause = table.means.get(Means.CREDITS, TERMINALS)
    return _beyond(seat.held, command.amount, CREDITS) or (
        messages.CreditsBought(
            at=command.at, by=command.by, clause=clause, seat=seat.name, amount=command.amount, second=second
        ),
    )


def receive_ticket(table: Table, command: messages.ReceiveTicket) -> Events | Refusal:
    """The value of a ticket that the House accepted arrives, once."""
    refusal = _not_the_house(table, command.by) or bad_amount("an amount", command.amount, CREDITS)
    refusal = refusal or bad_name("a transfer", command.transfer)
    if refusal:
        return refusal
    if command.transfer in table.transfers:
        return known_transfer(table, command.transfer, TransferKind.TICKET, command.amount, command.seat)
    if refusal := bad_name("a seat's name", command.seat):
        return refusal
    seat = table.seats.get(command.seat)
    is_same = seat is not None and table.open and seat.taken and command.session == seat.session
    purse = seat.purse if seat is not None and is_same else None
    # The ticket is spent. If its player has left the seat, its value is still owed to them.
    claimed = purse is None or purse.credits + command.amount > GREATEST_SUM
    return (
        messages.TicketReceived(
            at=command.at, by=command.by, clause=TRANSFERS, transfer=command.transfer, seat=command.seat,
            amount=command.amount, claimed=claimed,
        ),
    )  # fmt: skip


def _not_the_house(table: Table, by: str) -> Refusal | None:
    if by == CAGE:
        return None
    message = f"only the House ({CAGE}) may send the value of a ticket, not {by}"
    return at_table(table, by) or refused(Reason.NOT_PERMITTED, TRANSFERS, message)


def known_transfer(
    table: Table, transfer: str, kind: TransferKind, amount: int | None, subject: str = ""
) -> Events | Refusal:
    """Answers a transfer that is booked already: a retry changes nothing, different content is refused."""
    known = table.transfers[transfer]
    if (known.kind, known.subject) == (kind, subject) and amount in (None, known.amount):
        return ()
    booked = f"{known.kind} {known.amount} ({known.subject or 'no seat'})"
    got = f"{kind} {'any amount' if amount is None else amount} ({subject or 'no seat'})"
    message = f"transfer {transfer} was booked as {booked}, got {got}"
    return refused(Reason.DIFFERENT_CONTENT, TRANSFERS, message)


def dispense_credits(table: Table, command: messages.DispenseCredits) -> Events | Refusal:
    """All credits of a terminal go out."""
    if command.transfer in table.transfers:
        return known_transfer(table, command.transfer, TransferKind.DISPENSED, None, command.seat)
    if refusal := seat_refusal(table, command.seat, command.by) or bad_name("a transfer", command.transfer):
        return refusal
    seat = table.seats[command.seat]
    if seat.purse is None or not seat.purse.credits:
        return refused(Reason.CREDITS_SHORT, CREDITS, f"seat {seat.name} has no credits")
    if refusal := money_waits(table, seat.name):
        return refusal
    clause = table.means.get(Means.CREDITS, TERMINALS)
    return (
        messages.CreditsDispensed(
            at=command.at, by=command.by, clause=clause, transfer=command.transfer, seat=seat.name,
            amount=seat.purse.credits,
        ),
    )  # fmt: skip


def buy_colour(table: Table, command: messages.BuyColour) -> Events | Refusal:
    """Colour chips at the player's own value, shown by a marker where it is above the minimum."""
    refusal = seat_refusal(table, command.seat, command.by) or at_table(table, command.by)
    refusal = refusal or bad_name("a colour", command.colour)
    refusal = refusal or bad_amount("a value", command.value, COLOURS)
    refusal = refusal or bad_amount("pieces", command.pieces, COLOURS)
    if refusal:
        return refusal
    clause = table.means.get(Means.COLOUR_CHIPS)
    if clause is None:
        message = f"this table has no colour chips: bets are made with {' or '.join(table.means)}"
        return refused(Reason.WRONG_MEANS, COLOURS, message)
    if command.paid_with not in (Means.CASH, Means.CASH_CHIPS):
        message = f"expected payment in cash or cash-chips, got {command.paid_with}"
        return refused(Reason.WRONG_MEANS, COLOURS, message)
    seat = table.seats[command.seat]
    holder = table.colours.get(command.colour)
    if (holder is not None and holder != seat.name) or seat.colour not in (None, command.colour):
        problem = f"colour {command.colour} belongs to seat {holder}"
        if holder in (None, seat.name):
            problem = f"seat {seat.name} already has the colour {seat.colour}, not {command.colour}"
        return refused(Reason.DIFFERENT_CONTENT, COLOURS, problem)
    if seat.colour is not None and seat.colour_value != command.value:
        message = f"the chips of seat {seat.name} have the value {seat.colour_value}, got {command.value}"
        sums = (seat.colour_value, command.value)
        return refused(Reason.DIFFERENT_CONTENT, COLOURS, message, sums=sums)
    if command.value > table.limits.least and command.marker != command.value:
        needed = f"a value above the minimum {table.limits.least} needs a marker of {command.value}"
        sums = (command.value, table.limits.least)
        return refused(Reason.UNMET_NEED, clause, f"{needed}, got {command.marker or 'none'}", sums=sums)
    purse = seat.purses.get(Means.COLOUR_CHIPS)
    has = purse.credits if purse else 0
    return _beyond(has, command.value * command.pieces, COLOURS) or (
        messages.ColourBought(
            at=command.at, by=command.by, clause=clause, seat=seat.name, colour=command.colour,
            value=command.value, pieces=command.pieces, paid_with=command.paid_with, marker=command.marker,
        ),
    )  # fmt: skip


def cash_colour(table: Table, command: messages.CashColour) -> Events | Refusal:
    """Colour chips are returned for cash chips out of the tray.

    A rest of less than one chip, as after a stake settled to the maximum, is paid with the last chip.
    """
    if refusal := seat_refusal(table, command.seat, command.by) or at_table(table, command.by):
        return refusal
    seat = table.seats[command.seat]
    if refusal := money_waits(table, seat.name):
        return refusal
    purse = seat.purses.get(Means.COLOUR_CHIPS)
    has, amount = purse.credits if purse else 0, command.pieces * seat.colour_value
    if type(command.pieces) is not int or command.pieces < 0 or not has or has < amount:
        message = f"not enough colour chips: {command.pieces} pieces worth {amount} needed, {has} available"
        sums = (amount, has) if type(amount) is int else ()
        return refused(Reason.CREDITS_SHORT, COLOURS, message, sums=sums)
    amount = has if has - amount < seat.colour_value else amount
    if not amount:
        return refused(Reason.BAD_VALUE, COLOURS, f"expected at least one colour chip, got {command.pieces}")
    free = free_in_tray(table)
    if free < amount:
        return tray_short(amount, free)
    clause = table.means[Means.COLOUR_CHIPS]
    return (
        messages.ColourCashed(
            at=command.at, by=command.by, clause=clause, seat=seat.name, pieces=command.pieces, amount=amount
        ),
    )


# The tray and the drop box


def free_in_tray(table: Table) -> int:
    """The chips that the tray can pay: without those on the layout and those that a settlement owes.

    Until winners are paid the round may still be voided, so losing chips still belong to the players.
    """
    reserved = 0
    if table.round is not None and table.round.phase is not Phase.PAID:
        stakes = stakes_by_purse(table, table.round)
        for purse in table.purses:
            if purse.means is Means.CASH_CHIPS:
                reserved += max(stakes.get(purse.index, 0), purse.payable)
    return max(0, table.ledger.balances[Account.CHIPS] - reserved)


def tray_short(amount: int, free: int) -> Refusal:
    """Why the tray cannot pay an amount."""
    message = f"not enough free chips in the tray: {amount} needed, {free} available"
    return refused(Reason.FLOAT_SHORT, FLOAT, message, sums=(amount, free))


def receive_fill(table: Table, command: messages.ReceiveFill) -> Events | Refusal:
    """Chips arrive from the cage: two people receive them, or the cage delivers them to one supervisor."""
    refusal = at_table(table, command.by) if command.by != CAGE else None
    refusal = refusal or two_people(table, command.by, command.second, clause=FLOAT)
    refusal = refusal or bad_amount("an amount", command.amount, FLOAT)
    refusal = refusal or bad_name("a transfer", command.transfer)
    if refusal:
        return refusal
    if command.transfer in table.transfers:
        return known_transfer(table, command.transfer, TransferKind.FILL, -command.amount)
    tray = table.ledger.balances[Account.CHIPS]
    assert command.second is not None
    return _beyond(tray, command.amount, FLOAT) or (
        messages.FillReceived(
            at=command.at, by=command.by, clause=FLOAT, transfer=command.transfer, amount=command.amount,
            second=command.second,
        ),
    )  # fmt: skip


def _two_at(table: Table, by: str, second: str | None, clause: Clause) -> Refusal | None:
    return at_table(table, by) or two_people(table, by, second, clause=clause)


def send_credit(table: Table, command: messages.SendCredit) -> Events | Refusal:
    """Chips leave for the cage; chips on the layout stay."""
    refusal = _two_at(table, command.by, command.second, FLOAT)
    refusal = refusal or bad_amount("an amount", command.amount, FLOAT)
    refusal = refusal or bad_name("a transfer", command.transfer)
    if refusal:
        return refusal
    if command.transfer in table.transfers:
        return known_transfer(table, command.transfer, TransferKind.CREDIT, command.amount)
    free = free_in_tray(table)
    if free < command.amount:
        return tray_short(command.amount, free)
    assert command.second is not None
    return (
        messages.CreditSent(
            at=command.at, by=command.by, clause=FLOAT, transfer=command.transfer, amount=command.amount,
            second=command.second,
        ),
    )  # fmt: skip


def send_drop(table: Table, command: messages.SendDrop) -> Events | Refusal:
    """The drop box leaves with all that is in it."""
    refusal = _two_at(table, command.by, command.second, DROP) or bad_name("a transfer", command.transfer)
    if refusal:
        return refusal
    if command.transfer in table.transfers:
        return known_transfer(table, command.transfer, TransferKind.DROP, None)
    amount = table.ledger.balances[Account.DROP]
    if not amount:
        return refused(Reason.CREDITS_SHORT, DROP, "the drop box is empty")
    assert command.second is not None
    return (
        messages.DropSent(
            at=command.at, by=command.by, clause=DROP, transfer=command.transfer, amount=amount,
            second=command.second,
        ),
    )  # fmt: skip


def on_credits_bought(table: Table, event: messages.CreditsBought) -> None:
    """Cash in the drop box, credits on the terminal."""
    purse_of(table, table.seats[event.seat], Means.CREDITS).credits += event.amount
    table.ledger.move(Account.DROP, Account.CREDITS, event.amount, event.clause)


def on_ticket_received(table: Table, event: messages.TicketReceived) -> None:
    """Credits that the House owes the table for."""
    table.transfers[event.transfer] = TableTransfer(TransferKind.TICKET, event.amount, event.seat)
    if event.claimed:
        claim = Claim(next_claim(table), 0, event.seat, 0, event.amount, of_player=True)
        table.claims[claim.id] = claim
        table.ledger.move(Account.TRANSIT_DUE, Account.CLAIMS_OF_PLAYERS, event.amount, event.clause)
        return
    purse_of(table, table.seats[event.seat], Means.CREDITS).credits += event.amount
    table.ledger.move(Account.TRANSIT_DUE, Account.CREDITS, event.amount, event.clause)


def on_dispensed(table: Table, event: messages.CreditsDispensed) -> None:
    """Credits that the table owes the House for."""
    seat = table.seats[event.seat]
    purse_of(table, seat, Means.CREDITS).credits -= event.amount
    seat.dispensed = (*seat.dispensed, event.transfer)[-MOST_DISPENSED:]
    table.transfers[event.transfer] = TableTransfer(TransferKind.DISPENSED, -event.amount, event.seat)
    table.ledger.move(Account.CREDITS, Account.TRANSIT_OWED, event.amount, event.clause)


def on_colour_bought(table: Table, event: messages.ColourBought) -> None:
    """A colour has a player and a value."""
    seat = table.seats[event.seat]
    seat.colour, seat.colour_value = event.colour, event.value
    table.colours[event.colour] = seat.name
    note_seated(table, seat)
    amount = event.value * event.pieces
    purse_of(table, seat, Means.COLOUR_CHIPS).credits += amount
    source = Account.DROP if event.paid_with is Means.CASH else Account.CHIPS
    table.ledger.move(source, Account.CREDITS, amount, event.clause)


def on_colour_cashed(table: Table, event: messages.ColourCashed) -> None:
    table.seats[event.seat].purses[Means.COLOUR_CHIPS].credits -= event.amount
    table.ledger.withdraw(Account.CHIPS, Account.CREDITS, event.amount, event.clause)


def on_filled(table: Table, event: messages.FillReceived) -> None:
    """The tray has more, and the table owes the House for it."""
    table.transfers[event.transfer] = TableTransfer(TransferKind.FILL, -event.amount)
    table.ledger.move(Account.CHIPS, Account.TRANSIT_OWED, event.amount, event.clause)


def on_credit_sent(table: Table, event: messages.CreditSent) -> None:
    """The tray has less, and the House owes for it."""
    table.transfers[event.transfer] = TableTransfer(TransferKind.CREDIT, event.amount)
    table.ledger.move(Account.CHIPS, Account.TRANSIT_DUE, event.amount, event.clause)


def on_drop_sent(table: Table, event: messages.DropSent) -> None:
    """The box is empty, and the House owes what was in it."""
    table.transfers[event.transfer] = TableTransfer(TransferKind.DROP, event.amount)
    table.ledger.move(Account.DROP, Account.TRANSIT_DUE, event.amount, event.clause)


DECIDERS: Final[Deciders] = {
    messages.BuyCredits: buy_credits,
    messages.BuyColour: buy_colour,
    messages.CashColour: cash_colour,
    messages.ReceiveTicket: receive_ticket,
    messages.DispenseCredits: dispense_credits,
    messages.ReceiveFill: receive_fill,
    messages.SendCredit: send_credit,
    messages.SendDrop: send_drop,
}

EFFECTS: Final[Effects] = {
    messages.CreditsBought: on_credits_bought,
    messages.ColourBought: on_colour_bought,
    messages.ColourCashed: on_colour_cashed,
    messages.TicketReceived: on_ticket_received,
    messages.CreditsDispensed: on_dispensed,
    messages.FillReceived: on_filled,
    messages.CreditSent: on_credit_sent,
    messages.DropSent: on_drop_sent,
}

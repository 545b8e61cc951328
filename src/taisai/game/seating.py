"""Seating: who sits where, at a terminal or at the layout, and which layout a terminal shows."""

from __future__ import annotations

from typing import Final

from taisai.game.betting.stakes import note_seated, purse_of
from taisai.game.checks import at_table, bad_name, bad_text, no_seat, refused
from taisai.game.messages import Command, Event, Events
from taisai.game.refusals import Reason, Refusal
from taisai.game.table import MOST_SEATS, MOST_TERMINALS, Deciders, Effects, Seat, Table
from taisai.game.vocabulary import SYSTEM, Means, folded
from taisai.rules.clauses import Clause
from taisai.rules.equipment import RememberedFor
from taisai.rules.errors import RulesError

__all__ = ["LayoutShown", "LeaveSeat", "SeatLeft", "SeatTaken", "ShowLayout", "TakeSeat"]


class TakeSeat(Command, frozen=True, kw_only=True, tag="take-seat"):
    """A player's session at a seat begins; at a terminal, with its layout."""

    seat: str
    player: str = ""
    terminal: str | None = None
    layout: str | None = None


class LeaveSeat(Command, frozen=True, kw_only=True, tag="leave-seat"):
    """The session ends, with nothing left on the seat."""

    seat: str


class ShowLayout(Command, frozen=True, kw_only=True, tag="show-layout"):
    """A terminal shows another layout, while its seat has no bets in the round."""

    seat: str
    layout: str


class SeatTaken(Event, frozen=True, kw_only=True, tag="seat-taken"):
    """A player's session begins."""

    seat: str
    player: str
    terminal: str | None
    layout: str


class SeatLeft(Event, frozen=True, kw_only=True, tag="seat-left"):
    """The session is over."""

    seat: str


class LayoutShown(Event, frozen=True, kw_only=True, tag="layout-shown"):
    """A terminal shows another layout."""

    seat: str
    layout: str


SEATS: Final = Clause("house:seats")
TERMINALS: Final = Clause("house:terminals")


def live_table(table: Table) -> bool:
    """Whether bets are chips on a layout."""
    return Means.CREDITS not in table.means


def take_seat(table: Table, command: TakeSeat) -> Events | Refusal:  # noqa: C901  the refusals, by rank
    """A player sits down, at a terminal or at the layout."""
    if not table.open:
        return at_table(table, command.by) or ()
    if refusal := bad_name("a seat's name", command.seat) or bad_text("a player's name", command.player):
        return refusal
    if command.terminal is not None:
        refusal = bad_name("a terminal's name", command.terminal) or _terminal_refusal(table, command)
    else:
        refusal = at_table(table, command.by)
        if refusal is None and not live_table(table):
            refusal = refused(Reason.WRONG_MEANS, TERMINALS, "a player at this table needs a terminal")
    if refusal:
        return refusal
    seat = table.seats.get(command.seat)
    if seat is not None and seat.taken:
        return refused(Reason.UNKNOWN_SEAT, SEATS, f"seat {command.seat} is taken")
    if refusal := _sits_elsewhere(table, command):
        return refusal
    if seat is None and len(table.seats) >= MOST_SEATS:
        message = f"the table has {MOST_SEATS} seats, the greatest number"
        return refused(Reason.TOO_MANY, "house:most", message)
    try:
        layout = table.book.layout_id(command.layout or table.layout)
    except RulesError as error:
        return Refusal(Reason.BAD_VALUE, SEATS, str(error))
    if command.terminal is None and layout != table.layout:
        message = f"expected the table's layout {table.layout}, got {layout}"
        return refused(Reason.BAD_VALUE, SEATS, message)
    return (
        SeatTaken(
            at=command.at, by=command.by, clause=SEATS, seat=command.seat, player=command.player,
            terminal=command.terminal, layout=layout,
        ),
    )  # fmt: skip


def _sits_elsewhere(table: Table, command: TakeSeat) -> Refusal | None:
    """Why a player or terminal cannot take this seat: limits are per player, so each has one seat."""
    for other in table.seats.values():
        if other.taken and command.player and folded(other.player) == folded(command.player):
            return refused(Reason.RULED_OUT, SEATS, f"{command.player} already has seat {other.name}")
    own = table.terminals.get(command.terminal or "") if command.terminal == command.by else None
    if own is not None and own != command.seat:
        message = f"terminal {command.terminal} may take only its own seat {own}, not {command.seat}"
        return refused(Reason.NOT_PERMITTED, TERMINALS, message)
    return None


def _terminal_refusal(table: Table, command: TakeSeat) -> Refusal | None:
    if command.by != command.terminal and (refusal := at_table(table, command.by)):
        return refusal
    if folded(command.terminal or "") in SYSTEM or command.terminal in table.people:
        message = (
            f"a terminal cannot have the name {command.terminal!r}, which belongs to a person or the system"
        )
        return refused(Reason.BAD_VALUE, TERMINALS, message)
    if live_table(table) and not table.demonstration:
        message = "a live table has no terminals: bets are chips on the layout"
        return refused(Reason.WRONG_MEANS, TERMINALS, message)
    for seat in table.seats.values():
        if seat.taken and seat.terminal == command.terminal:
            message = f"terminal {command.terminal} already has seat {seat.name}"
            return refused(Reason.NOT_PERMITTED, TERMINALS, message)
    return None


def seat_refusal(table: Table, name: str, by: str) -> Refusal | None:
    """Why someone may not act for a seat: it is free, or they are neither its terminal nor at the table."""
    seat = table.seats.get(name)
    if seat is None or not seat.taken:
        return no_seat(table, name)
    return at_table(table, by) if by != seat.terminal else None


def leave_seat(table: Table, command: LeaveSeat) -> Events | Refusal:
    """A player leaves a seat with no money left on it."""
    if refusal := seat_refusal(table, command.seat, command.by):
        return refusal
    if table.round is not None and command.seat in table.round.seats():
        message = f"seat {command.seat} has bets in round {table.round.number}"
        return refused(Reason.UNDER_LIVE_BETS, SEATS, message)
    held = table.seats[command.seat].held
    if held:
        message = f"{held} is still on seat {command.seat}: take it off first"
        return refused(Reason.UNDER_LIVE_BETS, SEATS, message, sums=(0, held))
    return (SeatLeft(at=command.at, by=command.by, clause=SEATS, seat=command.seat),)


def show_layout(table: Table, command: ShowLayout) -> Events | Refusal:
    """A terminal shows another layout, and its pay table with it."""
    if refusal := seat_refusal(table, command.seat, command.by):
        return refusal
    seat = table.seats[command.seat]
    if seat.terminal is None:
        return refused(Reason.WRONG_MEANS, TERMINALS, f"seat {seat.name} has no terminal")
    if seat.at_risk:
        message = f"seat {seat.name} has live bets of {seat.at_risk}"
        return refused(Reason.UNDER_LIVE_BETS, "house:terms", message, sums=(0, seat.at_risk))
    try:
        layout = table.book.layout_id(command.layout)
    except RulesError as error:
        return Refusal(Reason.BAD_VALUE, Clause("house:terms"), str(error))
    clause = table.terms[layout].matrix.layout_clause
    return (LayoutShown(at=command.at, by=command.by, clause=clause, seat=seat.name, layout=layout),)


def on_seat_taken(table: Table, event: SeatTaken) -> None:
    seat = table.seats.setdefault(event.seat, Seat(event.seat))
    seat.taken, seat.player, seat.terminal, seat.layout = True, event.player, event.terminal, event.layout
    seat.session += 1
    seat.since, seat.dispensed = event.at, ()
    for purse in seat.purses.values():
        purse.net = 0
    if event.terminal is not None:
        table.terminals.pop(event.terminal, None)
        table.terminals[event.terminal] = event.seat
        if len(table.terminals) > MOST_TERMINALS:
            del table.terminals[next(iter(table.terminals))]
    seat.terms = table.terms[event.layout]
    seat.purse = purse_of(table, seat, Means.CREDITS) if event.terminal is not None else None
    note_seated(table, seat)


def on_seat_left(table: Table, event: SeatLeft) -> None:
    seat = table.seats[event.seat]
    memory = table.book.limits.memory
    if table.practice > 1 and memory is not None and table.settings[memory] == RememberedFor.STAY:
        table.tolerated.pop(seat.memory_key, None)
        table.freed.pop(seat.memory_key, None)
    seat.taken, seat.terminal, seat.purse = False, None, None
    if seat.colour is not None:
        table.colours.pop(seat.colour, None)
    seat.colour, seat.colour_value = None, 0


def on_layout_shown(table: Table, event: LayoutShown) -> None:
    seat = table.seats[event.seat]
    seat.layout = event.layout
    seat.terms = table.terms[event.layout]


DECIDERS: Final[Deciders] = {TakeSeat: take_seat, LeaveSeat: leave_seat, ShowLayout: show_layout}

EFFECTS: Final[Effects] = {SeatTaken: on_seat_taken, SeatLeft: on_seat_left, LayoutShown: on_layout_shown}

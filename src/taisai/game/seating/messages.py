"""Commands and events: seats and the layouts of terminals."""

from __future__ import annotations

from taisai.game.messages import Command, Event

__all__ = [
    "LayoutShown",
    "LeaveSeat",
    "SeatLeft",
    "SeatTaken",
    "ShowLayout",
    "TakeSeat",
]


# Commands


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
    """A terminal shows another layout, under no live bets of its own."""

    seat: str
    layout: str


# Events


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

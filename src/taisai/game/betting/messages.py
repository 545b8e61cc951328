"""Commands and events: bets."""

from __future__ import annotations

from msgspec import Struct

from taisai.game.messages import Command, Event
from taisai.game.vocabulary import Means


class Slip(Struct, frozen=True, forbid_unknown_fields=True, gc=False):
    """One bet of a batch: area, stake, and an id that no other bet of the round has, at any terminal."""

    id: str
    area: str
    stake: int


class PlaceBets(Command, frozen=True, kw_only=True, omit_defaults=True, tag="place-bets"):
    """A terminal's bets, all or none; an id that is known already changes nothing."""

    round: int
    seat: str
    bets: tuple[Slip, ...]
    means: Means | None = None
    """Credits by default, or the colour chips that the seat bought. The stake is in money in both cases."""


class RecordBets(Command, frozen=True, kw_only=True, tag="record-bets"):
    """Chips as they lie on a live table, by staff or a chip reader, for a seat or a colour."""

    round: int
    bets: tuple[Slip, ...]
    """The stake of colour chips is in pieces."""
    means: Means
    seat: str | None = None
    colour: str | None = None
    at_request: bool = False
    """Whether staff laid them because the player asked."""


class TakeBack(Command, frozen=True, kw_only=True, tag="take-back"):
    """Bets go back before the close, all or none."""

    round: int
    seat: str
    ids: tuple[str, ...]


class MoveBet(Command, frozen=True, kw_only=True, tag="move-bet"):
    """Staff record that a bet lies on another area than recorded, until positions count."""

    round: int
    id: str
    area: str
    second: str | None = None
    """Who sees it too, after the close."""


class BetRegistered(Event, frozen=True, kw_only=True, tag="bet-registered"):
    """A bet stands: from here on it is settled, or returned, and never lost."""

    round: int
    id: str
    seat: str
    means: Means
    layout: str
    area: str
    stake: int
    """In the smallest money unit, whatever it was made with."""
    at_request: bool = False


class BetTakenBack(Event, frozen=True, kw_only=True, tag="bet-taken-back"):
    """A bet went back before the close."""

    round: int
    id: str


class BetMoved(Event, frozen=True, kw_only=True, tag="bet-moved"):
    """A bet counts on another area: so it lies, or so it was decided."""

    round: int
    id: str
    area: str
    second: str | None


class BetReturned(Event, frozen=True, kw_only=True, tag="bet-returned"):
    """A bet was returned by decision."""

    round: int
    id: str

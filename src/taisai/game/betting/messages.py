"""Commands and events: bets."""

from __future__ import annotations

from typing import ClassVar

from msgspec import Struct

from taisai.game.messages import Command, Event
from taisai.game.vocabulary import Means, RecordChange


class Slip(Struct, frozen=True, forbid_unknown_fields=True, gc=False):
    """One bet of a batch: area, stake, and an id that no other bet of the round has, at any terminal."""

    id: str
    area: str
    stake: int


class PlaceBets(Command, frozen=True, kw_only=True, omit_defaults=True, tag="place-bets"):
    """Places the bets of a terminal, all or none; a retry with known ids changes nothing."""

    round: int
    seat: str
    bets: tuple[Slip, ...]
    means: Means | None = None
    """Credits by default, or the colour chips that the seat bought. The stake is in money in both cases."""


class RecordBets(Command, frozen=True, kw_only=True, tag="record-bets"):
    """Staff or a chip reader record the chips on the layout, for a seat or a colour."""

    round: int
    bets: tuple[Slip, ...]
    """The stake of colour chips is in pieces."""
    means: Means
    seat: str | None = None
    colour: str | None = None
    at_request: bool = False
    """Whether staff placed them at the player's request."""


class TakeBack(Command, frozen=True, kw_only=True, tag="take-back"):
    """Takes bets back before the close, all or none."""

    round: int
    seat: str
    ids: tuple[str, ...]


class MoveBet(Command, frozen=True, kw_only=True, tag="move-bet"):
    """Staff correct the area of a recorded bet, until positions are fixed."""

    round: int
    id: str
    """The id of the bet."""
    area: str
    second: str | None = None
    """The second person, who is required after the close."""


class CorrectRecord(Command, frozen=True, kw_only=True, omit_defaults=True, tag="correct-record"):
    """The record of a round is put right, so that it says what lay on the layout."""

    since: ClassVar[int] = 2
    after_closing: ClassVar[bool] = True
    change: RecordChange
    round: int | None = None
    """The current round by default, else the latest."""
    id: str = ""
    """The id of the bet; with 'add' that of the new bet, which is made by default."""
    new_id: str = ""
    """With 'split' the id of the bet that the part becomes, which is made by default."""
    seat: str | None = None
    means: Means | None = None
    area: str | None = None
    stake: int | None = None
    """The true stake; with 'split' the part. Colour chips are in pieces."""
    reason: str = ""
    evidence: str = ""
    """What shows it: camera and time."""
    second: str | None = None


class RecordedBet(Struct, frozen=True, forbid_unknown_fields=True, gc=False):
    """What the record says of a bet, before or after a correction."""

    id: str
    seat: str
    means: Means
    layout: str
    area: str
    stake: int
    """In the smallest money unit, whatever it was made with."""


class RecordCorrected(Event, frozen=True, kw_only=True, omit_defaults=True, tag="record-corrected"):
    """The record of a round was put right. If the round was settled, it is resettled next."""

    since: ClassVar[int] = 2
    round: int
    change: RecordChange
    before: RecordedBet | None = None
    """None if the bet was not recorded."""
    after: RecordedBet | None = None
    """None if no such chip was there."""
    part: RecordedBet | None = None
    """With 'split' the part that is a bet of its own now."""
    reason: str
    evidence: str
    second: str | None = None

    def bets(self) -> tuple[RecordedBet, ...]:
        """What the record says of the bet before, after, and of its part."""
        return tuple(bet for bet in (self.before, self.after, self.part) if bet is not None)

    def seats(self) -> tuple[str, ...]:
        """The seats whose bets it changes."""
        return tuple(dict.fromkeys(bet.seat for bet in self.bets()))


class BetRegistered(Event, frozen=True, kw_only=True, tag="bet-registered"):
    """A bet is accepted: it will be settled or returned."""

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
    """A bet counts on another area, by a correction or by a decision."""

    round: int
    id: str
    area: str
    second: str | None


class BetReturned(Event, frozen=True, kw_only=True, tag="bet-returned"):
    """A bet was returned by decision."""

    round: int
    id: str

"""The table itself, its people and its equipment."""

from __future__ import annotations

from msgspec import field

from taisai.game.commands.command import Command, Faces
from taisai.game.terms.limits import Limits
from taisai.rules.equipment import InspectedBefore

# The table


class OpenTable(Command, frozen=True, kw_only=True, tag="open-table"):
    """The first command of a table's stream."""

    table: str
    limits: Limits
    currency: str
    day: str
    """The gaming day, such as '2026-11-15'."""
    zone: str
    """The time zone of the floor, such as 'Asia/Singapore'."""
    rank: str
    """The rank of who opens it."""
    settings: dict[str, str] = field(default_factory=dict)
    offers: dict[str, str] = field(default_factory=dict)
    """Area → odds offered above a floor."""
    layout: str | None = None
    """The layout of a live table, and of a terminal that asks for no other."""
    demonstration: bool = False
    """Whether terminals may stand in for the chips of a live table."""


class CloseTable(Command, frozen=True, kw_only=True, tag="close-table"):
    """No further round is played."""


class BeginDay(Command, frozen=True, kw_only=True, tag="begin-day"):
    """A new gaming day."""

    day: str


class BeginShift(Command, frozen=True, kw_only=True, tag="begin-shift"):
    """A new shift."""

    shift: str


class SetLimits(Command, frozen=True, kw_only=True, tag="set-limits"):
    """Other limits, under dual control and under no live bets."""

    limits: Limits
    second: str | None = None


class OfferOdds(Command, frozen=True, kw_only=True, tag="offer-odds"):
    """Other odds above the document's floors, under dual control and under no live bets."""

    offers: dict[str, str]
    second: str | None = None


class Shut(Command, frozen=True, kw_only=True, tag="shut"):
    """No round opens until the table is reopened."""

    reason: str


class Reopen(Command, frozen=True, kw_only=True, tag="reopen"):
    """A shut table may be played again."""

    reason: str
    second: str | None = None


# People


class Assign(Command, frozen=True, kw_only=True, tag="assign"):
    """A person is assigned to a position at the table and acts in it; a Dealer relieves the one before."""

    person: str
    rank: str
    """The person's own rank."""
    position: str


class Leave(Command, frozen=True, kw_only=True, tag="leave"):
    """A person leaves the table."""

    person: str


# Equipment


class PlaceItem(Command, frozen=True, kw_only=True, tag="place-item"):
    """An item of the book's equipment comes to the table."""

    item: str
    serial: str = ""


class RemoveItem(Command, frozen=True, kw_only=True, tag="remove-item"):
    """An item leaves the table."""

    item: str


class RepairItem(Command, frozen=True, kw_only=True, tag="repair-item"):
    """An item that failed works again."""

    item: str


class Inspect(Command, frozen=True, kw_only=True, tag="inspect"):
    """An inspection with its trial runs, and what they showed."""

    item: str
    runs: int
    passed: bool
    entered: Faces = ()
    """The numbers keyed into a device that lights areas."""
    lit: tuple[str, ...] = ()
    """The areas that were seen to light."""
    before: InspectedBefore | None = None
    """Which inspection it is, where the inspector may make several."""


class LoadShoe(Command, frozen=True, kw_only=True, tag="load-shoe"):
    """Decks, counted and checked, come into the shoe."""

    decks: int


class ShuffleShoe(Command, frozen=True, kw_only=True, tag="shuffle-shoe"):
    """All cards of the shoe are shuffled together; the burn follows."""


class CountCards(Command, frozen=True, kw_only=True, tag="count-cards"):
    """The cards of the shoe and of the discards are counted, face by face."""

    found: tuple[int, ...]
    second: str | None = None

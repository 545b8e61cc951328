"""The table itself, its people and its equipment."""

from __future__ import annotations

from taisai.game.commands import Faces
from taisai.game.events.event import Event
from taisai.game.terms.limits import Limits
from taisai.rules.equipment import InspectedBefore

# The table


class TableOpened(Event, frozen=True, kw_only=True, tag="table-opened"):
    """The first event: it pins the rulebook and everything chosen."""

    table: str
    rulebook: str
    digest: str
    settings: dict[str, str]
    offers: dict[str, str]
    limits: Limits
    layout: str
    currency: str
    day: str
    zone: str
    rank: str
    demonstration: bool


class TableClosed(Event, frozen=True, kw_only=True, tag="table-closed"):
    """No further round is played."""


class DayBegun(Event, frozen=True, kw_only=True, tag="day-begun"):
    """A new gaming day."""

    day: str


class ShiftBegun(Event, frozen=True, kw_only=True, tag="shift-begun"):
    """A new shift: inspections of the last one no longer count."""

    shift: str


class LimitsSet(Event, frozen=True, kw_only=True, tag="limits-set"):
    """Other limits are in force."""

    limits: Limits
    second: str


class OddsOffered(Event, frozen=True, kw_only=True, tag="odds-offered"):
    """Other odds are in force."""

    offers: dict[str, str]
    second: str


class TableShut(Event, frozen=True, kw_only=True, tag="table-shut"):
    """No round opens until the table is reopened."""

    reason: str


class TableReopened(Event, frozen=True, kw_only=True, tag="table-reopened"):
    """The table may be played again."""

    reason: str
    second: str


# People


class PersonAssigned(Event, frozen=True, kw_only=True, tag="person-assigned"):
    """A person is assigned to a position and acts in it."""

    person: str
    rank: str
    position: str
    relieved: str | None
    """The person whose place he took, with all in that person's custody."""


class PersonLeft(Event, frozen=True, kw_only=True, tag="person-left"):
    """A person left the table."""

    person: str


# Equipment


class ItemPlaced(Event, frozen=True, kw_only=True, tag="item-placed"):
    """An item came to the table, in someone's custody where the document says whose."""

    item: str
    serial: str
    custodian: str | None


class ItemRemoved(Event, frozen=True, kw_only=True, tag="item-removed"):
    """An item left the table."""

    item: str


class ItemFailed(Event, frozen=True, kw_only=True, tag="item-failed"):
    """An item is out of order."""

    item: str


class ItemRepaired(Event, frozen=True, kw_only=True, tag="item-repaired"):
    """An item works again."""

    item: str


class ItemInspected(Event, frozen=True, kw_only=True, tag="item-inspected"):
    """An inspection and its finding."""

    item: str
    runs: int
    passed: bool
    position: str
    """The position in which the inspector acted."""
    before: InspectedBefore
    entered: Faces
    lit: tuple[str, ...]


class ShoeLoaded(Event, frozen=True, kw_only=True, tag="shoe-loaded"):
    """Decks came into the shoe; it has to be shuffled."""

    decks: int


class ShoeShuffled(Event, frozen=True, kw_only=True, tag="shoe-shuffled"):
    """All cards are back in the shoe, in a new order, so many burnt."""

    burnt: int


class CardsCounted(Event, frozen=True, kw_only=True, tag="cards-counted"):
    """The cards were counted and are as many as they should be."""

    found: tuple[int, ...]

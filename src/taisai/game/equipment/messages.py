"""Commands and events: equipment, its inspections, and the shoe."""

from __future__ import annotations

from taisai.game.messages import Command, Event, Faces
from taisai.rules.equipment import InspectedBefore


class PlaceItem(Command, frozen=True, kw_only=True, tag="place-item"):
    """Places an item of the book's equipment on the table."""

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
    """Which inspection it is, if the inspector may make several."""


class LoadShoe(Command, frozen=True, kw_only=True, omit_defaults=True, tag="load-shoe"):
    """Decks, counted and checked, come into the shoe."""

    decks: int
    backs: tuple[str, ...] = ()
    """The colour and design of the backs, deck by deck."""


class ShuffleShoe(Command, frozen=True, kw_only=True, tag="shuffle-shoe"):
    """All cards of the shoe are shuffled together; the burn follows."""


class CountCards(Command, frozen=True, kw_only=True, tag="count-cards"):
    """The cards of the shoe and of the discards are counted, face by face."""

    found: tuple[int, ...]
    second: str | None = None


class ItemPlaced(Event, frozen=True, kw_only=True, tag="item-placed"):
    """An item was placed on the table, in the custody that the document requires."""

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


class ShoeLoaded(Event, frozen=True, kw_only=True, omit_defaults=True, tag="shoe-loaded"):
    """Decks came into the shoe; it has to be shuffled."""

    decks: int
    backs: tuple[str, ...] = ()
    """The colour and design of the backs, deck by deck."""


class ShoeShuffled(Event, frozen=True, kw_only=True, tag="shoe-shuffled"):
    """All cards of the shoe were shuffled, and some were burnt."""

    burnt: int


class CardsCounted(Event, frozen=True, kw_only=True, tag="cards-counted"):
    """The cards were counted, and the count was right."""

    found: tuple[int, ...]

"""Equipment at a table: what is on it, works, was inspected, and for how long it has lain there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from taisai.game.snapshot_codec import Derived
from taisai.rules.equipment import EquipmentItem, InspectedBefore, Inspection

HOUR: Final = 3_600_000
# Items that are more to the game than something that lies there; a rulebook that has them calls them so.
DICE: Final = "dice"
CARDS: Final = "cards"
DEVICE: Final = "electrical-device"
SHAKER: Final = "automated-shaker"
TERMINAL: Final = "player-terminal"
DISPLAY: Final = "display"


class PlacedItem(NamedTuple):
    """An item on the table."""

    since: int
    serial: str
    custodian: str | None
    working: bool = True


@dataclass(slots=True, eq=False)
class Equipment:
    """The state of the book's equipment at one table."""

    items: Derived[dict[str, EquipmentItem]]
    placed: dict[str, PlacedItem] = field(default_factory=dict)
    retired: set[tuple[str, str]] = field(default_factory=set)
    """(item, serial) of what failed, or had its time on the table, and left it."""
    inspected: set[tuple[str, InspectedBefore]] = field(default_factory=set)
    """Inspections that hold: since the item came, and since the shift began."""

    def in_use(self, settings: Mapping[str, str]) -> list[EquipmentItem]:
        """The items that a table with these settings is played with."""
        return [item for item in self.items.values() if item.when is None or item.when.holds(settings)]

    def failed(self, settings: Mapping[str, str]) -> str | None:
        """An item in use that is missing or out of order."""
        for item in self.in_use(settings):
            placed = self.placed.get(item.id)
            if placed is None or not placed.working:
                return item.id
        return None

    def due(
        self, before: InspectedBefore, settings: Mapping[str, str]
    ) -> list[tuple[EquipmentItem, Inspection]]:
        """The inspections still to be made."""
        return [
            (item, inspection)
            for item in self.in_use(settings)
            for inspection in item.inspections
            if inspection.before is before and (item.id, before) not in self.inspected
        ]

    def outlived(self, now: int, settings: Mapping[str, str]) -> EquipmentItem | None:
        """An item that has lain on the table longer than the document allows."""
        for item in self.in_use(settings):
            placed = self.placed.get(item.id)
            if item.hours_on_table and (placed is None or now - placed.since > item.hours_on_table * HOUR):
                return item
        return None

    def least_tumbles(self, settings: Mapping[str, str]) -> int:
        """How often the dice must tumble."""
        return max((item.least_tumbles or 0 for item in self.in_use(settings)), default=0)

    def place(self, item: str, placed: PlacedItem) -> None:
        """An item comes to the table; what was inspected was another."""
        self.placed[item] = placed
        self._forget(item)

    def remove(self, item: str) -> None:
        """An item leaves; one that failed, or whose time on the table is counted, does not come back."""
        placed = self.placed.pop(item)
        if not placed.working or self.items[item].hours_on_table:
            self.retired.add((item, placed.serial))
        self._forget(item)

    def mark(self, item: str, *, working: bool) -> None:
        """An item fails, or is repaired, after which it is inspected anew."""
        self.placed[item] = self.placed[item]._replace(working=working)
        self._forget(item)

    def hand_over(self, custodian: str) -> None:
        """Whatever is in a dealer's custody passes to the next."""
        for name, placed in self.placed.items():
            if placed.custodian is not None:
                self.placed[name] = placed._replace(custodian=custodian)

    def begin(self, before: InspectedBefore) -> None:
        """A shift's inspections are made anew, or those before opening."""
        self.inspected = {one for one in self.inspected if one[1] is not before}

    def _forget(self, item: str) -> None:
        self.inspected = {one for one in self.inspected if one[0] != item}

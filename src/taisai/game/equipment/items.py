"""The equipment of a table: what is placed, works and was inspected, and the cards in its shoe."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from taisai.game.snapshot_codec import Derived
from taisai.rules.chance import ChanceKind, ChanceRule
from taisai.rules.equipment import EquipmentItem, InspectedBefore, Inspection
from taisai.rules.outcomes import DICE as CARDS_PER_ROUND
from taisai.rules.outcomes import FACES

HOUR: Final = 3_600_000
# Items with a role of their own in the game. A rulebook that has them uses these ids.
DICE_ITEM: Final = "dice"
CARDS_ITEM: Final = "cards"
DEVICE: Final = "electrical-device"
SHAKER_ITEM: Final = "automated-shaker"
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
    """(item, serial) of items that left the table after a failure or after their time on it."""
    inspected: set[tuple[str, InspectedBefore]] = field(default_factory=set)
    """(item, before what) of inspections that are still valid."""

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
        """An item that has been on the table longer than the document allows."""
        for item in self.in_use(settings):
            placed = self.placed.get(item.id)
            if item.hours_on_table and (placed is None or now - placed.since > item.hours_on_table * HOUR):
                return item
        return None

    def least_tumbles(self, settings: Mapping[str, str]) -> int:
        """How often the dice must tumble."""
        return max((item.least_tumbles or 0 for item in self.in_use(settings)), default=0)

    def tumbles_add_up(self, settings: Mapping[str, str]) -> bool:
        """Whether the tumbles of several activations count together."""
        return all(item.tumbles_add_up for item in self.in_use(settings))

    def place(self, item: str, placed: PlacedItem) -> None:
        """Places an item on the table; it is not inspected yet."""
        self.placed[item] = placed
        self._forget(item)

    def remove(self, item: str) -> None:
        """An item leaves; if it failed, or its time on the table is limited, it does not come back."""
        placed = self.placed.pop(item)
        if not placed.working or self.items[item].hours_on_table:
            self.retired.add((item, placed.serial))
        self._forget(item)

    def mark(self, item: str, *, working: bool) -> None:
        """An item fails or is repaired; either way it must be inspected again."""
        self.placed[item] = self.placed[item]._replace(working=working)
        self._forget(item)

    def hand_over(self, custodian: str) -> None:
        """The items in a Dealer's custody pass to the next Dealer."""
        for name, placed in self.placed.items():
            if placed.custodian is not None:
                self.placed[name] = placed._replace(custodian=custodian)

    def begin(self, before: InspectedBefore) -> None:
        """The inspections before a shift, or before opening, are required again."""
        self.inspected = {done for done in self.inspected if done[1] is not before}

    def _forget(self, item: str) -> None:
        self.inspected = {done for done in self.inspected if done[0] != item}


EVERY_ROUND: Final = "every_round"
BACK_INTO_SHOE: Final = "shoe"


@dataclass(slots=True, eq=False)
class Shoe:
    """The cards of a table; a game of dice has no cards."""

    rule: Derived[ChanceRule]
    decks: int = 0
    left: int = 0
    """Cards that can still be dealt."""
    fresh: bool = False
    """Whether it has to be shuffled, whatever the policy: new decks, or a shoe that ran short."""
    shuffles: int = 0
    rounds: int = 0
    """Rounds that were dealt from these decks."""
    burnt: int = 0
    seen: list[int] = field(default_factory=lambda: [0] * len(FACES))
    """Cards of each face that were dealt face up since the shuffle."""
    shuffled: bool = False
    """Whether it was shuffled since the last card was dealt."""
    spoilt: bool = False
    """Whether a foreign card or a wrong count was found: the decks have to be changed."""

    @property
    def used(self) -> bool:
        """Whether the game is played from a shoe."""
        return self.rule.kind is ChanceKind.CARDS

    @property
    def cards(self) -> int:
        """How many cards the decks have."""
        return self.decks * self.rule.cards_per_face * len(FACES)

    @property
    def short(self) -> bool:
        """Whether it has too few cards for a round."""
        return self.left < CARDS_PER_ROUND

    def unready(self, settings: Mapping[str, str]) -> str | None:
        """Why no round can be dealt from it."""
        if not self.decks or self.spoilt:
            return "the shoe has no sound decks: load it"
        if not self.shuffled and (self.fresh or settings.get("shuffle") == EVERY_ROUND):
            return "the shoe must be shuffled before the round"
        if self._past_penetration(settings):
            return f"{settings['penetration']} % of the shoe is dealt: shuffle it"
        if self.short:
            return f"the shoe has fewer than {CARDS_PER_ROUND} cards"
        return None

    def _past_penetration(self, settings: Mapping[str, str]) -> bool:
        if settings.get("shuffle") == EVERY_ROUND or "penetration" not in settings:
            return False
        dealt = self.cards - self.burnt - self.left
        return dealt * 100 >= int(settings["penetration"]) * self.cards

    def expected(self) -> tuple[int, ...]:
        """How many cards of each face there should be, in the shoe and out of it."""
        return (self.decks * self.rule.cards_per_face,) * len(FACES)

    def can_hold(self, faces: Sequence[int], *, instead_of: Sequence[int] = ()) -> bool:
        """Whether the decks have these cards, beside those that were seen since the shuffle."""
        most = self.decks * self.rule.cards_per_face
        held, were = list(faces), list(instead_of)
        return all(self.seen[face - 1] - were.count(face) + held.count(face) <= most for face in faces)

    def load(self, decks: int) -> None:
        self.decks, self.spoilt, self.shuffled, self.fresh, self.rounds = decks, False, False, True, 0
        self.left, self.burnt, self.seen = self.cards, 0, [0] * len(FACES)
        self.shuffles += 1

    def shuffle(self, burnt: int) -> None:
        """All cards are shuffled together, and some are burnt unseen."""
        self.left, self.burnt, self.shuffled, self.fresh = self.cards - burnt, burnt, True, False
        self.seen = [0] * len(FACES)
        self.shuffles += 1

    def deal(self) -> None:
        self.left -= CARDS_PER_ROUND
        self.shuffled = False
        self.rounds += 1

    def end_round(self, settings: Mapping[str, str], *, dealt: int) -> None:
        """Dealt cards go into the rack, or back into the shoe if the setting says so."""
        if dealt and settings.get("discard") == BACK_INTO_SHOE:
            self.left += dealt
            self.seen = [0] * len(FACES)
            self.shuffles += 1

    def show(self, faces: Sequence[int]) -> None:
        for face in faces:
            self.seen[face - 1] += 1

    def unshow(self, faces: Sequence[int]) -> None:
        """Takes back what the dealt cards were said to show."""
        for face in faces:
            self.seen[face - 1] -= 1

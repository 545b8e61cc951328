"""A shoe: how many cards of each face are in it, and whether it may be dealt from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from taisai.game.snapshot_codec import Derived
from taisai.rules.chance import ChanceKind, ChanceRule
from taisai.rules.outcomes import DICE, FACES

EVERY_ROUND: Final = "every_round"
BACK_INTO_SHOE: Final = "shoe"


@dataclass(slots=True, eq=False)
class Shoe:
    """The cards of a table; a game of dice has none."""

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
        return self.left < DICE

    def unready(self, settings: Mapping[str, str]) -> str | None:
        """Why no round can be dealt from it, in words."""
        if not self.decks or self.spoilt:
            return "a shoe loaded with sound decks"
        if not self.shuffled and (self.fresh or settings.get("shuffle") == EVERY_ROUND):
            return "a shuffle before the round"
        if self._past_penetration(settings):
            return f"a shuffle, since {settings['penetration']} % of the shoe is dealt"
        if self.short:
            return f"at least {DICE} cards in the shoe"
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
        """New decks."""
        self.decks, self.spoilt, self.shuffled, self.fresh, self.rounds = decks, False, False, True, 0
        self.left, self.burnt, self.seen = self.cards, 0, [0] * len(FACES)
        self.shuffles += 1

    def shuffle(self, burnt: int) -> None:
        """All cards together again, so many burnt unseen."""
        self.left, self.burnt, self.shuffled, self.fresh = self.cards - burnt, burnt, True, False
        self.seen = [0] * len(FACES)
        self.shuffles += 1

    def deal(self) -> None:
        """Three cards leave the shoe."""
        self.left -= DICE
        self.shuffled = False
        self.rounds += 1

    def end_round(self, settings: Mapping[str, str], *, dealt: int) -> None:
        """Dealt cards go into the rack, or back into the shoe where the setting says so."""
        if dealt and settings.get("discard") == BACK_INTO_SHOE:
            self.left += dealt
            self.seen = [0] * len(FACES)
            self.shuffles += 1

    def show(self, faces: Sequence[int]) -> None:
        """What the dealt cards showed."""
        for face in faces:
            self.seen[face - 1] += 1

    def unshow(self, faces: Sequence[int]) -> None:
        """What the dealt cards did not show after all."""
        for face in faces:
            self.seen[face - 1] -= 1

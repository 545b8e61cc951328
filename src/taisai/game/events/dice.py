"""What devices saw of the dice, and the seeds of the demonstration shaker."""

from __future__ import annotations

from taisai.game.commands import Faces
from taisai.game.events.event import Event
from taisai.game.vocabulary import Fault


class ReadingTaken(Event, frozen=True, kw_only=True, tag="reading-taken"):
    """What a device saw, or why it saw nothing; no result until the Dealer enters one."""

    round: int
    reading: str
    device: str
    shake: int
    faces: Faces
    fault: Fault | None
    cards: tuple[int, ...] = ()
    """Cards of each face that were not seen since the shuffle, where the shaker drew from them."""


class SeedCommitted(Event, frozen=True, kw_only=True, tag="seed-committed"):
    """The demonstration shaker is bound to a seed; bets are not open yet."""

    round: int
    commitment: str
    source: str


class SeedRevealed(Event, frozen=True, kw_only=True, tag="seed-revealed"):
    """The seed, with all that is needed to make the draw again."""

    round: int
    seed: str
    shake: int
    close: int
    hash: str
    faces: Faces

"""Commands and events: readings of devices, and the seeds of the demonstration shaker."""

from __future__ import annotations

from typing import ClassVar

from taisai.game.messages import Command, Event, Faces
from taisai.game.vocabulary import DeviceFault


class TakeReading(Command, frozen=True, kw_only=True, tag="take-reading"):
    """What a device saw, or why it saw nothing; the Dealer enters the result."""

    from_clients: ClassVar[bool] = False
    reading: str
    """An id that no other reading of the round has."""
    round: int
    device: str
    shake: int = 1
    """1, and one more for each time that bets of this round were opened again."""
    faces: Faces = ()
    fault: DeviceFault | None = None


class CommitSeed(Command, frozen=True, kw_only=True, tag="commit-seed"):
    """The demonstration shaker binds itself to a seed before the bets of a round open."""

    from_clients: ClassVar[bool] = False
    round: int
    """The round that comes next."""
    commitment: str
    """The SHA-256 of the 32 bytes of the seed, in 64 small hexadecimal digits."""
    source: str
    """Where the seed comes from, as pages show it."""


class RevealSeed(Command, frozen=True, kw_only=True, tag="reveal-seed"):
    """The seed of a round, and what it was drawn with, when no bet can follow any more."""

    from_clients: ClassVar[bool] = False
    after_closing: ClassVar[bool] = True
    round: int
    seed: str
    """In 64 small hexadecimal digits."""
    close: int = 0
    """The position of the entry that closed bets last; 0 where nothing was drawn."""
    hash: str = ""
    """The hash of that entry, in 64 small hexadecimal digits."""
    faces: Faces = ()
    """What was drawn."""


class ReadingTaken(Event, frozen=True, kw_only=True, tag="reading-taken"):
    """What a device saw, or why it saw nothing; no result until the Dealer enters one."""

    round: int
    reading: str
    device: str
    shake: int
    faces: Faces
    fault: DeviceFault | None
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

"""What devices saw of the dice, and the seeds of the demonstration shaker."""

from __future__ import annotations

from taisai.game.commands.command import Command, Faces
from taisai.game.vocabulary import Fault


class TakeReading(Command, frozen=True, kw_only=True, tag="take-reading"):
    """What a device saw, or why it saw nothing; the Dealer enters the result."""

    reading: str
    """An id that no other reading of the round has."""
    round: int
    device: str
    shake: int = 1
    """1, and one more for each time that bets of this round were opened again."""
    faces: Faces = ()
    fault: Fault | None = None


class CommitSeed(Command, frozen=True, kw_only=True, tag="commit-seed"):
    """The demonstration shaker binds itself to a seed before the bets of a round open."""

    round: int
    """The round that comes next."""
    commitment: str
    """The SHA-256 of the 32 bytes of the seed, in 64 small hexadecimal digits."""
    source: str
    """Where the seed comes from, as people are told."""


class RevealSeed(Command, frozen=True, kw_only=True, tag="reveal-seed"):
    """The seed of a round, and what it was drawn with, when no bet can follow any more."""

    round: int
    seed: str
    """In 64 small hexadecimal digits."""
    close: int = 0
    """The position of the entry that closed bets last; 0 where nothing was drawn."""
    hash: str = ""
    """The hash of that entry, in 64 small hexadecimal digits."""
    faces: Faces = ()
    """What was drawn."""

"""The journal's own stream: which journal this is, who signs it, which rulebooks its tables pin."""

from __future__ import annotations

from typing import Final

from taisai.game.events import Event
from taisai.rules.clauses import Clause

STREAM: Final = "journal"
CLAUSE: Final = Clause("house:journal")


class JournalOpened(Event, frozen=True, kw_only=True, tag="journal-opened"):
    """The first entry of all."""

    journal: str
    """Its id, which no other journal has."""
    key: str
    """The verifier key of whoever signs its checkpoints."""
    demonstration: bool
    """Whether it was kept for show: such a journal never counts as one of play for money."""
    program: str


class RulebookStored(Event, frozen=True, kw_only=True, tag="rulebook-stored"):
    """A rulebook, whole: what a table opened by this digest was played by."""

    id: str
    digest: str
    text: str


class KeyIntroduced(Event, frozen=True, kw_only=True, tag="key-introduced"):
    """From here on another key signs; the one before vouches for it."""

    key: str
    signature: str


RECORDS: Final = (JournalOpened, RulebookStored, KeyIntroduced)

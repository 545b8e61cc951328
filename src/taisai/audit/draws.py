"""Draws: each seed that was revealed proves what was drawn by it, with the very entry that closed bets."""

from __future__ import annotations

from dataclasses import dataclass, field

from taisai.game.dice.draw import Throw
from taisai.game.dice.seeds import drawn_by
from taisai.game.events import (
    BetsClosed,
    BetsOpened,
    BetsReopened,
    ReadingTaken,
    SeedCommitted,
    SeedRevealed,
)
from taisai.game.vocabulary import SHAKER
from taisai.journal.codec import Entry, table_of
from taisai.journal.errors import DamagedError


@dataclass(slots=True)
class _Open:
    """A seed that is committed, and what happened in its round so far."""

    round: int
    in_hand: bool = False
    shake: int = 1
    closes: dict[int, tuple[int, str]] = field(default_factory=dict)
    """Shake → position and hash of the entry that closed bets."""
    drawn: dict[int, ReadingTaken] = field(default_factory=dict)
    """Shake → what was drawn."""


class Draws:
    """Follows the seeds of every table, by entries that the referee has decided again."""

    def __init__(self) -> None:
        self.proven = 0
        """How many draws follow from their seeds."""
        self._open: dict[str, _Open] = {}
        """Stream → its seed."""
        self._committed: set[bytes] = set()
        """Every commitment of the journal."""
        self._closing: tuple[int, _Open] | None = None
        """The position of a close, and whose it is: its hash is what the next entry carries."""

    def follow(self, entry: Entry) -> None:
        """The next entry of any stream, before anyone has looked at it: what came before has this hash."""
        if self._closing is not None and self._closing[0] == entry.position - 1:
            position, seed = self._closing
            seed.closes[seed.shake] = (position, entry.previous)
            self._closing = None

    def take(self, entry: Entry) -> None:
        """An entry of a table that is by the rules."""
        event, stream = entry.event, entry.stream
        if isinstance(event, SeedCommitted):
            self._commit(event, stream, entry.position)
            return
        seed = self._open.get(stream)
        if seed is None:
            return
        if isinstance(event, SeedRevealed):
            self._prove(seed, event, stream, entry.position)
            del self._open[stream]
        elif isinstance(event, BetsOpened):
            seed.in_hand = event.round == seed.round
        elif seed.in_hand and isinstance(event, BetsReopened):
            seed.shake += 1
        elif seed.in_hand and isinstance(event, BetsClosed):
            self._closing = (entry.position, seed)
        elif isinstance(event, ReadingTaken) and event.by == SHAKER and event.faces:
            seed.drawn[event.shake] = event

    def _commit(self, event: SeedCommitted, stream: str, position: int) -> None:
        commitment = bytes.fromhex(event.commitment)
        if commitment in self._committed:
            raise DamagedError(position, "expected a seed of its own for each round, got one a second time")
        self._committed.add(commitment)
        self._open[stream] = _Open(event.round)

    def _prove(self, seed: _Open, event: SeedRevealed, stream: str, position: int) -> None:
        """What was drawn in each shake is what seed and close come to; and the close is the one it names."""
        close = seed.closes.get(event.shake)
        if event.faces and close != (event.close, event.hash):
            expected = "none" if close is None else f"entry {close[0]} with the hash {close[1][:16]}…"
            got = f"entry {event.close} with {event.hash[:16]}…"
            raise DamagedError(
                position, f"expected the close that round {event.round} was drawn by, {expected}, got {got}"
            )
        for shake, drawn in seed.drawn.items():
            if shake not in seed.closes:
                raise DamagedError(position, f"expected a close before shake {shake} was drawn, got none")
            throw = Throw(table_of(stream) or "", seed.round, shake, bytes.fromhex(seed.closes[shake][1]))
            faces = drawn_by(bytes.fromhex(event.seed), throw, drawn.cards)
            if faces != drawn.faces:
                told, made = (" ".join(map(str, one)) for one in (drawn.faces, faces))
                says = f"expected {made} in shake {shake} of round {seed.round} by seed and close, got {told}"
                raise DamagedError(position, says)
            self.proven += 1

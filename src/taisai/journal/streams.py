"""What a stream's entries make: a table or the House, behind the few things that an engine asks of either."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Protocol

from taisai.cage import House, decide_house, evolve_house
from taisai.cage.house import check_house, read_house, write_house
from taisai.game.play import decide, evolve
from taisai.game.refusals import Refusal
from taisai.game.rounds.round import PastRounds
from taisai.game.snapshot import check_round, check_table, loading, read_table, write_round, write_table
from taisai.game.snapshot_codec import SnapshotError
from taisai.game.table import Table
from taisai.journal.codec import HOUSE_STREAM, AnyEvent, table_of
from taisai.rules.book import Rulebook

RECENT = 10
"""Rounds that stay in memory when the others are put away: a late retry, or a player, asks for them."""
ReadPart = Callable[[int], bytes]
"""A round's number → its bytes as they were last put away."""
SnapshotParts = Mapping[int, bytes]


def is_usable(stream: str, written: bytes) -> bool:
    """Whether a start would make use of what was written down; else it goes by the entries."""
    try:
        check_house(written) if stream == HOUSE_STREAM else check_table(written)
    except SnapshotError:
        return table_of(stream) is None and stream != HOUSE_STREAM
    return True


def is_round(written: bytes) -> bool:
    """Whether a round that was put away can be taken up again."""
    try:
        check_round(written)
    except SnapshotError:
        return False
    return True


class Aggregate(Protocol):
    """Decides commands, changes by events, and can be written down."""

    def decide(self, command: Any) -> tuple[AnyEvent, ...] | Refusal:
        """What a command comes to."""

    def evolve(self, event: Any) -> object:
        """Changes by an event."""

    @property
    def is_quiet(self) -> bool:
        """Whether it is small now, so that writing it down is cheap."""

    def written(self) -> tuple[bytes, SnapshotParts]:
        """The state, and those of its parts that changed since they were put away."""

    def put_away(self) -> None:
        """Forgets the parts, which have been kept elsewhere."""


class TableStream:
    """A table whose rounds can be put away."""

    def __init__(self, book: Rulebook, read: ReadPart, written: bytes | None = None) -> None:
        """From nothing, or from what was written down of it; `read` is for the rounds put away."""
        load = loading(read)
        if written is None:
            self.table = Table(book, PastRounds(0, load))
        else:
            self.table = read_table(book, written, load)
        # Every bet passes here, and a method of our own around each would cost it more than it says.
        self.decide: Callable[[Any], tuple[AnyEvent, ...] | Refusal] = partial(decide, self.table)
        self.evolve: Callable[[Any], object] = partial(evolve, self.table)

    @property
    def is_quiet(self) -> bool:
        """Between rounds there are no bets to write down."""
        return self.table.round is None

    def written(self) -> tuple[bytes, SnapshotParts]:
        """The state, and the rounds that are new or were corrected."""
        rounds = self.table.rounds.unsaved()
        parts = {number: write_round(one) for number, one in rounds.items()}
        return write_table(self.table), parts

    def put_away(self) -> None:
        """Forgets all but the latest rounds."""
        self.table.rounds.put_away(keep=RECENT)


class HouseStream:
    """The House, all of which stays in memory."""

    def __init__(self, written: bytes | None = None) -> None:
        """From nothing, or from what was written down of it."""
        self.house = House() if written is None else read_house(written)

    def decide(self, command: Any) -> tuple[AnyEvent, ...] | Refusal:
        """What a command comes to."""
        return decide_house(self.house, command)

    def evolve(self, event: Any) -> None:
        """Changes by an event."""
        evolve_house(self.house, event)

    @property
    def is_quiet(self) -> bool:
        """It always is."""
        return True

    def written(self) -> tuple[bytes, SnapshotParts]:
        """The state; it has no parts."""
        return write_house(self.house), {}

    def put_away(self) -> None:
        """Nothing to forget."""

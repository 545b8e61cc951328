"""The state of a stream: a table or the House, with the operations that the engine needs of both."""

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
"""Rounds that stay in memory when the others are put away: late retries and players need them."""
ReadPart = Callable[[int], bytes]
"""A round's number → its bytes as they were last put away."""
SnapshotParts = Mapping[int, bytes]


def is_usable(stream: str, written: bytes) -> bool:
    """Whether a start can use a snapshot; otherwise it replays the entries."""
    try:
        check_house(written) if stream == HOUSE_STREAM else check_table(written)
    except SnapshotError:
        return table_of(stream) is None and stream != HOUSE_STREAM
    return True


def is_round(written: bytes) -> bool:
    """Whether a round that was put away can be read."""
    try:
        check_round(written)
    except SnapshotError:
        return False
    return True


class Aggregate(Protocol):
    """Decides commands, changes by events, and can be written as a snapshot."""

    def decide(self, command: Any) -> tuple[AnyEvent, ...] | Refusal:
        """The events of a command, or its refusal."""

    def evolve(self, event: Any) -> object:
        """Changes by an event."""

    @property
    def is_quiet(self) -> bool:
        """Whether it is small now, so that a snapshot is cheap."""

    def written(self) -> tuple[bytes, SnapshotParts]:
        """The state, and those of its parts that changed since they were put away."""

    def put_away(self) -> None:
        """Drops the parts from memory; they are stored."""


class TableStream:
    """A table whose rounds can be put away."""

    def __init__(self, book: Rulebook, read: ReadPart, written: bytes | None = None) -> None:
        """Empty, or from a snapshot; `read` is for the rounds that were put away."""
        load = loading(read)
        if written is None:
            self.table = Table(book, PastRounds(0, load))
        else:
            self.table = read_table(book, written, load)
        # Partials and not methods: every bet passes here.
        self.decide: Callable[[Any], tuple[AnyEvent, ...] | Refusal] = partial(decide, self.table)
        self.evolve: Callable[[Any], object] = partial(evolve, self.table)

    @property
    def is_quiet(self) -> bool:
        return self.table.round is None

    def written(self) -> tuple[bytes, SnapshotParts]:
        """The state, and the rounds that are new or were corrected."""
        rounds = self.table.rounds.unsaved()
        return write_table(self.table), {number: write_round(round_) for number, round_ in rounds.items()}

    def put_away(self) -> None:
        self.table.rounds.put_away(keep=RECENT)


class HouseStream:
    """The House, all of which stays in memory."""

    def __init__(self, written: bytes | None = None) -> None:
        """Empty, or from a snapshot."""
        self.house = House() if written is None else read_house(written)

    def decide(self, command: Any) -> tuple[AnyEvent, ...] | Refusal:
        return decide_house(self.house, command)

    def evolve(self, event: Any) -> None:
        evolve_house(self.house, event)

    @property
    def is_quiet(self) -> bool:
        return True

    def written(self) -> tuple[bytes, SnapshotParts]:
        return write_house(self.house), {}

    def put_away(self) -> None:
        """Nothing to forget."""

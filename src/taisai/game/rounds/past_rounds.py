"""Past rounds: the latest are in memory, the others are stored and loaded when needed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import overload

from taisai.game.rounds.round import Round

Load = Callable[[int], Round]
"""A round's number, from 1 → the round as it was last stored."""


class PastRounds(Sequence[Round]):
    """The past rounds of a table; round 1 is at place 0.

    All rounds stay in memory until `put_away` is called, which needs a way to load them again.
    """

    __slots__ = ("_count", "_in_memory", "_load", "_unsaved")

    def __init__(self, count: int = 0, load: Load | None = None) -> None:
        """The first `count` rounds are stored elsewhere, and `load` reads them."""
        if count < 0 or (count and load is None):
            raise ValueError(f"expected `load` for the {count} stored rounds, got None")
        self._count = count
        self._load = load
        self._in_memory: dict[int, Round] = {}
        self._unsaved: set[int] = set()
        """Numbers of the rounds that are new or were corrected since they were stored."""

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, place: int) -> Round: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Round]: ...
    def __getitem__(self, place: int | slice) -> Round | Sequence[Round]:
        """One round, which then stays in memory; or a slice, whose rounds are loaded and not kept."""
        if isinstance(place, slice):
            return _Range(self, range(self._count)[place])
        if not -self._count <= place < self._count:
            raise IndexError(f"expected a place among {self._count} rounds, got {place}")
        number = place % self._count + 1
        round_ = self._in_memory.get(number)
        if round_ is None:
            round_ = self._in_memory[number] = self.glance(number)
        return round_

    def __iter__(self) -> Iterator[Round]:
        """Every round, loaded and not kept in memory: a table may have a hundred thousand."""
        return map(self.glance, range(1, self._count + 1))

    def __repr__(self) -> str:
        return f"<PastRounds: {self._count}, {len(self._in_memory)} in memory, {len(self._unsaved)} unsaved>"

    def append(self, round_: Round) -> None:
        """Adds a round that is over."""
        number = self._count + 1
        if round_.number != number:
            raise ValueError(f"expected round {number} after {self._count} rounds, got {round_.number}")
        self._count = number
        self._in_memory[number] = round_
        self._unsaved.add(number)

    def glance(self, number: int) -> Round:
        """A round by its number, for reading only; it is not kept in memory."""
        round_ = self._in_memory.get(number)
        if round_ is not None:
            return round_
        assert self._load is not None  # otherwise all rounds are in memory
        round_ = self._load(number)
        if round_.number != number:
            raise ValueError(f"expected round {number} to be loaded, got {round_.number}")
        return round_

    def to_correct(self, number: int) -> Round:
        """A round by its number that is about to change, and must be stored again."""
        round_ = self[number - 1]
        self._unsaved.add(number)
        return round_

    def unsaved(self) -> dict[int, Round]:
        """Number → round, of all that are new or were corrected since rounds were last stored."""
        return {number: self._in_memory[number] for number in sorted(self._unsaved)}

    def put_away(self, *, keep: int = 0) -> None:
        """Drops the stored rounds from memory, except the latest `keep`, which late retries need."""
        if self._load is None:
            raise ValueError("expected `load` before rounds are put away, got None")
        self._unsaved.clear()
        first = self._count - keep + 1
        self._in_memory = {number: round_ for number, round_ in self._in_memory.items() if number >= first}


class _Range(Sequence[Round]):
    """A slice of the rounds, which are loaded and not kept in memory."""

    __slots__ = ("_places", "_rounds")

    def __init__(self, rounds: PastRounds, places: range) -> None:
        self._rounds = rounds
        self._places = places

    def __len__(self) -> int:
        return len(self._places)

    @overload
    def __getitem__(self, place: int) -> Round: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Round]: ...
    def __getitem__(self, place: int | slice) -> Round | Sequence[Round]:
        if isinstance(place, slice):
            return _Range(self._rounds, self._places[place])
        return self._rounds.glance(self._places[place] + 1)

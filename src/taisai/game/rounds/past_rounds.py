"""Rounds that are over: the latest in memory, the others put away and loaded when somebody asks for them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import overload

from taisai.game.rounds.round import Round

Load = Callable[[int], Round]
"""A round's number, from 1 → the round as it was last saved."""


class PastRounds(Sequence[Round]):
    """The rounds of a table that are over, the first at place 0.

    Nothing is put away unless someone says so, and that takes a way to load it again.
    """

    __slots__ = ("_count", "_in_memory", "_load", "_unsaved")

    def __init__(self, count: int = 0, load: Load | None = None) -> None:
        """So many rounds that were put away before."""
        if count < 0 or (count and load is None):
            raise ValueError(f"expected a way to load the rounds that are over, got none for {count}")
        self._count = count
        self._load = load
        self._in_memory: dict[int, Round] = {}
        self._unsaved: set[int] = set()
        """Numbers of the rounds that are new or were corrected since they were put away."""

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, place: int) -> Round: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Round]: ...
    def __getitem__(self, place: int | slice) -> Round | Sequence[Round]:
        """One round, which then stays in memory; or several, each loaded as it is looked at and not kept."""
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
        """Every round, loaded as it is looked at and not kept: a table may have a hundred thousand."""
        return map(self.glance, range(1, self._count + 1))

    def __repr__(self) -> str:
        return f"<PastRounds: {self._count}, {len(self._in_memory)} in memory, {len(self._unsaved)} unsaved>"

    def append(self, round_: Round) -> None:
        """One more round is over."""
        number = self._count + 1
        if round_.number != number:
            raise ValueError(f"expected round {number} after {self._count} rounds, got {round_.number}")
        self._count = number
        self._in_memory[number] = round_
        self._unsaved.add(number)

    def glance(self, number: int) -> Round:
        """A round by its number, to be looked at and not changed."""
        round_ = self._in_memory.get(number)
        if round_ is not None:
            return round_
        assert self._load is not None  # else nothing was ever put away
        round_ = self._load(number)
        if round_.number != number:
            raise ValueError(f"expected round {number} to be loaded, got {round_.number}")
        return round_

    def to_correct(self, number: int) -> Round:
        """A round by its number that is about to change, and has to be saved again."""
        round_ = self[number - 1]
        self._unsaved.add(number)
        return round_

    def unsaved(self) -> dict[int, Round]:
        """Number → round: those that are new or were corrected since rounds were last put away."""
        return {number: self._in_memory[number] for number in sorted(self._unsaved)}

    def put_away(self, *, keep: int = 0) -> None:
        """Forgets the rounds, which have been saved, but for the latest: late retries ask for those."""
        if self._load is None:
            raise ValueError("expected a way to load rounds again before they are put away, got none")
        self._unsaved.clear()
        first = self._count - keep + 1
        self._in_memory = {number: one for number, one in self._in_memory.items() if number >= first}


class _Range(Sequence[Round]):
    """Some of the rounds, none of them kept in memory by being looked at."""

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

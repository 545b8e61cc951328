"""Draws that follow from a seed: the same on every machine and in every version of the language."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from hashlib import sha256
from typing import TypeVar

T = TypeVar("T")


class Seeded:
    """A row of draws that its parts alone decide. For practice only: no game is drawn by it."""

    def __init__(self, *parts: object) -> None:
        self._parts = "|".join(map(str, parts))
        self._drawn = 0

    def below(self, most: int) -> int:
        """A whole number from 0, under `most`."""
        self._drawn += 1
        drawn = sha256(f"{self._parts}|{self._drawn}".encode()).digest()
        return int.from_bytes(drawn[:8]) % most  # of 2^64: what is uneven about it no trainee will see

    def one(self, items: Sequence[T]) -> T:
        """One of them."""
        return items[self.below(len(items))]

    def some(self, items: Iterable[T], number: int) -> list[T]:
        """So many of them, each once, in any order; all where there are no more."""
        left = list(items)
        return [left.pop(self.below(len(left))) for _ in range(min(number, len(left)))]

    def shuffled(self, items: Iterable[T]) -> list[T]:
        """All of them, in any order."""
        left = list(items)
        return self.some(left, len(left))

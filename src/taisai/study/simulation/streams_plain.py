"""Many streams at once, drawn by NumPy."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from taisai.study.simulation.streams import WARMING

Words = npt.NDArray[np.uint32]
_Long = npt.NDArray[np.uint64]


class Streams:
    """So many streams from the first on, each drawn as often as the others, or only some of them."""

    def __init__(self, key: tuple[int, ...], first: int, count: int, words: Words | None = None) -> None:
        if words is not None:  # drawn from before
            self._a, self._b, self._c, self._counter = (row.copy() for row in words)
            return
        numbers = np.arange(count, dtype=np.uint64) + np.uint64(first)
        k0, k1, k2, k3 = (np.uint64(word) for word in key)
        one = _scrambled(k0 + _scrambled(numbers ^ k1))
        two = _scrambled(k2 + _scrambled(numbers ^ k3))
        self._a = (one & np.uint64(0xFFFFFFFF)).astype(np.uint32)
        self._b = (one >> np.uint64(32)).astype(np.uint32)
        self._c = (two & np.uint64(0xFFFFFFFF)).astype(np.uint32)
        self._counter = np.ones(count, dtype=np.uint32)
        for _ in range(WARMING):
            self.draw()

    def words(self) -> Words:
        """Where the streams stand, to go on from."""
        return np.stack([self._a, self._b, self._c, self._counter])

    def draw(self) -> Words:
        """The next word of every stream."""
        a, b, c = self._a, self._b, self._c
        drawn: Words = a + b + self._counter
        self._counter += np.uint32(1)
        self._a = b ^ (b >> np.uint32(9))
        self._b = c + (c << np.uint32(3))
        self._c = ((c << np.uint32(21)) | (c >> np.uint32(11))) + drawn
        return drawn

    def draw_some(self, places: npt.NDArray[np.intp]) -> Words:
        """The next word of the streams at these places."""
        a, b, c = self._a[places], self._b[places], self._c[places]
        drawn: Words = a + b + self._counter[places]
        self._counter[places] += np.uint32(1)
        self._a[places] = b ^ (b >> np.uint32(9))
        self._b[places] = c + (c << np.uint32(3))
        self._c[places] = ((c << np.uint32(21)) | (c >> np.uint32(11))) + drawn
        return drawn


def _scrambled(words: _Long) -> _Long:
    """The finaliser of SplitMix64: every bit of a word bears on every other, and no two words become one."""
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return words ^ (words >> np.uint64(31))

"""Walks: where money stood after each round, in four figures that join exactly."""

from __future__ import annotations

from typing import NamedTuple


class Walk(NamedTuple):
    """A stretch of rounds: what it came to, how high and how low it stood, and its deepest fall.

    >>> Walk.of([5, -3, -4, 1])
    Walk(net=-1, highest=5, lowest=-2, drawdown=7)
    >>> Walk.of([5, -3]).then(Walk.of([-4, 1])) == Walk.of([5, -3, -4, 1])
    True
    """

    net: int = 0
    highest: int = 0
    """Above the start; 0 if never."""
    lowest: int = 0
    drawdown: int = 0
    """The deepest fall from a height to a later low."""

    @staticmethod
    def of(nets: list[int]) -> Walk:
        """The walk of these rounds."""
        walk = Walk()
        for net in nets:
            walk = walk.then(Walk(net, max(net, 0), min(net, 0), max(-net, 0)))
        return walk

    def then(self, other: Walk) -> Walk:
        """This stretch and the one after it, as one."""
        return Walk(
            self.net + other.net,
            max(self.highest, self.net + other.highest),
            min(self.lowest, self.net + other.lowest),
            max(self.drawdown, other.drawdown, self.highest - self.net - other.lowest),
        )

    def times(self, unit: int) -> Walk:
        """The same walk in smaller units of money."""
        return Walk(*(unit * figure for figure in self))

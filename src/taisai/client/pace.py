"""Pace: how long a client waits for what."""

from __future__ import annotations

from typing import NamedTuple


class Pace(NamedTuple):
    """Seconds, and how often a client tries."""

    answer: float = 15.0
    """Until an ask that nobody answers is given up, reconnections included."""
    coming_in: float = 10.0
    """From a new connection to the floor's welcome."""
    first: float = 0.2
    """Before the first new try after a cut."""
    most: float = 10.0
    """Before any later one."""
    tries: int = 20
    """Vain tries in a row after which the client gives up."""

    def wait(self, tried: int, chance: float) -> float:
        """Before the next try, after so many in vain: twice as long each time, never all clients at once."""
        return float(min(self.most, self.first * 2 ** min(tried, 30))) * (0.5 + chance / 2)

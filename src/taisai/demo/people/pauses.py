"""Waits: how long virtual people take for things, so that others can follow."""

from __future__ import annotations

from random import Random
from typing import Final, NamedTuple


class Waits(NamedTuple):
    """Seconds."""

    window: float
    """That bets are open."""
    lead: float
    """Before bets close: when a dealer gets ready to close them."""
    step: float
    """From one act of a round to the next."""
    look: float
    """Between rounds, while everyone looks at the result."""
    patience: float
    """Until a supervisor comes."""
    again: float
    """After something was refused, or a connection was cut."""

    def about(self, seconds: float, random: Random) -> float:
        """So long, more or less: nobody moves like a machine."""
        return seconds * random.uniform(0.7, 1.3)


LIVELY: Final = Waits(window=20.0, lead=2.5, step=1.3, look=5.0, patience=8.0, again=2.0)
FAST: Final = Waits(window=0.9, lead=0.3, step=0.03, look=0.2, patience=0.3, again=0.2)
"""For tests: a round in about two seconds."""

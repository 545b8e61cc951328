"""What the floor takes from outside: the time, and chance."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Protocol

Entropy = Callable[[int], bytes]
"""So many bytes that nobody can foretell, such as `secrets.token_bytes`."""


class Clock(Protocol):
    """Tells the time."""

    def now(self) -> int:
        """Milliseconds since 1970 in UTC."""

    def steady(self) -> int:
        """Milliseconds since some moment, by a clock that nobody sets."""


class WallClock:
    """The machine's own clock."""

    def now(self) -> int:
        """Milliseconds since 1970 in UTC."""
        return time.time_ns() // 1_000_000

    def steady(self) -> int:
        """Milliseconds since some moment, by a clock that nobody sets."""
        return time.monotonic_ns() // 1_000_000

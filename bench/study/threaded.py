"""NumPy on as many cores as ours: half of the work on each of two threads, or all on one if that is less."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from statistics import median
from typing import Final, TypeVar

from bench.harness import Times

CORES: Final = 2
T = TypeVar("T")


def on_both(half: Callable[[int], T]) -> tuple[T, T]:
    """What each half came to, the two at the same time."""
    with ThreadPoolExecutor(CORES) as pool:
        one, two = pool.map(half, range(CORES))
    return one, two


def quicker(times: Times, *names: str) -> str:
    """The way that took less time in the middle."""
    return min(names, key=lambda name: median(times[name]))

"""Measuring two or more ways to do one thing: in turns, results compared first, the verdict a ratio."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from statistics import median, quantiles
from time import perf_counter_ns

Work = Callable[[], object]
Times = Mapping[str, list[float]]
"""The seconds that each way took, turn by turn."""


@dataclass(frozen=True, slots=True)
class Target:
    """What a ratio must reach, or must not exceed."""

    bound: float
    at_most: bool = False
    unit: str = "×"

    def met_by(self, ratio: float) -> bool:
        """Whether a ratio keeps to it."""
        return ratio <= self.bound if self.at_most else ratio >= self.bound

    def __str__(self) -> str:
        return f"{'≤' if self.at_most else '≥'} {self.bound:g}{self.unit}"


@dataclass(frozen=True, slots=True)
class Line:
    """One measured ratio; without a target it is there for comparison alone."""

    bench: str
    what: str
    ratio: float
    low: float
    high: float
    """The middle half of the turns lies from low to high."""
    target: Target | None = None

    @property
    def met(self) -> bool:
        """Whether the target is met, if there is one."""
        return self.target is None or self.target.met_by(self.ratio)


@dataclass(frozen=True, slots=True)
class Bench:
    """A named group of lines."""

    name: str
    times: Times

    def line(self, what: str, *, of: str, over: str, target: Target | None = None) -> Line:
        """How many times longer `of` took than `over`: the median of the ratios within each turn."""
        ratios = [one / other for one, other in zip(self.times[of], self.times[over], strict=True)]
        low, _, high = quantiles(ratios, n=4)
        return Line(self.name, what, median(ratios), low, high, target)


def in_turns(
    ways: Mapping[str, Work],
    *,
    turns: int,
    calls: int = 1,
    before: Callable[[int], None] | None = None,
) -> Times:
    """Times the ways one after the other, so many turns, each time starting with another of them.

    `before` runs outside the clock ahead of each measurement, with the number of the turn.
    """
    times: dict[str, list[float]] = {name: [] for name in ways}
    names = list(ways)
    with _no_collection():
        for turn in range(turns):
            start = turn % len(names)
            for name in names[start:] + names[:start]:
                if before:
                    before(turn)
                times[name].append(_seconds(ways[name], calls))
    return times


def _seconds(work: Work, calls: int) -> float:
    begun = perf_counter_ns()
    for _ in range(calls):
        work()
    return (perf_counter_ns() - begun) / calls / 1e9


@contextmanager
def _no_collection() -> Iterator[None]:
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()

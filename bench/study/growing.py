"""How a job grows: the log-log slope of its time over its size."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from statistics import median, quantiles

from bench.harness import Line, Target, in_turns


def growth(
    bench: str, job: Callable[[int], object], sizes: Sequence[int], *, turns: int, at_most: float
) -> Line:
    """The slope from the smallest to the largest size, the sizes measured in turns."""
    times = in_turns({str(size): partial(job, size) for size in sizes}, turns=turns)
    scale = math.log10(sizes[-1] / sizes[0])
    slopes = [
        math.log10(large / small) / scale
        for small, large in zip(times[str(sizes[0])], times[str(sizes[-1])], strict=True)
    ]
    low, _, high = quantiles(slopes, n=4)
    what = f"growth: log-log slope from {sizes[0]:,} to {sizes[-1]:,}"
    return Line(bench, what, median(slopes), low, high, Target(at_most, at_most=True, unit=""))

"""The same rounds by NumPy alone, where numba is not installed: slower, and equal to the last digit."""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from taisai.study.simulation.classes import Classes
from taisai.study.simulation.lanes import LANES, STEPS
from taisai.study.simulation.streams_plain import Streams
from taisai.study.simulation.walk import Walk

Whole = npt.NDArray[np.int64]
_AT_ONCE: Final = 64
"""Chunks side by side: NumPy wants long arrays."""


def walked(key: tuple[int, ...], classes: Classes, first: int, chunks: int, rest: int) -> Walk:
    """The walk of so many whole chunks from the first on, then of the rest of a chunk."""
    walk = Walk()
    for begin in range(first, first + chunks, _AT_ONCE):
        many = min(_AT_ONCE, first + chunks - begin)
        walk = walk.then(_lanes(key, classes, begin, np.full(many * LANES, STEPS)))
    if rest:
        wanted = np.clip(rest - np.arange(LANES) * STEPS, 0, STEPS)
        walk = walk.then(_lanes(key, classes, first + chunks, wanted))
    return walk


def _lanes(key: tuple[int, ...], classes: Classes, chunk: int, wanted: Whole) -> Walk:
    streams = Streams(key, chunk * LANES, wanted.size)
    values = np.array([*classes.values, 0])
    limits = np.array(classes.limits, dtype=np.uint32)
    net, high, low, fall = np.zeros((4, wanted.size), dtype=np.int64)
    left = wanted.astype(np.int64)
    while left.any():
        # A lane that has had its rounds goes on drawing, which nobody sees; a draw thrown away brings 0.
        kind = np.searchsorted(limits, streams.draw(), side="right")
        counts = (left > 0) & (kind < limits.size)
        net += np.where(counts, values[kind], 0)
        left -= counts
        np.maximum(high, net, out=high)
        np.minimum(low, net, out=low)
        np.maximum(fall, high - net, out=fall)
    walk = Walk()
    for lane in zip(net.tolist(), high.tolist(), low.tolist(), fall.tolist(), strict=True):
        walk = walk.then(Walk(*lane))
    return walk

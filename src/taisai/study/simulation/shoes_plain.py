"""The same shoes by NumPy alone, where numba is not installed: slower, and equal to the last digit."""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from taisai.rules.outcomes import DICE, OUTCOMES
from taisai.study.simulation.shoes import ROLLS, SIX, Betting, Dealt, Shoe
from taisai.study.simulation.streams_plain import Streams
from taisai.study.simulation.walk import Walk

Whole = npt.NDArray[np.int64]
_AT_ONCE: Final = 16_384


def dealt(
    key: tuple[int, ...], shoe: Shoe, betting: Betting, *, first: int, shoes: int, rounds: int
) -> Dealt:
    """Deals so many shoes from the first on, so many rounds from each."""
    found = Dealt()
    for begin in range(first, first + shoes, _AT_ONCE):
        many = min(_AT_ONCE, first + shoes - begin)
        found = found.then(_group(Streams(key, begin, many), shoe, betting, many, rounds))
    return found


def _group(streams: Streams, shoe: Shoe, betting: Betting, shoes: int, rounds: int) -> Dealt:
    left = np.full((SIX, shoes), shoe.each, dtype=np.int64)
    nets, stakes = np.array(betting.nets, dtype=np.int64), np.array(betting.stakes, dtype=np.int64)
    outcomes = np.array(ROLLS)
    net, high, low, fall, staked = np.zeros((5, shoes), dtype=np.int64)
    for _ in range(rounds):
        made = _made(left, nets, betting)
        staked += made.T @ stakes
        rolls = np.zeros(shoes, dtype=np.int64)
        for _ in range(DICE):
            rolls = rolls * SIX + _card(streams, left)
        net += (made * nets[:, outcomes[rolls]]).sum(axis=0)
        np.maximum(high, net, out=high)
        np.minimum(low, net, out=low)
        np.maximum(fall, high - net, out=fall)
    walk = Walk()
    for lane in zip(net.tolist(), high.tolist(), low.tolist(), fall.tolist(), strict=True):
        walk = walk.then(Walk(*lane))
    return Dealt(
        shoes,
        shoes * rounds,
        int(staked.sum()),
        walk,
        int(net @ net),
        int(net @ staked),
        int(staked @ staked),
    )


def _card(streams: Streams, left: Whole) -> Whole:
    """One card out of each shoe."""
    total = int(left[:, 0].sum())
    spare = 2**32 % total
    product = streams.draw().astype(np.uint64) * np.uint64(total)
    while (again := np.flatnonzero((product & np.uint64(0xFFFFFFFF)) < spare)).size:
        product[again] = streams.draw_some(again).astype(np.uint64) * np.uint64(total)
    picked = (product >> np.uint64(32)).astype(np.int64)
    faces: Whole = (picked >= np.cumsum(left, axis=0)[:-1]).sum(axis=0)
    left[faces, np.arange(faces.size)] -= 1
    return faces


def _made(left: Whole, nets: Whole, betting: Betting) -> Whole:
    """[bet, shoe] how often each bet is made on the cards left."""
    if betting.waiting == betting.favoured:
        return np.full((len(nets), left.shape[1]), betting.waiting)
    weights = np.empty((len(OUTCOMES), left.shape[1]), dtype=np.int64)
    for outcome in OUTCOMES:
        weight = np.ones(left.shape[1], dtype=np.int64)
        for face in sorted(set(outcome.faces)):
            count, times = left[face - 1], outcome.faces.count(face)
            weight *= (count, count * (count - 1) // 2, count * (count - 1) * (count - 2) // 6)[times - 1]
        weights[outcome.index] = weight
    return np.where(nets @ weights > 0, betting.favoured, betting.waiting)

"""Rounds of the card game from six decks dealt to three quarters, a mix settled on each, on two cores."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from ctypes import c_int64, c_uint64, c_void_p
from fractions import Fraction
from typing import Final

import numpy as np

from bench.harness import Bench, Line, Target, in_turns
from bench.study.compiled import library
from bench.study.growing import growth
from taisai.rules import rulebook
from taisai.study.mix import Mix
from taisai.study.simulation import Shoe, Simulated, local_workers, simulate
from taisai.study.simulation.shoes import ROLLS

BOOK: Final = rulebook("mbs-3-card-sic-bo")
MIX: Final = Mix.of(BOOK.matrix("A"), {"small": 100, "total-8": 20, "any-triple": 10})
SHOE: Final = Shoe.of(8, 6, Fraction(3, 4))
SHOES: Final = 100_000
NUMPY_SHOES: Final = 4_000
SEED: Final = 7
CORES: Final = 2


def run(*, quick: bool) -> Iterator[Line]:
    """Against NumPy, which shuffles whole shoes: quicker than by random keys, or by swaps to the penetration.

    Beside it, without a target, our own way written in NumPy: how many cards are left below a face is kept,
    and one card after the other drawn out of many shoes at once.
    """
    with local_workers(CORES) as workers:

        def ours(rounds: int = SHOES * SHOE.rounds) -> Simulated:
            return simulate(MIX, BOOK.chance(), rounds=rounds, seed=SEED, shoe=SHOE, workers=workers)

        ways: dict[str, Callable[[], object]] = {
            "ours": ours,
            "NumPy, shuffled": by_shuffling,
            "NumPy, card by card": card_by_card,
        }
        bare = by_c()
        found = [(ours().net, SHOES), (by_shuffling(), NUMPY_SHOES), (card_by_card(), NUMPY_SHOES)]
        if bare is not None:
            ways["C"] = bare
            found.append((bare(), SHOES))
        law = MIX.law(BOOK.chance())
        for net, shoes in found:
            rounds = shoes * SHOE.rounds
            assert abs(net - float(law.mean) * rounds) < 6 * law.deviation * rounds**0.5
        times = dict(in_turns(ways, turns=5 if quick else 15))
        for name in ("NumPy, shuffled", "NumPy, card by card"):
            times[name] = [seconds * (SHOES / NUMPY_SHOES) for seconds in times[name]]
        bench = Bench("rounds of a six-deck shoe, two cores", times)
        yield bench.line("NumPy, shuffled / ours", of="NumPy, shuffled", over="ours", target=Target(10))
        yield bench.line("our own way in NumPy, card by card / ours", of="NumPy, card by card", over="ours")
        if bare is not None:
            yield bench.line("limit: ours / a plain loop in C on two threads", of="ours", over="C")
        yield growth(bench.name, ours, (10**6, 10**7, 10**8), turns=5, at_most=1.1)


def by_shuffling() -> int:
    """Whole shoes shuffled, and as many of their cards taken as the penetration has it."""
    draw = np.random.Generator(np.random.SFC64(SEED))
    nets = np.array(MIX.nets)[list(ROLLS)]
    shoes = np.tile(np.repeat(np.arange(6, dtype=np.uint8), SHOE.each), (NUMPY_SHOES, 1))
    draw.permuted(shoes, axis=1, out=shoes)
    cards = shoes[:, : 3 * SHOE.rounds].reshape(-1, 3).astype(np.intp)
    got = nets[cards[:, 0] * 36 + cards[:, 1] * 6 + cards[:, 2]]
    walk = got.cumsum()
    fall = (np.maximum.accumulate(walk) - walk).max()
    assert fall >= 0
    return int(walk[-1])


def card_by_card() -> int:
    """Our own way: one card out of every shoe at a time."""
    draw = np.random.Generator(np.random.SFC64(SEED))
    nets = np.array(MIX.nets)[list(ROLLS)]
    below = np.repeat(np.arange(1, 6)[:, None] * SHOE.each, NUMPY_SHOES, axis=1).astype(np.int32)
    left = 6 * SHOE.each
    got = np.empty((SHOE.rounds, NUMPY_SHOES), dtype=np.int64)
    for turn in range(SHOE.rounds):
        rolls = np.zeros(NUMPY_SHOES, dtype=np.int64)
        for _ in range(3):
            hit = draw.integers(0, left, NUMPY_SHOES, dtype=np.int32) < below
            below -= hit
            rolls = rolls * 6 + (5 - hit.sum(axis=0))
            left -= 1
        got[turn] = nets[rolls]
    walk = got.T.cumsum()
    fall = (np.maximum.accumulate(walk) - walk).max()
    assert fall >= 0
    return int(walk[-1])


def by_c() -> Callable[[], int] | None:
    """Card after card swapped to the front of a shoe, half of the shoes on each of two threads."""
    made = library("dealt.c")
    if made is None:
        return None
    nets = np.array(MIX.nets, dtype=np.int64)[list(ROLLS)]
    cards = np.repeat(np.arange(6, dtype=np.uint8), SHOE.each)

    def half(number: int) -> int:
        shoe, out = cards.copy(), (c_int64 * 2)()
        many, where = (c_int64(SHOES // CORES), c_int64(SHOE.rounds)), c_void_p(shoe.ctypes.data)
        made.shoes(c_uint64(SEED + number), *many, where, c_int64(shoe.size), c_void_p(nets.ctypes.data), out)
        assert out[1] >= max(0, -out[0])
        return int(out[0])

    def kernel() -> int:
        with ThreadPoolExecutor(CORES) as pool:
            return sum(pool.map(half, range(CORES)))

    return kernel

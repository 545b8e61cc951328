"""Rounds of the card game from six decks dealt to three quarters, a mix settled on each, on two cores."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from ctypes import c_int64, c_uint64, c_void_p
from fractions import Fraction
from typing import Final

import numpy as np

from bench.harness import Bench, Line, Target, in_turns
from bench.study.compiled import library
from bench.study.growing import growth
from bench.study.threaded import CORES, on_both, quicker
from taisai.rules import rulebook
from taisai.study.odds import Mix
from taisai.study.simulation import Simulated, SimulatedShoe, local_workers, simulate
from taisai.study.simulation.plans import ROLLS

BOOK: Final = rulebook("mbs-3-card-sic-bo")
MIX: Final = Mix.of(BOOK.matrix("A"), {"small": 100, "total-8": 20, "any-triple": 10})
SHOE: Final = SimulatedShoe.of(8, 6, Fraction(3, 4))
SHOES: Final = 100_000
NUMPY_SHOES: Final = 8_000
SEED: Final = 7
ONE, TWO = ", one thread", ", two threads"


def run(*, quick: bool) -> Iterator[Line]:
    """Against NumPy, which shuffles whole shoes: quicker than by random keys, or by swaps to the penetration.

    Beside it, without a target, our own way written in NumPy: how many cards are left below a face is kept,
    and one card after the other drawn out of many shoes at once. NumPy has two threads too; on a busy machine
    they gained it nothing, so one thread is timed as well, and the quicker of the two counts.
    """
    with local_workers(CORES) as workers:

        def ours(rounds: int = SHOES * SHOE.rounds) -> Simulated:
            return simulate(MIX, BOOK.chance(), rounds=rounds, seed=SEED, shoe=SHOE, workers=workers)

        ways: dict[str, Callable[[], object]] = {
            "ours": ours,
            f"NumPy, shuffled{ONE}": by_shuffling,
            f"NumPy, shuffled{TWO}": lambda: _on_two(by_shuffling),
            f"NumPy, card by card{ONE}": card_by_card,
            f"NumPy, card by card{TWO}": lambda: _on_two(card_by_card),
        }
        bare = by_c()
        found = [(ours().net, SHOES)]
        for way in (by_shuffling, card_by_card):
            found += [(way(), NUMPY_SHOES), (_on_two(way), NUMPY_SHOES)]
        if bare is not None:
            ways["C"] = bare
            found.append((bare(), SHOES))
        law = MIX.distribution(BOOK.chance())
        for net, shoes in found:
            rounds = shoes * SHOE.rounds
            assert abs(net - float(law.mean) * rounds) < 6 * law.deviation * rounds**0.5
        times = dict(in_turns(ways, turns=5 if quick else 15))
        for name, took in list(times.items()):
            if name.startswith("NumPy"):
                times[name] = [seconds * (SHOES / NUMPY_SHOES) for seconds in took]
        shuffled, drawn = (
            quicker(times, name + ONE, name + TWO) for name in ("NumPy, shuffled", "NumPy, card by card")
        )
        bench = Bench("rounds of a six-deck shoe, two cores", times)
        yield bench.line(f"{shuffled} / ours", of=shuffled, over="ours", target=Target(10))
        yield bench.line(f"our own way in {drawn} / ours", of=drawn, over="ours")
        if bare is not None:
            yield bench.line("limit: ours / a plain loop in C on two threads", of="ours", over="C")
        yield growth(bench.name, ours, (10**6, 10**7, 10**8), turns=5, at_most=1.1)


def by_shuffling(seed: int = SEED, many: int = NUMPY_SHOES) -> int:
    """Whole shoes shuffled, and as many of their cards taken as the penetration has it."""
    draw = np.random.Generator(np.random.SFC64(seed))
    nets = np.array(MIX.nets)[list(ROLLS)]
    shoes = np.tile(np.repeat(np.arange(6, dtype=np.uint8), SHOE.each), (many, 1))
    draw.permuted(shoes, axis=1, out=shoes)
    cards = shoes[:, : 3 * SHOE.rounds].reshape(-1, 3).astype(np.intp)
    got = nets[cards[:, 0] * 36 + cards[:, 1] * 6 + cards[:, 2]]
    walk = got.cumsum()
    fall = (np.maximum.accumulate(walk) - walk).max()
    assert fall >= 0
    return int(walk[-1])


def card_by_card(seed: int = SEED, many: int = NUMPY_SHOES) -> int:
    """Our own way: one card out of every shoe at a time."""
    draw = np.random.Generator(np.random.SFC64(seed))
    nets = np.array(MIX.nets)[list(ROLLS)]
    below = np.repeat(np.arange(1, 6)[:, None] * SHOE.each, many, axis=1).astype(np.int32)
    left = 6 * SHOE.each
    got = np.empty((SHOE.rounds, many), dtype=np.int64)
    for turn in range(SHOE.rounds):
        rolls = np.zeros(many, dtype=np.int64)
        for _ in range(3):
            hit = draw.integers(0, left, many, dtype=np.int32) < below
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

    return lambda: sum(on_both(half))


def _on_two(way: Callable[[int, int], int]) -> int:
    """Half of the shoes on each of two threads."""
    return sum(on_both(lambda number: way(SEED + number, NUMPY_SHOES // CORES)))

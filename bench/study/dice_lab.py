"""A thousand million dice of the demonstration shaker, tested; beside their random bytes alone.

TAISAI_DICE=1e10 asks for more.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from itertools import islice
from multiprocessing import get_context
from time import perf_counter

from bench.harness import Line, Target
from taisai.cli.study.dice import ROLLS, raw, tally_of_throw
from taisai.study.dice import Tally, dice_tests

SEED = bytes(32)


def run(*, quick: bool) -> Iterator[Line]:
    """The time of the test over that of the bytes it takes, both on all cores."""
    dice = int(float(os.environ.get("TAISAI_DICE", "3e7" if quick else "1e9")))
    throws = -(-dice // (3 * ROLLS))
    name = f"the dice lab, {3 * throws * ROLLS:,} dice"
    with ProcessPoolExecutor(os.cpu_count(), mp_context=get_context("spawn")) as pool:
        pool.submit(tally_of_throw, SEED, 1, 100).result()  # the workers are there
        begun = perf_counter()
        tally = Tally()
        for found in pool.map(
            tally_of_throw, *zip(*((SEED, at, ROLLS) for at in range(throws)), strict=True)
        ):
            tally += found
        tested = perf_counter() - begun
        begun = perf_counter()
        assert all(pool.map(bytes_alone, range(throws)))
        alone = perf_counter() - begun
    assert dice_tests(tally, "the shaker").is_fair
    ratio = tested / alone
    yield Line(
        name, "drawn, mapped and tested / their bytes alone", ratio, ratio, ratio, Target(2, at_most=True)
    )


def bytes_alone(throw: int) -> bool:
    """What any test of the stream has to wait for: as many bytes as a throw's dice take in the mean."""
    pieces = -(-3 * ROLLS * 256 // 252 // (1 << 17))
    return sum(len(piece) for piece in islice(raw(SEED, throw), pieces)) > 0

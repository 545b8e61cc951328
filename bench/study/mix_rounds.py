"""A fixed mix round by round with its maximum drawdown, on two cores; and its totals alone, drawn at once."""

from __future__ import annotations

import ctypes
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

import numpy as np

from bench.harness import Bench, Line, Target, in_turns
from bench.study.growing import growth
from taisai.rules import OUTCOMES, rulebook
from taisai.study.odds import Mix
from taisai.study.simulation import Simulated, local_workers, simulate, simulate_totals
from taisai.study.simulation.plans import CHUNK, Classes, Walk, key

BOOK: Final = rulebook("rws-sic-bo-etg-v8")
MIX: Final = Mix.of(BOOK.matrix("A"), {"small": 100})
WIDE: Final = Mix.of(BOOK.matrix("A"), {"small": 100, "single-2": 34, "total-9": 20, "triple-1": 10})
CORES: Final = 2
ROUNDS: Final = 128 * CHUNK
NUMPY_ROUNDS: Final = 16 * CHUNK
PYTHON_ROUNDS: Final = 2**18
BLOCK: Final = 2**18
"""Rounds that NumPy works on at a time, so that its arrays stay in the cache."""
SEED: Final = 7
TOTALS: Final = (10**6, 10**9, 10**12, 10**15)
ROLLS: Final = [net for outcome, net in zip(OUTCOMES, MIX.nets, strict=True) for _ in range(outcome.ways)]


def run(*, quick: bool) -> Iterator[Line]:
    """Against plain Python, NumPy and C, all as rounds a second; one core each but for ours and C's two."""
    turns = 7 if quick else 21
    with local_workers(CORES) as workers:

        def ours(mix: Mix = MIX, rounds: int = ROUNDS) -> Simulated:
            return simulate(mix, BOOK.chance(), rounds=rounds, seed=SEED, workers=workers)

        ways: dict[str, Callable[[], object]] = {
            "ours": ours,
            "ours, many nets": lambda: ours(WIDE),
            "NumPy": by_numpy,
            "plain Python": in_python,
        }
        kernel = by_c()
        if kernel is not None:
            ways["C"] = kernel
            found = ours()
            assert kernel() == (found.net // 100, (found.max_drawdown or 0) // 100)
        _near_the_edge()
        times = dict(in_turns(ways, turns=turns))
        for name, rounds in (("NumPy", NUMPY_ROUNDS), ("plain Python", PYTHON_ROUNDS)):
            times[name] = [seconds * (ROUNDS / rounds) for seconds in times[name]]
        rate = ROUNDS / sorted(times["ours"])[turns // 2] / 1e9
        name = f"a mix round by round with drawdown, two cores ({rate:.2f} billion rounds a second)"
        bench = Bench(name, times)
        yield bench.line("plain Python / ours", of="plain Python", over="ours", target=Target(100))
        yield bench.line("NumPy / ours", of="NumPy", over="ours", target=Target(4))
        if kernel is None:
            print("no C compiler: the line against C is left out", file=sys.stderr)
        else:
            yield bench.line("limit: C on two cores / ours", of="C", over="ours", target=Target(0.3))
        yield bench.line("NumPy / ours, a mix of many nets", of="NumPy", over="ours, many nets")
        sizes = (10**8, 10**9) if quick else (10**8, 10**9, 10**10)
        yield growth(bench.name, lambda size: ours(MIX, size), sizes, turns=5, at_most=1.1)

    def totals(rounds: int) -> Simulated:
        return simulate_totals(WIDE, BOOK.chance(), rounds=rounds, seed=SEED)

    yield growth("totals alone, one multinomial", totals, TOTALS, turns=51, at_most=0.1)


def by_numpy() -> tuple[int, int]:
    """SFC64 draws an index into 216 nets; running sums, running maxima, block after block."""
    draw, nets = np.random.Generator(np.random.SFC64(SEED)), np.array(ROLLS)
    at = high = fall = 0
    for _ in range(NUMPY_ROUNDS // BLOCK):
        walk = nets[draw.integers(0, 216, BLOCK, dtype=np.uint8)].cumsum()
        walk += at
        tops = np.maximum(np.maximum.accumulate(walk), high)
        fall = max(fall, int((tops - walk).max()))
        at, high = int(walk[-1]), int(tops[-1])
    return at, fall


def in_python() -> tuple[int, int]:
    """A plain loop over what random.choices drew."""
    at = high = fall = 0
    for net in random.Random(SEED).choices(ROLLS, k=PYTHON_ROUNDS):
        at += net
        if at > high:
            high = at
        elif high - at > fall:
            fall = high - at
    return at, fall


def by_c() -> Callable[[], tuple[int, int]] | None:
    """The kernel in C, compiled for this machine, on two threads; None without a compiler."""
    compiler = shutil.which("cc")
    if compiler is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        library = Path(folder) / "walk.so"
        source = Path(__file__).with_name("walk.c")
        command = [compiler, "-O3", "-march=native", "-shared", "-fPIC", "-o", str(library), str(source)]
        subprocess.run(command, check=True)
        walk = ctypes.CDLL(str(library)).walk
    classes = Classes.of(MIX.distribution(BOOK.chance()))
    keyed = (ctypes.c_uint64 * 4)(*key(SEED, "rounds"))
    chunks = ROUNDS // CHUNK // CORES
    limit, end = map(ctypes.c_uint32, classes.limits)
    v0, v1 = map(ctypes.c_int32, classes.values)

    def half(first: int) -> Walk:
        out = (ctypes.c_int64 * 4)()
        walk(keyed, ctypes.c_int64(first), ctypes.c_int64(chunks), limit, end, v0, v1, out)
        return Walk(*out)

    pool = ThreadPoolExecutor(CORES)

    def kernel() -> tuple[int, int]:
        one, two = pool.map(half, (0, chunks))
        both = one.then(two)
        return both.net, both.drawdown

    return kernel


def _near_the_edge() -> None:
    """Other streams cannot bring the same digits: each must be near the exact expectation."""
    law = MIX.distribution(BOOK.chance())
    for (net, fall), rounds in ((by_numpy(), NUMPY_ROUNDS), (in_python(), PYTHON_ROUNDS)):
        assert abs(net - float(law.mean) * rounds) < 5 * law.deviation * rounds**0.5
        assert fall >= -net

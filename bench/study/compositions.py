"""Odds of all 19 areas of the card game for 200,000 compositions a call."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from bench.harness import Bench, Line, Target, in_turns
from bench.study.growing import growth
from taisai.bulk import kernels
from taisai.rules import OUTCOMES, Matrix, rulebook
from taisai.study.shoe.odds import odds_of_many

BOOK: Final = "mbs-3-card-sic-bo"
COMPOSITIONS: Final = 200_000
SIZES: Final = (20_000, 200_000, 2_000_000)
SEED: Final = 20_11_2002

Array = npt.NDArray[Any]


def run(*, quick: bool) -> Iterator[Line]:
    """Against NumPy on whole arrays; writing the answers and nothing else is the limit."""
    matrix = rulebook(BOOK).matrix()
    many = drawn(SIZES[-1])
    left = np.ascontiguousarray(many[:, :COMPOSITIONS])
    ways: dict[str, Callable[[], Any]] = {
        "NumPy": by_numpy(matrix, left),
        "ours with NumPy": lambda: odds_of_many(matrix, left, compiled=False),
        "bare limit": _written(len(matrix.areas), COMPOSITIONS),
    }
    limit = by_c(matrix, left)
    if limit is None:
        print("no C compiler: the limit by C is left out", file=sys.stderr)
    else:
        ways["C"] = limit
        for mine, theirs in zip(limit(), ways["NumPy"](), strict=True):
            assert np.array_equal(mine, theirs)
    if kernels.has_numba():
        ways["ours with numba"] = lambda: odds_of_many(matrix, left, compiled=True)
    back, total = ways["NumPy"]()
    for name in ("ours with numba", "ours with NumPy"):
        if name in ways:
            found = ways[name]()
            assert np.array_equal(found.back, back)
            assert np.array_equal(found.total, total)
    times = in_turns(ways, turns=7 if quick else 25)
    bench = Bench(f"odds of {len(matrix.areas)} areas for {COMPOSITIONS:,} compositions", times)
    if "ours with numba" in ways:
        yield bench.line("NumPy / ours with numba", of="NumPy", over="ours with numba", target=Target(25))
        yield bench.line(
            "bare limit: ours with numba / writing the answers", of="ours with numba", over="bare limit"
        )
        if limit is not None:
            yield bench.line(
                "limit: ours with numba / C for these 19 areas alone, one thread",
                of="ours with numba",
                over="C",
            )
        yield growth(
            "odds of compositions as their number grows",
            lambda size: odds_of_many(matrix, many[:, :size], compiled=True),
            SIZES,
            turns=5 if quick else 15,
            at_most=1.1,
        )
    yield bench.line("NumPy / ours with NumPy", of="NumPy", over="ours with NumPy")


def drawn(compositions: int) -> Array:
    """[face][composition] what may be left of a shoe of six decks, any count of each face."""
    return np.random.default_rng(SEED).integers(1, 49, (6, compositions))


def by_numpy(matrix: Matrix, left: Array) -> Callable[[], tuple[Array, Array]]:
    """The straightforward way: 56 weights a composition, then one matrix product by BLAS, all exact."""
    first, second, third = (np.array([o.faces for o in OUTCOMES]) - 1).T
    # What the second and third card find less of their face, and how many orders count as one.
    less_second, less_third = first == second, (first == third).astype(int) + (second == third)
    orders = np.array([6 / o.ways for o in OUTCOMES])
    returned = (np.array(matrix.nets).T + matrix.denominator).astype(np.float64)

    def reckon() -> tuple[Array, Array]:
        counts = left.T.astype(np.float64)
        weights = counts[:, first] * (counts[:, second] - less_second) * (counts[:, third] - less_third)
        weights /= orders
        cards = counts.sum(axis=1)
        return (weights @ returned).T, cards * (cards - 1) * (cards - 2) / 6

    return reckon


def by_c(matrix: Matrix, left: Array) -> Callable[[], tuple[Array, Array]] | None:
    """The same in C, written out for this matrix and this size of shoe, nothing checked; none without cc."""
    compiler = shutil.which("cc")
    if compiler is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        source, library = Path(folder) / "odds.c", Path(folder) / "odds.so"
        source.write_text(_source(matrix), "utf-8")
        flags = ("-O3", "-march=native", "-fopenmp-simd", "-shared", "-fPIC")
        subprocess.run([compiler, *flags, "-o", str(library), str(source)], check=True, timeout=120)
        loop = ctypes.CDLL(str(library)).odds
    counts = np.ascontiguousarray(left, dtype=np.int64)
    size = counts.shape[1]

    def reckon() -> tuple[Array, Array]:
        back, total = np.empty((len(matrix.areas), size), dtype=np.int32), np.empty(size, dtype=np.int32)
        where = (ctypes.c_void_p(one.ctypes.data) for one in (counts, back, total))
        loop(ctypes.c_long(size), *where)
        return back, total

    return reckon


def _source(matrix: Matrix) -> str:
    weights = []
    for outcome in OUTCOMES:
        a, b, c = (face - 1 for face in outcome.faces)
        if a == c:
            weights.append(f"t{a}")
        elif b in (a, c):
            weights.append(f"p{b} * n{c if a == b else a}")
        else:
            weights.append(f"n{a} * n{b} * n{c}")
    lines = [f"float n{f} = (float)(int)left[{f} * size + at];" for f in range(6)]
    lines += [f"float p{f} = n{f} * (n{f} - 1) * 0.5f, t{f} = p{f} * (n{f} - 2) / 3;" for f in range(6)]
    lines += [f"float w{place} = {weight};" for place, weight in enumerate(weights)]
    for row, nets in enumerate(matrix.nets):
        won = [place for place, net in enumerate(nets) if net > 0]
        returned = nets[won[0]] + matrix.denominator  # one figure an area in this game
        total = " + ".join(f"w{place}" for place in won)
        lines.append(f"back[{row} * size + at] = (int)({total}) * {returned};")
    lines.append("double s = n0 + n1 + n2 + n3 + n4 + n5; total[at] = (int)(s * (s - 1) * (s - 2) / 6);")
    body = "\n        ".join(lines)
    return f"""
void odds(long size, const long *restrict left, int *restrict back, int *restrict total) {{
    #pragma omp simd
    for (long at = 0; at < size; at++) {{
        {body}
    }}
}}
"""


def _written(areas: int, compositions: int) -> Callable[[], Array]:
    """Fills an array as large as the answer."""
    return lambda: np.full((areas + 1, compositions), 7, dtype=np.int32)

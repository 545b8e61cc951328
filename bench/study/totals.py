"""The exact law of a session's total: against icepool, and against python-flint's bare polynomial power.

Every call starts from the matrix and the chances: the mix, its law and the total are made anew, and nothing
is remembered from one call to the next. Flint is the limit beside it: it is handed the polynomial ready and
divided by everything that can be divided, and leaves its coefficients in its own numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from math import log10
from typing import Any, Final

from bench.harness import Bench, Line, Target, in_turns
from taisai.rules import Chance, Matrix, rulebook
from taisai.study.odds import Distribution, Mix
from taisai.study.session.sums import Lattice, sum_by_fft
from taisai.study.session.total import total_after

BOOK, LAYOUT = "rws-sic-bo-etg-v8", "A"
MIXES: Final[tuple[Mapping[str, int], ...]] = (
    {"small": 100},
    {"single-1": 100},
    {"small": 100, "triple-1": 10},
    {"total-8": 100, "single-2": 50, "double-3": 20},
)
FEW, MANY = 100, 1_000


def run(*, quick: bool) -> Iterator[Line]:
    """Icepool at 100 rounds, flint at 1,000, and how both of our ways grow."""
    book = rulebook(BOOK)
    matrix, chance = book.matrix(LAYOUT), book.chance()
    for bets in MIXES:
        named = ", ".join(f"{area}={stake}" for area, stake in bets.items())
        law = Mix.of(matrix, bets).distribution(chance)
        yield _against_icepool(matrix, chance, bets, law, named, quick=quick)
        yield from _against_flint(matrix, chance, bets, law, named, quick=quick)
    yield from _growth(matrix, chance, quick=quick)


def _ours(matrix: Matrix, chance: Chance, bets: Mapping[str, int], rounds: int) -> Distribution:
    law = total_after(Mix.of(matrix, bets), chance, rounds).distribution
    assert isinstance(law, Distribution)
    return law


def _against_icepool(
    matrix: Matrix, chance: Chance, bets: Mapping[str, int], law: Distribution, named: str, *, quick: bool
) -> Line:
    import icepool

    weights = dict(zip(law.values, law.weights, strict=True))
    ways: dict[str, Callable[[], Any]] = {
        "icepool": lambda: FEW @ icepool.Die(weights),
        "ours": lambda: _ours(matrix, chance, bets, FEW),
    }
    theirs, ours = ways["icepool"](), ways["ours"]()
    assert [int(value) for value in theirs] == list(ours.values)
    whole = theirs.denominator()
    assert all(
        Fraction(theirs.quantity(value), whole) == Fraction(weight, ours.total)
        for value, weight in zip(ours.values, ours.weights, strict=True)
    )
    times = in_turns(ways, turns=3 if quick else 7)
    bench = Bench(f"exact total of {FEW} rounds, {named}", times)
    return bench.line("icepool / ours", of="icepool", over="ours", target=Target(50))


def _against_flint(
    matrix: Matrix, chance: Chance, bets: Mapping[str, int], law: Distribution, named: str, *, quick: bool
) -> Iterator[Line]:
    try:
        from flint import fmpz_poly
    except ModuleNotFoundError:
        return
    lattice = Lattice.of(law)
    dense = [0] * (lattice.degree + 1)
    for exponent, weight in zip(lattice.exponents, lattice.weights, strict=True):
        dense[exponent] = weight
    polynomial = fmpz_poly(dense)
    ways: dict[str, Callable[[], Any]] = {
        "flint": lambda: polynomial**MANY,
        "ours": lambda: _ours(matrix, chance, bets, MANY),
    }
    theirs, ours = ways["flint"](), ways["ours"]()
    assert [int(weight) for weight in theirs.coeffs() if weight] == list(ours.weights)
    times = in_turns(ways, turns=5 if quick else 9)
    bench = Bench(f"exact total of {MANY:,} rounds, {named}", times)
    yield bench.line("ours / flint's bare power", of="ours", over="flint", target=Target(5, at_most=True))


def _growth(matrix: Matrix, chance: Chance, *, quick: bool) -> Iterator[Line]:
    """Ten times the rounds: a hundred times the digits where exact, about three times the points by FFT."""
    bets = MIXES[1]
    lattice = Lattice.of(Mix.of(matrix, bets).distribution(chance))
    digits = log10(lattice.bytes_of_sum(MANY) / lattice.bytes_of_sum(FEW))
    exact: dict[str, Callable[[], Any]] = {
        "few": lambda: _ours(matrix, chance, bets, FEW),
        "many": lambda: _ours(matrix, chance, bets, MANY),
    }
    yield _slope("exact, by the size of the answer, 100 to 1,000 rounds", exact, digits, quick=quick)
    waves: dict[str, Callable[[], Any]] = {
        "few": lambda: sum_by_fft(lattice, 100_000),
        "many": lambda: sum_by_fft(lattice, 1_000_000),
    }
    yield _slope("by FFT, by the rounds, 1e5 to 1e6", waves, 1.0, quick=quick)


def _slope(what: str, ways: dict[str, Callable[[], Any]], size: float, *, quick: bool) -> Line:
    times = in_turns(ways, turns=5 if quick else 9)
    slopes = sorted(log10(many / few) / size for many, few in zip(times["many"], times["few"], strict=True))
    name = "totals, growth: log-log slope over ×10 rounds"
    target = Target(1.1, at_most=True, unit="")
    return Line(name, what, slopes[len(slopes) // 2], slopes[0], slopes[-1], target)

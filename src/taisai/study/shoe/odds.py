"""Exact odds for any composition of the shoe, for one or for many compositions at once."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, reduce
from math import comb
from operator import or_
from typing import TYPE_CHECKING, Any, Final

from taisai.rules.chance import Chance, ChanceKind
from taisai.rules.errors import RulesError
from taisai.rules.matrix import Matrix
from taisai.rules.outcomes import DICE, FACES, OUTCOMES
from taisai.study import needed

if TYPE_CHECKING:  # one composition does not need NumPy
    import numpy.typing as npt

    from taisai.study.shoe.plan import WeighingPlan

    Counts = npt.NDArray[Any]

MOST_COUNT: Final = 10_000
"""The most cards of a face: 100 decks with 100 each, the largest shoe of a rulebook."""
MOST_COMPOSITIONS: Final = 10_000_000
"""The most compositions in one call; with 19 areas their odds take 1.6 GB."""
THREADS: Final = 2  # more threads are not faster, because memory bandwidth is the limit
_PIECE: Final = 8_192  # compositions that a thread takes at a time; fewer do not need a second thread


def chance_left(left: Sequence[int]) -> Chance:
    """The chances of three cards from a shoe with these cards of each face left.

    >>> chance = chance_left((1, 1, 1, 0, 0, 0))
    >>> chance.total, [str(o) for o, weight in zip(OUTCOMES, chance.weights) if weight]
    (1, ['123'])
    """
    if len(left) != len(FACES):
        raise RulesError(f"expected 6 counts, one for each face, got {len(left)}")
    for face, count in zip(FACES, left, strict=True):
        if type(count) is not int or not 0 <= count <= MOST_COUNT:
            raise RulesError(f"expected 0 to {MOST_COUNT} cards of face {face} left, got {count!r}")
    if sum(left) < DICE:
        raise RulesError(f"expected at least three cards left in the shoe, got {sum(left)}")
    weights = []
    for outcome in OUTCOMES:
        weight = 1
        for face, times in Counter(outcome.faces).items():
            weight *= comb(left[face - 1], times)
        weights.append(weight)
    return Chance(ChanceKind.CARDS, tuple(weights), comb(sum(left), DICE))


@dataclass(frozen=True, slots=True)
class ManyOdds:
    """The odds of every area for many compositions, as integers over a common denominator."""

    matrix: Matrix
    back: npt.NDArray[Any]
    """[area][composition] the expected return per unit staked, times the denominator and `total`."""
    total: npt.NDArray[Any]
    """[composition] the ways to choose three cards."""

    def edge(self, area: str, composition: int) -> Fraction:
        """The exact house edge of an area for one of the compositions."""
        unit = int(self.total[composition]) * self.matrix.denominator
        return 1 - Fraction(int(self.back[self.matrix.row(area), composition]), unit)

    def edges(self) -> npt.NDArray[Any]:
        """[area][composition] all house edges, each rounded once to a float64."""
        unit = self.total * self.matrix.denominator
        edges: npt.NDArray[Any] = (unit - self.back) / unit
        return edges


def odds_of_many(matrix: Matrix, left: npt.NDArray[Any], *, compiled: bool | None = None) -> ManyOdds:
    """The odds for many compositions, given as integers [face][composition] of cards left.

    By default it is compiled if numba is installed, else it uses NumPy, with the same digits.

    >>> import numpy as np
    >>> from taisai.rules import rulebook
    >>> matrix = rulebook("mbs-3-card-sic-bo").matrix()
    >>> odds_of_many(matrix, np.array([[48, 5]] * 6)).edge("small", 0)
    Fraction(1081, 41041)
    """
    from taisai.study.shoe.plan import EXACT_DOUBLE, most_cards, plan

    if left.ndim != 2 or left.shape[0] != len(FACES) or left.dtype.kind not in "iu":
        raise RulesError(
            f"expected whole numbers in 6 rows, one for each face, got {left.dtype} of shape {left.shape}"
        )
    if not 1 <= left.shape[1] <= MOST_COMPOSITIONS:
        raise RulesError(f"expected 1 to {MOST_COMPOSITIONS} compositions at once, got {left.shape[1]}")
    steps = plan(matrix)
    most = most_cards(steps, EXACT_DOUBLE)
    if has_numba() if compiled is None else compiled:
        return ManyOdds(matrix, *_by_numba(left, steps, most))
    return ManyOdds(matrix, *_by_numpy(left, steps, most))


def has_numba() -> bool:
    """Whether numba is installed and may be used."""
    from taisai.bulk.kernels import loads_numba

    return loads_numba()


def need_numpy() -> None:
    """Raises an error if NumPy is not installed."""
    with needed("NumPy", "study"):
        import numpy  # noqa: F401


@cache
def threads() -> ThreadPoolExecutor:
    """The threads for loops over compositions."""
    return ThreadPoolExecutor(min(THREADS, os.cpu_count() or 1), thread_name_prefix="compositions")


def _by_numpy(left: Counts, plan: WeighingPlan, most: int) -> tuple[Counts, Counts]:
    import numpy as np

    from taisai.study.shoe import plan as plans

    cards = left.sum(axis=0, dtype=np.int64)
    _check((left.min(), left.max(), cards.min(), cards.max()), most)
    back, total = _empty(plan, left.shape[1], narrow=_is_narrow(plan, int(cards.max())))
    plans.returns(left, plan, back, total)
    return back, total


def _by_numba(left: Counts, plan: WeighingPlan, most: int) -> tuple[Counts, Counts]:
    """Tries 32-bit numbers first, and 64-bit numbers if the counts need them."""
    import numpy as np

    for narrow in (True, False):
        back, total = _empty(plan, left.shape[1], narrow=narrow)
        bits, fewest, cards = _fill(np.ascontiguousarray(left), plan, (back, total), narrow=narrow)
        extremes = (0, bits) if 0 <= bits <= MOST_COUNT else (left.min(), left.max())
        _check((*extremes, fewest, cards), most)
        if narrow is _is_narrow(plan, cards):
            return back, total
    raise AssertionError("64-bit numbers suffice")


def _fill(
    left: Counts, plan: WeighingPlan, result: tuple[Counts, Counts], *, narrow: bool
) -> tuple[int, int, int]:
    """Fills the result; returns the bitwise or of all counts, and the least and the greatest sum.

    Two threads take pieces from one list, so that a thread that starts late does less.
    """
    from taisai.study.shoe import compiled

    size = left.shape[1]
    pieces = iter(range(0, size, _PIECE))

    def work() -> list[tuple[int, int, int]]:
        store = compiled.store(plan.classes, single=narrow)
        figures = []
        for start in pieces:
            piece = (start, min(start + _PIECE, size))
            figures.append(compiled.returns(piece, left, plan.steps, store, result))
        return figures

    other = threads().submit(work) if size > _PIECE else None
    done = work()
    if other and not other.cancel():
        done += other.result()
    bits, fewest, cards = zip(*done, strict=True)
    return reduce(or_, bits), min(fewest), max(cards)


def _is_narrow(plan: WeighingPlan, cards: int) -> bool:
    """Whether every figure fits into an int32 and every weight into a float32."""
    from taisai.study.shoe.plan import EXACT_SINGLE

    ways = comb(cards, DICE)
    return ways <= EXACT_SINGLE and ways * plan.most_returned < 2**31


def _empty(plan: WeighingPlan, compositions: int, *, narrow: bool) -> tuple[Counts, Counts]:
    import numpy as np

    whole = np.int32 if narrow else np.int64
    return np.empty((plan.areas, compositions), dtype=whole), np.empty(compositions, dtype=whole)


def _check(found: Sequence[int], most: int) -> None:
    least, greatest, fewest, cards = map(int, found)
    if least < 0 or greatest > MOST_COUNT:
        got = least if least < 0 else greatest
        raise RulesError(f"expected 0 to {MOST_COUNT} cards of a face left, got {got}")
    if fewest < DICE:
        raise RulesError(f"expected at least three cards left in every composition, got {fewest}")
    if cards > most:
        raise RulesError(f"expected at most {most} cards left, so that every figure is exact, got {cards}")

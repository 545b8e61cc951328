"""A chain to its very end: the expected visits of every cell, solved and proven close.

With P the chain and e its start, the visits are v = e + Pᵀv. A sparse factorisation gives v, and each
refinement measures what is left of the equation in fixed point, exact where it matters. Whatever r remains, v
is off by at most τ·|r|, all cells together, where τ is the longest expected stay from any cell; and any y
with y − Py ≥ ½ in every cell proves τ ≤ 2·max y.
"""

from __future__ import annotations

from math import ceil, log2
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from taisai.study.session.chain import Chain
from taisai.study.session.steps import Mass, Played

MOST_CELLS: Final = 2**16
"""Beyond it the factors of some systems no longer fit in memory; those chains are played until they end."""
CLOSE: Final = 1e-14
"""A solution that cannot be proven closer than this is not taken."""
_REFINEMENTS: Final = 4
_U: Final = 2.0**-53


class Solved(NamedTuple):
    """A chain at its very end."""

    played: Played
    error: float
    """The most that all probabilities together, or all visits, are off."""
    bits: int
    """The scale."""
    longest: float
    """No cell is further from an end than so many rounds, in the mean."""

    def left_after(self, rounds: int) -> float:
        """The most that may still be playing: of any players half at least are gone after twice the mean."""
        return float(2.0 ** -min(1_000.0, rounds // (2 * self.longest)))


def solved(chain: Chain) -> Solved | None:
    """The chain at its very end.

    None where scipy is missing, the chain is too large, or the proof does not come out.
    """
    if not 0 < chain.cells <= MOST_CELLS:
        return None
    try:
        from scipy.sparse import coo_array, csc_array
        from scipy.sparse.linalg import splu
    except ModuleNotFoundError:
        return None
    nets, cells = chain.leads.shape
    weights = np.repeat(np.array(chain.weights, dtype=np.float64), cells)
    leads, source = chain.leads.ravel(), np.tile(np.arange(cells), nets)
    stays = leads < cells
    inner = coo_array((weights[stays], (leads[stays], source[stays])), shape=(cells, cells))
    matrix = csc_array(coo_array((np.full(cells, float(chain.total)), (range(cells), range(cells)))) - inner)
    factors = splu(matrix)
    stay = factors.solve(np.full(cells, float(chain.total)), trans="T")
    if not (np.isfinite(stay).all() and stay.min() > 0 and (matrix.T @ stay).min() >= chain.total / 2):
        return None
    longest = 2 * float(stay.max())
    first = np.zeros(cells)
    first[chain.start] = float(chain.total)
    bits = 51 - chain.total.bit_length() - ceil(log2(float(factors.solve(first).max()) + 2))
    visits = Mass(np.zeros(cells), np.zeros(cells))
    for _ in range(_REFINEMENTS):
        missing = _missing(chain, visits, bits)
        more = factors.solve(missing)
        low = visits.low + more
        carry = np.rint(low)
        visits = Mass(visits.high + carry, low - carry)
    missing = _missing(chain, visits, bits)
    left = float(np.abs(missing).sum()) / chain.total + 2 * _U * chain.roughness
    off = longest * left * 2.0**-bits
    if not off < CLOSE:
        return None
    nothing = Mass(np.zeros(cells), np.zeros(cells))
    return Solved(Played(nothing, _ended(chain, visits), visits.high + visits.low), off, bits, longest)


def _into(chain: Chain, mass: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """What comes into every place, cells and ends, times the total."""
    weights = np.array(chain.weights, dtype=np.float64)[:, None]
    places = chain.cells + len(chain.ends)
    return np.bincount(chain.leads.ravel(), (weights * mass).ravel(), places).astype(np.float64, copy=False)


def _missing(chain: Chain, visits: Mass, bits: int) -> Any:
    """What is left of the equation, times the total, in the scale of the visits: whole parts first."""
    high = _into(chain, visits.high)[: chain.cells] - chain.total * visits.high
    high[chain.start] += chain.total * 2.0**bits
    return high + (_into(chain, visits.low)[: chain.cells] - chain.total * visits.low)


def _ended(chain: Chain, visits: Mass) -> Mass:
    high, low = (_into(chain, part)[chain.cells :] for part in visits)
    whole = np.rint(high / chain.total)
    return Mass(whole, (high - whole * chain.total + low) / chain.total)

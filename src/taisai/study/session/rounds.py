"""Loop of a chain in fixed point: whole numbers carry the weight, and what is left over is kept beside.

A probability is high × 2^-bits + low × 2^-bits: `high` a whole number in a float, `low` at most about a half.
Products with the weights and their sums are exact in `high`; dividing by the total leaves a remainder that
goes into `low`. So a round costs two additions a way instead of one, and errs by about 2^-53 of 2^-bits.

A chain to its very end: the expected visits of every cell, solved and proven close.

With P the chain and e its start, the visits are v = e + Pᵀv. A sparse factorisation gives v, and each
refinement measures what is left of the equation in fixed point, exact where it matters. Whatever r remains, v
is off by at most τ·|r|, all cells together, where τ is the longest expected stay from any cell; and any y
with y − Py ≥ ½ in every cell proves τ ≤ 2·max y.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from math import ceil, log2
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from taisai.bulk.kernels import compiled, loads_numba
from taisai.study.session.chain import Places, SessionChain

Floats = npt.NDArray[np.float64]
NOTHING: Final = 2.0**-60
"""A low part smaller than this is dropped: it means nothing, and ever smaller numbers are slow."""
ROUNDED: Final = 1.5 * 2.0**52
"""Added and taken off again, it leaves a smaller number whole."""
_U: Final = 2.0**-53


class Mass(NamedTuple):
    """Probability in fixed point."""

    high: Floats
    low: Floats


class Played(NamedTuple):
    """Where the probability is after some rounds."""

    alive: Mass
    ended: Mass
    visits: Floats
    """[cell] how many rounds began there so far, in the mean, in the scale of the mass."""


class Runs(NamedTuple):
    """Ways that lie side by side: so many cells from one on lead to as many places from another on.

    A processor adds those up several at once; in most systems a run is nearly a whole state long.
    """

    weights: Floats
    cells: Places
    places: Places
    lengths: Places


Loop = Callable[..., None]


def bits_of(total: int) -> int:
    """The scale: a sum of highs times weights stays below 2^53, with room to spare for those rounded up."""
    return 51 - total.bit_length()


def beginning(chain: SessionChain) -> Played:
    """Before the first round: all at the start."""
    high, low = np.zeros(chain.cells), np.zeros(chain.cells)
    high[chain.start] = 2.0 ** bits_of(chain.total)
    ended = Mass(np.zeros(len(chain.ends)), np.zeros(len(chain.ends)))
    return Played(Mass(high, low), ended, np.zeros(chain.cells))


def play(chain: SessionChain, played: Played, rounds: int, *, compiled: bool | None = None) -> None:
    """Plays so many rounds more, in place."""
    weights = np.array(chain.weights, dtype=np.float64)
    if loads_numba() if compiled is None else compiled:
        ways: tuple[Any, ...] = runs_of(chain.leads, weights)
        loop = compiled_rounds()
    else:
        ways = (chain.leads, weights)
        loop = rounds_by_numpy
    loop(
        *ways,
        float(chain.total),
        played.alive.high,
        played.alive.low,
        played.ended.high,
        played.ended.low,
        played.visits,
        rounds,
    )


def error_of(chain: SessionChain, rounds: int) -> float:
    """The most that all probabilities together are off after so many rounds."""
    once = 2 * chain.roughness * _U + chain.cells * NOTHING
    return rounds * once * 2.0 ** -bits_of(chain.total)


def runs_of(leads: Places, weights: Floats) -> Runs:
    """The ways in runs, net by net and cell by cell."""
    nets, cells = leads.shape
    begins = np.ones((nets, cells), dtype=bool)
    begins[:, 1:] = leads[:, 1:] != leads[:, :-1] + 1
    net, cell = np.nonzero(begins)
    where = net * cells + cell
    lengths = np.diff(where, append=nets * cells)
    return Runs(weights[net], cell.astype(np.int32), leads[net, cell], lengths.astype(np.int32))


@cache
def compiled_rounds() -> Loop:
    """The loop compiled by numba; the first call in a process takes about a second."""
    return compiled(_rounds)


def _rounds(  # noqa: PLR0917 (a compiled loop takes plain arrays, in one order)
    weights: Floats,
    cells_of: Places,
    places_of: Places,
    lengths: Places,
    total: float,
    high: Floats,
    low: Floats,
    end_high: Floats,
    end_low: Floats,
    visits: Floats,
    rounds: int,
) -> None:
    cells = high.size
    new_high = np.zeros(cells + end_high.size)
    new_low = np.zeros(cells + end_high.size)
    once = 1.0 / total
    for _ in range(rounds):
        for run in range(weights.size):
            weight, cell, place = weights[run], cells_of[run], places_of[run]
            if lengths[run] == 1:
                new_high[place] += weight * high[cell]
                new_low[place] += weight * low[cell]
                continue
            length = lengths[run]
            to_high, from_high = new_high[place : place + length], high[cell : cell + length]
            to_low, from_low = new_low[place : place + length], low[cell : cell + length]
            for beside in range(
                length
            ):  # views, so that no index can be negative: numba then adds several at once
                to_high[beside] += weight * from_high[beside]
            for beside in range(length):
                to_low[beside] += weight * from_low[beside]
        for cell in range(cells):
            visits[cell] += high[cell] + low[cell]
            whole = (new_high[cell] * once + ROUNDED) - ROUNDED
            left = (new_high[cell] - whole * total + new_low[cell]) * once
            carry = (left + ROUNDED) - ROUNDED
            high[cell] = whole + carry
            low[cell] = 0.0 if abs(left) < NOTHING else left - carry
            new_high[cell] = 0.0
            new_low[cell] = 0.0
        for end in range(end_high.size):
            place = cells + end
            whole = (new_high[place] * once + ROUNDED) - ROUNDED
            end_low[end] += (new_high[place] - whole * total + new_low[place]) * once
            end_high[end] += whole
            new_high[place] = 0.0
            new_low[place] = 0.0


def rounds_by_numpy(  # noqa: PLR0917 (as above)
    leads: Places,
    weights: Floats,
    total: float,
    high: Floats,
    low: Floats,
    end_high: Floats,
    end_low: Floats,
    visits: Floats,
    rounds: int,
) -> None:
    """The same with NumPy alone, and the same digits: it adds in the same order."""
    cells, places = leads.shape[1], leads.shape[1] + end_high.size
    into, times = leads.ravel(), weights[:, None]
    once = 1.0 / total
    for _ in range(rounds):
        visits += high + low
        new_high = np.bincount(into, (times * high).ravel(), places)
        new_low = np.bincount(into, (times * low).ravel(), places)
        whole = (new_high * once + ROUNDED) - ROUNDED
        left = (new_high - whole * total + new_low) * once
        carry = (left[:cells] + ROUNDED) - ROUNDED
        high[:] = whole[:cells] + carry
        low[:] = np.where(abs(left[:cells]) < NOTHING, 0.0, left[:cells] - carry)
        end_high += whole[cells:]
        end_low += left[cells:]


MOST_CELLS: Final = 2**16
"""Beyond it the factors of some systems no longer fit in memory; those chains are played until they end."""
CLOSE: Final = 1e-14
"""A solution that cannot be proven closer than this is not taken."""
_REFINEMENTS: Final = 4


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


def solved(chain: SessionChain) -> Solved | None:
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


def _into(chain: SessionChain, mass: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """What comes into every place, cells and ends, times the total."""
    weights = np.array(chain.weights, dtype=np.float64)[:, None]
    places = chain.cells + len(chain.ends)
    return np.bincount(chain.leads.ravel(), (weights * mass).ravel(), places).astype(np.float64, copy=False)


def _missing(chain: SessionChain, visits: Mass, bits: int) -> Any:
    """What is left of the equation, times the total, in the scale of the visits: whole parts first."""
    high = _into(chain, visits.high)[: chain.cells] - chain.total * visits.high
    high[chain.start] += chain.total * 2.0**bits
    return high + (_into(chain, visits.low)[: chain.cells] - chain.total * visits.low)


def _ended(chain: SessionChain, visits: Mass) -> Mass:
    high, low = (_into(chain, part)[chain.cells :] for part in visits)
    whole = np.rint(high / chain.total)
    return Mass(whole, (high - whole * chain.total + low) / chain.total)

"""A session under a staking system as a Markov chain, played round by round or solved to its end.

A state of the chain, here called a cell, is a pair of a bankroll and a state of the staking system. Bankrolls
at which the session is over are absorbing; they are called ends.

Probabilities are in fixed point: high × 2^-bits + low × 2^-bits, where `high` is a whole number in a float
and `low` is at most about a half. Products with the weights and their sums are exact in `high`; dividing by
the total leaves a remainder, which goes into `low`. A round then needs two additions per transition instead
of one, and its error is about 2^-53 of 2^-bits.

Solved to its end, a chain gives the expected visits of every cell. With the transition matrix P and the
initial distribution e, the visits are v = e + Pᵀv. A sparse factorisation gives v, and each refinement
computes the residual in fixed point. For a residual r, v is off by at most τ·|r| in sum over all cells, where
τ is the longest expected time to absorption from any cell; and any y with y − Py ≥ ½ in every cell proves
τ ≤ 2·max y.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, reduce
from math import ceil, gcd, log2
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from taisai.bulk.kernels import compiled, loads_numba
from taisai.rules.errors import RulesError
from taisai.study.odds import Distribution
from taisai.study.staking import START, System

MOST_CELLS: Final = 2**22  # more would make a round too slow
PRUNED_FROM: Final = 2**16  # a chain of more cells is reduced to those that the start can reach
MOST_SOLVED_CELLS: Final = 2**16  # beyond it the factors of some systems do not fit in memory
CLOSE: Final = 1e-14  # a solution whose error bound is larger is discarded
NOTHING: Final = 2.0**-60
"""A smaller low part is set to 0: it is below the error, and denormal numbers are slow."""
ROUNDED: Final = 1.5 * 2.0**52  # adding and subtracting it rounds a smaller number to a whole number
_REFINEMENTS: Final = 4
_U: Final = 2.0**-53

States = npt.NDArray[np.int32]
Floats = npt.NDArray[np.float64]
ChainLoop = Callable[..., None]


class SessionChain(NamedTuple):
    """The transitions of a session; all arrays are indexed by cell."""

    start: int
    cells: int
    leads: States  # [net, cell] → the next cell, or cells + the number of an end
    weights: tuple[int, ...]  # [net] out of the total
    total: int
    multiples: States  # [cell] the multiple staked
    bankrolls: npt.NDArray[np.int64]
    ends: npt.NDArray[np.int64]  # the absorbing bankrolls, ascending: ruined if below the target
    roughness: float
    """What one round adds to the error of all probabilities together, in units of 2^-53 of the low part."""


def bankrolls_playing(
    distribution: Distribution, *, unit: int, least: int, bankroll: int, target: int
) -> tuple[int, int, int]:
    """The bankrolls that can play another round: the first, the step between them, and how many."""
    step = reduce(gcd, distribution.values) or 1  # stakes are whole multiples, so changes are multiples of it
    first = bankroll - (bankroll - least * unit) // step * step  # a lower bankroll cannot play
    return first, step, max(0, -(-(target - first) // step))


def chain_of(
    distribution: Distribution, system: System, *, unit: int, least: int, bankroll: int, target: int
) -> SessionChain:
    """The chain of a player who starts with a bankroll and leaves when ruined or at the target.

    `distribution` is the distribution of one round at multiple 1, which stakes `unit`; `least` is the least
    multiple.
    """
    shared = reduce(gcd, distribution.weights)
    first, step, playing = bankrolls_playing(
        distribution, unit=unit, least=least, bankroll=bankroll, target=target
    )
    states = len(system.multiples)
    if playing * states > MOST_CELLS:
        raise RulesError(
            f"expected at most 2^22 = {MOST_CELLS:,} pairs of a bankroll and a state of the system, got "
            f"{playing:,} bankrolls × {states:,} states (a greater bet or a lower maximum makes fewer)"
        )
    purse = first + step * np.arange(playing, dtype=np.int64)
    wanted = np.array(system.multiples, dtype=np.int64)[:, None]
    multiples = np.minimum(wanted, purse // unit)
    leads, ended = _leads(distribution, system, purse=purse, multiples=multiples, step=step)
    ends, numbers = np.unique(ended, return_inverse=True)
    leads[leads < 0] = playing * states + numbers
    chain = SessionChain(
        START * playing + (bankroll - first) // step,
        playing * states,
        leads.astype(np.int32),
        tuple(weight // shared for weight in distribution.weights),
        distribution.total // shared,
        multiples.ravel().astype(np.int32),
        np.tile(purse, states),
        ends,
        0.0,
    )
    if chain.cells > PRUNED_FROM and bankroll >= first:
        chain = _reachable(chain)
    return chain._replace(roughness=_roughness(chain))


def _reachable(chain: SessionChain) -> SessionChain:
    """The chain without the cells that the start cannot reach."""
    seen = np.zeros(chain.cells + len(chain.ends), dtype=bool)
    seen[chain.cells :] = True
    reached = np.array([chain.start])
    while reached.size:
        seen[reached] = True
        onward = chain.leads[:, reached].ravel()
        reached = np.unique(onward[~seen[onward]])
    kept = np.flatnonzero(seen[: chain.cells])
    numbers = (np.cumsum(seen) - 1).astype(np.int32)
    return chain._replace(
        start=int(numbers[chain.start]),
        cells=len(kept),
        leads=numbers[chain.leads[:, kept]],
        multiples=chain.multiples[kept],
        bankrolls=chain.bankrolls[kept],
    )


def _roughness(chain: SessionChain) -> float:
    """A cell adds low parts of at most a half; each product and each sum is rounded once.

    Then comes the remainder, at most half the total, times the inverse of the total, and for an end one sum.
    """
    places = chain.cells + len(chain.ends)
    into = np.bincount(chain.leads.ravel(), minlength=places)
    weights = np.repeat(np.array(chain.weights, dtype=np.float64), chain.cells)
    inflow = np.bincount(chain.leads.ravel(), weights, places) / (2 * chain.total)
    return float(((into + 7) * (inflow + 1)).sum())


def _leads(
    distribution: Distribution,
    system: System,
    *,
    purse: npt.NDArray[np.int64],
    multiples: npt.NDArray[np.int64],
    step: int,
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """[net, cell] → the next cell, or -1 for an end; and the bankrolls of those ends in the same order."""
    playing = len(purse)
    after = purse + multiples * np.array(distribution.values, dtype=np.int64)[:, None, None]
    following = np.array([system.after(net) for net in distribution.values], dtype=np.int64)
    place = (after - (purse[0] if playing else 0)) // step
    stays = (place >= 0) & (place < playing)
    leads = np.where(stays, following[:, :, None] * playing + place, -1)
    return leads.reshape(len(distribution.values), -1), after[~stays]


# ── round by round ───────────────────────────────────────────────────────────────────────────────────


class Mass(NamedTuple):
    """Probabilities in fixed point."""

    high: Floats
    low: Floats


class Played(NamedTuple):
    """The distribution over cells and ends after some rounds."""

    alive: Mass
    ended: Mass
    visits: Floats  # [cell] the expected number of rounds that began there, in the scale of the mass


class Runs(NamedTuple):
    """Transitions from consecutive cells to consecutive cells, which a processor adds several at once.

    In most systems a run is nearly as long as the list of bankrolls.
    """

    weights: Floats
    cells: States
    places: States
    lengths: States


def bits_of(total: int) -> int:
    """The scale: sums of highs times weights stay below 2^53, with a margin for those rounded up."""
    return 51 - total.bit_length()


def beginning(chain: SessionChain) -> Played:
    """Before the first round."""
    high, low = np.zeros(chain.cells), np.zeros(chain.cells)
    high[chain.start] = 2.0 ** bits_of(chain.total)
    ended = Mass(np.zeros(len(chain.ends)), np.zeros(len(chain.ends)))
    return Played(Mass(high, low), ended, np.zeros(chain.cells))


def play(chain: SessionChain, played: Played, rounds: int, *, compiled: bool | None = None) -> None:
    """Plays more rounds, in place; by default compiled if numba is installed."""
    weights = np.array(chain.weights, dtype=np.float64)
    if loads_numba() if compiled is None else compiled:
        ways: tuple[Any, ...] = runs_of(chain.leads, weights)
        loop = compiled_rounds()
    else:
        ways = (chain.leads, weights)
        loop = rounds_by_numpy
    loop(*ways, float(chain.total), *played.alive, *played.ended, played.visits, rounds)


def error_of(chain: SessionChain, rounds: int) -> float:
    """The error bound of all probabilities together after these rounds."""
    once = 2 * chain.roughness * _U + chain.cells * NOTHING
    return rounds * once * 2.0 ** -bits_of(chain.total)


def runs_of(leads: States, weights: Floats) -> Runs:
    """The transitions in runs, net by net and cell by cell."""
    nets, cells = leads.shape
    begins = np.ones((nets, cells), dtype=bool)
    begins[:, 1:] = leads[:, 1:] != leads[:, :-1] + 1
    net, cell = np.nonzero(begins)
    lengths = np.diff(net * cells + cell, append=nets * cells)
    return Runs(weights[net], cell.astype(np.int32), leads[net, cell], lengths.astype(np.int32))


@cache
def compiled_rounds() -> ChainLoop:
    """The loop compiled by numba; the first call in a process takes about a second."""
    return compiled(_rounds)


def _rounds(  # noqa: PLR0917  a compiled loop takes plain arrays, in one order
    weights: Floats, cells_of: States, places_of: States, lengths: States, total: float, high: Floats,
    low: Floats, end_high: Floats, end_low: Floats, visits: Floats, rounds: int,
) -> None:  # fmt: skip
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
            # Views, so that no index can be negative: numba then adds several at once.
            to_high, from_high = new_high[place : place + length], high[cell : cell + length]
            to_low, from_low = new_low[place : place + length], low[cell : cell + length]
            for beside in range(length):
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


def rounds_by_numpy(  # noqa: PLR0917  as above
    leads: States, weights: Floats, total: float, high: Floats, low: Floats, end_high: Floats,
    end_low: Floats, visits: Floats, rounds: int,
) -> None:  # fmt: skip
    """The same with NumPy alone, and the same digits, because it adds in the same order."""
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


# ── solved to the end ────────────────────────────────────────────────────────────────────────────────


class Solved(NamedTuple):
    """A chain after unlimited rounds."""

    played: Played
    error: float  # the error bound of all probabilities together, and of all visits together
    bits: int  # the scale of the fixed point
    longest: float  # a bound of the expected rounds to an end, from any cell

    def left_after(self, rounds: int) -> float:
        """A bound of the probability of still playing: twice the mean time at least halves it (Markov)."""
        return float(2.0 ** -min(1_000.0, rounds // (2 * self.longest)))


def solved(chain: SessionChain) -> Solved | None:
    """The chain after unlimited rounds.

    None if SciPy is missing, the chain is too large, or the error bound is too large.
    """
    if not 0 < chain.cells <= MOST_SOLVED_CELLS:
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
        low = visits.low + factors.solve(_residual(chain, visits, bits))
        carry = np.rint(low)
        visits = Mass(visits.high + carry, low - carry)
    left = float(np.abs(_residual(chain, visits, bits)).sum()) / chain.total + 2 * _U * chain.roughness
    error = longest * left * 2.0**-bits
    if not error < CLOSE:
        return None
    nothing = Mass(np.zeros(cells), np.zeros(cells))
    return Solved(Played(nothing, _ended(chain, visits), visits.high + visits.low), error, bits, longest)


def _into(chain: SessionChain, mass: Floats) -> Floats:
    """What flows into every cell and end, times the total."""
    weights = np.array(chain.weights, dtype=np.float64)[:, None]
    places = chain.cells + len(chain.ends)
    return np.bincount(chain.leads.ravel(), (weights * mass).ravel(), places).astype(np.float64, copy=False)


def _residual(chain: SessionChain, visits: Mass, bits: int) -> Any:
    """The residual of the equation, times the total, in the scale of the visits; the high parts first."""
    high = _into(chain, visits.high)[: chain.cells] - chain.total * visits.high
    high[chain.start] += chain.total * 2.0**bits
    return high + (_into(chain, visits.low)[: chain.cells] - chain.total * visits.low)


def _ended(chain: SessionChain, visits: Mass) -> Mass:
    high, low = (_into(chain, part)[chain.cells :] for part in visits)
    whole = np.rint(high / chain.total)
    return Mass(whole, (high - whole * chain.total + low) / chain.total)

"""A player under a staking system as a chain: where one may stand before a round, and where a round leads."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from math import gcd
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from taisai.rules.errors import RulesError
from taisai.study.odds import Law
from taisai.study.staking import START, System

MOST_CELLS: Final = 2**22
"""Bankrolls times states of the system: beyond it a round takes too long to go through them all."""

PRUNED_FROM: Final = 2**16
"""A chain of more cells than this is cut down to those that can be reached, which takes a while itself."""

Places = npt.NDArray[np.int32]


class SessionChain(NamedTuple):
    """Cells, one for each state of the system and each bankroll that still plays, and their ends."""

    start: int
    """The cell of the first round."""
    cells: int
    leads: Places
    """[net, cell] → the next cell, or cells + the number of an end."""
    weights: tuple[int, ...]
    """[net] out of the total."""
    total: int
    multiples: Places
    """[cell] what is staked, in units."""
    bankrolls: npt.NDArray[np.int64]
    """[cell]"""
    ends: npt.NDArray[np.int64]
    """The bankrolls that no longer play, ascending: ruined below the target, at the target from there on."""
    roughness: float
    """What one round adds to the error of all probabilities together, in units of 2^-53 of the low part."""


class Grid(NamedTuple):
    """The bankrolls that still play: so many from the first on, a step apart."""

    first: int
    step: int
    playing: int

    @staticmethod
    def of(law: Law, *, unit: int, least: int, bankroll: int, target: int) -> Grid:
        """The bankrolls that a player from the start on may have before a round."""
        step = reduce(gcd, law.values) or 1  # every stake is a whole multiple, so every change is one of this
        first = bankroll - (bankroll - least * unit) // step * step  # one below the least cannot play
        return Grid(first, step, max(0, -(-(target - first) // step)))


def chain_of(law: Law, system: System, *, unit: int, least: int, bankroll: int, target: int) -> SessionChain:
    """The chain of a player who starts with a bankroll and leaves when ruined or at the target.

    `law` is of one round of the unit mix, on which `unit` is staked; `least` is the least multiple taken.
    """
    shared = reduce(gcd, law.weights)
    first, step, playing = Grid.of(law, unit=unit, least=least, bankroll=bankroll, target=target)
    states = len(system.multiples)
    if playing * states > MOST_CELLS:
        raise RulesError(
            f"expected at most 2^22 = {MOST_CELLS:,} pairs of a bankroll and a state of the system, got "
            f"{playing:,} bankrolls × {states:,} states (a greater bet or a lower maximum makes fewer)"
        )
    purse = first + step * np.arange(playing, dtype=np.int64)
    wanted = np.array(system.multiples, dtype=np.int64)[:, None]
    multiples = np.minimum(wanted, purse // unit)
    leads, ended = _leads(law, system, purse=purse, multiples=multiples, step=step)
    ends, numbers = np.unique(ended, return_inverse=True)
    leads[leads < 0] = playing * states + numbers
    weights = tuple(weight // shared for weight in law.weights)
    whole = SessionChain(
        START * playing + (bankroll - first) // step,
        playing * states,
        leads.astype(np.int32),
        weights,
        law.total // shared,
        multiples.ravel().astype(np.int32),
        np.tile(purse, states),
        ends,
        0.0,
    )
    made = _reachable(whole) if whole.cells > PRUNED_FROM and bankroll >= first else whole
    return made._replace(roughness=_roughness(made))


def _reachable(chain: SessionChain) -> SessionChain:
    """The chain without the cells that no way from the start leads to."""
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
    """A place adds up what comes into it: lows of at most a half, each product and each sum rounded once.

    Then comes the remainder, at most half the total, times the inverse of the total, and for an end one sum.
    """
    places = chain.cells + len(chain.ends)
    into = np.bincount(chain.leads.ravel(), minlength=places)
    weights = np.repeat(np.array(chain.weights, dtype=np.float64), chain.cells)
    inflow = np.bincount(chain.leads.ravel(), weights, places) / (2 * chain.total)
    return float(((into + 7) * (inflow + 1)).sum())


def _leads(
    law: Law,
    system: System,
    *,
    purse: npt.NDArray[np.int64],
    multiples: npt.NDArray[np.int64],
    step: int,
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """[net, cell] → the next cell, or -1 for an end; and the bankrolls of those ends in the same order."""
    playing = len(purse)
    after = purse + multiples * np.array(law.values, dtype=np.int64)[:, None, None]
    following = _following(system, law.values)
    place = (after - (purse[0] if playing else 0)) // step
    stays = (place >= 0) & (place < playing)
    leads = np.where(stays, following[:, :, None] * playing + place, -1)
    return leads.reshape(len(law.values), -1), after[~stays]


def _following(system: System, nets: Sequence[int]) -> npt.NDArray[np.int64]:
    """[net, state] → the next state."""
    ways = {1: system.won, 0: system.level, -1: system.lost}
    return np.array([ways[(net > 0) - (net < 0)] for net in nets], dtype=np.int64)

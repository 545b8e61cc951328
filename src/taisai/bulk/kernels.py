"""The innermost loop: steps times a multiple, added to the players' totals, by NumPy or by numba."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import cache
from importlib.util import find_spec
from typing import Any, Final, TypeVar, cast

import numpy as np

from taisai.bulk.multiples import Places, Whole

Filed = Sequence[tuple[Places, Whole]]
"""Areas: of each, the players and steps of its bets."""
Adder = Callable[[Whole, Filed, int], None]
"""Adds steps × multiple to the totals of the players, for all bets of these areas."""

Function = TypeVar("Function", bound=Callable[..., Any])

WITHOUT_NUMBA: Final = "TAISAI_WITHOUT_NUMBA"
"""Set in the environment to anything, it leaves numba alone even where it is installed."""


def add_by_numpy(totals: Whole, areas: Filed, multiple: int) -> None:
    """Adds with NumPy alone."""
    if sum(steps.size for _, steps in areas) > totals.size:
        # More bets than players: add the steps as they are, and multiply once a player instead of once a bet.
        added = np.zeros_like(totals)
        for players, steps in areas:
            np.add.at(added, players, steps)
        added *= multiple
        totals += added
    else:
        for players, steps in areas:
            np.add.at(totals, players, steps * multiple)


def has_numba() -> bool:
    """Whether numba is installed and wanted."""
    return WITHOUT_NUMBA not in os.environ and find_spec("numba") is not None


def loads_numba() -> bool:
    """Whether numba is installed, wanted and can be loaded; the first time that takes about a second."""
    return has_numba() and _loads()


@cache
def _loads() -> bool:
    try:
        import numba  # noqa: F401
    except ImportError:  # it is there, for another NumPy
        return False
    return True


def compiled(function: Function, signature: object = None, **options: object) -> Function:
    """`function` as machine code that runs without the interpreter's lock; also a decorator.

    Without a signature numba compiles at the first call, for the types of that call. Numba keeps the machine
    code on disk where it finds a folder for it, so that later processes only load it.
    """
    import numba

    signatures = () if signature is None else (signature,)
    try:
        return cast(Function, numba.njit(*signatures, cache=True, nogil=True, **options)(function))
    except RuntimeError:  # numba finds no folder that it can write to
        return cast(Function, numba.njit(*signatures, nogil=True, **options)(function))


@cache
def compiled_adder() -> Adder:
    """Adds with a compiled loop. The first call in a process imports numba, which takes about a second."""
    loop = compiled(_loop, "void(int64[::1], intp[::1], int64[::1], int64)")

    def add_by_numba(totals: Whole, areas: Filed, multiple: int) -> None:
        for players, steps in areas:
            loop(totals, players, steps, multiple)

    return add_by_numba


def _loop(totals: Whole, players: Places, steps: Whole, multiple: int) -> None:
    for bet in range(players.size):
        totals[players[bet]] += steps[bet] * multiple

"""Compilation by numba, and the innermost loop of settlement, with NumPy or compiled."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import cache
from importlib.util import find_spec
from typing import Any, Final, TypeVar, cast

import numpy as np

from taisai.bulk.entry import Places, Whole

Filed = Sequence[tuple[Places, Whole]]  # for each area, the players and steps of its bets
Adder = Callable[[Whole, Filed, int], None]
"""Adds steps × multiple of all bets on these areas to the totals of the players."""

Function = TypeVar("Function", bound=Callable[..., Any])

NARROW: Final = np.dtype(np.uint32)
"""How the compiled loop reads players: its time is that of reading memory. NumPy indexes faster by intp."""
WITHOUT_NUMBA: Final = "TAISAI_WITHOUT_NUMBA"
"""If this environment variable is set, numba is not used even if it is installed."""


def add_by_numpy(totals: Whole, areas: Filed, multiple: int) -> None:
    if sum(steps.size for _, steps in areas) > totals.size:
        # More bets than players: add the steps, then multiply once per player instead of once per bet.
        added = np.zeros_like(totals)
        for players, steps in areas:
            np.add.at(added, players, steps)
        added *= multiple
        totals += added
    else:
        for players, steps in areas:
            np.add.at(totals, players, steps * multiple)


def has_numba() -> bool:
    """Whether numba is installed and may be used."""
    return WITHOUT_NUMBA not in os.environ and find_spec("numba") is not None


def loads_numba() -> bool:
    """Whether numba may be used and can be loaded; the first call takes about a second."""
    return has_numba() and _loads()


@cache
def _loads() -> bool:
    try:
        import numba  # noqa: F401
    except ImportError:  # installed for another version of NumPy
        return False
    return True


def compiled(function: Function, signature: object = None, **options: object) -> Function:
    """Compiles a function that runs without the interpreter's lock; also a decorator.

    Without a signature, numba compiles at the first call, for the types of that call. It stores the machine
    code on disk if it can, so that later processes only load it.
    """
    import numba

    signatures = () if signature is None else (signature,)
    try:
        return cast(Function, numba.njit(*signatures, cache=True, nogil=True, **options)(function))
    except RuntimeError:  # numba has no writable folder for its cache
        return cast(Function, numba.njit(*signatures, nogil=True, **options)(function))


@cache
def compiled_adder() -> Adder:
    """The compiled loop. The first call in a process imports numba, which takes about a second."""
    loop = compiled(_loop, "void(int64[::1], uint32[::1], int64[::1], int64)")

    def add_by_numba(totals: Whole, areas: Filed, multiple: int) -> None:
        for players, steps in areas:
            loop(totals, players.astype(NARROW, copy=False), steps, multiple)

    return add_by_numba


def _loop(totals: Whole, players: Places, steps: Whole, multiple: int) -> None:
    for bet in range(players.size):
        totals[players[bet]] += steps[bet] * multiple

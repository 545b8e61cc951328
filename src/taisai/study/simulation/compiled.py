"""Compiling a loop with numba: kept on disk where that is possible, without the interpreter's lock."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar, cast

import numba

F = TypeVar("F", bound=Callable[..., object])


def compiled(function: F) -> F:
    """The function as machine code, for whatever types it is first called with."""
    try:
        made = numba.njit(cache=True, nogil=True)(function)
    except RuntimeError:  # no folder that numba could keep the compiled code in
        made = numba.njit(nogil=True)(function)
    return cast(F, made)

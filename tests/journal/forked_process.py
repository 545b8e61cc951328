"""A process of its own, forked from a warm one: quick to start, and it may die of anything."""

from __future__ import annotations

import os
import traceback
import warnings
from collections.abc import Callable
from typing import NamedTuple


class Ended(NamedTuple):
    """What a child wrote, and how it ended."""

    said: str
    status: int


def in_child(work: Callable[[int], None]) -> Ended:
    """Does work in a child, which is given a pipe to write to; what goes wrong there is written, too."""
    reading, writing = os.pipe()
    with warnings.catch_warnings():
        # It is told to processes with threads; a child that waits for none of them has nothing to fear.
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if not child:
        try:
            work(writing)
        except BaseException:  # noqa: BLE001  the parent tells it
            os.write(writing, traceback.format_exc().encode())
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading, encoding="utf-8") as pipe:
        said = pipe.read()
    return Ended(said, os.waitpid(child, 0)[1])

"""The two tiers of the tests: `make test` searches a sample, `make prove` searches for long.

`TAISAI_PROVE` holds the length of a long search as a factor: 1 is the default length of `make prove`, 10 is
ten times that. Without it the tests take samples, which are drawn by the digest of the sources: the same
sources give the same sample, and every change of them gives another one.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from functools import cache
from hashlib import blake2b
from pathlib import Path
from random import Random
from typing import Final, TypeVar

T = TypeVar("T")

LENGTH: Final = float(os.environ.get("TAISAI_PROVE") or 0)
LONG: Final = LENGTH > 0
"""Whether this is a long search."""
_SOURCES: Final = Path(__file__).parents[1] / "src"
_SUFFIXES: Final = frozenset({".py", ".toml"})


def count(quick: int, long: int, most: int | None = None) -> int:
    """How many cases to search: `quick` in `make test`, `long` times the factor in `make prove`.

    `most` is the greatest number where there are no more cases than that.
    """
    if not LONG:
        return quick
    wanted = max(quick, round(long * LENGTH))
    return wanted if most is None else min(wanted, most)


@cache
def source_digest() -> int:
    """A number that changes with any source file of the package."""
    digest = blake2b(digest_size=8)
    for path in sorted(_SOURCES.rglob("*")):
        if path.suffix in _SUFFIXES and "__pycache__" not in path.parts:
            digest.update(path.relative_to(_SOURCES).as_posix().encode())
            digest.update(path.read_bytes())
    return int.from_bytes(digest.digest())


def drawn(what: str) -> Random:
    """Chance that depends on the sources and on a name alone: every worker draws the same."""
    return Random(f"{what} {source_digest()}")


def sampled(what: str, cases: Iterable[T], quick: int) -> list[T]:
    """All cases in a long search, else `quick` of them in their order; other sources give other cases."""
    every = list(cases)
    if LONG or len(every) <= quick:
        return every
    places = sorted(drawn(what).sample(range(len(every)), quick))
    return [every[place] for place in places]


def one_in(what: str, cases: Sequence[T], quick: int) -> list[T]:
    """All cases in a long search, else every `quick`th, from a first one that changes with the sources."""
    return list(cases) if LONG else list(cases[drawn(what).randrange(quick) :: quick])

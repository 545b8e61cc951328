"""Streams: as many independent sequences of random numbers as are wanted, all out of one seed.

Each stream is Chris Doty-Humphrey's sfc32 (three words and a counter), begun from the seed, the purpose and
the stream's own number, so that who draws it, when, and beside whom, changes no digit.
"""

from __future__ import annotations

from hashlib import sha256
from typing import Final

from taisai.rules.errors import RulesError

MOST_SEED: Final = 2**64 - 1
WORD: Final = 2**32
"""A draw is a whole number below this."""
WARMING: Final = 15
"""Draws thrown away before the first, until every bit of the beginning has touched every other."""


def key(seed: int, purpose: str) -> tuple[int, int, int, int]:
    """Four words that begin all streams of a seed and a purpose."""
    if type(seed) is not int or not 0 <= seed <= MOST_SEED:
        raise RulesError(f"expected a seed from 0 to 2^64 - 1, got {seed!r}")
    digest = sha256(f"taisai simulate {purpose} {seed}".encode("ascii")).digest()
    one, two, three, four = (int.from_bytes(digest[at : at + 8], "little") for at in range(0, 32, 8))
    return one, two, three, four

"""Numbers: what a ticket is called, which nobody can guess, and ids that a retry arrives at again."""

from __future__ import annotations

import hmac
from collections.abc import Iterable
from hashlib import sha256
from typing import Final

import msgspec

from taisai.journal import Engine

KEY: Final = "tickets/key"
"""Under which name the vault keeps the key that tickets' numbers are made with."""
KEY_BYTES: Final = 32
SIGNS: Final = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
"""Digits and letters without I, L, O and U, which are read for others."""
_BITS: Final = 95  # of a number: to try one that is good, among a million, takes some 10^22 tries
_COUNT: Final = _BITS // 5 + 1  # signs of a number, the last of which checks the others
_GROUP: Final = 4
_MISREAD: Final = str.maketrans("ILO", "110", " -")


def tickets_key(engine: Engine, fresh: bytes) -> bytes:
    """The key of this journal; `fresh` becomes it where there is none. In the writer's thread."""
    store = engine.journal.store
    known = store.secret(KEY)
    if known is not None:
        return known
    if len(fresh) < KEY_BYTES:
        raise ValueError(f"expected {KEY_BYTES} bytes that nobody can foretell, got {len(fresh)}")
    store.keep_secret(KEY, fresh)
    return fresh


def ticket_number(key: bytes, *parts: str) -> str:
    """The number of the ticket that is made for something; the same thing has the same number."""
    made = hmac.digest(key, _joined(parts), "sha256")
    value = int.from_bytes(made) >> (len(made) * 8 - _BITS)
    places = [value >> shift & 31 for shift in range(0, _BITS, 5)]
    return _grouped([*places, _check(places)])


def as_printed(text: str) -> str:
    """A ticket's number as it was printed, however it was typed; any other text as it came."""
    plain = text.upper().translate(_MISREAD)
    if len(plain) != _COUNT or not set(plain) <= set(SIGNS):
        return text
    places = [SIGNS.index(sign) for sign in plain]
    return _grouped(places) if places[-1] == _check(places[:-1]) else text


def short_id(kind: str, *parts: str) -> str:
    """An id for something, the same for the same parts; it tells nobody what they were."""
    return f"{kind}-{sha256(_joined((kind, *parts))).hexdigest()[:24]}"


def _joined(parts: Iterable[str]) -> bytes:
    return msgspec.json.encode(list(parts))  # 'a', 'bc' and 'ab', 'c' are two things


def _grouped(places: list[int]) -> str:
    plain = "".join(SIGNS[place] for place in places)
    return "-".join(plain[start : start + _GROUP] for start in range(0, len(plain), _GROUP))


def _check(places: list[int]) -> int:
    """Luhn's check with 32 signs: one that is wrong shows, and nearly every two that change places."""
    total = 0
    for distance, place in enumerate(reversed(places)):
        doubled = place * (2 - distance % 2)
        total += doubled // 32 + doubled % 32
    return -total % 32

"""The draw of the demonstration shaker: three faces out of a seed and the hash of the entry that closed bets.

The seed is committed, as its SHA-256, before bets open; the hash is known only when they close.
With the revealed seed, anyone repeats the draw:

>>> throw = Throw(table="SB1", round=1, shake=1, close=bytes(32))
>>> draw(bytes(32), throw)
(2, 3, 5)
"""

from __future__ import annotations

import hmac
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

DICE_LABEL: Final = b"taisai dice 1\n"
CARDS_LABEL: Final = b"taisai cards 1\n"
BYTE: Final = 1 << 8
TWO_BYTES: Final = 1 << 16
"""A shoe may have more than 256 cards."""
_DRAWN: Final = 3
_FACES: Final = 6


class Throw(NamedTuple):
    """What a draw depends on, together with its seed."""

    table: str
    round: int
    shake: int
    """1, and one more for each time that bets were opened again."""
    close: bytes
    """The hash of the entry that closed bets, for the last time where they were opened again."""


def draw(seed: bytes, throw: Throw) -> tuple[int, ...]:
    """Three dice."""
    numbers = stream(DICE_LABEL, seed, throw)
    return tuple(1 + below(_FACES, numbers, span=BYTE) for _ in range(_DRAWN))


def dealt(seed: bytes, throw: Throw, cards: Sequence[int]) -> tuple[int, ...]:
    """Three cards, without replacement; `cards` counts those not seen since the shuffle, face by face.

    Given what was seen, the next three of a shuffled shoe are any three of the others with the same chance,
    also if some were burnt unseen: it is the chance of a shoe that is shuffled once and dealt to its end.
    """
    numbers = _pairs(stream(CARDS_LABEL, seed, throw))
    left, faces = list(cards), []
    for _ in range(_DRAWN):
        face = face_at(left, below(sum(left), numbers, span=TWO_BYTES))
        left[face - 1] -= 1
        faces.append(face)
    return tuple(faces)


def stream(label: bytes, seed: bytes, throw: Throw) -> Iterator[int]:
    """The bytes of a draw, without end: HMAC-SHA256 under the seed, block after block."""
    for block in blocks(label, seed, throw):
        yield from block


def blocks(label: bytes, seed: bytes, throw: Throw) -> Iterator[bytes]:
    """The same, 32 bytes at a time."""
    what = label + f"{throw.table}\n{throw.round}\n{throw.shake}\n".encode() + throw.close
    counter = 0
    while True:
        yield hmac.digest(seed, what + counter.to_bytes(4, "big"), "sha256")
        counter += 1


def below(most: int, numbers: Iterator[int], *, span: int) -> int:
    """A number under `most`, each with the same chance if those under `span` have it; others are left out."""
    if not 0 < most <= span:
        raise ValueError(f"expected a number from 1 to {span}, got {most}")
    fair = span - span % most
    return next(number for number in numbers if number < fair) % most


def face_at(cards: Sequence[int], place: int) -> int:
    """The face of the card at a place, if the cards are in order: first the ones, then the twos."""
    for face, count in enumerate(cards, 1):
        if place < count:
            return face
        place -= count
    raise ValueError(f"expected a place among {sum(cards)} cards, got {place} beyond them")


def _pairs(numbers: Iterator[int]) -> Iterator[int]:
    while True:
        yield next(numbers) * BYTE + next(numbers)

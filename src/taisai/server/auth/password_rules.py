"""Which passwords people may choose: long enough, hard to guess, and in no known breach."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Final

from taisai.cage import FLOOR_LADDER
from taisai.game.vocabulary import folded

LEAST_PASSWORD: Final = 12  # characters: enough with a second factor and three tries
MOST_PASSWORD: Final = 128  # characters: enough for a sentence; a megabyte would block the hashing threads
LEAST_DIFFERENT: Final = 5  # different characters: refuses '121212121212'

LEAST_SCORE: Final = 3
"""Of zxcvbn, which knows some 90,000 common passwords, names, words and patterns: 10^8 guesses or more."""
MOST_ESTIMATED: Final = 32  # characters: the whole is no easier to guess, and more would take seconds
CONTEXT_WORDS: Final = (
    "taisai", "sicbo", "casino", "baccarat", "blackjack", "roulette", "jackpot", "marinabaysands",
    "resortsworld", "cage", "pit", "terminal", "console", "thisisapassword", "correcthorsebatterystaple",
    "winnerwinnerchickendinner", "changeme",
)  # fmt: skip
"""Words that someone guesses first in this place, beside the ranks, the house's name and the person's."""
LEAST_REST: Final = 8  # characters beside those words: as many as nobody guesses from a list
BREACHED_FILE: Final = Path(__file__).parent / "breached_passwords.bin"
"""Digests of the passwords of twelve characters or more among the million most frequent in known breaches."""
_DIGEST: Final = 6  # bytes of a digest: a password outside the set is refused once in 10^9


def weakness(password: str, person: str, house: str) -> str | None:
    """Why nobody should choose a password; None if they may. The text never contains the password."""
    if not LEAST_PASSWORD <= len(password) <= MOST_PASSWORD:
        return f"expected a password of {LEAST_PASSWORD} to {MOST_PASSWORD} characters, got {len(password)}"
    if len(set(password)) < LEAST_DIFFERENT:
        return f"the password has fewer than {LEAST_DIFFERENT} different characters"
    letters, name = _letters(password), _letters(person)
    if letters and name and not letters.replace(name, ""):
        return "the password is the person's name"
    return _guess(password, _known_words(person, house))


def _guess(password: str, known: Sequence[str]) -> str | None:
    """How somebody would guess a password; None if that takes too long."""
    if _score(password, known) < LEAST_SCORE:
        return "the password is easy to guess; four words that have nothing to do with each other are not"
    if is_breached(password):
        return "the password is known from a breach of another service; choose another"
    if _rest(password, known) < LEAST_REST:
        return "the password is little more than words that are guessed first here: names, ranks, the house"
    return None


def is_breached(password: str) -> bool:
    """Whether a password is in the set of breached ones, in whatever case."""
    digests, wanted = _breached(), breach_digest(password)
    count = len(digests) // _DIGEST
    place = bisect_left(range(count), wanted, key=lambda number: _digest_at(digests, number))
    return place < count and _digest_at(digests, place) == wanted


def breach_digest(password: str) -> bytes:
    """What the set of breached passwords has of a password."""
    return sha256(password.casefold().encode("utf-8", "surrogatepass")).digest()[:_DIGEST]


def _digest_at(digests: bytes, number: int) -> bytes:
    return digests[number * _DIGEST : (number + 1) * _DIGEST]


@cache
def _breached() -> bytes:
    return BREACHED_FILE.read_bytes()


def _known_words(person: str, house: str) -> list[str]:
    """The words of this place: the list above, every rank, and the names of the house and the person."""
    ranks = [form for rank in FLOOR_LADDER for form in (_letters(rank), *rank.split("-"))]
    own = [form for name in (person, house) for form in (name, _letters(name), *folded(name).split()) if form]
    return [*CONTEXT_WORDS, *ranks, *own]


def _rest(password: str, known: Sequence[str]) -> int:
    """How many characters of a password count beside the words of this place; all, if it has none of them."""
    left = plain = "".join(filter(str.isalnum, folded(password)))
    for word in sorted({"".join(filter(str.isalnum, folded(word))) for word in known}, key=len, reverse=True):
        if len(word) > 1:
            left = left.replace(word, "")
    return len(left) if left != plain else len(password)


def _score(password: str, known: Sequence[str]) -> int:
    """How hard a password is to guess, from 0 to 4, as it is written and without capitals and blanks."""
    from zxcvbn import zxcvbn  # it takes a tenth of a second to load, and few commands need it

    forms = {password[:MOST_ESTIMATED], "".join(folded(password).split())[:MOST_ESTIMATED]}
    return min(int(zxcvbn(form, user_inputs=known)["score"]) for form in forms if form)


def _letters(text: str) -> str:
    return "".join(filter(str.isalpha, folded(text)))

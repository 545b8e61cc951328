"""Passwords: what may be one, and its argon2id hash."""

from __future__ import annotations

import unicodedata
from typing import Final, NamedTuple

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from taisai.game.names import folded
from taisai.server.runtime.clock import Entropy

LEAST_PASSWORD: Final = (
    12  # characters: with three tries and a second factor, more than a guesser gets through
)
MOST_PASSWORD: Final = 128  # characters: a sentence fits, a megabyte to be hashed does not
LEAST_DIFFERENT: Final = 5  # different characters: '121212121212' is long and no secret
SALT: Final = 16  # bytes, as RFC 9106 recommends

_COMMONEST: Final = frozenset(
    """
    0987654321qwerty 1234567890ab 1234567890qwerty 123456789abc 123456789012 1q2w3e4r5t6y 1qaz2wsx3edc
    abc123456789 abcd12345678 abcdefghijkl administrator baccarat1234 blackjack123 changeme1234
    changemenow! casinocasino correcthorsebatterystaple dragondragon football1234 iloveyou1234
    iloveyouforever jackpot12345 letmein12345 letmeinletmein marinabaysands monkeymonkey mypassword123
    nopassword12 p@ssw0rd1234 passw0rd1234 password1234 password12345 password123456 passwordpassword
    princess1234 q1w2e3r4t5y6 qazwsxedcrfv qwerty123456 qwertyqwerty qwertyuiop12 qwertyuiop[]
    qwertyuiop123 qwertyuiopas resortsworld rouletteroulette sicbosicbosicbo sunshine1234 superman1234
    taisaitaisai thisisapassword trustno1trustno1 welcome12345 welcome123456 welcomewelcome winnerwinner
    winnerwinnerchickendinner zaq12wsxcde3 zxcvbnm12345
    """.split()  # noqa: SIM905  a list of words is read as one
)


class Cost(NamedTuple):
    """What one hash costs; the default is RFC 9106's second choice, for machines that have other work."""

    time: int = 3
    """Passes over the memory."""
    memory: int = 64 * 1024
    """KiB."""
    parallelism: int = 4


def weakness(password: str, person: str) -> str | None:
    """Why a text is no password for someone; never with the text itself."""
    if not LEAST_PASSWORD <= len(password) <= MOST_PASSWORD:
        return f"expected a password of {LEAST_PASSWORD} to {MOST_PASSWORD} characters, got {len(password)}"
    if len(set(password)) < LEAST_DIFFERENT:
        return f"expected a password of at least {LEAST_DIFFERENT} different characters, got fewer"
    if "".join(folded(password).split()) in _COMMONEST:
        return "expected a password that few have, got one of the commonest"
    letters, name = _letters(password), _letters(person)
    if letters and name and not letters.replace(name, ""):
        return "expected a password, got the person's own name"
    return None


class Passwords:
    """Makes and checks hashes at one cost."""

    def __init__(self, entropy: Entropy, cost: Cost | None = None) -> None:
        cost = cost or Cost()
        self._entropy = entropy
        self._hasher = PasswordHasher(
            time_cost=cost.time, memory_cost=cost.memory, parallelism=cost.parallelism, salt_len=SALT
        )
        # Checked in place of the hash that a stranger has not, so that he waits as long as anyone.
        self._nobodys = self._hasher.hash(entropy(32), salt=entropy(SALT))

    def hashed(self, password: str) -> str:
        """The hash to keep, with its salt and cost."""
        return self._hasher.hash(_written(password), salt=self._entropy(SALT))

    def verified(self, hash_: str | None, password: str) -> bool:
        """Whether it is the password; without a hash it takes as long and is not."""
        possible = hash_ is not None and len(password) <= MOST_PASSWORD
        try:
            self._hasher.verify(
                hash_ if hash_ is not None and possible else self._nobodys,
                _written(password[:MOST_PASSWORD]),
            )
        except (VerificationError, InvalidHashError):
            return False
        return possible

    def is_outdated(self, hash_: str) -> bool:
        """Whether a hash was made at another cost than hashes are made at now."""
        return self._hasher.check_needs_rehash(hash_)


def _written(password: str) -> bytes:
    """The bytes that are hashed, the same from every keyboard; no text fails, or an error would quote it."""
    return unicodedata.normalize("NFKC", password).encode("utf-8", "surrogatepass")


def _letters(text: str) -> str:
    return "".join(filter(str.isalpha, folded(text)))

"""Passwords: what may be one, what is kept of it, and that strangers wait as long as anyone."""

from __future__ import annotations

import secrets
import time
from typing import Any

import pytest
from argon2 import PasswordHasher

from taisai.cage import FLOOR_LADDER
from taisai.server.auth.credentials import Cost, Passwords
from taisai.server.auth.password_rules import (
    BREACHED_FILE,
    CONTEXT_WORDS,
    MOST_PASSWORD,
    is_breached,
    weakness,
)
from tests.server.auth.staffed_house import DAN, TINY, Staffed, counted

GOOD = "71 blue kettles sing"
LONGEST = ("71 blue kettles sing of 9 red looms " * 4)[:MOST_PASSWORD]
EASY = "the password is easy to guess; four words that have nothing to do with each other are not"


class Spy:
    """A hasher that counts what it is asked."""

    def __init__(self, hasher: PasswordHasher) -> None:
        self._hasher = hasher
        self.verified: list[str] = []

    def verify(self, hash_: str, password: bytes) -> bool:
        """Notes the cost at which a hash was made."""
        self.verified.append(hash_.rsplit("$", 2)[0])
        return self._hasher.verify(hash_, password)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._hasher, name)


@pytest.mark.parametrize(
    ("password", "says"),
    [
        ("a1b2c3d4e5f", "expected a password of 12 to 128 characters, got 11"),
        ("q7mz2kx9wt4v", None),
        (LONGEST, None),
        (LONGEST + "z", "expected a password of 12 to 128 characters, got 129"),
        ("121212121212", "the password has fewer than 5 different characters"),
        ("password1234", EASY),
        ("PassWord1234", EASY),
        ("Correct Horse Battery Staple", EASY),
        ("a1b2c3d4e5f6", EASY),
        ("Password123!", EASY),
        ("P@ssw0rd1234", EASY),
        ("iloveyou2026", EASY),
        ("liverpool1892", EASY),
        ("qwertyuiop[]", EASY),
        ("dragon12345!", EASY),
        ("abcdefghijkl", EASY),
        ("baccarat1234", EASY),
        ("MarinaBaySands1", EASY),
        ("Christopher.88", EASY),
        ("abcd1" * 20, EASY),
        ("christopher wu 1", "the password is the person's name"),
        ("ChristopherWu2026", "the password is the person's name"),
        ("christopherwuchristopherwu", "the password is the person's name"),
        ("christopher wu likes tea", None),
        ("829 471 036 5", None),
    ],
)
def test_what_may_be_a_password(password: str, says: str | None) -> None:
    assert weakness(password, "Christopher Wu", "Lotus Palace") == says


CONTEXT = "the password is little more than words that are guessed first here: names, ranks, the house"
BREACHED = "the password is known from a breach of another service; choose another"


@pytest.mark.parametrize(
    ("password", "says"),
    [
        ("Lotus.Palace.77", CONTEXT),
        ("palace of lotus", CONTEXT),
        ("cagecashier2026", CONTEXT),
        ("taisai sicbo 888", CONTEXT),
        ("ShiftManager2026!", EASY),
        ("dealer dealer 99", EASY),
        ("Christopher at Lotus", CONTEXT),
        ("casino 829471036512", None),
    ],
)
def test_words_of_this_place_make_no_password(password: str, says: str | None) -> None:
    assert weakness(password, "Christopher Wu", "Lotus Palace") == says


def test_every_word_of_the_list_is_refused_with_a_year() -> None:
    for word in (*CONTEXT_WORDS, *FLOOR_LADDER):
        password = f"{word}.{word}.2026"
        assert weakness(password, "Christopher Wu", "Lotus Palace"), word


@pytest.mark.parametrize("password", ["23WKoa0FP78dk", "23wkoa0fp78DK", "ghjatccbjyfk", "love777321777"])
def test_a_password_of_a_known_breach_is_refused(password: str) -> None:
    """The estimator alone lets these pass."""
    assert weakness(password, "Christopher Wu", "Lotus Palace") == BREACHED


def test_the_set_of_breached_passwords_is_large_sorted_and_no_list_of_everything() -> None:
    body = BREACHED_FILE.read_bytes()
    digests = [body[start : start + 6] for start in range(0, len(body), 6)]
    assert len(set(digests)) == len(digests) > 40_000
    assert digests == sorted(digests)
    assert len(digests[-1]) == 6
    assert not any(is_breached(f"{GOOD} {number}") for number in range(1_000))


def test_a_password_does_not_grow_old() -> None:
    staffed = Staffed()
    staffed.now += 10 * 365 * 24 * 3_600_000
    assert staffed.signs_in(DAN)


def test_the_longest_password_is_estimated_in_time() -> None:
    """The estimator takes seconds for some texts; only as much is estimated as it takes a moment for."""
    began = time.process_time()
    weakness(("4@8({[<369!1|70$5+%2" * 7)[:MOST_PASSWORD], "Christopher Wu", "Lotus Palace")
    assert time.process_time() - began < 10


def test_a_name_without_letters_bars_no_password() -> None:
    assert weakness(GOOD, "007", "88") is None
    assert weakness("829471036512", "007", "88") is None


def test_a_password_is_known_again_and_no_other_is() -> None:
    passwords = Passwords(counted(), TINY)
    kept = passwords.hashed(GOOD)
    assert kept.startswith("$argon2id$v=19$m=8,t=1,p=1$")
    assert GOOD not in kept
    assert passwords.verified(kept, GOOD)
    assert not passwords.verified(kept, GOOD + " ")
    assert not passwords.verified(kept, "")
    assert passwords.hashed(GOOD) != kept, "each has a salt of its own"


@pytest.mark.parametrize(
    ("set_", "typed"),
    [
        ("Caf\u00e9 au lait 99", "cafe\u0301 au lait 99"),
        ("caf\u00e9 au lait 99", "cafe\u0301 au lait 99"),
        ("\uff11\uff12 red lanterns", "12 red lanterns"),
        (GOOD, GOOD.upper()),
        (GOOD, f" {GOOD}"),
    ],
)
def test_a_password_counts_exactly_as_it_was_typed(set_: str, typed: str) -> None:
    passwords = Passwords(counted(), TINY)
    kept = passwords.hashed(set_)
    assert passwords.verified(kept, set_)
    assert not passwords.verified(kept, typed)


@pytest.mark.parametrize("hash_", [None, "", "rubbish", "$argon2id$rubbish"])
def test_without_a_hash_nothing_is_the_password(hash_: str | None) -> None:
    assert not Passwords(counted(), TINY).verified(hash_, GOOD)


@pytest.mark.parametrize("odd", ["\ud800" * 12, "\x00" * 12, "é" * MOST_PASSWORD * 2])
def test_no_text_is_an_error(odd: str) -> None:
    passwords = Passwords(counted(), TINY)
    assert not passwords.verified(passwords.hashed(GOOD), odd)


def test_a_longer_text_than_may_be_one_is_not_the_password_that_it_begins_with() -> None:
    passwords = Passwords(counted(), TINY)
    assert passwords.verified(passwords.hashed(LONGEST), LONGEST)
    assert not passwords.verified(passwords.hashed(LONGEST), LONGEST + "z")


def test_anyone_who_it_is_one_hash_of_the_same_cost_is_checked() -> None:
    passwords = Passwords(counted(), TINY)
    kept = passwords.hashed(GOOD)
    spy = Spy(passwords._hasher)
    passwords._hasher = spy  # type: ignore[assignment]
    for hash_, password in [
        (kept, GOOD),
        (kept, "wrong"),
        (None, GOOD),
        (kept, "x" * 500),
        (None, "x" * 500),
    ]:
        passwords.verified(hash_, password)
    assert spy.verified == ["$argon2id$v=19$m=8,t=1,p=1"] * 5


def test_a_hash_of_another_cost_is_outdated() -> None:
    passwords, dearer = (
        Passwords(counted(), TINY),
        Passwords(counted(), Cost(time=2, memory=8, parallelism=1)),
    )
    kept = passwords.hashed(GOOD)
    assert not passwords.is_outdated(kept)
    assert dearer.is_outdated(kept)
    assert dearer.verified(kept, GOOD), "it is still known"


def test_the_cost_is_that_of_rfc_9106_for_little_memory() -> None:
    assert Passwords(secrets.token_bytes).hashed(GOOD).startswith("$argon2id$v=19$m=65536,t=3,p=4$")

"""Numbers of things as people type them: exact, bounded, one clear line otherwise."""

from __future__ import annotations

import pytest

from taisai.cli.asked import count
from taisai.rules import RulesError

MOST = 10**15


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1", 1),
        ("1000", 1_000),
        ("1_000_000", 1_000_000),
        ("1e9", 10**9),
        ("1E9", 10**9),
        ("1e+9", 10**9),
        ("1.5e6", 1_500_000),
        ("2.50e1", 25),
        ("7.0", 7),
        ("0.0000001e20", 10**13),
        ("1e15", MOST),
        ("1000000000000000", MOST),
        ("999.999999999999e12", 999_999_999_999_999),  # a float would still hold it,
        ("0.999999999999999e15", 999_999_999_999_999),  # and one of these would not be whole
    ],
)
def test_what_is_read(text: str, expected: int) -> None:
    assert count(text, "--rounds", MOST) == expected


@pytest.mark.parametrize(
    "text",
    [
        *("", " ", "-1", "+1", "0", "0e9", "1.5", "1e", "e9", ".5e1", "1.e3", "1e-3", "_1", "1_", "1__0"),
        *("nan", "inf", "1e30", "1e16", "1000000000000001", "1.0000000000000001e15", "1e999", "1e9999"),
        *("٣", "1,000", "0x10", "1e3e3", "9" * 101, "1\n"),
    ],
)
def test_what_is_not(text: str) -> None:
    with pytest.raises(RulesError, match="expected --rounds as a whole number from 1 to 1e15"):
        count(text, "--rounds", MOST)


def test_the_least_may_be_another() -> None:
    assert count("0", "--bankroll", 10, least=0) == 0
    with pytest.raises(RulesError, match="from 2 to 10,000, such as 1000 or 1e3, got '1'"):
        count("1", "--workers", 10_000, least=2)

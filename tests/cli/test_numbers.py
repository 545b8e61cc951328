"""Numbers of things as people type them: exact, bounded, one clear line otherwise."""

from __future__ import annotations

from fractions import Fraction

import pytest

from taisai.cli.values import count, share, whole
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
        *(
            "",
            " ",
            "-1",
            "-1e3",
            "+1",
            "0",
            "0e9",
            "1.5",
            "1e",
            "e9",
            ".5e1",
            "1.e3",
            "1e-3",
            "_1",
            "1_",
            "1__0",
        ),
        *("nan", "inf", "1e30", "1e16", "1000000000000001", "1.0000000000000001e15", "1e999", "1e9999"),
        *("٣", "1,000", "0x10", "1e3e3", "9" * 101, "1\n"),
    ],
)
def test_what_is_not(text: str) -> None:
    with pytest.raises(RulesError, match="expected a whole number from 1 to 1e15"):
        count(text, "--rounds", MOST)


def test_the_least_may_be_another() -> None:
    assert count("0", "--bankroll", 10, least=0) == 0
    with pytest.raises(RulesError, match="from 2 to 10,000, such as 1000 or 1e3, got '1'"):
        count("1", "--workers", 10_000, least=2)


def test_the_least_may_be_below_nothing() -> None:
    assert count("-1e3", "--target", 10**30, least=-(10**30)) == -1_000
    with pytest.raises(RulesError, match="expected a whole number from -1e30 to 1e30"):
        count("-1e31", "--target", 10**30, least=-(10**30))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1e3", 1_000),
        ("-1e3", -1_000),
        ("-1.5e3", -1_500),
        ("-0.5e1", -5),
        ("1_000", 1_000),
        ("0", 0),
        ("9" * 100, 10**100 - 1),
        ("-" + "9" * 100, 1 - 10**100),
    ],
)
def test_whole_numbers_are_read_alike_wherever_one_is_asked_for(text: str, expected: int) -> None:
    assert whole(text, "the stake", such_as="1050") == expected


@pytest.mark.parametrize(
    "text", ["", "1.5", "-", "--1", "-+1", "1e-3", "1e100", "-1e100", "9" * 101, "1e9999"]
)
def test_what_is_no_whole_number(text: str) -> None:
    with pytest.raises(RulesError, match="expected a whole number of at most 100 digits"):
        whole(text, "the stake", such_as="1050")


@pytest.mark.parametrize(
    ("text", "expected"),
    [("0.75", Fraction(3, 4)), (".75", Fraction(3, 4)), ("3/4", Fraction(3, 4)), ("1", Fraction(1)),
     ("1.0", Fraction(1)), ("2/3", Fraction(2, 3)), ("0.001", Fraction(1, 1000))],
)  # fmt: skip
def test_a_share_is_read(text: str, expected: Fraction) -> None:
    assert share(text, "--penetration") == expected


@pytest.mark.parametrize(
    "text",
    ["", "0", "0.0", "1.5", "-0.5", "1/0", "0/0", "4/3", "1/2/3", "/2", "1/", ".", "1.", "nan", "inf", "half",
     "1e-3", "1e99999999", "1e-99999999", "0." + "1" * 99, "٣/٤"],
)  # fmt: skip
def test_what_is_no_share_is_refused_at_once(text: str) -> None:
    with pytest.raises(RulesError, match=r"expected a share above 0 and at most 1, such as 0.75 or 3/4"):
        share(text, "--penetration")

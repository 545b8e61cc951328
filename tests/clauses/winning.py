"""Which of the 56 outcomes win a kind of bet, and at what odds: from the documents, not from the compiler."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import cache
from itertools import combinations_with_replacement
from typing import Final

Roll = tuple[int, int, int]
Paid = Mapping[str, Fraction]
"""Outcome → what one unit wins there; it loses on every other."""

FACES: Final = "1 2 3 4 5 6"
ROLLS: Final[tuple[Roll, ...]] = tuple(combinations_with_replacement(range(1, 7), 3))
TRIPLES: Final = ("111", "222", "333", "444", "555", "666")


def name_of(roll: Roll) -> str:
    """A roll as an outcome is written, faces ascending."""
    return "".join(map(str, roll))


OUTCOME_NAMES: Final = tuple(map(name_of, ROLLS))


def where(wins: Callable[[Roll], bool], odds: str) -> dict[str, Fraction]:
    """The outcomes on which a bet wins, all at the same odds to 1."""
    return {name_of(roll): Fraction(odds) for roll in ROLLS if wins(roll)}


def alike(roll: Roll) -> bool:
    """Whether all three dice agree."""
    return roll[0] == roll[1] == roll[2]


@cache
def sums_but_no_triple(first: int, last: int, step: int, odds: str) -> Paid:
    """Small, Big, Odd, Even: the totals from first to last, never with the dice alike."""
    return where(lambda roll: sum(roll) in range(first, last + 1, step) and not alike(roll), odds)


@cache
def sums_to(total: int, odds: str) -> Paid:
    """One chosen total, however the dice make it up."""
    return where(lambda roll: sum(roll) == total, odds)


@cache
def all_alike(odds: str) -> Paid:
    """Any triple."""
    return where(alike, odds)


@cache
def all_three(number: int, odds: str) -> Paid:
    """One chosen triple."""
    return where(lambda roll: roll.count(number) == 3, odds)


@cache
def two_or_three(number: int, odds: str) -> Paid:
    """One chosen double, which three dice of its number make too; paid once."""
    return where(lambda roll: roll.count(number) >= 2, odds)


@cache
def just_two(number: int, odds: str) -> Paid:
    """One chosen double to the letter: two dice of its number and no third."""
    return where(lambda roll: roll.count(number) == 2, odds)


@cache
def both_show(numbers: str, odds: str) -> Paid:
    """A pair of different numbers, both on the dice, one of them perhaps twice."""
    return where(lambda roll: int(numbers[0]) in roll and int(numbers[1]) in roll, odds)


@cache
def just_these(numbers: str, odds: str) -> Paid:
    """These three dice and no others."""
    return where(lambda roll: sorted(map(int, numbers)) == list(roll), odds)


@cache
def three_of_four(numbers: str, odds: str) -> Paid:
    """Three different numbers out of four."""
    return where(lambda roll: len({int(number) for number in numbers} & set(roll)) == 3, odds)


@cache
def by_count(number: int, one: str, two: str, three: str) -> Paid:
    """A single number: the odds go by how many dice show it."""
    paid: dict[str, Fraction] = {}
    for times, odds in enumerate((one, two, three), 1):
        paid |= _on_exactly(number, times, odds)
    return paid


def _on_exactly(number: int, times: int, odds: str) -> dict[str, Fraction]:
    return where(lambda roll: roll.count(number) == times, odds)


def for_each(kind: str, numbers: str, paid: Callable[..., Paid], *odds: str) -> dict[str, Paid]:
    """The same kind of bet on each of several numbers, which stand in one text."""
    return {f"{kind}-{number}": paid(_named(number), *odds) for number in numbers.split()}


def _named(number: str) -> int | str:
    """A single face as a number; several as they are printed."""
    return int(number) if len(number) == 1 else number


def totals(odds: Mapping[tuple[int, int], str]) -> dict[str, Paid]:
    """The totals as the documents print them, two by two."""
    return {f"total-{total}": sums_to(total, to_one) for both, to_one in odds.items() for total in both}

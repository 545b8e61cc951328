"""The six winning conditions against a plain reading of each, over every outcome and every area."""

from __future__ import annotations

from itertools import combinations_with_replacement, product

import pytest

from taisai.rules import CATALOGUE, OUTCOMES, Condition, Outcome
from taisai.rules.pay import condition_fault, winning_places

FACES = range(1, 7)
NUMBERS = [
    (),
    *(c for size in (1, 2, 3, 4) for c in combinations_with_replacement(FACES, size)),
    *((n,) for n in range(3, 19)),
    *(numbers for numbers in CATALOGUE.values() if max(numbers, default=0) > 6),
]


def wins(condition: Condition, outcome: Outcome, numbers: tuple[int, ...], dice: int | None) -> bool:
    """The condition as a person would say it."""
    faces = outcome.faces
    triple = faces[0] == faces[1] == faces[2]
    if condition is Condition.TOTAL:
        return sum(faces) in numbers
    if condition is Condition.TOTAL_NOT_TRIPLE:
        return sum(faces) in numbers and not triple
    if condition is Condition.ANY_TRIPLE:
        return triple
    if condition is Condition.SHOWS:
        return all(faces.count(n) >= numbers.count(n) for n in numbers)
    if condition is Condition.EXACTLY:
        return faces.count(numbers[0]) == dice
    return len(set(faces)) == 3 and set(faces) <= set(numbers)


def test_there_are_at_most_six() -> None:
    assert len(Condition) <= 6


@pytest.mark.parametrize("condition", Condition)
def test_a_condition_wins_where_a_person_would_say_so(condition: Condition) -> None:
    tried = 0
    for numbers, dice in product(NUMBERS, (1, 2, 3) if condition is Condition.EXACTLY else (None,)):
        if condition_fault(condition, numbers, dice) is None:
            tried += 1
            won = tuple(o.index for o in OUTCOMES if wins(condition, o, numbers, dice))
            assert winning_places(condition, numbers, dice) == won, (numbers, dice)
            assert won
    assert tried


@pytest.mark.parametrize(
    ("condition", "numbers", "dice"),
    [
        (Condition.ANY_TRIPLE, (1,), None),
        (Condition.SHOWS, (), None),
        (Condition.SHOWS, (7,), None),
        (Condition.SHOWS, (0,), None),
        (Condition.SHOWS, (1, 2, 3, 4), None),
        (Condition.EXACTLY, (1, 2), 1),
        (Condition.EXACTLY, (), 1),
        (Condition.THREE_DIFFERENT, (1, 2), None),
        (Condition.THREE_DIFFERENT, (1, 1, 2), None),
        (Condition.THREE_DIFFERENT, (1, 2, 3, 4, 5, 6, 6), None),
        (Condition.TOTAL, (), None),
        (Condition.TOTAL, (2,), None),
        (Condition.TOTAL, (19,), None),
        (Condition.TOTAL_NOT_TRIPLE, (3,), None),
        (Condition.TOTAL_NOT_TRIPLE, (18,), None),
        (Condition.TOTAL_NOT_TRIPLE, (3, 18), None),
    ],
)
def test_numbers_that_do_not_fit_or_could_never_win_are_at_fault(
    condition: Condition, numbers: tuple[int, ...], dice: int | None
) -> None:
    assert condition_fault(condition, numbers, dice)

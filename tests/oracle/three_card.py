"""Marina Bay Sands, 3 Card Sic Bo: three cards instead of dice, and the sections of 3.6 alone."""

from __future__ import annotations

from fractions import Fraction

from .dice import PayTable, Roll, Verdict

NAMED = ("small", "big", "odd", "even", "any-triple")

TOTALS_4_1_2 = ((4, 17, 62), (5, 16, 31), (6, 15, 18), (7, 14, 12), (8, 13, 8), (9, 12, 7), (10, 11, 6))

AREAS = NAMED + tuple(f"total-{total}" for low, high, _ in TOTALS_4_1_2 for total in (low, high))


def called(cards: Roll) -> dict[str, Verdict]:
    """The sections that match three cards (3.5, 3.9), with what 4.1.1 and 4.1.2 pay on them."""
    first, second, third = cards
    points = first + second + third
    triple = first == second and second == third
    lit: dict[str, Verdict] = {}
    if triple:
        lit["any-triple"] = Verdict(Fraction(31), "4.1.1")
    if not triple and points in (4, 5, 6, 7, 8, 9, 10):
        lit["small"] = Verdict(Fraction(1), "4.1.1")
    if not triple and points in (11, 12, 13, 14, 15, 16, 17):
        lit["big"] = Verdict(Fraction(1), "4.1.1")
    if not triple and points in (5, 7, 9, 11, 13, 15, 17):
        lit["odd"] = Verdict(Fraction(1), "4.1.1")
    if not triple and points in (4, 6, 8, 10, 12, 14, 16):
        lit["even"] = Verdict(Fraction(1), "4.1.1")
    for low, high, odds in TOTALS_4_1_2:
        # No exception is made for triples here: three cards of 2 are a total of 6 like any other.
        if points in (low, high):
            lit[f"total-{points}"] = Verdict(Fraction(odds), "4.1.2")
    return lit


def losing_clause(_area: str, _cards: Roll) -> str:
    """A section that the cards do not match does not win: 3.5 is all the document says of losers."""
    return "3.5"


CARDS = PayTable("mbs-3-card-sic-bo", ("A", "B"), AREAS, called, losing_clause)

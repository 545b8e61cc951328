"""Numbers as text: fractions of any length, and only those decimals that are certain."""

from __future__ import annotations

from fractions import Fraction
from math import ceil, floor, log10
from typing import Final

MOST_DECIMALS: Final = 20
"""Decimals that a report shows at most: more is for machines."""
_PIECE: Final = 4_000  # digits that Python turns into text without being told that it may


def whole_text(number: int) -> str:
    """A whole number in decimals, however long."""
    if number < 0:
        return f"-{whole_text(-number)}"
    pieces = []
    piece: int = 10**_PIECE
    while number >= piece:
        number, rest = divmod(number, piece)
        pieces.append(f"{rest:0{_PIECE}d}")
    return "".join((str(number), *reversed(pieces)))


def fraction_text(value: Fraction) -> str:
    """A fraction as '1/36', a whole number as '7'."""
    if value.denominator == 1:
        return whole_text(value.numerator)
    return f"{whole_text(value.numerator)}/{whole_text(value.denominator)}"


def decimal_text(value: Fraction, most: int = MOST_DECIMALS) -> str:
    """A fraction in decimals, rounded to so many, without zeros at the end."""
    scaled = round(value * 10**most)
    whole, rest = divmod(abs(scaled), 10**most)
    text = f"{whole}.{rest:0{most}d}".rstrip("0").rstrip(".")
    return f"-{text}" if scaled < 0 else text


def certain_decimals(error: float, most: int = MOST_DECIMALS) -> int:
    """How many decimals of a figure with this error are right, give or take one in the last."""
    return most if error <= 0 else max(0, min(most, floor(-log10(2 * error))))


def printed_decimals(error: float) -> int:
    """How many decimals it takes that rounding to them is no more than this error."""
    return MOST_DECIMALS if error <= 0 else max(0, ceil(-log10(2 * error)))


def got(value: object) -> str:
    """What was given instead of a whole number, or a whole number outside its bounds, for an error."""
    return f"{value:,}" if type(value) is int else repr(value)


def told(value: Fraction | float, error: float) -> str:
    """A probability for the eye: a percentage as exact as it is known, at most twelve decimals of it."""
    exact = Fraction(value)
    if error > 0 and exact <= Fraction(error):
        return f"below {error:.0e}"
    if 0 < exact < Fraction(1, 10**8):
        return power_text(exact)
    decimals = max(0, min(6, certain_decimals(error) - 2))
    return f"{round(exact * 100 * 10**decimals) / 10**decimals:.{decimals}f} %"


def power_text(value: Fraction) -> str:
    """A very small fraction as 1.23e-45, whatever a float could hold."""
    digits = len(whole_text(value.denominator)) - len(whole_text(value.numerator))
    scaled = value * Fraction(10) ** digits
    if scaled < 1:
        scaled, digits = scaled * 10, digits + 1
    return f"{float(scaled):.2f}e-{digits}"

"""Odds as the documents print them: "8.5 to 1"."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Final, NamedTuple

from taisai.rules.errors import RulesError

_ODDS: Final = re.compile(r"(0|[1-9][0-9]{0,5})(\.[0-9]{1,3})? to ([1-9][0-9]{0,5})", re.ASCII)
EXPECTED: Final = "odds like '8.5 to 1' or '6 to 5'"


class Odds(NamedTuple):
    """What a winning bet wins on top of its stake, as printed.

    >>> Odds.parse("8.5 to 1").net
    Fraction(17, 2)
    >>> Odds.parse("8:1")
    Traceback (most recent call last):
    taisai.rules.errors.RulesError: expected odds like '8.5 to 1' or '6 to 5', got '8:1'
    """

    net: Fraction
    """Won per unit staked; first, so that odds sort by it."""
    text: str

    @staticmethod
    def parse(text: str) -> Odds:
        """Reads "x to y", and nothing looser."""
        match = _ODDS.fullmatch(text)
        if match is None:
            raise RulesError(f"expected {EXPECTED}, got {text!r}")
        whole, decimals, per = match.groups()
        thousandths = int(whole) * 1000 + (int(decimals[1:].ljust(3, "0")) if decimals else 0)
        if thousandths == 0:
            raise RulesError(f"expected {EXPECTED} that win something, got {text!r}")
        return Odds(Fraction(thousandths, 1000 * int(per)), text)

    def __str__(self) -> str:
        return self.text

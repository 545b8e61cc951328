"""Penetration: how many rounds a shoe is dealt before it is shuffled."""

from __future__ import annotations

from fractions import Fraction

from taisai.rules.errors import RulesError
from taisai.rules.outcomes import DICE


def rounds_dealt(cards: int, penetration: Fraction) -> int:
    """How many rounds are dealt before the shuffle: a round begins while less than this share is dealt.

    So it is at a table with that setting.

    >>> rounds_dealt(288, Fraction(1, 2)), rounds_dealt(288, Fraction(1))
    (48, 96)
    """
    if not 0 < penetration <= 1:
        raise RulesError(
            f"expected a penetration above 0 and at most 1, such as 0.75, got {float(penetration):g}"
        )
    whole, rest = divmod(penetration.numerator * cards, DICE * penetration.denominator)
    return max(1, min(whole + (rest > 0), cards // DICE))

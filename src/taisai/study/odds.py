"""Exact odds: a row of the matrix times the chances."""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

from taisai.rules.areas import AreaId
from taisai.rules.chance import Chance
from taisai.rules.matrix import Matrix
from taisai.rules.pay import Odds


class AreaOdds(NamedTuple):
    """What a bet on an area is worth, exactly, per unit staked."""

    id: AreaId
    odds: tuple[Odds, ...]
    win_probability: Fraction
    house_edge: Fraction
    variance: Fraction
    """Of the net per unit staked."""


def area_odds(matrix: Matrix, chance: Chance) -> tuple[AreaOdds, ...]:
    """Win probability, house edge and variance of every area.

    >>> from taisai.rules import rulebook
    >>> book = rulebook("rws-sic-bo-etg-v8")
    >>> small = area_odds(book.matrix("A"), book.chance())[0]
    >>> small.id, small.win_probability, small.house_edge
    ('small', Fraction(35, 72), Fraction(1, 36))
    """
    weights, total = chance.weights, chance.total
    unit = total * matrix.denominator
    square = unit * unit
    # Many areas follow one law (all fifteen pairs do), and three exact fractions cost more than all sums.
    laws: dict[tuple[int, int, int], tuple[Fraction, Fraction, Fraction]] = {}
    found = []
    for area, odds, ways in matrix.returns:
        won = back = back_squared = 0
        for returned, pick in ways:  # what comes back rather than the net: a loser drops out of every sum
            weight = sum(pick(weights))
            won += weight
            weight *= returned
            back += weight
            back_squared += weight * returned
        key = won, back, back_squared
        law = laws.get(key)
        if law is None:
            law = laws[key] = (
                Fraction(won, total),
                Fraction(unit - back, unit),
                Fraction(total * back_squared - back * back, square),
            )
        probability, edge, variance = law
        found.append(AreaOdds(area, odds, probability, edge, variance))
    return tuple(found)

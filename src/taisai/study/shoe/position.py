"""The edge of each position in the shoe: the same for every round, unless the cards say when to stop.

Theorem. Three cards anywhere in a shuffled shoe are as likely to be any three as the first three are. So
before a card is seen, every round of a shoe has the edge of its first round, however many cards were burnt,
wherever the cut card is. It takes a shuffle whose moment depends on the cards to change that: then later
rounds come more often after some cards than after others, and `stopped_edges` shows what becomes of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cache
from itertools import product
from math import comb, prod
from typing import Final

from taisai.rules.errors import RulesError
from taisai.rules.matrix import Matrix
from taisai.rules.outcomes import DICE, OUTCOMES
from taisai.study.shoe.odds import chance_left

MOST_COMPOSITIONS: Final = 20_000
"""Enumerated one by one with exact fractions: a demonstration, for small shoes."""
Left = tuple[int, ...]


def position_edges(matrix: Matrix, left: Sequence[int]) -> tuple[tuple[Fraction, ...], ...]:
    """[round][area] the house edge before any card is seen, by enumerating all that may have gone before.

    >>> from taisai.rules import rulebook
    >>> edges = position_edges(rulebook("mbs-3-card-sic-bo").matrix(), (2, 1, 1, 1, 1, 1))
    >>> len(edges), edges[0] == edges[1], edges[0][0]
    (2, True, Fraction(-11, 35))
    """
    start = _small(left)
    cards = sum(start)
    rounds = []
    for dealt in range(0, cards - DICE + 1, DICE):
        returned = [0] * len(matrix.areas)
        ways = 0
        for after in product(*(range(count + 1) for count in start)):
            if sum(after) == cards - dealt:
                times = prod(map(comb, start, after))
                chance = chance_left(after)
                ways += times * chance.total
                for row, nets in enumerate(matrix.nets):
                    returned[row] += times * sum(map(int.__mul__, chance.weights, nets))
        rounds.append(tuple(Fraction(-net, ways * matrix.denominator) for net in returned))
    return tuple(rounds)


def stopped_edges(
    matrix: Matrix, left: Sequence[int], shuffled: Callable[[Left], bool]
) -> tuple[Fraction, ...]:
    """[area] the house edge per round dealt when the cards left decide whether to shuffle after a round.

    That is what one shoe brings in the mean, over how many rounds are dealt from it in the mean.
    """
    start = _small(left)

    @cache
    def ahead(now: Left) -> tuple[Fraction, tuple[Fraction, ...]]:
        """The rounds still to come and what they bring, from a shoe about to be dealt from."""
        chance = chance_left(now)
        rounds = Fraction(1)
        nets = [chance.expected(row, matrix.denominator) for row in matrix.nets]
        for outcome, weight in zip(OUTCOMES, chance.weights, strict=True):
            after = tuple(count - outcome.faces.count(face) for face, count in enumerate(now, 1))
            if weight and sum(after) >= DICE and not shuffled(after):
                share = Fraction(weight, chance.total)
                more, then = ahead(after)
                rounds += share * more
                nets = [net + share * later for net, later in zip(nets, then, strict=True)]
        return rounds, tuple(nets)

    rounds, nets = ahead(start)
    return tuple(-net / rounds for net in nets)


def _small(left: Sequence[int]) -> Left:
    start = tuple(left)
    chance_left(start)
    if (compositions := prod(count + 1 for count in start)) > MOST_COMPOSITIONS:
        raise RulesError(f"expected a shoe of at most {MOST_COMPOSITIONS} compositions, got {compositions}")
    return start

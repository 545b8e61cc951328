"""Exact odds: the distribution of the net of one round, for an area or for several bets together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from functools import cached_property
from itertools import starmap
from math import sqrt
from typing import Any, Final, NamedTuple

from taisai.rules.areas import AreaId
from taisai.rules.chance import Chance, ChanceKind
from taisai.rules.errors import RulesError
from taisai.rules.matrix import Matrix
from taisai.rules.outcomes import OUTCOMES
from taisai.rules.pay import Odds
from taisai.rules.settlement import Bet, BetRefusal
from taisai.study.report import counted


class Distribution(NamedTuple):
    """A discrete probability distribution: ascending values, each with its weight out of the total.

    >>> coin = Distribution.of([(-100, 1), (100, 1)])
    >>> coin.mean, coin.variance, coin.probability(at_least=0)
    (Fraction(0, 1), Fraction(10000, 1), Fraction(1, 2))
    """

    values: tuple[int, ...]
    weights: tuple[int, ...]
    total: int

    @staticmethod
    def of(weighed: Iterable[tuple[int, int]]) -> Distribution:
        """The distribution of these values and weights. Equal values are joined; weights of 0 are dropped."""
        gathered: dict[int, int] = {}
        for value, weight in weighed:
            if weight < 0:
                raise RulesError(f"expected a weight of 0 or more, got {weight} for {value}")
            if weight:
                gathered[value] = gathered.get(value, 0) + weight
        if not gathered:
            raise RulesError("expected at least 1 value with a weight above 0, got 0")
        values = tuple(sorted(gathered))
        weights = tuple(gathered[value] for value in values)
        return Distribution(values, weights, sum(weights))

    @property
    def mean(self) -> Fraction:
        return self.moment(1)

    @property
    def variance(self) -> Fraction:
        return self.moment(2) - self.mean**2

    @property
    def deviation(self) -> float:
        return sqrt(self.variance)

    @property
    def skew(self) -> float:
        """The skewness, which is the third standardised moment; 0 for a constant."""
        third = self.moment(3) - 3 * self.mean * self.moment(2) + 2 * self.mean**3
        return float(third) / self.deviation**3 if third else 0.0

    def moment(self, power: int) -> Fraction:
        pairs = zip(self.values, self.weights, strict=True)
        return Fraction(sum(weight * value**power for value, weight in pairs), self.total)

    def probability(self, *, at_least: int | None = None, at_most: int | None = None) -> Fraction:
        """The probability of a value within these bounds, both included."""
        pairs = zip(self.values, self.weights, strict=True)
        within = (
            weight
            for value, weight in pairs
            if (at_least is None or value >= at_least) and (at_most is None or value <= at_most)
        )
        return Fraction(sum(within), self.total)

    def quantile(self, share: Fraction) -> int:
        """The least value whose cumulative probability is at least this share."""
        share = checked_share(share)
        reached = 0
        for value, weight in zip(self.values, self.weights, strict=True):
            reached += weight
            if reached * share.denominator >= share.numerator * self.total:
                return value
        return self.values[-1]


Law = Distribution  # the name of release 0.1


def checked_share(share: object) -> Fraction:
    if isinstance(share, bool) or not isinstance(share, (Fraction, int)) or not 0 < share <= 1:
        raise RulesError(
            f"expected a probability above 0 and at most 1, such as Fraction(1, 2), got {share!r}"
        )
    return Fraction(share)


def chance_facts(chance: Chance) -> dict[str, Any]:
    """The dice or the shoe, for programs."""
    if chance.kind is ChanceKind.DICE:
        return {"kind": "dice", "dice": 3, "rolls": chance.total}
    seen = dict(zip("123456", chance.seen, strict=True)) if chance.seen else None
    return {"kind": "cards", "decks": chance.decks, "seen": seen, "draws": chance.total}


def chance_words(chance: Chance) -> str:
    """The dice or the shoe, for people."""
    if chance.kind is ChanceKind.DICE:
        return "three dice"
    if chance.decks is None:  # the full shoe is unknown
        return f"a shoe with {chance.total:,} ways to draw three cards"
    seen = f", {counted(sum(chance.seen), 'card')} seen" if any(chance.seen) else ""
    return f"a shoe of {counted(chance.decks, 'deck')}{seen}"


def game_words(matrix: Matrix, chance: Chance) -> str:
    """Rulebook, layout and shoe, as the start of a title."""
    shoe = "" if chance.kind is ChanceKind.DICE else f", {chance_words(chance)}"
    return f"{matrix.rulebook}, layout {matrix.layout}{shoe}"


def fresh_shoe(chance: Chance) -> str | None:
    """The assumption that makes rounds with cards independent; None for dice."""
    if chance.kind is ChanceKind.DICE:
        return None
    return f"Every round is dealt from {chance_words(chance)}, freshly shuffled."


class AreaOdds(NamedTuple):
    """The exact odds of an area, per unit staked."""

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
    # Many areas have the same distribution, and the fractions cost more than the sums.
    distributions: dict[tuple[int, int, int], tuple[Fraction, Fraction, Fraction]] = {}
    odds_of_areas = []
    for area, odds, ways in matrix.returns:
        won = back = back_squared = 0
        for returned, pick in ways:  # returns rather than nets, because losers return 0
            weight = sum(pick(weights))
            won += weight
            weight *= returned
            back += weight
            back_squared += weight * returned
        key = won, back, back_squared
        distribution = distributions.get(key)
        if distribution is None:
            distribution = distributions[key] = (
                Fraction(won, total),
                Fraction(unit - back, unit),
                Fraction(total * back_squared - back * back, square),
            )
        probability, edge, variance = distribution
        odds_of_areas.append(AreaOdds(area, odds, probability, edge, variance))
    return tuple(odds_of_areas)


class Mix:
    """A mix of bets: a stake in whole minor units on each of some areas.

    >>> from taisai.rules import rulebook
    >>> book = rulebook("rws-sic-bo-etg-v8")
    >>> mix = Mix.of(book.matrix("A"), {"small": 100, "triple-1": 10})
    >>> mix.staked, mix.best, mix.worst, mix.edge(book.chance())
    (110, 1850, -110, Fraction(10, 297))
    """

    def __init__(self, matrix: Matrix, stakes: Mapping[AreaId, int], nets: tuple[int, ...]) -> None:
        self.matrix: Final = matrix
        self.stakes: Final = dict(stakes)
        self.nets: Final = nets
        """[outcome] the net of all bets, in minor units."""
        self.staked: Final = sum(self.stakes.values())

    @staticmethod
    def of(matrix: Matrix, bets: Mapping[str, int] | Iterable[Bet]) -> Mix:
        """The mix of these bets; bets on the same area are added. Raises an error if a bet is refused."""
        bet_list = list(starmap(Bet.on, bets.items()) if isinstance(bets, Mapping) else bets)
        if not bet_list:
            raise RulesError("expected at least 1 bet, such as small=100, got 0")
        nets = [0] * len(OUTCOMES)
        stakes: dict[AreaId, int] = {}
        for place, bet in enumerate(bet_list, 1):
            refused = matrix.refusal(bet)
            if isinstance(refused, BetRefusal):
                raise RulesError(f"{refused} (bet {place} of {len(bet_list)})")
            stakes[bet.area] = stakes.get(bet.area, 0) + bet.stake
            row = matrix.nets[matrix.row(bet.area)]
            for outcome, net in enumerate(row):
                nets[outcome] += bet.stake * net
        return Mix(matrix, stakes, tuple(net // matrix.denominator for net in nets))

    def __repr__(self) -> str:
        return f"Mix.of({self.matrix!r}, {self.stakes!r})"

    @property
    def best(self) -> int:
        return max(self.nets)

    @property
    def worst(self) -> int:
        return min(self.nets)

    @cached_property
    def values(self) -> tuple[int, ...]:
        """The possible nets, ascending."""
        return tuple(sorted(set(self.nets)))

    def distribution(self, chance: Chance) -> Distribution:
        """The exact distribution of the net of one round."""
        return Distribution.of(zip(self.nets, chance.weights, strict=True))

    law = distribution
    """The name of release 0.1."""

    def edge(self, chance: Chance) -> Fraction:
        """The house edge: the expected loss per unit staked."""
        return -self.distribution(chance).mean / self.staked

"""Exact odds: the distribution of one round's net, of one area or of several bets together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from functools import cached_property
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


class Law(NamedTuple):
    """What may come and how often: values ascending, each with its weight out of the total.

    >>> coin = Law.of([(-100, 1), (100, 1)])
    >>> coin.mean, coin.variance, coin.probability(at_least=0)
    (Fraction(0, 1), Fraction(10000, 1), Fraction(1, 2))
    """

    values: tuple[int, ...]
    weights: tuple[int, ...]
    total: int

    @staticmethod
    def of(weighed: Iterable[tuple[int, int]]) -> Law:
        """The law of these values and weights; the same value may come twice, a weight of 0 drops out."""
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
        return Law(values, weights, sum(weights))

    @property
    def mean(self) -> Fraction:
        """The expectation."""
        return self.moment(1)

    @property
    def variance(self) -> Fraction:
        """The expected square of the distance from the mean."""
        return self.moment(2) - self.mean**2

    @property
    def deviation(self) -> float:
        """The standard deviation."""
        return sqrt(self.variance)

    @property
    def skew(self) -> float:
        """The third standardised moment: positive where rare values are large. 0 where nothing varies."""
        third = self.moment(3) - 3 * self.mean * self.moment(2) + 2 * self.mean**3
        return float(third) / self.deviation**3 if third else 0.0

    def moment(self, power: int) -> Fraction:
        """The expectation of a power of the value, about 0."""
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
        """The least value such that it or less comes with at least this probability."""
        share = checked_share(share)
        reached = 0
        for value, weight in zip(self.values, self.weights, strict=True):
            reached += weight
            if reached * share.denominator >= share.numerator * self.total:
                return value
        return self.values[-1]


def checked_share(share: object) -> Fraction:
    """A share of all there is, for a quantile."""
    if isinstance(share, bool) or not isinstance(share, (Fraction, int)) or not 0 < share <= 1:
        raise RulesError(
            f"expected a share above 0 and at most 1 as a fraction, such as Fraction(1, 2), got {share!r}"
        )
    return Fraction(share)


def chance_facts(chance: Chance) -> dict[str, Any]:
    """What the chances are of, for machines."""
    if chance.kind is ChanceKind.DICE:
        return {"kind": "dice", "dice": 3, "rolls": chance.total}
    seen = dict(zip("123456", chance.seen, strict=True)) if chance.seen else None
    return {"kind": "cards", "decks": chance.decks, "seen": seen, "draws": chance.total}


def chance_words(chance: Chance) -> str:
    """What the chances are of, for people."""
    if chance.kind is ChanceKind.DICE:
        return "three dice"
    if chance.decks is None:  # nobody says what it was when it was full
        return f"a shoe with {chance.total:,} ways to draw three cards"
    seen = f", {counted(sum(chance.seen), 'card')} seen" if any(chance.seen) else ""
    return f"a shoe of {counted(chance.decks, 'deck')}{seen}"


def game_words(matrix: Matrix, chance: Chance) -> str:
    """Rulebook and layout, and the shoe where there is one: how a title begins."""
    shoe = "" if chance.kind is ChanceKind.DICE else f", {chance_words(chance)}"
    return f"{matrix.rulebook}, layout {matrix.layout}{shoe}"


def fresh_shoe(chance: Chance) -> str | None:
    """What figures of many rounds suppose of cards, whose rounds out of one shoe are not independent."""
    if chance.kind is ChanceKind.DICE:
        return None
    return f"Every round is dealt from {chance_words(chance)}, freshly shuffled."


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


class Mix:
    """Bets of one player, or of a whole table: a stake in whole minor units on each of some areas.

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
        """[outcome] what the bets come to, in minor units."""
        self.staked: Final = sum(self.stakes.values())

    @staticmethod
    def of(matrix: Matrix, bets: Mapping[str, int] | Iterable[Bet]) -> Mix:
        """The mix of these bets; several on one area count as one. RulesError where one cannot be taken."""
        given = (
            [Bet.on(area, stake) for area, stake in bets.items()] if isinstance(bets, Mapping) else list(bets)
        )
        if not given:
            raise RulesError("expected at least 1 bet, such as small=100, got 0")
        nets = [0] * len(OUTCOMES)
        stakes: dict[AreaId, int] = {}
        for place, bet in enumerate(given, 1):
            refused = matrix.refusal(bet)
            if isinstance(refused, BetRefusal):
                raise RulesError(f"{refused} (bet {place} of {len(given)})")
            stakes[bet.area] = stakes.get(bet.area, 0) + bet.stake
            row = matrix.nets[matrix.row(bet.area)]
            for outcome, net in enumerate(row):
                nets[outcome] += bet.stake * net
        return Mix(matrix, stakes, tuple(net // matrix.denominator for net in nets))

    def __repr__(self) -> str:
        return f"Mix.of({self.matrix!r}, {self.stakes!r})"

    @property
    def best(self) -> int:
        """What the best outcome brings."""
        return max(self.nets)

    @property
    def worst(self) -> int:
        """What the worst outcome brings."""
        return min(self.nets)

    @cached_property
    def values(self) -> tuple[int, ...]:
        """Every net that some outcome brings, ascending."""
        return tuple(sorted(set(self.nets)))

    def law(self, chance: Chance) -> Law:
        """The exact distribution of what one round brings."""
        return Law.of(zip(self.nets, chance.weights, strict=True))

    def edge(self, chance: Chance) -> Fraction:
        """What the house keeps of each unit staked, in the mean."""
        return -self.law(chance).mean / self.staked

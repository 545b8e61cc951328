"""Observed against exact, area by area: exact means and variances of just the stakes that were placed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations_with_replacement, groupby
from math import sqrt
from statistics import NormalDist
from typing import Any, Final, NamedTuple

from taisai.rules.chance import Chance, ChanceKind
from taisai.rules.errors import RulesError
from taisai.rules.matrix import Matrix
from taisai.rules.outcomes import OUTCOMES, Outcome
from taisai.study.dice_mixture import WATCHED
from taisai.study.odds import AreaOdds, area_odds
from taisai.study.report import Report, Sheet, Told, columns

LEVEL: Final = Fraction(99, 100)
MOST_TABLES: Final = 20  # in the report; the facts have all
_Z: Final = NormalDist().inv_cdf((1 + float(LEVEL)) / 2)


class PlayedBet(NamedTuple):
    """A bet that was settled."""

    table: str
    round: int
    pay_table: str
    """The digest of the pay table it was settled by."""
    area: str
    stake: int
    """What was in play; what the limits kept out is not."""
    returned: int
    """Of what was in play."""
    outcome: Outcome


PayTables = Mapping[str, tuple[Matrix, Chance]]
"""By digest: each pay table, and the chances that it is judged by."""


@dataclass(frozen=True)
class AreaObserved:
    """One area of one pay table."""

    pay_table: str
    layout: str
    area: str
    rounds: int
    """Rounds with a stake on the area."""
    bets: int
    staked: int
    returned: int
    exact_edge: Fraction
    variance: Fraction
    """Of the house's net over all of it, in minor units squared."""

    @property
    def edge(self) -> float:
        """What the house kept of each unit staked."""
        return (self.staked - self.returned) / self.staked

    @property
    def half_width(self) -> float:
        """Of the 99 % band of the observed edge about the exact one."""
        return _Z * sqrt(self.variance) / self.staked

    @property
    def deviations(self) -> float:
        """How many standard deviations the house is above its expectation."""
        more = self.staked - self.returned - self.exact_edge * self.staked
        return float(more) / sqrt(self.variance)

    @property
    def is_odd(self) -> bool:
        """Whether it lies outside the 99 % band."""
        return abs(self.deviations) > _Z


class TableDice(NamedTuple):
    """The dice of one table over all its rounds."""

    table: str
    rounds: int
    log_e: float
    """The natural logarithm of the e-value against fair dice."""


@dataclass(frozen=True)
class Observed(Told):
    """All of it, by area, in sum, and the dice."""

    source: str
    areas: tuple[AreaObserved, ...]
    rounds: int
    staked: int
    returned: int
    expected: Fraction
    """What the house keeps of these stakes in the mean, in minor units."""
    variance: Fraction
    """Of the house's net over all rounds, bets of one round taken together."""
    dice: tuple[TableDice, ...]
    has_cards: bool

    @property
    def deviations(self) -> float:
        """How many standard deviations the house's net is above its expectation."""
        return float(self.staked - self.returned - self.expected) / sqrt(self.variance)

    def report(self) -> Report:
        """By area, in sum, the dice; then what the figures are worth."""
        numbers = ("rounds", "bets", "staked", "returned", "observed", "exact", "99 % band", "σ")
        areas = Sheet(
            f"{self.source}: {self.rounds:,} rounds with bets",
            columns("area", *numbers, "", numbers=numbers),
            tuple(
                (
                    f"{one.layout} {one.area}",
                    f"{one.rounds:,}",
                    f"{one.bets:,}",
                    f"{one.staked:,}",
                    f"{one.returned:,}",
                    f"{100 * one.edge:.2f} %",
                    f"{100 * float(one.exact_edge):.2f} %",
                    f"± {100 * one.half_width:.2f} %",
                    f"{one.deviations:+.2f}",
                    "outside" if one.is_odd else "",
                )
                for one in self.areas
            ),
        )
        net = self.staked - self.returned
        whole = Sheet(
            "All bets together",
            columns("", "minor units", numbers=("minor units",)),
            (
                ("staked", f"{self.staked:,}"),
                ("the house kept", f"{net:,}"),
                ("it keeps in the mean", f"{float(self.expected):,.1f}"),
                ("99 % band about that", f"± {_Z * sqrt(self.variance):,.1f}"),
                ("deviations above", f"{self.deviations:+.2f}"),
            ),
        )
        watched = Sheet(
            "Dice, those that look oddest first",
            columns("table", "rounds", "log e-value", "", numbers=("rounds", "log e-value")),
            tuple(
                (
                    one.table,
                    f"{one.rounds:,}",
                    f"{one.log_e:+.2f}",
                    "look at them" if one.log_e > _ALARM else "",
                )
                for one in sorted(self.dice, key=lambda one: -one.log_e)[:MOST_TABLES]
            ),
        )
        odd = sum(one.is_odd for one in self.areas)
        by_chance = f"{len(self.areas) / 100:.2f} are in the mean, by chance alone."
        notes = [f"{odd} of {len(self.areas)} areas are outside their 99 % band; {by_chance}"]
        if self.has_cards:
            notes.append(
                "Rounds of one shoe depend on each other a little; the bands take them as independent."
            )
        sheets = (areas, whole, watched) if self.dice else (areas, whole)
        return Report(sheets, tuple(notes))

    def facts(self) -> dict[str, Any]:
        """For machines."""
        return {
            "source": self.source,
            "rounds": self.rounds,
            "staked": self.staked,
            "returned": self.returned,
            "expected_kept": str(self.expected),
            "variance": str(self.variance),
            "deviations": self.deviations,
            "areas": [
                {
                    "pay_table": one.pay_table,
                    "layout": one.layout,
                    "id": one.area,
                    "rounds": one.rounds,
                    "bets": one.bets,
                    "staked": one.staked,
                    "returned": one.returned,
                    "observed_edge": one.edge,
                    "exact_edge": str(one.exact_edge),
                    "half_width_99": one.half_width,
                    "deviations": one.deviations,
                }
                for one in self.areas
            ],
            "dice": [one._asdict() for one in self.dice],
        }


_ALARM: Final = 6.907755278982137  # log 1000: fair dice ever get there once in a thousand


Key = tuple[str, str]
"""A pay table's digest, and an area of it."""


@dataclass(slots=True)
class _Area:
    odds: AreaOdds
    layout: str
    rounds: int = 0
    bets: int = 0
    staked: int = 0
    returned: int = 0
    squares: int = 0
    """The sum of the squares of the round's stakes: bets of one round on one area win or lose together."""


@dataclass(slots=True)
class _Counting:
    pay_tables: PayTables
    areas: dict[Key, _Area] = field(default_factory=dict)
    odds: dict[str, dict[str, AreaOdds]] = field(default_factory=dict)
    outcomes: dict[str, list[int]] = field(default_factory=dict)
    rounds: int = 0
    products: dict[tuple[Key, Key], int] = field(default_factory=dict)
    """Of two areas: the sum over all rounds of the product of their stakes."""
    has_cards: bool = False

    def take(self, bets: list[PlayedBet]) -> None:
        """All bets of one round at one table."""
        self.rounds += 1
        stakes: dict[Key, int] = {}
        for bet in bets:
            area = self._area(bet)
            if bet.stake <= 0:
                continue  # the limits kept all of it out
            area.bets += 1
            area.staked += bet.stake
            area.returned += bet.returned
            key = (bet.pay_table, bet.area)
            stakes[key] = stakes.get(key, 0) + bet.stake
        for key, stake in stakes.items():
            self.areas[key].rounds += 1
            self.areas[key].squares += stake * stake
        for one, other in combinations_with_replacement(sorted(stakes), 2):
            pair = (one, other)
            self.products[pair] = self.products.get(pair, 0) + stakes[one] * stakes[other]
        _, chance = self.pay_tables[bets[0].pay_table]
        if chance.kind is ChanceKind.DICE:
            self.outcomes.setdefault(bets[0].table, [0] * len(OUTCOMES))[bets[0].outcome.index] += 1
        else:
            self.has_cards = True

    def _area(self, bet: PlayedBet) -> _Area:
        found = self.areas.get((bet.pay_table, bet.area))
        if found is None:
            known = self.pay_tables.get(bet.pay_table)
            if known is None:
                raise RulesError(
                    f"expected a known pay table, got {bet.pay_table} (table {bet.table}, round {bet.round})"
                )
            if bet.pay_table not in self.odds:
                self.odds[bet.pay_table] = {str(one.id): one for one in area_odds(*known)}
            odds = self.odds[bet.pay_table].get(bet.area)
            if odds is None:
                raise RulesError(
                    f"expected an area of layout {known[0].layout}, got {bet.area!r} "
                    f"(table {bet.table}, round {bet.round})"
                )
            found = self.areas[bet.pay_table, bet.area] = _Area(odds, known[0].layout)
        return found

    def variance(self) -> Fraction:
        """Of the house's net over all rounds: bets of one round hang on the same dice."""
        nets = {key: self._centred(key) for key in self.areas}
        found = Fraction(0)
        for (one, other), product in self.products.items():
            weights = self.pay_tables[one[0]][1].weights
            total = self.pay_tables[one[0]][1].total
            pairs = zip(weights, nets[one], nets[other], strict=True)
            covariance = sum((w * x * y for w, x, y in pairs), Fraction(0)) / total
            found += covariance * product * (1 if one == other else 2)
        return found

    def _centred(self, key: Key) -> list[Fraction]:
        """What a unit on an area brings on each outcome, above its mean."""
        matrix, chance = self.pay_tables[key[0]]
        row = matrix.nets[matrix.row(key[1])]
        mean = chance.expected(row, matrix.denominator)
        return [Fraction(net, matrix.denominator) - mean for net in row]


def observed(bets: Iterable[PlayedBet], pay_tables: PayTables, source: str = "play") -> Observed:
    """What was staked and returned beside what the pay tables say; bets come round by round."""
    counting = _Counting(pay_tables)
    for _, together in groupby(bets, key=lambda bet: (bet.table, bet.round)):
        counting.take(list(together))
    if not any(area.bets for area in counting.areas.values()):
        raise RulesError(f"expected at least one bet that was settled, got none ({source})")
    areas = tuple(_areas(counting))
    return Observed(
        source=source,
        areas=areas,
        rounds=counting.rounds,
        staked=sum(one.staked for one in areas),
        returned=sum(one.returned for one in areas),
        expected=sum((one.exact_edge * one.staked for one in areas), Fraction(0)),
        variance=counting.variance(),
        dice=tuple(_dice(counting.outcomes)),
        has_cards=counting.has_cards,
    )


def _areas(counting: _Counting) -> Iterator[AreaObserved]:
    for (pay_table, area), one in counting.areas.items():
        if one.bets:
            yield AreaObserved(
                pay_table, one.layout, area, one.rounds, one.bets, one.staked, one.returned,
                one.odds.house_edge, one.odds.variance * one.squares,
            )  # fmt: skip


def _dice(outcomes: Mapping[str, list[int]]) -> Iterator[TableDice]:
    for table, counts in outcomes.items():
        faces = [0] * 6
        for outcome, count in zip(OUTCOMES, counts, strict=True):
            for face in outcome.faces:
                faces[face - 1] += count
        yield TableDice(table, sum(counts), WATCHED.log_e(faces, counts))

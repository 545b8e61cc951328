"""Observed play beside exact figures, area by area, with the exact mean and variance of what was staked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations_with_replacement
from math import sqrt
from statistics import NormalDist
from typing import Any, Final, NamedTuple

from taisai.rules.chance import Chance, ChanceKind
from taisai.rules.errors import RulesError
from taisai.rules.matrix import Matrix
from taisai.rules.outcomes import OUTCOMES, Outcome
from taisai.rules.settlement import BetRecord
from taisai.study.dice.watch import WATCHED
from taisai.study.odds import AreaOdds, area_odds
from taisai.study.report import Describable, Sheet, StudyReport, columns, counted

LEVEL: Final = Fraction(99, 100)
TRUSTED: Final = 0.05  # a band is reliable if the bound of its error is at most this
MOST_TABLES: Final = 20  # in the report; the facts have all
_Z: Final = NormalDist().inv_cdf((1 + float(LEVEL)) / 2)
_ALARM: Final = 6.907755278982137  # log 1000: fair dice ever get there once in a thousand


class PlayedRound(NamedTuple):
    """A settled round of a table."""

    table: str
    number: int
    outcome: Outcome
    bets: Sequence[tuple[str, BetRecord[Any]]]
    """The digest of the pay table by which each bet was settled, and the record of the bet."""


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
    """The variance of the house's net over all stakes, in minor units squared."""
    error: float
    """A bound of the error of the 99 % band, which is a normal one."""

    @property
    def edge(self) -> float:
        """The share of the stakes that the house kept."""
        return (self.staked - self.returned) / self.staked

    @property
    def half_width(self) -> float:
        """Half the width of the 99 % band around the exact edge."""
        return _Z * sqrt(self.variance) / self.staked

    @property
    def deviations(self) -> float:
        """The house's net less its expectation, in standard deviations."""
        more = self.staked - self.returned - self.exact_edge * self.staked
        return float(more) / sqrt(self.variance) if self.variance else 0.0

    @property
    def is_odd(self) -> bool:
        """Whether the edge is outside the 99 % band, and the band is reliable."""
        return self.error <= TRUSTED and abs(self.deviations) > _Z


class TableDice(NamedTuple):
    """The dice of one table over all its rounds."""

    table: str
    rounds: int
    log_e: float
    """The natural logarithm of the e-value against fair dice."""


@dataclass(frozen=True)
class Observed(Describable):
    """Observed play by area, in total, and the dice."""

    source: str
    areas: tuple[AreaObserved, ...]
    rounds: int
    staked: int
    returned: int
    expected: Fraction
    """The house's expected net of these stakes, in minor units."""
    variance: Fraction
    """The variance of the house's net over all rounds."""
    error: float
    """A bound of the error of the 99 % band for all bets together."""
    dice: tuple[TableDice, ...]
    has_cards: bool

    @property
    def deviations(self) -> float:
        """The house's net less its expectation, in standard deviations."""
        more = self.staked - self.returned - self.expected
        return float(more) / sqrt(self.variance) if self.variance else 0.0

    def report(self) -> StudyReport:
        numbers = ("rounds", "bets", "staked", "returned", "observed", "exact", "99 % band", "σ")
        areas = Sheet(
            f"{self.source}: {counted(self.rounds, 'round')} with bets",
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
                    f"{_about(one.error)}± {100 * one.half_width:.2f} %",
                    f"{one.deviations:+.2f}",
                    "outside" if one.is_odd else "",
                )
                for one in self.areas
            ),
        )
        net = self.staked - self.returned
        whole = Sheet(
            "All bets together",
            columns("", numbers=("minor units",)),
            (
                ("staked", f"{self.staked:,}"),
                ("the house kept", f"{net:,}"),
                ("expected by theory", f"{float(self.expected):,.1f}"),
                ("99 % band around that", f"{_about(self.error)}± {_Z * sqrt(self.variance):,.1f}"),
                ("standard deviations", f"{self.deviations:+.2f}"),
            ),
        )
        watched = Sheet(
            "Dice, the most suspicious first",
            columns("table", "rounds", "log e-value", "", numbers=("rounds", "log e-value")),
            tuple(
                (table, f"{rounds:,}", f"{log_e:+.2f}", "look at them" if log_e > _ALARM else "")
                for table, rounds, log_e in sorted(self.dice, key=lambda dice: -dice.log_e)[:MOST_TABLES]
            ),
        )
        odd = sum(one.is_odd for one in self.areas)
        sure = sum(one.error <= TRUSTED for one in self.areas)
        by_chance = f"by chance alone, about {sure / 100:.2f} would be."
        notes = [f"{odd} of {sure} areas with enough rounds are outside their 99 % band; {by_chance}"]
        if sure < len(self.areas):
            notes.append(
                "≈ marks a band that is not reliable yet: it is a normal band, and by the Berry–Esseen bound "
                "its true level may differ from 99 % by more than 5 percentage points."
            )
        if self.has_cards:
            notes.append(
                "Rounds of one shoe depend on each other a little; the bands take them as independent."
            )
        sheets = (areas, whole, watched) if self.dice else (areas, whole)
        return StudyReport(sheets, tuple(notes))

    def facts(self) -> dict[str, Any]:
        return {
            "source": self.source,
            "rounds": self.rounds,
            "staked": self.staked,
            "returned": self.returned,
            "expected_kept": str(self.expected),
            "variance": str(self.variance),
            "deviations": self.deviations,
            "error_at_most": self.error,
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
                    "error_at_most": one.error,
                    "deviations": one.deviations,
                }
                for one in self.areas
            ],
            "dice": [one._asdict() for one in self.dice],
        }


def _about(error: float) -> str:
    return "≈ " if error > TRUSTED else ""


BERRY_ESSEEN: Final = 0.56  # the least constant proven for sums of unequal distributions (Shevtsova, 2010)
KnownPayTables = Mapping[str, tuple[Matrix, Chance]]  # digest → a pay table, and its chances
TableAndArea = tuple[str, str]  # the digest of a pay table, and an area


@dataclass(slots=True)
class _Area:
    odds: AreaOdds
    layout: str
    rounds: int = 0
    bets: int = 0
    staked: int = 0
    returned: int = 0
    squares: int = 0
    """The sum of the squares of the stakes of each round: bets of a round on an area win or lose together."""
    cubes: int = 0  # the sum of the cubes of the stakes of each round


@dataclass(slots=True)
class _Counting:
    pay_tables: KnownPayTables
    areas: dict[TableAndArea, _Area] = field(default_factory=dict)
    odds: dict[str, dict[str, AreaOdds]] = field(default_factory=dict)
    outcomes: dict[str, list[int]] = field(default_factory=dict)
    rounds: int = 0
    products: dict[tuple[TableAndArea, TableAndArea], int] = field(default_factory=dict)
    """Two areas → the sum over all rounds of the product of their stakes."""
    thirds: float = 0.0  # an upper bound of the sum of the rounds' third absolute moments
    covariances: dict[tuple[TableAndArea, TableAndArea], float] = field(default_factory=dict)
    reaches: dict[TableAndArea, float] = field(default_factory=dict)
    centred: dict[TableAndArea, list[Fraction]] = field(default_factory=dict)
    has_cards: bool = False

    def take(self, played: PlayedRound) -> None:
        self.rounds += 1
        stakes: dict[TableAndArea, int] = {}
        for pay_table, bet in played.bets:
            key = (pay_table, bet.area)
            area = self._area(key, played)
            in_play = bet.stake - bet.kept_out
            if not in_play:
                continue
            area.bets += 1
            area.staked += in_play
            area.returned += bet.returned - bet.kept_out
            stakes[key] = stakes.get(key, 0) + in_play
        for key, stake in stakes.items():
            self.areas[key].rounds += 1
            self.areas[key].squares += stake * stake
            self.areas[key].cubes += stake**3
        variance = most = 0.0
        for one, other in combinations_with_replacement(sorted(stakes), 2):
            product = stakes[one] * stakes[other]
            self.products[one, other] = self.products.get((one, other), 0) + product
            variance += product * self._covariance(one, other) * (1 if one == other else 2)
        for key, stake in stakes.items():
            most += stake * self._reach(key)
        self.thirds += most * variance  # no less than the round's third absolute moment
        _, chance = self.pay_tables[played.bets[0][0]]
        if chance.kind is ChanceKind.DICE:
            self.outcomes.setdefault(played.table, [0] * len(OUTCOMES))[played.outcome.index] += 1
        else:
            self.has_cards = True

    def _area(self, key: TableAndArea, played: PlayedRound) -> _Area:
        if key not in self.areas:
            pay_table, name = key
            where = f"(table {played.table}, round {played.number})"
            known = self.pay_tables.get(pay_table)
            if known is None:
                raise RulesError(f"unknown pay table {pay_table} {where}")
            if pay_table not in self.odds:
                self.odds[pay_table] = {str(area.id): area for area in area_odds(*known)}
            odds = self.odds[pay_table].get(name)
            if odds is None:
                raise RulesError(f"unknown area {name!r} on layout {known[0].layout} {where}")
            self.areas[key] = _Area(odds, known[0].layout)
        return self.areas[key]

    def variance(self) -> Fraction:
        """The variance of the house's net over all rounds; bets of a round depend on the same dice."""
        variance = Fraction(0)
        for (one, other), product in self.products.items():
            variance += self._exact(one, other) * product * (1 if one == other else 2)
        return variance

    def _exact(self, one: TableAndArea, other: TableAndArea) -> Fraction:
        """The covariance of one unit on each of two areas."""
        chance = self.pay_tables[one[0]][1]
        cells = zip(chance.weights, self._centred(one), self._centred(other), strict=True)
        return sum((w * x * y for w, x, y in cells), Fraction(0)) / chance.total

    def _covariance(self, one: TableAndArea, other: TableAndArea) -> float:
        if (one, other) not in self.covariances:
            self.covariances[one, other] = float(self._exact(one, other))
        return self.covariances[one, other]

    def _reach(self, key: TableAndArea) -> float:
        """The greatest distance from its mean that one unit on an area can end at."""
        if key not in self.reaches:
            self.reaches[key] = float(max(map(abs, self._centred(key))))
        return self.reaches[key]

    def error(self, key: TableAndArea, area: _Area) -> float:
        """Twice the Berry–Esseen bound of an area, since a band has two ends."""
        chance = self.pay_tables[key[0]][1]
        cells = zip(chance.weights, self._centred(key), strict=True)
        third = float(sum((w * abs(x) ** 3 for w, x in cells), Fraction(0)) / chance.total)
        return _bound(third * area.cubes, float(area.odds.variance * area.squares))

    def _centred(self, key: TableAndArea) -> list[Fraction]:
        """The net of one unit on an area less its mean, for each outcome."""
        if key not in self.centred:
            matrix, chance = self.pay_tables[key[0]]
            row = matrix.nets[matrix.row(key[1])]
            mean = chance.expected(row, matrix.denominator)
            self.centred[key] = [Fraction(net, matrix.denominator) - mean for net in row]
        return self.centred[key]


def observed(rounds: Iterable[PlayedRound], pay_tables: KnownPayTables, source: str = "play") -> Observed:
    """Compares what was staked and returned in these rounds with the exact figures of the pay tables."""
    counting = _Counting(pay_tables)
    for played in rounds:
        if played.bets:
            counting.take(played)
    if not any(area.bets for area in counting.areas.values()):
        raise RulesError(f"expected at least 1 settled bet, got 0 ({source})")
    areas = tuple(_areas(counting))
    return Observed(
        source=source,
        areas=areas,
        rounds=counting.rounds,
        staked=sum(one.staked for one in areas),
        returned=sum(one.returned for one in areas),
        expected=sum((one.exact_edge * one.staked for one in areas), Fraction(0)),
        variance=(variance := counting.variance()),
        error=_bound(counting.thirds, float(variance)),
        dice=tuple(_dice(counting.outcomes)),
        has_cards=counting.has_cards,
    )


def _areas(counting: _Counting) -> Iterator[AreaObserved]:
    for (pay_table, area), one in counting.areas.items():
        if one.bets:
            yield AreaObserved(
                pay_table, one.layout, area, one.rounds, one.bets, one.staked, one.returned,
                one.odds.house_edge, one.odds.variance * one.squares, counting.error((pay_table, area), one),
            )  # fmt: skip


def _bound(third: float, variance: float) -> float:
    return min(1.0, 2 * BERRY_ESSEEN * third / variance**1.5) if variance else 0.0


def _dice(outcomes: Mapping[str, list[int]]) -> Iterator[TableDice]:
    for table, counts in outcomes.items():
        faces = [0] * 6
        for outcome, count in zip(OUTCOMES, counts, strict=True):
            for face in outcome.faces:
                faces[face - 1] += count
        yield TableDice(table, sum(counts), WATCHED.log_e(faces, counts))

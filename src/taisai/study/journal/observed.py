"""Observed against exact, area by area: exact means and variances of just the stakes that were placed.

Observed edges with their bands, drawn.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations_with_replacement, groupby
from math import sqrt
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from taisai.rules.chance import Chance, ChanceKind
from taisai.rules.errors import RulesError
from taisai.rules.matrix import Matrix
from taisai.rules.outcomes import OUTCOMES, Outcome
from taisai.study.dice.watch import WATCHED
from taisai.study.odds import AreaOdds, area_odds
from taisai.study.plotting import INK, PALETTE, figure
from taisai.study.report import Report, Sheet, Told, columns, counted

if TYPE_CHECKING:
    from matplotlib.figure import Figure


LEVEL: Final = Fraction(99, 100)
TRUSTED: Final = 0.05
"""A band is relied on where its share is off by at most this, by the bound."""
BERRY_ESSEEN: Final = 0.56
"""The least constant proven for sums of unequal laws (Shevtsova, 2010)."""
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
    error: float
    """How far the share of such play within the band may be from 99 % at most: the band is normal."""

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
        return float(more) / sqrt(self.variance) if self.variance else 0.0

    @property
    def is_odd(self) -> bool:
        """Whether it lies outside the 99 % band, and the band can be relied on."""
        return self.error <= TRUSTED and abs(self.deviations) > _Z


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
    error: float
    """As of an area, for all bets together."""
    dice: tuple[TableDice, ...]
    has_cards: bool

    @property
    def deviations(self) -> float:
        """How many standard deviations the house's net is above its expectation."""
        more = self.staked - self.returned - self.expected
        return float(more) / sqrt(self.variance) if self.variance else 0.0

    def report(self) -> Report:
        """By area, in sum, the dice; then what the figures are worth."""
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
            columns("", "minor units", numbers=("minor units",)),
            (
                ("staked", f"{self.staked:,}"),
                ("the house kept", f"{net:,}"),
                ("it keeps in the mean", f"{float(self.expected):,.1f}"),
                ("99 % band about that", f"{_about(self.error)}± {_Z * sqrt(self.variance):,.1f}"),
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
        sure = sum(one.error <= TRUSTED for one in self.areas)
        by_chance = f"about {sure / 100:.2f} are, in the mean, by chance alone."
        notes = [f"{odd} of {sure} areas with enough rounds are outside their 99 % band; {by_chance}"]
        if sure < len(self.areas):
            notes.append(
                "≈ marks a band that cannot be relied on yet: bands are normal, and the share of such play "
                "within may be off by more than 5 percentage points by the Berry–Esseen bound."
            )
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
    cubes: int = 0
    """The same of the cubes."""
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
    thirds: float = 0.0
    """No less than the sum of the rounds' third absolute moments."""
    covariances: dict[tuple[Key, Key], float] = field(default_factory=dict)
    reaches: dict[Key, float] = field(default_factory=dict)
    centred: dict[Key, list[Fraction]] = field(default_factory=dict)
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
            self.areas[key].cubes += stake**3
        variance = most = 0.0
        for one, other in combinations_with_replacement(sorted(stakes), 2):
            product = stakes[one] * stakes[other]
            self.products[one, other] = self.products.get((one, other), 0) + product
            variance += product * self._covariance(one, other) * (1 if one == other else 2)
        for key, stake in stakes.items():
            most += stake * self._reach(key)
        self.thirds += most * variance  # of the round's third absolute moment: no less than it
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
        found = Fraction(0)
        for (one, other), product in self.products.items():
            found += self._exact(one, other) * product * (1 if one == other else 2)
        return found

    def _exact(self, one: Key, other: Key) -> Fraction:
        """The covariance of a unit on each of two areas."""
        chance = self.pay_tables[one[0]][1]
        cells = zip(chance.weights, self._centred(one), self._centred(other), strict=True)
        return sum((w * x * y for w, x, y in cells), Fraction(0)) / chance.total

    def _covariance(self, one: Key, other: Key) -> float:
        if (one, other) not in self.covariances:
            self.covariances[one, other] = float(self._exact(one, other))
        return self.covariances[one, other]

    def _reach(self, key: Key) -> float:
        """How far from its mean a unit on an area can end."""
        if key not in self.reaches:
            self.reaches[key] = float(max(map(abs, self._centred(key))))
        return self.reaches[key]

    def error(self, key: Key, one: _Area) -> float:
        """Twice the Berry–Esseen bound of an area, since a band has two ends."""
        chance = self.pay_tables[key[0]][1]
        cells = zip(chance.weights, self._centred(key), strict=True)
        third = float(sum((w * abs(x) ** 3 for w, x in cells), Fraction(0)) / chance.total)
        return _bound(third * one.cubes, float(one.odds.variance * one.squares))

    def _centred(self, key: Key) -> list[Fraction]:
        """What a unit on an area brings on each outcome, above its mean."""
        if key in self.centred:
            return self.centred[key]
        matrix, chance = self.pay_tables[key[0]]
        row = matrix.nets[matrix.row(key[1])]
        mean = chance.expected(row, matrix.denominator)
        self.centred[key] = [Fraction(net, matrix.denominator) - mean for net in row]
        return self.centred[key]


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


def _about(error: float) -> str:
    return "≈ " if error > TRUSTED else ""


def _dice(outcomes: Mapping[str, list[int]]) -> Iterator[TableDice]:
    for table, counts in outcomes.items():
        faces = [0] * 6
        for outcome, count in zip(OUTCOMES, counts, strict=True):
            for face in outcome.faces:
                faces[face - 1] += count
        yield TableDice(table, sum(counts), WATCHED.log_e(faces, counts))


MOST: Final = 40
"""Areas in one picture; those with the most rounds."""


def drawn(found: Observed) -> Figure:
    """Each area's observed edge as a dot on the 99 % band about its exact edge."""
    areas = sorted(found.areas, key=lambda one: -one.rounds)[:MOST]
    made, (axes,) = figure(
        "Observed house edge, and the normal 99 % band about the exact one",
        x="house edge",
        height=max(3.0, 0.27 * len(areas) + 1.4),
    )
    for place, one in enumerate(reversed(areas)):
        exact = float(one.exact_edge)
        axes.plot(
            [exact - one.half_width, exact + one.half_width], [place] * 2, color=PALETTE[5], linewidth=7,
            solid_capstyle="butt", zorder=1,
        )  # fmt: skip
        axes.plot([exact] * 2, [place - 0.32, place + 0.32], color=INK, linewidth=1.5, zorder=2)
        colour, marker = (PALETTE[1], "s") if one.is_odd else (PALETTE[0], "o")
        axes.plot([one.edge], [place], marker, color=colour, markersize=6, zorder=3)
    axes.set_yticks(
        range(len(areas)), [f"{one.area} ({one.rounds:,})" for one in reversed(areas)], fontsize=9
    )
    axes.xaxis.set_major_formatter(lambda value, _place: f"{100 * value:.0f} %")
    return made

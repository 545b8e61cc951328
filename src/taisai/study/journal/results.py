"""Observed play beside exact figures, area by area: the results, their report and their picture."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import sqrt
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from taisai.rules.outcomes import Outcome
from taisai.rules.settlement import BetRecord
from taisai.study.plotting import INK, PALETTE, figure
from taisai.study.report import Describable, Sheet, StudyReport, columns, counted

if TYPE_CHECKING:
    from matplotlib.figure import Figure


LEVEL: Final = Fraction(99, 100)
TRUSTED: Final = 0.05  # a band is reliable if the bound of its error is at most this
MOST_TABLES: Final = 20  # in the report; the facts have all
_Z: Final = NormalDist().inv_cdf((1 + float(LEVEL)) / 2)


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
        """Areas, totals and dice, with notes on their reliability."""
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
        return StudyReport(sheets, tuple(notes))

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


def _about(error: float) -> str:
    return "≈ " if error > TRUSTED else ""


MOST: Final = 40  # areas in one picture: those with the most rounds


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

"""A portfolio: the exact distribution of several bets together, and the exposure of the house."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import sqrt
from typing import Any

from taisai.rules.areas import AreaId
from taisai.rules.chance import Chance
from taisai.rules.errors import RulesError
from taisai.rules.matrix import Matrix
from taisai.rules.outcomes import OUTCOMES, Outcome
from taisai.rules.settlement import Bet
from taisai.study.odds import Distribution, Mix, chance_facts, game_words
from taisai.study.report import Describable, Sheet, StudyReport, columns


@dataclass(frozen=True)
class Portfolio(Describable):
    """A mix of bets under given chances."""

    mix: Mix
    chance: Chance

    @cached_property
    def law(self) -> Distribution:
        """The exact distribution of the net of one round."""
        return self.mix.distribution(self.chance)

    @property
    def house_edge(self) -> Fraction:
        """The expected loss per unit staked."""
        return self.mix.edge(self.chance)

    @property
    def areas(self) -> tuple[AreaId, ...]:
        return tuple(self.mix.stakes)

    @cached_property
    def covariance(self) -> tuple[tuple[Fraction, ...], ...]:
        """[bet][bet] the covariance of two nets, in squared minor units. The sum is the variance."""
        weights, total = self.chance.weights, self.chance.total
        nets = [self._nets(area) for area in self.areas]
        means = [Fraction(sum(map(int.__mul__, weights, row)), total) for row in nets]
        return tuple(
            tuple(
                Fraction(sum(w * x * y for w, x, y in zip(weights, one, other, strict=True)), total)
                - mean * another
                for other, another in zip(nets, means, strict=True)
            )
            for one, mean in zip(nets, means, strict=True)
        )

    def correlation(self, one: str, other: str) -> float | None:
        """The correlation coefficient of two bets; None if one of them is constant."""
        for area in (one, other):
            if area not in self.areas:
                raise RulesError(f"no bet on {area!r} in the portfolio ({', '.join(self.areas)})")
        a, b = self.areas.index(AreaId(one)), self.areas.index(AreaId(other))
        varies = self.covariance[a][a] * self.covariance[b][b]
        return float(self.covariance[a][b]) / sqrt(varies) if varies else None

    @cached_property
    def exposure(self) -> tuple[tuple[Outcome, int], ...]:
        """The net of the house on each outcome, the greatest loss first."""
        possible = [o for o in OUTCOMES if self.chance.weights[o.index]]
        return tuple(sorted(((o, -self.mix.nets[o.index]) for o in possible), key=lambda pair: pair[1]))

    def _nets(self, area: AreaId) -> list[int]:
        matrix = self.mix.matrix
        stake = self.mix.stakes[area]
        return [stake * net // matrix.denominator for net in matrix.nets[matrix.row(area)]]

    def report(self) -> StudyReport:
        distribution, staked = self.law, self.mix.staked
        sheets = [
            Sheet(
                f"{game_words(self.mix.matrix, self.chance)}: {_listed(self.mix)}",
                columns("of one round", "", numbers=("",)),
                (
                    ("staked", f"{staked:,}"),
                    ("house edge", f"{100 * float(self.house_edge):.4f} %  ({self.house_edge})"),
                    ("mean", f"{float(distribution.mean):,.4f}  ({distribution.mean})"),
                    ("standard deviation", f"{distribution.deviation:,.3f}"),
                    ("skew", f"{distribution.skew:.4f}"),
                    ("comes out ahead", f"{100 * float(distribution.probability(at_least=1)):.4f} %"),
                    ("best", f"{distribution.values[-1]:+,} on {self._on(distribution.values[-1])}"),
                    ("worst", f"{distribution.values[0]:+,} on {self._on(distribution.values[0])}"),
                ),
            ),
            Sheet(
                "What one round brings",
                columns("net", "ways", "probability", numbers=("net", "ways", "probability")),
                tuple(
                    (f"{value:+,}", f"{weight:,}", f"{100 * weight / distribution.total:.4f} %")
                    for value, weight in zip(distribution.values, distribution.weights, strict=True)
                ),
            ),
        ]
        if len(self.areas) > 1:
            names = tuple(map(str, self.areas))
            rows = tuple(
                (name, *(_signed(self.correlation(name, other)) for other in names)) for name in names
            )
            sheets.append(Sheet("Correlation of the bets", columns("", *names, numbers=names), rows))
        dearest = [(str(outcome), f"{net:+,}") for outcome, net in self.exposure[:10]]
        sheets.append(
            Sheet(
                "The house on its ten dearest outcomes",
                columns("dice", "house", numbers=("house",)),
                tuple(dearest),
            )
        )
        alike = sum(net == self.exposure[len(dearest) - 1][1] for _, net in self.exposure[len(dearest) :])
        more = f"{alike} more cost the house as much as the last of these." if alike else ""
        return StudyReport(tuple(sheets), (more,) if more else ())

    def _on(self, net: int) -> str:
        places = [o for o in OUTCOMES if self.mix.nets[o.index] == net and self.chance.weights[o.index]]
        return f"{len(places)} outcomes" if len(places) > 4 else ", ".join(map(str, places))

    def facts(self) -> dict[str, Any]:
        distribution = self.law
        return {
            "rulebook": self.mix.matrix.rulebook,
            "layout": self.mix.matrix.layout,
            "chance": chance_facts(self.chance),
            "bets": dict(self.mix.stakes),
            "staked": self.mix.staked,
            "house_edge": str(self.house_edge),
            "mean": str(distribution.mean),
            "variance": str(distribution.variance),
            "skew": distribution.skew,
            "best": distribution.values[-1],
            "worst": distribution.values[0],
            "distribution": [
                {"net": value, "probability": str(Fraction(weight, distribution.total))}
                for value, weight in zip(distribution.values, distribution.weights, strict=True)
            ],
            "covariance": [[str(cell) for cell in row] for row in self.covariance],
            "exposure": {str(outcome): net for outcome, net in self.exposure},
        }


def portfolio(matrix: Matrix, chance: Chance, bets: Mapping[str, int] | Iterable[Bet]) -> Portfolio:
    """The portfolio of these bets.

    >>> from taisai.rules import rulebook
    >>> book = rulebook("mbs-sic-bo-v6")
    >>> held = portfolio(book.matrix(), book.chance(), {"small": 100, "big": 100})
    >>> held.house_edge, held.law.values, held.exposure[0], round(held.correlation("small", "big"), 4)
    (Fraction(1, 36), (-200, 0), (Outcome.of(1, 1, 2), 0), -0.9459)
    """
    return Portfolio(Mix.of(matrix, bets), chance)


def _signed(share: float | None) -> str:
    return "–" if share is None else f"{share:+.3f}"


def _listed(mix: Mix) -> str:
    listed = [f"{area} {stake:,}" for area, stake in mix.stakes.items()]
    return ", ".join(listed[:6]) + (f" and {len(listed) - 6} more" if len(listed) > 6 else "")

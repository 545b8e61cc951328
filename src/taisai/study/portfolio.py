"""Several bets together: their exact distribution, the exposure of the house, and dominated bets.

A convex combination of other areas at the same stake dominates an area if its net is at least as great on all
56 outcomes and greater on one. By the duality of linear programs, exactly one of two certificates exists:
such a combination, or a distribution with positive probability of every outcome under which no other area has
a greater expected value. A floating-point solver proposes certificates; each is then checked exactly.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, partial
from math import lcm, sqrt
from operator import mul
from typing import Any, Final

from taisai.rules.areas import AreaId
from taisai.rules.chance import Chance
from taisai.rules.errors import RulesError
from taisai.rules.matrix import Matrix
from taisai.rules.outcomes import OUTCOMES, Outcome
from taisai.rules.settlement import Bet
from taisai.study import needed
from taisai.study.odds import Distribution, Mix, chance_facts, game_words
from taisai.study.report import Describable, Sheet, StudyReport, columns


@dataclass(frozen=True)
class Portfolio(Describable):
    """A mix of bets under given chances."""

    mix: Mix
    chance: Chance

    @cached_property
    def distribution(self) -> Distribution:
        """The exact distribution of the net of one round."""
        return self.mix.distribution(self.chance)

    @property
    def law(self) -> Distribution:
        """The distribution, by its name in release 0.1."""
        return self.distribution

    @property
    def house_edge(self) -> Fraction:
        return self.mix.edge(self.chance)

    @property
    def areas(self) -> tuple[AreaId, ...]:
        return tuple(self.mix.stakes)

    @cached_property
    def covariance(self) -> tuple[tuple[Fraction, ...], ...]:
        """[bet][bet] the covariance of two nets, in squared minor units. The sum is the variance."""
        matrix, mean = self.mix.matrix, self.chance.expected
        nets = [
            [stake * net // matrix.denominator for net in matrix.nets[matrix.row(area)]]
            for area, stake in self.mix.stakes.items()
        ]
        return tuple(
            tuple(mean(list(map(mul, one, other)), 1) - mean(one, 1) * mean(other, 1) for other in nets)
            for one in nets
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

    def report(self) -> StudyReport:
        distribution, staked = self.distribution, self.mix.staked
        sheets = [
            Sheet(
                f"{game_words(self.mix.matrix, self.chance)}: {_listed(self.mix)}",
                columns("of one round", numbers=("",)),
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
                columns(numbers=("net", "ways", "probability")),
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
            sheets.append(Sheet("Correlation of the bets", columns("", numbers=names), rows))
        dearest = [(str(outcome), f"{net:+,}") for outcome, net in self.exposure[:10]]
        heads = columns("dice", numbers=("house",))
        sheets.append(Sheet("The house on its ten costliest outcomes", heads, tuple(dearest)))
        alike = sum(net == self.exposure[len(dearest) - 1][1] for _, net in self.exposure[len(dearest) :])
        more = f"{alike} more cost the house as much as the last of these." if alike else ""
        return StudyReport(tuple(sheets), (more,) if more else ())

    def _on(self, net: int) -> str:
        places = [o for o in OUTCOMES if self.mix.nets[o.index] == net and self.chance.weights[o.index]]
        return f"{len(places)} outcomes" if len(places) > 4 else ", ".join(map(str, places))

    def facts(self) -> dict[str, Any]:
        distribution = self.distribution
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
    >>> held.house_edge, held.distribution.values, round(held.correlation("small", "big"), 4)
    (Fraction(1, 36), (-200, 0), -0.9459)
    """
    return Portfolio(Mix.of(matrix, bets), chance)


def _signed(share: float | None) -> str:
    return "–" if share is None else f"{share:+.3f}"


def _listed(mix: Mix) -> str:
    listed = [f"{area} {stake:,}" for area, stake in mix.stakes.items()]
    return ", ".join(listed[:6]) + (f" and {len(listed) - 6} more" if len(listed) > 6 else "")


# ── dominated bets ───────────────────────────────────────────────────────────────────────────────────


def solved(rows: Sequence[Sequence[Fraction]], right: Sequence[Fraction]) -> list[Fraction] | None:
    """Solves linear equations by Gaussian elimination; None without a solution, 0 for free unknowns.

    >>> solved([[Fraction(1), Fraction(1)], [Fraction(1), Fraction(-1)]], [Fraction(3), Fraction(1)])
    [Fraction(2, 1), Fraction(1, 1)]
    """
    table = [[*row, value] for row, value in zip(rows, right, strict=True)]
    unknown = len(rows[0]) if rows else 0
    pivots: list[int] = []
    for column in range(unknown):
        done = len(pivots)
        chosen = next((at for at in range(done, len(table)) if table[at][column]), None)
        if chosen is None:
            continue
        table[done], table[chosen] = table[chosen], table[done]
        head = table[done]
        lead = head[column]
        table[done] = head = [cell / lead for cell in head]
        for at, row in enumerate(table):
            if at != done and row[column]:
                factor = row[column]
                table[at] = [cell - factor * above for cell, above in zip(row, head, strict=True)]
        pivots.append(column)
    if any(row[-1] for row in table[len(pivots) :]):
        return None
    solution = [Fraction(0)] * unknown
    for row, column in zip(table, pivots, strict=False):
        solution[column] = row[-1]
    return solution


NetRows = Sequence[Sequence[int]]  # [area][outcome] in any common unit
NEAR: Final = 1e-9  # smaller results of the solver are taken as 0; the exact check follows
ROUNDED_TO: Final = (3, 5, 8)  # digits


@dataclass(frozen=True)
class Dominated:
    """An area and the combination that dominates it, as shares of one stake."""

    area: AreaId
    mix: Mapping[AreaId, Fraction]
    better_by: Mapping[Outcome, Fraction]
    """The advantage per unit on each outcome where it is not 0."""

    def facts(self) -> dict[str, Any]:
        certificate = {"mix": _texts(self.mix), "better_by": _texts(self.better_by)}
        return {"id": self.area, "dominated": True, **certificate}


@dataclass(frozen=True)
class Undominated:
    """An area and a distribution of outcomes under which no other area has a greater expected value."""

    area: AreaId
    distribution: Mapping[Outcome, Fraction]

    def facts(self) -> dict[str, Any]:
        return {"id": self.area, "dominated": False, "best_under": _texts(self.distribution)}


@dataclass(frozen=True)
class Dominance(Describable):
    """The certificates of all areas of a layout."""

    matrix: Matrix
    verdicts: tuple[Dominated | Undominated, ...]

    @property
    def dominated(self) -> tuple[Dominated, ...]:
        return tuple(verdict for verdict in self.verdicts if isinstance(verdict, Dominated))

    def report(self) -> StudyReport:
        name = f"{self.matrix.rulebook}, layout {self.matrix.layout}"
        if not self.dominated:
            return StudyReport(
                (), (f"{name}: no mix of other areas dominates any of the {len(self.verdicts)} areas.",)
            )
        rows = tuple(
            (
                str(verdict.area),
                " + ".join(f"{share} {area}" for area, share in verdict.mix.items()),
                ", ".join(f"{outcome} by {more}" for outcome, more in list(verdict.better_by.items())[:6]),
            )
            for verdict in self.dominated
        )
        heads = columns("area", "beaten, at the same stake, by", "better on")
        note = f"Proven in fractions for all {len(self.verdicts)} areas; --json has every certificate."
        return StudyReport((Sheet(f"{name}: dominated areas", heads, rows),), (note,))

    def facts(self) -> dict[str, Any]:
        return {
            "rulebook": self.matrix.rulebook,
            "layout": self.matrix.layout,
            "digest": self.matrix.digest,
            "areas": [verdict.facts() for verdict in self.verdicts],
        }


def dominance(matrix: Matrix) -> Dominance:
    """Which areas of a layout are dominated, with a certificate for each area.

    >>> from taisai.rules import rulebook
    >>> found = dominance(rulebook("us-sic-bo").matrix())
    >>> [(one.area, one.mix["triple-1"]) for one in found.dominated]
    [('any-triple', Fraction(25, 151))]
    """
    return Dominance(matrix, tuple(_verdict(matrix, row) for row in range(len(matrix.areas))))


def _verdict(matrix: Matrix, row: int) -> Dominated | Undominated:
    nets = matrix.nets
    others = [other for other in range(len(nets)) if other != row]
    shares = _proposed_mix(nets, row, others)
    if shares is not None:
        mix = {matrix.areas[other]: share for other, share in zip(others, shares, strict=True) if share}
        better = proven_mix(nets, row, dict(zip(others, shares, strict=True)))
        if better is not None:
            by = {OUTCOMES[place]: more / matrix.denominator for place, more in better.items()}
            return Dominated(matrix.areas[row], mix, by)
    weights = _proposed_distribution(nets, row, others)
    if weights is not None and proven_distribution(nets, row, weights):
        return Undominated(matrix.areas[row], dict(zip(OUTCOMES, weights, strict=True)))
    raise RulesError(f"no certificate found ({matrix.rulebook}, layout {matrix.layout}, {matrix.areas[row]})")


def proven_mix(nets: NetRows, row: int, shares: Mapping[int, Fraction]) -> dict[int, Fraction] | None:
    """The advantage of these shares of other rows on each outcome; None if they do not dominate the row."""
    if row in shares or any(share < 0 for share in shares.values()) or sum(shares.values()) != 1:
        return None
    held = [(nets[other], share) for other, share in shares.items() if share]
    more = [sum((r[place] * s for r, s in held), Fraction(0)) - net for place, net in enumerate(nets[row])]
    if min(more) < 0 or not any(more):
        return None
    return {place: by for place, by in enumerate(more) if by}


def proven_distribution(nets: NetRows, row: int, weights: Sequence[Fraction]) -> bool:
    """Whether the weights are a positive distribution under which no row has a greater expected value."""
    if min(weights) <= 0 or sum(weights) != 1:
        return False
    unit = lcm(*(weight.denominator for weight in weights))
    whole = [int(weight * unit) for weight in weights]
    means: list[int] = [sum(map(mul, nets_of_row, whole)) for nets_of_row in nets]
    return max(means) == means[row]


def _proposed_mix(nets: NetRows, row: int, others: Sequence[int]) -> list[Fraction] | None:
    """The combination with the greatest total advantage, if the solver finds one."""
    np, linprog = _solver()
    table = np.array([nets[other] for other in others], dtype=float)
    least = np.array(nets[row], dtype=float)
    program = linprog(-table.sum(axis=1), -table.T, -least, np.ones((1, len(others))), [1.0])
    if program.status != 0 or -program.fun - least.sum() < NEAR:
        return None
    held = [place for place, share in enumerate(program.x) if share > NEAR]
    tight = [place for place, slack in enumerate(program.slack) if abs(slack) <= NEAR]
    rows = [[Fraction(nets[others[at]][place]) for at in held] for place in tight]
    rows.append([Fraction(1)] * len(held))
    exact = solved(rows, [*(Fraction(nets[row][place]) for place in tight), Fraction(1)])
    if exact is None:
        return None
    shares = [Fraction(0)] * len(others)
    for at, share in zip(held, exact, strict=True):
        shares[at] = share
    return shares


def _proposed_distribution(nets: NetRows, row: int, others: Sequence[int]) -> list[Fraction] | None:
    """A distribution under which the row is best, if the solver finds one; rounded if possible.

    The unknowns are the least weight, which is maximised, and the excess of each weight over it.
    """
    np, linprog = _solver()
    places = range(len(nets[row]))
    ahead = [[nets[row][p] - nets[other][p] for p in places] for other in others]
    rows = [list(map(Fraction, (sum(margins), *margins))) for margins in ahead]  # · (least, extras) ≥ 0
    whole = [Fraction(len(places)), *([Fraction(1)] * len(places))]
    for clear in (1.0, 0.0):  # first with a margin of the least weight, then without
        behind = -np.array(rows, dtype=float)
        behind[:, 0] += clear
        most = [-1.0] + [0.0] * len(places)
        program = linprog(most, behind, np.zeros(len(rows)), np.array([whole], dtype=float), [1.0])
        if program.status != 0 or program.x[0] < NEAR:
            continue
        rounded = _rounded(nets, row, [program.x[0] + extra for extra in program.x[1:]])
        if rounded is not None:
            return rounded
        held = [at for at, value in enumerate(program.x) if value > NEAR]
        tight = [one for one, slack in zip(rows, program.slack, strict=True) if abs(slack) <= NEAR]
        right = [Fraction(0)] * len(tight) + [Fraction(1)]
        exact = solved([[row_cells[at] for at in held] for row_cells in (*tight, whole)], right)
        if exact is not None:
            values = dict(zip(held, exact, strict=True))
            return [values.get(0, Fraction(0)) + values.get(place + 1, Fraction(0)) for place in places]
    return None


def _rounded(nets: NetRows, row: int, weights: Sequence[float]) -> list[Fraction] | None:
    """The weights in the fewest digits that are still a certificate."""
    for digits in ROUNDED_TO:
        whole = [round(weight * 10**digits) for weight in weights]
        distribution = [Fraction(weight, sum(whole)) for weight in whole]
        if min(whole) > 0 and proven_distribution(nets, row, distribution):
            return distribution
    return None


def _solver() -> tuple[Any, Any]:
    """NumPy, and the solver of linear programs."""
    with needed("SciPy", "study"):
        import numpy as np
        from scipy.optimize import linprog
    return np, partial(linprog, method="highs-ds")


def _texts(fractions: Mapping[Any, Fraction]) -> dict[str, str]:
    return {str(key): str(fraction) for key, fraction in fractions.items()}

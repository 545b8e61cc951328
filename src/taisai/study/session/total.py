"""The total of a session: what a fixed mix of bets comes to after so many rounds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import sqrt
from typing import Any, Final

from taisai.rules.chance import Chance
from taisai.rules.errors import RulesError
from taisai.study.chances import fresh_shoe
from taisai.study.law import Law
from taisai.study.mix import Mix
from taisai.study.report import Report, Sheet, Told, columns, counted
from taisai.study.session.digits import decimal_text, fraction_text, got, told
from taisai.study.session.powers import Lattice, sparse_sum_law, sum_law
from taisai.study.session.waves import MOST_POINTS, Wave, sum_wave

MOST_EXACT: Final = 1_000
"""Rounds to which the law is kept in whole numbers; beyond, an FFT with a bound on its error is enough."""
MOST_BYTES: Final = 2**31
"""Memory for the whole numbers of an exact law; one that needs more goes by the FFT."""
MOST_SPARSE: Final = 2**20
"""Totals that an exact law may have where they lie far apart and each is reached by itself."""
MOST_LISTED: Final = 200
"""Totals that `facts` lists one by one; more go into a file."""
MOST_ROUNDS: Final = 10**9
"""More rounds than a table plays in its life are a typing mistake."""
MOST_TARGET: Final = 10**30
"""Further than the total of any session that is not refused."""
SHARES: Final = tuple(
    map(Fraction, ("0.001", "0.01", "0.05", "0.25", "0.5", "0.75", "0.95", "0.99", "0.999"))
)
"""The quantiles that a report shows."""
_TRIED: Final = 2**17  # totals that are gone through, in a second, to find out whether there are more
_CLOSE: Final = 8  # points for each total: up to it going through all of them is quicker than one by one


@dataclass(frozen=True)
class Total(Told):
    """What a session comes to: the law of the total after so many independent rounds of one mix."""

    mix: Mix
    chance: Chance
    rounds: int
    target: int | None
    law: Law | Wave
    """Exact, or a wave with its error."""
    why_not_exact: str | None = None
    """The reason, where the law is a wave."""

    @property
    def is_exact(self) -> bool:
        """Whether every probability is a fraction, without any error."""
        return isinstance(self.law, Law)

    @property
    def error(self) -> float:
        """The most that the probability of one total is off; 0 where exact."""
        return 0.0 if isinstance(self.law, Law) else self.law.error

    @property
    def sum_error(self) -> float:
        """The most that the probability of a range of totals is off; 0 where exact."""
        return 0.0 if isinstance(self.law, Law) else self.law.sum_error

    @cached_property
    def one_round(self) -> Law:
        """The law of one round."""
        return self.mix.law(self.chance)

    @property
    def mean(self) -> Fraction:
        """What the session brings in the mean, exactly."""
        return self.rounds * self.one_round.mean

    @property
    def deviation(self) -> float:
        """The standard deviation of the total."""
        return sqrt(self.rounds * self.one_round.variance)

    @property
    def best(self) -> int:
        """The best total there can be."""
        return self.rounds * self.one_round.values[-1]

    @property
    def worst(self) -> int:
        """The worst total there can be."""
        return self.rounds * self.one_round.values[0]

    def probability(self, *, at_least: int | None = None, at_most: int | None = None) -> Fraction | float:
        """The probability of a total within these bounds, both included."""
        return self.law.probability(at_least=at_least, at_most=at_most)

    @cached_property
    def ahead(self) -> Fraction | float:
        """The probability of having won."""
        return self.probability(at_least=1)

    @cached_property
    def level(self) -> Fraction | float:
        """The probability of having neither won nor lost."""
        return self.probability(at_least=0, at_most=0)

    @cached_property
    def behind(self) -> Fraction | float:
        """The probability of having lost."""
        return self.probability(at_most=-1)

    @cached_property
    def reached(self) -> Fraction | float | None:
        """The probability of the target or more, where there is a target."""
        return None if self.target is None else self.probability(at_least=self.target)

    def quantile(self, share: Fraction) -> int:
        """The least total such that it or less comes with at least this probability."""
        return self.law.quantile(share)

    @property
    def points(self) -> int:
        """How many totals the law gives a probability for."""
        return len(self.law.values if isinstance(self.law, Law) else self.law.probabilities)

    def distribution(self) -> Iterator[tuple[int, Fraction | float]]:
        """Every total, ascending, with its probability: exact, or a float no further off than `error`."""
        if isinstance(self.law, Law):
            for value, weight in zip(self.law.values, self.law.weights, strict=True):
                yield value, Fraction(weight, self.law.total)
        else:
            for place, share in enumerate(self.law.probabilities.tolist()):
                yield self.law.low + self.law.step * place, share

    @cached_property
    def quantiles(self) -> tuple[tuple[Fraction, int], ...]:
        """The quantiles that a report shows."""
        if not isinstance(self.law, Law):
            return tuple((share, self.quantile(share)) for share in SHARES)
        wanted = [-(-share.numerator * self.law.total // share.denominator) for share in SHARES]
        found: list[tuple[Fraction, int]] = []
        reached = 0
        for value, weight in zip(self.law.values, self.law.weights, strict=True):  # once, however many
            reached += weight
            while len(found) < len(SHARES) and reached >= wanted[len(found)]:
                found.append((SHARES[len(found)], value))
        return tuple(found)

    def report(self) -> Report:
        """Two tables: the chances and the quantiles."""
        chances = [("ahead", self.ahead), ("level", self.level), ("behind", self.behind)]
        if self.reached is not None:
            chances.append((f"{self.target:+,} or more", self.reached))
        rows = [(name, told(value, self.sum_error)) for name, value in chances]
        rows += [
            ("mean", f"{float(self.mean):+,.2f}"),
            ("standard deviation", f"{self.deviation:,.2f}"),
            ("best possible", f"{self.best:+,}"),
            ("worst possible", f"{self.worst:+,}"),
        ]
        bets = ", ".join(f"{area}={stake}" for area, stake in self.mix.stakes.items())
        matrix = self.mix.matrix
        title = f"{matrix.rulebook}, layout {matrix.layout}: {bets}, {counted(self.rounds, 'round')}"
        quantiles = tuple(
            (f"{decimal_text(100 * share)} %", f"{value:+,}") for share, value in self.quantiles
        )
        sheets = (
            Sheet(title, columns("total", "", numbers=("",)), tuple(rows)),
            Sheet(
                "At least so many sessions in a hundred end at or below",
                columns("sessions", "total", numbers=("sessions", "total")),
                quantiles,
            ),
        )
        return Report(sheets, tuple(self._notes()))

    def _notes(self) -> list[str]:
        notes = []
        if self.is_exact:
            notes.append("Exact: every probability is a fraction (library: Total.law).")
        else:
            notes.append(
                f"By FFT, since {self.why_not_exact}: no single probability is off by more than "
                f"{self.error:.1e}, no sum of them by more than {self.sum_error:.1e}; "
                "mean and deviation are exact."
            )
        if supposed := fresh_shoe(self.chance):
            notes.append(supposed)
        return notes

    def facts(self) -> dict[str, Any]:
        """For machines: fractions as text where exact, numbers with their error where not."""
        return {
            "rulebook": self.mix.matrix.rulebook,
            "layout": self.mix.matrix.layout,
            "bets": dict(self.mix.stakes),
            "rounds": self.rounds,
            "assumption": fresh_shoe(self.chance),
            "exact": self.is_exact,
            "why_not_exact": self.why_not_exact,
            "error_at_most": self.error,
            "sum_error_at_most": self.sum_error,
            "mean": fraction_text(self.mean),
            "variance": fraction_text(self.rounds * self.one_round.variance),
            "deviation": self.deviation,
            "best": self.best,
            "worst": self.worst,
            "target": self.target,
            "probability": {
                name: {"value": _fact(value), "about": float(value)}
                for name, value in (
                    ("ahead", self.ahead),
                    ("level", self.level),
                    ("behind", self.behind),
                    ("target", self.reached),
                )
                if value is not None
            },
            "quantiles": [{"share": str(share), "total": value} for share, value in self.quantiles],
            "points": self.points,
            "distribution": self.listed() if self.points <= MOST_LISTED else None,
        }

    def listed(self) -> list[dict[str, Any]]:
        """The whole distribution, for machines."""
        return [{"total": total, "probability": _fact(share)} for total, share in self.distribution()]


def total_after(mix: Mix, chance: Chance, rounds: int, *, target: int | None = None) -> Total:
    """What a mix comes to after so many independent rounds: exact to a thousand, with a bound beyond.

    >>> from taisai.rules import rulebook
    >>> book = rulebook("rws-sic-bo-etg-v8")
    >>> evening = total_after(Mix.of(book.matrix("A"), {"small": 100}), book.chance(), 100, target=500)
    >>> evening.mean, evening.quantile(Fraction(1, 2)), f"{float(evening.ahead):.6f}"
    (Fraction(-2500, 9), -200, '0.352549')
    """
    if type(rounds) is not int or not 1 <= rounds <= MOST_ROUNDS:
        raise RulesError(f"expected 1 to {MOST_ROUNDS:,} rounds, got {got(rounds)}")
    if target is not None and (type(target) is not int or abs(target) > MOST_TARGET):
        raise RulesError(f"expected a target of at most 10^30 won or lost, got {got(target)}")
    lattice = Lattice.of(mix.law(chance))
    if found := _exact(lattice, rounds):
        return Total(mix, chance, rounds, target, found)
    if rounds > MOST_EXACT:
        why = f"there are more than {MOST_EXACT:,} rounds"
    else:
        size = lattice.sums(rounds) * lattice.bytes_of_each(rounds) / 2**30
        why = f"exact fractions would take about {size:,.1f} GiB of memory, more than {MOST_BYTES >> 30}"
    return Total(mix, chance, rounds, target, sum_wave(lattice, rounds), why)


def _exact(lattice: Lattice, rounds: int) -> Law | None:
    """The law in whole numbers, if there are few enough rounds and totals for it."""
    most = MOST_BYTES // lattice.bytes_of_each(rounds)
    points, sums = lattice.points(rounds), lattice.sums(rounds)
    if rounds <= MOST_EXACT:
        if points <= most and points <= _CLOSE * sums:
            return sum_law(lattice, rounds)
        if sums <= min(most, MOST_SPARSE):
            return sparse_sum_law(lattice, rounds, sums)
        if points <= most:
            return sum_law(lattice, rounds)
    least = rounds * (len(lattice.exponents) - 1) + 1  # so many sums of so many values there always are
    if points > MOST_POINTS and least <= most:  # no FFT either: perhaps many ways lead to the same few totals
        return sparse_sum_law(lattice, rounds, min(most, sums if sums <= MOST_SPARSE else _TRIED))
    return None


def _fact(value: Fraction | float) -> str | float:
    return fraction_text(value) if isinstance(value, Fraction) else value

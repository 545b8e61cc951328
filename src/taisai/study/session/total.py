"""The total of a session: what a fixed mix of bets comes to after so many rounds."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import sqrt
from typing import Any, Final

from taisai.rules.chance import Chance, ChanceKind
from taisai.rules.errors import RulesError
from taisai.study.law import Law
from taisai.study.mix import Mix
from taisai.study.report import Report, Sheet, Told, columns
from taisai.study.session.digits import decimal_text, fraction_text, told
from taisai.study.session.powers import Lattice, sum_law
from taisai.study.session.waves import Wave, sum_wave

MOST_EXACT: Final = 1_000
"""Rounds to which the law is kept in whole numbers; beyond, an FFT with a bound on its error is enough."""
MOST_BYTES: Final = 2**29
"""Memory for the whole numbers of an exact law; one that needs more goes by the FFT."""
MOST_ROUNDS: Final = 10**9
"""More rounds than a table plays in its life are a typing mistake."""
SHARES: Final = tuple(
    map(Fraction, ("0.001", "0.01", "0.05", "0.25", "0.5", "0.75", "0.95", "0.99", "0.999"))
)
"""The quantiles that a report shows."""


@dataclass(frozen=True)
class Total(Told):
    """What a session comes to: the law of the total after so many independent rounds of one mix."""

    mix: Mix
    chance: Chance
    rounds: int
    target: int | None
    law: Law | Wave
    """Exact, or a wave with its error."""

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

    @cached_property
    def quantiles(self) -> tuple[tuple[Fraction, int], ...]:
        """The quantiles that a report shows."""
        return tuple((share, self.quantile(share)) for share in SHARES)

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
        title = f"{matrix.rulebook}, layout {matrix.layout}: {bets}, {self.rounds:,} rounds"
        quantiles = tuple(
            (f"{decimal_text(100 * share)} %", f"{value:+,}") for share, value in self.quantiles
        )
        sheets = (
            Sheet(title, columns("total", "", numbers=("",)), tuple(rows)),
            Sheet(
                "So many sessions in a hundred end at or below",
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
                f"By FFT: no single probability is off by more than {self.error:.1e}, "
                f"no sum of them by more than {self.sum_error:.1e}; mean and deviation are exact."
            )
        if self.chance.kind is ChanceKind.CARDS:
            notes.append(fresh_shoe(self.chance))
        return notes

    def facts(self) -> dict[str, Any]:
        """For machines: fractions as text where exact, numbers with their error where not."""
        return {
            "rulebook": self.mix.matrix.rulebook,
            "layout": self.mix.matrix.layout,
            "bets": dict(self.mix.stakes),
            "rounds": self.rounds,
            "assumption": fresh_shoe(self.chance) if self.chance.kind is ChanceKind.CARDS else None,
            "exact": self.is_exact,
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
        }


def total_after(mix: Mix, chance: Chance, rounds: int, *, target: int | None = None) -> Total:
    """What a mix comes to after so many independent rounds: exact to a thousand, with a bound beyond.

    >>> from taisai.rules import rulebook
    >>> book = rulebook("rws-sic-bo-etg-v8")
    >>> evening = total_after(Mix.of(book.matrix("A"), {"small": 100}), book.chance(), 100, target=500)
    >>> evening.mean, evening.quantile(Fraction(1, 2)), f"{float(evening.ahead):.6f}"
    (Fraction(-2500, 9), -200, '0.352549')
    """
    if not 1 <= rounds <= MOST_ROUNDS:
        raise RulesError(f"expected 1 to {MOST_ROUNDS:,} rounds, got {rounds:,}")
    lattice = Lattice.of(mix.law(chance))
    exact = rounds <= MOST_EXACT and lattice.bytes_of_sum(rounds) <= MOST_BYTES
    law = sum_law(lattice, rounds) if exact else sum_wave(lattice, rounds)
    return Total(mix, chance, rounds, target, law)


def fresh_shoe(chance: Chance) -> str:
    """What has to be assumed of cards, whose rounds out of one shoe are not independent."""
    return f"Every round is dealt from a freshly shuffled shoe of {chance.decks} decks."


def _fact(value: Fraction | float) -> str | float:
    return fraction_text(value) if isinstance(value, Fraction) else value

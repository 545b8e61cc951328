"""The distribution of the total of fixed bets after a number of rounds."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import sqrt
from pathlib import Path
from typing import IO, Any, Final

from taisai.rules.chance import Chance
from taisai.rules.errors import RulesError
from taisai.study import needed
from taisai.study.odds import Distribution, Mix, fresh_shoe
from taisai.study.report import (
    Describable,
    Sheet,
    StudyReport,
    columns,
    counted,
    data_file,
    data_path,
    decimal_text,
    fraction_text,
    got,
    probability_text,
)
from taisai.study.session.sums import (
    MOST_POINTS,
    FourierDistribution,
    Lattice,
    sparse_sum_distribution,
    sum_by_fft,
    sum_distribution,
)

MOST_EXACT: Final = 1_000
"""The most rounds for an exact distribution; with more, an FFT with an error bound is used."""
MOST_BYTES: Final = 2**31  # the most memory of an exact distribution; with more, the FFT is used
MOST_SPARSE: Final = 2**20  # the most totals of a sparse exact distribution
MOST_LISTED: Final = 200  # the most totals that `facts` lists; `save_distribution` writes more to a file
MOST_ROUNDS: Final = 10**9  # more rounds than a table plays in its life are a typing mistake
MOST_TARGET: Final = 10**30  # greater than the total of any valid session
SHARES: Final = tuple(
    map(Fraction, ("0.001", "0.01", "0.05", "0.25", "0.5", "0.75", "0.95", "0.99", "0.999"))
)
"""The quantiles that a report shows."""
_TRIED: Final = 2**17  # totals that take a second; a test whether there are more
_CLOSE: Final = 8  # lattice points per total; with fewer the dense convolution is faster


@dataclass(frozen=True)
class Total(Describable):
    """The distribution of the total after independent rounds of one mix of bets."""

    mix: Mix
    chance: Chance
    rounds: int
    target: int | None
    distribution: Distribution | FourierDistribution
    """The distribution: exact, or by FFT with its error bounds."""
    why_not_exact: str | None = None
    """The reason, if the distribution is not exact."""

    @property
    def law(self) -> Distribution | FourierDistribution:
        """The distribution, by its name in release 0.1."""
        return self.distribution

    @property
    def is_exact(self) -> bool:
        return isinstance(self.distribution, Distribution)

    @property
    def error(self) -> float:
        """The error bound of one probability; 0 if exact."""
        return 0.0 if isinstance(self.distribution, Distribution) else self.distribution.error

    @property
    def sum_error(self) -> float:
        """The error bound of a sum of probabilities; 0 if exact."""
        return 0.0 if isinstance(self.distribution, Distribution) else self.distribution.sum_error

    @cached_property
    def one_round(self) -> Distribution:
        return self.mix.distribution(self.chance)

    @property
    def mean(self) -> Fraction:
        return self.rounds * self.one_round.mean

    @property
    def deviation(self) -> float:
        return sqrt(self.rounds * self.one_round.variance)

    @property
    def best(self) -> int:
        return self.rounds * self.one_round.values[-1]

    @property
    def worst(self) -> int:
        return self.rounds * self.one_round.values[0]

    def probability(self, *, at_least: int | None = None, at_most: int | None = None) -> Fraction | float:
        """The probability of a total within these bounds, both included."""
        return self.distribution.probability(at_least=at_least, at_most=at_most)

    @cached_property
    def ahead(self) -> Fraction | float:
        """The probability of a total above 0."""
        return self.probability(at_least=1)

    @cached_property
    def level(self) -> Fraction | float:
        """The probability of a total of 0."""
        return self.probability(at_least=0, at_most=0)

    @cached_property
    def behind(self) -> Fraction | float:
        """The probability of a total below 0."""
        return self.probability(at_most=-1)

    @cached_property
    def reached(self) -> Fraction | float | None:
        """The probability of the target or more; None without a target."""
        return None if self.target is None else self.probability(at_least=self.target)

    def quantile(self, share: Fraction) -> int:
        """The least total whose cumulative probability is at least this share."""
        return self.distribution.quantile(share)

    @property
    def points(self) -> int:
        """The number of totals in the distribution."""
        found = self.distribution
        return len(found.values if isinstance(found, Distribution) else found.probabilities)

    def probabilities(self) -> Iterator[tuple[int, Fraction | float]]:
        """Every total, ascending, with its probability: exact, or a float within `error`."""
        found = self.distribution
        if isinstance(found, Distribution):
            for value, weight in zip(found.values, found.weights, strict=True):
                yield value, Fraction(weight, found.total)
        else:
            yield from zip(found.values(), found.probabilities.tolist(), strict=True)

    @cached_property
    def quantiles(self) -> tuple[tuple[Fraction, int], ...]:
        distribution = self.distribution
        if not isinstance(distribution, Distribution):
            return tuple((share, self.quantile(share)) for share in SHARES)
        wanted = [-(-share.numerator * distribution.total // share.denominator) for share in SHARES]
        found: list[tuple[Fraction, int]] = []
        reached = 0
        for value, weight in zip(distribution.values, distribution.weights, strict=True):  # one pass for all
            reached += weight
            while len(found) < len(SHARES) and reached >= wanted[len(found)]:
                found.append((SHARES[len(found)], value))
        return tuple(found)

    def report(self) -> StudyReport:
        chances = [("ahead", self.ahead), ("level", self.level), ("behind", self.behind)]
        if self.reached is not None:
            chances.append((f"{self.target:+,} or more", self.reached))
        rows = [(name, probability_text(value, self.sum_error)) for name, value in chances]
        rows += [
            ("mean", f"{float(self.mean):+,.2f}"),
            ("standard deviation", f"{self.deviation:,.2f}"),
            ("best possible", f"{self.best:+,}"),
            ("worst possible", f"{self.worst:+,}"),
        ]
        bets = ", ".join(f"{area}={stake}" for area, stake in self.mix.stakes.items())
        matrix = self.mix.matrix
        title = f"{matrix.rulebook}, layout {matrix.layout}: {bets}, {counted(self.rounds, 'round')}"
        totals = Sheet(title, columns("total", numbers=("",)), tuple(rows))
        quantiles = Sheet(
            "Quantiles: at least this share of sessions ends at or below the total",
            columns(numbers=("sessions", "total")),
            tuple((f"{decimal_text(100 * share)} %", f"{value:+,}") for share, value in self.quantiles),
        )
        note = "Exact: every probability is a fraction (in the library: Total.distribution)."
        if not self.is_exact:
            note = (
                f"By FFT, because {self.why_not_exact}: the error of one probability is at most "
                f"{self.error:.1e}, of a sum of them at most {self.sum_error:.1e}; "
                "mean and deviation are exact."
            )
        assumption = fresh_shoe(self.chance)
        return StudyReport((totals, quantiles), (note, assumption) if assumption else (note,))

    def facts(self) -> dict[str, Any]:
        """Probabilities are fractions as text if exact, else floats with their error bounds."""
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
        """The whole distribution, for programs."""
        return [{"total": total, "probability": _fact(share)} for total, share in self.probabilities()]


def total_after(mix: Mix, chance: Chance, rounds: int, *, target: int | None = None) -> Total:
    """The total of a mix after independent rounds: exact up to 1,000 rounds, then with an error bound.

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
    lattice = Lattice.of(mix.distribution(chance))
    if exact := _exact(lattice, rounds):
        return Total(mix, chance, rounds, target, exact)
    if rounds > MOST_EXACT:
        why = f"there are more than {MOST_EXACT:,} rounds"
    else:
        size = lattice.sums(rounds) * lattice.bytes_of_each(rounds) / 2**30
        why = f"exact fractions would take about {size:,.1f} GiB of memory, more than {MOST_BYTES >> 30}"
    return Total(mix, chance, rounds, target, sum_by_fft(lattice, rounds), why)


def _exact(lattice: Lattice, rounds: int) -> Distribution | None:
    """The exact distribution, if there are few enough rounds and totals."""
    most = MOST_BYTES // lattice.bytes_of_each(rounds)
    points, sums = lattice.points(rounds), lattice.sums(rounds)
    if rounds <= MOST_EXACT:
        if points <= most and points <= _CLOSE * sums:
            return sum_distribution(lattice, rounds)
        if sums <= min(most, MOST_SPARSE):
            return sparse_sum_distribution(lattice, rounds, sums)
        if points <= most:
            return sum_distribution(lattice, rounds)
    least = rounds * (len(lattice.exponents) - 1) + 1  # the least possible number of different totals
    if points > MOST_POINTS and least <= most:  # too many for an FFT; there may be few different totals
        return sparse_sum_distribution(lattice, rounds, min(most, sums if sums <= MOST_SPARSE else _TRIED))
    return None


def _fact(value: Fraction | float) -> str | float:
    return fraction_text(value) if isinstance(value, Fraction) else value


MOST_TEXT: Final = 2**28  # the most bytes of a JSON file; Parquet has one float per probability


def save_distribution(total: Total, path: str | Path, into: IO[bytes] | None = None) -> Path:
    """Writes every total with its probability; JSON also has all other facts."""
    to = data_path(str(path))
    with data_file(to, into) as file:
        if to.suffix.lower() == ".json":
            _check_size(total)
            facts = {**total.facts(), "distribution": total.listed()}
            file.write((json.dumps(facts) + "\n").encode())
        else:
            _write_parquet(total, file)
    return to


def _check_size(total: Total) -> None:
    digits = 2 * total.rounds * total.one_round.total.bit_length() // 3 if total.is_exact else 20
    size = total.points * (digits + 40)
    if size > MOST_TEXT:
        raise RulesError(
            f"expected a distribution of at most {MOST_TEXT >> 20} MiB as JSON, got about "
            f"{size >> 20:,} MiB for {total.points:,} totals: name a .parquet file, where each is one float"
        )


def _write_parquet(total: Total, file: IO[bytes]) -> None:
    """Totals as whole numbers, probabilities as the nearest float."""
    with needed("pyarrow", "study"):
        import pyarrow as pa
        import pyarrow.parquet as pq
    distribution = total.distribution
    if isinstance(distribution, Distribution):
        totals: Iterable[int] = distribution.values
        # Reducing the fractions would take minutes.
        shares: Any = [weight / distribution.total for weight in distribution.weights]
    else:
        totals, shares = distribution.values(), distribution.probabilities
    narrow = max(abs(total.best), abs(total.worst)) < 2**63
    table = pa.table(
        {
            "total": pa.array(totals, pa.int64() if narrow else pa.decimal128(38)),
            "probability": pa.array(shares, pa.float64()),
        }
    )
    about = {"exact": str(total.is_exact).lower(), "error_at_most": repr(total.error)}
    pq.write_table(table.replace_schema_metadata(about), file)

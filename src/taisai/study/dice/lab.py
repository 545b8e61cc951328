"""Tests of fairness, and the proof that a mapping from bytes to faces is unbiased."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from math import exp, inf, sqrt
from typing import TYPE_CHECKING, Any, Final

from taisai.rules.errors import RulesError
from taisai.rules.outcomes import OUTCOMES
from taisai.study import needed
from taisai.study.dice.rolls import LAGS, MIDDLE, Tally
from taisai.study.dice.watch import WATCHED
from taisai.study.report import Describable, Sheet, StudyReport, columns

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


BYTES: Final = 256
FACES: Final = 6
FAIR: Final = BYTES - BYTES % FACES  # bytes from here on are rejected, so that each face has equally many


def faces_of(data: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
    """The faces of a sequence of bytes, without rejected bytes.

    >>> import numpy as np
    >>> faces_of(np.array([0, 5, 6, 251, 252, 255], dtype=np.uint8)).tolist()
    [1, 6, 1, 6]
    """
    kept = data[data < FAIR]
    kept %= FACES
    kept += 1
    return kept


@dataclass(frozen=True)
class MappingProof(Describable):
    """How many of the 256 bytes map to each face, and how many are rejected."""

    faces: tuple[int, ...]
    left_out: int

    @property
    def is_unbiased(self) -> bool:
        """Whether each face has equally many bytes."""
        return len(set(self.faces)) == 1 and sum(self.faces) + self.left_out == BYTES

    def report(self) -> StudyReport:
        rows = tuple((str(face), str(count)) for face, count in enumerate(self.faces, 1))
        verdict = (
            f"Each face has {self.faces[0]} of the 256 bytes; {self.left_out} are left out. So bytes that "
            "are uniform and independent make dice that are uniform and independent."
            if self.is_unbiased
            else "The faces do not have equally many bytes: this mapping is biased."
        )
        sheet = Sheet("Bytes that stand for a face", columns("face", numbers=("bytes",)), rows)
        return StudyReport((sheet,), (verdict,))

    def facts(self) -> dict[str, Any]:
        return {"faces": list(self.faces), "left_out": self.left_out, "unbiased": self.is_unbiased}


def mapping_proof(face_of: Callable[[int], int | None]) -> MappingProof:
    """The proof for a mapping from a byte to a face, or to None for a rejected byte.

    >>> mapping_proof(lambda byte: byte % 6 + 1).is_unbiased
    False
    """
    mapped = [face_of(byte) for byte in range(BYTES)]
    faces = tuple(mapped.count(face) for face in range(1, FACES + 1))
    return MappingProof(faces, mapped.count(None))


LEVEL: Final = 0.01  # the probability that any of the tests calls fair dice unfair is at most this
EXPECTED: Final = 5  # a chi-square test needs at least this expected count in every cell
LEAST: Final = 20  # rolls; fewer are too few for any test
ALARM: Final = 1000.0
"""The e-value of an alarm; fair dice reach it at any time with probability 1/1000 or less."""


@dataclass(frozen=True, slots=True)
class OneTest:
    """A test with its statistic and p-value."""

    name: str
    statistic: float
    of: str
    """The distribution of the statistic for fair dice."""
    p: float
    corrected: float
    """The p-value after Holm's correction for the number of tests."""


@dataclass(frozen=True)
class DiceTests(Describable):
    """All tests of a sequence of rolls."""

    source: str
    tally: Tally
    tests: tuple[OneTest, ...]
    left_out: tuple[str, ...]
    log_e: float

    @property
    def is_fair(self) -> bool:
        """Whether no test rejects fair dice, at the level of all tests together."""
        return all(test.corrected >= LEVEL for test in self.tests) and self.e_value < ALARM

    @property
    def e_value(self) -> float:
        """The e-value against fair dice, which is valid after every roll."""
        return exp(self.log_e) if self.log_e < 700 else inf

    def report(self) -> StudyReport:
        numbers = ("statistic", "p", "corrected p")
        tests = Sheet(
            f"{self.source}: {self.tally.rolls:,} rolls, {3 * self.tally.rolls:,} dice",
            columns("test", "statistic", "of", "p", "corrected p", "", numbers=numbers),
            tuple(
                (
                    test.name,
                    f"{test.statistic:.3f}",
                    test.of,
                    f"{test.p:.4g}",
                    f"{test.corrected:.4g}",
                    "" if test.corrected >= LEVEL else "odd",
                )
                for test in self.tests
            ),
        )
        even = 3 * self.tally.rolls / 6
        faces = Sheet(
            "Faces",
            columns("face", numbers=("came", "of expected")),
            tuple(
                (str(face), f"{count:,}", f"{count / even:.4f}")
                for face, count in enumerate(self.tally.faces, 1)
            ),
        )
        verdict = "No evidence against fair dice"
        if not self.is_fair:
            verdict = "These are not what fair dice, rolled independently, would show"
        chance = f"(all tests together reject fair dice at most once in {1 / LEVEL:.0f} times)."
        evidence = f"e-value against fair dice: {self.e_value:.4g} (alarm at {ALARM:g})."
        return StudyReport((tests, faces), (f"{verdict} {chance}", evidence, *self.left_out))

    def facts(self) -> dict[str, Any]:
        return {
            "source": self.source,
            "rolls": self.tally.rolls,
            "faces": list(self.tally.faces),
            "tests": [
                {
                    "name": test.name,
                    "statistic": test.statistic,
                    "of": test.of,
                    "p": test.p,
                    "corrected_p": test.corrected,
                }
                for test in self.tests
            ],
            "left_out": list(self.left_out),
            "log_e_value": self.log_e,
            "level": LEVEL,
            "fair": self.is_fair,
        }


def dice_tests(tally: Tally, source: str) -> DiceTests:
    """All tests that the number of rolls allows, corrected for multiple testing."""
    if tally.rolls < LEAST:
        raise RulesError(f"expected at least {LEAST} rolls to test, got {tally.rolls} ({source})")
    left_out: list[str] = []
    results = list(_run_tests(tally, left_out))
    corrected = holm([p for *_, p in results])
    tests = tuple(OneTest(*result, p) for result, p in zip(results, corrected, strict=True))
    log_e = WATCHED.log_e(list(tally.faces), list(tally.outcomes))
    return DiceTests(source, tally, tests, tuple(left_out), log_e)


def holm(ps: Sequence[float]) -> list[float]:
    """P-values after Holm's correction for multiple testing.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    corrected = [0.0] * len(ps)
    highest = 0.0
    for rank, place in enumerate(sorted(range(len(ps)), key=ps.__getitem__)):
        highest = max(highest, min(1.0, (len(ps) - rank) * ps[place]))
        corrected[place] = highest
    return corrected


def _run_tests(tally: Tally, left_out: list[str]) -> Iterator[tuple[str, float, str, float]]:
    n = tally.rolls
    yield from _chi_square("faces", tally.faces, [n / 2] * 6, left_out)
    if tally.is_sorted:
        left_out.append(
            "Every roll has its faces ascending: which die showed what is unknown and not tested."
        )
    else:
        for die, name in enumerate(("first", "second", "third")):
            yield from _chi_square(f"faces of the {name} die", tally.by_die(die), [n / 6] * 6, left_out)
        yield from _chi_square("ordered triples", tally.triples, [n / 216] * 216, left_out)
    combinations = [n * outcome.ways / 216 for outcome in OUTCOMES]
    yield from _chi_square("56 combinations", tally.outcomes, combinations, left_out)
    # Both use the observed distribution of totals, because a bias alone must not look like dependence.
    if 0 < tally.above < n:
        yield _normal("runs of totals, high and low", _runs(tally))
    for lag in LAGS:
        if n > lag and (correlation := _serial(tally, lag)) is not None:
            yield _normal(f"serial correlation, lag {lag}", correlation)


def _chi_square(
    name: str, counts: Sequence[int], expected: Sequence[float], left_out: list[str]
) -> Iterator[tuple[str, float, str, float]]:
    if min(expected) < EXPECTED:
        left_out.append(
            f"{name}: too few rolls for a chi-square (a cell expects {min(expected):.2f}, not {EXPECTED})."
        )
        return
    with needed("SciPy", "study"):
        from scipy.special import chdtrc
    statistic = sum((count - even) ** 2 / even for count, even in zip(counts, expected, strict=True))
    freedom = len(counts) - 1
    yield name, statistic, f"chi-square, {freedom} degrees", float(chdtrc(freedom, statistic))


def _normal(name: str, deviations: float) -> tuple[str, float, str, float]:
    with needed("SciPy", "study"):
        from scipy.special import ndtr
    return name, deviations, "normal", float(2 * ndtr(-abs(deviations)))


def _runs(tally: Tally) -> float:
    """The runs test of Wald and Wolfowitz, given the number of high totals."""
    n, high = tally.rolls, tally.above
    pairs = 2 * high * (n - high)
    return (tally.runs - 1 - pairs / n) / sqrt(pairs * (pairs - n) / (n * n * (n - 1)) or 1)


def _serial(tally: Tally, lag: int) -> float | None:
    """The serial correlation of totals at this lag, about their own mean; None if all totals are equal."""
    n = tally.rolls
    counts = [(2 * sum(_FACES[place]) - MIDDLE, count) for place, count in enumerate(tally.triples) if count]
    whole = sum(value * count for value, count in counts)
    mean = whole / n
    variance = sum(value * value * count for value, count in counts) / n - mean * mean
    if len({value for value, _ in counts}) == 1:
        return None
    early = whole - sum(2 * total - MIDDLE for total in tally.last[-lag:])
    late = whole - sum(2 * total - MIDDLE for total in tally.first[:lag])
    product = tally.products[LAGS.index(lag)] - mean * (early + late) + (n - lag) * mean * mean
    return product / (variance * sqrt(n - lag))


_FACES: Final = tuple(product(range(1, 7), repeat=3))

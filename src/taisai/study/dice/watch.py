"""The dice watch: an anytime-valid test of whether a set of dice is fair.

It starts with one unit and bets it, at fair odds, on dice that are not fair; `e_value` is what the unit has
become. With fair dice the probability that it ever reaches 1000 is at most 1/1000, however often it is
checked.

The e-value is a mixture of likelihood ratios against three fair dice. Under fair dice each has the expected
value 1 at all times, and the weights sum to 1, so the mixture has the expected value 1 too. It depends only
on counts, not on the order of the rounds, nor on which die showed which face.

>>> watch = DiceWatch(level=Fraction(1, 1000))
>>> watch.take((2, 3, 5))
>>> watch.results, round(watch.e_value, 3), watch.alarm
(3, 0.962, False)

Dice that show 6 half of the time are found after a few rounds, with a description of the fault.

>>> watch = DiceWatch.of([(6, 1, 6), (3, 6, 2), (6, 5, 4), (6, 6, 1)] * 9)
>>> watch.alarm, watch.alarm_at, watch.suspect, watch.finding
(True, 39, (6,), '6 too often (50.0%)')
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from math import exp, inf, isfinite, lgamma, log, prod
from typing import Final, NamedTuple, Self, TypedDict

from taisai.rules.outcomes import DICE, FACES, OUTCOMES, Outcome

FAIR_FACES: Final = (Fraction(1, 6),) * 6
FAIR_OUTCOMES: Final = tuple(Fraction(outcome.ways, 216) for outcome in OUTCOMES)


class Tilt(NamedTuple):
    """The alternative that all three dice have these ratios of face probabilities to fair ones."""

    weight: Fraction
    ratios: tuple[Fraction, ...]  # for the faces 1 to 6; their mean is 1
    faces: tuple[int, ...]  # the unusual faces, the most frequent first

    def exact_e(self, faces: Sequence[int], _outcomes: Sequence[int]) -> Fraction:
        """The likelihood ratio after these counts of the six faces."""
        cells = [(ratio, n) for ratio, n in zip(self.ratios, faces, strict=True) if n]
        return prod((ratio**n for ratio, n in cells), start=Fraction(1))

    def __str__(self) -> str:
        return f"ratios {', '.join(map(str, self.ratios))}"


class Spread(NamedTuple):
    """All alternatives at once, with a Dirichlet prior about the fair distribution."""

    weight: Fraction
    chances: tuple[Fraction, ...]  # the fair probability of each cell: of the six faces or of the 56 outcomes
    strength: int  # the concentration of the prior; the larger, the closer to fair
    about: str

    @property
    def of_outcomes(self) -> bool:
        """Whether the cells are the 56 outcomes rather than the six faces."""
        return len(self.chances) == len(OUTCOMES)

    def exact_e(self, faces: Sequence[int], outcomes: Sequence[int]) -> Fraction:
        """The likelihood ratio after these counts."""
        counts = outcomes if self.of_outcomes else faces
        cells = [(p, n) for p, n in zip(self.chances, counts, strict=True) if n]
        grown = prod((_rising(self.strength * p, n) / p**n for p, n in cells), start=Fraction(1))
        return grown / _rising(Fraction(self.strength), sum(counts))

    def __str__(self) -> str:
        return self.about


Component = Tilt | Spread


def _rising(start: Fraction, times: int) -> Fraction:
    return prod((start + step for step in range(times)), start=Fraction(1))


def exact_e(parts: Iterable[Component], faces: Sequence[int], outcomes: Sequence[int]) -> Fraction:
    """The exact e-value of a mixture; slow."""
    return sum((part.weight * part.exact_e(faces, outcomes) for part in parts), start=Fraction(0))


class Mixture:
    """Alternatives with weights that sum to 1, prepared for fast evaluation."""

    def __init__(self, parts: Iterable[Component]) -> None:
        self.parts: Final = tuple(parts)
        total = sum((part.weight for part in self.parts), start=Fraction(0))
        if total != 1 or any(part.weight <= 0 for part in self.parts):
            raise ValueError(f"expected positive weights that sum to 1, got a sum of {total}")
        for part in self.parts:
            if isinstance(part, Tilt) and sum(part.ratios) != 6:
                raise ValueError(
                    f"expected six ratios with a mean of 1, got a sum of {sum(part.ratios)} ({part})"
                )
            if isinstance(part, Spread) and part.chances not in {FAIR_FACES, FAIR_OUTCOMES}:
                raise ValueError(f"expected the chances of fair dice, got {part.chances} ({part})")
        tilts = [part for part in self.parts if isinstance(part, Tilt)]
        self._spreads = [part for part in self.parts if isinstance(part, Spread)]
        self._ordered: tuple[Component, ...] = (*tilts, *self._spreads)
        self._tilt_logs = [(log(tilt.weight), *map(log, tilt.ratios)) for tilt in tilts]
        self._spread_logs = [_SpreadLog(part) for part in self._spreads]

    def logs(self, faces: Sequence[int], outcomes: Sequence[int]) -> list[float]:
        """The logarithm of each part's weight times its likelihood ratio."""
        c1, c2, c3, c4, c5, c6 = faces
        logs = [
            start + c1 * r1 + c2 * r2 + c3 * r3 + c4 * r4 + c5 * r5 + c6 * r6
            for start, r1, r2, r3, r4, r5, r6 in self._tilt_logs
        ]
        logs += [spread.at(outcomes if spread.of_outcomes else faces) for spread in self._spread_logs]
        return logs

    def log_e(self, faces: Sequence[int], outcomes: Sequence[int]) -> float:
        logs = self.logs(faces, outcomes)
        top = max(logs)
        return top + log(sum([exp(part - top) for part in logs]))

    def leading(self, faces: Sequence[int], outcomes: Sequence[int]) -> Component:
        """The part that explains these counts best."""
        logs = self.logs(faces, outcomes)
        return self._ordered[logs.index(max(logs))]


class _SpreadLog:
    """A spread in logarithms, with its constants precomputed."""

    def __init__(self, spread: Spread) -> None:
        self.of_outcomes = spread.of_outcomes
        self._strength = float(spread.strength)
        self._cells = [(float(spread.strength * p), -log(p)) for p in spread.chances]
        self._start = log(spread.weight) + lgamma(self._strength) - sum(lgamma(a) for a, _ in self._cells)

    def at(self, counts: Sequence[int]) -> float:
        grown = [lgamma(a + n) + n * back for (a, back), n in zip(self._cells, counts, strict=True)]
        return self._start + sum(grown) - lgamma(self._strength + sum(counts))


# Each size is three times the one before, so that for every true size some part gathers evidence at three
# quarters of the best rate or more. 1/5 is three dice with a probability of 0.20 for a face, 1/15 is one such
# die among three.
SIZES: Final = tuple(Fraction(3**k, 45) for k in range(5))
UP_AND_DOWN: Final = (*SIZES, *(-size for size in SIZES[:4]))


def _ratios(off: dict[int, Fraction]) -> tuple[Fraction, ...]:
    """Ratios with these excesses; the other faces share the difference equally."""
    rest = Fraction(sum(off.values(), start=Fraction(0)), 6 - len(off))
    return tuple(1 + off[face] if face in off else 1 - rest for face in FACES)


def _tilts(share: Fraction, offs: Sequence[dict[int, Fraction]]) -> list[Tilt]:
    weight = share / len(offs)
    return [Tilt(weight, _ratios(off), tuple(sorted(off, key=lambda face: -off[face]))) for off in offs]


def _watched() -> Mixture:
    """The known faults of dice, then any distribution of faces or outcomes."""
    eighth, sixteenth = Fraction(1, 8), Fraction(1, 16)
    # One face; two opposite faces of a die that is not a cube; a weight between two opposite faces.
    one_face = [{face: size} for face in (1, 2, 3, 4, 5, 6) for size in UP_AND_DOWN]
    out_of_true = [{face: size, 7 - face: size} for face in (1, 2, 3) for size in UP_AND_DOWN]
    weighted = [{face: size, 7 - face: -size} for face in (1, 2, 3, 4, 5, 6) for size in SIZES[:4]]
    alike = "the six faces do not come alike"
    together = "the three dice do not fall as three fair dice do"
    return Mixture(
        [
            *_tilts(Fraction(1, 2), one_face),
            *_tilts(eighth, out_of_true),
            *_tilts(eighth, weighted),
            *(Spread(sixteenth, FAIR_FACES, strength, alike) for strength in (120, 1_200)),
            *(Spread(sixteenth, FAIR_OUTCOMES, strength, together) for strength in (216, 2_160)),
        ]
    )


WATCHED: Final = _watched()  # the mixture of the dice watch
VERSION: Final = 1
"""Increases whenever the mixture changes, because stored states of another mixture are invalid."""


LEVEL: Final = Fraction(1, 1000)  # the default bound of the probability that fair dice ever raise the alarm
MOST_E: Final = 700.0  # the exponential of more overflows
NEAR: Final = 1e-6  # more than logarithms differ between machines
FAR_OFF: Final = 3.0  # standard deviations; for naming faces if no single tilt explains the counts


class WatchState(TypedDict):
    """The state of a watch, as JSON."""

    mixture: int
    level: str
    outcomes: list[int]
    peak: float
    alarm_at: int | None


class DiceWatch:
    """An anytime-valid test of one set of three indistinguishable dice, round by round.

    Do not `take` void rounds. When a result is corrected, build the watch again with `of` from the valid
    results. When a die is replaced, start a new watch.
    """

    def __init__(self, level: Fraction | float | str = LEVEL) -> None:
        self.level: Final = _level(level)
        self.needed: Final = log(self.level.denominator) - log(self.level.numerator)
        """The logarithm of the e-value that raises the alarm."""
        self._faces = [0] * len(FACES)
        self._outcomes = [0] * len(OUTCOMES)
        self._rounds = 0
        self.log_e = 0.0
        """The natural logarithm of the e-value."""
        self.peak = 0.0
        """The highest logarithm so far; fair dice ever reach x with probability at most exp(-x)."""
        self.alarm_at: int | None = None
        """The number of die results at the alarm; None without an alarm."""

    @classmethod
    def of(cls, results: Iterable[Sequence[int]], level: Fraction | float | str = LEVEL) -> Self:
        """The watch after these results, in the order in which they were rolled."""
        watch = cls(level)
        for faces in results:
            watch.take(faces)
        return watch

    def take(self, faces: Sequence[int]) -> None:
        """Counts the three faces of a valid round."""
        outcome = Outcome.of(*faces)
        self._outcomes[outcome.index] += 1
        for face in outcome.faces:
            self._faces[face - 1] += 1
        self._rounds += 1
        self.log_e = WATCHED.log_e(self._faces, self._outcomes)
        self.peak = max(self.peak, self.log_e)
        if self.alarm_at is None and self.log_e >= self.needed:
            self.alarm_at = self.results

    @property
    def results(self) -> int:
        """The number of die results: three per round."""
        return self._rounds * DICE

    @property
    def counts(self) -> tuple[int, ...]:
        """How often each face, 1 to 6, came."""
        return tuple(self._faces)

    @property
    def e_value(self) -> float:
        return exp(self.log_e) if self.log_e <= MOST_E else inf

    def exact_e(self) -> Fraction:
        """The e-value as an exact fraction; slow for many rounds."""
        return exact_e(WATCHED.parts, self._faces, self._outcomes)

    @property
    def alarm(self) -> bool:
        """Whether the e-value has ever reached 1 / level. An alarm is never withdrawn."""
        return self.alarm_at is not None

    @property
    def finding(self) -> str:
        """The best explanation of the results, in words."""
        if self.log_e <= 0:
            return "nothing stands out"
        shares = [(face, self._faces[face - 1] / self.results) for face in self.suspect]
        parts = (
            f"{face} too {'often' if share > 1 / 6 else 'seldom'} ({share:.1%})" for face, share in shares
        )
        return ", ".join(parts) or str(WATCHED.leading(self._faces, self._outcomes))

    @property
    def suspect(self) -> tuple[int, ...]:
        """The unusual faces, the most frequent first; empty if nothing is unusual."""
        if self.log_e <= 0:
            return ()
        match WATCHED.leading(self._faces, self._outcomes):
            case Tilt(faces=faces):
                return faces
            case Spread():
                even = self.results / 6
                margin = FAR_OFF * (even * 5 / 6) ** 0.5
                off = [(even - count, face) for face, count in enumerate(self._faces, 1)]
                return tuple(face for less, face in sorted(off) if abs(less) >= margin)

    def state(self) -> WatchState:
        """The state from which `restored` continues."""
        return {"mixture": VERSION, "level": str(self.level), "outcomes": list(self._outcomes),
                "peak": self.peak, "alarm_at": self.alarm_at}  # fmt: skip

    @classmethod
    def restored(cls, state: Mapping[str, object]) -> Self:
        """The watch with a stored state."""
        if state.get("mixture") != VERSION:
            raise ValueError(
                f"expected the state of a monitor of version {VERSION}, got {state.get('mixture')!r}"
            )
        watch = cls(str(state.get("level")))
        watch._outcomes = _counts(state.get("outcomes"))
        watch._rounds = sum(watch._outcomes)
        for outcome, count in zip(OUTCOMES, watch._outcomes, strict=True):
            for face in outcome.faces:
                watch._faces[face - 1] += count
        if watch._rounds:
            watch.log_e = WATCHED.log_e(watch._faces, watch._outcomes)
        watch.peak, watch.alarm_at = _past(state.get("peak"), state.get("alarm_at"), watch)
        return watch


def _level(level: Fraction | float | str) -> Fraction:
    try:
        fraction = Fraction(str(level))  # from its text, so that the float 0.001 means 1/1000
    except (ValueError, ZeroDivisionError):
        fraction = Fraction(0)
    if not 0 < fraction < 1:
        raise ValueError(f"expected an alarm level between 0 and 1, such as 1/1000, got {level!r}")
    return fraction


def _counts(outcomes: object) -> list[int]:
    if not isinstance(outcomes, list) or len(outcomes) != len(OUTCOMES):
        raise ValueError(f"expected the counts of 56 outcomes, got {outcomes!r}")
    for outcome, count in zip(OUTCOMES, outcomes, strict=True):
        if type(count) is not int or count < 0:
            raise ValueError(f"expected a count of rounds, got {count!r} (outcome {outcome})")
    return list(outcomes)


def _past(peak: object, alarm_at: object, watch: DiceWatch) -> tuple[float, int | None]:
    """Checks that peak and alarm agree with the counts."""
    if type(peak) not in {int, float} or not isinstance(peak, int | float) or not isfinite(peak):
        raise ValueError(f"expected a number as the peak, got {peak!r}")
    if peak < max(0.0, watch.log_e) - NEAR:
        raise ValueError(f"expected a peak of at least {max(0.0, watch.log_e)}, got {peak!r}")
    peak = max(float(peak), watch.log_e)
    short = watch.needed - peak
    if alarm_at is None and short > -NEAR:
        return peak, None
    if isinstance(alarm_at, int) and alarm_at in range(DICE, watch.results + 1, DICE) and short < NEAR:
        return peak, alarm_at
    expected = "no alarm" if short > 0 else f"an alarm after a whole round within {watch.results} die results"
    raise ValueError(f"expected {expected} for a peak of {peak}, got {alarm_at!r}")

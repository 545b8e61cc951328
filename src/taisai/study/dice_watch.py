"""The dice watch: are the dice of this set still fair? It may be asked after every round, for ever.

It starts with one unit and bets it, at fair odds, on dice that are not fair; `e_value` is what the unit has
become. Fair dice ever take it to 1000 with a chance of at most 1 in 1000, however often one looks.

>>> watch = DiceWatch(level=Fraction(1, 1000))
>>> watch.take((2, 3, 5))
>>> watch.results, round(watch.e_value, 3), watch.alarm
(3, 0.962, False)

Dice that show 6 half of the time are found after a few rounds; whoever watches is told what looks off.

>>> watch = DiceWatch.of([(6, 1, 6), (3, 6, 2), (6, 5, 4), (6, 6, 1)] * 9)
>>> watch.alarm, watch.alarm_at, watch.suspect, watch.finding
(True, 39, (6,), '6 too often (50.0%)')
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from math import exp, inf, isfinite, log
from typing import Final, Self, TypedDict

from taisai.rules.outcomes import DICE, FACES, OUTCOMES, Outcome
from taisai.study.dice_mixture import VERSION, WATCHED, Spread, Tilt, exact_e

LEVEL: Final = Fraction(1, 1000)
"""The chance that fair dice ever raise the alarm is at most this, unless the house says otherwise."""
MOST_E: Final = 700.0  # e to a higher power is no float
NEAR: Final = 1e-6  # far more than another machine's logarithms differ by, far less than matters
FAR_OFF: Final = 3.0  # standard deviations: what a person would point at where no single tilt explains it


class WatchState(TypedDict):
    """All that a watch must keep, as JSON can hold it."""

    mixture: int
    level: str
    outcomes: list[int]
    peak: float
    alarm_at: int | None


class DiceWatch:
    """An anytime-valid test of one dice set: three dice that cannot be told apart, round by round.

    A round that is void is never taken. When a result is corrected, make the watch anew with `of` from the
    results that stand. When a die is replaced, begin a new watch.
    """

    def __init__(self, level: Fraction | float | str = LEVEL) -> None:
        self.level: Final = _level(level)
        self.needed: Final = log(self.level.denominator) - log(self.level.numerator)
        """The logarithm at which the alarm is raised."""
        self._faces = [0] * len(FACES)
        self._outcomes = [0] * len(OUTCOMES)
        self._rounds = 0
        self._log_e = self._peak = 0.0
        self._alarm_at: int | None = None

    @classmethod
    def of(cls, results: Iterable[Sequence[int]], level: Fraction | float | str = LEVEL) -> Self:
        """The watch that has taken these results, in the order in which they were rolled."""
        watch = cls(level)
        for faces in results:
            watch.take(faces)
        return watch

    def take(self, faces: Sequence[int]) -> None:
        """Count the three faces of a round that stands."""
        outcome = Outcome.of(*faces)
        self._outcomes[outcome.index] += 1
        for face in outcome.faces:
            self._faces[face - 1] += 1
        self._rounds += 1
        self._log_e = WATCHED.log_e(self._faces, self._outcomes)
        self._peak = max(self._peak, self._log_e)
        if self._alarm_at is None and self._log_e >= self.needed:
            self._alarm_at = self.results

    @property
    def results(self) -> int:
        """How many die-results have been counted: three a round."""
        return self._rounds * DICE

    @property
    def counts(self) -> tuple[int, ...]:
        """How often each face, 1 to 6, has shown."""
        return tuple(self._faces)

    @property
    def log_e(self) -> float:
        """The natural logarithm of the e-value."""
        return self._log_e

    @property
    def peak(self) -> float:
        """The highest logarithm so far; fair dice ever reach x with a chance of at most exp(-x)."""
        return self._peak

    @property
    def e_value(self) -> float:
        """What one unit bet against fair dice has become."""
        return exp(self._log_e) if self._log_e <= MOST_E else inf

    def exact_e(self) -> Fraction:
        """The e-value as an exact fraction, for whoever wants to check; slow once the rounds are many."""
        return exact_e(WATCHED.parts, self._faces, self._outcomes)

    @property
    def alarm(self) -> bool:
        """Whether the e-value has ever reached 1 / level; what comes afterwards does not take it back."""
        return self._alarm_at is not None

    @property
    def alarm_at(self) -> int | None:
        """After how many die-results the alarm was raised."""
        return self._alarm_at

    @property
    def finding(self) -> str:
        """What explains the results best, in words for people."""
        if self._log_e <= 0:
            return "nothing stands out"
        shares = [(face, self._faces[face - 1] / self.results) for face in self.suspect]
        told = [
            f"{face} too {'often' if share > 1 / 6 else 'seldom'} ({share:.1%})" for face, share in shares
        ]
        return ", ".join(told) or str(WATCHED.leading(self._faces, self._outcomes))

    @property
    def suspect(self) -> tuple[int, ...]:
        """The faces that look off, the one that comes too often first; none while nothing stands out."""
        if self._log_e <= 0:
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
        """What `restored` needs to go on as if nothing had happened."""
        return WatchState(
            mixture=VERSION,
            level=str(self.level),
            outcomes=list(self._outcomes),
            peak=self._peak,
            alarm_at=self._alarm_at,
        )

    @classmethod
    def restored(cls, state: Mapping[str, object]) -> Self:
        """The watch whose state was kept."""
        if state.get("mixture") != VERSION:
            raise ValueError(f"expected a watch of mixture {VERSION}, got {state.get('mixture')!r}")
        watch = cls(str(state.get("level")))
        watch._outcomes = _counts(state.get("outcomes"))
        watch._rounds = sum(watch._outcomes)
        for outcome, count in zip(OUTCOMES, watch._outcomes, strict=True):
            for face in outcome.faces:
                watch._faces[face - 1] += count
        if watch._rounds:
            watch._log_e = WATCHED.log_e(watch._faces, watch._outcomes)
        watch._peak, watch._alarm_at = _past(state.get("peak"), state.get("alarm_at"), watch)
        return watch


def _level(level: Fraction | float | str) -> Fraction:
    try:
        found = Fraction(str(level))  # by its text: the float 0.001 then means 1/1000
    except (ValueError, ZeroDivisionError):
        found = Fraction(0)
    if not 0 < found < 1:
        raise ValueError(f"expected an alarm level between 0 and 1, such as 1/1000, got {level!r}")
    return found


def _counts(outcomes: object) -> list[int]:
    if not isinstance(outcomes, list) or len(outcomes) != len(OUTCOMES):
        raise ValueError(f"expected the counts of 56 outcomes, got {outcomes!r}")
    for outcome, count in zip(OUTCOMES, outcomes, strict=True):
        if type(count) is not int or count < 0:
            raise ValueError(f"expected a count of rounds, got {count!r} (outcome {outcome})")
    return list(outcomes)


def _past(peak: object, alarm_at: object, watch: DiceWatch) -> tuple[float, int | None]:
    """The path cannot be told from the counts, but it cannot contradict them either."""
    if type(peak) not in {int, float} or not isinstance(peak, int | float) or not isfinite(peak):
        raise ValueError(f"expected a peak, got {peak!r}")
    if peak < max(0.0, watch.log_e) - NEAR:
        raise ValueError(f"expected a peak of at least {max(0.0, watch.log_e)}, got {peak!r}")
    peak = max(float(peak), watch.log_e)
    short = watch.needed - peak
    if alarm_at is None and short > -NEAR:
        return peak, None
    if isinstance(alarm_at, int) and alarm_at in range(DICE, watch.results + 1, DICE) and short < NEAR:
        return peak, alarm_at
    told = "none" if short > 0 else f"one within {watch.results} die-results, after a whole round"
    raise ValueError(f"expected {told} as the alarm, by a peak of {peak}; got {alarm_at!r}")

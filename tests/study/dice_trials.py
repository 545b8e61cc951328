"""Trials of the dice watch: very many rolls, fair and loaded, looked at after every round.

A compiled twin of the watch, which multiplies from round to round where the watch works from its counts; the
tests hold the two together. `python -m tests.study.dice_trials` measures the figures of
`docs/explanation/dice-watch.md`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from itertools import product
from typing import Any, Final, NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

from taisai.rules.outcomes import OUTCOMES, Outcome
from taisai.study.dice.watch import WATCHED, Component, Spread, Tilt

Distribution = NDArray[np.float64]
Rolls = NDArray[np.uint8]

SEED: Final = 20_260
MILLION: Final = 333_334
"""Rounds: a million die-results and two."""
FIRST: Final = 1_000
"""Rounds rolled before the first look whether any more are needed."""
FAIR: Final = (1 / 6,) * 6
SIXES: Final = (0.16,) * 5 + (0.2,)
_ROLLS: Final = list(product(range(1, 7), repeat=3))
_OF_ROLL: Final = np.array([Outcome.of(*roll).index for roll in _ROLLS], np.uint8)
_FACES: Final = np.array([[face - 1 for face in outcome.faces] for outcome in OUTCOMES])
_CHANCES: Final = np.array([outcome.ways / 216 for outcome in OUTCOMES])


def law(*dice: Sequence[float] | Distribution) -> Distribution:
    """The chances of the 56 outcomes of three dice, each given by the chances of its six faces."""
    chances = np.zeros(len(OUTCOMES))
    for roll, place in zip(_ROLLS, _OF_ROLL, strict=True):
        chances[place] += np.prod([die[face - 1] for die, face in zip(dice, roll, strict=True)])
    chances /= chances.sum()  # a rounding error away from 1 already
    return chances


def fair_rolls(rng: np.random.Generator, rounds: int) -> Rolls:
    return _OF_ROLL[rng.integers(0, 216, rounds, dtype=np.uint8)]


def loaded_rolls(rng: np.random.Generator, rounds: int, chances: Distribution) -> Rolls:
    edges = chances.cumsum()[:-1]
    return np.searchsorted(edges, rng.random(rounds), side="right").astype(np.uint8)


def faces_of(rolls: Rolls) -> list[tuple[int, ...]]:
    return [tuple(OUTCOMES[place].faces) for place in rolls]


def _until_alarm(  # noqa: PLR0917 (numba knows no keyword-only arguments)
    rolls: Any, limit: float, tilts: Any, ratios: Any, spreads: Any, strengths: Any, faces: Any, chances: Any
) -> tuple[int, float]:
    grown, spread = tilts.copy(), spreads.copy()
    by_face, by_outcome = np.zeros(6), np.zeros(56)
    e = 1.0
    for at in range(rolls.size):
        place = rolls[at]
        e = 0.0
        row = ratios[place]
        for part in range(grown.size):
            # Without a floor it would come to numbers so small that they are slow; a floor only adds alarms.
            grown[part] = max(grown[part] * row[part], 1e-250)
            e += grown[part]
        for die in range(3):
            face = faces[place, die]
            for part in range(2):
                even = strengths[part] / 6
                spread[part] *= 6 * (even + by_face[face]) / (strengths[part] + 3 * at + die)
            by_face[face] += 1
        for part in range(2, 4):
            share = (strengths[part] * chances[place] + by_outcome[place]) / (strengths[part] + at)
            spread[part] *= share / chances[place]
        by_outcome[place] += 1
        for part in range(4):
            spread[part] = max(spread[part], 1e-250)
            e += spread[part]
        if e >= limit:
            return at + 1, e
    return 0, e


_compiled: Final[Callable[..., tuple[int, float]]] = numba.njit(fastmath=True, nogil=True)(_until_alarm)


class Twin:
    """The watch of these parts, compiled."""

    def __init__(self, parts: Iterable[Component] = WATCHED.parts, level: float = 0.001) -> None:
        parts = tuple(parts)
        tilts = [part for part in parts if isinstance(part, Tilt)]
        spreads = [part for part in parts if isinstance(part, Spread)]
        assert [part.of_outcomes for part in spreads] == [False, False, True, True]
        by_face = np.array([[float(ratio) for ratio in tilt.ratios] for tilt in tilts])
        self._limit = 1 / level
        self._rest = (
            np.array([float(tilt.weight) for tilt in tilts]),
            np.ascontiguousarray(by_face[:, _FACES].prod(axis=2).T),
            np.array([float(part.weight) for part in spreads]),
            np.array([float(part.strength) for part in spreads]),
            _FACES,
            _CHANCES,
        )

    def alarm(self, rolls: Rolls) -> tuple[int, float]:
        """After how many die-results the alarm is raised, or 0, and the e-value then or at the end."""
        rounds, e = _compiled(rolls, self._limit, *self._rest)
        return rounds * 3, e

    def alarm_of(self, rng: np.random.Generator, chances: Distribution, rounds: int) -> tuple[int, float]:
        """The alarm of dice with these chances, rolled for so many rounds or until it comes."""
        rolls = loaded_rolls(rng, min(FIRST, rounds), chances)
        while not (alarm := self.alarm(rolls))[0] and rolls.size < rounds:
            more = min(3 * rolls.size, rounds - rolls.size)
            rolls = np.concatenate([rolls, loaded_rolls(rng, more, chances)])
        return alarm


class FalseAlarms(NamedTuple):
    """How many of these fair dice sets raised the alarm."""

    alarms: int
    sets: int

    @property
    def rate(self) -> float:
        return self.alarms / self.sets


def false_alarms(twin: Twin, *, sets: int, rounds: int, seed: int = SEED) -> FalseAlarms:
    rng = np.random.default_rng(seed)
    return FalseAlarms(sum(twin.alarm(fair_rolls(rng, rounds))[0] > 0 for _ in range(sets)), sets)


class Found(NamedTuple):
    """After how many die-results loaded dice are found: a tenth of the sets, half of them, nine tenths."""

    tenth: int
    median: int
    nine_tenths: int


def found_after(
    chances: Distribution, *, sets: int, rounds: int, seed: int = SEED, twin: Twin | None = None
) -> Found:
    """Sets that are not found within these rounds count as never found."""
    rng = np.random.default_rng(seed)
    watch = twin or Twin()
    alarms = sorted(watch.alarm_of(rng, chances, rounds)[0] or sys.maxsize for _ in range(sets))
    return Found(*(alarms[int(sets * part)] for part in (0.1, 0.5, 0.9)))


def fair_alarm_rate(*, sets: int, rounds: int, seed: int = SEED) -> tuple[float, float]:
    """The chance that fair dice raise the alarm, and its standard error, from dice of the mixture itself.

    Under the mixture nearly every set alarms; each alarm counts as what it weighs under fair dice, 1 / e.
    """
    rng = np.random.default_rng(seed)
    twin = Twin()
    weights = np.array([float(part.weight) for part in WATCHED.parts])
    counted = []
    for place in rng.choice(weights.size, sets, p=weights):
        after, e = twin.alarm_of(rng, _drawn(rng, WATCHED.parts[place]), rounds)
        counted.append(1 / e if after else 0.0)
    return float(np.mean(counted)), float(np.std(counted) / sets**0.5)


def _drawn(rng: np.random.Generator, part: Component) -> Distribution:
    if isinstance(part, Tilt):
        return law(*[[float(ratio) / 6 for ratio in part.ratios]] * 3)
    drawn = rng.dirichlet([float(part.strength * chance) for chance in part.chances])
    return drawn if part.of_outcomes else law(drawn, drawn, drawn)


def out_of_true(size: float) -> Distribution:
    """Three dice that show 1 and 6 by this much too often."""
    return law(*[[(1 + size) / 6, *[(1 - size / 2) / 6] * 4, (1 + size) / 6]] * 3)


def weighted(size: float) -> Distribution:
    """Three dice that show 6 by this much too often and 1 too seldom."""
    return law(*[[(1 - size) / 6, *FAIR[1:5], (1 + size) / 6]] * 3)


def sticking(share: float) -> Distribution:
    """Fair dice of which two show the same face in this share of the rounds."""
    same = np.zeros(len(OUTCOMES))
    for face, other in product(range(1, 7), repeat=2):
        same[Outcome.of(face, face, other).index] += 1 / 36
    return (1 - share) * _CHANCES + share * same


TRIALS: Final[dict[str, tuple[Distribution, int]]] = {
    "three dice, each with a chance of 0.20 for 6": (law(SIXES, SIXES, SIXES), 10_000),
    "one such die among three": (law(SIXES, FAIR, FAIR), 100_000),
    "three dice, 1 and 6 a fifth too often": (out_of_true(0.2), 10_000),
    "three dice, 6 a fifth too often, 1 a fifth too rarely": (weighted(0.2), 10_000),
    "fair dice, two of which stick in a tenth of the rounds": (sticking(0.1), 20_000),
}
"""What is tried → the law of the outcomes, and within how many rounds."""
SETS: Final = 2_000
"""How many dice sets each trial takes."""


def main() -> None:
    for name, (chances, rounds) in TRIALS.items():
        found = found_after(chances, sets=SETS, rounds=rounds)
        sys.stdout.write(f"| {name} | {found.tenth:,} | {found.median:,} | {found.nine_tenths:,} |\n")
    rate, error = fair_alarm_rate(sets=4_000, rounds=MILLION)
    sys.stdout.write(f"fair dice, weighed: {rate:.4%}, standard error {error:.4%}\n")
    alarms = false_alarms(Twin(), sets=int(sys.argv[1]) if len(sys.argv) > 1 else 10_000, rounds=MILLION)
    sys.stdout.write(f"fair dice, counted: {alarms.alarms} of {alarms.sets:,} sets\n")


if __name__ == "__main__":
    main()

"""The ways in which dice can be unfair that the dice watch bets on, and what those bets have come to.

Each part is a likelihood ratio against three exactly fair dice, so under fair dice its mean is 1 at all
times; the mixture is their sum, with weights that sum to 1, so its mean is 1 too. All of it depends on counts
alone: not on the order of the rounds, nor on which die showed which face.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from math import exp, lgamma, log, prod
from typing import Final, NamedTuple

from taisai.rules.outcomes import FACES, OUTCOMES

FAIR_FACES: Final = (Fraction(1, 6),) * 6
FAIR_OUTCOMES: Final = tuple(Fraction(outcome.ways, 216) for outcome in OUTCOMES)


class Tilt(NamedTuple):
    """All three dice follow one other law: each face comes so many times as often as from a fair die."""

    weight: Fraction
    ratios: tuple[Fraction, ...]
    """Face by face, 1 to 6; their mean is 1."""
    faces: tuple[int, ...]
    """Those that the tilt is about, the one that comes too often first."""

    def exact_e(self, faces: Sequence[int], _outcomes: Sequence[int]) -> Fraction:
        """The likelihood ratio after these counts of the six faces."""
        cells = [(ratio, n) for ratio, n in zip(self.ratios, faces, strict=True) if n]
        return prod((ratio**n for ratio, n in cells), start=Fraction(1))

    def __str__(self) -> str:
        return f"ratios {', '.join(map(str, self.ratios))}"


class Spread(NamedTuple):
    """Every other law of its cells at once, spread about the fair one as a Dirichlet distribution."""

    weight: Fraction
    chances: tuple[Fraction, ...]
    """What fair dice give each cell: the six faces or the 56 outcomes."""
    strength: int
    """How many results the fair law counts for before the first is seen: the larger, the closer to fair."""
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


Part = Tilt | Spread


def _rising(start: Fraction, times: int) -> Fraction:
    return prod((start + step for step in range(times)), start=Fraction(1))


def exact_e(parts: Iterable[Part], faces: Sequence[int], outcomes: Sequence[int]) -> Fraction:
    """What one unit, split over the parts by their weights, has grown to; exactly, and slowly."""
    return sum((part.weight * part.exact_e(faces, outcomes) for part in parts), start=Fraction(0))


class Mixture:
    """Parts with weights that sum to 1, ready to be asked many times."""

    def __init__(self, parts: Iterable[Part]) -> None:
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
        self._ordered: tuple[Part, ...] = (*tilts, *self._spreads)
        self._tilt_logs = [(log(tilt.weight), *map(log, tilt.ratios)) for tilt in tilts]
        self._spread_logs = [_SpreadLog(part) for part in self._spreads]

    def logs(self, faces: Sequence[int], outcomes: Sequence[int]) -> list[float]:
        """The logarithm of each part's weight times what it has grown to."""
        c1, c2, c3, c4, c5, c6 = faces
        logs = [
            start + c1 * r1 + c2 * r2 + c3 * r3 + c4 * r4 + c5 * r5 + c6 * r6
            for start, r1, r2, r3, r4, r5, r6 in self._tilt_logs
        ]
        logs += [spread.at(outcomes if spread.of_outcomes else faces) for spread in self._spread_logs]
        return logs

    def log_e(self, faces: Sequence[int], outcomes: Sequence[int]) -> float:
        """The natural logarithm of what one unit has grown to."""
        logs = self.logs(faces, outcomes)
        top = max(logs)
        return top + log(sum([exp(part - top) for part in logs]))

    def leading(self, faces: Sequence[int], outcomes: Sequence[int]) -> Part:
        """The part that explains these counts best."""
        logs = self.logs(faces, outcomes)
        return self._ordered[logs.index(max(logs))]


class _SpreadLog:
    """A spread in logarithms: what does not change with the counts is worked out once."""

    def __init__(self, spread: Spread) -> None:
        self.of_outcomes = spread.of_outcomes
        self._strength = float(spread.strength)
        self._cells = [(float(spread.strength * p), -log(p)) for p in spread.chances]
        self._start = log(spread.weight) + lgamma(self._strength) - sum(lgamma(a) for a, _ in self._cells)

    def at(self, counts: Sequence[int]) -> float:
        grown = [lgamma(a + n) + n * back for (a, back), n in zip(self._cells, counts, strict=True)]
        return self._start + sum(grown) - lgamma(self._strength + sum(counts))


# Each size is three times the one before: whatever the true size between them, some part gathers evidence at
# three quarters of the best speed or more. 1/5 is three dice with a chance of 0.20 for a face, 1/15 what one
# such die among three comes to.
SIZES: Final = tuple(Fraction(3**k, 45) for k in range(5))
UP_AND_DOWN: Final = (*SIZES, *(-size for size in SIZES[:4]))


def _ratios(off: dict[int, Fraction]) -> tuple[Fraction, ...]:
    """These faces so much more often than fair, the others sharing what is left alike."""
    rest = Fraction(sum(off.values(), start=Fraction(0)), 6 - len(off))
    return tuple(1 + off[face] if face in off else 1 - rest for face in FACES)


def _tilts(share: Fraction, offs: Sequence[dict[int, Fraction]]) -> list[Tilt]:
    weight = share / len(offs)
    return [Tilt(weight, _ratios(off), tuple(sorted(off, key=lambda face: -off[face]))) for off in offs]


def _watched() -> Mixture:
    """What unfair dice are known for, then any law of faces or outcomes, for what nobody foresaw."""
    eighth, sixteenth = Fraction(1, 8), Fraction(1, 16)
    # One face off; a die out of true, so that two opposite faces are; a weight lifts one and sinks the other.
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


WATCHED: Final = _watched()
"""The mixture of the dice watch."""
VERSION: Final = 1
"""Goes up whenever the mixture changes: what was kept under one mixture says nothing about another."""

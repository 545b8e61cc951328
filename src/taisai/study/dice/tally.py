"""What the tests need to know of any number of rolls: counts that add up, block by block."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from taisai.rules.outcomes import OUTCOMES, Outcome

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Rolls = npt.NDArray[np.uint8]

LAGS: Final = (1, 2, 3, 4, 5)
TOTALS: Final = 19
MIDDLE: Final = 21
"""Twice the mean of a total, so that everything is whole."""


@dataclass(frozen=True, slots=True)
class Tally:
    """Counts of one stream of rolls, in its order."""

    rolls: int = 0
    triples: tuple[int, ...] = (0,) * 216
    """How often each ordered triple came; the place of a-b-c is 36a + 6b + c, faces counted from 0."""
    runs: int = 0
    """Runs of totals above and below 10.5."""
    above: int = 0
    """Totals of 11 and more."""
    products: tuple[int, ...] = (0,) * len(LAGS)
    """By lag: the sum of (2·total − 21) of a roll times that of the roll so many later."""
    is_sorted: bool = True
    """Whether every roll so far came with its faces ascending: then nobody knows which die showed what."""
    first: tuple[int, ...] = ()
    last: tuple[int, ...] = ()
    """The totals at both ends, as far as the lags reach, so that blocks can be joined."""

    @property
    def faces(self) -> tuple[int, ...]:
        """How often each face came, on all three dice."""
        return tuple(sum(self.by_die(die)[face] for die in range(3)) for face in range(6))

    @property
    def outcomes(self) -> tuple[int, ...]:
        """How often each of the 56 came."""
        found = [0] * len(OUTCOMES)
        for place, count in enumerate(self.triples):
            found[_OUTCOME_OF[place]] += count
        return tuple(found)

    def by_die(self, die: int) -> tuple[int, ...]:
        """How often each face came on one of the dice, as they stand in the rolls."""
        unit = 6 ** (2 - die)
        found = [0] * 6
        for place, count in enumerate(self.triples):
            found[place // unit % 6] += count
        return tuple(found)

    def __add__(self, other: Tally) -> Tally:
        """The tally of these rolls followed by those."""
        joined = bool(self.last and other.first) and (self.last[-1] > 10) == (other.first[0] > 10)
        reach = max(LAGS)
        across = tuple(
            sum(
                (2 * self.last[-back] - MIDDLE) * (2 * other.first[lag - back] - MIDDLE)
                for back in range(1, lag + 1)
                if back <= len(self.last) and lag - back < len(other.first)
            )
            for lag in LAGS
        )
        return Tally(
            rolls=self.rolls + other.rolls,
            triples=tuple(map(int.__add__, self.triples, other.triples)),
            runs=self.runs + other.runs - joined,
            above=self.above + other.above,
            products=tuple(map(sum, zip(self.products, other.products, across, strict=True))),
            is_sorted=self.is_sorted and other.is_sorted,
            first=(self.first + other.first)[:reach],
            last=(self.last + other.last)[-reach:],
        )


def tallied(blocks: Iterable[Rolls]) -> Tally:
    """The tally of a stream that comes in blocks."""
    found = Tally()
    for block in blocks:
        found += tally_of(block)
    return found


def tally_of(rolls: Rolls) -> Tally:
    """The tally of one block."""
    import numpy as np

    if not rolls.size:
        return Tally()
    places = (rolls[:, 0] - np.uint8(1)) * np.uint8(36) + (rolls[:, 1] - np.uint8(1)) * np.uint8(6)
    places += rolls[:, 2] - np.uint8(1)
    totals = rolls.sum(axis=1, dtype=np.uint8)
    above = totals > 10
    centred = totals.astype(np.int16) * 2 - MIDDLE
    return Tally(
        rolls=len(rolls),
        triples=tuple(np.bincount(places, minlength=216).tolist()),
        runs=1 + int(np.count_nonzero(above[1:] != above[:-1])),
        above=int(np.count_nonzero(above)),
        products=tuple(
            int((centred[lag:] * centred[:-lag]).sum(dtype=np.int64)) if len(rolls) > lag else 0
            for lag in LAGS
        ),
        is_sorted=bool(((rolls[:, 0] <= rolls[:, 1]) & (rolls[:, 1] <= rolls[:, 2])).all()),
        first=tuple(totals[: max(LAGS)].tolist()),
        last=tuple(totals[-max(LAGS) :].tolist()),
    )


_OUTCOME_OF: Final = tuple(
    Outcome.of(place // 36 + 1, place // 6 % 6 + 1, place % 6 + 1).index for place in range(216)
)

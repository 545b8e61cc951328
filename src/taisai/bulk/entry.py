"""What may be registered: a batch is looked at as a whole before anything changes.

The house's side: totals by area, from which the return on any outcome follows without looking at a bet.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from taisai.bulk.multiples import Places, ReturnMultiples, Whole
from taisai.rules.areas import AreaId
from taisai.rules.clauses import Clause
from taisai.rules.settlement import GREATEST_SUM, Bet, BetRefusal, BetRefusalReason, Money

Numbers = npt.NDArray[np.integer[Any]] | Sequence[int]


class BulkError(ValueError):
    """Something asked of the arrays that makes no sense, such as a player without a seat."""


class BetRefusedError(BulkError):
    """A bet that cannot be registered. Nothing of its batch was."""

    def __init__(self, refusal: BetRefusal, place: int | None = None) -> None:
        self.refusal = refusal
        super().__init__(
            str(refusal) if place is None else f"{refusal}: bet {place} of the batch, counted from 0"
        )


class BatchPart(NamedTuple):
    """The bets of a batch that lie on one area."""

    row: int
    players: Places
    steps: Whole
    places: Places
    """Where in the batch each was."""


@dataclass(frozen=True, slots=True)
class BetEntry:
    """The door to a book of bets: what its layout takes, from how many players."""

    multiples: ReturnMultiples
    players: int

    def one(self, player: int, area: str, stake: int) -> int:
        """The area's row, if this bet can be taken."""
        if type(player) is not int or not 0 <= player < self.players:
            raise BulkError(f"expected a player from 0 to {self.players - 1}, got {player!r}")
        row = self.multiples.matrix.rows.get(AreaId(area))
        limits = self.multiples
        if (
            row is None
            or type(stake) is not int
            or not 0 < stake <= limits.most[row]
            or stake % limits.steps[row]
        ):
            raise self._refused([area], [stake], alone=True)
        return row

    def batch(self, players: Numbers, rows: Numbers, stakes: Numbers) -> list[BatchPart]:
        """The bets by area, if every one of them can be taken."""
        seats, keys, money = whole(players, "players"), whole(rows, "areas"), np.asarray(stakes)
        if not seats.shape == keys.shape == money.shape or seats.ndim != 1:
            raise BulkError(
                "expected players, areas and stakes in three arrays of one length, "
                f"got the shapes {seats.shape}, {keys.shape}, {money.shape}"
            )
        if not seats.size:
            return []
        if seats.min() < 0 or seats.max() >= self.players:
            wrong = seats[(seats < 0) | (seats >= self.players)][0]
            raise BulkError(f"expected players from 0 to {self.players - 1}, got {wrong}")
        parts = self._sorted(seats, keys, money)
        if parts is None:
            raise self._refused([self._name(key) for key in keys.tolist()], money.tolist())
        return parts

    def _sorted(self, seats: Places, keys: Places, money: npt.NDArray[Any]) -> list[BatchPart] | None:
        if keys.min() < 0 or keys.max() >= len(self.multiples.steps) or money.dtype.kind not in "iu":
            return None
        if money.min() <= 0 or money.max() > GREATEST_SUM:
            return None
        parts = []
        for part in sorted_by_row(keys, seats, money.astype(np.int64, copy=False)):
            stakes, step = part.steps, self.multiples.steps[part.row]
            if (
                stakes.max() > self.multiples.most[part.row]
            ):  # first: a step may be more than an array can hold
                return None
            steps = stakes // step if step > 1 else stakes
            if step > 1 and (steps * step != stakes).any():
                return None
            parts.append(part._replace(steps=steps))
        return parts

    def _name(self, row: int) -> str:
        return (
            self.multiples.matrix.areas[row] if 0 <= row < len(self.multiples.matrix.areas) else f"row {row}"
        )

    def _refused(
        self, areas: Sequence[str], stakes: Sequence[object], *, alone: bool = False
    ) -> BetRefusedError:
        """Why not every bet can be taken: the reason with the lowest rank, and of equals the earliest."""
        found: tuple[BetRefusal, int] | None = None
        for place, (area, stake) in enumerate(zip(areas, stakes, strict=True)):
            refusal = self.multiples.matrix.refusal(Bet(AreaId(area), Money(stake)))  # type: ignore[arg-type]
            if refusal and (found is None or refusal.reason.rank < found[0].reason.rank):
                found = refusal, place
        if found is None:
            found = self._return_beyond(areas, stakes)
        return BetRefusedError(found[0], None if alone else found[1])

    def _return_beyond(self, areas: Sequence[str], stakes: Sequence[object]) -> tuple[BetRefusal, int]:
        for place, (area, stake) in enumerate(zip(areas, stakes, strict=True)):
            row = self.multiples.matrix.row(area)
            if isinstance(stake, int) and stake > self.multiples.most[row]:
                most = stake // self.multiples.steps[row] * self.multiples.greatest[row]
                return beyond("return", most), place
        raise AssertionError("a batch was turned away though every bet of it can be taken")


def beyond(what: str, amount: int) -> BetRefusal:
    """A sum that is greater than a browser holds exactly."""
    message = f"expected a {what} of at most 2^53 - 1 on every outcome, got {amount}"
    return BetRefusal(BetRefusalReason.BEYOND_GREATEST_SUM, Clause("house:greatest-sum"), message)


def exact_sum(numbers: Whole) -> int:
    """The sum of whole numbers above 0, also where int64 could not hold it."""
    if int(numbers.max()) * numbers.size < 2**63:
        return int(numbers.sum())
    return sum(numbers.tolist())


def sorted_by_row(
    rows: Places, players: Places, steps: Whole, places: Places | None = None
) -> list[BatchPart]:
    """Bets by area, in their order; without places they are counted from 0."""
    order = np.argsort(rows.astype(np.uint16), kind="stable")  # NumPy sorts short keys by radix
    ends = np.cumsum(np.bincount(rows)).tolist()
    players, steps, places = players[order], steps[order], order if places is None else places[order]
    return [
        BatchPart(row, players[start:end], steps[start:end], places[start:end])
        for row, (start, end) in enumerate(pairwise([0, *ends]))
        if end > start
    ]


def whole(numbers: Numbers, what: str) -> Places:
    """An array of whole numbers, whatever kind of whole number they came as."""
    array = np.asarray(numbers)
    if array.size and array.dtype.kind not in "iu":
        raise BulkError(f"expected {what} as whole numbers, got an array of {array.dtype}")
    return array.astype(np.intp, copy=False)


class HouseTotal(NamedTuple):
    """What the house took in, and what it gives back on an outcome."""

    staked: Money
    returned: Money

    @property
    def net(self) -> Money:
        """What stays with the house; below 0 where it pays."""
        return Money(self.staked - self.returned)


class Totals:
    """Steps by area. No total that they could lead to, on any outcome, is beyond the limit."""

    __slots__ = ("_bound", "_multiples", "staked", "steps")

    def __init__(self, multiples: ReturnMultiples) -> None:
        self._multiples = multiples
        self.staked = 0
        self.steps = [0] * len(multiples.steps)
        self._bound = 0  # what would be returned if every area had its best outcome at once

    def admit(self, row: int, steps: int) -> None:
        """Adds steps on one area, or raises BetRefusedError."""
        staked = self.staked + steps * self._multiples.steps[row]
        bound = self._bound + steps * self._multiples.greatest[row]
        if staked > GREATEST_SUM or bound > GREATEST_SUM:
            self._check({row: steps}, staked)
        self.staked = staked
        self._bound = bound
        self.steps[row] += steps

    def admit_all(self, more: Mapping[int, int]) -> None:
        """Adds steps on many areas, or raises BetRefusedError and adds none."""
        limits = self._multiples
        staked = self.staked + sum(steps * limits.steps[row] for row, steps in more.items())
        bound = self._bound + sum(steps * limits.greatest[row] for row, steps in more.items())
        if staked > GREATEST_SUM or bound > GREATEST_SUM:
            self._check(more, staked)
        self.staked = staked
        self._bound = bound
        for row, steps in more.items():
            self.steps[row] += steps

    def _check(self, more: Mapping[int, int], staked: int) -> None:
        if staked > GREATEST_SUM:
            raise BetRefusedError(beyond("total staked", staked))
        after = [steps + more.get(row, 0) for row, steps in enumerate(self.steps)]
        most = max(self.returned(place, after) for place in range(len(self._multiples.columns)))
        if most > GREATEST_SUM:
            raise BetRefusedError(beyond("total returned", most))

    def returned(self, place: int, steps: Sequence[int] | None = None) -> int:
        """What goes back to the players on the outcome at a place among the 56."""
        held = self.steps if steps is None else steps
        return sum(
            multiple * sum([held[row] for row in rows]) for multiple, rows in self._multiples.alike[place]
        )

"""Checks bets before they are registered, and adds up the totals of the house."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import gcd, lcm
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from taisai.rules.areas import AreaId
from taisai.rules.clauses import Clause
from taisai.rules.matrix import Matrix
from taisai.rules.settlement import GREATEST_SUM, Bet, BetRefusal, BetRefusalReason, Money

Whole = npt.NDArray[np.int64]
Places = npt.NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class ReturnMultiples:
    """The return of a bet of one step, by area and outcome. A stake is a whole number of steps of its area.

    With whole multiples, settlement needs no division. At 8.5 to 1 the step is 2 and the multiple is 19.
    """

    matrix: Matrix
    steps: tuple[int, ...]
    """[area] the smallest stake whose winnings are whole on every outcome."""
    columns: tuple[tuple[int, ...], ...]
    """[outcome][area] returned per step; 0 if the area loses."""
    alike: tuple[tuple[tuple[int, tuple[int, ...]], ...], ...]
    """[outcome] the winning areas, grouped by multiple."""
    greatest: tuple[int, ...]
    """[area] the greatest return per step."""
    most: tuple[int, ...]
    """[area] the greatest stake; it and its return are within GREATEST_SUM."""
    table: Whole
    """[area][outcome] the multiples as an array."""

    @staticmethod
    def of(matrix: Matrix) -> ReturnMultiples:
        """The multiples of a matrix; compute them once for all rounds."""
        one = matrix.denominator
        steps = [lcm(*(one // gcd(net, one) for net in row if net > 0)) for row in matrix.nets]
        rows = [
            [(net + one) * step // one if net > 0 else 0 for net in row]
            for row, step in zip(matrix.nets, steps, strict=True)
        ]
        columns = tuple(zip(*rows, strict=True))
        return ReturnMultiples(
            matrix=matrix,
            steps=tuple(steps),
            columns=columns,
            alike=tuple(map(_alike, columns)),
            greatest=tuple(map(max, rows)),
            most=tuple(GREATEST_SUM // max(step, *row) * step for step, row in zip(steps, rows, strict=True)),
            # For extreme odds a multiple exceeds int64. Then no stake is valid.
            table=np.array([[min(cell, GREATEST_SUM + 1) for cell in row] for row in rows], dtype=np.int64),
        )


def _alike(column: tuple[int, ...]) -> tuple[tuple[int, tuple[int, ...]], ...]:
    areas: dict[int, list[int]] = {}
    for area, multiple in enumerate(column):
        if multiple:
            areas.setdefault(multiple, []).append(area)
    return tuple((multiple, tuple(together)) for multiple, together in areas.items())


Numbers = npt.NDArray[np.integer[Any]] | Sequence[int]


class BulkError(ValueError):
    """An invalid argument, such as an unknown player."""


class BetRefusedError(BulkError):
    """A bet is refused. None of its batch was registered."""

    def __init__(self, refusal: BetRefusal, place: int | None = None) -> None:
        self.refusal = refusal
        super().__init__(
            str(refusal) if place is None else f"{refusal}: bet {place} of the batch, counted from 0"
        )


class BatchPart(NamedTuple):
    """The bets of a batch on one area."""

    row: int
    players: Places
    steps: Whole
    places: Places  # the position of each bet in the batch


@dataclass(frozen=True, slots=True)
class BetEntry:
    """Checks bets against the layout and the number of players."""

    multiples: ReturnMultiples
    players: int

    def one(self, player: int, area: str, stake: int) -> int:
        """The row of the area. Raises an error if the bet is refused."""
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
        """The bets by area. Raises an error if one of them is refused."""
        seats, keys, money = whole(players, "players"), whole(rows, "areas"), np.asarray(stakes)
        if not seats.shape == keys.shape == money.shape or seats.ndim != 1:
            raise BulkError(
                "expected players, areas and stakes as one-dimensional arrays of equal length, "
                f"got the shapes {seats.shape}, {keys.shape}, {money.shape}"
            )
        if not seats.size:
            return []
        if seats.min() < 0 or seats.max() >= self.players:
            invalid = seats[(seats < 0) | (seats >= self.players)][0]
            raise BulkError(f"expected players from 0 to {self.players - 1}, got {invalid}")
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
            if stakes.max() > self.multiples.most[part.row]:  # first, because a step may exceed int64
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
        """The refusal with the lowest rank; of equal ranks, the first."""
        lowest: tuple[BetRefusal, int] | None = None
        for place, (area, stake) in enumerate(zip(areas, stakes, strict=True)):
            refusal = self.multiples.matrix.refusal(Bet(AreaId(area), Money(stake)))  # type: ignore[arg-type]
            if refusal and (lowest is None or refusal.reason.rank < lowest[0].reason.rank):
                lowest = refusal, place
        if lowest is None:
            lowest = self._return_beyond(areas, stakes)
        return BetRefusedError(lowest[0], None if alone else lowest[1])

    def _return_beyond(self, areas: Sequence[str], stakes: Sequence[object]) -> tuple[BetRefusal, int]:
        for place, (area, stake) in enumerate(zip(areas, stakes, strict=True)):
            row = self.multiples.matrix.row(area)
            if isinstance(stake, int) and stake > self.multiples.most[row]:
                most = stake // self.multiples.steps[row] * self.multiples.greatest[row]
                return beyond("return", most), place
        raise AssertionError("a batch was refused, but every bet in it is valid")


def beyond(what: str, amount: int) -> BetRefusal:
    """The refusal of a sum above GREATEST_SUM."""
    message = f"expected a {what} of at most 2^53 - 1 on every outcome, got {amount}"
    return BetRefusal(BetRefusalReason.BEYOND_GREATEST_SUM, Clause("house:greatest-sum"), message)


def exact_sum(numbers: Whole) -> int:
    """The sum of positive integers, also beyond int64."""
    if int(numbers.max()) * numbers.size < 2**63:
        return int(numbers.sum())
    return sum(numbers.tolist())


def sorted_by_row(
    rows: Places, players: Places, steps: Whole, places: Places | None = None
) -> list[BatchPart]:
    """Bets by area, in their order; by default places count from 0."""
    order = np.argsort(rows.astype(np.uint16), kind="stable")  # NumPy uses a radix sort for short keys
    ends = np.cumsum(np.bincount(rows)).tolist()
    players, steps, places = players[order], steps[order], order if places is None else places[order]
    return [
        BatchPart(row, players[start:end], steps[start:end], places[start:end])
        for row, (start, end) in enumerate(pairwise([0, *ends]))
        if end > start
    ]


def whole(numbers: Numbers, what: str) -> Places:
    """An array of integers from integers of any type."""
    array = np.asarray(numbers)
    if array.size and array.dtype.kind not in "iu":
        raise BulkError(f"expected {what} as whole numbers, got an array of {array.dtype}")
    return array.astype(np.intp, copy=False)


class HouseTotal(NamedTuple):
    """What the players staked, and what is returned to them on an outcome."""

    staked: Money
    returned: Money

    @property
    def net(self) -> Money:
        """The net of the house; negative if it pays."""
        return Money(self.staked - self.returned)


class Totals:
    """Steps by area. No total on any outcome can exceed GREATEST_SUM."""

    __slots__ = ("_bound", "_multiples", "staked", "steps")

    def __init__(self, multiples: ReturnMultiples) -> None:
        self._multiples = multiples
        self.staked = 0
        self.steps = [0] * len(multiples.steps)
        self._bound = 0  # a bound of the return: the sum of the greatest returns

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
        """The total return on the outcome with this index."""
        held = self.steps if steps is None else steps
        return sum(
            multiple * sum([held[row] for row in rows]) for multiple, rows in self._multiples.alike[place]
        )

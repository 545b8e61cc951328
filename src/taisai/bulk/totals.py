"""The house's side: totals by area, from which the return on any outcome follows without looking at a bet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from taisai.bulk.entry import BetRefusedError, beyond
from taisai.bulk.multiples import Multiples
from taisai.rules.settlement import GREATEST_SUM, Money


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

    def __init__(self, multiples: Multiples) -> None:
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

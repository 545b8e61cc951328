"""A book of registered bets, kept by area, so that settling touches winners only and the house's total no bet at all."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

import numpy as np

from taisai.bulk import kernels
from taisai.bulk.entry import BetRefused, BulkError, Entry, Numbers, Part, beyond, exact_sum
from taisai.bulk.multiples import Multiples, Places, Whole
from taisai.bulk.shelf import Shelf
from taisai.rules.areas import AreaId
from taisai.rules.matrix import Matrix
from taisai.rules.outcomes import OUTCOMES, Outcome
from taisai.rules.settlement import GREATEST_SUM, Money

MOST_PLAYERS: Final = 2**24
"""Players of one book: totals for all of them then take 128 MiB."""
MOST_BETS: Final = 10**8
"""Bets of one book, which then takes 2.4 GB."""
MOST_CELLS: Final = 2**27
"""Rounds × bets, or rounds × players, of one answer, which then takes 1 GiB."""
PLAIN_UP_TO: Final = 200
"""Up to so many bets a plain loop beats NumPy."""
COMPILED_FROM: Final = 100_000
"""From so many bets on numba is worth the second that it takes to load."""


class HouseTotal(NamedTuple):
    """What the house took in and gives back on an outcome."""

    staked: Money
    returned: Money

    @property
    def net(self) -> Money:
        """What stays with the house; less than 0 where it pays."""
        return Money(self.staked - self.returned)


class ByBet(NamedTuple):
    """What each bet gets, in the order of registration."""

    won: Whole
    """Winnings above the stake; 0 for a loser."""
    returned: Whole


class BetsByArea:
    """The bets of a round on one layout, by players numbered from 0.

    >>> from taisai.rules import Outcome, rulebook
    >>> bets = BetsByArea(rulebook("rws-sic-bo-etg-v8").matrix("A"), players=2)
    >>> bets.add(0, "small", 100)
    >>> bets.add(1, "total-8", 50)
    >>> bets.add(1, "big", 70)
    >>> bets.returned_by_player(Outcome.of(1, 3, 4)).tolist()
    [200, 475]
    >>> bets.house(Outcome.of(1, 3, 4))
    HouseTotal(staked=220, returned=675)
    """

    def __init__(self, matrix: Matrix, *, players: int, compiled: bool | None = None) -> None:
        """`compiled` says whether to use numba; None is where it is present, and only for many bets."""
        if type(players) is not int or not 1 <= players <= MOST_PLAYERS:
            raise BulkError(f"expected 1 to {MOST_PLAYERS} players, got {players!r}")
        self.matrix = matrix
        self.players = players
        self._multiples = Multiples.of(matrix)
        self._entry = Entry(matrix, self._multiples, players)
        self._compiled = compiled
        self._adder = kernels.compiled_adder() if compiled else kernels.add_by_numpy
        self.clear()

    def clear(self) -> None:
        """Takes all bets off, for the next round."""
        self._size = 0
        self._staked = 0
        self._bound = 0
        self._steps = [0] * len(self._multiples.steps)
        self._loose: dict[int, list[tuple[int, int, int]]] = {}
        self._loose_size = 0
        self._shelves: dict[int, Shelf] = {}

    def __len__(self) -> int:
        return self._size

    # ── registering ──────────────────────────────────────────────────────────────────────────────────

    def add(self, player: int, area: str, stake: int) -> None:
        """Registers one bet, or raises BetRefused."""
        row = self._entry.one(player, area, stake)
        steps = stake // self._multiples.steps[row]
        self._admit(1, {row: steps})
        self._lay(row, player, steps, self._size)
        self._size += 1

    def extend(self, players: Numbers, rows: Numbers, stakes: Numbers) -> None:
        """Registers many bets, or raises BetRefused and registers none. Areas are given by their matrix rows."""
        count = len(players)
        if self._size + count > MOST_BETS:
            raise BulkError(f"expected at most {MOST_BETS} bets, got {self._size + count}")
        parts = self._entry.batch(players, rows, stakes)
        self._admit(count, {part.row: exact_sum(part.steps) for part in parts})
        if self._loose_size + count <= PLAIN_UP_TO:
            for part in parts:
                for player, steps, place in zip(*(column.tolist() for column in part[1:]), strict=True):
                    self._lay(part.row, player, steps, self._size + place)
        else:
            for part in parts:
                self._shelve(part._replace(places=part.places + self._size))
        self._size += count

"""Registered bets in arrays by area, so that settlement reads only winning areas; and many rounds at once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

import numpy as np

from taisai.bulk import kernels
from taisai.bulk.entry import (
    BatchPart,
    BetEntry,
    BulkError,
    HouseTotal,
    Numbers,
    Places,
    ReturnMultiples,
    Totals,
    Whole,
    exact_sum,
    sorted_by_row,
    whole,
)
from taisai.rules.areas import AreaId
from taisai.rules.outcomes import OUTCOMES, Outcome
from taisai.rules.settlement import Money


class BetBuffer:
    """The bets on one area, in growing arrays: player, steps and place in the order of registration."""

    __slots__ = ("_places", "_players", "_size", "_steps")

    def __init__(self, players: Places, steps: Whole, places: Places) -> None:
        self._players = players
        self._steps = steps
        self._places = places
        self._size = players.size

    @property
    def players(self) -> Places:
        return self._players[: self._size]

    def narrow(self) -> None:
        """Keeps players as the compiled loop reads them."""
        self._players = self._players.astype(kernels.NARROW, copy=False)

    @property
    def steps(self) -> Whole:
        """The stake of each bet, in steps of the area."""
        return self._steps[: self._size]

    @property
    def places(self) -> Places:
        """The place of each bet in the order of registration."""
        return self._places[: self._size]

    def append(self, players: Places, steps: Whole, places: Places) -> None:
        """Appends bets."""
        used, size = self._size, self._size + players.size
        if size > self._players.size:
            room = 2 * size  # doubling, so that a bet is copied about once on average
            self._players = _grown(self._players, used, room)
            self._steps = _grown(self._steps, used, room)
            self._places = _grown(self._places, used, room)
        self._players[used:size] = players
        self._steps[used:size] = steps
        self._places[used:size] = places
        self._size = size


def _grown(array: Whole, used: int, room: int) -> Whole:
    grown = np.empty(room, dtype=array.dtype)
    grown[:used] = array[:used]
    return grown


MOST_PLAYERS: Final = 2**24  # the most players of a round; their totals take 128 MiB
MOST_BETS: Final = 10**8  # the most bets of a round; they take 2.4 GB
PLAIN_UP_TO: Final = 400  # up to this many bets, a plain loop is faster than NumPy
SORTED_FROM: Final = 4_000
"""This many unsorted bets are sorted at once, so that settlement never has to sort many."""
COMPILED_FROM: Final = 100_000  # from this many bets on, numba is worth the second that it takes to load


class ByBet(NamedTuple):
    """The results of all bets, in the order of registration."""

    won: Whole
    """Winnings above the stake; 0 for a loser."""
    returned: Whole


class BetsByArea:
    """The bets of a round on one layout, by players numbered from 0.

    >>> from taisai.rules import rulebook
    >>> multiples = ReturnMultiples.of(rulebook("rws-sic-bo-etg-v8").matrix("A"))
    >>> bets = BetsByArea(multiples, players=2)
    >>> bets.add(0, "small", 100)
    >>> bets.add(1, "total-8", 50)
    >>> bets.add(1, "big", 70)
    >>> bets.returned_by_player(Outcome.of(1, 3, 4)).tolist()
    [200, 475]
    >>> bets.house(Outcome.of(1, 3, 4))
    HouseTotal(staked=220, returned=675)
    """

    def __init__(self, multiples: ReturnMultiples, *, players: int, compiled: bool | None = None) -> None:
        """By default, numba is used if it is installed and there are many bets."""
        if type(players) is not int or not 1 <= players <= MOST_PLAYERS:
            raise BulkError(f"expected 1 to {MOST_PLAYERS} players, got {players!r}")
        self.multiples = multiples
        self.players = players
        self._compiled = kernels.has_numba() if compiled is None else compiled
        self._columns = multiples.columns
        self._entry = BetEntry(multiples, players)
        self._adder = kernels.compiled_adder() if compiled else kernels.add_by_numpy
        self.clear()

    def clear(self) -> None:
        """Removes all bets, for the next round."""
        self._size = 0
        self._totals = Totals(self.multiples)
        self._buffers: dict[int, BetBuffer] = {}
        # Bets that are not sorted by area yet: (row, player, steps), and their places.
        self._unsorted: list[tuple[int, int, int]] = []
        self._unsorted_places: list[int] = []

    def __len__(self) -> int:
        return self._size

    # ── registering ──────────────────────────────────────────────────────────────────────────────────

    def add(self, player: int, area: str, stake: int) -> None:
        """Registers one bet, or raises BetRefusedError."""
        row = self._entry.one(player, area, stake)
        self._check_size(1)
        steps = stake // self.multiples.steps[row]
        self._totals.admit(row, steps)
        self._unsorted.append((row, player, steps))
        self._unsorted_places.append(self._size)
        self._size += 1
        if len(self._unsorted) >= SORTED_FROM:
            self._sort()

    def extend(self, players: Numbers, rows: Numbers, stakes: Numbers) -> None:
        """Registers many bets, areas by their matrix rows; or raises BetRefusedError and registers none."""
        count = len(players)
        self._check_size(count)
        parts = self._entry.batch(players, rows, stakes)
        self._totals.admit_all({part.row: exact_sum(part.steps) for part in parts})
        for part in parts:
            placed = part._replace(places=part.places + self._size)
            if count > PLAIN_UP_TO:
                self._store(placed)
            else:
                bets = zip(part.players.tolist(), part.steps.tolist(), strict=True)
                self._unsorted += [(part.row, *bet) for bet in bets]
                self._unsorted_places += placed.places.tolist()
        self._size += count
        if count > PLAIN_UP_TO or len(self._unsorted) >= SORTED_FROM:
            self._sort()

    def _check_size(self, more: int) -> None:
        if self._size + more > MOST_BETS:
            raise BulkError(f"expected at most {MOST_BETS} bets, got {self._size + more}")

    def _store(self, part: BatchPart) -> None:
        buffer = self._buffers.get(part.row)
        if buffer is None:
            self._buffers[part.row] = BetBuffer(part.players, part.steps, part.places)
        else:
            buffer.append(part.players, part.steps, part.places)

    def _sort(self) -> None:
        """Sorts the unsorted bets by area if there are many, and loads numba for very many."""
        if len(self._unsorted) > PLAIN_UP_TO:
            for part in self._unsorted_parts():
                self._store(part)
            self._unsorted = []
            self._unsorted_places = []
        if self._compiled and self._size >= COMPILED_FROM:
            self._adder = kernels.compiled_adder()
        if self._adder is not kernels.add_by_numpy:
            for buffer in self._buffers.values():
                buffer.narrow()

    def _unsorted_parts(self) -> list[BatchPart]:
        if not self._unsorted:
            return []
        rows, players, steps = np.array(self._unsorted, dtype=np.int64).T
        return sorted_by_row(rows, players, steps, np.array(self._unsorted_places, dtype=np.intp))

    def parts(self) -> Iterator[BatchPart]:
        """All bets by area; an area can come twice."""
        for row, buffer in self._buffers.items():
            yield BatchPart(row, buffer.players, buffer.steps, buffer.places)
        yield from self._unsorted_parts()

    # ── the house ────────────────────────────────────────────────────────────────────────────────────

    def house(self, outcome: Outcome) -> HouseTotal:
        """The total of the house on an outcome, in a time that does not depend on the number of bets."""
        return HouseTotal(Money(self._totals.staked), Money(self._totals.returned(outcome.index)))

    def exposure(self) -> dict[Outcome, HouseTotal]:
        """The total of the house on every outcome."""
        return {outcome: self.house(outcome) for outcome in OUTCOMES}

    def staked_by_area(self) -> dict[AreaId, Money]:
        """The total stake on each area."""
        held = zip(self.multiples.matrix.areas, self._totals.steps, self.multiples.steps, strict=True)
        return {area: Money(steps * step) for area, steps, step in held}

    def staked_by_player(self) -> Whole:
        totals = np.zeros(self.players, dtype=np.int64)
        for part in self.parts():
            self._adder(totals, [(part.players, part.steps)], self.multiples.steps[part.row])
        return totals

    # ── settling ─────────────────────────────────────────────────────────────────────────────────────

    def returned_by_player(self, outcome: Outcome) -> Whole:
        """The return of each player on an outcome, stakes of winning bets included."""
        totals = np.zeros(self.players, dtype=np.int64)
        if self._size > PLAIN_UP_TO:
            self._sort()
            for multiple, rows in self.multiples.alike[outcome.index]:
                areas = [(held.players, held.steps) for row in rows if (held := self._buffers.get(row))]
                if areas:
                    self._adder(totals, areas, multiple)
        if self._unsorted:
            column, tally = self._columns[outcome.index], totals.data
            for row, player, steps in self._unsorted:
                multiple = column[row]
                if multiple:
                    tally[player] += steps * multiple
        return totals

    def winners(self, outcome: Outcome) -> dict[int, int]:
        """The players with a return, and the return."""
        if self._size > PLAIN_UP_TO:
            totals = self.returned_by_player(outcome)
            players = totals.nonzero()[0]
            return dict(zip(players.tolist(), totals[players].tolist(), strict=True))
        column = self._columns[outcome.index]
        tally: dict[int, int] = {}
        for row, player, steps in self._unsorted:
            multiple = column[row]
            if multiple:
                if player in tally:
                    tally[player] += steps * multiple
                else:
                    tally[player] = steps * multiple
        return tally

    def by_bet(self, outcome: Outcome) -> ByBet:
        """The result of each bet on an outcome."""
        column, step = self.multiples.columns[outcome.index], self.multiples.steps
        won, returned = np.zeros((2, self._size), dtype=np.int64)
        for part in self.parts():
            multiple = column[part.row]
            if multiple:
                won[part.places] = part.steps * (multiple - step[part.row])
                returned[part.places] = part.steps * multiple
        return ByBet(won, returned)


MOST_CELLS: Final = 2**27  # the most rounds × bets, or rounds × players, of one result; they take 1 GiB


def nets_by_bet(bets: BetsByArea, outcomes: Numbers) -> Whole:
    """[round][bet] the net of each bet; outcomes are given by their indexes among the 56."""
    places = _places(outcomes, len(bets), "bets")
    multiples = bets.multiples
    nets = np.empty((places.size, len(bets)), dtype=np.int64)
    for part in bets.parts():
        per_step = multiples.table[part.row, places] - multiples.steps[part.row]
        nets[:, part.places] = per_step[:, np.newaxis] * part.steps
    return nets


def nets_by_player(bets: BetsByArea, outcomes: Numbers) -> Whole:
    """[round][player] the net of each player; outcomes are given by their indexes among the 56."""
    places = _places(outcomes, bets.players, "players")
    staked = bets.staked_by_player()
    once, which = np.unique(places, return_inverse=True)
    nets = [bets.returned_by_player(OUTCOMES[place]) - staked for place in once]
    return np.array(nets, dtype=np.int64).reshape(once.size, bets.players)[which]


def house_nets(bets: BetsByArea, outcomes: Numbers) -> Whole:
    """[round] the net of the house; outcomes are given by their indexes among the 56."""
    nets = np.array([bets.house(outcome).net for outcome in OUTCOMES], dtype=np.int64)
    return nets[_places(outcomes, 1, "totals")]


def _places(outcomes: Numbers, width: int, of: str) -> Places:
    places = whole(outcomes, "outcomes")
    if places.ndim != 1:
        raise BulkError(f"expected a one-dimensional array of outcomes, got the shape {places.shape}")
    if places.size and not 0 <= places.min() <= places.max() < len(OUTCOMES):
        raise BulkError(f"expected outcomes as indexes from 0 to 55, got {places.min()} to {places.max()}")
    if places.size * width > MOST_CELLS:
        raise BulkError(f"expected at most {MOST_CELLS} rounds × {of}, got {places.size} × {width}")
    return places

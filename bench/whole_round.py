"""A round with a million bets at a table in play, from its result until every balance can be read."""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from typing import Final

import numpy as np

from bench.harness import Bench, Line, Target, in_turns
from bench.mix import Mix, mixed, rolls
from bench.terminals import AT, close, do, enter, settle, terminal, with_bets_open
from taisai.bulk import BetsByArea, ReturnMultiples
from taisai.game.commands import PlaceBets, Slip
from taisai.game.table import MOST_BETS, MOST_IN_BATCH, MOST_SEATS, Table
from taisai.rules import Outcome

SWEEP_BYTES: Final = 96 * 2**20
"""Written between measurements, so that both ways find the processor's caches without their bets."""


def run(*, quick: bool) -> Iterator[Line]:
    """Against the totals of the same bets in bulk, which know no table, no purses and no books."""
    table = with_bets_open(seats=MOST_SEATS)
    terms = table.seats["0"].terms
    assert terms is not None
    mix = mixed(terms.matrix, bets=MOST_BETS, players=MOST_SEATS)
    lay(table, mix)
    close(table)
    bulk = BetsByArea(ReturnMultiples.of(mix.matrix), players=mix.players)
    bulk.extend(mix.who, mix.rows, mix.stakes)
    turn = Turn(table, rolls(9 if quick else 51))

    for number in range(3):
        turn.begin(number)
        before = _balances(table)
        settle(table)
        returned = np.array(_balances(table)) - before
        assert returned.any()
        assert np.array_equal(returned, bulk.returned_by_player(turn.outcome))

    def ours() -> list[int]:
        settle(table)
        return _balances(table)

    ways = {
        "ours": ours,
        "bulk": lambda: bulk.returned_by_player(turn.outcome),
        "bare limit": lambda: _credited(table),
    }
    times = in_turns(ways, turns=turn.turns, before=turn.begin)
    bench = Bench(f"{len(mix.who):,} bets until {MOST_SEATS:,} balances can be read, caches cold", times)
    yield bench.line("totals in bulk / ours", of="bulk", over="ours", target=Target(0.5))
    yield bench.line("bare limit: ours / adding to every balance", of="ours", over="bare limit")


class Turn:
    """The round as it was before its result, with the outcome of the turn, and cold caches."""

    def __init__(self, table: Table, outcomes: list[Outcome]) -> None:
        assert table.round is not None
        self._table, self._outcomes = table, outcomes
        self._round = copy(table.round)
        self._acts = frozenset(table.round.acts)
        self._balances = dict(table.ledger.balances)
        self._credits = copy(table.credits)
        self._at_risk = copy(table.at_risk)
        self._payable = copy(table.payable)
        self._sweep = np.zeros(SWEEP_BYTES, dtype=np.uint8)
        self.turns = len(outcomes)
        self.outcome = outcomes[0]

    def begin(self, turn: int) -> None:
        """Puts everything that a settlement changes back, and enters the result."""
        table = self._table
        table.round = copy(self._round)
        table.round.acts = set(self._acts)
        table.ledger.balances = dict(self._balances)
        table.credits[:], table.at_risk[:] = self._credits, self._at_risk
        table.payable[:] = self._payable
        self.outcome = self._outcomes[turn % self.turns]
        enter(table, self.outcome)
        self._sweep += 1


def lay(table: Table, mix: Mix) -> None:
    """The bets of every seat, in batches as large as the table takes them."""
    slips: list[list[Slip]] = [[] for _ in range(mix.players)]
    for number, (seat, row, stake) in enumerate(mix.plain()):
        slips[seat].append(Slip(str(number), mix.matrix.areas[row], stake))
    for seat, bets in enumerate(slips):
        for begin in range(0, len(bets), MOST_IN_BATCH):
            batch = tuple(bets[begin : begin + MOST_IN_BATCH])
            do(table, PlaceBets(at=AT, by=terminal(seat), round=1, seat=str(seat), bets=batch))


def _balances(table: Table) -> list[int]:
    return table.credits.tolist()


def _credited(table: Table) -> list[int]:
    for lane in range(len(table.credits)):
        table.credits[lane] += 1
    return _balances(table)

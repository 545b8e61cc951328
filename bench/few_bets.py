"""Ten bets, where plain Python is at its best and NumPy at its worst."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

import numpy as np
import numpy.typing as npt

from bench.harness import Bench, Line, Target, in_turns
from bench.mix import Mix, mixed, returned_per_unit, rolls
from taisai.bulk import BetsByArea, ReturnMultiples
from taisai.rules import Bet, Matrix, Outcome, Settlement, rulebook

BOOK, LAYOUT = "rws-sic-bo-etg-v8", "B"
BETS: Final = 10
PLAYERS: Final = 10
TABLES: Final = 40

Plain = list[tuple[int, int, int]]


def run(*, quick: bool) -> Iterator[Line]:
    """Player totals of ten bets, as the players who get something and as an array."""
    matrix = rulebook(BOOK).matrix(LAYOUT)
    mixes = [mixed(matrix, bets=BETS, players=PLAYERS, seed=seed) for seed in range(TABLES)]
    multiples = ReturnMultiples.of(matrix)
    kept = [_kept(mix, multiples) for mix in mixes]
    plain = [mix.plain() for mix in mixes]
    slips = [[Bet.on(matrix.areas[row], stake) for _, row, stake in bets] for bets in plain]
    outcomes = rolls(TABLES)
    tuned = _tuned(matrix)
    tables = list(zip(kept, plain, slips, outcomes, strict=True))
    for ours, bets, betting, outcome in tables:
        expected = _settled(matrix, bets, betting, outcome)
        assert ours.winners(outcome) == plain_loop(matrix, bets, outcome) == tuned(bets, outcome) == expected
        assert np.array_equal(ours.returned_by_player(outcome), plain_array(matrix, bets, outcome))

    def each(settle: Callable[[BetsByArea, Plain, list[Bet], Outcome], object]) -> Callable[[], None]:
        def work() -> None:
            for table in tables:
                settle(*table)

        return work

    times = in_turns(
        {
            "ours": each(lambda ours, _bets, _slips, outcome: ours.winners(outcome)),
            "ours, array": each(lambda ours, _bets, _slips, outcome: ours.returned_by_player(outcome)),
            "plain": each(lambda _ours, bets, _slips, outcome: plain_loop(matrix, bets, outcome)),
            "plain, array": each(lambda _ours, bets, _slips, outcome: plain_array(matrix, bets, outcome)),
            "settle": each(lambda _ours, bets, slips, outcome: _settled(matrix, bets, slips, outcome)),
            "tuned": each(lambda _ours, bets, _slips, outcome: tuned(bets, outcome)),
        },
        turns=25 if quick else 101,
        calls=20,
    )
    bench = Bench(f"{BETS} bets to player totals", times)
    never_slower = Target(1)
    yield bench.line("plain loop over the matrix / ours", of="plain", over="ours", target=never_slower)
    yield bench.line(
        "the same into an int64 array / ours", of="plain, array", over="ours, array", target=never_slower
    )
    yield bench.line(
        "Matrix.settle, added up by player / ours", of="settle", over="ours", target=never_slower
    )
    yield bench.line("bare limit: ours / a loop over a table made for it", of="ours", over="tuned")


def _kept(mix: Mix, multiples: ReturnMultiples) -> BetsByArea:
    bets = BetsByArea(multiples, players=mix.players)
    for player, row, stake in mix.plain():
        bets.add(player, mix.matrix.areas[row], stake)
    return bets


def plain_loop(matrix: Matrix, bets: Plain, outcome: Outcome) -> dict[int, int]:
    """What one writes over the matrix as it is."""
    totals: dict[int, int] = {}
    nets, one, place = matrix.nets, matrix.denominator, outcome.index
    for player, row, stake in bets:
        net = nets[row][place]
        if net > 0:
            totals[player] = totals.get(player, 0) + stake + stake * net // one
    return totals


def plain_array(matrix: Matrix, bets: Plain, outcome: Outcome) -> npt.NDArray[np.int64]:
    """The same into a list of all players, and that into an array."""
    totals = [0] * PLAYERS
    nets, one, place = matrix.nets, matrix.denominator, outcome.index
    for player, row, stake in bets:
        net = nets[row][place]
        if net > 0:
            totals[player] += stake + stake * net // one
    return np.array(totals, dtype=np.int64)


def _settled(matrix: Matrix, bets: Plain, slips: list[Bet], outcome: Outcome) -> dict[int, int]:
    settlement = matrix.settle(outcome, slips)
    assert isinstance(settlement, Settlement)
    totals: dict[int, int] = {}
    for (player, _, _), bet in zip(bets, settlement.bets, strict=True):
        if bet.returned:
            totals[player] = totals.get(player, 0) + bet.returned
    return totals


def _tuned(matrix: Matrix) -> Callable[[Plain, Outcome], dict[int, int]]:
    """The quickest loop we know: what comes back is tabled by outcome, and losers cost one look."""
    columns, one = returned_per_unit(matrix), matrix.denominator

    def settle(bets: Plain, outcome: Outcome) -> dict[int, int]:
        totals: dict[int, int] = {}
        column = columns[outcome.index]
        for player, row, stake in bets:
            returned = column[row]
            if returned:
                if player in totals:
                    totals[player] += stake * returned // one
                else:
                    totals[player] = stake * returned // one
        return totals

    return settle

"""A million bets to player totals, none of them added up by player beforehand."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

import numpy as np
import numpy.typing as npt

from bench.harness import Bench, Line, Target, in_turns
from bench.mix import Mix, mixed, returned_per_unit, rolls
from taisai.bulk import BetsByArea, ReturnMultiples, kernels
from taisai.rules import Outcome, rulebook

BOOK, LAYOUT = "rws-sic-bo-etg-v8", "B"
BETS: Final = 1_000_000
PLAYERS: Final = 10_000
SWEEP_BYTES: Final = 96 * 2**20
"""Written between measurements, so that every way finds the processor's caches without its bets."""

Totals = npt.NDArray[np.int64]


def run(*, quick: bool) -> Iterator[Line]:
    """Against np.add.at and plain Python; the bare limit and the cost of keeping bets by area beside."""
    mix = mixed(rulebook(BOOK).matrix(LAYOUT), bets=BETS, players=PLAYERS)
    outcomes = rolls(9 if quick else 31)
    turn = _Turn(outcomes)
    multiples = ReturnMultiples.of(mix.matrix)
    by_numpy = _kept(mix, multiples, compiled=False)
    ways: dict[str, Callable[[], object]] = {
        "np.add.at": _add_at(mix, turn),
        "plain Python": _plain(mix, turn),
        "NumPy": lambda: by_numpy.returned_by_player(turn.outcome),
        "bare limit": _bare_limit(by_numpy, turn),
    }
    if kernels.has_numba():
        by_numba = _kept(mix, multiples, compiled=True)
        ways["numba"] = lambda: by_numba.returned_by_player(turn.outcome)
    _assert_equal({name: way for name, way in ways.items() if name != "bare limit"}, turn)

    times = in_turns(ways, turns=len(outcomes), before=turn.begin)
    bench = Bench(f"{len(mix.who):,} bets to the totals of {PLAYERS:,} players, caches cold", times)
    for ours, least in (("numba", 5), ("NumPy", 3)):
        if ours in ways:
            yield bench.line(f"np.add.at / ours with {ours}", of="np.add.at", over=ours, target=Target(least))
            yield bench.line(
                f"plain Python / ours with {ours}", of="plain Python", over=ours, target=Target(50)
            )
            yield bench.line(
                f"bare limit: ours with {ours} / reading the winners", of=ours, over="bare limit"
            )

    keeping = {
        "keeping": lambda: _kept(mix, multiples, compiled=False),
        "copying": lambda: (mix.who.copy(), mix.rows.copy(), mix.stakes.copy()),
        "np.add.at": ways["np.add.at"],
    }
    times = in_turns(keeping, turns=5 if quick else 11, before=turn.begin)
    bench = Bench(f"keeping {len(mix.who):,} bets by area, every stake checked", times)
    yield bench.line("keeping / one np.add.at settlement", of="keeping", over="np.add.at")
    yield bench.line("bare limit: keeping / copying the arrays", of="keeping", over="copying")


class _Turn:
    """The outcome of the turn, and cold caches for everyone in it."""

    def __init__(self, outcomes: list[Outcome]) -> None:
        self._outcomes = outcomes
        self._sweep = np.zeros(SWEEP_BYTES, dtype=np.uint8)
        self.outcome = outcomes[0]

    def begin(self, turn: int) -> None:
        self.outcome = self._outcomes[turn % len(self._outcomes)]
        self._sweep += 1


def _kept(mix: Mix, multiples: ReturnMultiples, *, compiled: bool) -> BetsByArea:
    bets = BetsByArea(multiples, players=mix.players, compiled=compiled)
    bets.extend(mix.who, mix.rows, mix.stakes)
    return bets


def _add_at(mix: Mix, turn: _Turn) -> Callable[[], Totals]:
    columns = np.array(returned_per_unit(mix.matrix), dtype=np.int64)

    def settle() -> Totals:
        totals = np.zeros(mix.players, dtype=np.int64)
        np.add.at(totals, mix.who, columns[turn.outcome.index].take(mix.rows) * mix.stakes)
        totals //= mix.matrix.denominator  # once a player: the quickest place to divide
        return totals

    return settle


def _plain(mix: Mix, turn: _Turn) -> Callable[[], list[int]]:
    columns, one = returned_per_unit(mix.matrix), mix.matrix.denominator
    bets = mix.plain()

    def settle() -> list[int]:
        totals, column = [0] * mix.players, columns[turn.outcome.index]
        for player, row, stake in bets:
            returned = column[row]
            if returned:
                totals[player] += stake * returned // one
        return totals

    return settle


def _bare_limit(bets: BetsByArea, turn: _Turn) -> Callable[[], int]:
    """Reads every winner's player and steps, and does nothing with them but add up."""
    parts = list(bets.parts())

    def read() -> int:
        column = bets.multiples.columns[turn.outcome.index]
        return sum(int(part.players.sum() + part.steps.sum()) for part in parts if column[part.row])

    return read


def _assert_equal(ways: dict[str, Callable[[], object]], turn: _Turn) -> None:
    for number in range(3):
        turn.begin(number)
        answers = [np.asarray(way(), dtype=np.int64) for way in ways.values()]
        assert all(np.array_equal(answers[0], other) for other in answers[1:])
        assert answers[0].any()

"""The house's total: its time must not grow with the number of bets."""

from __future__ import annotations

from collections.abc import Iterator

from bench.harness import Bench, Line, Target, Work, in_turns
from bench.mix import mixed, rolls
from taisai.bulk import BetsByArea, ReturnMultiples
from taisai.rules import rulebook

BOOK, LAYOUT = "rws-sic-bo-etg-v8", "B"
PLAYERS = 10_000


def run(*, quick: bool) -> Iterator[Line]:
    """One outcome, and all 56, with a thousand bets and more."""
    matrix = rulebook(BOOK).matrix(LAYOUT)
    multiples = ReturnMultiples.of(matrix)
    sizes = (1_000, 10_000, 100_000) if quick else (1_000, 10_000, 100_000, 1_000_000)
    outcomes = rolls(20)
    kept: dict[str, BetsByArea] = {}
    for size in sizes:
        mix = mixed(matrix, bets=size, players=PLAYERS)
        kept[f"{size:,}"] = bets = BetsByArea(multiples, players=PLAYERS, compiled=False)
        bets.extend(mix.who, mix.rows, mix.stakes)
        for outcome in outcomes:
            assert bets.house(outcome).returned == bets.returned_by_player(outcome).sum()
            assert bets.house(outcome).staked == mix.stakes.sum()

    def one_outcome(bets: BetsByArea) -> Work:
        return lambda: [bets.house(outcome) for outcome in outcomes]

    def all_outcomes(bets: BetsByArea) -> Work:
        return bets.exposure

    least, *more = kept
    for what, asking in (("one outcome", one_outcome), ("all 56 outcomes", all_outcomes)):
        ways = {name: asking(bets) for name, bets in kept.items()}
        bench = Bench(f"the house's total on {what}", in_turns(ways, turns=25 if quick else 101))
        for name in more:
            flat = Target(1.5, at_most=True)
            yield bench.line(f"with {name} bets / with {least}", of=name, over=least, target=flat)

"""`taisai simulate`: rounds, played with random numbers from a seed."""

from __future__ import annotations

import sys
from argparse import Namespace
from contextlib import AbstractContextManager
from typing import IO

from taisai.cli import DONE, INTERRUPTED, values
from taisai.cli.printing import check_picture, print_and_save, progress_bar
from taisai.rules import ChanceKind, Rulebook, RulesError, rulebook
from taisai.study.odds import Mix
from taisai.study.report import counted, data_path
from taisai.study.simulation import (
    SessionTerms,
    Simulated,
    SimulatedShoe,
    Workers,
    cluster_workers,
    local_workers,
)
from taisai.study.simulation import simulate as simulated
from taisai.study.simulation import simulate_totals as simulated_totals
from taisai.study.simulation.plans import MOST_SEED, MOST_SESSIONS
from taisai.study.simulation.result import save
from taisai.study.simulation.run import MOST_ROUNDS
from taisai.study.simulation.workers import MOST_WORKERS
from taisai.study.staking import MOST_MONEY, named

_MARKS = 200  # points of a drawn line


def run(arguments: Namespace) -> int:
    """Simulates rounds, and prints, saves and draws the result."""
    if arguments.output is not None:
        data_path(arguments.output)
    check_picture(arguments.plot)
    result = print_and_save(
        arguments, lambda: _result(arguments), (arguments.output, save), (arguments.plot, _draw)
    )
    if result.is_whole:
        return DONE
    sys.stdout.flush()
    sys.stderr.write(f"taisai: stopped after {result.rounds:,} of {counted(result.asked, 'round')}\n")
    return INTERRUPTED


def _draw(result: Simulated, path: str, file: IO[bytes]) -> None:
    from taisai.study.pictures import simulation_picture
    from taisai.study.plotting import save as save_picture

    save_picture(simulation_picture(result), path, file)


def _result(arguments: Namespace) -> Simulated:
    book = rulebook(arguments.book)
    mix = Mix.of(values.matrix(book, arguments), values.bets(arguments.bet))
    rounds = values.count(arguments.rounds, "--rounds", MOST_ROUNDS)
    players = values.count(arguments.players, "--players", MOST_SESSIONS)
    sessions = players * values.count(arguments.sessions, "--sessions", MOST_SESSIONS)
    seed = values.count(arguments.seed, "--seed", MOST_SEED, least=0)
    terms = SessionTerms(
        named(arguments.strategy),
        _money(arguments.bankroll, "--bankroll"),
        _money(arguments.target, "--target"),
        _money(arguments.minimum, "--minimum"),
        _money(arguments.maximum, "--maximum"),
    )
    decks = values.decks(arguments)
    chance = book.chance(decks=decks)
    shoe = _shoe(book, decks, arguments.penetration)
    is_drawable = shoe is not None or (terms.is_endless and terms.strategy == "flat")
    if arguments.plot is not None and sessions == 1 and not is_drawable:
        raise RulesError(
            "nothing to plot: give --sessions 2 or more, or flat stakes without --bankroll and --target"
        )
    if arguments.totals:
        for option in ("penetration", "dask", "workers", "plot"):
            if getattr(arguments, option) is not None:
                raise RulesError(f"--totals cannot be used with --{option}: it plays no rounds")
        return simulated_totals(mix, chance, rounds=rounds, seed=seed, terms=terms, sessions=sessions)
    with _workers(arguments) as workers, progress_bar("rounds", rounds * sessions) as tick:
        return simulated(
            mix,
            chance,
            rounds=rounds,
            seed=seed,
            terms=terms,
            sessions=sessions,
            shoe=shoe,
            workers=workers,
            tick=tick,
            marks=_MARKS if arguments.plot is not None else 0,
        )


def _money(text: str | None, option: str) -> int | None:
    return None if text is None else values.count(text, option, MOST_MONEY)


def _shoe(book: Rulebook, decks: int | None, share: str | None) -> SimulatedShoe | None:
    if share is None:
        return None
    rule = book.chance_rule
    if rule.kind is not ChanceKind.CARDS:
        raise RulesError("--penetration is for card games; this game has dice")
    penetration = values.share(share, "--penetration")
    return SimulatedShoe.of(rule.cards_per_face, rule.decks if decks is None else decks, penetration)


def _workers(arguments: Namespace) -> AbstractContextManager[Workers]:
    if arguments.dask is not None:
        return cluster_workers(arguments.dask)
    workers = arguments.workers
    return local_workers(None if workers is None else values.count(workers, "--workers", MOST_WORKERS))

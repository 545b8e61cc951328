"""`taisai session`: what a fixed mix of bets comes to after so many rounds.

`taisai ruin`: how a player ends under a staking system and the table's limits.
"""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO

from taisai.cli import DONE, INTERRUPTED, asked
from taisai.cli.study.output import told_and_kept
from taisai.rules import Chance, Rulebook, RulesError, rulebook
from taisai.study.odds import Mix
from taisai.study.report import counted, data_path
from taisai.study.session import ends, total
from taisai.study.session.ends import MOST_BANKROLL, Ends, RoundsProgress, ends_of
from taisai.study.session.total import MOST_TARGET, Total, save_distribution, total_after


def run_session(arguments: Namespace) -> int:
    """Prints the law of a session's total."""
    book = rulebook(arguments.book)
    mix = Mix.of(asked.matrix(book, arguments), asked.bets(arguments.bet))
    if arguments.rounds is None:
        raise RulesError("--rounds is missing: add it, such as --rounds 1000")
    rounds = asked.count(arguments.rounds, "--rounds", total.MOST_ROUNDS)
    target = None if arguments.target is None else _net(arguments.target)
    if arguments.plot is not None:
        from taisai.study.plotting import picture_path

        picture_path(arguments.plot)  # a wrong name is told before the work begins
    if arguments.distribution is not None:
        data_path(arguments.distribution)
    told_and_kept(
        arguments,
        lambda: total_after(mix, chance(book, arguments), rounds, target=target),
        (arguments.distribution, save_distribution),
        (arguments.plot, _draw_total),
    )
    return DONE


def _draw_total(result: Total, path: str, file: IO[bytes]) -> None:
    from taisai.study.pictures import total_picture
    from taisai.study.plotting import save

    save(total_picture(result), path, file)


def _net(text: str) -> int:
    """What is won, or lost where there is a minus before it."""
    return asked.count(text, "--target", MOST_TARGET, least=-MOST_TARGET)


def chance(book: Rulebook, arguments: Namespace) -> Chance:
    """The chances of every round alike: three dice, or a fresh shoe of --decks."""
    if arguments.decks is None:
        return book.chance()
    return book.chance(decks=asked.whole(arguments.decks, "--decks", such_as="6"))


def run_ruin(arguments: Namespace) -> int:
    """Prints how it ends."""
    book = rulebook(arguments.book)
    mix = Mix.of(asked.matrix(book, arguments), asked.bets(arguments.bet))
    if arguments.bankroll is None or arguments.target is None:
        raise RulesError(
            "expected --bankroll and --target, such as --bankroll 10000 --target 20000, got not both"
        )
    bankroll = asked.count(arguments.bankroll, "--bankroll", MOST_BANKROLL)
    target = asked.count(arguments.target, "--target", MOST_BANKROLL)
    limits = {
        name: None if text is None else asked.count(text, f"--{name}", MOST_BANKROLL)
        for name, text in (("minimum", arguments.minimum), ("maximum", arguments.maximum))
    }
    rounds = None if arguments.rounds is None else asked.count(arguments.rounds, "--rounds", ends.MOST_ROUNDS)
    if arguments.plot is not None:
        from taisai.study.plotting import picture_path

        picture_path(arguments.plot)  # a wrong name is told before the work begins
    played, is_known = 0, False

    def work() -> Ends:
        def heard(done: int) -> None:
            nonlocal played
            played = done
            if progress:
                progress(done)

        nonlocal is_known
        with _progress(rounds) as progress:
            found = ends_of(
                mix,
                chance(book, arguments),
                bankroll=bankroll,
                target=target,
                rounds=rounds,
                staking="flat" if arguments.system is None else arguments.system,
                minimum=limits["minimum"],
                maximum=limits["maximum"],
                progress=heard,
            )
        is_known = True
        return found

    try:
        told_and_kept(arguments, work, (arguments.plot, _draw_ends))
    except KeyboardInterrupt:  # part of a chain says nothing of how it ends: only how far it was is told
        if is_known:
            raise
        after = counted(played, "round") if rounds is None else f"{played:,} of {counted(rounds, 'round')}"
        sys.stderr.write(f"taisai: stopped after {after}, before the end was known\n")
        return INTERRUPTED
    return DONE


def _draw_ends(result: Ends, path: str, file: IO[bytes]) -> None:
    from taisai.study.pictures import ends_picture
    from taisai.study.plotting import save

    save(ends_picture(result), path, file)


@contextmanager
def _progress(rounds: int | None) -> Iterator[RoundsProgress | None]:
    """A bar of the rounds done, where somebody watches."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    parts = (TextColumn("rounds"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*parts, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("rounds", total=rounds)
        yield lambda done: bar.update(task, completed=done)

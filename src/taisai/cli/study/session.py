"""`taisai session`: what a fixed mix of bets comes to after so many rounds."""

from __future__ import annotations

from argparse import Namespace
from typing import IO

from taisai.cli import DONE, asked
from taisai.cli.study.telling import told_and_kept
from taisai.rules import Chance, Rulebook, RulesError, rulebook
from taisai.study.mix import Mix
from taisai.study.session.keeping import distribution_path, save_distribution
from taisai.study.session.total import MOST_ROUNDS, MOST_TARGET, Total, total_after


def run(arguments: Namespace) -> int:
    """Prints the law of a session's total."""
    book = rulebook(arguments.book)
    mix = Mix.of(asked.matrix(book, arguments), asked.bets(arguments.bet))
    if arguments.rounds is None:
        raise RulesError("expected --rounds, such as --rounds 1000, got none")
    rounds = asked.count(arguments.rounds, "--rounds", MOST_ROUNDS)
    target = None if arguments.target is None else _net(arguments.target)
    if arguments.plot is not None:
        from taisai.study.plotting import picture_path

        picture_path(arguments.plot)  # a wrong name is told before the work begins
    if arguments.distribution is not None:
        distribution_path(arguments.distribution)
    told_and_kept(
        arguments,
        lambda: total_after(mix, chance(book, arguments), rounds, target=target),
        (arguments.distribution, save_distribution),
        (arguments.plot, _draw),
    )
    return DONE


def _draw(result: Total, path: str, file: IO[bytes]) -> None:
    from taisai.study.plotting import save
    from taisai.study.session.pictures import of_total

    save(of_total(result), path, file)


def _net(text: str) -> int:
    """What is won, or lost where there is a minus before it."""
    return asked.count(text, "--target", MOST_TARGET, least=-MOST_TARGET)


def chance(book: Rulebook, arguments: Namespace) -> Chance:
    """The chances of every round alike: three dice, or a fresh shoe of --decks."""
    if arguments.decks is None:
        return book.chance()
    return book.chance(decks=asked.whole(arguments.decks, "--decks", such_as="6"))

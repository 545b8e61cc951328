"""`taisai session` and `ruin`: the exact net of a session, and how a player ends."""

from __future__ import annotations

import sys
from argparse import Namespace
from typing import IO

from taisai.cli import DONE, INTERRUPTED, values
from taisai.cli.printing import check_picture, print_and_save, progress_bar
from taisai.rules import RulesError, rulebook
from taisai.study.odds import Mix
from taisai.study.report import counted, data_path
from taisai.study.session import ends, total
from taisai.study.session.ends import MOST_BANKROLL, Ends, ends_of
from taisai.study.session.total import MOST_TARGET, Total, save_distribution, total_after


def run_session(arguments: Namespace) -> int:
    """Prints the distribution of the net after a number of rounds."""
    book = rulebook(arguments.book)
    mix = Mix.of(values.matrix(book, arguments), values.bets(arguments.bet))
    if arguments.rounds is None:
        raise RulesError("missing option --rounds, such as --rounds 1000")
    rounds = values.count(arguments.rounds, "--rounds", total.MOST_ROUNDS)
    target = arguments.target
    net = None if target is None else values.count(target, "--target", MOST_TARGET, least=-MOST_TARGET)
    chance = book.chance(
        decks=values.decks(arguments)
    )  # the same in every round: a card game uses a new shoe
    check_picture(arguments.plot)
    if arguments.distribution is not None:
        data_path(arguments.distribution)
    print_and_save(
        arguments,
        lambda: total_after(mix, chance, rounds, target=net),
        (arguments.distribution, save_distribution),
        (arguments.plot, _draw_total),
    )
    return DONE


def _draw_total(result: Total, path: str, file: IO[bytes]) -> None:
    from taisai.study.pictures import total_picture
    from taisai.study.plotting import save

    save(total_picture(result), path, file)


def run_ruin(arguments: Namespace) -> int:
    """Prints how a player ends: ruined or at the target."""
    book = rulebook(arguments.book)
    mix = Mix.of(values.matrix(book, arguments), values.bets(arguments.bet))
    if arguments.bankroll is None or arguments.target is None:
        missing = "--bankroll" if arguments.bankroll is None else "--target"
        raise RulesError(f"missing option {missing}; give both, such as --bankroll 10000 --target 20000")
    bankroll = values.count(arguments.bankroll, "--bankroll", MOST_BANKROLL)
    target = values.count(arguments.target, "--target", MOST_BANKROLL)
    limits = {
        name: None if text is None else values.count(text, f"--{name}", MOST_BANKROLL)
        for name, text in (("minimum", arguments.minimum), ("maximum", arguments.maximum))
    }
    rounds = (
        None if arguments.rounds is None else values.count(arguments.rounds, "--rounds", ends.MOST_ROUNDS)
    )
    check_picture(arguments.plot)
    chance = book.chance(decks=values.decks(arguments))
    played, is_known = 0, False

    def work() -> Ends:
        def count_rounds(done: int) -> None:
            nonlocal played
            advance(done - played)
            played = done

        nonlocal is_known
        with progress_bar("rounds", rounds) as advance:
            result = ends_of(
                mix,
                chance,
                bankroll=bankroll,
                target=target,
                rounds=rounds,
                staking="flat" if arguments.system is None else arguments.system,
                minimum=limits["minimum"],
                maximum=limits["maximum"],
                progress=count_rounds,
            )
        is_known = True
        return result

    try:
        print_and_save(arguments, work, (arguments.plot, _draw_ends))
    except KeyboardInterrupt:  # a part of the chain gives no result, so only the progress is printed
        if is_known:
            raise
        after = counted(played, "round") if rounds is None else f"{played:,} of {counted(rounds, 'round')}"
        sys.stderr.write(f"taisai: stopped after {after}, before the result was known\n")
        return INTERRUPTED
    return DONE


def _draw_ends(result: Ends, path: str, file: IO[bytes]) -> None:
    from taisai.study.pictures import ends_picture
    from taisai.study.plotting import save

    save(ends_picture(result), path, file)

"""Turns the words of the command line into numbers, bets, rulebooks and matrices."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from taisai.rules import Chance, Matrix, Rulebook, RulesError, rulebook
from taisai.validation import NUMBERS_TEXT, SHARE_TEXT, any_whole_text, split_pairs, whole_text

if TYPE_CHECKING:
    from fractions import Fraction

    from taisai.rules import Bet

MOST_BETS: Final = 2_000  # of one command


def whole(text: str, option: str, *, such_as: str) -> int:
    """A whole number, below 0 or above."""
    return any_whole_text(such_as).check(text, option)


def count(text: str, option: str, most: int, *, least: int = 1) -> int:
    """A number of things: 1000, 1_000, 1e9 or 1.5e6, from least to most."""
    return whole_text(least, most, "1000 or 1e3" if most >= 1_000 else "").check(text, option)


def share(text: str, option: str) -> Fraction:
    """A part of a whole, above 0 and at most 1: 0.75, .75 or 3/4."""
    return SHARE_TEXT.check(text, option)


def faces(text: str | None, option: str) -> tuple[int, ...]:
    """Numbers such as 2,3,5; none where the option is not given."""
    return () if text is None else NUMBERS_TEXT.check(text, option)


def decks(arguments: Namespace) -> int | None:
    """The number of --decks; None where the option is not given."""
    return None if arguments.decks is None else whole(arguments.decks, "--decks", such_as="6")


def _each_once(words: Iterable[str], expected: str) -> dict[str, str]:
    values: dict[str, str] = {}
    for name, value in split_pairs(words, expected):
        if name in values:
            raise RulesError(f"{name} is given twice")
        values[name] = value
    return values


def settings(arguments: Namespace) -> dict[str, str]:
    """The settings given with --set."""
    return _each_once(arguments.settings, "a setting such as no_roll=void")


def offers(arguments: Namespace) -> dict[str, str]:
    return _each_once(arguments.offer, 'an offer such as "triple-1=160 to 1"')


def matrix(book: Rulebook, arguments: Namespace) -> Matrix:
    """The payoff matrix of the given layout, settings and offers."""
    return book.matrix(arguments.layout, settings=settings(arguments), offered=offers(arguments))


def chance(book: Rulebook, arguments: Namespace) -> Chance:
    """The chances of the dice, or of the shoe given with --decks and --seen."""
    return book.chance(decks=decks(arguments), seen=faces(arguments.seen, "--seen"))


def terms(arguments: Namespace) -> str:
    """The given settings and offers, for a title."""
    given = [*getattr(arguments, "settings", ()), *getattr(arguments, "offer", ())]
    return f", with {', '.join(given)}" if given else ""


def bets(words: Iterable[str]) -> tuple[Bet, ...]:
    from taisai.rules import Bet

    given = tuple(
        Bet.on(area, whole(stake, f"stake on {area}, in minor units", such_as="1050"))
        for area, stake in split_pairs(words, "a bet such as small=100")
    )
    if not 1 <= len(given) <= MOST_BETS:
        raise RulesError(f"expected 1 to {MOST_BETS} bets such as --bet small=100, got {len(given)}")
    return given


def book_and_layout(text: str) -> tuple[Rulebook, str | None]:
    """BOOK or BOOK/LAYOUT, where BOOK is an id or a path that may itself contain slashes."""
    book_name, _, layout = text.rpartition("/")
    if book_name:
        try:
            book = rulebook(book_name)
        except RulesError:
            if not text.endswith(".toml"):
                raise
        else:
            return book, book.layout_id(layout)
    return rulebook(text), None

"""From typed words to values of the rules; whatever is wrong says expected and got."""

from __future__ import annotations

import re
from argparse import Namespace
from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from taisai.rules import Chance, Matrix, Rulebook, RulesError, rulebook

if TYPE_CHECKING:  # a question about odds needs no bets
    from fractions import Fraction

    from taisai.rules import Bet

_FACE: Final = re.compile(r"-?[0-9]{1,100}", re.ASCII)
_NUMBER: Final = re.compile(r"(-?[0-9]+(?:_[0-9]+)*)(?:\.([0-9]+))?(?:[eE]\+?([0-9]{1,3}))?", re.ASCII)
_SHARE: Final = re.compile(r"[0-9]{0,3}\.[0-9]{1,20}|[0-9]{1,20}(?:/[0-9]{1,20})?", re.ASCII)
MOST_DIGITS: Final = 100  # no whole number that makes sense has more
MOST_WORDS: Final = 2_000  # cards seen or bets given in one command


def whole(text: str, what: str, *, such_as: str) -> int:
    """A whole number, below 0 or above."""
    found = _number(text)
    if found is None:
        raise RulesError(
            f"expected {what} as a whole number of at most {MOST_DIGITS} digits, such as {such_as}, "
            f"got {text!r}"
        )
    return found


def count(text: str, what: str, most: int, *, least: int = 1) -> int:
    """A number of things, exactly: 1000, 1_000, 1e9 or 1.5e6, from least to most."""
    found = _number(text)
    if found is not None and least <= found <= most:
        return found
    bounds = f"from {_short(least)} to {_short(most)}"
    raise RulesError(f"expected {what} as a whole number {bounds}, such as 1000 or 1e3, got {text!r}")


def share(text: str, what: str) -> Fraction:
    """A part of a whole, above 0 and at most 1: 0.75, .75 or 3/4."""
    from fractions import Fraction

    if _SHARE.fullmatch(text):
        above, _, below = text.partition("/")
        if not below or int(below):  # nothing can be divided by 0
            found = Fraction(above) / int(below or 1)
            if 0 < found <= 1:
                return found
    raise RulesError(f"expected {what} above 0 and at most 1, such as 0.75 or 3/4, got {text!r}")


def _number(text: str) -> int | None:
    """The whole number that is written there, exactly; None where it is none, or too long."""
    match = _NUMBER.fullmatch(text) if len(text) <= MOST_DIGITS + 1 else None
    if match is None:
        return None
    digits, decimals, power = match[1].replace("_", ""), match[2] or "", int(match[3] or 0)
    found, rest = divmod(int(digits + decimals) * int(10**power), int(10 ** len(decimals)))
    return None if rest or abs(found) >= 10**MOST_DIGITS else found


def _short(number: int) -> str:
    """1e15 for a long round number, else with commas."""
    power = len(str(abs(number))) - 1
    sign = "-" if number < 0 else ""
    return f"{sign}1e{power}" if power >= 7 and abs(number) == 10**power else f"{number:,}"


def faces(text: str, what: str) -> tuple[int, ...]:
    """Numbers such as 2,3,5; whether they are faces is for the rules to say."""
    words = [word.strip() for word in text.split(",")]
    if len(words) > MOST_WORDS:
        raise RulesError(f"expected at most {MOST_WORDS} numbers for {what}, got {len(words)}")
    if not all(_FACE.fullmatch(word) for word in words):
        raise RulesError(f"expected numbers with commas between, such as {what} 2,3,5, got {text!r}")
    return tuple(map(int, words))


def pairs(words: Iterable[str], what: str) -> list[tuple[str, str]]:
    """Words such as small=100, taken apart."""
    found = []
    for word in words:
        name, equals, value = word.partition("=")
        if not (name and equals and value):
            raise RulesError(f"expected {what}, got {word!r}")
        found.append((name.strip(), value.strip()))
    return found


def named_once(words: Iterable[str], what: str) -> dict[str, str]:
    """Words such as no_roll=void, no name twice."""
    found: dict[str, str] = {}
    for name, value in pairs(words, what):
        if name in found:
            raise RulesError(f"expected {name} once, got it twice")
        found[name] = value
    return found


def settings(arguments: Namespace) -> dict[str, str]:
    """The settings given with --set."""
    return named_once(arguments.settings, "a setting such as no_roll=void")


def matrix(book: Rulebook, arguments: Namespace) -> Matrix:
    """The matrix of the layout, settings and offers that were asked for."""
    offers = named_once(arguments.offer, 'an offer such as "triple-1=160 to 1"')
    return book.matrix(arguments.layout, settings=settings(arguments), offered=offers)


def chance(book: Rulebook, arguments: Namespace) -> Chance:
    """The chances of the shoe that was asked for; of the dice where there are dice."""
    decks = whole(arguments.decks, "--decks", such_as="6") if arguments.decks is not None else None
    seen = faces(arguments.seen, "--seen") if arguments.seen is not None else ()
    return book.chance(decks=decks, seen=seen)


def terms(arguments: Namespace) -> str:
    """The settings and offers given, as a title names them."""
    given = [*getattr(arguments, "settings", ()), *getattr(arguments, "offer", ())]
    return f", with {', '.join(given)}" if given else ""


def bets(words: Iterable[str]) -> tuple[Bet, ...]:
    """Bets such as small=100."""
    from taisai.rules import Bet

    found = tuple(
        Bet.on(area, whole(stake, f"the stake on {area}, in the smallest money unit,", such_as="1050"))
        for area, stake in pairs(words, "a bet such as small=100")
    )
    if not 1 <= len(found) <= MOST_WORDS:
        raise RulesError(f"expected 1 to {MOST_WORDS} bets such as --bet small=100, got {len(found)}")
    return found


def book_and_layout(text: str) -> tuple[Rulebook, str | None]:
    """BOOK or BOOK/LAYOUT, where BOOK is an id or a path that may itself contain slashes."""
    whole_name, _, last = text.rpartition("/")
    if whole_name:
        try:
            book = rulebook(whole_name)
        except RulesError:
            if not text.endswith(".toml"):
                raise
        else:
            return book, book.layout_id(last)
    return rulebook(text), None

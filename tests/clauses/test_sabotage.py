"""The test of the tests: whatever is altered in a rulebook turns a test of its clause red."""

from __future__ import annotations

import importlib
import tomllib
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any, Final

import pytest

import taisai.rules
from taisai.rules import BookError, Rulebook, RulesError, rulebook
from tests.clauses import (
    altered_conduct,
    altered_pay,
    altered_round,
    test_mbs_conduct,
    test_mbs_names,
    test_mbs_pay,
    test_rws_conduct,
    test_rws_names,
    test_rws_pay,
    test_three_card,
    test_three_card_names,
    test_us_conduct,
    test_us_pay,
)
from tests.clauses.altering import Alteration, Data
from tests.project.citations import IN_NAMES, clause_of_test
from tests.tiers import LONG, drawn

pytestmark = pytest.mark.part(name="sabotage")

Check = Callable[[Rulebook], None]

BOOKS: Final = Path(taisai.rules.__file__).parent / "books"
PARTS: Final[Mapping[str, tuple[Callable[[Data], Iterator[Alteration]], str]]] = {
    "pay": (altered_pay.pay, "layouts"),
    "losing": (altered_pay.losing, "layouts"),
    "chance": (altered_pay.chance, "chance_rule"),
    "layouts": (altered_pay.layouts, "layouts"),
    "irregularities": (altered_round.irregularities, "irregularities"),
    "procedure": (altered_round.procedure, "irregularities"),
    "people": (altered_conduct.people, "irregularities equipment"),
    "limits": (altered_conduct.limits, "limits"),
    "equipment": (altered_conduct.equipment, "equipment"),
    "settings": (altered_conduct.settings, "layouts irregularities equipment interpretations"),
    "readings": (altered_conduct.readings, "interpretations"),
}
"""What is altered, and the parts of the book that the loader has to read to see whether it is still one."""

MODULES: Final = {
    "mbs-sic-bo-v6": (test_mbs_pay, test_mbs_conduct, test_mbs_names),
    "rws-sic-bo-etg-v8": (test_rws_pay, test_rws_conduct, test_rws_names),
    "mbs-3-card-sic-bo": (test_three_card, test_three_card_names),
    "us-sic-bo": (test_us_pay, test_us_conduct),
}
PLAYED_FILES: Final = {
    book: sorted((Path(__file__).parents[1] / "game").glob(f"test_{short}_played*.py"))
    for short, book in IN_NAMES.items()
}
PLAYED: Final = {
    book: tuple(importlib.import_module(f"tests.game.{file.stem}") for file in files)
    for book, files in PLAYED_FILES.items()
}
"""The tests that drive a table. They take longer than those that compare data, and come after them."""

BY_PLAY: Final = frozenset(
    {(book, part) for book in MODULES for part in ("irregularities", "procedure")}
    | {(book, part) for book in ("rws-sic-bo-etg-v8", "us-sic-bo") for part in ("people", "limits")}
)
"""(book, part) of which `tests/game/test_played_sabotage.py` shows it, with fewer tests than are here."""

ONE_OF: Final = 1 if LONG else 10
"""Of so many alterations the short tier looks at one."""

KNOWN: Final = {book: frozenset(rulebook(book).clauses) for book in MODULES}


def checks_in(modules: Iterable[ModuleType]) -> dict[str, Check]:
    named = [one for module in modules for one in vars(module).items() if one[0].startswith("test_")]
    assert len(named) == len(dict(named)), "no name stands in two modules of a book"
    return dict(named)


CHECKS: Final = {book: checks_in((*modules, *PLAYED[book])) for book, modules in MODULES.items()}


def checks_of(book: str, clause: str | None) -> list[Check]:
    """The tests named for a clause of the book; all of them where no clause is named."""
    return [
        test for name, test in CHECKS[book].items() if clause is None or clause_of_test(name, KNOWN) == clause
    ]


def turns_red(book: Rulebook, checks: list[Check]) -> bool:
    """Whether one of them fails on the book; that one is moved to the front, as it is likely to again."""
    for place, check in enumerate(checks):
        if _red(check, book):
            checks.insert(0, checks.pop(place))
            return True
    return False


def _red(check: Check, book: Rulebook) -> bool:
    try:
        check(book)
    except (AssertionError, RulesError, pytest.fail.Exception):
        return True
    return False


def accepted(alteration: Alteration, read: str) -> Rulebook | None:
    """The altered book, unless the loader already refuses it: then no test is needed to notice."""
    try:
        book = Rulebook(alteration.data, "altered.toml")
        for part in read.split():
            getattr(book, part)
    except BookError:
        return None
    return book


def _refused_in_full(book: Rulebook) -> bool:
    """Whether the loader refuses the book once it reads every part, which takes longer."""
    try:
        book.check()
    except BookError:
        return True
    return False


def same_matrices(book: Rulebook, other: Rulebook) -> bool:
    return all(book.matrix(layout).digest == other.matrix(layout).digest for layout in book.layouts)


def parsed(book: str) -> dict[str, Any]:
    return tomllib.loads((BOOKS / f"{book}.toml").read_text("utf-8"))


def survivors(
    book: str,
    part: str,
    checks_of: Callable[[str, str | None], list[Check]],
    among: Collection[str] | None = None,
    one_of: int = 1,
) -> Iterator[str]:
    """The alterations that no test notices, and the entries of which the loader lets none through.

    `among` names those that are looked at, where it is not all of them. With `one_of`, only one of so many is
    looked at, and others after every change of the sources.
    """
    sound = rulebook(book)
    checks: dict[str | None, list[Check]] = {}
    taken: Counter[str] = Counter()
    alterations, read = PARTS[part]
    first = drawn(f"alterations of {part} in {book}").randrange(one_of)
    for place, alteration in enumerate(alterations(parsed(book))):
        if place % one_of != first or (among is not None and str(alteration) not in among):
            continue
        altered = accepted(alteration, read)
        taken[alteration.entry] += altered is not None
        # A clause by which nothing is lost, as that of any triple on a triple, changes no cell.
        if altered is None or (part == "losing" and same_matrices(sound, altered)):
            continue
        if alteration.clause not in checks:
            checks[alteration.clause] = checks_of(book, alteration.clause)
        if not turns_red(altered, checks[alteration.clause]) and not _refused_in_full(altered):
            yield str(alteration)
    if one_of == 1:
        yield from (f"{entry}: every alteration is refused" for entry, times in taken.items() if not times)


@pytest.mark.parametrize(
    ("book", "part"), [(book, part) for book in MODULES for part in PARTS if (book, part) not in BY_PLAY]
)
def test_whatever_is_altered_turns_a_test_of_its_clause_red(book: str, part: str) -> None:
    survived = list(survivors(book, part, checks_of, one_of=ONE_OF))
    assert survived == [], "\n".join([f"{len(survived)} alterations survived:", *survived])


@pytest.mark.parametrize("book", MODULES)
def test_the_sound_book_turns_none_red(book: str) -> None:
    sound = Rulebook(parsed(book), "sound.toml").check()
    assert [name for name, check in CHECKS[book].items() if _red(check, sound)] == []


@pytest.mark.parametrize(("part", "least"), [("people", 15), ("equipment", 30), ("readings", 20)])
def test_sabotage_without_tests_what_the_loader_accepts_survives(part: str, least: int) -> None:
    assert len(list(survivors("us-sic-bo", part, lambda _book, _clause: []))) >= least


@pytest.mark.parametrize(
    ("book", "clause", "cut", "put"),
    [
        ("mbs-sic-bo-v6", "3.5.1", 'en = "Small', 'en = "Low'),
        ("mbs-sic-bo-v6", "3.5.12", 'en = "Single Dice', 'en = "One Dice'),
        ("mbs-3-card-sic-bo", "3.6.6", 'en = "Three Card Total', 'en = "Sum'),
        ("rws-sic-bo-etg-v8", "1.1", 'says = "Bet is', 'says = "Wager is'),
        ("rws-sic-bo-etg-v8", "1.4", 'operator = "', 'operator = "Not '),
        ("rws-sic-bo-etg-v8", "1.9", 'en = "Total Sum', 'en = "Points'),
    ],
)
def test_sabotage_another_name_turns_a_test_of_its_clause_red(
    book: str, clause: str, cut: str, put: str
) -> None:
    text = (BOOKS / f"{book}.toml").read_text("utf-8")
    assert cut in text
    renamed = Rulebook(tomllib.loads(text.replace(cut, put)), "renamed.toml").check()
    assert turns_red(renamed, checks_of(book, clause))

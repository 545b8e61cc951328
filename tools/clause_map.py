"""Writes src/taisai/rules/clause_coverage.toml: which test holds each clause, or why none is needed."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final

from taisai.rules import Clause, ClauseText, rulebook, rulebook_ids
from taisai.rules.clause_coverage import MAP, ClauseCoverage
from taisai.rules.clauses import ClauseSubject
from tests.project.citations import CLAUSE_TEST, IN_NAMES, clause_of_test, names_of_tests

ROOT: Final = Path(__file__).parent.parent
HEAD: Final = """\
# Made by `make pictures` from the names of the tests. Clause → the tests that hold it, or why none is needed.
"""
BY_KIND: Final[Mapping[ClauseSubject, str]] = {ClauseSubject.HEADING: "a heading orders nothing"}
BY_HAND: Final[Mapping[str, Mapping[str, str]]] = {
    "rws-sic-bo-etg-v8": {
        "1.6": "a name for a person with a bet; rulings on bets have tests at their own clauses",
    },
}
"""Rulebook → clause → why no test is needed, where the kind of clause does not tell."""

Tests = Mapping[str, Mapping[str, list[str]]]
"""Rulebook → clause → the tests named for it."""


class NotHeldError(Exception):
    """A clause with neither test nor reason, or a reason that nothing needs."""


def names_in(root: Path) -> Iterator[str]:
    """Every test of the project as file::name, in order."""
    for path in sorted((root / "tests").rglob("test_*.py")):
        for name in sorted(names_of_tests(path.read_text("utf-8"))):
            yield f"{path.relative_to(root).as_posix()}::{name}"


def by_clause(tests: Iterable[str]) -> Tests:
    """The tests that are named for a clause, by rulebook and clause."""
    known = {book: frozenset(rulebook(book).clauses) for book in rulebook_ids()}
    found: dict[str, dict[str, list[str]]] = {book: {} for book in known}
    for test in tests:
        name = test.rpartition("::")[2]
        clause = clause_of_test(name, known)
        match = CLAUSE_TEST.fullmatch(name)
        if clause is not None and match is not None:
            found[IN_NAMES[match[1]]].setdefault(clause, []).append(test)
    return found


def held(
    texts: Mapping[Clause, ClauseText], tests: Mapping[str, list[str]], reasons: Mapping[str, str]
) -> dict[Clause, ClauseCoverage]:
    """What holds each clause of one document; NotHeldError names the clauses that nothing does."""
    needless = [clause for clause in reasons if clause in tests or clause not in texts]
    if needless:
        raise NotHeldError(f"a reason by hand where a test or no clause is: {', '.join(needless)}")
    made: dict[Clause, ClauseCoverage] = {}
    for clause, text in texts.items():
        named = tuple(tests.get(clause, ()))
        why = None if named else reasons.get(clause, BY_KIND.get(text.about))
        made[clause] = ClauseCoverage(named, why)
    neither = [clause for clause, by in made.items() if by == ClauseCoverage((), None)]
    if neither:
        raise NotHeldError(f"neither a test nor a reason: {', '.join(neither)}")
    return made


def page(tests: Iterable[str]) -> str:
    """The map as it should be, given the tests that there are."""
    named = by_clause(tests)
    return HEAD + "".join(
        line for book in rulebook_ids() for line in _lines(book, named[book], BY_HAND.get(book, {}))
    )


def _lines(name: str, tests: Mapping[str, list[str]], reasons: Mapping[str, str]) -> Iterator[str]:
    book = rulebook(name)
    try:
        made = held(book.clauses, tests, reasons)
    except NotHeldError as error:
        raise NotHeldError(f"{name}: {error}") from None
    yield f'\n[{name}]\ndigest = "{book.digest}"\n\n[{name}.clauses]\n'
    for clause, by in made.items():
        if by.why is not None:
            yield f"{_quoted(clause)} = {_quoted(by.why)}\n"
        else:
            yield f"{_quoted(clause)} = [\n{''.join(f'  {_quoted(test)},{chr(10)}' for test in by.tests)}]\n"


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)  # TOML's basic strings are quoted as JSON's are


if __name__ == "__main__":
    MAP.write_text(page(names_in(ROOT)), encoding="utf-8")
    print(MAP)

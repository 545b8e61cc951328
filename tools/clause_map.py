"""Writes src/taisai/rules/clause_coverage.toml: which tests hold each clause, and how, or why none does."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Final

from taisai.rules import Clause, ClauseText, rulebook, rulebook_ids
from taisai.rules.clause_coverage import MAP, ClauseCoverage, CoverageKind
from taisai.rules.clauses import ClauseSubject
from tests.project.citations import CLAUSE_TEST, IN_NAMES, clause_of_test, names_of_tests
from tools.coverage_kinds import kinds_in

ROOT: Final = Path(__file__).parent.parent
HEAD: Final = """\
# Made by `make pictures` from the tests: clause → how it is held, by which tests, or why no more is needed.
"""
BY_KIND: Final[Mapping[ClauseSubject, str]] = {ClauseSubject.HEADING: "a heading orders nothing"}
_ORDERS: Final = frozenset({CoverageKind.PLAYED})
DEMANDED: Final[Mapping[ClauseSubject, frozenset[CoverageKind]]] = {
    ClauseSubject.PROCEDURE: _ORDERS,
    ClauseSubject.PEOPLE: _ORDERS,
    ClauseSubject.LIMITS: _ORDERS,
    ClauseSubject.IRREGULARITY: _ORDERS,
    ClauseSubject.EQUIPMENT: _ORDERS,
    ClauseSubject.BETS: frozenset({CoverageKind.PLAYED, CoverageKind.SETTLED}),
    ClauseSubject.PAYOFF: frozenset({CoverageKind.PLAYED, CoverageKind.SETTLED}),
    ClauseSubject.LAYOUT: frozenset({CoverageKind.PLAYED, CoverageKind.SETTLED, CoverageKind.DRAWN}),
}
"""Subject → the kinds of test that a clause about it needs. Others order nothing that could be played."""
_AREA: Final = "it names an area; what wins there is held at the clause below it"
BY_HAND: Final[Mapping[str, Mapping[str, str]]] = {
    "mbs-sic-bo-v6": {
        "3.5": "it introduces the areas, which are settled at their own clauses",
        **{f"3.5.{number}": _AREA for number in (1, 2, 3, 4, 7, 8, 9, 10, 11, 13)},
    },
    "rws-sic-bo-etg-v8": {
        "1.6": "a name for a person with a bet; rulings on bets have tests at their own clauses",
    },
    "us-sic-bo": {
        "2(a)": "it introduces the bets, which are settled at its own paragraphs",
    },
}
"""Rulebook → clause → why it has no test, or none of the kinds that its subject asks for."""

Tests = Mapping[str, Mapping[str, list[str]]]
"""Rulebook → clause → the tests and playbooks named for it."""


class NotHeldError(Exception):
    """A clause with neither test nor reason, or a reason that nothing needs."""


def names_in(root: Path) -> Iterator[str]:
    """Every test of the project as file::name, and every playbook, in order."""
    for path in sorted((root / "tests").rglob("test_*.py")):
        for name in sorted(names_of_tests(path.read_text("utf-8"))):
            yield f"{path.relative_to(root).as_posix()}::{name}"
    for path in sorted((root / "cases" / "playbooks").glob("*.round")):
        yield path.relative_to(root).as_posix()


def by_clause(tests: Iterable[str]) -> Tests:
    """The tests and playbooks that are named for a clause, by rulebook and clause."""
    known = {book: frozenset(rulebook(book).clauses) for book in rulebook_ids()}
    found: dict[str, dict[str, list[str]]] = {book: {} for book in known}
    for test in tests:
        name = test.rpartition("::")[2] if "::" in test else f"test_{Path(test).stem.replace('-', '_')}"
        clause = clause_of_test(name, known)
        match = CLAUSE_TEST.fullmatch(name)
        if clause is not None and match is not None:
            found[IN_NAMES[match[1]]].setdefault(clause, []).append(test)
    return found


@cache
def kinds_of(file: str, root: Path = ROOT) -> Mapping[str, CoverageKind]:
    """Test of a file → its kind."""
    return kinds_in(root / file)


def kind_of(test: str) -> CoverageKind:
    """How a test or a playbook holds its clause."""
    file, _, name = test.partition("::")
    return kinds_of(file)[name] if name else CoverageKind.PLAYED


def held(
    texts: Mapping[Clause, ClauseText],
    tests: Mapping[str, list[str]],
    reasons: Mapping[str, str],
    kind: Callable[[str], CoverageKind] = kind_of,
) -> dict[Clause, ClauseCoverage]:
    """What holds each clause of one document; NotHeldError names those that nothing holds as it should."""
    made: dict[Clause, ClauseCoverage] = {}
    needed = {clause: _reason(text, tests.get(clause, []), kind) for clause, text in texts.items()}
    needless = [clause for clause in reasons if needed.get(Clause(clause)) is None]
    if needless:
        raise NotHeldError(f"a reason by hand where a test or no clause is: {', '.join(needless)}")
    for clause, text in texts.items():
        named = sorted(tests.get(clause, ()), key=lambda test: list(CoverageKind).index(kind(test)))
        why = reasons.get(clause, None if named else BY_KIND.get(text.about))
        made[clause] = ClauseCoverage(tuple(named), why, kind(named[0]) if named else None)
    unheld = [f"{clause} ({text})" for clause, text in needed.items() if text and made[clause].why is None]
    if unheld:
        raise NotHeldError(f"neither such a test nor a reason: {', '.join(unheld)}")
    return made


def _reason(text: ClauseText, tests: list[str], kind: Callable[[str], CoverageKind]) -> str | None:
    """What a clause lacks: any test, or one of the kinds that its subject asks for; None if nothing."""
    demanded = DEMANDED.get(text.about, frozenset(CoverageKind))
    if demanded & {kind(test) for test in tests}:
        return None
    return (
        " or ".join(kind for kind in CoverageKind if kind in demanded)
        if len(demanded) < len(CoverageKind)
        else "any"
    )


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
    yield f'\n[{name}]\ndigest = "{book.digest}"\n'
    for clause, by in made.items():
        yield f"\n[{name}.clauses.{_quoted(clause)}]\n"
        if by.kind is not None:
            yield f'kind = "{by.kind}"\n'
        if by.why is not None:
            yield f"why = {_quoted(by.why)}\n"
        if by.tests:
            yield f"tests = [\n{''.join(f'  {_quoted(test)},{chr(10)}' for test in by.tests)}]\n"


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)  # TOML's basic strings are quoted as JSON's are


if __name__ == "__main__":
    MAP.write_text(page(names_in(ROOT)), encoding="utf-8")
    print(MAP)

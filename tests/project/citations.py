"""Where the project cites a clause, and which of those clauses no rulebook has.

A clause is cited in the name of a test (`test_<book>_<clause>_…`), in prose (the book's short name, then one
clause or several) and in the clause column of a case.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator, Mapping
from typing import Final

Clauses = Mapping[str, Collection[str]]
"""Rulebook id → the clauses of the document."""

IN_NAMES: Final[Mapping[str, str]] = {
    "mbs": "mbs-sic-bo-v6",
    "rws": "rws-sic-bo-etg-v8",
    "three_card": "mbs-3-card-sic-bo",
    "us": "us-sic-bo",
}
IN_PROSE: Final[Mapping[str, str]] = {
    "MBS": "mbs-sic-bo-v6",
    "RWS": "rws-sic-bo-etg-v8",
    "3 Card": "mbs-3-card-sic-bo",
    "US": "us-sic-bo",
}

CLAUSE_TEST = re.compile(rf"test_({'|'.join(IN_NAMES)})_(\d.*|(?:appendix|diagram)_.*)")

# 3.5.8.1 or 2(a)(7), but not the odds 8.5 to 1; a chapter, such as 4, only where a sentence pauses after it.
NUMBER = r"(?:\d+(?:\.\d+)+|\d+(?:\((?!n\))[a-z0-9]+\))+)(?!\.?\w| to 1)"
CHAPTER = r"\d+(?=[),;:]|\.?(?:\s|$)(?! *[a-z0-9]))"
PROSE = re.compile(
    rf"\b({'|'.join(IN_PROSE)}) (?:v\d+ )?({NUMBER}|{CHAPTER})((?:(?:, | and | or |, and |/| ?– ?){NUMBER})*)"
)
HOUSE = re.compile(r"\bhouse:[a-z][a-z-]*")


def names_of_tests(code: str) -> Iterator[str]:
    """The names of the test functions of a module."""
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_"):
            yield node.name


def clause_of_test(name: str, known: Clauses) -> str | None:
    """The clause that a test is named for; none if it is no clause test. LookupError if no document has it.

    The longest clause that fits is meant, and the number must end with it: a test of an invented 5.3.9 is not
    one of 5.3.
    """
    match = CLAUSE_TEST.fullmatch(name)
    if match is None:
        return None
    book, rest = match.groups()
    for clause in sorted(known[IN_NAMES[book]], key=len, reverse=True):
        spoken = re.sub(r"\W+", "_", clause).strip("_").lower()
        if re.match(rf"{spoken}(?:_(?!\d|[b-z](?:_|$))|$)", rest):
            return clause
    raise LookupError(f"{name}: no such clause in {IN_NAMES[book]}")


def cited_in_prose(text: str) -> Iterator[tuple[str, str]]:
    """Each (rulebook id, clause) that a text cites."""
    for match in PROSE.finditer(text):
        book, first, others = match.groups()
        for clause in (first, *re.findall(NUMBER, others)):
            yield IN_PROSE[book], clause


def unknown_in_prose(text: str, known: Clauses, house: Collection[str]) -> list[str]:
    """What a text cites though no document, or no procedure of the house, has it."""
    unknown = [f"{book} {clause}" for book, clause in cited_in_prose(text) if clause not in known[book]]
    return unknown + [cited for cited in HOUSE.findall(text) if cited not in house]


def cited_in_cases(name: str, text: str) -> Iterator[tuple[str, str]]:
    """Each (rulebook id, clause) of a case file, if its last column is headed so.

    The rulebook stands in the first column where that is headed so, else at the front of the file's name.
    """
    headings: list[str] = []
    for line in text.splitlines():
        words = line.removeprefix("#").split()
        if line.startswith("#") and words[-1:] == ["clause"]:
            headings = words
        elif headings and words and not line.startswith("#"):
            yield words[0] if headings[0] == "rulebook" else _book_in(name), words[-1]


def _book_in(name: str) -> str:
    return next(book for book in IN_NAMES.values() if name.startswith(book))

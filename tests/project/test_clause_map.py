"""The map that ships with the package, from each clause to the tests that hold it, is the truth."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path

import pytest

from taisai.rules import Clause, ClauseText, Rulebook, rulebook, rulebook_ids
from taisai.rules.clause_coverage import MAP, NOT_OURS, ClauseCoverage, CoverageKind, coverage_of
from taisai.rules.clauses import ClauseSubject
from tests.project.tree import ROOT
from tools.clause_map import BY_HAND, DEMANDED, NotHeldError, by_clause, held, kind_of, names_in, page
from tools.coverage_kinds import kinds_in

BOOKS = {book: rulebook(book) for book in rulebook_ids()}
each_book = pytest.mark.parametrize("book", BOOKS.values(), ids=lambda book: book.id)
HEADING = ClauseText(Clause("1"), ClauseSubject.HEADING, "Opens the section.")
RULE = ClauseText(Clause("1.1"), ClauseSubject.PAYOFF, "Small wins even money.")
DOCUMENT = {text.clause: text for text in (HEADING, RULE)}


@cache
def every_test() -> tuple[str, ...]:
    """Read when they are asked for: to collect the tests, nobody needs their names."""
    return tuple(names_in(ROOT))


def missing(tests: set[str], root: Path) -> list[str]:
    """The tests and playbooks that are not where they are said to be."""
    texts = {file: root / file for file in {test.partition("::")[0] for test in tests}}
    code = {file: path.read_text("utf-8") if path.exists() else "" for file, path in texts.items()}
    return sorted(
        test
        for test in tests
        for file, _, name in [test.partition("::")]
        if (f"def {name}(" not in code[file] if name else not code[file])
    )


def named_in(book: Rulebook) -> set[str]:
    return {test for by in coverage_of(book).values() for test in by.tests}


def test_the_map_that_ships_is_the_one_the_tests_make() -> None:
    assert MAP.read_text("utf-8") == page(every_test()), "run make pictures"


@each_book
def test_every_clause_is_held_by_a_test_or_says_why_not(book: Rulebook) -> None:
    found = coverage_of(book)
    assert list(found) == list(book.clauses)
    assert [clause for clause, by in found.items() if not by.tests and not by.why] == []
    assert [clause for clause, by in found.items() if bool(by.tests) != (by.kind is not None)] == []
    assert [clause for clause, by in found.items() if by.why == NOT_OURS] == []


@each_book
def test_every_clause_that_orders_something_is_played_or_says_why_not(book: Rulebook) -> None:
    found = coverage_of(book)
    ordering = [
        text for text in book.clauses.values() if DEMANDED.get(text.about) == frozenset({CoverageKind.PLAYED})
    ]
    assert ordering
    unplayed = {text.clause for text in ordering if found[text.clause].kind is not CoverageKind.PLAYED}
    assert unplayed <= set(BY_HAND.get(book.id, {}))


@each_book
def test_only_headings_and_what_is_reasoned_by_hand_go_without_a_test(book: Rulebook) -> None:
    reasoned = {clause for clause, by in coverage_of(book).items() if by.why}
    headings = {text.clause for text in book.clauses.values() if text.about is ClauseSubject.HEADING}
    assert reasoned - headings == set(BY_HAND.get(book.id, {}))
    assert {clause for clause, by in coverage_of(book).items() if not by.tests} <= reasoned


@each_book
def test_every_test_that_is_named_exists(book: Rulebook) -> None:
    assert named_in(book)
    assert missing(named_in(book), ROOT) == []


def test_every_test_named_for_a_clause_is_in_the_map() -> None:
    found = {
        test for clauses in by_clause(every_test()).values() for tests in clauses.values() for test in tests
    }
    assert found == {test for book in BOOKS.values() for test in named_in(book)}
    assert len(found) > 200


def test_a_book_of_ones_own_is_held_by_no_test_of_ours() -> None:
    own = rulebook(ROOT / "docs" / "examples" / "corner-house.toml")
    assert coverage_of(own) == dict.fromkeys(own.clauses, ClauseCoverage((), NOT_OURS))


def test_a_book_under_our_id_with_another_text_is_ones_own() -> None:
    data = tomllib.loads(BOOKS["us-sic-bo"].text)
    assert coverage_of(Rulebook(data, "same.toml")) == coverage_of(BOOKS["us-sic-bo"])
    other = Rulebook({**data, "operator": "Somebody else"}, "other.toml")
    assert {by.why for by in coverage_of(other).values()} == {NOT_OURS}


def test_tests_are_found_in_every_folder_and_in_order(tmp_path: Path) -> None:
    for folder in ("game", "clauses"):
        (tmp_path / "tests" / folder).mkdir(parents=True)
        code = "def test_us_6_a_b(): ...\nasync def test_us_6_a_a(): ...\ndef asked(): ...\n"
        (tmp_path / "tests" / folder / "test_x.py").write_text(code)
        (tmp_path / "tests" / folder / "asked.py").write_text("def test_us_6_c(): ...\n")
    assert list(names_in(tmp_path)) == [
        "tests/clauses/test_x.py::test_us_6_a_a",
        "tests/clauses/test_x.py::test_us_6_a_b",
        "tests/game/test_x.py::test_us_6_a_a",
        "tests/game/test_x.py::test_us_6_a_b",
    ]


# Sabotage: a test that goes, a clause that nothing holds, a reason that nothing needs.


def test_sabotage_a_test_that_was_removed_is_noticed() -> None:
    for clause, by in coverage_of(BOOKS["rws-sic-bo-etg-v8"]).items():
        for test in by.tests:
            left = [other for other in every_test() if other != test]
            if len(by.tests) == 1 and by.why is None:
                with pytest.raises(NotHeldError, match=rf"^rws-sic-bo-etg-v8: neither .*: {clause} \("):
                    page(left)
                return
    pytest.fail("every clause has several tests")


def test_sabotage_a_clause_that_is_no_longer_played_is_noticed() -> None:
    """The tests that read the rulebook back stay, and are not enough."""
    book, clause = BOOKS["mbs-sic-bo-v6"], Clause("5.9")
    by = coverage_of(book)[clause]
    playing = {test for test in by.tests if kind_of(test) is CoverageKind.PLAYED}
    left = [test for test in every_test() if test not in playing]
    with pytest.raises(NotHeldError, match=r"^mbs-sic-bo-v6: neither .*: 5\.9 \(played\)"):
        page(left)


def test_a_test_plays_where_it_uses_a_table_itself_or_through_others(tmp_path: Path) -> None:
    code = """
from tests.game.playing import table_of
from tests.clauses.winning import totals

def opened():
    return table_of("us")

def test_a():
    assert opened()

def test_b(book):
    assert totals(book)

def test_c(book):
    assert book.layouts

def test_d(book):
    assert book.people
"""
    path = tmp_path / "test_x.py"
    path.write_text(code)
    assert list(kinds_in(path).values()) == list(CoverageKind)


def test_sabotage_one_test_of_several_that_was_removed_is_noticed() -> None:
    several = [by.tests for by in coverage_of(BOOKS["us-sic-bo"]).values() if len(by.tests) > 1]
    assert page([test for test in every_test() if test != several[0][0]]) != MAP.read_text("utf-8")


def test_sabotage_a_test_that_is_not_there_is_missing(tmp_path: Path) -> None:
    (tmp_path / "test_x.py").write_text("def test_us_6_a(): ...\n")
    tests = {"test_x.py::test_us_6_a", "test_x.py::test_us_6", "test_y.py::test_us_6_a"}
    assert missing(tests, tmp_path) == ["test_x.py::test_us_6", "test_y.py::test_us_6_a"]


PLAYED = {
    "played": CoverageKind.PLAYED,
    "settled": CoverageKind.SETTLED,
    "read": CoverageKind.READ,
}.__getitem__


def test_sabotage_a_clause_with_neither_is_noticed() -> None:
    assert held(DOCUMENT, {"1.1": ["read", "settled"]}, {}, PLAYED) == {
        "1": ClauseCoverage((), "a heading orders nothing"),
        "1.1": ClauseCoverage(("settled", "read"), None, CoverageKind.SETTLED),
    }
    assert held(DOCUMENT, {}, {"1.1": "because"}, PLAYED)[RULE.clause] == ClauseCoverage((), "because")
    reasoned = held(DOCUMENT, {"1.1": ["read"]}, {"1.1": "because"}, PLAYED)
    assert reasoned[RULE.clause] == ClauseCoverage(("read",), "because", CoverageKind.READ)
    for tests in ({"1": ["played"]}, {"1.1": ["read"]}):
        with pytest.raises(
            NotHeldError, match=r"^neither such a test nor a reason: 1\.1 \(played or settled\)$"
        ):
            held(DOCUMENT, tests, {}, PLAYED)


@pytest.mark.parametrize(
    ("tests", "reasons"), [({"1.1": ["played"]}, {"1.1": "because"}), ({}, {"9": "because"})]
)
def test_sabotage_a_reason_that_nothing_needs_is_noticed(
    tests: dict[str, list[str]], reasons: dict[str, str]
) -> None:
    with pytest.raises(NotHeldError, match="a reason by hand"):
        held(DOCUMENT, tests, reasons, PLAYED)

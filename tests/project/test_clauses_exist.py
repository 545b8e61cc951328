"""Every clause that tests, code, documentation and cases cite stands in a rulebook."""

from __future__ import annotations

import pytest

from taisai.rules import rulebook
from taisai.rules.clauses import HOUSE_PROCEDURES
from tests.project import citations
from tests.project.tree import ROOT, project_files

KNOWN = {book: frozenset(rulebook(book).clauses) for book in citations.IN_NAMES.values()}


def test_every_test_named_for_a_clause_names_one_that_exists() -> None:
    named_for = [
        citations.clause_of_test(name, KNOWN)
        for path in project_files(".py")
        if path.is_relative_to(ROOT / "tests")
        for name in citations.names_of_tests(path.read_text("utf-8"))
    ]
    assert any(named_for)


@pytest.mark.parametrize(
    ("name", "clause"),
    [
        ("rws_5_3_2_die_not_flat", "5.3.2"),
        ("rws_5_3_earlier_rounds_stand", "5.3"),
        ("us_2_a_7_big_loses", "2(a)(7)"),
        ("us_4_b", "4(b)"),
        ("three_card_5_2_foreign_card", "5.2"),
        ("rws_appendix_b_has_its_own_table", "Appendix B"),
        ("three_card_diagram_a", "Diagram A"),
        ("mbs_v6_equals_rws_c", None),
    ],
)
def test_a_test_name_is_read_as_the_longest_clause_that_fits(name: str, clause: str | None) -> None:
    assert citations.clause_of_test(f"test_{name}", KNOWN) == clause


@pytest.mark.parametrize(
    "name",
    ["rws_5_3_9_invented", "mbs_99_invented", "us_4_z_invented", "three_card_9_9", "mbs_appendix_c_invented"],
)
def test_sabotage_a_test_named_for_an_invented_clause_is_seen(name: str) -> None:
    with pytest.raises(LookupError, match="no such clause"):
        citations.clause_of_test(f"test_{name}", KNOWN)


def test_every_clause_cited_in_prose_exists() -> None:
    texts = {path: path.read_text("utf-8") for path in project_files(".py", ".md", ".toml", ".txt")}
    found = {path: citations.unknown_in_prose(text, KNOWN, HOUSE_PROCEDURES) for path, text in texts.items()}
    assert {path: unknown for path, unknown in found.items() if unknown} == {}
    assert {book for text in texts.values() for book, _ in citations.cited_in_prose(text)} == set(KNOWN)


@pytest.mark.parametrize(
    ("text", "clauses"),
    [
        ("MBS 3.5.8.1 would win", ["3.5.8.1"]),
        ("RWS 5.4, 5.5 and 5.6; US 4(b)", ["5.4", "5.5", "5.6", "4(b)"]),
        ("on 3 Card 5.2.", ["5.2"]),
        ("US 1: sealed. US 2(a)(7), US 2(a)(n)", ["1", "2(a)(7)", "2(a)"]),
        ("RWS 4.1.1–4.1.3/3.9", ["4.1.1", "4.1.3", "3.9"]),
        ("RWS 8.5 to 1, MBS 104 rows, MBS 3.5.x.1, US 50 areas", []),
    ],
)
def test_prose_is_read_as_a_person_reads_it(text: str, clauses: list[str]) -> None:
    assert [clause for _, clause in citations.cited_in_prose(text)] == clauses


@pytest.mark.parametrize(
    "text", ["RWS" + " 5.3.9", "MBS" + " 3.1, 9.9", "US" + " 4(z)", "house:" + "invented"]
)
def test_sabotage_an_invented_citation_is_seen(text: str) -> None:
    assert citations.unknown_in_prose(text, KNOWN, HOUSE_PROCEDURES)


def unknown_in_cases(name: str, text: str) -> list[tuple[str, str]]:
    cited = citations.cited_in_cases(name, text)
    return [
        (book, clause)
        for book, clause in cited
        if clause not in KNOWN[book] and clause not in HOUSE_PROCEDURES
    ]


def test_every_clause_in_the_cases_exists() -> None:
    texts = {path: path.read_text("utf-8") for path in (ROOT / "cases").rglob("*.txt")}
    found = {path: unknown_in_cases(path.name, text) for path, text in texts.items()}
    assert {path: unknown for path, unknown in found.items() if unknown} == {}
    cited = {book for path, text in texts.items() for book, _ in citations.cited_in_cases(path.name, text)}
    assert cited == set(KNOWN)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("rws-sic-bo-etg-v8-A.txt", "# dice area stake returned clause\n 2 3 5 small 100 200 4.9.9\n"),
        ("refused.txt", "# rulebook area clause\n us-sic-bo small 4(z)\n"),
    ],
)
def test_sabotage_an_invented_clause_in_a_case_is_seen(name: str, text: str) -> None:
    assert unknown_in_cases(name, text)

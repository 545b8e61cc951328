"""From a clause back to what it decides: nothing that a matrix, a step or a ruling cites is missing."""

from __future__ import annotations

import pytest

from taisai.rules import HOUSE_PROCEDURES, Clause, Rulebook, rulebook
from taisai.rules.clause_coverage import citations_of
from tests.rules.books import IDS, data_of, edited, loaded

each_book = pytest.mark.parametrize("book", IDS)


def cited(book: Rulebook) -> set[Clause]:
    """Every clause that the compiled tables cite."""
    cells = {clause for layout in book.layouts for row in book.matrix(layout).clauses for clause in row}
    steps = {step.clause for step in book.procedure.steps}
    recoveries = {rule.clause for rule in book.procedure.recoveries.values()}
    rulings = {ruled.clause for ruled in book.irregularities.cells.values()}
    return cells | steps | recoveries | rulings


@each_book
def test_every_clause_that_a_table_cites_is_among_the_uses(book: str) -> None:
    assert cited(rulebook(book)) <= set(citations_of(rulebook(book)))


@each_book
def test_every_use_is_of_a_clause_that_exists_and_is_shown_once(book: str) -> None:
    found = rulebook(book)
    for clause, uses in citations_of(found).items():
        assert clause in found.clauses or clause in HOUSE_PROCEDURES
        assert uses
        assert len(set(uses)) == len(uses)


@each_book
def test_every_area_is_shown_where_it_wins_and_where_it_loses(book: str) -> None:
    told = {use for uses in citations_of(rulebook(book)).values() for use in uses}
    for area in rulebook(book).areas:
        assert f"losing: {area}" in told
        assert any(use.startswith(f"pay: {area} ") for use in told)


def test_what_bets_are_made_with_is_a_use_too() -> None:
    assert set(citations_of(rulebook("us-sic-bo"))[Clause("3(a)")]) >= {
        "equipment: chips",
        "bets made with cash-chips",
        "bets made with plaques",
    }


def test_a_ruling_instead_is_a_use_too() -> None:
    data = data_of("us-sic-bo")
    place = next(n for n, ruling in enumerate(data["irregularities"]["ruling"]) if "instead" in ruling)
    path = ("irregularities", "ruling", place, "instead", "clause")
    assert Clause("6") not in citations_of(loaded(data))
    assert Clause("6") in citations_of(loaded(edited(data, path, "6")))


def test_sabotage_a_use_that_is_not_told_is_seen() -> None:
    book = loaded(edited(data_of("us-sic-bo"), ("chance", "clause"), "4"))
    assert citations_of(book)[Clause("4")] == ("chance: dice",)
    assert Clause("4") not in citations_of(rulebook("us-sic-bo"))

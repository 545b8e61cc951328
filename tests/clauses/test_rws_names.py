"""What Sic Bo ETG at Resorts World Sentosa, version 8, means by its words, and its three felts."""

from __future__ import annotations

import pytest

from taisai.rules import Irregularity, Rulebook, Ruling, rulebook
from tests.clauses.conduct_queries import may_place
from tests.clauses.rulebook_queries import areas_called, bands_of, drawn, kinds_on, totals_go_by_the_sum

COMMON = {
    "small": 1,
    "big": 1,
    "odd": 1,
    "even": 1,
    "single": 6,
    "total": 14,
    "pair": 15,
    "four": 4,
    "double": 6,
    "any-triple": 1,
    "triple": 6,
}
OF_THREE = {"three": 20, "double-single": 28}
AT_THE_LEFT = {"doubles-with-single", "doubles-with-single-odds", "three-numbers", "three-numbers-odds"}


@pytest.fixture(scope="module")
def book() -> Rulebook:
    return rulebook("rws-sic-bo-etg-v8")


def test_rws_1_1_bet_is_the_one_word(book: Rulebook) -> None:
    texts = [text.says for text in book.clauses.values()]
    texts += [text for one in book.interpretations for text in (one.reading, one.reason)]
    assert [text for text in texts if "wager" in text.lower()] == []
    assert any("bet" in text.lower().split() for text in texts)


def test_rws_1_4_the_house_is_the_operator(book: Rulebook) -> None:
    assert book.operator == "Resorts World at Sentosa Pte. Ltd."


def test_rws_1_9_the_total_sum_is_of_the_upward_faces(book: Rulebook) -> None:
    assert areas_called(book, "Total Sum") == {f"total-{total}" for total in range(4, 18)}
    totals_go_by_the_sum(book)


def test_rws_3_1_numbers_alone_and_combined(book: Rulebook) -> None:
    assert kinds_on(book, "A") == COMMON
    assert kinds_on(book, "B") == kinds_on(book, "C") == COMMON | OF_THREE


def test_rws_3_4_every_bet_is_made_at_a_terminal(book: Rulebook) -> None:
    assert [item.id for item in book.equipment if item.means] == ["player-terminal"]
    assert may_place(book) is None


def rulings_on_terminals(book: Rulebook) -> set[str]:
    cells = book.irregularities.cells
    found = {phase: cells[Irregularity.TERMINALS_DOWN, phase] for phase in book.irregularities.phases}
    return {cell.ruling for phase, cell in found.items() if phase != "between"}


def test_rws_5_2_1_what_is_registered_on_a_failed_terminal_is_settled(book: Rulebook) -> None:
    assert rulings_on_terminals(book) == {Ruling.SETTLE_REGISTERED}
    assert sum("5.2.1" in one.clauses for one in book.interpretations) == 1


def test_rws_5_2_2_what_was_never_registered_is_returned_and_nothing_else(book: Rulebook) -> None:
    assert not rulings_on_terminals(book) & {Ruling.VOID, Ruling.VOID_AFFECTED, Ruling.CONTINUE}
    assert sum("5.2.2" in one.clauses for one in book.interpretations) == 1


def felt(book: Rulebook, appendix: str) -> list[tuple[str, str]]:
    return [(one.id, one.pay_table) for one in book.layouts.values() if one.clause == appendix]


def left_of(book: Rulebook, layout: str, block: str) -> set[str]:
    blocks = book.layout(layout).blocks
    first = [one.column for one in blocks if one.id == block]
    return {one.id for one in blocks if first and one.column < first[0]}


def test_rws_appendix_a_goes_by_table_1_without_combinations_of_three(book: Rulebook) -> None:
    assert felt(book, "Appendix A") == [("A", "1")]
    assert kinds_on(book, "A").keys().isdisjoint(OF_THREE)
    assert bands_of(book, "A", from_column=1)[:1] == ["even triples odd"]


def test_rws_appendix_b_goes_by_table_2_with_combinations_of_three_at_the_left(book: Rulebook) -> None:
    assert felt(book, "Appendix B") == [("B", "2")]
    assert left_of(book, "B", "big") == AT_THE_LEFT
    assert drawn(book, "B", "document") >= AT_THE_LEFT


def test_rws_appendix_c_goes_by_table_3_with_combinations_of_three_at_the_left(book: Rulebook) -> None:
    assert felt(book, "Appendix C") == [("C", "3")]
    assert left_of(book, "C", "big") == AT_THE_LEFT
    assert drawn(book, "C", "document") >= AT_THE_LEFT

"""Names that others must be able to type and print: clauses, layouts, settings; words for every clause."""

from __future__ import annotations

from pathlib import Path

import pytest

from taisai.rules import HOUSE_PROCEDURES, BookError, Clause, Outcome, rulebook
from taisai.rules.toml_reader import MAX_ENTRIES
from tests.rules.books import data_of, edited, loaded, text_of

US = "us-sic-bo"


@pytest.mark.parametrize("clause", ["", " ", "4\n1", "4\x1b[31m", "4" * 5_000])
def test_a_clause_number_that_cannot_be_cited_is_refused(clause: str) -> None:
    with pytest.raises(BookError, match="clauses"):
        loaded(edited(data_of(US), ("clauses", clause), {"about": "heading", "says": "x"}))


@pytest.mark.parametrize("clause", ["7", "7.1.2", "7(a)(1)", "Appendix D", "第七条"])
def test_a_clause_number_as_documents_have_them_is_read(clause: str) -> None:
    book = loaded(edited(data_of(US), ("clauses", clause), {"about": "heading", "says": "x"}))
    assert Clause(clause) in book.clauses


@pytest.mark.parametrize("layout", ["A/B", "x y", "/", "A\tB"])
def test_a_layout_id_that_no_command_could_name_is_refused(layout: str) -> None:
    with pytest.raises(BookError, match="layout 1, id"):
        loaded(edited(data_of(US), ("layout", 0, "id"), layout))


def test_a_cell_by_a_procedure_of_the_house_explains_itself() -> None:
    matrix = loaded(edited(data_of(US), ("area", 0, "loses"), "house:stakes")).matrix("A")
    why = matrix.explain("triple-1", Outcome.of(1, 2, 3))
    assert (why.clause, why.says) == ("house:stakes", HOUSE_PROCEDURES[Clause("house:stakes")])


def test_a_row_of_cells_has_a_limit_like_every_list() -> None:
    with pytest.raises(BookError, match="layout 1, block 1, cells"):
        loaded(edited(data_of(US), ("layout", 0, "block", 0, "cells"), [["big"] + [""] * MAX_ENTRIES]))


def test_who_may_act_for_whom_is_set_with_yes_or_no() -> None:
    settings = data_of(US)["setting"]
    (place,) = (n for n, setting in enumerate(settings) if setting["id"] == "higher_may_act")
    with pytest.raises(BookError, match=r"higher_may_act|setting"):
        loaded(edited(data_of(US), ("setting", place, "choices"), ["yes", "nein"]))


def test_a_line_that_the_parser_would_take_hours_over_is_refused_at_once(tmp_path: Path) -> None:
    file = tmp_path / "my.toml"
    for dots, expected in ((2_000, "lines of at most 4000 characters"), (1_990, "TOML|the keys|table|text")):
        file.write_text(".".join(["a"] * dots) + " = 1\n")
        with pytest.raises(BookError, match=expected):
            rulebook(file)


@pytest.mark.parametrize("label", ["Total value {m}", "Total value", "{n} {", "}{n}"])
def test_a_label_over_several_areas_says_which_is_which(label: str) -> None:
    for language in ("en", "zh"):
        with pytest.raises(BookError, match=f"area 1, {language}"):
            loaded(edited(data_of(US), ("area", 0, language), label))


def test_a_key_that_was_mistyped_is_named_with_the_one_that_is_missing() -> None:
    data = dict(data_of(US))
    data["limit"] = data.pop("limits")
    with pytest.raises(BookError, match=r"no such key; is the unknown key 'limit' meant\? \(.*, limits\)"):
        loaded(data)


def test_a_file_that_windows_marked_is_read(tmp_path: Path) -> None:
    file = tmp_path / "my.toml"
    file.write_bytes(b"\xef\xbb\xbf" + text_of(US).encode())
    assert rulebook(file).digest == rulebook(US).digest


def test_a_block_off_the_felt_is_named_by_its_place() -> None:
    with pytest.raises(BookError, match=r"got row 59, column 1 \(.*layout 1, block 1, at\)"):
        loaded(edited(data_of(US), ("layout", 0, "block", 0, "at"), [59, 1]))

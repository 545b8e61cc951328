"""What people read: every command on every book prints, fits the page, and hides no word of a book."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
from rich.cells import cell_len

from taisai.rules import OUTCOMES, Clause, rulebook
from taisai.rules.clause_coverage import coverage_of
from tests.cli.commands import BOOKS, LAYOUTS, Words, for_people
from tests.cli.conftest import Taisai
from tests.rules.books import replaced, saved, text_of

WIDTH = 110
US = "us-sic-bo"


def too_wide(text: str) -> list[str]:
    """The lines that take more columns than a page has; a Chinese sign takes two."""
    return [line for line in text.splitlines() if cell_len(line) > WIDTH]


@pytest.mark.parametrize("words", for_people(), ids=" ".join)
def test_every_command_prints_a_page(taisai: Taisai, words: Words) -> None:
    ran = taisai(*words)
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.strip()
    assert too_wide(ran.out) == []
    assert "\x1b" not in ran.out
    assert not re.search(r"\bNone\b|Fraction\(|<[A-Z]\w+\.", ran.out)


def test_great_sums_fit_as_well(taisai: Taisai) -> None:
    bets = ("--bet", f"big={2**52}", "--bet", f"small={2**51}", "--bet", "total-10=2")
    ran = taisai("settle", "rws-sic-bo-etg-v8", "--dice", "2,3,5", *bets)
    assert ran.code == 0
    assert too_wide(ran.out) == []
    assert str(2**52) in ran.out


@pytest.mark.parametrize("outcome", OUTCOMES, ids=str)
def test_every_outcome_is_drawn_as_dice(taisai: Taisai, outcome: object) -> None:
    faces = ",".join(str(outcome))
    drawn, _, rest = taisai("settle", US, "--dice", faces, "--bet", "small=1").out.partition("└")
    assert drawn.count("●") == sum(map(int, str(outcome)))
    assert f"{outcome}, total {sum(map(int, str(outcome)))}" in rest


def test_settlement_names_clause_and_reason(taisai: Taisai) -> None:
    bets = ("--bet", "small=100", "--bet", "double-2=100")
    out = taisai("settle", "rws-sic-bo-etg-v8", "--dice", "2,2,2", *bets).out
    assert re.search(r"small +100 +0 +0 +3\.9 ", out)
    assert re.search(r"double-2 +100 +1150 +1250 +3\.9\.3 ", out)


def test_a_clause_names_its_first_test_and_how_many_more_or_why_none(taisai: Taisai) -> None:
    def last_column(clause: str) -> str:
        rows = taisai("rules", "clauses", US, clause).out.splitlines()
        place = next(row.index("tested by") for row in rows if "tested by" in row)
        return "".join(row[place:] for row in rows).partition("tested by")[2].lstrip("─")

    tests = coverage_of(rulebook(US))[Clause("5(d)(1)")].tests
    assert len(tests) > 1
    told = last_column("5(d)(1)").replace(" ", "")
    assert told == f"played:{tests[0].partition('::')[2]}and{len(tests) - 1}more"
    assert "a heading orders nothing" in taisai("rules", "clauses", US, "6").out


@pytest.mark.parametrize("word", ["[sic]", "[/b]", "[bold]", ":smile:", "[link=x]", "\\[x]"])
def test_a_book_s_words_are_words_and_no_markup(taisai: Taisai, tmp_path: Path, word: str) -> None:
    quoted = word.replace("\\", "\\\\")
    text = replaced(text_of(US), 'en = "Small"', f'en = "Small {quoted}"')
    text = replaced(text, "Small wins on totals", f"Small {quoted} wins on totals")
    text = replaced(text, 'operator = "Gaming licensee"', f'operator = "Gaming {quoted} licensee"')
    saved(tmp_path, text)
    for words in (
        ("odds", "my.toml"),
        ("rules", "clauses", "my.toml"),
        ("rules", "show", "my.toml"),
        ("settle", "my.toml", "--dice", "1,2,3", "--bet", "small=1"),
    ):
        ran = taisai(*words)
        assert ran.code == 0
        assert word in ran.out, words


@pytest.mark.parametrize(("book", "layout"), LAYOUTS)
def test_a_felt_is_drawn_with_every_area(taisai: Taisai, tmp_path: Path, book: str, layout: str) -> None:
    ran = taisai("rules", "show", book, "--layout", layout, "--svg", "felt.svg")
    assert (ran.code, ran.err) == (0, "")
    root = ElementTree.parse(tmp_path / "felt.svg").getroot()
    areas = len(rulebook(book).matrix(layout).areas)
    cells = [shape for shape in root.iter() if "cell" in shape.get("class", "").split()]
    assert len(cells) == areas


def test_a_felt_with_signs_that_mean_something_in_svg_is_still_a_picture(
    taisai: Taisai, tmp_path: Path
) -> None:
    saved(tmp_path, replaced(text_of(US), 'en = "Small"', 'en = "<Small> & \\"low\\" ]]>"'))
    assert taisai("rules", "show", "my.toml", "--svg", "felt.svg").code == 0
    ElementTree.parse(tmp_path / "felt.svg")


@pytest.mark.parametrize("sign", [r"\u0001", r"\u001b[31m", r"\u0000", r"\n", r"\uFFFE", r"\u202E"])
def test_a_sign_that_nobody_can_print_is_refused_or_does_no_harm(
    taisai: Taisai, tmp_path: Path, sign: str
) -> None:
    saved(tmp_path, replaced(text_of(US), 'en = "Small"', f'en = "Small{sign}"'))
    ran = taisai("rules", "show", "my.toml", "--svg", "felt.svg")
    if ran.code == 0:
        ElementTree.parse(tmp_path / "felt.svg")
        out = taisai("odds", "my.toml").out
        assert "".join(out.splitlines()).isprintable()
    else:
        assert "area 6, en" in ran.err


@pytest.mark.parametrize("book", BOOKS)
def test_a_book_shown_as_toml_is_the_book(taisai: Taisai, tmp_path: Path, book: str) -> None:
    ran = taisai("rules", "show", book, "--toml")
    assert (ran.code, ran.err) == (0, "")
    assert rulebook(saved(tmp_path, ran.out)).digest == rulebook(book).digest


def test_the_tour_shows_what_it_promises(taisai: Taisai) -> None:
    out = taisai("tour").out
    for book in BOOKS:
        assert book in out
    assert "house edge" in out
    assert "4.1.1" in out
    assert out.count("┌───────┐") == 12
    assert "report held" in out
    assert "report confirmed" in out
    assert "round resettled" in out


def test_sabotage_a_line_too_wide_is_seen() -> None:
    assert too_wide("x" * 110) == []
    assert too_wide("x" * 111)
    assert too_wide("大" * 56)

"""The par sheet: figures against a count of their own, and the forms it is printed in."""

import json
from fractions import Fraction
from html.parser import HTMLParser
from itertools import product
from typing import Any

import pytest
import typst

from taisai.cli.rules.drawing import draw_layout
from taisai.rules import Outcome, rulebook, rulebook_ids
from taisai.study.par import par_sheet
from taisai.study.par_files import _text, as_html, as_pdf

LAYOUTS = [(book, layout) for book in rulebook_ids() for layout in rulebook(book).layouts]
ROLLS = [Outcome.of(*faces) for faces in product(range(1, 7), repeat=3)]


class Cells(HTMLParser):
    """The rows of all tables of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.is_open = False

    def handle_starttag(self, tag: str, _attrs: list[tuple[str, str | None]]) -> None:
        if tag == "tr":
            self.rows.append([])
        self.is_open = tag in {"td", "th"}
        if self.is_open:
            self.rows[-1].append("")

    def handle_data(self, data: str) -> None:
        if self.is_open:
            self.rows[-1][-1] += data

    def handle_endtag(self, tag: str) -> None:
        if tag in {"td", "th"}:
            self.is_open = False


@pytest.mark.parametrize(("name", "layout"), LAYOUTS)
def test_the_page_has_every_area_with_its_ways_and_its_edge(name: str, layout: str) -> None:
    book = rulebook(name)
    sheet = par_sheet(book, layout)
    read = Cells()
    read.feed(as_html(sheet, draw_layout(sheet.matrix, book.layout(layout))))
    rows = {row[0]: row for row in read.rows if len(row) == 10}
    for area in sheet.matrix.areas:
        if sheet.chance.decks is None:
            nets = [sheet.matrix.net(area, roll) for roll in ROLLS]
            odds = [win.odds for win in sheet.matrix.wins[sheet.matrix.row(area)]]
            ways, edge = [nets.count(one.net) for one in odds], -sum(nets) / 216
        else:
            places = [win.places for win in sheet.matrix.wins[sheet.matrix.row(area)]]
            ways = [sum(sheet.chance.weights[place] for place in among) for among in places]
            edge = -sheet.chance.expected(sheet.matrix.nets[sheet.matrix.row(area)], sheet.matrix.denominator)
        assert rows[area][3] == " + ".join(f"{one:,}" for one in ways)
        assert rows[area][6] == f"{100 * float(edge):.4f} %"
    assert {str(one.clause) for one in book.errata} <= {row[0] for row in read.rows if row}


def test_families_hold_every_area_once_and_only_those_of_one_law() -> None:
    sheet = par_sheet(rulebook("rws-sic-bo-etg-v8"), "B")
    areas = [one.id for family in sheet.measures.families for one in family.areas]
    assert sorted(areas) == sorted(sheet.matrix.areas)
    for family in sheet.measures.families:
        assert len({(one.win_probability, one.house_edge, one.variance) for one in family.areas}) == 1


def test_the_digest_is_of_every_figure() -> None:
    book = rulebook("us-sic-bo")
    plain, again = par_sheet(book), par_sheet(book)
    offered = par_sheet(book, offered={"triple-1": "180 to 1"})
    assert plain.digest == again.digest
    assert plain.digest != offered.digest
    told = offered.facts()
    triple = next(area for area in told["areas"] if area["id"] == "triple-1")
    assert Fraction(triple["house_edge"]) == Fraction(216 - 181, 216)
    assert told["settings"]["triple-1"] == "180 to 1"


def test_the_print_is_a_tagged_pdf_and_the_same_each_time() -> None:
    book = rulebook("mbs-3-card-sic-bo")
    sheet = par_sheet(book)
    felt = draw_layout(sheet.matrix, book.layout())
    made = as_pdf(sheet, felt)
    assert made.startswith(b"%PDF-")
    assert b"pdfuaid" in made  # says of itself that it is PDF/UA
    assert made == as_pdf(sheet, felt)


@pytest.mark.parametrize(
    "words", ['#image("x")', "\\", '"', "a\nb\tc\x7f", "大 $x$ *b* _i_ @ref <label> // no"]
)
def test_words_of_a_rulebook_cannot_become_commands_of_the_print(words: str) -> None:
    source = f"#let told = {_text(words)}\n#metadata(told) <told>"
    files: Any = {"main.typ": source.encode()}
    told = typst.query(files, "<told>", field="value", one=True)
    assert json.loads(told) == words

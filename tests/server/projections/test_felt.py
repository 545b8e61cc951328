"""Layouts as pages draw them: every area once, at the odds of the matrix, and nothing outside the felt."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import product

import pytest

from taisai.game.commands import Limits
from taisai.protocol.views import FeltView, Words
from taisai.rules import Odds, RulesError, rulebook
from taisai.rules.outcomes import Outcome
from taisai.server.projections.table import denominations, felt_view
from tests.game.playing import MBS, RWS, THREE_CARD, US, opened

LAYOUTS = [(MBS, "A"), (MBS, "B"), (RWS, "A"), (RWS, "B"), (RWS, "C"), (THREE_CARD, "A"), (US, "A")]


def faults(felt: FeltView) -> Iterator[str]:
    """What no felt may have."""
    for cell in felt.cells:
        inside = cell.x >= 0 and cell.y >= 0 and cell.x + cell.wide <= felt.wide + 1e-3
        if not inside or cell.y + cell.tall > felt.tall + 1e-3:
            yield f"{cell} lies outside"
    placed = sorted(felt.cells, key=lambda one: (one.y, one.x))
    for n, one in enumerate(placed):
        for other in placed[n + 1 :]:
            across = min(one.x + one.wide, other.x + other.wide) - max(one.x, other.x)
            down = min(one.y + one.tall, other.y + other.tall) - max(one.y, other.y)
            if across > 1e-2 and down > 1e-2:
                yield f"{one} and {other} overlap"
    for text in [odds.text.en for area in felt.areas for odds in area.odds] + [
        c.odds.en if c.odds else "" for c in felt.cells
    ]:
        if " for " in text or ":" in text:
            yield f"odds as {text!r}"


@pytest.mark.parametrize(("book", "layout"), LAYOUTS)
def test_every_area_lies_on_the_felt_once_at_the_odds_of_the_matrix(book: str, layout: str) -> None:
    felt = felt_view(opened(rulebook(book)).table, layout)
    matrix = rulebook(book).matrix(layout)
    assert list(faults(felt)) == []
    assert sorted(cell.area for cell in felt.cells if cell.area) == sorted(matrix.areas)
    assert [area.id for area in felt.areas] == list(matrix.areas)
    for area in felt.areas:
        nets = {Fraction(win.net, matrix.denominator) for win in matrix.wins[matrix.row(area.id)]}
        assert {Odds.parse(odds.text.en).net for odds in area.odds} == nets
        assert area.label.en
        assert area.label.zh
        assert area.wins.en
        assert "{" not in area.wins.en + area.wins.zh
        assert area.clause in rulebook(book).clauses


def test_sabotage_cells_that_overlap_or_leave_the_felt_are_seen() -> None:
    import msgspec

    felt = felt_view(opened(rulebook(US)).table)
    moved = msgspec.structs.replace(felt.cells[0], x=float(felt.wide))
    assert list(faults(msgspec.structs.replace(felt, cells=(moved,))))
    twice = msgspec.structs.replace(felt, cells=(felt.cells[0], felt.cells[0]))
    assert list(faults(twice))


def test_limits_and_offered_odds_in_force_are_shown() -> None:
    limits = Limits(least=200, most=10_000, groups={"triple": (50, 500), "even-money": (400, 20_000)})
    playing = opened(rulebook(US), limits=limits, offers={"double-2": "9.5 to 1"})
    areas = {area.id: area for area in felt_view(playing.table).areas}
    assert (areas["triple-1"].least, areas["triple-1"].most) == (50, 500)
    assert (areas["small"].least, areas["small"].most) == (400, 20_000)
    assert (areas["total-9"].least, areas["total-9"].most) == (200, 10_000)
    assert areas["double-2"].odds[0].text == Words("9.5 to 1", "1 赔 9.5")
    assert areas["double-2"].step == 2
    assert areas["double-1"].odds[0].text.en == "8 to 1"


def test_what_wins_is_shown_in_words() -> None:
    areas = {area.id: area for area in felt_view(opened(rulebook(MBS)).table).areas}
    assert areas["small"].wins.en == "the total is 4 to 10, except triples"
    assert areas["single-6"].wins.zh == "开出一个、两个或三个 6"
    assert areas["four-3456"].wins.en == "three different numbers of 3, 4, 5, 6"
    assert [odds.dice for odds in areas["single-6"].odds] == [1, 2, 3]


def test_whose_drawing_it_is_is_never_claimed_for_the_document() -> None:
    assert felt_view(opened(rulebook(US)).table).drawn == "ours"
    cells = felt_view(opened(rulebook(RWS)).table, "C").cells
    blocks = {block.id: str(block.drawing) for block in rulebook(RWS).layout("C").blocks}
    assert {(cell.block, cell.drawing) for cell in cells} == set(blocks.items())


def test_a_layout_that_the_rulebook_does_not_have_is_refused() -> None:
    with pytest.raises(RulesError, match="expected a layout of us-sic-bo"):
        felt_view(opened(rulebook(US)).table, "Z")


@pytest.mark.parametrize(
    ("least", "most", "chips"),
    [
        (100, 50_000, (100, 200, 500, 1_000, 2_000, 5_000, 10_000)),
        (5, 50, (5, 10, 20, 50)),
        (3, 4, (3,)),
    ],
)
def test_chips_lie_within_the_limits(least: int, most: int, chips: tuple[int, ...]) -> None:
    assert denominations(least, most) == chips


@pytest.mark.parametrize(("book", "layout"), LAYOUTS)
def test_edges_are_shown_only_where_the_operator_lets_players_know_them(book: str, layout: str) -> None:
    table = opened(rulebook(book)).table
    assert {area.edge for area in felt_view(table, layout).areas} == {None}
    matrix = rulebook(book).matrix(layout)
    for area in felt_view(table, layout, with_edges=True).areas:
        assert area.edge is not None
        percent, _, fraction = area.edge.partition(" % (")
        if book != THREE_CARD:  # over 216 rolls, counted one by one
            nets = [
                matrix.nets[matrix.row(area.id)][Outcome.of(*roll).index]
                for roll in product(range(1, 7), repeat=3)
            ]
            edge = -Fraction(sum(nets), 216 * matrix.denominator)
            assert fraction == f"{edge})"
            assert percent == f"{100 * float(edge):.2f}"
        else:
            assert 0 < float(percent.removesuffix(" %")) < 30


@pytest.mark.parametrize("layout", ["A", "B", "C"])
def test_rws_appendices_what_is_printed_on_the_felt_is_shown(layout: str) -> None:
    cells = felt_view(opened(rulebook(RWS)).table, layout).cells
    four = [cell.figures for cell in cells if cell.block == "four-numbers"]
    assert four == ["6 5 4 3", "6 5 3 2", "5 4 3 2", "4 3 2 1"]
    printed = {cell.area: (cell.figures, cell.note) for cell in cells if cell.area}
    no_triple = Words("except any triple", "围骰除外")
    assert printed["big"] == ("11–17", no_triple)
    assert printed["small"] == ("4–10", no_triple)
    assert printed["even"] == printed["odd"] == (None, no_triple)
    captions = [cell.note.en for cell in cells if cell.block == "single-odds" and cell.note]
    assert captions == ["on one die", "on two dice", "on three dice"]


def test_where_a_layout_prints_no_caption_the_odds_still_say_on_how_many_dice() -> None:
    cells = felt_view(opened(rulebook(US)).table).cells
    assert [cell.note.zh for cell in cells if cell.block == "single-odds" and cell.note] == [
        "一颗",
        "两颗",
        "三颗",
    ]
    assert {cell.figures for cell in cells} == {None}

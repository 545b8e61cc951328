"""What people read in tables: nothing cut off, nothing that contradicts itself."""

from __future__ import annotations

import json
import re
import sys
from collections import Counter

import pytest
from rich.console import Console

from taisai.cli import printing
from taisai.rules import rulebook_ids
from tests.cli.conftest import Taisai


def test_a_ruling_of_the_house_names_its_phases(taisai: Taisai) -> None:
    said = taisai("rules", "irregularities", "us-sic-bo").out
    rows = [" ".join(row.split()) for row in said.splitlines()]
    assert "under-minimum open refuse house:limits" in rows
    assert all(row.count("other phases") <= 1 for row in rows)


def test_who_must_be_present_is_shown(taisai: Taisai, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(printing, "WIDTH", 200)
    assert (
        "settle-then-shut before the casino-supervisor" in taisai("rules", "irregularities", "us-sic-bo").out
    )


def test_an_area_that_was_mistyped_is_shown_its_neighbours(taisai: Taisai) -> None:
    ran = taisai("settle", "us-sic-bo", "--dice", "1,2,3", "--bet", "smal=1")
    assert ran.code == 2
    assert "unknown area 'smal' on us-sic-bo layout A; similar areas: small" in ran.err


def test_one_clause_comes_with_its_parts(taisai: Taisai) -> None:
    said = json.loads(taisai("rules", "clauses", "mbs-sic-bo-v6", "5.13", "--json").out)
    assert [one["clause"] for one in said["clauses"]] == ["5.13", "5.13.1", "5.13.2"]
    said = json.loads(taisai("rules", "clauses", "us-sic-bo", "4", "--json").out)
    assert [one["clause"] for one in said["clauses"]] == ["4", "4(a)", "4(b)", "4(c)"]
    assert taisai("rules", "clauses", "mbs-sic-bo-v6", "5.99").code == 2


def test_one_irregularity_can_be_asked_for(taisai: Taisai) -> None:
    said = json.loads(taisai("rules", "irregularities", "rws-sic-bo-etg-v8", "late-bet", "--json").out)
    assert [one["id"] for one in said["irregularities"]] == ["late-bet"]
    assert "power-failure" not in taisai("rules", "irregularities", "rws-sic-bo-etg-v8", "late-bet").out
    assert taisai("rules", "irregularities", "rws-sic-bo-etg-v8", "late-bets").code == 2


def test_settings_and_offers_stand_in_the_title(taisai: Taisai) -> None:
    said = taisai("odds", "us-sic-bo", "--set", "double_on_triple=no", "--offer", "triple-1=180 to 1").out
    assert said.startswith("us-sic-bo, layout A, three dice, with double_on_triple=no, triple-1=180 to 1")


def test_dice_against_cards_is_said(taisai: Taisai) -> None:
    said = taisai("rules", "diff", "mbs-3-card-sic-bo", "mbs-sic-bo-v6").out
    assert "a shoe of 6 decks and three dice: edges differ even where odds are equal" in said


@pytest.mark.parametrize("width", [60, 80, 200])
@pytest.mark.parametrize(
    "command", ["rules list", "rules show BOOK", "rules irregularities BOOK", "odds BOOK"]
)
def test_nothing_that_has_to_be_typed_again_is_cut_off(
    taisai: Taisai, monkeypatch: pytest.MonkeyPatch, command: str, width: int
) -> None:
    monkeypatch.setattr(printing, "WIDTH", width)
    for book in rulebook_ids():
        assert "…" not in taisai(*command.replace("BOOK", book).split()).out.replace(" … ", "")


@pytest.mark.parametrize("width", [40, 60, 80])
def test_odds_keep_their_figures_whole_in_a_narrow_terminal(
    taisai: Taisai, monkeypatch: pytest.MonkeyPatch, width: int
) -> None:
    def figures() -> Counter[str]:
        return Counter(re.findall(r"[0-9]+\.[0-9]{3}(?: %)?", taisai("odds", "us-sic-bo").out))

    wide = figures()
    monkeypatch.setattr(printing, "WIDTH", width)
    assert figures() == wide
    assert max(map(len, taisai("odds", "us-sic-bo").out.splitlines())) <= width


def test_a_long_line_breaks_where_the_terminal_ends(taisai: Taisai, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(printing, "WIDTH", 50)
    told = taisai("rules", "diff", "mbs-sic-bo-v6", "us-sic-bo").out.split("\n\n")[0].splitlines()
    assert len(told) > 5
    assert max(map(len, told[1:])) <= 50


def test_sabotage_a_narrow_table_without_folding_is_cut_off() -> None:
    made = printing.table("", ("id", "words"))
    made.columns[1].overflow = "ellipsis"
    made.add_row("a", "automated-shaker-failure")
    console = Console(width=20, file=sys.stdout)
    with console.capture() as captured:
        console.print(made)
    assert "…" in captured.get()

"""The page about counting says what was reckoned."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

from taisai.study.odds import area_odds
from taisai.study.shoe.odds import chance_left
from taisai.study.shoe.penetration import rounds_dealt
from tests.study.shoe import brute
from tools import cards


def test_the_tables_are_those_of_the_figures() -> None:
    assert cards.page() == cards.PAGE.read_text("utf-8"), "run `python -m tools.cards`"


def test_the_pictures_are_those_of_the_figures(tmp_path: Path) -> None:
    for path in cards.draw(tmp_path):
        assert path.read_bytes() == (cards.PICTURES / path.name).read_bytes(), "run `python -m tools.cards`"


def test_the_words_say_the_figures_of_the_tables() -> None:
    words, shoes = cards.PAGE.read_text("utf-8"), cards.published()
    for decks, share in ((6, 50), (2, 50), (6, 25), (2, 25)):
        rounds = rounds_dealt(48 * decks, Fraction(share, 100))
        gain = 100 * sum(figure[1] for figure in shoes[decks]["perfect"][:rounds]) / rounds
        assert words.split("## What one card does")[share == 25].count(f"{gain:.2f}") >= 1
    assert max(shoe["error"] for shoe in shoes.values()) < 7e-10


def test_four_sixes_gone_and_small_is_the_players() -> None:
    three, four = (area_odds(brute.MATRIX, chance_left((48, 48, 48, 48, 48, 48 - n)))[0] for n in (3, 4))
    assert three.house_edge > 0 > four.house_edge

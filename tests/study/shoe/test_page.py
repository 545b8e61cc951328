"""The page about counting says what was reckoned."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from taisai.study.odds import area_odds
from taisai.study.shoe.composition import chance_left, rounds_dealt
from taisai.study.shoe.variance import shoe_variance
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


def test_the_words_say_how_soon_it_shows() -> None:
    words, shoes = " ".join(cards.PAGE.read_text("utf-8").split()), cards.published()
    hours = {decks: round(shoe["luck"]["until_equal"] / 60) for decks, shoe in shoes.items()}
    assert f"that is {hours[6]} hours with six decks" in words
    assert hours[2] == 6
    assert "and six hours with two" in words
    independent = {}
    for decks in (2, 6):
        half = shoes[decks]["count"][: 8 * decks]
        bet, gain = (sum(figure[place] for figure in half) / len(half) for place in (0, 1))
        independent[decks] = 10 * (bet - gain * gain) ** 0.5
    assert f"would be {independent[2]:.2f} with two decks and {independent[6]:.2f} with six" in words
    assert max(shoe["luck"]["error"] for shoe in shoes.values()) < 3e-7


def test_how_far_two_decks_stray_is_what_is_published() -> None:
    shoe = cards.published()[2]
    found = shoe_variance(cards.MATRIX, (16,) * 6, shoe["tags"], ("small", "big", Fraction(1)), 16)
    assert found.deviation == pytest.approx(shoe["luck"]["deviation"], rel=1e-9)
    assert found.until_equal == pytest.approx(shoe["luck"]["until_equal"], rel=1e-9)


def test_four_sixes_gone_and_small_is_the_players() -> None:
    three, four = (area_odds(brute.MATRIX, chance_left((48, 48, 48, 48, 48, 48 - n)))[0] for n in (3, 4))
    assert three.house_edge > 0 > four.house_edge

"""3 Card Sic Bo at Marina Bay Sands, played: what each area wins and loses on, and what it is paid."""

from __future__ import annotations

from typing import Final

import pytest

from taisai.rules import Rulebook, rulebook
from tests.game.staking import STAKE, pays, table_open, won_by

COLLECTED: Final = -1
TRIPLES: Final = "111 222 333 444 555 666"


@pytest.fixture(scope="module")
def book() -> Rulebook:
    return rulebook("mbs-3-card-sic-bo")


def even_money(book: Rulebook, area: str, *, wins: str, loses: str) -> None:
    """Paid one to one on some cards, collected on others and on every triple."""
    pays(book, 1, f"{area} {wins}")
    pays(book, COLLECTED, f"{area} {loses} {TRIPLES}")


def test_three_card_3_6_1_small_is_played(book: Rulebook) -> None:
    even_money(book, "small", wins="112 113 123 124 134 144 145", loses="146 156 256 266 366 466 566")


def test_three_card_3_6_2_big_is_played(book: Rulebook) -> None:
    even_money(book, "big", wins="146 156 256 266 366 466 566", loses="112 113 123 124 134 144 145")


def test_three_card_3_6_3_odd_is_played(book: Rulebook) -> None:
    even_money(book, "odd", wins="113 124 144 146 256 366 566", loses="112 123 134 145 156 266 466")


def test_three_card_3_6_4_even_is_played(book: Rulebook) -> None:
    even_money(book, "even", wins="112 123 134 145 156 266 466", loses="113 124 144 146 256 366 566")


def test_three_card_3_6_5_any_triple_is_played(book: Rulebook) -> None:
    pays(book, 31, f"any-triple {TRIPLES}")
    pays(book, COLLECTED, "any-triple 112 566 123")


def test_three_card_3_6_6_totals_are_played(book: Rulebook) -> None:
    pays(book, 18, "total-6 114 123 222\n total-15 366 456 555")
    pays(book, 7, "total-9 126 135 144 225 234 333\n total-12 156 246 336 444")


def test_three_card_3_5_a_bet_that_the_cards_do_not_match_is_collected(book: Rulebook) -> None:
    pays(book, COLLECTED, "total-6 113 223\n total-9 224 334 111\n total-4 111\n total-17 666")


def test_three_card_3_3_a_card_counts_what_it_shows_in_whatever_order(book: Rulebook) -> None:
    open_table = table_open(book)
    for faces in ("126", "162", "216", "261", "612", "621"):
        assert won_by(open_table, "total-9", faces) == 7 * STAKE


def test_three_card_4_1_1_named_sections_are_paid_out(book: Rulebook) -> None:
    pays(book, 1, "small 123\n big 456\n odd 124\n even 123")
    for area in ("small", "big", "odd", "even"):
        pays(book, COLLECTED, f"{area} {TRIPLES}")
    pays(book, 31, f"any-triple {TRIPLES}")


def test_three_card_4_1_2_totals_are_paid_out(book: Rulebook) -> None:
    pays(book, 62, "total-4 112\n total-17 566")
    pays(book, 31, "total-5 113\n total-16 466")
    pays(book, 18, "total-6 123 222\n total-15 456 555")
    pays(book, 12, "total-7 124\n total-14 356")
    pays(book, 8, "total-8 125\n total-13 346")
    pays(book, 7, "total-9 126 333\n total-12 345 444")
    pays(book, 6, "total-10 136\n total-11 245")

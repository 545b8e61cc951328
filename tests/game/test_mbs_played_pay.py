"""Sic Bo at Marina Bay Sands, version 6, played: what each area wins and loses on, and what it is paid."""

from __future__ import annotations

from typing import Final

import pytest

from taisai.rules import Rulebook, rulebook
from tests.game.staking import STAKE, pays, table_open, won_by

COLLECTED: Final = -1
TRIPLES: Final = "111 222 333 444 555 666"


@pytest.fixture(scope="module")
def book() -> Rulebook:
    return rulebook("mbs-sic-bo-v6")


def even_money(book: Rulebook, area: str, *, wins: str, loses: str) -> None:
    """Paid one to one on some faces, collected on others and on every triple."""
    pays(book, 1, f"{area} {wins}")
    pays(book, COLLECTED, f"{area} {loses} {TRIPLES}")


# When a bet wins, and when it is collected


def test_mbs_3_5_1_1_small_from_4_to_10_but_no_triple(book: Rulebook) -> None:
    even_money(book, "small", wins="112 113 123 124 134 144 145", loses="146 156 256 266 366 466 566")


def test_mbs_3_5_2_1_big_from_11_to_17_but_no_triple(book: Rulebook) -> None:
    even_money(book, "big", wins="146 156 256 266 366 466 566", loses="112 113 123 124 134 144 145")


def test_mbs_3_5_3_1_odd_but_no_triple(book: Rulebook) -> None:
    even_money(book, "odd", wins="113 124 144 146 256 366 566", loses="112 123 134 145 156 266 466")


def test_mbs_3_5_4_1_even_but_no_triple(book: Rulebook) -> None:
    even_money(book, "even", wins="112 123 134 145 156 266 466", loses="113 124 144 146 256 366 566")


def test_mbs_3_5_5_1_a_specific_triple_on_itself_alone(book: Rulebook) -> None:
    pays(book, COLLECTED, "triple-2 111 333 223 225")
    for face in "123456":
        pays(book, 180, f"triple-{face} {3 * face}")


def test_mbs_3_5_6_1_a_double_on_two_or_three_dice(book: Rulebook) -> None:
    pays(book, 11, "double-3 133 233 333 336")
    pays(book, COLLECTED, "double-3 123 355 456 222")


def test_mbs_3_5_7_1_any_triple_on_every_triple(book: Rulebook) -> None:
    pays(book, 31, f"any-triple {TRIPLES}")
    pays(book, COLLECTED, "any-triple 112 566 123")


def test_mbs_3_5_8_1_a_total_on_its_own_sum_and_no_other(book: Rulebook) -> None:
    pays(book, 18, "total-6 114 123 222\n total-15 366 456 555")
    pays(book, 7, "total-9 126 135 144 225 234 333\n total-12 156 246 336 444")
    pays(book, COLLECTED, "total-6 113 223\n total-9 224 334 111\n total-4 111\n total-17 666")


def test_mbs_3_5_9_1_a_pair_when_both_numbers_show(book: Rulebook) -> None:
    pays(book, 6, "pair-25 125 225 255 256")
    pays(book, COLLECTED, "pair-25 122 155 222 346")


def test_mbs_3_5_10_1_three_singles_on_all_three(book: Rulebook) -> None:
    pays(book, 30, "three-135 135")
    pays(book, COLLECTED, "three-135 113 155 136")


def test_mbs_3_5_11_1_a_double_with_a_single_on_just_that(book: Rulebook) -> None:
    pays(book, 50, "double-single-334 334\n double-single-443 344")
    pays(book, COLLECTED, "double-single-334 344 333 234\n double-single-443 334")


def test_mbs_3_5_12_1_a_single_on_one_die_or_more(book: Rulebook) -> None:
    pays(book, 1, "single-4 124")
    pays(book, 2, "single-4 244")
    pays(book, 12, "single-4 444")
    pays(book, COLLECTED, "single-4 123 355")


def test_mbs_3_5_13_1_three_different_numbers_of_the_four(book: Rulebook) -> None:
    pays(book, 7, "four-2356 235 236 256 356")
    pays(book, COLLECTED, "four-2356 123 223 556 222 456")


def test_mbs_3_6_the_faces_decide_in_whatever_order_they_lie(book: Rulebook) -> None:
    open_table = table_open(book)
    for faces in ("123", "132", "213", "231", "312", "321"):
        assert won_by(open_table, "three-123", faces) == 30 * STAKE


# What is paid


def test_mbs_4_1_1_named_sections_triples_and_doubles_are_paid_out(book: Rulebook) -> None:
    pays(book, 1, "small 123\n big 456\n odd 124\n even 123")
    for area in ("small", "big", "odd", "even"):
        pays(book, COLLECTED, f"{area} {TRIPLES}")
    for face, other in zip("123456", "234561", strict=True):
        pays(book, 180, f"triple-{face} {3 * face}")
        pays(book, 11, f"double-{face} {face}{face}{other} {3 * face}")
    pays(book, 31, f"any-triple {TRIPLES}")


def test_mbs_4_1_2_totals_are_paid_out(book: Rulebook) -> None:
    pays(book, 62, "total-4 112\n total-17 566")
    pays(book, 31, "total-5 113\n total-16 466")
    pays(book, 18, "total-6 123 222\n total-15 456 555")
    pays(book, 12, "total-7 124\n total-14 356")
    pays(book, 8, "total-8 125\n total-13 346")
    pays(book, 7, "total-9 126 333\n total-12 345 444")
    pays(book, 6, "total-10 136\n total-11 245")


def test_mbs_4_1_3_pairs_are_paid_out(book: Rulebook) -> None:
    faces = "123456"
    rows = [f"pair-{one}{other} {one}{one}{other}" for one in faces for other in faces if one < other]
    assert len(rows) == 15
    pays(book, 6, "\n".join(rows))


def test_mbs_4_1_4_three_singles_are_paid_out(book: Rulebook) -> None:
    printed = "126 135 234 256 346 123 136 145 235 356 124 146 236 245 456 125 134 156 246 345"
    pays(book, 30, "\n".join(f"three-{numbers} {numbers}" for numbers in printed.split()))


def test_mbs_4_1_5_doubles_with_a_single_are_paid_out(book: Rulebook) -> None:
    printed = (
        "113 114 115 116 221 223 224 225 226 331 332 334 335 336 "
        "441 442 443 445 446 551 552 553 554 556 661 662 663 664"
    )
    pays(book, 50, "\n".join(f"double-single-{numbers} {numbers}" for numbers in printed.split()))


def test_mbs_4_1_6_singles_are_paid_out_by_the_dice_that_show_them(book: Rulebook) -> None:
    for face, others in zip("123456", ("23", "34", "45", "56", "61", "12"), strict=True):
        pays(book, 1, f"single-{face} {face}{others}")
        pays(book, 2, f"single-{face} {face}{face}{others[0]}")
        pays(book, 12, f"single-{face} {3 * face}")


def test_mbs_4_1_7_three_of_four_are_paid_out(book: Rulebook) -> None:
    pays(book, 7, "four-1234 134\n four-2345 245\n four-2356 256\n four-3456 356")

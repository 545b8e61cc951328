"""The oracle against counts and sums worked out by hand, before it may judge anything else."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

import pytest

from tests.oracle import PAY_TABLES, ROLLS, PayTable
from tests.oracle.dice import Roll
from tests.oracle.mbs import V6
from tests.oracle.rws import LAYOUT_A, LAYOUT_B, LAYOUT_C
from tests.oracle.three_card import CARDS
from tests.oracle.us import US

each_table = pytest.mark.parametrize("table", PAY_TABLES, ids=lambda table: table.name)

# Winning rolls of 216 by kind of area. A double: 15 with two of the number and 1 with three; a pair: 6 orders
# with each of four other numbers and 3 + 3 with one of the two repeated; a single: all but 5 x 5 x 5.
WINNING_ROLLS = {
    "small": 105,
    "big": 105,
    "odd": 105,
    "even": 105,
    "any-triple": 6,
    "triple": 1,
    "double": 16,
    "pair": 30,
    "three": 6,
    "double-single": 3,
    "single": 91,
    "four": 24,
    "total-4": 3,
    "total-5": 6,
    "total-6": 10,
    "total-7": 15,
    "total-8": 21,
    "total-9": 25,
    "total-10": 27,
}

# Units that come back when one unit lies on the area in each of the 216 rolls: rolls x (odds + 1).
# A single die: 75 x 2 + 15 x 3 + 1 x 13 (in the American rules x 4).
COMMON_BACK = {"small": "210", "big": "210", "odd": "210", "even": "210"}
FULL_BACK = COMMON_BACK | {"pair": "210", "three": "186", "double-single": "153", "single": "208"}
FULL_BACK |= {"total-7": "195", "total-9": "200"}
MBS_BACK = FULL_BACK | {"triple": "181", "double": "192", "any-triple": "192", "four": "192"}
MBS_BACK |= {"total-4": "189", "total-5": "192", "total-6": "190", "total-8": "189", "total-10": "189"}
RWS_BACK = FULL_BACK | {"triple": "196", "double": "200", "any-triple": "198", "four": "204"}
RWS_BACK |= {"total-4": "195", "total-5": "198", "total-6": "200", "total-8": "199.5", "total-10": "202.5"}
US_BACK = COMMON_BACK | {"triple": "151", "double": "144", "any-triple": "150", "pair": "180"}
US_BACK |= {"total-4": "153", "total-5": "114", "total-6": "150", "total-7": "195", "total-8": "189"}
US_BACK |= {"total-9": "175", "total-10": "189", "single": "199"}


def kind(area: str) -> str:
    """What the tables above are keyed by: totals above 10 under their mirror, numbers left out elsewhere."""
    name, _, numbers = area.rpartition("-")
    if name == "total":
        return f"total-{min(int(numbers), 21 - int(numbers))}"
    return name if numbers.isdigit() else area


@each_table
def test_every_area_wins_on_as_many_rolls_as_counted_by_hand(table: PayTable) -> None:
    counted = {area: sum(table.verdict(area, roll).net > 0 for roll in ROLLS) for area in table.areas}
    assert counted == {area: WINNING_ROLLS[kind(area)] for area in table.areas}


@pytest.mark.parametrize(
    ("table", "by_hand"),
    [
        (V6, MBS_BACK),
        (LAYOUT_A, RWS_BACK),
        (LAYOUT_B, RWS_BACK),
        (LAYOUT_C, MBS_BACK),
        (CARDS, MBS_BACK),
        (US, US_BACK),
    ],
    ids=lambda value: value.name if isinstance(value, PayTable) else "",
)
def test_every_area_gives_back_as_much_as_summed_by_hand(table: PayTable, by_hand: Mapping[str, str]) -> None:
    back = {area: sum(table.verdict(area, roll).net + 1 for roll in ROLLS) for area in table.areas}
    assert back == {area: Fraction(by_hand[kind(area)]) for area in table.areas}


@pytest.mark.parametrize(
    ("table", "areas"),
    [(V6, 104), (LAYOUT_A, 56), (LAYOUT_B, 104), (LAYOUT_C, 104), (CARDS, 19), (US, 50)],
    ids=lambda value: value.name if isinstance(value, PayTable) else "",
)
def test_as_many_areas_as_the_document_prints_and_none_twice(table: PayTable, areas: int) -> None:
    assert len(table.areas) == len(set(table.areas)) == areas


@each_table
def test_only_areas_of_the_layout_are_called(table: PayTable) -> None:
    assert {area for roll in ROLLS for area in table.called(roll)} == set(table.areas)


@each_table
def test_the_order_of_the_dice_does_not_matter(table: PayTable) -> None:
    for a, b, c in ROLLS:
        for order in ((a, c, b), (b, a, c), (b, c, a), (c, a, b), (c, b, a)):
            assert table.calls[order] == table.calls[a, b, c]


def mirrored(roll: Roll) -> Roll:
    """Each die turned over: 1 for 6, 2 for 5, 3 for 4."""
    return (7 - roll[0], 7 - roll[1], 7 - roll[2])


@each_table
def test_turning_every_die_over_pays_the_same_sum_but_for_the_four_numbers(table: PayTable) -> None:
    # 2356 turned over is 1245, which no layout offers; every other kind of area turns into itself.
    def paid(roll: Roll) -> dict[str, Fraction]:
        sums: dict[str, Fraction] = {}
        for area, verdict in table.called(roll).items():
            family = {"small": "size", "big": "size", "odd": "parity", "even": "parity"}.get(area, kind(area))
            if family != "four":
                sums[family] = sums.get(family, Fraction(0)) + verdict.net
        return sums

    for roll in ROLLS:
        assert paid(roll) == paid(mirrored(roll))


def test_mbs_v6_and_rws_layout_c_pay_alike_on_every_area() -> None:
    assert set(V6.areas) == set(LAYOUT_C.areas)
    for roll in ROLLS:
        mbs = {area: verdict.net for area, verdict in V6.called(roll).items()}
        assert mbs == {area: verdict.net for area, verdict in LAYOUT_C.called(roll).items()}


def test_rws_layouts_a_and_b_pay_alike_where_both_have_the_area() -> None:
    added = set(LAYOUT_B.areas) - set(LAYOUT_A.areas)
    assert {kind(area) for area in added} == {"three", "double-single"}
    assert len(added) == 48
    for roll in ROLLS:
        on_b = {area: v.net for area, v in LAYOUT_B.called(roll).items() if area not in added}
        assert on_b == {area: v.net for area, v in LAYOUT_A.called(roll).items()}


@each_table
def test_a_triple_wins_on_nothing_but_triples_its_double_its_single_and_its_total(table: PayTable) -> None:
    for number in range(1, 7):
        numbered = {f"triple-{number}", f"double-{number}", f"single-{number}", f"total-{3 * number}"}
        may_win = {"any-triple", *numbered} & set(table.areas)
        assert set(table.called((number, number, number))) == may_win


@pytest.mark.parametrize("missing", ["double-single-112", "double-single-665", "total-3", "total-18"])
@each_table
def test_what_is_not_printed_has_no_verdict(table: PayTable, missing: str) -> None:
    with pytest.raises(KeyError):
        table.verdict(missing, (1, 1, 2))

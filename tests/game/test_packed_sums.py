"""Many sums in one integer against the same sums one by one."""

from __future__ import annotations

from array import array
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from taisai.game.money import packed_sums
from taisai.game.terms.terms import GUARDS, ONES
from taisai.rules import OUTCOMES
from taisai.rules.settlement import GREATEST_SUM

COUNT = len(OUTCOMES)
EDGES = (0, 1, 2, 2**31, 2**32 - 1, 2**32, 2**53 - 1, 2**53, packed_sums.GREATEST - 1, packed_sums.GREATEST)
NUMBERS = st.integers(0, packed_sums.GREATEST) | st.sampled_from(EDGES)
ROWS = st.lists(NUMBERS, min_size=1, max_size=60)
OUTCOME_ROWS = st.lists(NUMBERS, min_size=COUNT, max_size=COUNT)


@given(ROWS)
@example([1, 2, 3])
@example([packed_sums.GREATEST] * 56)
@example([0] * 56)
def test_numbers_come_out_as_they_went_in(numbers: list[int]) -> None:
    assert list(packed_sums.unpacked(packed_sums.packed(numbers), len(numbers))) == numbers


@given(ROWS, st.integers(0, 5))
def test_lanes_beyond_the_last_are_empty(numbers: list[int], more: int) -> None:
    assert (
        list(packed_sums.unpacked(packed_sums.packed(numbers), len(numbers) + more)) == numbers + [0] * more
    )


@given(st.data(), st.integers(1, 60))
def test_a_sum_of_packed_numbers_is_packed_sums(data: st.DataObject, count: int) -> None:
    half = st.lists(st.integers(0, packed_sums.GREATEST // 2), min_size=count, max_size=count)
    one, other = data.draw(half), data.draw(half)
    together = packed_sums.packed(one) + packed_sums.packed(other)
    assert list(packed_sums.unpacked(together, count)) == [a + b for a, b in zip(one, other, strict=True)]
    assert together - packed_sums.packed(other) == packed_sums.packed(one)


@given(st.lists(st.tuples(st.integers(-(2**62), 2**62), NUMBERS, NUMBERS), min_size=1, max_size=60))
@example([(0, 0, 1), (0, 0, 0)])
@example([(-1, 1, 0), (-1, 0, 0), (0, 0, 2**53)])
def test_a_column_is_changed_lane_by_lane_whatever_its_signs(rows: list[tuple[int, int, int]]) -> None:
    column, more, less = (array("q", one) for one in zip(*rows, strict=True))
    assert packed_sums.changed(column, more, less).tolist() == [one + up - down for one, up, down in rows]


@given(st.integers(1, 60), NUMBERS)
def test_one_in_each_lane_times_a_number_is_that_number_in_all(count: int, number: int) -> None:
    assert list(packed_sums.unpacked(packed_sums.spread(count) * number, count)) == [number] * count


def test_a_guard_is_the_highest_bit_of_each_lane_and_no_other() -> None:
    for count in range(1, 60):
        bits = [place for place in range(packed_sums.BITS * count) if packed_sums.guard(count) >> place & 1]
        assert bits == [packed_sums.BITS * (lane + 1) - 1 for lane in range(count)]
    assert ONES == packed_sums.spread(COUNT)  # noqa: SIM300  it is what is tested
    assert packed_sums.guard(COUNT) == GUARDS
    assert packed_sums.guard(1) > packed_sums.GREATEST


@given(OUTCOME_ROWS, NUMBERS)
@example([packed_sums.GREATEST] * COUNT, packed_sums.GREATEST)
@example([packed_sums.GREATEST] * COUNT, packed_sums.GREATEST - 1)
@example([0] * COUNT, 0)
@example([0] * (COUNT - 1) + [1], 0)
@example([1] + [0] * (COUNT - 1), 0)
@example([2] + [0] * (COUNT - 1), 1)
@example([0] * (COUNT - 1) + [2], 1)
def test_none_is_above_a_ceiling_when_the_greatest_is_not(numbers: list[int], ceiling: int) -> None:
    assert packed_sums.none_above(packed_sums.packed(numbers), ceiling, ONES, GUARDS) is (
        max(numbers) <= ceiling
    )


@given(st.data(), NUMBERS)
def test_one_lane_beyond_the_ceiling_is_seen_wherever_it_is(data: st.DataObject, ceiling: int) -> None:
    """At the edge: every lane at the ceiling, and one of them one above it."""
    place = data.draw(st.integers(0, COUNT - 1))
    at_edge = [ceiling] * COUNT
    assert packed_sums.none_above(packed_sums.packed(at_edge), ceiling, ONES, GUARDS)
    at_edge[place] += 1
    assert not packed_sums.none_above(packed_sums.packed(at_edge), ceiling, ONES, GUARDS)


@given(
    st.integers(1, 40).flatmap(
        lambda count: st.lists(
            st.tuples(st.lists(st.integers(0, 2**40), min_size=count, max_size=count), st.integers(0, 2**12)),
            max_size=8,
        )
    )
)
def test_columns_times_weights_are_the_sums_lane_by_lane(columns: list[tuple[list[int], int]]) -> None:
    count = max((len(column) for column, _ in columns), default=0)
    total = packed_sums.weighed([(array("q", column), weight) for column, weight in columns])
    expected = [sum(column[lane] * weight for column, weight in columns) for lane in range(count)]
    assert list(packed_sums.unpacked(total, count)) == expected


@given(st.lists(st.tuples(st.lists(st.integers(0, 2**40), max_size=9), st.integers(0, 2**12)), max_size=8))
def test_columns_of_different_lengths_are_added_from_the_first_lane(
    columns: list[tuple[list[int], int]],
) -> None:
    """A purse that came later has no lane yet in the columns made before it."""
    total = packed_sums.weighed([(array("q", column), weight) for column, weight in columns])
    expected = [0] * 9
    for column, weight in columns:
        for lane, stake in enumerate(column):
            expected[lane] += stake * weight
    assert list(packed_sums.unpacked(total, 9)) == expected


def test_the_greatest_sums_of_the_game_fit_a_lane() -> None:
    """A whole batch of the greatest bets on top of the greatest round stays below the guard."""
    from taisai.game.table import MOST_IN_BATCH

    for unit in (1, 2):
        assert (MOST_IN_BATCH + 1) * GREATEST_SUM * unit < 2 ** (packed_sums.BITS - 1)


# Sabotage: each check above, with the arithmetic bent

Patch = Callable[[pytest.MonkeyPatch], None]


def _guard_the_first_lane_alone(patch: pytest.MonkeyPatch) -> None:
    was, first = packed_sums.none_above, packed_sums.guard(1)
    patch.setattr(
        packed_sums, "none_above", lambda row, ceiling, ones, _guards: was(row, ceiling, ones, first)
    )


def _look_at_the_sum(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(packed_sums, "none_above", lambda row, ceiling, ones, _guards: row <= ceiling * ones)


def _off_by_one(patch: pytest.MonkeyPatch) -> None:
    was = packed_sums.none_above
    patch.setattr(packed_sums, "none_above", lambda row, ceiling, *masks: was(row, ceiling + 1, *masks))


def _lanes_of_32_bits(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(packed_sums, "BITS", 32)


def _the_last_lowest(patch: pytest.MonkeyPatch) -> None:
    was = packed_sums.packed
    patch.setattr(packed_sums, "packed", lambda numbers: was(numbers[::-1]))


def _weigh_nothing(patch: pytest.MonkeyPatch) -> None:
    was = packed_sums.weighed
    patch.setattr(packed_sums, "weighed", lambda columns: was([(column, 1) for column, _ in columns]))


CHECKS: dict[str, Callable[[], Any]] = {
    "ceiling": test_none_is_above_a_ceiling_when_the_greatest_is_not,
    "edge": test_one_lane_beyond_the_ceiling_is_seen_wherever_it_is,
    "round trip": test_numbers_come_out_as_they_went_in,
    "weights": test_columns_times_weights_are_the_sums_lane_by_lane,
}


@pytest.mark.parametrize(
    ("sabotage", "check"),
    [
        (_guard_the_first_lane_alone, "ceiling"),
        (_look_at_the_sum, "ceiling"),
        (_guard_the_first_lane_alone, "edge"),
        (_off_by_one, "edge"),
        (_lanes_of_32_bits, "round trip"),
        (_the_last_lowest, "round trip"),
        (_weigh_nothing, "weights"),
    ],
)
def test_sabotage_of_the_lanes_is_seen(sabotage: Patch, check: str, monkeypatch: pytest.MonkeyPatch) -> None:
    sabotage(monkeypatch)
    with pytest.raises((AssertionError, OverflowError, ExceptionGroup)):
        CHECKS[check]()

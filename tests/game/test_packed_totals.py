"""The sum of all lanes, by halves, against the plain sum."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from taisai.game.money import packed_sums
from taisai.rules.settlement import GREATEST_SUM


@given(st.lists(st.integers(0, GREATEST_SUM), max_size=130))
@example([])
@example([GREATEST_SUM])
@example([GREATEST_SUM] * 511)
@example([1] * 2_000)
def test_the_total_is_the_plain_sum(numbers: list[int]) -> None:
    assert packed_sums.total(packed_sums.packed(numbers), len(numbers)) == sum(numbers)


def test_sabotage_a_lane_left_out_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    total = packed_sums.total
    monkeypatch.setattr(
        packed_sums, "total", lambda packed, count: total(packed >> packed_sums.BITS, count - 1)
    )
    with pytest.raises(AssertionError):
        test_the_total_is_the_plain_sum()

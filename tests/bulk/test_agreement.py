"""Arrays and plain matrix agree: every pay table, all 56 outcomes, however the bets came in."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from taisai.bulk import BetsByArea, ReturnMultiples
from taisai.bulk import bets as bets_module
from taisai.rules import OUTCOMES
from tests.bulk.tables import (
    PAY_TABLES,
    PLAYERS,
    Placed,
    at_once,
    disagreements,
    examples,
    extend,
    matrix,
    multiples,
    one_by_one,
    placed,
    plain_up_to,
)

each_table = pytest.mark.parametrize("name", PAY_TABLES)


def _everywhere(name: str) -> list[Placed]:
    """A bet on every area, all stakes different."""
    steps = multiples(name).steps
    return [Placed(n % PLAYERS, area, (n + 1) * steps[n]) for n, area in enumerate(matrix(name).areas)]


@each_table
@given(data=st.data())
@examples(12)
def test_however_the_bets_come_in_they_settle_as_plain_ones(name: str, data: st.DataObject) -> None:
    mix = data.draw(placed(name, most=25))
    assert disagreements(one_by_one(name, mix), mix) == []
    assert disagreements(at_once(name, mix), mix) == []
    with plain_up_to(0):
        assert disagreements(one_by_one(name, mix), mix) == []
        assert disagreements(at_once(name, mix), mix) == []
        assert disagreements(at_once(name, mix, compiled=True), mix) == []


@each_table
def test_a_bet_on_every_area_settles_as_a_plain_one(name: str) -> None:
    mix = _everywhere(name)
    for compiled in (False, True):
        with plain_up_to(0):
            assert disagreements(at_once(name, mix, compiled=compiled), mix) == []
    assert disagreements(one_by_one(name, mix), mix) == []


@given(data=st.data())
@examples(25)
def test_batches_and_single_bets_in_any_order_keep_the_order_of_registration(data: st.DataObject) -> None:
    name = "rws-sic-bo-etg-v8/B"
    chunks = data.draw(st.lists(placed(name, most=8), max_size=6))
    with plain_up_to(data.draw(st.integers(0, 12))):
        kept = BetsByArea(multiples(name), players=PLAYERS, compiled=False)
        mix: list[Placed] = []
        for number, chunk in enumerate(chunks):
            if data.draw(st.booleans()):
                extend(kept, chunk)
            else:
                for bet in chunk:
                    kept.add(*bet)
            mix += chunk
            kept.returned_by_player(OUTCOMES[number])  # settling in between must not disturb what is kept
        assert len(kept) == len(mix)
        assert disagreements(kept, mix) == []


def test_thousands_of_bets_settle_as_plain_ones() -> None:
    name, random = "rws-sic-bo-etg-v8/B", Random(1)
    areas = matrix(name).areas
    mix = [
        Placed(random.randrange(PLAYERS), random.choice(areas), 2 * random.randrange(1, 10**6))
        for _ in range(3_000)
    ]
    kept = at_once(name, mix[:2_000])
    for bet in mix[2_000:2_700]:
        kept.add(*bet)
    extend(kept, mix[2_700:])
    assert disagreements(kept, mix) == []


@each_table
def test_what_lies_on_each_area_and_before_each_player_is_known(name: str) -> None:
    mix = _everywhere(name)
    kept = at_once(name, mix)
    assert kept.staked_by_area() == {bet.area: bet.stake for bet in mix}
    expected = [sum(bet.stake for bet in mix if bet.player == player) for player in range(PLAYERS)]
    assert kept.staked_by_player().tolist() == expected


def test_no_bets_settle_to_nothing() -> None:
    assert disagreements(at_once("us-sic-bo/A", []), []) == []


def test_the_next_round_starts_empty() -> None:
    name, mix = "us-sic-bo/A", [Placed(0, "small", 100)]
    with plain_up_to(0):
        kept = at_once(name, mix)
        kept.clear()
        assert disagreements(kept, []) == []
        extend(kept, mix)
        assert disagreements(kept, mix) == []


def test_the_caller_may_reuse_its_arrays() -> None:
    name = "us-sic-bo/A"
    players, rows, stakes = np.array([0, 1]), np.array([0, 0]), np.array([100, 200])
    with plain_up_to(0):
        kept = BetsByArea(multiples(name), players=PLAYERS, compiled=False)
        kept.extend(players, rows, stakes)
        players[:], rows[:], stakes[:] = 3, 5, 7
        area = matrix(name).areas[0]
        assert disagreements(kept, [Placed(0, area, 100), Placed(1, area, 200)]) == []


def _doctored(name: str, *, by: int) -> ReturnMultiples:
    """The multiples with one winning cell of the first area altered."""
    good = multiples(name)
    place = next(n for n, column in enumerate(good.columns) if column[0])
    columns = [list(column) for column in good.columns]
    columns[place][0] += by
    alike = [
        tuple(
            (multiple, tuple(row for row, m in enumerate(column) if m == multiple))
            for multiple in set(column) - {0}
        )
        for column in columns
    ]
    return replace(good, columns=tuple(map(tuple, columns)), alike=tuple(alike))


@pytest.mark.parametrize("arrays", [False, True])
@each_table
def test_sabotage_one_altered_cell_is_seen(name: str, *, arrays: bool) -> None:
    mix = _everywhere(name)
    with plain_up_to(0 if arrays else 400):
        for by in (0, 1):
            kept = BetsByArea(_doctored(name, by=by), players=PLAYERS, compiled=False)
            extend(kept, mix)
            assert bool(disagreements(kept, mix)) is bool(by)


def test_bets_are_sorted_while_they_come_in() -> None:
    name, mix = "us-sic-bo/A", [Placed(n % PLAYERS, "small", n + 1) for n in range(10)]
    with patch.object(bets_module, "SORTED_FROM", 4), plain_up_to(2):
        for kept in (one_by_one(name, mix), at_once(name, mix[:2])):
            if len(kept) == 2:
                for n in range(2, 10, 2):
                    extend(kept, mix[n : n + 2])
            assert kept._buffers
            assert len(kept._unsorted) < 4
            assert disagreements(kept, mix) == []

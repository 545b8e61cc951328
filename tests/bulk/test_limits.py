"""What is not registered: sums beyond 2^53 - 1, and every bet that the plain matrix refuses."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from taisai.bulk import (
    MOST_BETS,
    MOST_PLAYERS,
    BetRefusedError,
    BetsByArea,
    BulkError,
    ReturnMultiples,
    entry,
)
from taisai.bulk import bets as bets_module
from taisai.rules import GREATEST_SUM, OUTCOMES, Bet, BetRefusal, BetRefusalReason, Outcome, rulebook
from tests.bulk.tables import (
    PLAYERS,
    Placed,
    at_once,
    disagreements,
    examples,
    extend,
    matrix,
    multiples,
    one_by_one,
    plain_up_to,
)
from tests.project.tree import SRC

NAME = "rws-sic-bo-etg-v8/C"
HALVES = "rws-sic-bo-etg-v8/B"

Register = Callable[[BetsByArea, list[Placed]], None]


def _singly(kept: BetsByArea, mix: list[Placed]) -> None:
    for bet in mix:
        kept.add(*bet)


ways = pytest.mark.parametrize("register", [_singly, extend])


def _refused(register: Register, before: list[Placed], bet: Placed, name: str = NAME) -> BetRefusal:
    """Why a bet is refused after others, which it must leave as they were."""
    refusals = []
    for arrays in (False, True):
        with plain_up_to(0 if arrays else 400):
            kept = BetsByArea(multiples(name), players=PLAYERS, compiled=False)
            register(kept, before)
            with pytest.raises(BetRefusedError) as refused:
                register(kept, [bet])
            assert len(kept) == len(before)
            assert disagreements(kept, before) == []
            refusals.append(refused.value.refusal)
    assert refusals[0] == refusals[1]
    return refusals[0]


def _taken(register: Register, mix: list[Placed], name: str = NAME) -> None:
    for arrays in (False, True):
        with plain_up_to(0 if arrays else 400):
            kept = BetsByArea(multiples(name), players=PLAYERS, compiled=False)
            register(kept, mix)
            assert disagreements(kept, mix) == []


@ways
def test_a_return_of_the_greatest_sum_is_taken_and_one_more_refused(register: Register) -> None:
    most = GREATEST_SUM // 2  # even money returns twice the stake
    _taken(register, [Placed(0, "small", most)])
    refusal = _refused(register, [], Placed(0, "small", most + 1))
    assert refusal.reason is BetRefusalReason.BEYOND_GREATEST_SUM
    assert refusal.message.startswith("expected a return of at most 2^53 - 1")


@ways
def test_at_half_odds_a_return_within_the_limit_is_taken_and_the_next_refused(register: Register) -> None:
    most = GREATEST_SUM // 19 * 2  # 8.5 to 1: each 2 staked get 19 back
    _taken(register, [Placed(0, "total-8", most)], HALVES)
    refusal = _refused(register, [], Placed(0, "total-8", most + 2), HALVES)
    assert refusal.message.startswith("expected a return of at most 2^53 - 1")


@ways
def test_total_returns_of_the_greatest_sum_are_taken_and_one_more_refused(register: Register) -> None:
    most = GREATEST_SUM // 2
    before = [Placed(0, "small", most - 100), Placed(1, "even", 99)]
    _taken(register, [*before, Placed(2, "small", 1)])
    refusal = _refused(register, before, Placed(2, "small", 2))
    assert refusal.reason is BetRefusalReason.BEYOND_GREATEST_SUM
    assert "total returned" in refusal.message


@ways
def test_total_stakes_of_the_greatest_sum_are_taken_and_one_more_refused(register: Register) -> None:
    # Small, big and any triple never win together: stakes reach the limit where returns do not.
    most = GREATEST_SUM // 2
    before = [Placed(0, "small", most), Placed(1, "big", most)]
    _taken(register, [*before, Placed(2, "any-triple", GREATEST_SUM - 2 * most)])
    refusal = _refused(register, before, Placed(2, "any-triple", GREATEST_SUM - 2 * most + 1))
    assert refusal.reason is BetRefusalReason.BEYOND_GREATEST_SUM
    assert "total staked" in refusal.message


@ways
def test_a_stake_beyond_the_greatest_sum_is_refused(register: Register) -> None:
    for stake in (GREATEST_SUM + 1, 2**63 - 1, 2**63, 2**64, 10**30):
        refusal = _refused(register, [Placed(0, "small", 1)], Placed(0, "small", stake))
        assert refusal.reason is BetRefusalReason.BEYOND_GREATEST_SUM
        assert refusal == matrix(NAME).refusal(Bet.on("small", stake))


def test_a_batch_whose_sum_would_overflow_int64_is_refused() -> None:
    each, count = GREATEST_SUM // 2, 5_000
    assert each * count > 2**63
    kept = BetsByArea(multiples(NAME), players=1, compiled=False)
    row = matrix(NAME).row("small")
    with pytest.raises(
        BetRefusedError, match=f"total staked of at most 2\\^53 - 1 on every outcome, got {each * count}"
    ):
        kept.extend(np.zeros(count, dtype=int), np.full(count, row), np.full(count, each))
    assert len(kept) == 0


@given(data=st.data())
@examples(60)
def test_near_the_limit_the_arrays_take_what_the_plain_matrix_settles_on_every_outcome(
    data: st.DataObject,
) -> None:
    areas = st.sampled_from(["small", "big", "even", "odd", "any-triple", "total-4", "single-1"])
    stakes = st.integers(1, 4).map(lambda parts: GREATEST_SUM * parts // 16)
    nudges = st.integers(-3, 3)
    mix = [
        Placed(0, data.draw(areas), data.draw(stakes) + data.draw(nudges))
        for _ in range(data.draw(st.integers(1, 6)))
    ]
    settled = [
        matrix(NAME).settle(outcome, [Bet.on(bet.area, bet.stake) for bet in mix]) for outcome in OUTCOMES
    ]
    plain_takes = not any(isinstance(one, BetRefusal) for one in settled)
    for build in (one_by_one, at_once):
        try:
            kept = build(NAME, mix)
        except BetRefusedError:
            assert not plain_takes
        else:
            assert plain_takes
            assert disagreements(kept, mix) == []


def test_sabotage_a_limit_one_too_high_is_seen() -> None:
    with patch.object(entry, "GREATEST_SUM", GREATEST_SUM + 2), pytest.raises(pytest.fail.Exception):
        test_total_returns_of_the_greatest_sum_are_taken_and_one_more_refused(extend)


def test_sabotage_a_sum_in_floating_point_is_seen() -> None:
    def inexact(numbers: np.ndarray[tuple[int], np.dtype[np.int64]]) -> int:
        return int(numbers.astype(np.float32).sum())

    with patch.object(bets_module, "exact_sum", inexact), pytest.raises(AssertionError):
        _taken(extend, [Placed(0, "small", 2**30 + 1)])
    assert entry.exact_sum(np.array([2**62, 2**62, 2**62])) == 3 * 2**62


REFUSED = [
    Placed(0, "double-single-112", 100),
    Placed(0, "nowhere", 0),
    Placed(0, "small", 0),
    Placed(0, "small", -5),
    Placed(0, "total-8", 1),
    Placed(0, "total-8", GREATEST_SUM + 1),
    Placed(0, "small", 1.0),  # type: ignore[arg-type]
    Placed(0, "small", 99.5),  # type: ignore[arg-type]
    Placed(0, "small", stake=True),
    Placed(0, "small", "100"),  # type: ignore[arg-type]
    Placed(0, "small", None),  # type: ignore[arg-type]
]


@pytest.mark.parametrize("bet", REFUSED, ids=str)
def test_what_the_plain_matrix_refuses_is_refused_for_the_same_reason(bet: Placed) -> None:
    kept = BetsByArea(multiples(HALVES), players=PLAYERS, compiled=False)
    with pytest.raises(BetRefusedError) as refused:
        kept.add(*bet)
    plain = matrix(HALVES).refusal(Bet.on(bet.area, bet.stake))
    assert refused.value.refusal == plain
    assert str(refused.value) == str(plain)
    assert len(kept) == 0
    if bet.area in matrix(HALVES).areas:
        with pytest.raises(BetRefusedError) as refused:
            kept.extend([0], [matrix(HALVES).row(bet.area)], [bet.stake])
        assert refused.value.refusal == plain
        assert str(refused.value).endswith("bet 0 of the batch, counted from 0")


def test_of_several_refusals_the_lowest_rank_is_shown_and_of_equals_the_earliest() -> None:
    kept = BetsByArea(multiples(HALVES), players=PLAYERS, compiled=False)
    small, eight, nowhere = (
        matrix(HALVES).row("small"),
        matrix(HALVES).row("total-8"),
        len(matrix(HALVES).areas),
    )
    for rows, stakes, reason, place in [
        ([small, eight, small], [1, 3, 0], BetRefusalReason.STAKE_NOT_POSITIVE, 2),
        ([eight, eight, small], [2, 3, 5], BetRefusalReason.WINNINGS_NOT_WHOLE, 1),
        ([eight, eight, eight], [2, 3, 5], BetRefusalReason.WINNINGS_NOT_WHOLE, 1),
        ([eight, small, eight], [3, 2**60, 5], BetRefusalReason.BEYOND_GREATEST_SUM, 1),
        ([eight, small, nowhere], [3, 0, 5], BetRefusalReason.NOT_ON_LAYOUT, 2),
        ([small, -1, small], [3, 2, 5], BetRefusalReason.NOT_ON_LAYOUT, 1),
        ([small, small, nowhere], [3, 2, 5], BetRefusalReason.NOT_ON_LAYOUT, 2),
    ]:
        with pytest.raises(BetRefusedError, match=f"bet {place} of the batch") as refused:
            kept.extend([0, 0, 0], rows, stakes)
        assert refused.value.refusal.reason is reason
        assert len(kept) == 0


def test_whole_numbers_of_any_width_are_taken() -> None:
    row = matrix(NAME).row("small")
    for dtype in (np.int8, np.uint8, np.int32, np.uint64):
        kept = BetsByArea(multiples(NAME), players=PLAYERS, compiled=False)
        kept.extend(np.array([1], dtype), np.array([row], dtype), np.array([100], dtype))
        assert disagreements(kept, [Placed(1, "small", 100)]) == []


def test_a_player_without_a_seat_is_refused() -> None:
    kept = BetsByArea(multiples(NAME), players=PLAYERS, compiled=False)
    for player in (-1, PLAYERS, True, 1.0, None):
        with pytest.raises(BulkError, match="expected a player from 0 to 6"):
            kept.add(player, "small", 100)  # type: ignore[arg-type]
    for player in (-1, PLAYERS):
        with pytest.raises(BulkError, match=f"expected players from 0 to 6, got {player}"):
            kept.extend([0, player], [0, 0], [100, 100])
    with pytest.raises(BulkError, match="expected players as whole numbers, got an array of float64"):
        kept.extend([0.5], [0], [100])  # type: ignore[list-item]
    kept.add(PLAYERS - 1, "small", 100)
    assert len(kept) == 1


def test_arrays_of_unequal_length_are_refused() -> None:
    kept = BetsByArea(multiples(NAME), players=PLAYERS, compiled=False)
    for players, rows, stakes in [
        ([0, 1], [0], [100]),
        ([0], [0, 0], [100]),
        ([0], [0], [100, 100]),
        ([], [0], [1]),
    ]:
        with pytest.raises(BulkError, match="one-dimensional arrays of equal length"):
            kept.extend(players, rows, stakes)
    with pytest.raises(BulkError, match="one-dimensional arrays of equal length"):
        kept.extend(np.zeros((1, 1), int), np.zeros((1, 1), int), np.ones((1, 1), int))
    assert len(kept) == 0


def test_the_number_of_players_has_a_limit() -> None:
    assert BetsByArea(multiples(NAME), players=MOST_PLAYERS).players == MOST_PLAYERS
    for players in (MOST_PLAYERS + 1, 0, -1, 1.0):
        with pytest.raises(BulkError, match=f"expected 1 to {MOST_PLAYERS} players"):
            BetsByArea(multiples(NAME), players=players)  # type: ignore[arg-type]


def test_the_number_of_bets_has_a_limit() -> None:
    kept = BetsByArea(multiples(NAME), players=PLAYERS, compiled=False)
    many = np.broadcast_to(np.int64(1), MOST_BETS + 1)  # takes no memory
    with pytest.raises(BulkError, match=f"expected at most {MOST_BETS} bets, got {MOST_BETS + 1}"):
        kept.extend(many, many, many)
    with patch.object(bets_module, "MOST_BETS", 3):
        extend(kept, [Placed(0, "small", 1)] * 3)
        for register in (_singly, extend):
            with pytest.raises(BulkError, match="expected at most 3 bets, got 4"):
                register(kept, [Placed(0, "small", 1)])
    assert len(kept) == 3


def test_odds_whose_denominator_outgrows_int64_settle_all_the_same() -> None:
    offers = {"small": "999984 to 999983", "big": "999962 to 999961", "single-1": "999960 to 999959"}
    odd = ReturnMultiples.of(
        rulebook("us-sic-bo").matrix("A", offered={**offers, "single-2": "999954 to 999953"})
    )
    assert odd.matrix.denominator > 2**63
    kept = BetsByArea(odd, players=1, compiled=False)
    with plain_up_to(0):
        mix = [Placed(0, "big", 999_961), Placed(0, "small", 5 * 999_983)]
        extend(kept, mix)
        assert kept.house(Outcome.of(6, 5, 4)).returned == 999_961 + 999_962
        assert disagreements(kept, mix) == []


def test_an_area_whose_multiple_outgrows_int64_takes_no_bet(tmp_path: Path) -> None:
    text = (SRC / "rules" / "books" / "us-sic-bo.toml").read_text("utf-8")
    for usual, odd_odds in (("2 to 1", "999999.001 to 999983"), ("3 to 1", "999998 to 999979")):
        assert f'odds = "{usual}"' in text
        text = text.replace(f'odds = "{usual}"', f'odds = "{odd_odds}"')
    own = tmp_path / "own.toml"
    own.write_text(text, "utf-8")
    odd = ReturnMultiples.of(rulebook(str(own)).matrix("A", offered={"single-1": "999962 to 999961"}))
    row = odd.matrix.row("single-1")
    assert odd.greatest[row] > 2**63
    assert odd.most[row] == 0
    kept = BetsByArea(odd, players=1, compiled=False)
    step = odd.steps[row]
    for stake, reason in (
        (1, BetRefusalReason.WINNINGS_NOT_WHOLE),
        (step, BetRefusalReason.BEYOND_GREATEST_SUM),
    ):
        for register in (_singly, extend):
            with pytest.raises(BetRefusedError) as refused:
                register(kept, [Placed(0, "single-1", stake)])
            assert refused.value.refusal.reason is reason
    kept.add(0, "big", 100)
    assert kept.house(Outcome.of(6, 5, 4)).returned == 200

"""Observed against exact: sums by hand, and the law of many simulated evenings."""

from fractions import Fraction
from itertools import product
from random import Random

import pytest

from taisai.rules import Bet, BetRecord, BetState, Outcome, RulesError, Settlement, rulebook
from taisai.study.journal import Observed, PlayedRound, observed

BOOK = rulebook("rws-sic-bo-etg-v8")
MATRIX = BOOK.matrix("A")
PAY_TABLES = {MATRIX.digest: (MATRIX, BOOK.chance())}
ROLLS = [Outcome.of(*faces) for faces in product(range(1, 7), repeat=3)]


def played(number: int, outcome: Outcome, *stakes: dict[str, int], table: str = "SB1") -> PlayedRound:
    settled = MATRIX.settle(outcome, [Bet.on(*bet) for some in stakes for bet in some.items()])
    assert isinstance(settled, Settlement)
    return PlayedRound(table, number, outcome, [(MATRIX.digest, bet) for bet in settled.bets])


def lost(pay_table: str, area: str) -> PlayedRound:
    """A round of one bet that lost."""
    record = BetRecord(Bet.on(area, 10), BetState.LOST)
    return PlayedRound("SB1", 7, ROLLS[0], [(pay_table, record)])


def evening(seed: int, rounds: int) -> Observed:
    drawn = Random(seed)
    bets: list[PlayedRound] = []
    for number in range(1, rounds + 1):
        stakes = {
            area: 10 * drawn.randint(1, 9)
            for area in drawn.sample(["small", "big", "total-9", "single-3"], 2)
        }
        bets.append(played(number, drawn.choice(ROLLS), stakes))
    return observed(bets, PAY_TABLES)


def test_sums_means_and_variances_of_three_rounds_by_hand() -> None:
    bets = [
        played(1, Outcome.of(1, 2, 3), {"small": 100, "total-9": 10}),
        played(2, Outcome.of(6, 6, 6), {"small": 50}),
        played(2, Outcome.of(6, 6, 6), {"small": 25}, table="SB2"),
    ]
    found = observed(bets, PAY_TABLES, "test")
    small, nine = found.areas
    assert (small.area, small.rounds, small.bets, small.staked, small.returned) == ("small", 3, 3, 175, 200)
    assert (nine.staked, nine.returned, nine.exact_edge) == (10, 0, Fraction(2, 27))
    assert small.exact_edge == Fraction(1, 36)
    one = 1 - Fraction(1, 36) ** 2  # the variance of one unit at even money
    assert small.variance == one * (100**2 + 50**2 + 25**2)
    nets = [
        100 * MATRIX.net("small", roll) + 10 * MATRIX.net("total-9", roll) for roll in ROLLS
    ]  # both hang on the same dice
    mean = sum(nets) / 216
    first = sum((net - mean) ** 2 for net in nets) / 216
    assert found.variance == first + one * (50**2 + 25**2)
    assert found.expected == 175 * Fraction(1, 36) + 10 * Fraction(2, 27)
    assert [(dice.table, dice.rounds) for dice in found.dice] == [("SB1", 2), ("SB2", 1)]


def test_several_bets_of_one_round_on_one_area_win_and_lose_together() -> None:
    outcome = Outcome.of(1, 2, 3)
    apart = observed([played(1, outcome, {"small": 30}, {"small": 70})], PAY_TABLES)
    together = observed([played(1, outcome, {"small": 100})], PAY_TABLES)
    assert apart.areas[0].bets == 2
    assert apart.areas[0].variance == together.areas[0].variance
    assert apart.variance == together.variance


def test_deviations_of_fair_evenings_are_standard() -> None:
    """80 evenings: mean about 0, variance about 1, about one area in a hundred outside its band."""
    found = [evening(seed, 150) for seed in range(80)]
    whole = [one.deviations for one in found]
    assert abs(sum(whole) / 80) < 0.4
    assert 0.6 < sum(x * x for x in whole) / 80 < 1.5
    outside = [area.is_odd for one in found for area in one.areas]
    assert sum(outside) / len(outside) < 0.03


def test_a_table_that_cheats_is_outside_and_so_are_its_dice() -> None:
    drawn = Random(5)
    bets: list[PlayedRound] = []
    for number in range(1, 901):
        outcome = Outcome.of(6, 5, drawn.randint(4, 6)) if number % 3 else drawn.choice(ROLLS)
        bets.append(played(number, outcome, {"small": 100}))
    found = observed(bets, PAY_TABLES)
    assert found.areas[0].is_odd
    assert found.areas[0].deviations > 5
    assert found.dice[0].log_e > 100
    assert "outside" in str(found)
    assert "look at them" in str(found)


def test_what_is_kept_out_by_limits_is_not_in_play() -> None:
    outcome = Outcome.of(1, 2, 3)
    whole, part = Bet.on("big", 70), Bet.on("total-9", 30)
    records = [
        (MATRIX.digest, BetRecord(whole, BetState.KEPT_OUT, 0, 70, kept_out=70)),
        (MATRIX.digest, BetRecord(part, BetState.LOST, 0, 20, kept_out=20)),
    ]
    small = played(1, outcome, {"small": 100})
    found = observed([small._replace(bets=[*small.bets, *records])], PAY_TABLES)
    assert [(area.area, area.staked, area.returned) for area in found.areas] == [
        ("small", 100, 200),
        ("total-9", 10, 0),
    ]


@pytest.mark.parametrize(
    ("round_", "message"),
    [
        (lost("sha256:no", "small"), "unknown pay table sha256:no"),
        (lost(MATRIX.digest, "tiny"), r"unknown area 'tiny' on layout A \(table SB1, round 7\)"),
    ],
)
def test_what_is_unknown_is_refused_with_its_place(round_: PlayedRound, message: str) -> None:
    with pytest.raises(RulesError, match=message):
        observed([round_], PAY_TABLES)


def test_no_bets_are_no_study() -> None:
    with pytest.raises(RulesError, match="expected at least 1 settled bet, got 0"):
        observed([], PAY_TABLES)

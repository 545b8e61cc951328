"""Laws and mixes, against a count over all 216 rolls that shares no code with them."""

from fractions import Fraction
from itertools import product

import pytest

from taisai.rules import Outcome, RulesError, Settlement, rulebook
from taisai.rules.settlement import Bet
from taisai.study.odds import Distribution, Mix

BOOK = rulebook("rws-sic-bo-etg-v8")
ROLLS = [Outcome.of(*faces) for faces in product(range(1, 7), repeat=3)]


def test_a_mix_brings_on_each_roll_what_its_bets_are_settled_for() -> None:
    matrix = BOOK.matrix("A")
    bets = [Bet.on("small", 100), Bet.on("total-8", 20), Bet.on("single-3", 50), Bet.on("small", 10)]
    law = Mix.of(matrix, bets).distribution(BOOK.chance())
    counted: dict[int, int] = {}
    for outcome in ROLLS:
        settled = matrix.settle(outcome, bets)
        assert isinstance(settled, Settlement)
        net = sum(int(one.returned) - int(one.stake) for one in settled.bets)
        counted[net] = counted.get(net, 0) + 1
    assert dict(zip(law.values, law.weights, strict=True)) == counted
    assert law.total == 216


def test_a_law_has_the_moments_of_its_values_one_by_one() -> None:
    law = Distribution.of([(5, 2), (-3, 1), (5, 1), (0, 4), (7, 0)])
    drawn = [Fraction(x) for x in (5, 5, 5, -3, 0, 0, 0, 0)]
    mean = sum(drawn) / 8
    assert law.values == (-3, 0, 5)
    assert law.mean == mean
    assert law.variance == sum((x - mean) ** 2 for x in drawn) / 8
    third = float(sum((x - mean) ** 3 for x in drawn) / 8)
    assert law.skew == pytest.approx(third / float(law.variance) ** 1.5)
    assert law.probability(at_least=0, at_most=4) == Fraction(1, 2)


@pytest.mark.parametrize(("share", "value"), [("1/8", -3), ("1/7", 0), ("5/8", 0), ("626/1000", 5), ("1", 5)])
def test_a_quantile_is_the_least_value_that_reaches_the_share(share: str, value: int) -> None:
    assert Distribution.of([(5, 3), (-3, 1), (0, 4)]).quantile(Fraction(share)) == value


@pytest.mark.parametrize("share", [Fraction(0), Fraction(9, 8), Fraction(-1, 2)])
def test_a_quantile_of_no_share_is_refused(share: Fraction) -> None:
    with pytest.raises(RulesError, match="expected a probability above 0 and at most 1"):
        Distribution.of([(1, 1)]).quantile(share)


def test_what_nothing_can_come_of_is_no_law() -> None:
    with pytest.raises(RulesError, match="at least 1 value"):
        Distribution.of([(1, 0)])
    with pytest.raises(RulesError, match="expected a weight of 0 or more, got -1 for 3"):
        Distribution.of([(3, -1)])


@pytest.mark.parametrize(
    ("bets", "message"),
    [
        ({}, "expected at least 1 bet"),
        ({"small": 100, "tiny": 5}, r"tiny.*bet 2 of 2"),
        ({"small": 0}, "bet 1 of 1"),
        ({"total-8": 1}, "winnings-not-whole"),
    ],
)
def test_a_bet_that_cannot_be_taken_makes_no_mix(bets: dict[str, int], message: str) -> None:
    with pytest.raises(RulesError, match=message):
        Mix.of(BOOK.matrix("A"), bets)

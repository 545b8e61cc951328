"""Why the alarm can be trusted: under fair dice the e-value has mean 1, exactly, whatever has been rolled."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations_with_replacement

import pytest

from taisai.rules.outcomes import OUTCOMES, Outcome
from taisai.study.dice.watch import WATCHED, Component, Mixture, Spread, Tilt, exact_e

ONE = Fraction(1)
HISTORIES: dict[str, list[Outcome]] = {
    "nothing yet": [],
    "one round": [Outcome.of(1, 2, 6)],
    "sixes all the time": [Outcome.of(6, 6, 6)] * 25,
    "each outcome once": list(OUTCOMES),
    "hundreds of rounds": [OUTCOMES[(k * k + 3 * k) % 56] for k in range(200)],
}


def after(parts: Sequence[Component], rolled: Sequence[Outcome]) -> Fraction:
    """The e-value of these parts after these rounds."""
    faces = [sum(outcome.faces.count(face) for outcome in rolled) for face in range(1, 7)]
    counts = [0] * len(OUTCOMES)
    for outcome in rolled:
        counts[outcome.index] += 1
    return exact_e(parts, faces, counts)


def mean_of_next(parts: Sequence[Component], rolled: Sequence[Outcome]) -> Fraction:
    """The mean of the e-value after one more round of fair dice."""
    return sum((Fraction(o.ways, 216) * after(parts, [*rolled, o]) for o in OUTCOMES), start=Fraction(0))


def test_the_unit_is_one_before_the_first_round() -> None:
    assert after(WATCHED.parts, []) == 1


def test_after_one_round_the_mean_is_one() -> None:
    assert mean_of_next(WATCHED.parts, []) == 1


def test_after_two_rounds_the_mean_is_one() -> None:
    """All 216 × 216 pairs of rolls, by their outcomes."""
    by_outcome = [part for part in WATCHED.parts if isinstance(part, Spread) and part.of_outcomes]
    by_face = [part for part in WATCHED.parts if part not in by_outcome]
    known: dict[tuple[int, ...], Fraction] = {}  # many pairs show the same six faces
    total = Fraction(0)
    for first, second in combinations_with_replacement(OUTCOMES, 2):
        ways = first.ways * second.ways * (1 if first is second else 2)
        shown = tuple(sorted(first.faces + second.faces))
        if shown not in known:
            known[shown] = after(by_face, [first, second])
        total += Fraction(ways, 216**2) * (known[shown] + after(by_outcome, [first, second]))
    assert total == 1


@pytest.mark.parametrize("history", HISTORIES)
def test_the_next_round_of_fair_dice_is_a_fair_bet(history: str) -> None:
    """This, at every history, is the martingale that Ville's inequality needs."""
    rolled = HISTORIES[history]
    assert mean_of_next(WATCHED.parts, rolled) == after(WATCHED.parts, rolled)


def test_each_part_alone_is_fair_too() -> None:
    rolled = [Outcome.of(1, 1, 4), Outcome.of(2, 5, 6)]
    for part in WATCHED.parts:
        assert mean_of_next([part], rolled) == after([part], rolled), part


def test_no_value_is_below_zero_and_none_is_out_of_reach() -> None:
    for part in WATCHED.parts:
        assert part.weight > 0
        assert min(part.ratios if isinstance(part, Tilt) else part.chances) > 0, part


def test_faces_are_treated_alike() -> None:
    """Turning every die upside down, face for face, changes nothing; the watch has no favourite."""
    rolled = HISTORIES["hundreds of rounds"][:30]
    turned = [Outcome.of(*(7 - face for face in outcome.faces)) for outcome in rolled]
    assert after(WATCHED.parts, rolled) == after(WATCHED.parts, turned)


def test_sabotage_weights_of_more_than_one_are_no_longer_fair() -> None:
    first, *rest = WATCHED.parts
    heavier = [first._replace(weight=2 * first.weight), *rest]
    assert mean_of_next(heavier, []) > 1
    with pytest.raises(ValueError, match="expected positive weights that sum to 1, got a sum of 109/108"):
        Mixture(heavier)


def test_sabotage_a_tilt_that_wins_more_than_fair_odds_give_is_seen() -> None:
    first, *rest = WATCHED.parts
    assert isinstance(first, Tilt)
    richer: list[Component] = [first._replace(ratios=(*first.ratios[:5], first.ratios[5] * 2)), *rest]
    assert mean_of_next(richer, []) > 1
    with pytest.raises(ValueError, match="expected six ratios with a mean of 1"):
        Mixture(richer)


def test_sabotage_a_spread_about_dice_that_are_not_fair_is_seen() -> None:
    *rest, last = WATCHED.parts
    assert isinstance(last, Spread)
    other: list[Component] = [*rest, last._replace(chances=(Fraction(1, 56),) * 56)]
    rolled = HISTORIES["sixes all the time"]
    assert mean_of_next(other, rolled) != after(other, rolled)
    with pytest.raises(ValueError, match="expected the chances of fair dice"):
        Mixture(other)


@pytest.mark.parametrize("weight", [Fraction(0), Fraction(-1)])
def test_sabotage_a_part_without_weight_is_refused(weight: Fraction) -> None:
    parts = [Tilt(weight, (ONE,) * 6, (1,)), Tilt(1 - weight, (ONE,) * 6, (1,))]
    with pytest.raises(ValueError, match="expected positive weights"):
        Mixture(parts)


def test_sabotage_the_best_part_instead_of_their_sum_is_not_fair() -> None:
    """Looking for what fits best and betting afterwards is how one fools oneself."""
    best = sum(
        Fraction(o.ways, 216) * max(after([part], [o]) / part.weight for part in WATCHED.parts)
        for o in OUTCOMES
    )
    assert best > 1

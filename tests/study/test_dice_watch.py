"""The dice watch in use: what it takes, tells, keeps and refuses."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from fractions import Fraction
from math import inf, log
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from taisai.rules.errors import RulesError
from taisai.study.dice import watch
from taisai.study.dice.watch import WATCHED, DiceWatch
from tests.study.dice_trials import FAIR, SIXES, faces_of, fair_rolls, law, loaded_rolls, sticking

Faces = tuple[int, ...]

RNG = np.random.default_rng(7)
FAIR_ROUNDS = faces_of(fair_rolls(RNG, 1_500))
LOADED_ROUNDS = faces_of(loaded_rolls(RNG, 1_500, law(SIXES, SIXES, SIXES)))
rounds = st.lists(st.tuples(*[st.integers(1, 6)] * 3), max_size=30)


def told(watch: DiceWatch) -> tuple[object, ...]:
    return watch.state(), watch.log_e, watch.counts, watch.results, watch.suspect, watch.finding


def through_json(watch: DiceWatch) -> DiceWatch:
    return DiceWatch.restored(json.loads(json.dumps(watch.state())))


def test_a_new_watch_has_nothing_to_tell() -> None:
    watch = DiceWatch()
    assert (watch.results, watch.counts, watch.log_e, watch.e_value) == (0, (0,) * 6, 0.0, 1.0)
    assert (watch.alarm, watch.alarm_at, watch.suspect, watch.finding) == (
        False,
        None,
        (),
        "nothing stands out",
    )
    assert watch.exact_e() == 1


def test_three_die_results_a_round_whatever_their_order() -> None:
    one, other = DiceWatch.of([(1, 1, 6), (2, 3, 5)]), DiceWatch.of([[6, 1, 1], [5, 3, 2]])
    assert one.results == 6
    assert one.counts == (2, 1, 1, 0, 1, 1)
    assert told(one) == told(other)


@settings(max_examples=30)
@given(rounds, st.randoms(use_true_random=False))
def test_the_order_of_rounds_changes_the_path_and_not_the_value(results: list[Faces], random: Any) -> None:
    mixed = results.copy()
    random.shuffle(mixed)
    assert DiceWatch.of(results).log_e == DiceWatch.of(mixed).log_e


@settings(max_examples=30)
@given(rounds)
def test_the_logarithm_is_that_of_the_exact_value(results: list[Faces]) -> None:
    watch = DiceWatch.of(results)
    exact = watch.exact_e()
    assert watch.log_e == pytest.approx(log(exact.numerator) - log(exact.denominator), abs=1e-11)
    assert watch.e_value == pytest.approx(float(exact))


def test_so_it_is_after_many_rounds() -> None:
    watch = DiceWatch.of(LOADED_ROUNDS[:400])
    exact = watch.exact_e()
    assert watch.log_e == pytest.approx(log(exact.numerator) - log(exact.denominator), abs=1e-9)


def test_fair_dice_are_left_in_peace_and_loaded_ones_are_not() -> None:
    fair, loaded = DiceWatch.of(FAIR_ROUNDS), DiceWatch.of(LOADED_ROUNDS)
    assert (fair.alarm, fair.alarm_at) == (False, None)
    assert loaded.alarm
    assert loaded.suspect == (6,)
    assert loaded.finding == "6 too often (19.9%)"


def test_the_alarm_comes_in_the_round_that_reaches_the_level_and_stays() -> None:
    watch = DiceWatch()
    for faces in LOADED_ROUNDS:
        before = watch.alarm
        watch.take(faces)
        assert watch.alarm == (before or watch.log_e >= log(1000))
    at = watch.alarm_at
    assert at is not None
    just, before_that = DiceWatch.of(LOADED_ROUNDS[: at // 3]), DiceWatch.of(LOADED_ROUNDS[: at // 3 - 1])
    assert just.e_value >= 1000 > before_that.e_value
    for faces in FAIR_ROUNDS:
        just.take(faces)
    assert just.log_e < log(1000) <= just.peak
    assert (just.alarm, just.alarm_at) == (True, at)
    assert told(through_json(just)) == told(just)


def test_the_level_is_a_setting() -> None:
    alarms = [
        DiceWatch.of(LOADED_ROUNDS, level).alarm_at or inf for level in ("1/20", 0.001, Fraction(1, 10**6))
    ]
    assert alarms == sorted(set(alarms))
    assert (
        DiceWatch(0.001).level == DiceWatch("1/1000").level == DiceWatch("0.001").level == Fraction(1, 1000)
    )


@pytest.mark.parametrize("level", [0, 1, 2.0, -0.1, float("nan"), inf, "x", "1/0", True])
def test_no_other_level_is_taken(level: float) -> None:
    with pytest.raises(ValueError, match="expected an alarm level between 0 and 1"):
        DiceWatch(level)


@pytest.mark.parametrize("faces", [(), (1, 2), (1, 2, 3, 4), (0, 1, 2), (1, 2, 7), (1, 2, 3.0), (True, 1, 1)])
def test_what_three_dice_cannot_show_is_refused_and_not_counted(faces: Sequence[Any]) -> None:
    watch = DiceWatch.of([(1, 2, 3)])
    before = told(watch)
    with pytest.raises(RulesError, match="expected"):
        watch.take(faces)
    assert told(watch) == before


@pytest.mark.parametrize("cut", [0, 1, 700, 1_500])
def test_a_restart_changes_nothing(cut: int) -> None:
    watch = through_json(DiceWatch.of(LOADED_ROUNDS[:cut], "1/500"))
    for faces in LOADED_ROUNDS[cut:]:
        watch.take(faces)
    assert told(watch) == told(DiceWatch.of(LOADED_ROUNDS, "1/500"))


def test_what_is_kept_is_small() -> None:
    assert len(json.dumps(DiceWatch.of(LOADED_ROUNDS).state())) < 500


def test_after_a_correction_the_watch_is_as_if_the_dice_had_been_read_right() -> None:
    """The results that stand, in order: the right one in place of the wrong one, the void one out."""
    keyed, right, void = (6, 6, 6), (1, 2, 6), 40
    wrong = [*FAIR_ROUNDS[:20], keyed, *FAIR_ROUNDS[21:]]
    stands = [*FAIR_ROUNDS[:20], right, *FAIR_ROUNDS[21:void], *FAIR_ROUNDS[void + 1 :]]
    live = DiceWatch()
    for at, faces in enumerate(FAIR_ROUNDS):
        if at != void:
            live.take(right if at == 20 else faces)
    assert told(DiceWatch.of(stands)) == told(live)
    assert told(DiceWatch.of(wrong)) != told(live)


@pytest.mark.parametrize(
    ("die", "suspect", "finding"),
    [
        ((0.1,) * 5 + (0.5,), (6,), "6 too often"),
        ((0.52 / 3,) * 5 + (0.4 / 3,), (6,), "6 too seldom"),
        ((0.26, 0.12, 0.12, 0.12, 0.12, 0.26), (1, 6), "1 too often, 6 too often"),
        ((1 / 6, 0.1, 1 / 6, 1 / 6, 0.7 / 3, 1 / 6), (5, 2), "5 too often, 2 too seldom"),
        (
            (0.2, 0.19, 1 / 6, 1 / 6, 0.43 / 3, 0.4 / 3),
            (1, 2, 5, 6),
            "1 too often, 2 too often, 5 too seldom, 6 too seldom",
        ),
    ],
)
def test_people_are_shown_what_looks_off(die: Sequence[float], suspect: Faces, finding: str) -> None:
    watch = DiceWatch.of(faces_of(loaded_rolls(np.random.default_rng(5), 3_000, law(die, die, die))))
    assert watch.alarm
    assert watch.suspect == suspect
    assert re.sub(r" \(\d+\.\d%\)", "", watch.finding) == finding
    assert f"({watch.counts[suspect[0] - 1] / watch.results:.1%})" in watch.finding


def test_dice_that_are_fair_each_but_stick_together_are_found_and_no_face_is_blamed() -> None:
    watch = DiceWatch.of(faces_of(loaded_rolls(np.random.default_rng(3), 1_500, sticking(0.4))))
    assert watch.alarm
    assert (watch.suspect, watch.finding) == ((), "the three dice do not fall as three fair dice do")


def test_a_value_beyond_any_float_is_infinite_and_its_logarithm_is_not() -> None:
    state = DiceWatch().state()
    state["outcomes"][-1], state["peak"], state["alarm_at"] = 1_000_000, 1e7, 3
    watch = DiceWatch.restored(state)
    assert watch.e_value == inf
    assert 1e6 < watch.log_e < inf


SOUND = DiceWatch.of(FAIR_ROUNDS[:60]).state()
ALARMED = DiceWatch.of(LOADED_ROUNDS).state()


@pytest.mark.parametrize(
    ("sound", "change", "message"),
    [
        (SOUND, {"mixture": 2}, "expected the state of a monitor of version 1, got 2"),
        (SOUND, {"level": "often"}, "expected an alarm level"),
        (SOUND, {"level": None}, "expected an alarm level"),
        (SOUND, {"outcomes": [0] * 55}, "expected the counts of 56 outcomes"),
        (SOUND, {"outcomes": None}, "expected the counts of 56 outcomes"),
        (SOUND, {"outcomes": [-1] + [0] * 55}, r"expected a count of rounds, got -1 \(outcome 111\)"),
        (SOUND, {"outcomes": [0] * 55 + [True]}, r"expected a count of rounds, got True \(outcome 666\)"),
        (SOUND, {"peak": -1.0}, "expected a peak of at least"),
        (SOUND, {"peak": float("nan")}, "expected a number as the peak, got nan"),
        (SOUND, {"peak": "high"}, "expected a number as the peak, got 'high'"),
        (SOUND, {"peak": True}, "expected a number as the peak, got True"),
        (SOUND, {"alarm_at": 3}, "expected no alarm for a peak of"),
        (ALARMED, {"peak": 0.0}, "expected a peak of at least"),
        (ALARMED, {"alarm_at": None}, "expected an alarm after a whole round within 4500 die results"),
        (ALARMED, {"alarm_at": 0}, "expected an alarm after a whole round within 4500 die results"),
        (ALARMED, {"alarm_at": 31}, "after a whole round"),
        (ALARMED, {"alarm_at": 4_503}, "expected an alarm after a whole round within 4500 die results"),
    ],
)
def test_a_state_that_no_watch_has_left_is_refused(
    sound: dict[str, object], change: dict[str, object], message: str
) -> None:
    assert DiceWatch.restored(sound).state() == sound
    with pytest.raises(ValueError, match=message):
        DiceWatch.restored({**sound, **change})


def test_a_state_with_a_part_missing_is_refused() -> None:
    for part in ("mixture", "level", "outcomes", "peak"):
        with pytest.raises(ValueError, match="expected"):
            DiceWatch.restored({name: value for name, value in SOUND.items() if name != part})


def test_a_rounding_error_of_another_machine_is_no_contradiction(monkeypatch: pytest.MonkeyPatch) -> None:
    at = DiceWatch.of(LOADED_ROUNDS).alarm_at
    assert at is not None
    state = DiceWatch.of(LOADED_ROUNDS[: at // 3]).state()
    sound = WATCHED.log_e
    for error in (-1e-9, 1e-9):

        class Elsewhere:
            log_e = staticmethod(lambda faces, outcomes, error=error: sound(faces, outcomes) + error)

        monkeypatch.setattr(watch, "WATCHED", Elsewhere)
        assert DiceWatch.restored(state).alarm_at == at


def test_fair_rolls_are_what_the_trials_call_fair() -> None:
    assert law(FAIR, FAIR, FAIR) == pytest.approx(sticking(0.0))

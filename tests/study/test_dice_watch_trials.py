"""The dice watch tried out: how seldom fair dice alarm, how soon loaded dice are found.

In `make prove`, two thousand fair dice sets are rolled a million times each.
"""

from __future__ import annotations

import re
from fractions import Fraction
from math import log
from typing import Final

import numpy as np
import pytest

from taisai.rules.outcomes import OUTCOMES
from taisai.study.dice.watch import WATCHED, Component, DiceWatch
from tests.project.tree import ROOT
from tests.study.dice_trials import (
    FAIR,
    MILLION,
    SETS,
    SIXES,
    TRIALS,
    Distribution,
    FalseAlarms,
    Rolls,
    Twin,
    faces_of,
    fair_alarm_rate,
    fair_rolls,
    false_alarms,
    found_after,
    law,
    loaded_rolls,
    sticking,
)
from tests.tiers import LONG, count

PAGE: Final = (ROOT / "docs" / "explanation" / "dice-watch.md").read_text("utf-8")
NEVER_LOOKED: Final = 10  # rounds: before that no statistician would trust a chi-square
CHI_SQUARE: Final = 20.515  # five degrees of freedom, one in a thousand
FACES: Final = np.array([[outcome.faces.count(face) for face in range(1, 7)] for outcome in OUTCOMES])


def peeks(rolls: Rolls) -> bool:
    """Whether a chi-square test for a fixed number of rolls, looked at after each round, ever alarms."""
    counts = FACES[rolls].cumsum(axis=0)
    even = counts.sum(axis=1, keepdims=True) / 6
    return bool((((counts - even) ** 2 / even).sum(axis=1)[NEVER_LOOKED:] >= CHI_SQUARE).any())


@pytest.mark.parametrize(
    ("chances", "rounds"),
    [(law(SIXES, SIXES, SIXES), 3_000), (law((0.1,) * 5 + (0.5,), FAIR, FAIR), 600), (sticking(0.5), 1_000)],
)
def test_the_compiled_twin_alarms_in_the_very_round_of_the_watch(chances: Distribution, rounds: int) -> None:
    for seed in range(3):
        rolls = loaded_rolls(np.random.default_rng(seed), rounds, chances)
        at, e = Twin().alarm(rolls)
        watch = DiceWatch.of(faces_of(rolls[: at // 3]))
        assert at == watch.alarm_at == watch.results
        assert e == pytest.approx(watch.e_value, rel=1e-7)


def test_after_a_million_die_results_they_still_agree() -> None:
    """One multiplies, the other counts: if they ever went apart it would be here."""
    rolls = fair_rolls(np.random.default_rng(2), MILLION)
    at, e = Twin().alarm(rolls)
    assert at == 0
    counts = np.bincount(rolls, minlength=len(OUTCOMES)).tolist()
    watch = DiceWatch.restored({**DiceWatch().state(), "outcomes": counts})
    assert watch.log_e == pytest.approx(log(e), abs=1e-6)


def test_fair_dice_alarm_in_at_most_one_set_of_a_thousand() -> None:
    """At the level of the house over a million die-results, or over thirty thousand while nobody has time."""
    sets, rounds = (count(0, 2_000), MILLION) if LONG else (2_000, 10_000)
    assert false_alarms(Twin(), sets=sets, rounds=rounds).rate <= 0.001


def often(twin: Twin) -> FalseAlarms:
    return false_alarms(twin, sets=2_000, rounds=3_000)


def test_and_at_most_one_in_twenty_where_that_is_the_level() -> None:
    """A level at which a few thousand sets tell sound from unsound."""
    assert 0.02 < often(Twin(level=0.05)).rate <= 0.05


def test_sabotage_weights_that_sum_to_two_alarm_too_often() -> None:
    doubled = [part._replace(weight=2 * part.weight) for part in WATCHED.parts]
    assert often(Twin(doubled, level=0.05)).rate > 0.05


def test_sabotage_a_chi_square_that_peeks_alarms_far_too_often() -> None:
    rng = np.random.default_rng(1)
    alarms = sum(peeks(fair_rolls(rng, 10_000)) for _ in range(300))
    assert alarms / 300 > 0.01


def test_three_dice_with_a_fifth_of_sixes_are_found_by_four_thousand_die_results() -> None:
    found = found_after(law(SIXES, SIXES, SIXES), sets=SETS, rounds=10_000)
    assert found.median <= 4_000


def test_sabotage_a_watch_that_bets_on_the_wrong_faces_is_slower_than_that() -> None:
    """One that keeps nearly all of its unit on face 1."""
    first, *rest = WATCHED.parts
    least = Fraction(1, 10**6)
    poor: list[Component] = [part._replace(weight=part.weight * least) for part in rest]
    poor.insert(0, first._replace(weight=1 - sum((part.weight for part in poor), start=Fraction(0))))
    found = found_after(law(SIXES, SIXES, SIXES), sets=200, rounds=10_000, twin=Twin(poor))
    assert found.median > 4_000


@pytest.mark.parametrize("trial", TRIALS)
def test_the_page_tells_what_is_measured(trial: str) -> None:
    row = re.search(rf"^\| {re.escape(trial)} \|(.*)\|$", PAGE, re.MULTILINE)
    assert row, trial
    told = [int(cell.replace(",", "")) for cell in row[1].split("|")]
    chances, rounds = TRIALS[trial]
    # A tenth of the sets, whatever the machine: near enough to tell a figure from a wish.
    found = found_after(chances, sets=SETS if LONG else SETS // 4, rounds=rounds)
    assert told == pytest.approx(list(found), rel=0.01 if LONG else 0.15)


def test_the_page_tells_the_rate_of_false_alarms() -> None:
    told = re.search(r"\*\*(0\.\d+) %\*\*", PAGE)
    assert told
    rate, error = fair_alarm_rate(sets=count(200, 1_000), rounds=MILLION)
    assert float(told[1]) / 100 == pytest.approx(rate, abs=4 * error)

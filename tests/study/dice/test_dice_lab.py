"""The dice lab: tallies against plain loops, tests against SciPy's, fair and crooked streams told apart."""

import io
from collections import Counter
from collections.abc import Callable
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from taisai.game.dice.draw import BYTE, below
from taisai.rules import OUTCOMES, Outcome, RulesError
from taisai.study.dice import dice_tests, faces_of, mapping_proof, read_rolls, tallied
from taisai.study.dice.lab import LEVEL, holm
from taisai.study.dice.rolls import LAGS, Tally

Rolls = npt.NDArray[np.uint8]

ROLL = st.tuples(*[st.integers(1, 6)] * 3)


def stream(seed: int, rolls: int, chances: list[float] | None = None) -> Rolls:
    drawn = np.random.default_rng(seed).choice(6, size=(rolls, 3), p=chances)
    return (drawn + 1).astype(np.uint8)


@given(st.lists(st.lists(ROLL, max_size=12), max_size=5))
@settings(max_examples=150, deadline=None)
def test_a_tally_of_blocks_is_the_count_of_all_rolls_in_a_row(
    blocks: list[list[tuple[int, int, int]]],
) -> None:
    found = tallied(np.array(block, dtype=np.uint8).reshape(-1, 3) for block in blocks)
    rolls = [roll for block in blocks for roll in block]
    totals = [sum(roll) for roll in rolls]
    sides = [total > 10 for total in totals]
    assert found.rolls == len(rolls)
    assert found.faces == tuple(sum(roll.count(face) for roll in rolls) for face in range(1, 7))
    assert found.by_die(1) == tuple([roll[1] for roll in rolls].count(face) for face in range(1, 7))
    counted = Counter(Outcome.of(*roll).index for roll in rolls)
    assert found.outcomes == tuple(counted[outcome.index] for outcome in OUTCOMES)
    assert found.above == sum(sides)
    assert found.runs == (1 + sum(a != b for a, b in pairwise(sides)) if sides else 0)
    for lag, product in zip(LAGS, found.products, strict=True):
        ahead = zip(totals, totals[lag:], strict=False)
        assert product == sum((2 * a - 21) * (2 * b - 21) for a, b in ahead)
    assert found.is_sorted == all(list(roll) == sorted(roll) for roll in rolls)


def test_chi_squares_are_scipys() -> None:
    tally = tallied([stream(1, 5000)])
    tests = {test.name: test for test in dice_tests(tally, "test").tests}
    theirs = stats.chisquare(tally.faces)
    assert (tests["faces"].statistic, tests["faces"].p) == pytest.approx((theirs.statistic, theirs.pvalue))
    theirs = stats.chisquare(tally.outcomes, [5000 * outcome.ways / 216 for outcome in OUTCOMES])
    ours = tests["56 combinations"]
    assert (ours.statistic, ours.p) == pytest.approx((theirs.statistic, theirs.pvalue))


def test_p_values_of_fair_dice_are_uniform_test_by_test() -> None:
    """400 streams: each test's p-values against the uniform law, and hardly one stream called unfair."""
    found = [dice_tests(tallied([stream(seed, 2000)]), "test") for seed in range(400)]
    for place, test in enumerate(found[0].tests):
        ps = [one.tests[place].p for one in found]
        assert stats.kstest(ps, "uniform").pvalue > 1e-4, test.name
    assert sum(not one.is_fair for one in found) <= 10  # 4 expected at most


def heavy(rolls: Rolls) -> Rolls:
    rolls[::9, 0] = 6
    return rolls


def sorted_by_total(rolls: Rolls) -> Rolls:
    return rolls[np.argsort(rolls.sum(axis=1), kind="stable")]


def every_fourth_repeats_the_one_three_before(rolls: Rolls) -> Rolls:
    rolls[3::4] = rolls[0:-3:4]
    return rolls


def second_die_follows_the_first(rolls: Rolls) -> Rolls:
    rolls[::5, 1] = rolls[::5, 0]
    return rolls


def one_die_has_lost_its_six_to_another(rolls: Rolls) -> Rolls:
    swapped = (rolls[:, 0] == 6) & (rolls[:, 1] != 6)
    rolls[swapped] = rolls[swapped][:, [1, 0, 2]]
    return rolls


@pytest.mark.parametrize(
    ("bend", "name"),
    [
        (heavy, "faces"),
        (sorted_by_total, "runs of totals, high and low"),
        (every_fourth_repeats_the_one_three_before, "serial correlation, lag 3"),
        (second_die_follows_the_first, "ordered triples"),
        (second_die_follows_the_first, "56 combinations"),
        (one_die_has_lost_its_six_to_another, "faces of the second die"),
    ],
)
def test_what_is_crooked_is_found_by_the_test_for_it(bend: Callable[[Rolls], Rolls], name: str) -> None:
    assert dice_tests(tallied([stream(7, 6000)]), "test").is_fair
    found = dice_tests(tallied([bend(stream(7, 6000))]), "test")
    assert name in {test.name for test in found.tests if test.corrected < LEVEL}
    assert not found.is_fair


def test_independent_dice_with_a_bias_do_not_look_dependent() -> None:
    weights = [1 / 7] * 5 + [2 / 7]
    rolls = np.random.default_rng(5).choice(np.arange(1, 7, dtype=np.uint8), (20_000, 3), p=weights)
    found = {test.name: test for test in dice_tests(tallied([rolls]), "test").tests}
    assert found["faces"].corrected < 1e-9
    for name, test in found.items():
        if name.startswith(("runs", "serial")):
            assert test.p > 1e-3, name


def test_serial_correlation_is_about_the_rolls_own_mean() -> None:
    rolls = stream(11, 3_000)
    totals = rolls.sum(axis=1).astype(float)
    off = totals - totals.mean()
    found = {
        test.name: test.statistic for test in dice_tests(tallied(np.array_split(rolls, 7)), "test").tests
    }
    for lag in range(1, 6):
        direct = (off[lag:] * off[:-lag]).sum() / totals.var() / np.sqrt(3_000 - lag)
        assert found[f"serial correlation, lag {lag}"] == pytest.approx(direct)
    high = int((totals > 10).sum())
    runs = 1 + int(np.count_nonzero((totals[1:] > 10) != (totals[:-1] > 10)))
    mean = 2 * high * (3_000 - high) / 3_000 + 1
    spread = np.sqrt((mean - 1) * (mean - 2) / 2_999)
    assert found["runs of totals, high and low"] == pytest.approx((runs - mean) / spread)


def test_rolls_without_an_order_are_not_tested_for_one() -> None:
    found = dice_tests(tallied([np.sort(stream(3, 5000), axis=1)]), "test")
    assert found.is_fair
    assert "ordered triples" not in {test.name for test in found.tests}
    assert "ascending" in found.left_out[0]


def test_too_few_rolls_are_said_to_be_too_few() -> None:
    with pytest.raises(RulesError, match="expected at least 20 rolls to test, got 19"):
        dice_tests(tallied([stream(1, 19)]), "test")
    found = dice_tests(tallied([stream(1, 200)]), "test")
    assert any(line.startswith("56 combinations: too few rolls") for line in found.left_out)


def test_holm_against_its_definition() -> None:
    ps = [0.001, 0.2, 0.013, 0.9, 0.04]
    ordered = sorted(ps)
    for p, corrected in zip(ps, holm(ps), strict=True):
        upto = ordered[: ordered.index(p) + 1]
        assert corrected == pytest.approx(min(1, max((5 - i) * q for i, q in enumerate(upto))))


# Reading


@pytest.mark.parametrize(
    "text", ["2 3 5\n6 6 6\n", "235\r\n666", "2,3,5\n\n# a note\n6;6;6\n", "2-3-5\n6\t6\t6\n\n"]
)
def test_rolls_are_read_whatever_stands_between(text: str) -> None:
    blocks = list(read_rolls(io.BytesIO(text.encode()), "rolls.txt"))
    assert np.concatenate(blocks).tolist() == [[2, 3, 5], [6, 6, 6]]


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("2 3 5\n2 3 7\n", "got '2 3 7' (rolls.txt, line 2)"),
        ("2 3\n", "got '2 3' (rolls.txt, line 1)"),
        ("\n\n2 3 5 1\n", "line 3"),
        ("x" * 500, "line 1"),
        ("2 3 5\n\x00\n", "line 2"),
        ("12\n34561\n", "got '12' (rolls.txt, line 1)"),
    ],
)
def test_what_is_no_roll_is_refused_with_its_line(text: str, where: str) -> None:
    with pytest.raises(RulesError) as refused:
        list(read_rolls(io.BytesIO(text.encode()), "rolls.txt"))
    assert where in str(refused.value)


def test_a_long_file_is_read_in_blocks_that_lose_no_roll(monkeypatch: pytest.MonkeyPatch) -> None:
    from taisai.study.dice import rolls as reading

    monkeypatch.setattr(reading, "AT_ONCE", 37)
    rolls = stream(5, 300)
    text = "\n".join(" ".join(map(str, roll)) for roll in rolls.tolist())
    assert np.array_equal(np.concatenate(list(read_rolls(io.BytesIO(text.encode()), "f"))), rolls)
    with pytest.raises(RulesError, match="line 301"):
        list(read_rolls(io.BytesIO(f"{text}\n9 9 9".encode()), "f"))


# The mapping of the shaker


def test_the_shakers_mapping_is_unbiased_by_enumeration() -> None:
    def face_of(byte: int) -> int | None:
        try:
            return 1 + below(6, iter([byte]), span=BYTE)
        except StopIteration:
            return None

    proof = mapping_proof(face_of)
    assert proof.is_unbiased
    assert (proof.faces, proof.left_out) == ((42,) * 6, 4)


def test_the_lab_maps_bytes_as_the_shaker_does_every_one_of_them() -> None:
    every = np.arange(256, dtype=np.uint8)
    numbers = iter(range(256))
    by_shaker = [1 + below(6, numbers, span=BYTE) for _ in range(252)]
    assert faces_of(every).tolist() == by_shaker


def test_a_mapping_by_remainder_alone_is_found_out() -> None:
    assert not mapping_proof(lambda byte: byte % 6 + 1).is_unbiased
    assert "biased" in str(mapping_proof(lambda byte: byte % 6 + 1))


def test_an_empty_tally_adds_nothing() -> None:
    some = tallied([stream(2, 50)])
    assert Tally() + some == some == some + Tally()

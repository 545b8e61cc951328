"""Odds of compositions: against every set of three cards, and the two kernels against each other."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from taisai.rules import RulesError, rulebook
from taisai.study.odds import area_odds
from taisai.study.shoe import odds
from taisai.study.shoe.composition import after_seeing, chance_left, composition_odds, full_shoe
from taisai.study.shoe.odds import EXACT_DOUBLE, ManyOdds, most_cards, odds_of_many, plan
from tests.study.shoe import brute

BOTH = pytest.mark.parametrize("compiled", [False, True], ids=["NumPy", "numba"])
MATRIX = brute.MATRIX
FELT = rulebook("rws-sic-bo-etg-v8").matrix("C")  # dice areas, several odds an area, half odds
counts = st.tuples(*[st.integers(0, 4)] * 6).filter(lambda left: 3 <= sum(left) <= 12)


@given(counts)
@settings(max_examples=25, deadline=None)
def test_one_composition_is_what_all_deals_make_it(left: tuple[int, ...]) -> None:
    found = area_odds(MATRIX, chance_left(left))
    assert tuple(odds.house_edge for odds in found) == brute.edges(MATRIX, left)


@BOTH
@pytest.mark.parametrize("matrix", [MATRIX, FELT], ids=["cards", "felt"])
@given(
    st.lists(st.tuples(*[st.integers(0, 60)] * 6).filter(lambda left: sum(left) > 2), min_size=1, max_size=9)
)
@settings(max_examples=25, deadline=None)
def test_many_are_what_each_is(matrix: object, compiled: bool, lefts: list[tuple[int, ...]]) -> None:  # noqa: FBT001
    assert matrix is MATRIX or matrix is FELT
    used = MATRIX if matrix is MATRIX else FELT
    many = odds_of_many(used, np.array(lefts).T, compiled=compiled)
    for place, left in enumerate(lefts):
        for one in area_odds(used, chance_left(left)):
            assert many.edge(one.id, place) == one.house_edge


@pytest.mark.parametrize("greatest", [48, 77, 78, 5_000], ids=str)
def test_both_kernels_give_the_same_digits(greatest: int) -> None:
    left = np.random.default_rng(7).integers(
        1, greatest, (6, 50_001)
    )  # more than one thread, a tile cut short
    left[:, -1] = greatest
    numba, numpy = (odds_of_many(MATRIX, left, compiled=compiled) for compiled in (True, False))
    assert numba.back.dtype == numpy.back.dtype == (np.int32 if greatest < 78 else np.int64)
    assert np.array_equal(numba.back, numpy.back)
    assert np.array_equal(numba.total, numpy.total)
    last = area_odds(MATRIX, chance_left([greatest] * 6))
    assert [numba.edge(one.id, 50_000) for one in last] == [one.house_edge for one in last]


def test_edges_as_floats_are_the_exact_ones_rounded() -> None:
    many = odds_of_many(MATRIX, np.array([[48, 5]] * 6))
    assert many.edges()[0].tolist() == [float(Fraction(1081, 41041)), float(many.edge("small", 1))]


@BOTH
@pytest.mark.parametrize(
    ("left", "says"),
    [
        ([[-1], [5], [5], [5], [5], [5]], "expected 0 to 10000 cards of a face left, got -1"),
        ([[10_001], [5], [5], [5], [5], [5]], "expected 0 to 10000 cards of a face left, got 10001"),
        ([[2**61], [2**61], [2**61], [2**61], [2**61], [2**61]], "expected 0 to 10000 cards of a face left"),
        ([[0], [0], [0], [0], [1], [1]], "expected at least three cards left in every composition, got 2"),
        (
            [[1.0], [1], [1], [1], [1], [1]],
            "expected whole numbers in 6 rows, one for each face, got float64",
        ),
        ([[1], [1]], "expected whole numbers in 6 rows"),
        ([[], [], [], [], [], []], "expected whole numbers in 6 rows"),
    ],
)
def test_what_is_no_composition_is_refused(compiled: bool, left: list[list[float]], says: str) -> None:  # noqa: FBT001
    with pytest.raises(RulesError, match=says):
        odds_of_many(MATRIX, np.array(left), compiled=compiled)


def test_a_limit_on_how_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(odds, "MOST_COMPOSITIONS", 3)
    assert odds_of_many(MATRIX, np.full((6, 3), 2)).back.shape == (19, 3)
    for some in (0, 4):
        with pytest.raises(RulesError, match=f"expected 1 to 3 compositions at once, got {some}"):
            odds_of_many(MATRIX, np.full((6, some), 2))


@BOTH
def test_what_would_not_be_exact_is_refused(monkeypatch: pytest.MonkeyPatch, compiled: bool) -> None:  # noqa: FBT001
    monkeypatch.setattr("taisai.study.shoe.odds.most_cards", lambda *_: 12)
    assert odds_of_many(MATRIX, np.full((6, 1), 2), compiled=compiled).total[0] == 220
    with pytest.raises(
        RulesError, match="expected at most 12 cards left, so that every figure is exact, got 18"
    ):
        odds_of_many(MATRIX, np.full((6, 1), 3), compiled=compiled)


def test_most_cards_is_the_last_exact_one() -> None:
    made = plan(MATRIX)
    most = most_cards(made, EXACT_DOUBLE)
    whole = most * (most - 1) * (most - 2) // 6
    assert (
        whole * made.most_returned <= EXACT_DOUBLE < (most + 1) * most * (most - 1) // 6 * made.most_returned
    )


def test_sabotage_a_wrong_weight_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    made = plan(MATRIX)
    wrong = made.adding.copy()
    wrong[3, 2] += 1
    monkeypatch.setattr("taisai.study.shoe.odds.plan", lambda _: made._replace(adding=wrong))
    many: ManyOdds = odds_of_many(MATRIX, np.array([[5, 4, 3, 2, 1, 6]]).T, compiled=False)
    exact = brute.edges(MATRIX, (5, 4, 3, 2, 1, 6))
    assert [many.edge(area, 0) for area in MATRIX.areas] != list(exact)


def test_the_mirror_of_every_area() -> None:
    mirror = plan(MATRIX).mirror
    assert mirror is not None
    turned = {str(MATRIX.areas[row]): str(MATRIX.areas[other]) for row, other in enumerate(mirror)}
    assert turned["small"] == "big"
    assert turned["odd"] == "even"
    assert turned["any-triple"] == "any-triple"
    assert turned["total-4"] == "total-17"


def test_the_shoe_of_a_book() -> None:
    rule = rulebook("mbs-3-card-sic-bo").chance_rule
    assert full_shoe(rule) == (48,) * 6
    assert full_shoe(rule, 2) == (16,) * 6
    with pytest.raises(RulesError, match=r"expected 2 to 6 decks \(2.1\), got 7"):
        full_shoe(rule, 7)
    with pytest.raises(RulesError, match="expected a rulebook with cards"):
        full_shoe(rulebook("us-sic-bo").chance_rule)
    assert after_seeing((2,) * 6, (1, 1, 6)) == (0, 2, 2, 2, 2, 1)
    with pytest.raises(RulesError, match="expected at most 2 cards of face 1 seen, got 3"):
        after_seeing((2,) * 6, (1, 1, 1))
    with pytest.raises(RulesError, match="expected cards of face 1 to 6 seen, got 7"):
        after_seeing((2,) * 6, (7,))


def test_a_composition_tells_itself() -> None:
    told = composition_odds(MATRIX, (14, 16, 16, 16, 16, 12), (16,) * 6)
    assert "The player has an advantage on small: 2.125%." in str(told)
    assert "No bet has a positive expected value" in str(composition_odds(MATRIX, (48,) * 6))
    assert told.facts()["areas"][0]["house_edge"] == str(brute_small(told.left))
    assert "<table " in told._repr_html_()


def brute_small(left: tuple[int, ...]) -> Fraction:
    """The edge of small by counting pairs of cards for each first one."""
    cards = sum(left)
    ways = 0
    for a in range(1, 7):
        for b in range(1, 7):
            for c in range(1, 7):
                if 4 <= a + b + c <= 10 and not a == b == c:
                    now = list(left)
                    times = 1
                    for face in (a, b, c):
                        times *= now[face - 1]
                        now[face - 1] -= 1
                    ways += times
    return 1 - 2 * Fraction(ways, cards * (cards - 1) * (cards - 2))

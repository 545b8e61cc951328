"""Perfect play against every deal of small shoes, by both kernels; and counts by the same oracle."""

from __future__ import annotations

import json
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import taisai
from taisai.rules import RulesError, rulebook
from taisai.study.shoe import counting, perfect
from taisai.study.shoe.composition import rounds_dealt
from taisai.study.shoe.counting import best_threshold, counted
from taisai.study.shoe.exposure import exposure
from taisai.study.shoe.odds import plan
from taisai.study.shoe.perfect import PerfectPlay, perfect_play
from tests.study.shoe import brute
from tests.tiers import LONG

MATRIX = brute.MATRIX
BOTH = pytest.mark.parametrize("compiled", [False, True], ids=["NumPy", "numba"])
SMALL = [(2, 2, 2, 2, 2, 2), (3, 1, 2, 2, 1, 3), (4, 0, 3, 1, 2, 3), (1, 1, 1, 1, 1, 1), (0, 0, 2, 3, 5, 1)]
DATA = Path(__file__).parents[3] / "docs" / "explanation" / "counting-cards.json"


@BOTH
@pytest.mark.parametrize("left", SMALL, ids=str)
def test_perfect_play_is_what_every_deal_makes_it(left: tuple[int, ...], compiled: bool) -> None:  # noqa: FBT001
    found = perfect_play(MATRIX, left, compiled=compiled)
    exact = brute.perfect(MATRIX, left)
    assert len(found.rounds) == len(exact) == sum(left) // 3
    for played, (bet, gain) in zip(found.rounds, exact, strict=True):
        assert abs(played.bet - float(bet)) <= 4 * found.error
        assert abs(played.gain - float(gain)) <= 4 * found.error * max(1, float(gain))


@pytest.mark.parametrize("left", [(8,) * 6, (9, 7, 8, 8, 6, 9)], ids=str)
def test_both_kernels_give_the_same_digits(left: tuple[int, ...]) -> None:
    assert (
        perfect_play(MATRIX, left, compiled=True).rounds == perfect_play(MATRIX, left, compiled=False).rounds
    )


def test_halving_by_the_mirror_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    halved = perfect_play(MATRIX, (6,) * 6)
    made = plan(MATRIX)
    monkeypatch.setattr("taisai.study.shoe.perfect.plan", lambda _: made._replace(mirror=None))
    whole = perfect_play(MATRIX, (6,) * 6)
    for one, other in zip(halved.rounds, whole.rounds, strict=True):
        assert one.bet == pytest.approx(other.bet, rel=1e-12)
        assert one.gain == pytest.approx(other.gain, rel=1e-12)


def test_the_deviation_is_that_of_every_deal() -> None:
    """The second moment over all compositions of the best area's net, counted deal by deal."""
    left = (2, 2, 2, 2, 2, 2)
    found = perfect_play(MATRIX, left, compiled=False)
    square = mean = Fraction(0)
    for dealt in range(0, 12, 3):
        for after, chance in brute.shoes(left, dealt):
            # Among equals the first is bet, in a shoe with more of the last face its mirror.
            edges = brute.edges(MATRIX, after if after[0] >= after[5] else after[::-1])
            row = edges.index(min(edges))
            if edges[row] < 0:
                odds = MATRIX.wins[row][0].net
                wins = (1 - edges[row]) / (1 + odds)
                square += chance * (wins * odds * odds + 1 - wins)
                mean -= chance * edges[row]
    assert found.deviation(4) == pytest.approx(float(square / 4 - (mean / 4) ** 2) ** 0.5, rel=1e-9)


def test_no_deviation_where_an_area_has_several_odds() -> None:
    felt = rulebook("rws-sic-bo-etg-v8").matrix("A")
    assert perfect_play(felt, (1,) * 6, compiled=False).deviation(1) is None


def test_limits_on_the_shoe(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(perfect, "MOST_COMPOSITIONS", 64)
    monkeypatch.setattr(perfect, "MOST_BY_NUMPY", 64)
    assert perfect_play(MATRIX, (1,) * 6, compiled=False).compositions == 64
    with pytest.raises(RulesError, match=r"at most 64 compositions without numba \(run pip install"):
        perfect_play(MATRIX, (2, 1, 1, 1, 1, 1), compiled=False)
    with pytest.raises(RulesError, match="at most 64 compositions, got 96"):
        perfect_play(MATRIX, (2, 1, 1, 1, 1, 1), compiled=True)


def test_progress_is_shown_to_its_end() -> None:
    told: list[tuple[int, int]] = []
    perfect_play(MATRIX, (2,) * 6, compiled=True, progress=lambda done, whole: told.append((done, whole)))
    assert told == [
        (done, 6) for done in range(1, 7)
    ]  # 0-0, 1-0, 1-1, 2-0, 2-1, 2-2 cards of the outer faces


@pytest.mark.parametrize("tags", [(-2, -1, 0, 0, 1, 2), (1, 0, 0, 0, 0, 0), (-3, -1, 1, 1, 1, 1)], ids=str)
@pytest.mark.parametrize("left", [(2, 2, 2, 2, 2, 2), (4, 0, 3, 1, 2, 3)], ids=str)
def test_every_count_is_worth_what_every_deal_makes_it(left: tuple[int, ...], tags: tuple[int, ...]) -> None:
    found = counted(MATRIX, left, tags)
    exact = brute.by_count(MATRIX, left, tags)
    assert len(found.chances) == len(exact)
    for k, counts in enumerate(exact):
        for place in range(found.chances.shape[1]):
            chance, nets = counts.get(place + found.lowest, (Fraction(0), [Fraction(0)] * 19))
            assert abs(found.chances[k, place] - float(chance)) < 1e-12
            assert np.abs(found.expected[:, k, place] - np.array([float(net) for net in nets])).max() < 1e-11


def test_a_threshold_bets_where_it_says() -> None:
    left, tags, at = (2,) * 6, (-2, -1, 0, 0, 1, 2), Fraction(5, 2)
    found = counted(MATRIX, left, tags, deck=6).by_threshold("small", "big", at)
    small, big = MATRIX.row("small"), MATRIX.row("big")
    for k, counts in enumerate(brute.by_count(MATRIX, left, tags)):
        decks = Fraction(12 - 3 * k, 6)
        high = [worth for count, worth in counts.items() if count >= at * decks]
        low = [worth for count, worth in counts.items() if count <= -at * decks]
        gain = sum((nets[small] for _, nets in high), Fraction(0)) + sum(
            (nets[big] for _, nets in low), Fraction(0)
        )
        assert found[k].bet == pytest.approx(float(sum(chance for chance, _ in high + low)), abs=1e-12)
        assert found[k].gain == pytest.approx(float(gain), abs=1e-11)


def test_play_by_index_is_the_best_that_a_count_can_do() -> None:
    play = counted(MATRIX, (8,) * 6, (-2, -1, 0, 0, 1, 2))
    best = perfect_play(MATRIX, (8,) * 6, compiled=False)
    _, by_one_number = best_threshold(play, "small", "big", 8)
    for all_areas, pair, simple, known in zip(
        play.by_index(), play.by_index(["small", "big"]), by_one_number, best.rounds, strict=True
    ):
        assert known.gain + 1e-10 >= all_areas.gain >= pair.gain - 1e-10
        assert pair.gain + 1e-10 >= simple.gain


@pytest.mark.parametrize("tags", [(1, 2), (1, 0, 0, 0, 0, 10), (1.0, 0, 0, 0, 0, 0)])
def test_tags_that_are_none_are_refused(tags: tuple[int, ...]) -> None:
    with pytest.raises(RulesError, match="expected six whole tags from -9 to 9"):
        counted(MATRIX, (2,) * 6, tags)


def test_a_shoe_too_large_to_count_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counting, "MOST_CARDS", 12)
    counted(MATRIX, (2,) * 6, (1, 0, 0, 0, 0, -1))
    with pytest.raises(RulesError, match="expected at most 12 cards"):
        counted(MATRIX, (3, 2, 2, 2, 2, 2), (1, 0, 0, 0, 0, -1))


@pytest.mark.parametrize(
    ("cards", "percent", "rounds"),
    [(288, 50, 48), (288, 1, 1), (288, 100, 96), (96, 75, 24), (97, 100, 32), (96, 51, 17)],
)
def test_rounds_dealt_are_those_of_a_table_with_that_setting(cards: int, percent: int, rounds: int) -> None:
    """A table begins a round while dealt × 100 < penetration × cards, and three cards are left."""
    assert rounds_dealt(cards, Fraction(percent, 100)) == rounds
    played = [k for k in range(cards // 3) if 3 * k * 100 < percent * cards]
    assert len(played) == rounds


def test_exposure_says_where_counting_begins_to_pay() -> None:
    found = exposure(MATRIX, (8,) * 6, perfect=True, penetration=Fraction(1, 4))
    gains = [played.gain for played in found.perfect.rounds] if isinstance(found.perfect, PerfectPlay) else []
    most = found.harmless()
    assert 100 * sum(gains[:most]) / most < 0.1 <= 100 * sum(gains[: most + 1]) / (most + 1)
    assert found.facts()["depths"][2]["perfect_gain_per_100"] == pytest.approx(5.387, abs=1e-3)
    assert f"after at most {most} ({3 * most} cards)" in " ".join(str(found).split())


def test_a_shoe_that_is_worth_a_bet_at_once_says_so() -> None:
    found = exposure(MATRIX, (20, 20, 16, 16, 8, 8), perfect=True)
    assert found.harmless() == 0
    assert "the first round has a favourable bet" in " ".join(str(found).split())
    areas = found.facts()["areas"]
    half = found.at(Fraction(1, 2))
    assert sum(area["gain_per_100"] for area in areas.values()) == pytest.approx(half.perfect_gain)
    assert sum(area["bet"] for area in areas.values()) == pytest.approx(half.perfect_bet)


def test_without_numpy_one_line_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "numpy", None)
    for module in [name for name in sys.modules if name.startswith(("taisai.study.shoe.", "taisai.bulk"))]:
        monkeypatch.delitem(sys.modules, module)
    with pytest.raises(RulesError, match=r"NumPy is not installed: run pip install 'taisai\[study\]'"):
        taisai.exposure  # noqa: B018  its module is loaded when it is first used


def test_next_to_nothing_is_called_so() -> None:
    found = exposure(MATRIX, (16,) * 6, penetration=Fraction(1, 100))
    assert "At 1% dealt this count earns less than 0.1 units in 100 rounds." in str(found)


def test_the_published_figures_are_the_computed_ones() -> None:
    published = {shoe["decks"]: shoe for shoe in json.loads(DATA.read_text("utf-8"))["shoes"]}
    assert set(published) == {2, 3, 4, 5, 6}
    for decks in range(2, 7) if LONG else (2,):
        found = perfect_play(MATRIX, (8 * decks,) * 6)
        for played, (bet, gain) in zip(found.rounds, published[decks]["perfect"], strict=True):
            assert bet == pytest.approx(played.bet, rel=1e-9, abs=1e-12)
            assert gain == pytest.approx(played.gain, rel=1e-9, abs=1e-12)

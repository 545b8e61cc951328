"""Where the money went and where sessions ended, as pictures."""

from __future__ import annotations

import pytest
from matplotlib.patches import Rectangle

from taisai.rules import rulebook
from taisai.study.odds import Mix
from taisai.study.pictures import simulation_picture
from taisai.study.simulation import SessionTerms, Simulated, simulate
from taisai.study.simulation.plans import CHUNK

BOOK = rulebook("us-sic-bo")


def played(sessions: int, rounds: int, terms: SessionTerms) -> Simulated:
    mix = Mix.of(BOOK.matrix(), {"small": 100})
    return simulate(mix, BOOK.chance(), rounds=rounds, seed=1, sessions=sessions, terms=terms)


def bars(result: Simulated) -> list[tuple[float, float, float]]:
    """The middle, the width and the height of each."""
    (axes,) = simulation_picture(result).axes
    boxes = [box for box in axes.patches if isinstance(box, Rectangle)]
    return [(box.get_x() + box.get_width() / 2, box.get_width(), box.get_height()) for box in boxes]


@pytest.mark.parametrize("rounds", [10, 5_000, 2 * CHUNK + 5])
def test_a_trail_has_its_marks_and_each_is_where_a_shorter_run_ends(rounds: int) -> None:
    mix = Mix.of(BOOK.matrix(), {"small": 100})
    plain = simulate(mix, BOOK.chance(), rounds=rounds, seed=1)
    marked = simulate(mix, BOOK.chance(), rounds=rounds, seed=1, marks=12)
    assert len(marked.trail) >= min(12, rounds)
    assert (marked.net, marked.max_drawdown) == (plain.net, plain.max_drawdown)
    assert set(plain.trail) <= set(marked.trail)
    for played, net in marked.trail[1:]:
        assert simulate(mix, BOOK.chance(), rounds=played, seed=1).net == net


def test_two_ends_are_two_bars_at_their_places() -> None:
    result = played(300, 10**5, SessionTerms("martingale", bankroll=900, target=2_000))
    assert result.sessions is not None
    (low, narrow, ruined), (high, _, reached) = bars(result)
    assert low == pytest.approx(-900)
    assert high == pytest.approx(1_100)
    assert narrow <= 200
    assert {"ruined": ruined, "target reached": reached} == result.sessions.ways()


def test_one_end_is_one_bar() -> None:
    ((place, _, height),) = bars(_one())
    assert place == pytest.approx(-100)
    assert height == 2


def _one() -> Simulated:
    for seed in range(100):
        mix = Mix.of(BOOK.matrix(), {"small": 100})
        result = simulate(
            mix, BOOK.chance(), rounds=1, seed=seed, sessions=2, terms=SessionTerms(bankroll=100)
        )
        if result.net == -200:
            return result
    raise AssertionError


def test_many_ends_are_grouped_and_none_is_left_out() -> None:
    found = bars(played(2_000, 900, SessionTerms(bankroll=10**6)))
    assert len(found) == 60
    assert sum(height for _, _, height in found) == 2_000

"""Every round of a shoe has the edge of the first: by every order of small shoes; and when it does not."""

from __future__ import annotations

from fractions import Fraction
from math import comb

import pytest

from taisai.rules import RulesError
from taisai.study.odds import area_odds
from taisai.study.shoe import composition
from taisai.study.shoe.composition import chance_left, position_edges, stopped_edges
from tests.study.shoe import brute

MATRIX = brute.MATRIX
SHOES = [(2, 2, 2, 2, 2, 2), (3, 1, 2, 2, 1, 3), (4, 0, 3, 1, 2, 3)]


@pytest.mark.parametrize("left", SHOES, ids=str)
def test_every_round_has_the_edge_of_the_first(left: tuple[int, ...]) -> None:
    found = position_edges(MATRIX, left)
    assert len(found.rounds) == sum(left) // 3
    assert found.are_alike
    assert all(edges == brute.edges(MATRIX, left) for edges in found.rounds)


def test_every_round_of_six_decks_too() -> None:
    found = position_edges(MATRIX, (48,) * 6)
    first = tuple(odds.house_edge for odds in area_odds(MATRIX, chance_left((48,) * 6)))
    assert found.rounds == (first,) * 96


def test_ways_that_forget_the_cards_gone_before_are_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """The theorem is a result and no premise: a wrong count of what may be left breaks it."""
    monkeypatch.setattr(composition, "_ways", lambda count, now: [comb(n, now) for n in range(count + 1)])
    found = position_edges(MATRIX, (3, 1, 2, 2, 1, 3))
    assert not found.are_alike
    assert "The rounds differ." in str(found)


@pytest.mark.parametrize("burnt", [0, 1, 2])
def test_over_every_order_of_the_cards_whatever_is_burnt(burnt: int) -> None:
    left = (2, 1, 1, 1, 1, 2)
    for edges in brute.positions(MATRIX, left, burnt=burnt):
        assert tuple(edges) == brute.edges(MATRIX, left)


@pytest.mark.parametrize("last", [1, 2, 3, 4])
def test_a_cut_card_leaves_the_edge_alone(last: int) -> None:
    left = (2, 2, 2, 2, 2, 2)
    stopped = stopped_edges(MATRIX, left, lambda now: sum(now) <= 12 - 3 * last)
    assert stopped == brute.edges(MATRIX, left)


def test_a_shuffle_that_depends_on_the_cards_does_not() -> None:
    left = (2, 2, 2, 2, 2, 2)
    low_gone = stopped_edges(MATRIX, left, lambda now: now[0] + now[1] < now[4] + now[5])
    small, big = MATRIX.row("small"), MATRIX.row("big")
    before = brute.edges(MATRIX, left)
    # Only shoes rich in low cards are dealt on from: small is dealt good rounds more often, big bad ones.
    assert low_gone[small] < before[small]
    assert low_gone[big] > before[big]


def test_the_stopped_shoe_by_every_order_of_its_cards() -> None:
    """The same rule played through every order of eight cards, one after the other."""
    left = (2, 1, 1, 1, 1, 2)
    rounds, nets = 0, [Fraction(0)] * 19
    from collections import Counter
    from itertools import permutations

    from taisai.rules import Outcome

    for order, times in Counter(permutations(brute.cards(left))).items():
        rounds += times
        shown = [Outcome.of(*order[:3])]
        if 6 in order[:3]:  # the rule: dealt on only when a six is gone
            rounds += times
            shown.append(Outcome.of(*order[3:6]))
        for outcome in shown:
            nets = [
                net + times * MATRIX.net(area, outcome) for net, area in zip(nets, MATRIX.areas, strict=True)
            ]
    exact = tuple(-net / rounds for net in nets)
    assert stopped_edges(MATRIX, left, lambda now: now[5] == 2) == exact
    assert exact != brute.edges(MATRIX, left)


def test_only_for_small_shoes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(composition, "MOST_COMPOSITIONS", 64)
    stopped_edges(MATRIX, (1,) * 6, lambda _now: False)
    with pytest.raises(RulesError, match="expected a shoe of at most 64 compositions, got 96"):
        stopped_edges(MATRIX, (2, 1, 1, 1, 1, 1), lambda _now: False)
    monkeypatch.setattr(composition, "MOST_CARDS", 6)
    position_edges(MATRIX, (1,) * 6)
    with pytest.raises(RulesError, match="expected a shoe of at most 6 cards, got 7"):
        position_edges(MATRIX, (2, 1, 1, 1, 1, 1))

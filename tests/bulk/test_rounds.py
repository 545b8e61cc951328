"""Many rounds at once agree with the rounds one by one."""

from __future__ import annotations

from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from taisai.bulk import MOST_CELLS, BetsByArea, BulkError, house_nets, nets_by_bet, nets_by_player
from taisai.bulk import bets as bets_module
from taisai.rules import OUTCOMES, Bet, Settlement
from tests.bulk.tables import (
    PAY_TABLES,
    PLAYERS,
    Placed,
    at_once,
    examples,
    matrix,
    multiples,
    placed,
    plain_up_to,
)


@pytest.mark.parametrize("name", PAY_TABLES)
@given(data=st.data())
@examples(10)
def test_every_round_settles_as_a_plain_one(name: str, data: st.DataObject) -> None:
    mix = data.draw(placed(name, most=12))
    outcomes = data.draw(st.lists(st.integers(0, 55), max_size=12))
    with plain_up_to(data.draw(st.sampled_from([0, 400]))):
        kept = at_once(name, mix)
        by_bet, by_player = nets_by_bet(kept, outcomes), nets_by_player(kept, outcomes)
        house = house_nets(kept, outcomes)
    assert by_bet.shape == (len(outcomes), len(mix))
    assert by_player.shape == (len(outcomes), PLAYERS)
    for number, place in enumerate(outcomes):
        settled = matrix(name).settle(OUTCOMES[place], [Bet.on(bet.area, bet.stake) for bet in mix])
        assert isinstance(settled, Settlement)
        nets = [bet.returned - bet.stake for bet in settled.bets]
        assert by_bet[number].tolist() == nets
        assert by_player[number].tolist() == [
            sum(net for net, bet in zip(nets, mix, strict=True) if bet.player == player)
            for player in range(PLAYERS)
        ]
        assert house[number] == -sum(nets)


def test_outcomes_must_be_places_among_the_56() -> None:
    kept = at_once("us-sic-bo/A", [Placed(0, "small", 100)])
    for ask in (nets_by_bet, nets_by_player, house_nets):
        for outcomes in ([56], [-1], [0, 56]):
            with pytest.raises(BulkError, match="expected outcomes as indexes from 0 to 55"):
                ask(kept, outcomes)
        with pytest.raises(BulkError, match="expected outcomes as whole numbers"):
            ask(kept, [0.5])  # type: ignore[list-item]
        with pytest.raises(BulkError, match="expected a one-dimensional array of outcomes"):
            ask(kept, np.zeros((2, 2), dtype=int))


def test_one_answer_has_a_limit() -> None:
    kept = BetsByArea(multiples("us-sic-bo/A"), players=PLAYERS, compiled=False)
    kept.extend([0, 1], [0, 0], [100, 100])
    for ask in (nets_by_bet, nets_by_player, house_nets):
        with pytest.raises(BulkError, match=f"expected at most {MOST_CELLS} rounds"):
            ask(kept, np.broadcast_to(np.int64(0), MOST_CELLS + 1))
    with patch.object(bets_module, "MOST_CELLS", 6):
        assert nets_by_bet(kept, [0, 1, 2]).shape == (3, 2)
        with pytest.raises(BulkError, match="expected at most 6 rounds × bets, got 4 × 2"):
            nets_by_bet(kept, [0, 1, 2, 3])
        with pytest.raises(BulkError, match="expected at most 6 rounds × players, got 1 × 7"):
            nets_by_player(kept, [0])

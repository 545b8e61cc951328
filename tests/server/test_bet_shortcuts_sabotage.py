"""The test of the tests of conveniences: each turns red where a convenience is broken as it says."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Any

import pytest

from taisai.server.handlers import bet_shortcuts
from tests.server import test_bet_shortcuts as shortcuts
from tests.server import test_favourites as kept

Patch = pytest.MonkeyPatch
RED = (AssertionError, AttributeError)


def anew(real: Callable[..., str]) -> Callable[..., str]:
    calls = count()
    return lambda device, session, ask, place: real(device, session, f"{ask} {next(calls)}", place)


@pytest.mark.parametrize(
    "test",
    [
        shortcuts.test_double_lays_on_every_area_what_lies_there_and_a_retry_nothing,
        shortcuts.test_repeat_lays_what_stood_in_the_last_round_that_the_seat_bet_in,
        shortcuts.test_two_of_one_ask_at_a_time_double_once,
    ],
)
def test_sabotage_bets_that_are_others_at_each_retry_are_seen(
    monkeypatch: Patch, test: Callable[[], None]
) -> None:
    monkeypatch.setattr(bet_shortcuts, "bet_id", anew(bet_shortcuts.bet_id))
    with pytest.raises(RED):
        test()


@pytest.mark.parametrize(
    "test",
    [
        shortcuts.test_a_retry_of_undo_takes_back_nothing_more,
        shortcuts.test_a_retry_of_clear_leaves_what_came_later,
    ],
)
def test_sabotage_a_server_that_forgets_what_it_took_back_is_seen(
    monkeypatch: Patch, test: Callable[[], None]
) -> None:
    monkeypatch.setattr(bet_shortcuts, "MOST_REMEMBERED", 0)
    with pytest.raises(RED):
        test()


def test_sabotage_undo_that_takes_all_is_seen(monkeypatch: Patch) -> None:
    monkeypatch.setattr(bet_shortcuts, "_latest", bet_shortcuts._standing)
    with pytest.raises(RED):
        shortcuts.test_undo_takes_back_command_after_command_the_latest_first()


def test_sabotage_repeating_another_players_bets_is_seen(monkeypatch: Patch) -> None:
    def anyones(_engine: Any, table: Any, *_: object) -> dict[str, int]:
        return next(iter(bet_shortcuts._by_seat(table.rounds[-1]).values()), {})

    monkeypatch.setattr(bet_shortcuts, "_stakes_before", anyones)
    with pytest.raises(RED):
        shortcuts.test_the_next_player_does_not_repeat_the_bets_of_the_one_before()


def test_sabotage_favourites_of_everyone_are_seen(monkeypatch: Patch) -> None:
    monkeypatch.setattr(bet_shortcuts, "_vault_name", lambda table, _device: f"favourites/{table}")
    with pytest.raises(RED):
        kept.test_favourites_are_those_of_one_terminal()


def test_sabotage_no_bound_on_favourites_is_seen(monkeypatch: Patch) -> None:
    monkeypatch.setattr(bet_shortcuts, "_too_many", lambda *_: None)
    with pytest.raises(RED):
        kept.test_one_favourite_too_many_is_refused_and_a_known_one_replaced()

"""A terminal's conveniences: bets back, once more, as last time; a retry changes nothing."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from taisai.game.commands import LeaveSeat, PlaceBets, ShowLayout, Slip
from taisai.protocol.requests import ClearRequest, DoubleRequest, RepeatRequest, UndoRequest
from taisai.rules import Act
from taisai.server.handlers import bet_shortcuts
from tests.server.inline import CONCLUDED, InlineFloor, a_floor, perform, sit, terminal, told

REQUESTS: Any = {"undo": UndoRequest, "clear": ClearRequest, "double": DoubleRequest, "repeat": RepeatRequest}


def ask(floor: InlineFloor, what: str, name: str = "a1", seat: str = "7", table: str = "T1") -> Any:
    """What a terminal is told."""
    asked = REQUESTS[what](id=name, table=table, seat=seat)
    return told(getattr(bet_shortcuts, what)(floor, terminal(seat), asked))


def lay(floor: InlineFloor, *batch: tuple[str, int], seat: str = "7") -> None:
    """Bets of a terminal, in one command."""
    round_ = floor.table().round
    assert round_ is not None
    slips = tuple(
        Slip(f"{seat}-{len(round_.bets) + place}", area, stake) for place, (area, stake) in enumerate(batch)
    )
    floor.do(PlaceBets(**floor.by(f"D{seat}"), round=round_.number, seat=seat, bets=slips))


def lying(floor: InlineFloor, seat: str = "7") -> dict[str, int]:
    """Area → what stands there of a seat, from the bets themselves."""
    round_, found = floor.table().round, dict[str, int]()
    for bet in round_.live() if round_ is not None else ():
        if bet.seat == seat:
            found[bet.area] = found.get(bet.area, 0) + bet.stake
    assert sum(found.values()) == floor.table().seats[seat].at_risk
    return found


def opened(*seats: str, credits: int = 50_000) -> InlineFloor:  # noqa: A002
    floor = a_floor(*(seats or ("7",)), credits=credits)
    perform(floor, Act.OPEN_BETS)
    return floor


# Undo


def test_undo_takes_back_command_after_command_the_latest_first() -> None:
    floor = opened("7", "8")
    lay(floor, ("small", 100), ("odd", 200))
    lay(floor, ("small", 300), ("total-9", 400))
    lay(floor, ("big", 900), seat="8")
    assert ask(floor, "undo", "u1").again is False
    assert lying(floor) == {"small": 100, "odd": 200}
    assert ask(floor, "undo", "u2").again is False
    assert (lying(floor), lying(floor, "8")) == ({}, {"big": 900})
    nothing = ask(floor, "undo", "u3")
    assert (nothing.reason, floor.credits()) == ("unknown-bet", 50_000)


def test_a_retry_of_undo_takes_back_nothing_more() -> None:
    floor = opened()
    lay(floor, ("small", 100))
    lay(floor, ("odd", 200))
    assert ask(floor, "undo").again is False
    assert ask(floor, "undo").again is True
    assert lying(floor) == {"small": 100}


def test_undo_passes_over_what_is_back_already() -> None:
    floor = opened()
    lay(floor, ("small", 100))
    lay(floor, ("odd", 200))
    ask(floor, "undo", "u1")
    lay(floor, ("even", 300))
    ask(floor, "undo", "u2")
    assert lying(floor) == {"small": 100}


def test_undo_takes_back_a_doubling_whole() -> None:
    floor = opened()
    lay(floor, ("small", 100))
    lay(floor, ("odd", 200))
    ask(floor, "double")
    ask(floor, "undo", "u1")
    assert lying(floor) == {"small": 100, "odd": 200}


@pytest.mark.parametrize("what", ["undo", "clear"])
def test_after_the_close_bets_stay(what: str) -> None:
    floor = opened()
    lay(floor, ("small", 100))
    perform(floor, "close-bets")
    refused = ask(floor, what)
    assert (refused.reason, refused.clause, lying(floor)) == ("late", "5.7", {"small": 100})


@pytest.mark.parametrize("what", ["undo", "clear", "double", "repeat"])
def test_without_a_round_a_seat_or_a_table_the_game_refuses(what: str) -> None:
    floor = a_floor()
    assert ask(floor, what).reason == "out-of-order"
    assert ask(floor, what, seat="9").reason == "unknown-seat"
    assert ask(floor, what, table="T9").reason == "table-not-open"
    perform(floor, "open-bets")
    assert ask(floor, what, "2").reason == "unknown-bet"


# Clear


def test_clear_takes_back_everything_of_the_seat_and_nothing_of_others() -> None:
    floor = opened("7", "8")
    lay(floor, ("small", 100), ("odd", 200))
    lay(floor, ("big", 900), seat="8")
    lay(floor, ("even", 300))
    assert ask(floor, "clear").again is False
    assert (lying(floor), lying(floor, "8"), floor.credits()) == ({}, {"big": 900}, 50_000)


def test_a_retry_of_clear_leaves_what_came_later() -> None:
    floor = opened()
    lay(floor, ("small", 100))
    ask(floor, "clear")
    lay(floor, ("odd", 200))
    assert ask(floor, "clear").again is True
    assert lying(floor) == {"odd": 200}
    assert ask(floor, "clear", "a2").again is False
    assert lying(floor) == {}


def test_a_retry_in_the_next_round_takes_back_nothing_there() -> None:
    floor = opened()
    lay(floor, ("small", 100))
    ask(floor, "clear")
    perform(floor, *CONCLUDED, "open-bets")
    lay(floor, ("odd", 200))
    assert ask(floor, "clear").again is True
    assert lying(floor) == {"odd": 200}


def test_of_the_asks_of_a_terminal_the_latest_are_remembered() -> None:
    floor = opened()
    for number in range(bet_shortcuts.MOST_REMEMBERED + 1):
        lay(floor, ("small", 100))
        ask(floor, "undo", f"u{number}")
    lay(floor, ("odd", 200))
    assert ask(floor, "undo", "u1").again is True
    assert ask(floor, "undo", "u0").again is False  # the one too many is forgotten


# Double


def test_double_lays_on_every_area_what_lies_there_and_a_retry_nothing() -> None:
    floor = opened("7", "8")
    lay(floor, ("small", 100), ("odd", 200))
    lay(floor, ("small", 300))
    lay(floor, ("big", 900), seat="8")
    assert ask(floor, "double").again is False
    assert lying(floor) == {"small": 800, "odd": 400}
    assert ask(floor, "double").again is True
    assert (lying(floor), lying(floor, "8")) == ({"small": 800, "odd": 400}, {"big": 900})
    assert ask(floor, "double", "a2").again is False
    assert lying(floor) == {"small": 1_600, "odd": 800}


def test_a_retry_of_double_lays_nothing_after_it_was_undone_or_in_the_next_round() -> None:
    floor = opened()
    lay(floor, ("small", 100))
    ask(floor, "double")
    ask(floor, "undo", "u1")
    assert ask(floor, "double").again is True
    assert lying(floor) == {"small": 100}
    perform(floor, *CONCLUDED)
    assert ask(floor, "double").again is True
    perform(floor, "open-bets")
    lay(floor, ("odd", 200))
    assert ask(floor, "double").again is True
    assert lying(floor) == {"odd": 200}


def test_double_is_all_or_none() -> None:
    floor = opened(credits=1_000)
    lay(floor, ("small", 100), ("odd", 500))
    assert ask(floor, "double").reason == "credits-short"
    assert (lying(floor), floor.credits()) == ({"small": 100, "odd": 500}, 400)
    floor = opened(credits=100_000)
    lay(floor, ("small", 100), ("odd", 30_000))
    assert ask(floor, "double").reason == "over-maximum"
    assert lying(floor) == {"small": 100, "odd": 30_000}


def test_two_of_one_ask_at_a_time_double_once() -> None:
    floor = opened()
    lay(floor, ("small", 100), ("odd", 200))
    asked = DoubleRequest(id="a1", table="T1", seat="7")

    async def both() -> list[Any]:
        return await asyncio.gather(*(bet_shortcuts.double(floor, terminal(), asked) for _ in range(5)))

    answers = asyncio.run(both())
    assert sorted(one.again for one in answers) == [False, True, True, True, True]
    assert lying(floor) == {"small": 200, "odd": 400}


def test_bets_that_the_floor_lays_have_ids_of_their_own() -> None:
    told = (("D7", 1, "1"), ("D7", 1, "2"), ("D8", 1, "1"), ("D71", 1, ""), ("D7", 2, "1"))
    made = {bet_shortcuts.bet_id(device, session, ask, 0) for device, session, ask in told}
    assert len(made) == len(told)
    assert all(len(one) <= 64 for one in made)


# Repeat


def test_repeat_lays_what_stood_in_the_last_round_that_the_seat_bet_in() -> None:
    floor = opened("7", "8")
    lay(floor, ("small", 100), ("odd", 200))
    lay(floor, ("small", 300))
    lay(floor, ("total-9", 400))
    ask(floor, "undo", "u1")
    lay(floor, ("big", 900), seat="8")
    perform(floor, *CONCLUDED, "open-bets", *CONCLUDED, "open-bets")
    assert ask(floor, "repeat").again is False
    assert lying(floor) == {"small": 400, "odd": 200}
    assert ask(floor, "repeat").again is True
    assert (lying(floor), lying(floor, "8")) == ({"small": 400, "odd": 200}, {})
    assert ask(floor, "repeat", "a2", seat="8").again is False
    assert lying(floor, "8") == {"big": 900}


def test_a_void_round_is_repeated_too() -> None:
    floor = opened()
    lay(floor, ("small", 100))
    perform(floor, "close-bets", "tumble", "uncover")
    perform(floor, "enter-result", flat=False, faces=None)
    assert floor.table().rounds[0].voided
    perform(floor, "open-bets")
    ask(floor, "repeat")
    assert lying(floor) == {"small": 100}


def test_the_next_player_does_not_repeat_the_bets_of_the_one_before() -> None:
    floor = opened(credits=1_000)
    lay(floor, ("big", 1_000))
    perform(floor, *CONCLUDED)
    floor.do(LeaveSeat(**floor.by("D7"), seat="7"))
    sit(floor, "7", 5_000)
    perform(floor, "open-bets")
    assert ask(floor, "repeat").reason == "unknown-bet"
    assert lying(floor) == {}


def test_a_round_too_long_ago_is_not_repeated() -> None:
    for rounds, reason in ((bet_shortcuts.LOOK_BACK - 1, None), (bet_shortcuts.LOOK_BACK, "unknown-bet")):
        floor = opened()
        lay(floor, ("small", 100))
        perform(floor, *CONCLUDED)
        for _ in range(rounds):
            perform(floor, "open-bets", *CONCLUDED)
        perform(floor, "open-bets")
        assert getattr(ask(floor, "repeat"), "reason", None) == reason


def test_after_a_restart_bets_are_repeated_as_before() -> None:
    floor = opened()
    lay(floor, ("small", 100), ("odd", 200))
    perform(floor, *CONCLUDED)
    floor.engine.snapshot("table:T1")
    floor.restart()
    perform(floor, "open-bets")
    assert ask(floor, "repeat").again is False
    assert lying(floor) == {"small": 100, "odd": 200}
    floor.restart()
    assert ask(floor, "repeat").again is True


def test_on_another_layout_the_game_has_the_last_word() -> None:
    floor = opened()
    lay(floor, ("double-single-113", 1_000))
    perform(floor, *CONCLUDED)
    floor.do(ShowLayout(**floor.by("D7"), seat="7", layout="A"))
    perform(floor, "open-bets")
    refused = ask(floor, "repeat")
    assert (refused.reason, refused.bet, lying(floor)) == (
        "not-on-layout",
        bet_shortcuts.bet_id("D7", 1, "a1", 0),
        {},
    )

"""A terminal's conveniences: bets back, once more, as last time; a retry changes nothing."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from taisai.game.commands import LeaveSeat, PlaceBets, ShowLayout, Slip
from taisai.protocol.requests import ClearRequest, DoubleRequest, RepeatRequest, UndoRequest
from taisai.rules import Act
from taisai.server.handlers import bet_shortcuts
from tests.server.inline_server import CONCLUDED, InlineServer, inline_server, perform, sit, terminal, told

REQUESTS: Any = {"undo": UndoRequest, "clear": ClearRequest, "double": DoubleRequest, "repeat": RepeatRequest}


def ask(server: InlineServer, what: str, name: str = "a1", seat: str = "7", table: str = "T1") -> Any:
    """What a terminal is told."""
    asked = REQUESTS[what](id=name, table=table, seat=seat)
    return told(getattr(bet_shortcuts, what)(server, terminal(seat), asked))


def lay(server: InlineServer, *batch: tuple[str, int], seat: str = "7") -> None:
    """Bets of a terminal, in one command."""
    round_ = server.table().round
    assert round_ is not None
    slips = tuple(
        Slip(f"{seat}-{len(round_.bets) + place}", area, stake) for place, (area, stake) in enumerate(batch)
    )
    server.do(PlaceBets(**server.by(f"D{seat}"), round=round_.number, seat=seat, bets=slips))


def lying(server: InlineServer, seat: str = "7") -> dict[str, int]:
    """Area → what stands there of a seat, from the bets themselves."""
    round_, found = server.table().round, dict[str, int]()
    for bet in round_.live() if round_ is not None else ():
        if bet.seat == seat:
            found[bet.area] = found.get(bet.area, 0) + bet.stake
    assert sum(found.values()) == server.table().seats[seat].at_risk
    return found


def opened(*seats: str, credits: int = 50_000) -> InlineServer:  # noqa: A002
    server = inline_server(*(seats or ("7",)), credits=credits)
    perform(server, Act.OPEN_BETS)
    return server


# Undo


def test_undo_takes_back_command_after_command_the_latest_first() -> None:
    server = opened("7", "8")
    lay(server, ("small", 100), ("odd", 200))
    lay(server, ("small", 300), ("total-9", 400))
    lay(server, ("big", 900), seat="8")
    assert ask(server, "undo", "u1").again is False
    assert lying(server) == {"small": 100, "odd": 200}
    assert ask(server, "undo", "u2").again is False
    assert (lying(server), lying(server, "8")) == ({}, {"big": 900})
    nothing = ask(server, "undo", "u3")
    assert (nothing.reason, server.credits()) == ("unknown-bet", 50_000)


def test_a_retry_of_undo_takes_back_nothing_more() -> None:
    server = opened()
    lay(server, ("small", 100))
    lay(server, ("odd", 200))
    assert ask(server, "undo").again is False
    assert ask(server, "undo").again is True
    assert lying(server) == {"small": 100}


def test_undo_passes_over_what_is_back_already() -> None:
    server = opened()
    lay(server, ("small", 100))
    lay(server, ("odd", 200))
    ask(server, "undo", "u1")
    lay(server, ("even", 300))
    ask(server, "undo", "u2")
    assert lying(server) == {"small": 100}


def test_undo_takes_back_a_doubling_whole() -> None:
    server = opened()
    lay(server, ("small", 100))
    lay(server, ("odd", 200))
    ask(server, "double")
    ask(server, "undo", "u1")
    assert lying(server) == {"small": 100, "odd": 200}


@pytest.mark.parametrize("what", ["undo", "clear"])
def test_after_the_close_bets_stay(what: str) -> None:
    server = opened()
    lay(server, ("small", 100))
    perform(server, "close-bets")
    refused = ask(server, what)
    assert (refused.reason, refused.clause, lying(server)) == ("late", "5.7", {"small": 100})


@pytest.mark.parametrize("what", ["undo", "clear", "double", "repeat"])
def test_without_a_round_a_seat_or_a_table_the_game_refuses(what: str) -> None:
    server = inline_server()
    assert ask(server, what).reason == "out-of-order"
    assert ask(server, what, seat="9").reason == "unknown-seat"
    assert ask(server, what, table="T9").reason == "table-not-open"
    perform(server, "open-bets")
    assert ask(server, what, "2").reason == "unknown-bet"


# Clear


def test_clear_takes_back_everything_of_the_seat_and_nothing_of_others() -> None:
    server = opened("7", "8")
    lay(server, ("small", 100), ("odd", 200))
    lay(server, ("big", 900), seat="8")
    lay(server, ("even", 300))
    assert ask(server, "clear").again is False
    assert (lying(server), lying(server, "8"), server.credits()) == ({}, {"big": 900}, 50_000)


def test_a_retry_of_clear_leaves_what_came_later() -> None:
    server = opened()
    lay(server, ("small", 100))
    ask(server, "clear")
    lay(server, ("odd", 200))
    assert ask(server, "clear").again is True
    assert lying(server) == {"odd": 200}
    assert ask(server, "clear", "a2").again is False
    assert lying(server) == {}


def test_a_retry_in_the_next_round_takes_back_nothing_there() -> None:
    server = opened()
    lay(server, ("small", 100))
    ask(server, "clear")
    perform(server, *CONCLUDED, "open-bets")
    lay(server, ("odd", 200))
    assert ask(server, "clear").again is True
    assert lying(server) == {"odd": 200}


def test_of_the_asks_of_a_terminal_the_latest_are_remembered() -> None:
    server = opened()
    for number in range(bet_shortcuts.MOST_REMEMBERED + 1):
        lay(server, ("small", 100))
        ask(server, "undo", f"u{number}")
    lay(server, ("odd", 200))
    assert ask(server, "undo", "u1").again is True
    assert ask(server, "undo", "u0").again is False  # the one too many is forgotten


# Double


def test_double_lays_on_every_area_what_lies_there_and_a_retry_nothing() -> None:
    server = opened("7", "8")
    lay(server, ("small", 100), ("odd", 200))
    lay(server, ("small", 300))
    lay(server, ("big", 900), seat="8")
    assert ask(server, "double").again is False
    assert lying(server) == {"small": 800, "odd": 400}
    assert ask(server, "double").again is True
    assert (lying(server), lying(server, "8")) == ({"small": 800, "odd": 400}, {"big": 900})
    assert ask(server, "double", "a2").again is False
    assert lying(server) == {"small": 1_600, "odd": 800}


def test_a_retry_of_double_lays_nothing_after_it_was_undone_or_in_the_next_round() -> None:
    server = opened()
    lay(server, ("small", 100))
    ask(server, "double")
    ask(server, "undo", "u1")
    assert ask(server, "double").again is True
    assert lying(server) == {"small": 100}
    perform(server, *CONCLUDED)
    assert ask(server, "double").again is True
    perform(server, "open-bets")
    lay(server, ("odd", 200))
    assert ask(server, "double").again is True
    assert lying(server) == {"odd": 200}


def test_double_is_all_or_none() -> None:
    server = opened(credits=1_000)
    lay(server, ("small", 100), ("odd", 500))
    assert ask(server, "double").reason == "credits-short"
    assert (lying(server), server.credits()) == ({"small": 100, "odd": 500}, 400)
    server = opened(credits=100_000)
    lay(server, ("small", 100), ("odd", 30_000))
    assert ask(server, "double").reason == "over-maximum"
    assert lying(server) == {"small": 100, "odd": 30_000}


def test_two_of_one_ask_at_a_time_double_once() -> None:
    server = opened()
    lay(server, ("small", 100), ("odd", 200))
    asked = DoubleRequest(id="a1", table="T1", seat="7")

    async def both() -> list[Any]:
        return await asyncio.gather(*(bet_shortcuts.double(server, terminal(), asked) for _ in range(5)))

    answers = asyncio.run(both())
    assert sorted(one.again for one in answers) == [False, True, True, True, True]
    assert lying(server) == {"small": 200, "odd": 400}


def test_bets_that_the_server_lays_have_ids_of_their_own() -> None:
    told = (("D7", 1, "1"), ("D7", 1, "2"), ("D8", 1, "1"), ("D71", 1, ""), ("D7", 2, "1"))
    made = {bet_shortcuts.bet_id(device, session, ask, 0) for device, session, ask in told}
    assert len(made) == len(told)
    assert all(len(one) <= 64 for one in made)


# Repeat


def test_repeat_lays_what_stood_in_the_last_round_that_the_seat_bet_in() -> None:
    server = opened("7", "8")
    lay(server, ("small", 100), ("odd", 200))
    lay(server, ("small", 300))
    lay(server, ("total-9", 400))
    ask(server, "undo", "u1")
    lay(server, ("big", 900), seat="8")
    perform(server, *CONCLUDED, "open-bets", *CONCLUDED, "open-bets")
    assert ask(server, "repeat").again is False
    assert lying(server) == {"small": 400, "odd": 200}
    assert ask(server, "repeat").again is True
    assert (lying(server), lying(server, "8")) == ({"small": 400, "odd": 200}, {})
    assert ask(server, "repeat", "a2", seat="8").again is False
    assert lying(server, "8") == {"big": 900}


def test_a_void_round_is_repeated_too() -> None:
    server = opened()
    lay(server, ("small", 100))
    perform(server, "close-bets", "tumble", "uncover")
    perform(server, "enter-result", flat=False, faces=None)
    assert server.table().rounds[0].voided
    perform(server, "open-bets")
    ask(server, "repeat")
    assert lying(server) == {"small": 100}


def test_the_next_player_does_not_repeat_the_bets_of_the_one_before() -> None:
    server = opened(credits=1_000)
    lay(server, ("big", 1_000))
    perform(server, *CONCLUDED)
    server.do(LeaveSeat(**server.by("D7"), seat="7"))
    sit(server, "7", 5_000)
    perform(server, "open-bets")
    assert ask(server, "repeat").reason == "unknown-bet"
    assert lying(server) == {}


def test_a_round_too_long_ago_is_not_repeated() -> None:
    for rounds, reason in ((bet_shortcuts.LOOK_BACK - 1, None), (bet_shortcuts.LOOK_BACK, "unknown-bet")):
        server = opened()
        lay(server, ("small", 100))
        perform(server, *CONCLUDED)
        for _ in range(rounds):
            perform(server, "open-bets", *CONCLUDED)
        perform(server, "open-bets")
        assert getattr(ask(server, "repeat"), "reason", None) == reason


def test_what_is_remembered_of_old_rounds_does_not_grow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bet_shortcuts, "LOOK_BACK", 2)
    server = opened()
    for request in ("a1", "a2", "a3"):
        lay(server, ("small", 100))
        perform(server, *CONCLUDED, "open-bets")
        assert ask(server, "repeat", request).again is False
        for _ in range(4):  # nobody repeats anything
            perform(server, *CONCLUDED, "open-bets")
    laid = bet_shortcuts._MEMORY[server.engine].laid
    assert len(laid) == 1, list(laid)


def test_after_a_restart_bets_are_repeated_as_before() -> None:
    server = opened()
    lay(server, ("small", 100), ("odd", 200))
    perform(server, *CONCLUDED)
    server.engine.snapshot("table:T1")
    server.restart()
    perform(server, "open-bets")
    assert ask(server, "repeat").again is False
    assert lying(server) == {"small": 100, "odd": 200}
    server.restart()
    assert ask(server, "repeat").again is True


def test_on_another_layout_the_game_has_the_last_word() -> None:
    server = opened()
    lay(server, ("double-single-113", 1_000))
    perform(server, *CONCLUDED)
    server.do(ShowLayout(**server.by("D7"), seat="7", layout="A"))
    perform(server, "open-bets")
    refused = ask(server, "repeat")
    assert (refused.reason, refused.bet, lying(server)) == (
        "not-on-layout",
        bet_shortcuts.bet_id("D7", 1, "a1", 0),
        {},
    )

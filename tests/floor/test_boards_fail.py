"""Boards that fail hold nobody up: what is durable is answered, and followers start from snapshots."""

from __future__ import annotations

from typing import Any

import pytest

from taisai.floor.boards.table import TableBoard
from taisai.game.events import BetRegistered
from tests.floor.connected import Connected, connected

SEAT = "seat:T1/1"


def fails(*_: Any, **__: Any) -> Any:
    """A defect of ours."""
    raise KeyError("a board that does not know its own seat")


@connected()
async def test_a_bet_is_answered_though_the_boards_fail_and_the_terminal_comes_back_to_it(
    house: Connected,
) -> None:
    await house.opens_bets()
    terminal = await house.came("P1")
    await terminal.answer("follow", feed=SEAT)
    with pytest.MonkeyPatch.context() as broken:
        broken.setattr(TableBoard, "take", fails)
        (bet,) = terminal.bets()
        await house.settle()
    assert terminal.answer_to(bet)["tell"] == "done"
    assert [event.id for event in house.events() if isinstance(event, BetRegistered)] == [bet]
    assert (terminal.told[-1]["tell"], terminal.told[-1]["why"]) == ("end", "resync")
    epoch = terminal.told[0]["epoch"]
    back = await house.came("P1")
    assert back.told[0]["epoch"] != epoch
    shown = await back.answer("follow", feed=SEAT, epoch=epoch, after=1)
    assert [one["id"] for one in shown["view"]["bets"]] == [bet]
    back.bets(2)  # the first is the same bet again
    await house.settle()
    assert back.of("change")[-1]["number"] == shown["number"] + 1


@connected()
async def test_a_listener_that_fails_holds_nobody_up(house: Connected) -> None:
    heard: list[object] = []
    house.casino.host.listeners[:] = [fails, heard.append]
    pit = await house.came(house.session("pit-manager"))
    await pit.answer("follow", feed="table:T1")
    await house.opens_bets()
    await house.settle()
    assert len(heard) == 1
    assert pit.of("change")

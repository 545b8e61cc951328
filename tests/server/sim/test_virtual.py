"""Virtual time: it takes none, it has one order, and whoever waits for ever is found out."""

from __future__ import annotations

import asyncio
import time
from random import Random

import pytest

from taisai.client import Disconnected
from tests.server.sim.network import Line, Network
from tests.server.sim.virtual import START, StuckError, VirtualClock, VirtualLoop, run


def test_a_day_goes_by_at_once() -> None:
    async def sleeping(loop: VirtualLoop) -> float:
        await asyncio.sleep(86_400)
        assert VirtualClock(loop).now() == START + 86_400_000
        assert VirtualClock(loop).steady() == 86_400_000
        return loop.time()

    began = time.perf_counter()
    assert run(sleeping, most=100_000) == pytest.approx(86_400)
    assert time.perf_counter() - began < 60  # on the slowest machine


def test_timers_come_in_the_order_of_their_moments() -> None:
    async def timers(loop: VirtualLoop) -> list[int]:
        came: list[int] = []
        chance = Random(1)
        for number in chance.sample(range(100), 100):
            loop.call_later(number / 7, came.append, number)
        await asyncio.sleep(20)
        return came

    assert run(timers) == list(range(100))


def test_anyone_who_waits_for_ever_is_named() -> None:
    async def waiting(_loop: VirtualLoop) -> None:
        await asyncio.get_running_loop().create_future()

    with pytest.raises(StuckError, match=r"got nothing for ever: Task-\d+ at waiting:\d+"):
        run(waiting)


def test_anyone_who_is_busy_for_ever_is_named_too() -> None:
    async def busy(_loop: VirtualLoop) -> None:
        while True:  # noqa: ASYNC110  that is what it is about
            await asyncio.sleep(1)

    with pytest.raises(StuckError, match="expected an end within 50 seconds, got none"):
        run(busy, most=50)


def test_work_for_threads_is_done_in_the_loop() -> None:
    async def threads(_loop: VirtualLoop) -> int:
        return await asyncio.to_thread(sum, (1, 2, 3))

    assert run(threads) == 6


def test_a_line_keeps_its_order_and_a_cut_loses_what_is_under_way() -> None:
    async def line(loop: VirtualLoop) -> None:
        made = Line(Random(3), slow=1.0)
        assert (await made.server_receives())["type"] == "websocket.connect"
        for number in range(20):
            await made.send(f'{{"id":"{number}"}}')
        for number in range(20):
            assert (await made.server_receives())["text"] == f'{{"id":"{number}"}}'
        assert loop.time() < 2
        await made.server_sends({"type": "websocket.send", "text": '[{"type":"done","to":"3"}]'})
        made.cut()
        with pytest.raises(Disconnected):
            await made.receive()
        assert (await made.server_receives())["type"] == "websocket.disconnect"
        assert made.unanswered == [str(number) for number in range(20) if number != 3]

    run(line)


def test_nobody_is_connected_to_a_server_that_is_not_there() -> None:
    async def dialling(_loop: VirtualLoop) -> None:
        with pytest.raises(Disconnected, match="expected a floor, got none"):
            await Network(Random(1), slow=0.1).dial()()

    run(dialling)

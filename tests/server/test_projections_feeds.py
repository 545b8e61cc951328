"""Feeds that count: of seats that there are, and for as long as somebody follows them."""

from __future__ import annotations

from typing import Any

import pytest

from taisai.cage.messages import DeviceKind, EnrolDevice
from taisai.game.refusals import Refusal
from taisai.server.auth.permissions import Role
from taisai.server.projections import table_feeds as table_feeds_module
from taisai.server.projections.feed_writer import FeedWriter
from taisai.server.runtime.house_server import FORGET
from tests.server.virtual_server import PEOPLE, Connected, connected

SEAT = "seat:T1/1"


def counted(house: Connected) -> set[str]:
    """The feeds that count."""
    return set(house.casino.queue.projections._writer._numbers)


async def forgets(house: Connected, times: int = 1) -> None:
    """What happens once a minute."""
    for _ in range(times):
        await house.casino._forget()
        await house.settle()


@connected()
async def test_a_seat_that_the_table_has_not_is_no_feed(house: Connected) -> None:
    pit = await house.came(house.session("pit-manager"))
    before = counted(house)
    for n in range(50):
        told = await pit.answer("follow", feed=f"seat:T1/no such seat {n}")
        assert (told["type"], told["reason"]) == ("refused", "not-known")
    assert counted(house) == before
    assert house.casino.queue.projections.tables["T1"]._seats._feeds == {}
    assert (await pit.answer("follow", feed=SEAT))["type"] == "snapshot"


@connected()
async def test_a_terminal_follows_its_own_seat_before_anybody_has_sat_there(house: Connected) -> None:
    pit = await house.came(house.session("pit-manager"))
    assert (await pit.answer("follow", feed="seat:T1/9"))["type"] == "refused"
    enrolling = EnrolDevice(
        at=house.clock.now(), by=PEOPLE[Role.ADMINISTRATOR], device="P9", kind=DeviceKind.TERMINAL,
        key="ab" * 32, table="T1", seat="9",
    )  # fmt: skip
    enrolled = await house.do(enrolling)
    assert not isinstance(enrolled, Refusal), enrolled
    assert (await pit.answer("follow", feed="seat:T1/9"))["view"]["taken"] is False


# Nobody follows


async def _forgotten(house: Connected) -> None:
    pit = await house.came(house.session("pit-manager"))
    terminal = await house.came("P1")
    feeds = ["pit", "lobby", "table:T1", "console:T1", SEAT]
    for feed in feeds:
        await pit.answer("follow", feed=feed)
    await terminal.answer("follow", feed="table:T1")
    await forgets(house, 3)
    assert counted(house) == set(feeds), "somebody follows"
    pit.hangs_up()
    await house.settle()
    await forgets(house)
    assert counted(house) == set(feeds), "whoever was cut off may come back"
    await forgets(house)
    assert counted(house) == {"table:T1"}
    projections = house.casino.queue.projections
    board = projections.tables["T1"]
    assert (set(projections._writer.views), board._seats._feeds) == ({"table:T1"}, {})
    assert terminal.is_open


@connected()
async def test_what_nobody_follows_for_a_while_is_no_longer_worked_out(house: Connected) -> None:
    await _forgotten(house)
    with pytest.MonkeyPatch.context() as counting:
        counting.setattr(table_feeds_module, "console_view", None)
        await house.opens_bets()
    assert not house.engine.trouble


def test_sabotage_numbers_that_never_forget_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(FeedWriter, "forget", lambda *_: [])
    with pytest.raises(AssertionError):
        connected()(_forgotten)()


async def _comes_back(house: Connected) -> None:
    await house.opens_bets()
    first = await house.came("P1")
    await first.answer("follow", feed=SEAT)
    first.bets(2)
    await house.settle()
    last = first.of("change")[-1]["number"]
    epoch = first.told[0]["epoch"]
    first.hangs_up()
    await house.settle()
    await forgets(house, 2)
    assert SEAT not in counted(house)
    watcher = await house.came(house.session("pit-manager"))
    await watcher.answer("follow", feed=SEAT)  # it counts again, and goes on without him
    other = await house.came("P1")
    other.asks(
        "do", id="x", table="T1",
        do={"command": "place-bets", "round": 1, "seat": "1",
            "bets": [{"id": f"x{n}", "area": "big", "stake": 100} for n in range(3)]},
    )  # fmt: skip
    await house.settle()
    back = await house.came("P1")
    shown = await back.answer("follow", feed=SEAT, epoch=epoch, after=last)
    assert shown["type"] == "snapshot", "his number is of before"
    assert len(shown["view"]["bets"]) == 5
    assert shown["number"] > last


@connected()
async def test_anyone_who_comes_back_to_a_feed_that_was_forgotten_starts_from_a_snapshot(
    house: Connected,
) -> None:
    await _comes_back(house)


def test_sabotage_a_feed_that_counts_from_nought_again_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    follow = FeedWriter.follow

    def anew(self: FeedWriter, feed: str) -> int:
        self._first = 1  # where it was when it had told one change
        return follow(self, feed)

    monkeypatch.setattr(FeedWriter, "follow", anew)
    with pytest.raises(AssertionError):
        connected()(_comes_back)()


@connected()
async def test_anyone_who_comes_in_the_very_moment_is_sent_back_for_a_snapshot(house: Connected) -> None:
    terminal = await house.came("P1")
    await terminal.answer("follow", feed=SEAT)
    epoch, number = terminal.told[0]["epoch"], terminal.of("snapshot")[-1]["number"]
    terminal.hangs_up()
    await house.settle()
    await forgets(house)
    back = await house.came("P1")
    await house.casino._forget()  # it is on its way to the writer when he comes
    back.asks("follow", feed=SEAT, epoch=epoch, after=number)
    await house.settle()
    assert [one["why"] for one in back.of("end")] == ["resync"]


@connected()
async def test_it_is_done_every_minute(house: Connected) -> None:
    await house.casino.start()
    pit = await house.came(house.session("pit-manager"))
    await pit.answer("follow", feed="pit")
    pit.hangs_up()
    await house.pass_(FORGET + 1)
    assert "pit" in counted(house)
    await house.pass_(FORGET)
    assert "pit" not in counted(house)


def test_a_follower_between_two_looks_keeps_the_feed() -> None:
    numbers = FeedWriter()
    assert numbers.follow("a") == 0
    numbers.send("a", None)
    assert [frame.number for frame in numbers.take_frames()] == [1]
    assert numbers.forget(set()) == []
    numbers.follow("a")
    kept: list[Any] = [numbers.forget(set()), numbers.forget({"a"}), numbers.forget(set())]
    assert kept == [[], [], []]
    assert numbers.forget(set()) == ["a"]
    assert "a" not in numbers
    numbers.send("a", None)
    assert numbers.take_frames() == []
    assert numbers.follow("a") == 2, "after every number that it had"

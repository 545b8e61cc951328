"""Boards that fail hold nobody up: what is durable is answered, and followers start from snapshots."""

from __future__ import annotations

from typing import Any

import pytest

from taisai.game.commands import BuyCredits, OpenTable, TakeSeat
from taisai.game.events import BetRegistered
from taisai.game.refusals import Refusal
from taisai.journal import JournalError, Submission, stream_of
from taisai.journal.errors import DamagedError
from taisai.rules import rulebook
from taisai.server.auth.permissions import Role
from taisai.server.projections.house_feeds import READ_AGAIN, HouseFeeds, TableReader
from taisai.server.projections.table_feeds import TableFeeds
from tests.server.virtual_server import BOOK, HERE, LIMITS, PEOPLE, Connected, connected

SEAT = "seat:T1/1"


def fails(*_: Any, **__: Any) -> Any:
    """A defect of ours."""
    raise KeyError("a projection that does not know its own seat")


@connected()
async def test_a_bet_is_answered_though_the_boards_fail_and_the_terminal_comes_back_to_it(
    house: Connected,
) -> None:
    await house.opens_bets()
    terminal = await house.came("P1")
    await terminal.answer("follow", feed=SEAT)
    with pytest.MonkeyPatch.context() as broken:
        broken.setattr(TableFeeds, "apply", fails)
        (bet,) = terminal.bets()
        await house.settle()
    assert terminal.answer_to(bet)["type"] == "done"
    assert [event.id for event in house.events() if isinstance(event, BetRegistered)] == [bet]
    assert (terminal.told[-1]["type"], terminal.told[-1]["why"]) == ("end", "resync")
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
    house.casino.queue.listeners[:] = [fails, heard.append]
    pit = await house.came(house.session("pit-manager"))
    await pit.answer("follow", feed="table:T1")
    await house.opens_bets()
    await house.settle()
    assert len(heard) == 1
    assert pit.of("change")


# A table that cannot be read


def damaged(house: Connected, broken: pytest.MonkeyPatch, name: str = "T2") -> list[str]:
    """From here on a table cannot be read; every try is noted."""
    table, tried = house.engine.table, list[str]()

    def read(asked: str) -> Any:
        if asked == name:
            tried.append(asked)
            raise DamagedError(7, "expected the entry that was written, got another")
        return table(asked)

    broken.setattr(house.engine, "table", read)
    return tried


async def _one_is_damaged(house: Connected) -> None:
    pit = await house.came(house.session("pit-manager"))
    cashier = await house.came(house.session("cashier"))
    terminal = await house.came("P1")
    for line, feed in ((pit, "pit"), (pit, "table:T1"), (cashier, "cage"), (terminal, SEAT)):
        assert (await line.answer("follow", feed=feed))["type"] == "snapshot"
    with pytest.MonkeyPatch.context() as broken:
        tried = damaged(house, broken)
        await house.opens_bets()
        terminal.bets(3)
        await house.settle()
        assert [len(one["changes"]["placed"]) for one in terminal.of("change")] == [1, 1, 1]
        assert [one["type"] for line in (pit, cashier, terminal) for one in line.told].count("end") == 0
        shown = next(one for one in pit.of("change") if one["feed"] == "pit" and "tables" in one["changes"])
        assert [one["name"] for one in shown["changes"]["tables"]] == ["T1"]
        (alarm,) = shown["changes"]["alarms"]
        assert alarm["about"] == "T2"
        assert "expected the entry that was written, got another" in alarm["says"]["en"]
        assert len(tried) == 1, "to read it may take seconds"
        health = await house.request("GET", "/health", client=HERE)
        assert (health.status, health.said["status"]) == (200, "trouble")
        assert "T2" in health.said["trouble"]
        assert [one["name"] for one in health.said["tables"]] == ["T1"]
        books = await house.casino.queue.run(lambda _engine: house.casino.queue.projections.books())
        assert not books.balanced
        assert any("T2" in says for says in books.off)
        assert (await pit.answer("follow", feed="table:T2"))["reason"] == "not-known"
    assert list(house.casino.queue.projections.unreadable) == ["T2"]
    await house.opens_bets("T2")
    assert house.casino.queue.projections.unreadable == {}, "where something was decided, something was read"
    await house.pass_(2)
    assert (await pit.answer("follow", feed="table:T2"))["view"]["round"]["bets_open"]
    assert (await house.request("GET", "/health")).said["status"] == "ok"


@connected()
async def test_a_table_that_cannot_be_read_is_left_out_and_silences_nobody(house: Connected) -> None:
    await _one_is_damaged(house)


def test_sabotage_boards_that_ask_for_every_table_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(TableReader, "read", lambda _self, name, look: look(name))
    with pytest.raises(AssertionError):
        connected()(_one_is_damaged)()


@connected()
async def test_boards_that_begin_again_leave_it_out_too_and_take_it_in_when_it_can_be_read(
    house: Connected,
) -> None:
    projections = house.casino.queue.projections
    with pytest.MonkeyPatch.context() as broken:
        damaged(house, broken)
        projections.begin_again()
        assert list(projections.tables) == ["T1"]
        assert list(projections.unreadable) == ["T2"]
        projections.refresh()
        assert list(projections.tables) == ["T1"]
    projections.refresh()
    assert list(projections.tables) == ["T1"], "not at every look"
    await house.pass_(READ_AGAIN / 1000)
    projections.refresh()
    assert list(projections.tables) == ["T1", "T2"]
    assert projections.unreadable == {}
    with pytest.MonkeyPatch.context() as broken:
        damaged(house, broken, "T9")
        with pytest.raises(JournalError, match="table 'T9' does not exist or cannot be read"):
            projections.rounds("T9", most=1, own=False)
        projections.ring("T9", 0)
    assert projections.unreadable == {}, "a name that somebody made up is no fault"


async def _opened_in_a_group(house: Connected) -> None:
    queue, stream, now = house.casino.queue, stream_of("T3"), house.clock.now()
    head = PEOPLE[Role.SHIFT_MANAGER]
    seat: Any = {"seat": "1", "by": "X1", "at": now}
    opening = OpenTable(
        at=now, by=head, rank="shift-manager", table="T3", limits=LIMITS, currency="SGD", day="2026-11-15",
        zone="Asia/Singapore", demonstration=False,
    )  # fmt: skip
    told: list[Any] = []
    queue.submit(Submission(stream, opening, rulebook(BOOK)), told.append)
    for command in (
        TakeSeat(**seat, player="may", terminal="X1", layout="B"),
        BuyCredits(**seat, amount=1_000),
        BuyCredits(**seat, amount=500),
    ):
        queue.submit(Submission(stream, command), told.append)
    await house.settle()
    assert len(told) == 4
    assert not [one for one in told if isinstance(one, Refusal)]
    (line,) = [one for one in queue.projections.report().tables if one.table == "T3"]
    assert line.drop == 1_500


@connected()
async def test_what_follows_the_opening_of_a_table_in_one_group_is_counted_once(house: Connected) -> None:
    await _opened_in_a_group(house)


def test_sabotage_what_is_counted_twice_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    frames = HouseFeeds.frames

    def forgetful(self: HouseFeeds, answered: Any) -> Any:
        return [frame for answer in answered for frame in frames(self, [answer])]

    monkeypatch.setattr(HouseFeeds, "frames", forgetful)
    with pytest.raises(AssertionError):
        connected()(_opened_in_a_group)()

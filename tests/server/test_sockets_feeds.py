"""Feeds over sockets: numbered, without a gap, and never held up by a client that is slow."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from taisai.game.commands import TakeSeat
from taisai.game.refusals import Refusal
from taisai.protocol.replies import ChangeNotice, SnapshotNotice
from taisai.protocol.views import changed
from taisai.server.connections import feeds as outbox
from taisai.server.connections.feeds import RING
from taisai.server.connections.sockets import MOST_FOLLOWED
from tests.server.virtual_server import Connected, Line, Tell, connected

SEAT = "seat:T1/1"


def numbers(line: Line, feed: str = SEAT) -> list[int]:
    """The numbers that a client heard of a feed, snapshots included."""
    return [tell["number"] for tell in line.told if tell.get("feed") == feed and tell["type"] != "following"]


def assembled(told: list[Tell], feed: str = SEAT) -> Any:
    """What a client shows that took a snapshot and every change after it."""
    view: Any = None
    for tell in told:
        if tell.get("feed") != feed:
            continue
        if tell["type"] == "snapshot":
            view = msgspec.convert(tell, SnapshotNotice, strict=False).view
        elif tell["type"] == "change":
            view = changed(view, msgspec.convert(tell, ChangeNotice, strict=False).changes)
    return view


async def fresh(house: Connected, feed: str = SEAT) -> Tell:
    """The feed as it stands."""
    line = await house.came(house.session("shift-manager"))
    return await line.answer("follow", feed=feed)


async def following(house: Connected, feed: str = SEAT) -> Line:
    """Someone of the staff who follows a seat."""
    line = await house.came(house.session("pit-manager"))
    assert (await line.answer("follow", feed=feed))["type"] == "snapshot"
    return line


# Numbers


@connected()
async def test_a_feed_counts_on_from_its_snapshot_without_a_gap(house: Connected) -> None:
    await house.opens_bets()
    terminal, pit = await house.came("P1"), await following(house)
    terminal.bets(5)
    await house.settle()
    late = await following(house)
    terminal.bets(5)
    await house.settle()
    assert numbers(pit) == list(range(11))
    assert numbers(late) == list(range(5, 11))
    assert assembled(pit.told) == assembled(late.told) == assembled([await fresh(house)])


@connected()
async def test_feeds_count_apart_from_each_other(house: Connected) -> None:
    line = await following(house)
    for feed in ("table:T1", "seat:T1/2", "lobby"):
        await line.answer("follow", feed=feed)
    await house.opens_bets()
    (await house.came("P2")).bets(3, seat="2")
    (await house.came("P1")).bets(2)
    await house.settle()
    assert numbers(line) == [0, 1, 2]
    assert numbers(line, "seat:T1/2") == [0, 1, 2, 3]
    assert numbers(line, "table:T1")[:2] == [0, 1]


@connected()
async def test_anyone_who_returns_hears_exactly_what_they_missed_or_starts_afresh(house: Connected) -> None:
    await house.opens_bets()
    terminal, witness = await house.came("P1"), await following(house)
    terminal.bets(RING + 6)
    await house.settle()
    last = RING + 6
    frames = {tell["number"]: tell for tell in witness.of("change")}
    assert list(frames) == list(range(1, last + 1))
    epoch = witness.told[0]["epoch"]
    line = await house.came(house.session("pit-manager"))
    for after in range(-1, last + 2):
        line.told.clear()
        tell = await line.answer("follow", feed=SEAT, epoch=epoch, after=after)
        if last - RING <= after <= last:
            assert [tell for tell in line.told if tell["type"] == "change"] == [
                frames[number] for number in range(after + 1, last + 1)
            ]
            assert (tell["type"], tell["number"], line.told[-1]) == ("following", last, tell)
        else:
            assert [tell] == line.told
            assert (tell["type"], tell["number"]) == ("snapshot", last)


@connected()
async def test_a_number_of_another_start_is_worth_nothing(house: Connected) -> None:
    await house.opens_bets()
    await following(house)
    line = await house.came(house.session("pit-manager"))
    for given in ({"epoch": "another", "after": 0}, {"after": 0}, {"epoch": line.told[0]["epoch"]}):
        assert (await line.answer("follow", feed=SEAT, **given))["type"] == "snapshot"


@connected()
async def test_bets_that_come_while_somebody_returns_are_shown_once(house: Connected) -> None:
    await house.opens_bets()
    terminal, line = await house.came("P1"), await following(house)
    epoch = line.told[0]["epoch"]
    for _ in range(20):
        terminal.bets(2)
        line.hangs_up()
        last = numbers(line)[-1]
        told = line.told
        line = await house.line()  # while the bets are on their way to the disk
        await line.hello(house.session("pit-manager"))
        terminal.bets(1)
        line.asks("follow", feed=SEAT, epoch=epoch, after=last)
        terminal.bets(1)
        await house.settle()
        line.told[:0] = told
    assert numbers(line) == list(range(81))
    assert assembled(line.told) == assembled([await fresh(house)])


@connected()
async def test_to_follow_twice_is_to_follow_once(house: Connected) -> None:
    await house.opens_bets()
    terminal, line = await house.came("P1"), await following(house)
    await line.answer("follow", feed=SEAT)
    terminal.bets(2)
    await house.settle()
    assert numbers(line) == [0, 0, 1, 2]


@connected()
async def test_after_unfollow_nothing_more_is_shown(house: Connected) -> None:
    await house.opens_bets()
    terminal, line = await house.came("P1"), await following(house)
    assert (await line.answer("unfollow", feed=SEAT))["type"] == "following"
    terminal.bets(2)
    await house.settle()
    assert numbers(line) == [0]
    line.asks("follow", feed=SEAT)
    line.asks("unfollow", feed=SEAT)
    await house.settle()
    terminal.bets(2)
    await house.settle()
    assert numbers(line) == [0, 2], "the snapshot was told, and nothing after it"


@pytest.mark.parametrize(
    "feed", ["", "all", "table:", "table:T9", "table:T1/1", "seat:T1", "seat:T1/", "console:"]
)
@connected()
async def test_a_feed_that_is_none_is_refused(house: Connected, feed: str) -> None:
    line = await house.came(house.session("shift-manager"))
    tell = await line.answer("follow", feed=feed)
    assert tell["type"] == "refused"
    assert tell["reason"] in ("not-known", "not-permitted")
    assert tell["message"].startswith(("expected ", "not permitted", "unknown feed "))
    assert not house.dispatcher.queue.feeds.get(feed)


@pytest.mark.parametrize("at_once", [True, False])
@connected()
async def test_so_many_feeds_and_not_one_more(house: Connected, *, at_once: bool) -> None:
    line = await house.came(house.session("shift-manager"))
    ids = []
    for number in range(MOST_FOLLOWED + 1):
        if str(number) not in house.engine.table("T1").seats:  # only those that there are can be followed
            sits = {"seat": str(number), "player": f"M{number}", "terminal": f"M{number}", "layout": "B"}
            assert not isinstance(
                await house.do(TakeSeat(at=house.clock.now(), by=f"M{number}", **sits), "T1"), Refusal
            )
    for number in range(MOST_FOLLOWED + 1):
        ids.append(line.asks("follow", feed=f"seat:T1/{number}"))
        if not at_once:
            await house.settle()
    await house.settle()
    told = [line.answer_to(id_) for id_ in ids]
    assert [tell["type"] for tell in told] == ["snapshot"] * MOST_FOLLOWED + ["refused"]
    assert told[-1]["message"] == f"expected at most {MOST_FOLLOWED} feeds"
    assert (await line.answer("follow", feed="seat:T1/0"))["type"] == "snapshot"
    await line.answer("unfollow", feed="seat:T1/0")
    assert (await line.answer("follow", feed="lobby"))["type"] == "snapshot"


# Registered or refused, never silence


@pytest.mark.parametrize("feeds", [(), (SEAT,), ("table:T1",), (SEAT, "table:T1")], ids=str)
@connected()
async def test_every_bet_is_registered_or_refused_once(house: Connected, feeds: tuple[str, ...]) -> None:
    await house.opens_bets()
    line = await house.came("P1")
    for feed in feeds:
        line.asks("follow", feed=feed)
    good = line.bets(20)
    bad = line.bets(5, stake=20_001) + line.bets(5, area="nowhere")
    again = [line.asks("do", id="again", table="T1", do={
        "command": "place-bets", "round": 1, "seat": "1",
        "bets": [{"id": good[0], "area": "small", "stake": 100}],
    })]  # fmt: skip
    await house.settle()
    assert {line.answer_to(id_)["type"] for id_ in good} == {"done"}
    assert {line.answer_to(id_)["type"] for id_ in bad} == {"refused"}
    assert line.answer_to(again[0]) == {"type": "done", "to": "again", "again": True}
    assert house.engine.table("T1").seats["1"].at_risk == 2_000


@connected()
async def test_a_bet_is_answered_while_its_seat_is_about_to_be_followed(house: Connected) -> None:
    await house.opens_bets()
    line = await house.came("P1")
    ids = line.bets(3)
    line.asks("follow", feed=SEAT)
    ids += line.bets(3)
    line.asks("unfollow", feed=SEAT)
    ids += line.bets(3)
    await house.settle()
    assert [line.answer_to(id_)["type"] for id_ in ids] == ["done"] * 9
    await line.answer("follow", feed=SEAT)
    ids = line.bets(3)
    line.asks("unfollow", feed=SEAT)
    await house.settle()
    assert [line.answer_to(id_)["type"] for id_ in ids] == ["done"] * 3


# Slow clients


@connected()
async def test_a_slow_connection_is_closed_and_delays_nobody(
    house: Connected, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outbox, "MOST_MESSAGES", 10)
    await house.opens_bets()
    terminal, slow, quick = await house.came("P1"), await following(house), await following(house)
    slow.stalls()
    terminal.bets(1)
    await house.settle()
    for _ in range(10):  # the first waits in the line itself, ten in the outbox
        terminal.bets(1)
        await house.settle()
    assert not slow.serving.done()
    terminal.bets(1)
    await house.settle()
    assert slow.serving.done()
    assert len(house.dispatcher.sockets) == 2
    assert numbers(quick) == list(range(13)), "the other has been told everything meanwhile"
    assert b"taisai_sockets_cut_off_total 1.0" in house.dispatcher.metrics.text()
    back = await house.came(house.session("pit-manager"))
    tell = await back.answer("follow", feed=SEAT, epoch=slow.told[0]["epoch"], after=numbers(slow)[-1])
    assert tell["type"] == "following"
    assert assembled(slow.told + back.told) == assembled([await fresh(house)])


@connected()
async def test_who_was_only_told_much_at_once_is_not_cut_off(
    house: Connected, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outbox, "MOST_MESSAGES", 10)
    await house.opens_bets()
    terminal, pit = await house.came("P1"), await following(house)
    terminal.bets(50)  # all of them in one group
    await house.settle()
    assert numbers(pit) == list(range(51))
    assert pit.is_open


@connected()
async def test_who_is_slow_for_a_while_misses_nothing(house: Connected) -> None:
    await house.opens_bets()
    terminal, pit = await house.came("P1"), await following(house)
    pit.stalls()
    for _ in range(5):
        terminal.bets(3)
        await house.settle()
    assert numbers(pit) == [0]
    pit.goes_on()
    await house.settle()
    assert numbers(pit) == list(range(16))
    assert len(pit.messages) < 8, "what had come meanwhile went together"

"""What a client has to do on a server that answers late, twice, never, or not any more."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from taisai.client import Change, Client, ClientError, Disconnected, Refused, Terminal
from taisai.protocol import replies
from taisai.protocol.views import CHANGES, Changes, LobbyView, SeatView
from tests.client.scripted_server import PACE, Line, Server, client_of

SEAT = SeatView(
    seat="1", taken=True, player="Ann", session=1, since=0, net=0, layout="A", credits=900, at_risk=0,
    payable=0, bets=(), last=None, withdrawal=False, withdrew=None, claims=(),
)  # fmt: skip
FEED = "seat:T1/1"


def has(amount: int) -> Changes:
    """A change of the seat's credits alone."""
    made: Any = CHANGES[SeatView]
    return made(credits=amount)  # type: ignore[no-any-return]


def change(number: int, amount: int) -> replies.ChangeNotice:
    """The next change of the seat's feed."""
    return replies.ChangeNotice(feed=FEED, number=number, changes=has(amount))


async def started(server: Server, kind: type[Client] = Client, *who: Any, **fields: Any) -> tuple[Any, Line]:
    """A client that is in, and its line."""
    client = client_of(server, kind, *who)
    coming = asyncio.ensure_future(client.start())
    line = await server.welcomed(**fields)
    await coming
    return client, line


async def following(server: Server, number: int = 5) -> tuple[Client, Line]:
    """A client that follows the seat's feed, at a number."""
    client, line = await started(server)
    shown = asyncio.ensure_future(client.follow(FEED))
    ask = await line.asked()
    assert (ask["type"], ask["feed"], ask["after"]) == ("follow", FEED, None)
    line.tell(replies.SnapshotNotice(feed=FEED, number=number, view=SEAT, to=ask["id"]))
    assert await shown == SEAT
    return client, line


# Asks and answers


async def answers_find_their_asks(server: Server) -> None:
    """In whatever order they come, and not those of others."""
    client, line = await started(server)
    first = asyncio.ensure_future(client.do("perform", table="T1", act="tumble", tumbles=3))
    second = asyncio.ensure_future(client.do("redeem-ticket", ticket="x"))
    asked = [await line.asked(), await line.asked()]
    line.tell(
        replies.DoneReply(to="somebody-else's"),
        replies.DoneReply(to=asked[1]["id"], amount=7),
        replies.DoneReply(to=asked[0]["id"]),
    )
    assert (await second).amount == 7
    assert (await first).to == asked[0]["id"]
    assert asked[0]["do"] == {"command": "perform", "act": "tumble", "tumbles": 3, "faces": [], "flat": True}
    await client.close()


async def a_refusal_has_its_reason_and_clause(server: Server) -> None:
    """It is raised, with everything that the server said."""
    client, line = await started(server)
    asked = asyncio.ensure_future(client.do("redeem-ticket", ticket="x"))
    id_ = (await line.asked())["id"]
    line.tell(
        replies.RefusedReply(to=id_, reason="late", message="expected a, got b", clause="3.5", bet="b1")
    )
    with pytest.raises(Refused, match=r"late: expected a, got b \(3\.5\)") as refused:
        await asked
    assert (refused.value.reason, refused.value.clause, refused.value.bet) == ("late", "3.5", "b1")
    await client.close()


async def nobody_waits_for_ever(server: Server) -> None:
    """An ask that is never answered ends, and says that nobody knows."""
    client, line = await started(server)
    began = asyncio.get_running_loop().time()
    with pytest.raises(Disconnected, match="within 10 seconds") as ended:
        await client.do("redeem-ticket", ticket="x")
    assert ended.value.in_doubt
    assert asyncio.get_running_loop().time() - began == pytest.approx(PACE.reply)
    with pytest.raises(Disconnected):
        await client.follow("lobby")
    assert not line.is_cut
    await client.close()


async def bets_in_doubt_are_sent_again(server: Server) -> None:
    """The very same text on the next connection: the ids make it harmless."""
    client, line = await started(server, Terminal_without_feeds, table="T1", seat="1")
    placed = asyncio.ensure_future(client.do("place-bets", table="T1", seat="1", round=1, bets=[BET]))
    first = await line.asked()
    line.cut()
    again = await server.welcomed()
    assert await again.asked() == first
    again.tell(replies.DoneReply(to=first["id"], again=True), replies.DoneReply(to=first["id"], again=True))
    assert (await placed).again
    await client.close()


async def what_may_not_be_repeated_is_in_doubt(server: Server) -> None:
    """Credits bought twice are paid twice: the client does not guess."""
    client, line = await started(server)
    bought = asyncio.ensure_future(client.do("buy-credits", table="T1", seat="1", amount=100))
    await line.asked()
    line.cut()
    with pytest.raises(Disconnected, match="the views show") as ended:
        await bought
    assert ended.value.in_doubt
    again = await server.welcomed()
    await asyncio.sleep(1)
    assert [ask["type"] for ask in again.sent] == ["hello"]
    await client.close()


async def an_undo_is_repeated_within_a_start_alone(server: Server) -> None:
    """The server remembers what it took back until it stops."""
    client, line = await started(server, Terminal_without_feeds, table="T1", seat="1")
    for epoch, sent in (("e1", ["hello", "undo"]), ("e2", ["hello"])):
        undone = asyncio.ensure_future(client.undo())
        id_ = (await line.asked())["id"]
        line.cut()
        server.epoch = epoch
        line = await server.welcomed(table="T1", seat="1")
        await asyncio.sleep(1)
        assert [ask["type"] for ask in line.sent] == sent
        line.tell(replies.DoneReply(to=id_))
        if epoch == "e1":
            assert await line.asked()
            await undone
        else:
            with pytest.raises(Disconnected):
                await undone
    await client.close()


async def an_ask_without_a_connection_waits_for_the_next(server: Server) -> None:
    """It never went out, so it may go out once, whatever it is."""
    client, line = await started(server)
    line.cut()
    await asyncio.sleep(0)
    await asyncio.sleep(0.01)
    assert not client.is_connected
    bought = asyncio.ensure_future(client.do("buy-credits", table="T1", seat="1", amount=100))
    again = await server.welcomed()
    id_ = (await again.asked())["id"]
    again.tell(replies.DoneReply(to=id_))
    await bought
    await client.close()


async def too_long_an_ask_is_not_sent(server: Server) -> None:
    """It would be refused, and its id with it."""
    client, line = await started(server)
    with pytest.raises(ValueError, match="at most 65536"):
        await client.do("redeem-ticket", ticket="x" * 70_000)
    assert [ask["type"] for ask in line.sent] == ["hello"]
    await client.close()


# Feeds


async def a_view_is_always_current(server: Server) -> None:
    """Each change is in it before anyone hears of it."""
    client, line = await following(server)
    seen: list[Change] = []

    async def read() -> None:
        async for one in client.changes(FEED):
            seen.append(one)  # noqa: PERF401  it is read from outside, while it grows

    reading = asyncio.ensure_future(read())
    poor = asyncio.ensure_future(client.until(FEED, lambda seat: seat.credits < 100))
    await asyncio.sleep(0.1)
    line.tell(change(6, 500), change(7, 50))
    shown = await poor
    assert isinstance(shown, SeatView)
    assert shown.credits == 50
    assert client.view_as(FEED, SeatView).credits == 50
    await asyncio.sleep(0.1)
    assert [(one.number, one.view.credits) for one in seen if isinstance(one.view, SeatView)] == [
        (6, 500),
        (7, 50),
    ]
    with pytest.raises(ClientError, match="expected seat:T1/1 to show a LobbyView"):
        client.view_as(FEED, LobbyView)
    await client.close()
    with pytest.raises(Disconnected):
        await reading


async def a_gap_is_noticed_and_mended(server: Server) -> None:
    """The feed is followed again, from a snapshot, and the gap is told."""
    client, line = await following(server)
    line.tell(change(7, 100))
    ask = await line.asked()
    assert (ask["type"], ask["after"], ask["epoch"]) == ("follow", None, None)
    assert client.gaps == [f"{FEED}: expected 6, got 7"]
    assert client.view_as(FEED, SeatView).credits == 900
    line.tell(change(8, 200))  # which was on its way
    line.tell(replies.SnapshotNotice(feed=FEED, number=8, view=SEAT, to=ask["id"]), change(9, 300))
    await client.until(FEED, lambda seat: seat.credits == 300, within=1)
    assert client.position(FEED) == ("e1", 9)
    await client.close()


async def whoever_comes_back_goes_on_where_he_was(server: Server) -> None:
    """With epoch and number, and without them where the server has started again."""
    client, line = await following(server)
    line.tell(change(6, 800))
    await client.until(FEED, lambda seat: seat.credits == 800)
    line.cut()
    again = await server.welcomed()
    ask = await again.asked()
    assert (ask["epoch"], ask["after"]) == ("e1", 6)
    again.tell(change(7, 700), replies.FollowingReply(to=ask["id"], feed=FEED, number=7))
    await client.until(FEED, lambda seat: seat.credits == 700, within=1)
    again.cut()
    server.epoch = "e2"
    third = await server.welcomed()
    ask = await third.asked()
    assert (ask["epoch"], ask["after"]) == (None, None)
    third.tell(replies.SnapshotNotice(feed=FEED, number=0, view=SEAT, to=ask["id"]))
    await client.until(FEED, lambda seat: seat.credits == 900, within=1)
    assert client.gaps == []
    assert client.position(FEED) == ("e2", 0)
    await client.close()


async def a_catch_up_that_is_short_is_a_gap(server: Server) -> None:
    """The server says where the feed stands; what was told must lead there."""
    client, line = await following(server)
    line.cut()
    again = await server.welcomed()
    ask = await again.asked()
    again.tell(replies.FollowingReply(to=ask["id"], feed=FEED, number=6))
    assert (await again.asked())["after"] is None
    assert len(client.gaps) == 1
    await client.close()


async def a_bet_is_acknowledged_after_its_change(server: Server) -> None:
    """The view has the bet by the time that it is acknowledged."""
    client, line = await following(server)
    placed = asyncio.ensure_future(client.do("place-bets", table="T1", seat="1", round=1, bets=[BET]))
    id_ = (await line.asked())["id"]
    line.tell(change(6, 400), replies.DoneReply(to=id_))
    assert isinstance(await placed, replies.DoneReply)
    assert client.view_as(FEED, SeatView).credits == 400
    await client.close()


async def a_feed_that_is_refused_is_not_followed(server: Server) -> None:
    """And can be asked for once more."""
    client, line = await started(server)
    for _ in range(2):
        shown = asyncio.ensure_future(client.follow("pit"))
        id_ = (await line.asked())["id"]
        line.tell(
            replies.RefusedReply(to=id_, reason="not-permitted", message="expected staff, got terminal")
        )
        with pytest.raises(Refused, match="not-permitted"):
            await shown
    with pytest.raises(ClientError, match="is not followed"):
        client.view("pit")
    await client.close()


async def a_feed_that_is_left_is_not_asked_for_again(server: Server) -> None:
    """Nor do those who wait for it hang."""
    client, line = await following(server)
    waiting = asyncio.ensure_future(client.until(FEED, lambda _: False))
    await asyncio.sleep(0.1)
    leaving = asyncio.ensure_future(client.unfollow(FEED))
    id_ = (await line.asked())["id"]
    line.tell(change(6, 1), replies.FollowingReply(to=id_, feed=FEED, number=0))
    await leaving
    with pytest.raises(Disconnected):
        await waiting
    line.cut()
    again = await server.welcomed()
    await asyncio.sleep(1)
    assert [ask["type"] for ask in again.sent] == ["hello"]
    await client.close()


# Coming and going


async def a_floor_that_does_not_know_it_is_not_asked_again(server: Server) -> None:
    """A session that has ended stays so: everyone hears of it."""
    client, line = await following(server)
    waiting = asyncio.ensure_future(client.until(FEED, lambda _: False))
    line.tell(replies.EndNotice(why="revoked", message="the session has ended (revoked)"))
    again = await server.line()
    id_ = (await again.asked())["id"]
    again.tell(
        replies.RefusedReply(to=id_, reason="not-known", message="expected a session, got none"),
        replies.EndNotice(why="not-known", message="expected a session, got none"),
    )
    with pytest.raises(Refused, match="not-known"):
        await waiting
    with pytest.raises(Refused, match="not-known"):
        await client.do("redeem-ticket", ticket="x")
    await asyncio.sleep(60)
    assert server.dialled == 2
    await client.close()


async def one_that_was_replaced_does_not_come_back(server: Server) -> None:
    """To come back would close the newer connection of the same device, which would come back in turn."""
    client, line = await following(server)
    waiting = asyncio.ensure_future(client.until(FEED, lambda _: False))
    line.tell(replies.EndNotice(why="replaced", message="P1 connected again elsewhere"))
    with pytest.raises(Refused, match="replaced: P1 connected again elsewhere"):
        await waiting
    await asyncio.sleep(60)
    assert server.dialled == 1
    await client.close()


async def it_gives_up_at_last(server: Server) -> None:
    """After so many vain tries, each after a longer wait than the one before."""
    client, line = await following(server)
    waiting = asyncio.ensure_future(client.until(FEED, lambda _: False))
    server.is_open = False
    began = asyncio.get_running_loop().time()
    line.cut()
    with pytest.raises(Disconnected, match="expected a floor, got none"):
        await waiting
    assert server.dialled == 1 + PACE.tries
    waits = [PACE.wait(tried, 0.0) for tried in range(PACE.tries)]
    assert waits == [0.5, 1.0, 2.0, 2.0, 2.0]
    assert asyncio.get_running_loop().time() - began == pytest.approx(sum(waits))
    await client.close()


async def without_a_floor_it_does_not_start(server: Server) -> None:
    """And may be started later."""
    server.is_open = False
    client = client_of(server)
    with pytest.raises(Disconnected):
        await client.start()
    server.is_open = True
    coming = asyncio.ensure_future(client.start())
    await server.welcomed()
    await coming
    await client.close()


async def a_floor_that_says_nothing_is_left(server: Server) -> None:
    """Silence at the door is no welcome."""
    client = client_of(server)
    with pytest.raises(Disconnected, match="no welcome within 5 seconds"):
        await client.start()
    assert server.lines[0].is_cut


async def rubbish_ends_it_with_words(server: Server) -> None:
    """Nobody hangs, whatever the server says."""
    client, line = await following(server)
    waiting = asyncio.ensure_future(client.until(FEED, lambda _: False))
    await asyncio.sleep(0.1)
    line.say('[{"type":"riddle"}]')
    with pytest.raises(ClientError, match="invalid message from the server"):
        await waiting
    await client.close()


async def closing_tells_everyone(server: Server) -> None:
    """Whoever waits hears of it."""
    client, line = await following(server)
    waits = [
        asyncio.ensure_future(client.until(FEED, lambda _: False)),
        asyncio.ensure_future(client.do("redeem-ticket", ticket="x")),
    ]
    await line.asked()
    await client.close()
    for wait in waits:
        with pytest.raises(Disconnected):
            await wait
    assert line.is_cut
    with pytest.raises(Disconnected):
        await client.follow("lobby")


class Terminal_without_feeds(Terminal):  # noqa: N801  it reads as what it is
    """A terminal whose feeds are not of interest."""

    async def _begin(self) -> None:
        pass


BET = {"id": "b1", "area": "small", "stake": 100}
STORIES = (
    answers_find_their_asks, a_refusal_has_its_reason_and_clause, nobody_waits_for_ever,
    bets_in_doubt_are_sent_again, what_may_not_be_repeated_is_in_doubt,
    an_undo_is_repeated_within_a_start_alone, an_ask_without_a_connection_waits_for_the_next,
    too_long_an_ask_is_not_sent, a_view_is_always_current, a_gap_is_noticed_and_mended,
    whoever_comes_back_goes_on_where_he_was, a_catch_up_that_is_short_is_a_gap,
    a_bet_is_acknowledged_after_its_change, a_feed_that_is_refused_is_not_followed,
    a_feed_that_is_left_is_not_asked_for_again, a_floor_that_does_not_know_it_is_not_asked_again,
    one_that_was_replaced_does_not_come_back,
    it_gives_up_at_last, without_a_floor_it_does_not_start, a_floor_that_says_nothing_is_left,
    rubbish_ends_it_with_words, closing_tells_everyone,
)  # fmt: skip
"""Every story."""

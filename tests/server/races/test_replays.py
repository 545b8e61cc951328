"""The same asks again, on the same connection and on others, meanwhile and later: nothing happens."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import NamedTuple

import msgspec
import uvloop

from tests.server.races.crowd import Crowd, Tell, place, terminals
from tests.server.races.journal_totals import Reckoning
from tests.server.races.race_house import CREDITS, RWS, TABLE, furnish
from tests.server.races.server_process import Order
from tests.server.races.server_processes import Servers

TERMINALS = 100
EACH = 50  # bets of a terminal, each sent three times while bets are open: 10,000 replays
STAKE = 100
AREAS = ("small", "big", "odd", "even")


class Seat(msgspec.Struct):
    """What is looked at of a seat."""

    credits: int
    at_risk: int


class Replayed(NamedTuple):
    """What everyone was told, and what came of it."""

    each: int
    crowd: Crowd
    seats: list[Seat]
    """While the bets were open."""
    other: list[Tell]
    """What was answered to known ids with other content."""
    journal: Reckoning


def _bet(seat: int, number: int, stake: int = STAKE) -> bytes:
    id_ = f"{seat}-{number}"
    return place(id_, seat, 1, [{"id": id_, "area": AREAS[number % 4], "stake": stake}])


async def _replayed(processes: Servers, folder: Path, each: int, sabotage: str | None = None) -> Replayed:
    furnish(folder, RWS, TERMINALS)
    server = await processes.open(Order(folder=str(folder), book=RWS, sabotage=sabotage))
    crowd, random = Crowd(), Random(7)
    first = await crowd.come(server.port, terminals(TERMINALS))
    again = await crowd.come(server.port, terminals(TERMINALS))
    for number in range(0, TERMINALS, 2):
        crowd.follow(number, f"seat:{TABLE}/{number}")
    await crowd.answered()
    await server.until("open")
    for start in range(0, each, 10):
        sending = [
            (connection, seat, number)
            for seat in range(TERMINALS)
            for number in range(start, start + 10)
            for connection in (first[seat], first[seat], again[seat])
        ]
        random.shuffle(sending)
        for connection, seat, number in sending:
            crowd.ask(connection, f"{seat}-{number}", _bet(seat, number))
        if start == each - 10:  # and some of those that were answered long ago
            for seat in range(TERMINALS):
                crowd.ask(again[seat], f"{seat}-0", _bet(seat, 0))
        await crowd.answered()
    seats = await _seats(crowd, again)
    await server.until("between")
    late = await crowd.come(server.port, terminals(TERMINALS))
    for seat in range(TERMINALS):
        crowd.ask(late[seat], f"{seat}-1", _bet(seat, 1))
        other = f"other {seat}"
        text = _bet(seat, 2, 2 * STAKE).replace(
            f'"id":"{seat}-2","table"'.encode(), f'"id":"{other}","table"'.encode()
        )
        crowd.ask(late[seat], other, text)
    await crowd.answered()
    told = [crowd.answers[late[seat]][f"other {seat}"][0] for seat in range(TERMINALS)]
    crowd.leave()
    await server.stop()
    return Replayed(each, crowd, seats, told, Reckoning(folder))


async def _seats(crowd: Crowd, connections: list[int]) -> list[Seat]:
    feeds = [f"seat:{TABLE}/{seat}" for seat in range(TERMINALS)]
    for connection, feed in zip(connections, feeds, strict=True):
        crowd.follow(connection, feed)
    await crowd.answered()
    return [
        msgspec.json.decode(crowd.answers[connection][feed][0].view, type=Seat)
        for connection, feed in zip(connections, feeds, strict=True)
    ]


def _wrongs(replayed: Replayed) -> Iterator[str]:
    crowd, journal = replayed.crowd, replayed.journal
    yield from journal.wrongs()
    expected = {f"{seat}-{number}" for seat in range(TERMINALS) for number in range(replayed.each)}
    if journal.bets.keys() != expected:
        yield f"expected {len(expected)} bets, got {len(journal.bets)}"
    at_risk = replayed.each * STAKE
    if set(map(msgspec.structs.astuple, replayed.seats)) != {(CREDITS - at_risk, at_risk)}:
        yield f"expected {at_risk} of every seat at risk, got {replayed.seats[:3]}"
    for number, answers in enumerate(crowd.answers):
        for id_, told in answers.items():
            if id_ in expected and not all(one.is_done for one in told):
                yield f"expected every replay to be as good as the first, got {told} ({number}, {id_})"
    if {(one.type, one.reason, one.clause) for one in replayed.other} != {
        ("refused", "different-content", "house:retries")
    }:
        yield f"expected other content under a known id to be refused, got {replayed.other[0]}"


def test_ten_thousand_replays_change_nothing(processes: Servers, tmp_path: Path) -> None:
    replayed = uvloop.run(_replayed(processes, tmp_path, EACH))
    assert list(_wrongs(replayed)) == []
    assert list(replayed.journal.kept()) == []


def test_sabotage_replays_that_count_as_new_are_found(processes: Servers, tmp_path: Path) -> None:
    replayed = uvloop.run(_replayed(processes, tmp_path, 10, "new-ids"))
    found = "\n".join(_wrongs(replayed))
    assert "expected 1000 bets, got 3" in found
    assert "expected 1000 of every seat at risk" in found

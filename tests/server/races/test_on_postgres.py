"""Journals in PostgreSQL under fire: servers are killed and stopped for a while, and so is the database."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
import uvloop
from msgspec.structs import replace

from taisai.journal import FencedError, Journal
from taisai.journal.stores.contract import Row
from taisai.journal.stores.opening import open_reader
from taisai.journal.stores.postgres import PostgresStore
from tests.postgres import PostgresServer, postgres_server
from tests.server.races.journal_totals import Reckoning
from tests.server.races.players import PATIENCE, Player, gone, seated, wrongs
from tests.server.races.race_house import IN_DATABASE, KEY, MBS, RWS, US, furnish, journal_in
from tests.server.races.server_process import Order
from tests.server.races.server_processes import Server, Servers
from tests.server.races.test_kill_mid_round import CASES, FEW, Case, _killed
from tests.server.races.test_repeated_kills import Evening
from tests.tiers import LONG, count

TERMINALS = 60
KILLS = count(2, 50)


@pytest.fixture
def own_server() -> Iterator[PostgresServer]:
    """A database server that may be killed without harm to other tests."""
    with postgres_server() as server:
        yield server


def housed(folder: Path, server: PostgresServer, name: str) -> Path:
    """A folder whose journal is in a database."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / IN_DATABASE).write_text(f"{server.url()}#{name}")
    return folder


def of(book: str, phase: str) -> Case:
    return next(case for case in CASES if (case.book, case.phase) == (book, phase))._replace(many=FEW)


@pytest.mark.parametrize("case", CASES if LONG else [of(RWS, "closed-tumbled"), of(MBS, "open")], ids=str)
def test_after_a_kill_another_server_goes_on_as_the_rulebook_rules(
    processes: Servers, postgres: PostgresServer, tmp_path: Path, case: Case
) -> None:
    folder = housed(tmp_path, postgres, f"kill-{case.book}-{case.phase}")
    assert uvloop.run(_killed(processes, folder, case)) == []


@pytest.mark.parametrize("book", [RWS, MBS, US] if LONG else [RWS])
def test_kill_after_kill_loses_nothing(
    processes: Servers, postgres: PostgresServer, tmp_path: Path, book: str
) -> None:
    evening = Evening(processes, tmp_path, book, 0, None)
    housed(tmp_path / "floor", postgres, f"kills-{book}")
    uvloop.run(evening.play(KILLS))
    assert evening.wrongs == []


async def _bets(players: Sequence[Player], number: int) -> None:
    """Each player bets a few times, one after the other."""
    for _ in range(number):
        await asyncio.gather(*(one.bet("small") for one in players))


async def _crowd(processes: Servers, order: Order, many: int) -> tuple[Server, list[Player]]:
    """A server with so many players, whose table takes bets."""
    furnish(Path(order.folder), order.book, many)
    server = await processes.open(order)
    players = await seated(server, many)
    await server.until("open")
    await asyncio.gather(*(one.terminal.bets_open() for one in players))
    return server, players


async def _without_database(processes: Servers, folder: Path, database: PostgresServer) -> list[str]:
    """Everything that is wrong after the database died under a crowd of players, and was gone for a while."""
    order = Order(folder=str(folder), book=RWS)
    server, players = await _crowd(processes, order, TERMINALS)
    await _bets(players, 2)
    before = players[0].epoch
    under_way = asyncio.ensure_future(_bets(players, 3))
    await asyncio.sleep(0.05)
    await asyncio.to_thread(database.kill)
    late = asyncio.ensure_future(players[0].bet("big"))  # if all the others are answered by now, this is not
    await asyncio.to_thread(server._bury)  # it is in doubt, says so for a moment, and ends by itself
    await asyncio.to_thread(database.start)
    server = await processes.open(replace(order, port=server.port))
    await asyncio.gather(*(one.back(before) for one in players))
    await asyncio.wait_for(asyncio.gather(under_way, late), PATIENCE)
    await gone(players)
    await server.stop()
    for one in players:  # the server said that it does not know: then nobody knows
        one.refused = {id_: error for id_, error in one.refused.items() if error.reason != "journal-in-doubt"}
    journal = Reckoning(folder)
    return [*wrongs(players, journal), *journal.kept()]


def test_when_the_database_dies_under_a_crowd_nothing_acknowledged_is_lost(
    processes: Servers, own_server: PostgresServer, tmp_path: Path
) -> None:
    folder = housed(tmp_path, own_server, "dies")
    assert uvloop.run(_without_database(processes, folder, own_server)) == []


async def _asleep(processes: Servers, folder: Path) -> list[str]:
    """Everything that is wrong after a server slept over its lease while another one took its place."""
    order = Order(folder=str(folder), book=RWS)
    sleeper, players = await _crowd(processes, order, FEW)
    await _bets(players, 1)
    os.kill(sleeper.pid, signal.SIGSTOP)
    late = asyncio.ensure_future(_bets(players, 1))  # these wait in the buffers of the one that sleeps
    await asyncio.sleep(0.2)
    successor = await processes.open(order)
    reader = open_reader(journal_in(folder))
    entries = list(reader.rows())
    os.kill(sleeper.pid, signal.SIGCONT)
    status = await asyncio.wait_for(asyncio.to_thread(sleeper._bury), PATIENCE)
    late.cancel()
    await gone(players)
    found = [] if os.WIFEXITED(status) else [f"expected a fenced server that ends by itself, got {status}"]
    bets = {row.body for row in entries if b"bet-registered" in row.body}
    now = {row.body for row in reader.rows() if b"bet-registered" in row.body}
    reader.close()
    if bets != now:
        found.append(f"expected no bet from a fenced server, got {len(now - bets)}")
    await successor.stop()
    journal = Reckoning(folder)
    registered = set().union(*(one.registered for one in players))
    if missing := registered - journal.bets.keys():
        found.append(f"registered bets are missing in the journal, such as {sorted(missing)[:3]}")
    return [*found, *journal.kept()]


def test_a_server_that_slept_over_its_lease_registers_nothing_more_and_ends(
    processes: Servers, postgres: PostgresServer, tmp_path: Path
) -> None:
    assert uvloop.run(_asleep(processes, housed(tmp_path, postgres, "asleep"))) == []


def test_sabotage_a_store_without_fence_lets_a_stale_server_write(
    postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the number of the latest writer in hand, a stale one could write: the fence alone keeps it out."""
    stale = PostgresStore(postgres.url(), "stale", lease=0.2)
    Journal.opened(
        stale, journal="stale", key=KEY.public, at=0, by="ada", program="taisai", demonstration=True
    )
    stale._database._loop.call_soon_threadsafe(
        lambda: [task.cancel() for task in asyncio.all_tasks(stale._database._loop)]
    )
    latest = PostgresStore(postgres.url(), "stale", wait=30)
    try:
        with pytest.raises(FencedError):
            stale.append([Row(2, "house", 1, b"{}")])
        monkeypatch.setattr(stale, "_fenced", None)
        monkeypatch.setattr(stale, "_lease", latest._lease)
        stale.append([Row(2, "house", 1, b"{}")])
        assert latest.version("house") == 1
    finally:
        stale.close()
        latest.close()

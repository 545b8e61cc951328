"""`taisai demo`: it plays, stops by itself, leaves a journal that proves itself, and goes on after a kill."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from taisai.audit import verified
from taisai.cli.server import demo
from taisai.client import Client, Console, Staff, at
from taisai.demo import house
from taisai.game.events import Interrupted, RoundConcluded
from taisai.journal import Journal, SqliteStore, stream_of
from taisai.server.runtime import startup_checks as checks
from tests.cli.conftest import Taisai
from tests.server.house_folder import changed, lotus

TABLES = ("MBS1", "RWS1", "CARD1", "US1")
WITHIN = 120  # seconds: what takes six alone may wait for a busy machine


def words(folder: Path, *more: str) -> list[str]:
    """The demonstration in a folder, quick and quiet."""
    fixed = ["--fast", "--no-open", "--port", "0", "--seed", "1"]
    return [sys.executable, "-m", "taisai", "demo", "--data", str(folder), *fixed, *more]


def played(folder: Path, rounds: int) -> str:
    """What it says until it has played so many rounds at every table."""
    ran = subprocess.run(
        words(folder, "--rounds", str(rounds)), capture_output=True, text=True, timeout=WITHIN, check=False
    )
    assert (ran.returncode, ran.stderr) == (0, ""), ran
    return ran.stdout


@contextmanager
def running(folder: Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A demonstration that runs, and its address."""
    with subprocess.Popen(words(folder), stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            for text in process.stdout:
                if found := re.search(r"lobby +(http://\S+)/", text):
                    yield process, found[1]
                    break
            else:
                raise AssertionError("expected an address, got none")
        finally:
            process.kill()


async def seen(url: str, table: str) -> None:
    """Returns as soon as bets are open at a table."""
    async with Client(at(f"{url.replace('http', 'ws')}/socket")) as visitor:
        await visitor.follow(f"table:{table}")
        await visitor.until(f"table:{table}", lambda view: view.round.bets_open, within=60)


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A demonstration of two rounds a table, and what it said."""
    folder = tmp_path_factory.mktemp("demo") / "evening"
    return folder, played(folder, 2)


def test_it_tells_its_addresses_and_stops_by_itself(kept: tuple[Path, str]) -> None:
    folder, said = kept
    for what in ("lobby", "health", "metrics", "schemas", "play money", "Ctrl-C"):
        assert what in said
    counts = {table: int(rounds) for rounds, table in re.findall(r"(\d+) at (\w+)", said)}
    assert set(counts) == set(TABLES)
    assert all(rounds >= 2 for rounds in counts.values())
    assert f"taisai audit verify {folder / 'journal.db'}" in said


def test_its_journal_proves_itself(kept: tuple[Path, str]) -> None:
    report = verified(str(kept[0] / "journal.db"))
    assert report.demonstration
    assert report.tables == 4
    assert report.settlements >= 8
    assert report.draws >= 8
    assert report.bets
    assert report.in_transit == 0


def test_serve_refuses_its_journal(kept: tuple[Path, str], tmp_path: Path) -> None:
    folder = tmp_path / "lotus"
    lotus(folder)
    own = {"file": str(kept[0] / "journal.db"), "key": str(kept[0] / "house.key")}
    start, found = checks.opened(changed(folder, journal=own), now=lambda: 2_000_000_000_000)
    assert found is None
    assert not start.passed
    assert any("demonstration" in line for line in start.lines())


def test_a_killed_one_recovers_and_goes_on(tmp_path: Path) -> None:
    folder = tmp_path / "evening"
    with running(folder) as (process, url):
        asyncio.run(seen(url, "RWS1"))
        process.kill()
        process.wait(timeout=30)
    said = played(folder, 1)
    assert "was stopped in the phase" in said
    report = verified(str(folder / "journal.db"))
    assert report.settlements >= 4
    store = SqliteStore(folder / "journal.db")
    try:
        events = [one.event for one in Journal(store).entries(stream=stream_of("RWS1"))]
    finally:
        store.close()
    stopped = next(place for place, event in enumerate(events) if isinstance(event, Interrupted))
    assert any(isinstance(event, RoundConcluded) for event in events[stopped:])


def test_an_interrupt_stops_it_gracefully(tmp_path: Path) -> None:
    with running(tmp_path / "evening") as (process, url):
        asyncio.run(seen(url, "MBS1"))
        process.send_signal(signal.SIGINT)
        assert process.stdout is not None
        said = process.stdout.read()
        assert process.wait(timeout=30) == 0
    assert "Rounds played" in said
    assert "Continue later" in said
    report = verified(str(tmp_path / "evening" / "journal.db"))
    assert report.demonstration


def test_a_visitor_comes_in_over_http_and_deals(tmp_path: Path) -> None:
    import httpx

    async def visit(url: str) -> None:
        async with httpx.AsyncClient(base_url=url) as http:
            entered = (await http.post("/api/demo/enter", json={"role": "dealer", "table": "US1"})).json()
            dial = at(f"{url.replace('http', 'ws')}/socket")
            async with Console(dial, Staff(entered["token"]), table="US1") as console:
                await console.take_position("dealer")
                told = (await http.get("/api/demo")).json()
                dealing = {one["table"]: one["dealing"] for one in told["tables"]}
                assert dealing == {"MBS1": True, "RWS1": True, "CARD1": True, "US1": False}

    with running(tmp_path / "evening") as (_process, url):
        asyncio.run(visit(url))


# Refused


def test_a_journal_of_play_for_money_is_refused(taisai: Taisai, tmp_path: Path) -> None:
    lotus(tmp_path / "lotus")
    ran = taisai("demo", "--data", str(tmp_path / "lotus"), "--port", "0", "--no-open")
    assert ran.code == 2
    assert "is a journal of play for money, not of a demonstration" in ran.err


def test_sabotage_a_demonstration_over_money_is_seen(
    taisai: Taisai, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Were the first entry not looked at, the refusal above would not come."""
    monkeypatch.setattr(house, "_journal", lambda store, _key, **_given: Journal(store))
    with pytest.raises(AssertionError):
        test_a_journal_of_play_for_money_is_refused(taisai, tmp_path / "again")


@pytest.mark.parametrize(
    ("option", "value"),
    [("--port", "65536"), ("--port", "x"), ("--rounds", "0"), ("--rounds", "-1"), ("--seed", "１")],
)
def test_a_wrong_number_is_refused(taisai: Taisai, tmp_path: Path, option: str, value: str) -> None:
    ran = taisai("demo", "--data", str(tmp_path / "x"), "--no-open", f"{option}={value}")
    assert ran.code == 2
    assert ran.err.startswith("taisai: expected a whole number from ")
    assert ran.err.endswith(f"({option})\n")
    assert not (tmp_path / "x").exists()


def test_a_port_that_is_taken_is_refused_where_it_was_asked_for(taisai: Taisai, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        ran = taisai("demo", "--data", str(tmp_path / "x"), "--no-open", "--port", str(port))
    assert ran.code == 2
    assert f"127.0.0.1:{port}" in ran.err


def test_unless_a_port_was_asked_for_the_next_free_one_will_do(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        monkeypatch.setattr(demo, "PORT", other.getsockname()[1])
        with demo._listening(None) as found:
            assert found.getsockname()[1] != other.getsockname()[1]


def test_a_browser_opens_only_where_there_is_a_display(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "SSH_CONNECTION", "CI"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(sys, "platform", "linux")
    assert not demo._has_display()
    monkeypatch.setitem(os.environ, "DISPLAY", ":0")
    assert demo._has_display()
    monkeypatch.setitem(os.environ, "CI", "true")
    assert not demo._has_display()

"""`taisai serve`: a house founded, opened, played at and stopped; and everything that it refuses to open."""

from __future__ import annotations

import asyncio
import json
import signal
import socket
import sqlite3
import sys
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import httpx
import pytest

from taisai.audit import verified
from taisai.cage.messages import SignedIn, SignedOut, SystemStarted, SystemStopped
from taisai.cli.server import serve
from taisai.client import Cashier, Client, Console, Device, Office, Refused, Staff, Terminal, at
from taisai.game.events import RoundConcluded, RoundSettled
from taisai.journal import (
    Journal,
    PublicKey,
    SigningKey,
    SqliteStore,
    load_public_key,
    load_signing_key,
)
from taisai.protocol import requests
from taisai.protocol.replies import DoneReply
from taisai.rules import rulebook
from taisai.server.config import load_config
from taisai.server.runtime.environment import WallClock, manifest
from taisai.server.runtime.rulebook_approvals import RulebookApproval, read_approvals, written_approvals
from taisai.witness.memory import SeenCheckpoints
from tests.cli.conftest import Ran, Taisai
from tests.cli.server_process import Authenticator, changed, free_port, serving
from tests.server.house_folder import PASSWORD, engine_of, hired, signed_up
from tests.witness.logs import PUBLIC as WITNESS_KEY
from tests.witness.logs import service
from tests.witness.logs import serving as serving_witness

BOOK = "rws-sic-bo-etg-v8"
SUE, DAN = "a tumbler, three dice", "under the dome they lie"


@pytest.fixture
def founded(taisai: Taisai) -> dict[str, Any]:
    """What `taisai init` says of the house that it founded here."""
    people = ("--administrator", "Ann Tan", "--supervisor", "Sue Lim")
    ran = taisai("init", "lotus", "--house", "Lotus", *people, "--json")
    assert (ran.code, ran.err) == (0, "")
    told: dict[str, Any] = json.loads(ran.out)
    return told


@pytest.fixture
def config(founded: dict[str, Any], tmp_path: Path) -> Path:
    path = tmp_path / str(founded["config"])
    changed(path, betting_seconds=5)
    return path


# From the founding to the stop


async def _activated(url: str, person: str, code: str, password: str) -> Authenticator:
    """A first sign-in: the person's authenticator."""
    async with Office(url) as office:
        setup = await office.first_sign_in(person, code)
        authenticator = Authenticator(setup.uri)
        await office.set_credentials(setup.setup, password=password, code=authenticator.code())
    return authenticator


async def _evening(config: Path, codes: dict[str, str]) -> tuple[int, str, str, float]:
    now = WallClock().now()
    hands = hired(config.parent, {"Pat Lee": "shift-manager", "Cat Goh": "cashier"}, now=now)
    uris = signed_up(config.parent, hands, now=now)
    async with serving(config) as served:
        assert any(line.startswith("✓ program:") for line in served.said)
        assert served.said[-1] == f"listening on {served.url} (Ctrl-C stops)"
        async with httpx.AsyncClient(base_url=served.url, trust_env=False) as client:
            health = (await client.get("/health")).json()
        assert (health["status"], health["demonstration"], health["tables"]) == ("ok", False, [])
        ann = await _activated(served.url, "Ann Tan", codes["Ann Tan"], PASSWORD)
        sue = await _activated(served.url, "Sue Lim", codes["Sue Lim"], SUE)
        async with Office(served.url) as office:
            await office.sign_in("Ann Tan", PASSWORD, ann.code())
            for rank in ("dealer", "cashier", "pit-supervisor"):  # a sign-in takes two, whoever it is for
                with pytest.raises(Refused, match="second"):
                    await office.enrol("Dan Ho", rank, activate=True)
            body = {"person": "Dan Ho", "rank": "dealer", "activate": True}
            approval = await office.ask({"endpoint": "POST /api/staff", "body": body})
            with pytest.raises(Refused, match="invalid approval"):  # nobody has approved yet
                await office.enrol("Dan Ho", "dealer", activate=True, approval=approval)
            async with Office(served.url) as second:
                await second.sign_in("Sue Lim", SUE, sue.code())
                await second.approve(approval)
            code = await office.enrol("Dan Ho", "dealer", activate=True, approval=approval)
            with pytest.raises(Refused):  # it is good once
                await office.enrol("Dan Ho", "dealer", activate=True, approval=approval)
            assert len(await office.staff()) == 5
            dan = await _activated(served.url, "Dan Ho", code or "", DAN)
            terminal = Device.of("P7", b"7" * 32)
            await office.enrol_device("P7", "terminal", terminal.public, table="SB1", seat="7")
            async with Office(served.url) as other:
                head = Staff(await other.sign_in("Pat Lee", PASSWORD, Authenticator(uris["Pat Lee"]).code()))
                dealing = Staff(await other.sign_in("Dan Ho", DAN, dan.code()))
                cage = Staff(await other.sign_in("Cat Goh", PASSWORD, Authenticator(uris["Cat Goh"]).code()))
                await _round(at(served.socket), (head, dealing, cage), terminal)
                books, report = await other.books(), await other.report()
                assert books.balanced
                assert [one.rounds for one in report.totals] == [1]
        return await served.stopped()


async def _round(dial: Any, staff: tuple[Staff, Staff, Staff], device: Device) -> None:
    head, dealing, cage = staff
    async with Client(dial, head) as sue, Cashier(dial, cage) as cat:
        opening = requests.OpenTableRequest(id=sue.fresh_id(), table="SB1")
        with pytest.raises(Refused, match="not adopted"):  # RWS 5.10
            await sue.request(opening)
        book = rulebook("rws-sic-bo-etg-v8")
        assert book.adoption is not None
        await sue.do(
            "adopt-interpretations", rulebook=book.id, edition=book.edition, digest=book.digest,
            rank=book.adoption.by, asked_by=book.adoption.clause,
        )  # fmt: skip
        await sue.request(requests.OpenTableRequest(id=sue.fresh_id(), table="SB1"))
        async with Console(dial, dealing, table="SB1") as dan, Terminal(dial, device) as player:
            await dan.take_position("dealer")
            await player.sit_down("May")
            await player.ticket_in((await cat.sell_ticket(100_000)).ticket or "")
            await dan.perform("open-bets")
            await player.bets_open(within=5)
            await player.place({"small": 1_000, "big": 500})
            await dan.until(dan.table_feed, lambda table: not table.round.bets_open, within=10)
            await dan.perform("tumble", tumbles=3)
            await dan.perform("uncover")
            await dan.enter((1, 2, 4))
            for act in ("settle", "collect-and-pay", "conclude"):
                await dan.perform(act)
            await player.until(player.table_feed, lambda table: table.round.phase == "between", within=5)
            await player.until(player.seat_feed, lambda seat: seat.credits == 100_500, within=5)
            ticket = (await player.ticket_out()).ticket or ""
            await cat.sell_ticket(1_000)  # else the cage could not pay what the player won
            paid = await cat.redeem(ticket)
            assert isinstance(paid, DoneReply)
            assert paid.amount == 100_500


def test_a_house_is_founded_opened_played_at_and_stopped(config: Path, founded: dict[str, Any]) -> None:
    origin, key = f"taisai/{founded['journal']}", PublicKey.parse(founded["key"])
    witness, seen = service(config.parent, logs={origin: [key]}), config.parent / "other-mount"
    SeenCheckpoints.make(seen)
    with serving_witness(witness) as url:
        with config.open("a", encoding="utf-8") as more:
            more.write(f'\n[[witness]]\nurl = "{url}"\nkey = "{WITNESS_KEY.text}"\n')
            more.write(f'\n[[witness]]\nfile = "{seen.name}"\n')
        code, out, err, seconds = asyncio.run(_evening(config, founded["activations"]))
    assert code == 0, err
    assert seconds < 10
    assert out == "stopped: sessions ended, the journal is sealed\n"
    assert "Traceback" not in err
    for secret in (PASSWORD, SUE, DAN, *founded["activations"].values()):
        assert secret not in err + out
    report = verified(config.parent / "journal.db")
    assert report.tail == 0, "sealed to its last entry"
    for memory in (witness.seen, SeenCheckpoints(seen)):
        head = memory.head(origin)
        assert head is not None
        assert head.size == report.entries, "and witnessed"
        memory.close()
    assert verified(config.parent / "journal.db", witnesses=[WITNESS_KEY]).witnessed[0].size == report.entries
    assert (report.settlements, report.bets) == (1, 2)
    engine = engine_of(config.parent)
    events = [entry.event for entry in engine.journal.entries()]
    engine.journal.close()
    kinds = [type(event) for event in events]
    assert kinds[-1] is SystemStopped
    assert (kinds.count(SystemStarted), kinds.count(RoundSettled), kinds.count(RoundConcluded)) == (1, 1, 1)
    assert kinds.count(SignedIn) == kinds.count(SignedOut) == 5
    (started,) = [event for event in events if isinstance(event, SystemStarted)]
    assert started.manifest == manifest()


def test_ctrl_c_is_a_stop_too_and_the_next_start_goes_on(config: Path) -> None:
    async def twice() -> None:
        for _ in range(2):
            async with serving(config) as served:
                looked = await asyncio.create_subprocess_exec(
                    sys.executable, "-m", "taisai", "status", served.url, "--once",
                    stdout=asyncio.subprocess.PIPE,
                )  # fmt: skip
                told = (await looked.communicate())[0].decode()
                assert (looked.returncode, told.splitlines()[0]) == (0, served.url)
                assert "status       ok" in told
                code, out, err, _ = await served.stopped(signal.SIGINT)
                assert (code, out) == (0, "stopped: sessions ended, the journal is sealed\n"), err

    asyncio.run(twice())
    assert verified(config.parent / "journal.db").tail == 0


def test_check_recovers_checks_and_listens_to_nobody(config: Path, taisai: Taisai) -> None:
    port = free_port()
    changed(config, port=port)
    ran = checked(taisai, config)
    assert (ran.code, ran.err) == (0, "")
    lines = ran.out.splitlines()
    assert not [line for line in lines if line.startswith("✗")]
    told = [line[2:].split(":")[0] for line in lines if line.startswith("✓")]
    assert told == [
        "files", "files", "disk", "approvals", "key", "journal", "clock", "chain", "table", "program",
    ]  # fmt: skip
    with pytest.raises(httpx.ConnectError):
        httpx.get(f"http://127.0.0.1:{port}/health", trust_env=False)


# What it refuses


def checked(taisai: Taisai, config: Path) -> Ran:
    return taisai("serve", "--config", str(config), "--check")


def _demonstration(config: Path) -> None:
    journal = config.parent / "journal.db"
    for file in config.parent.glob("journal.db*"):
        file.unlink()
    key = load_signing_key(config.parent / "house.key")
    Journal.opened(
        SqliteStore(journal), journal="show", key=key.public, at=1, by="Ann", program="x", demonstration=True
    ).close()
    journal.chmod(0o600)


def _unapproved(config: Path) -> None:
    key = load_signing_key(config.parent / "approvals.key")
    other = rulebook("us-sic-bo")
    text = written_approvals([RulebookApproval(other.id, other.digest, date(2020, 1, 1))], key)
    (config.parent / "approvals.txt").write_text(text, encoding="utf-8")


def _wrong_program(config: Path) -> None:
    text = config.read_text("utf-8").replace("# manifest = ", "manifest = ")
    assert manifest() in text
    config.write_text(text.replace(manifest(), "sha256:" + "0" * 64), encoding="utf-8")


def _another_key(config: Path) -> None:
    path = config.parent / "house.key"
    path.write_text(SigningKey.new("lotus-2026", seed=b"x" * 32).file_text(), encoding="utf-8")


def _damaged(config: Path) -> None:
    with sqlite3.connect(config.parent / "journal.db") as opened:
        for (name,) in opened.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            opened.execute(f"DROP TRIGGER {name}")
        (body,) = opened.execute("SELECT body FROM entry WHERE position = 2").fetchone()
        opened.execute("UPDATE entry SET body = ? WHERE position = 2", (body.replace(b"Lotus", b"Locus"),))
    opened.close()


def _open_to_all(config: Path) -> None:
    (config.parent / "house.key").chmod(0o644)


# what is wrong → the words that say so
WRONG: dict[str, tuple[Callable[[Path], None], str]] = {
    "demonstration journal": (
        _demonstration,
        "✗ journal: expected a journal of play for money, got a demonstration (journal.db)",
    ),
    "unapproved rulebook": (_unapproved, "✗ table: SB1: expected "),
    "wrong manifest": (_wrong_program, f"✗ program: expected the program sha256:{'0' * 64}, got sha256:"),
    "key of another journal": (
        _another_key, "✗ key: expected the key that signs the journal, lotus-2026 ",
    ),
    "a key that others read": (_open_to_all, "✗ files: expected mode 0600, got 0"),
}  # fmt: skip


@pytest.mark.parametrize("what", WRONG)
def test_what_must_not_be_opened_is_not_and_the_words_say_why(
    what: str, config: Path, taisai: Taisai
) -> None:
    spoil, words = WRONG[what]
    spoil(config)
    before = (config.parent / "journal.db").read_bytes()
    ran = checked(taisai, config)
    assert (ran.code, ran.out) == (1, "")
    *lines, last = ran.err.splitlines()
    failed = [line for line in lines if line.startswith("✗")]
    assert failed
    assert failed[0].startswith(words)
    assert last == "taisai: a check failed, so the server does not start"
    assert (config.parent / "journal.db").read_bytes() == before, "nothing was written"


def test_a_clock_behind_the_journal_is_refused(
    config: Path, taisai: Taisai, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = WallClock.now
    monkeypatch.setattr(WallClock, "now", lambda self: right(self) - 3_600_000)
    ran = checked(taisai, config)
    assert (ran.code, ran.out) == (1, "")
    assert "✗ clock: expected a clock at most 2,000 ms behind the journal's last entry, got 3,59" in ran.err


def test_a_damaged_journal_is_refused(config: Path, taisai: Taisai) -> None:
    _damaged(config)
    ran = checked(taisai, config)
    assert (ran.code, ran.out) == (1, "")
    assert "✗ " in ran.err


def test_sabotage_a_serve_that_does_not_look_is_seen(
    config: Path, taisai: Taisai, monkeypatch: pytest.MonkeyPatch
) -> None:
    _unapproved(config)
    monkeypatch.setattr(serve, "proven", lambda _config, found, now, whole: found.start)  # noqa: ARG005
    assert checked(taisai, config).code == 0


def test_a_port_that_is_taken_is_shown_in_one_line(config: Path, taisai: Taisai) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        changed(config, port=port)
        ran = taisai("serve", "--config", str(config))
    assert (ran.code, ran.err.count("\n")) == (2, 1)
    assert ran.err == f"taisai: cannot listen on 127.0.0.1:{port}: Address already in use\n"
    again = SqliteStore(config.parent / "journal.db")  # let go of all the same
    again.close()


@pytest.mark.parametrize("content", [None, "", "not = [toml", '[house]\nname = "Lotus"\n'])
def test_a_configuration_that_is_none_is_shown_in_words(
    content: str | None, taisai: Taisai, tmp_path: Path
) -> None:
    if content is not None:
        (tmp_path / "casino.toml").write_text(content, encoding="utf-8")
    ran = taisai("serve")
    assert (ran.code, ran.out) == (2, "")
    assert all(line.startswith("taisai: ") for line in ran.err.splitlines())
    assert "Traceback" not in ran.err


def test_two_servers_cannot_serve_one_journal(config: Path, taisai: Taisai) -> None:
    engine = engine_of(config.parent)
    ran = checked(taisai, config)
    engine.journal.close()
    assert ran.code == 1
    assert "✗ journal: another process is writing to the journal" in ran.err


def test_the_plan_is_what_the_configuration_says(config: Path) -> None:
    changed(config, large_win=777, clock_jump_ms=3_000, seal_every=12)
    read = load_config(config)
    key = load_public_key(config.parent / "approvals.key.pub")
    plan = serve.plan_of(read, read_approvals((config.parent / "approvals.txt").read_bytes(), key))
    assert (plan.house, plan.currency, plan.zone) == ("Lotus", "SGD", "Asia/Singapore")
    assert (plan.thresholds.large_win, plan.thresholds.clock_jump, plan.seal_every) == (777, 3_000, 12)
    (table,) = plan.tables
    assert (table.name, table.book.id, table.window, table.demonstration) == ("SB1", BOOK, 5_000, False)
    assert plan.day is not None
    assert plan.day(1_794_800_000_000) == "2026-11-16"
    assert plan.settings == read.public() | {"approvals.signed_by": f"{key.name} {key.id}"}

"""`taisai serve` over a file that someone has written to, and beside another server."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from hashlib import sha256
from pathlib import Path
from typing import Any

import httpx
import msgspec
import pytest

from taisai.audit import verified
from taisai.cage import FLOOR_LADDER, FLOOR_SECOND
from taisai.cage.messages import ClockJumped, EnrolPerson, NoteStart, OpenHouse, SetCredentials
from taisai.game.refusals import Refusal
from taisai.game.vocabulary import FLOOR
from taisai.journal import Engine, Journal, SqliteStore, load_signing_key
from taisai.journal.codec import HOUSE_STREAM
from taisai.journal.stores.sqlite import SUFFIX
from taisai.server.auth import credentials
from tests.cli.conftest import Ran, Taisai
from tests.cli.server_process import Served, serving
from tests.journal.thief import thieve
from tests.server.house_folder import NOW, TINY, engine_of, lotus, signed_up

SOON = 20.0  # seconds


@pytest.fixture
def config(tmp_path: Path) -> Path:
    """A house of two people who have set their credentials."""
    made = lotus(tmp_path / "lotus")
    signed_up(tmp_path / "lotus", made.activations)
    return tmp_path / "lotus" / "casino.toml"


def own_credentials(password: str) -> credentials.Credentials:
    """What somebody sets who has no authenticator yet."""
    return credentials.Credentials(credentials.Passwords(bytes, TINY).hashed(password), "")


def journal_of(config: Path) -> Path:
    return config.parent / "journal.db"


def checked(taisai: Taisai, config: Path) -> Ran:
    return taisai("serve", "--config", str(config), "--check")


async def health_of(served: Served, is_seen: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
    """The health of a server as soon as it shows something."""
    async with httpx.AsyncClient(base_url=served.url, trust_env=False) as client, asyncio.timeout(SOON):
        while True:
            health: dict[str, Any] = (await client.get("/health")).json()
            if is_seen(health):
                return health
            await asyncio.sleep(0.2)


# Two servers


def test_a_server_that_another_has_replaced_tells_so_and_ends(config: Path) -> None:
    """Someone deleted the lock file, and a second server was started over the same journal."""

    async def attacked() -> tuple[int, str]:
        async with serving(config) as stale:
            (config.parent / f"{journal_of(config).name}{SUFFIX}").unlink()
            async with serving(config) as latest:
                health = await health_of(stale, lambda health: health["status"] != "ok")
                assert "fenced: another process has written to the journal" in health["trouble"]
                async with httpx.AsyncClient(base_url=stale.url, trust_env=False) as client:
                    refused = await client.post("/api/sign-in", json={"person": "x"})
                    assert refused.status_code == 503, refused.text
                    assert refused.json()["reason"] == "journal-in-doubt"
                async with asyncio.timeout(SOON):
                    _, err = await stale.process.communicate()
                assert (await health_of(latest, lambda _health: True))["status"] == "ok"
                code, out, log, _ = await latest.stopped()
                assert (code, out) == (0, "stopped: sessions ended, the journal is sealed\n"), log
            assert stale.process.returncode is not None
            return stale.process.returncode, err.decode()

    code, err = asyncio.run(attacked())
    assert code == 1
    assert "fenced: another process has written to the journal" in err.splitlines()[-1]
    assert "Traceback" not in err
    report = verified(journal_of(config))
    assert (report.tail, report.late_checkpoints) == (0, ())


def test_a_stop_that_cannot_be_written_is_no_stop_in_order(config: Path) -> None:
    async def attacked() -> tuple[int, str, str]:
        async with serving(config) as served:
            with closing(sqlite3.connect(journal_of(config))) as other:
                other.execute("BEGIN IMMEDIATE")  # for as long as the server waits, nothing can be written
                code, out, err, _ = await served.stopped()
            return code, out, err

    code, out, err = asyncio.run(attacked())
    assert (code, out) == (1, "")
    assert "stopped, but the stop is not recorded and sealed: " in err.splitlines()[-1]
    assert "Traceback" not in err
    assert verified(journal_of(config)).tail > 0


# The clock


def test_one_start_with_a_clock_far_ahead_does_not_lock_the_house_for_ever(
    config: Path, taisai: Taisai
) -> None:
    """Set to 2099 for one second; set right again, no start was possible until then."""
    engine, far = engine_of(config.parent), 4_070_908_800_000
    engine.answer(HOUSE_STREAM, NoteStart(at=far, by=FLOOR, program="taisai", manifest="sha256:" + "0" * 64))
    engine.journal.close()
    refused = checked(taisai, config)
    assert refused.code == 1
    assert "start once with --accept-clock" in refused.err

    async def repaired() -> list[str]:
        async with serving(config, "--accept-clock") as served:
            assert (await served.stopped())[0] == 0
            return [line for line in served.said if line.startswith("! clock")]

    (line,) = asyncio.run(repaired())
    assert "accepted, and recorded" in line
    assert checked(taisai, config).code == 0
    engine = engine_of(config.parent)
    jumps = [event.jump for _, event in engine.journal.events(HOUSE_STREAM) if isinstance(event, ClockJumped)]
    engine.journal.close()
    assert len(jumps) == 1
    assert jumps[0] < -(10**12)
    assert verified(journal_of(config)).clock_went_back


# What was stored


def with_snapshots(config: Path) -> int:
    """Snapshots of all that there is; how many entries they cover."""
    engine = engine_of(config.parent)
    engine.snapshot(HOUSE_STREAM)
    engine.journal.close()
    engine = engine_of(config.parent)
    hashed_from = engine.journal.hashed_from
    engine.journal.close()
    return hashed_from


def test_an_old_entry_that_was_changed_is_found_while_the_server_runs(config: Path, taisai: Taisai) -> None:
    assert with_snapshots(config) == 8
    change = "UPDATE entry SET body = CAST(replace(body, 'Ann Tan', 'Eve Koh') AS BLOB) WHERE position = 3"
    thieve(journal_of(config), (change, ()))

    async def attacked() -> str:
        async with serving(config) as served:
            health = await health_of(served, lambda health: health["status"] != "ok")
            await served.stopped()
            return str(health["trouble"])

    ran = checked(taisai, config)
    assert ran.code == 1, "a check hashes all of it"
    assert "✗ chain: " in ran.err
    trouble = asyncio.run(attacked())
    assert trouble.startswith("The background audit found a difference in the journal: entry ")


def test_a_forged_snapshot_is_told_and_not_used(config: Path) -> None:
    """A second administrator, put into the snapshot of the House."""
    with_snapshots(config)
    with closing(sqlite3.connect(journal_of(config))) as reader:
        (body,) = reader.execute("SELECT body FROM snapshot WHERE stream = 'house'").fetchone()
    forged = body.replace(b"Ann Tan", b"Eve Koh")
    assert forged != body
    digest = sha256(forged).digest()
    thieve(
        journal_of(config),
        ("UPDATE snapshot SET body = ?, digest = ? WHERE stream = 'house'", (forged, digest)),
    )

    async def attacked() -> str:
        async with serving(config) as served:
            health = await health_of(served, lambda health: health["status"] != "ok")
            await served.stopped()
            return str(health["trouble"])

    told = asyncio.run(attacked())
    assert told.startswith("The stored snapshot house has no valid code of this house: made again from the")
    engine = engine_of(config.parent)
    assert [*engine.house().people] == ["Ann Tan", "Sue Lim"]
    engine.journal.close()


def test_a_forged_password_lets_nobody_in_and_is_told(config: Path) -> None:
    forged = msgspec.json.encode(own_credentials("a password of the thief"))
    thieve(journal_of(config), ("UPDATE vault SET body = ? WHERE name = 'staff/Ann Tan'", (forged,)))

    async def attacked() -> str:
        async with serving(config) as served:
            async with httpx.AsyncClient(base_url=served.url, trust_env=False) as client:
                asked = {"person": "Ann Tan", "password": "a password of the thief", "code": "123456"}
                refused = await client.post("/api/sign-in", json=asked)
                assert refused.status_code == 401, refused.text
            health = await health_of(served, lambda health: health["status"] != "ok")
            await served.stopped()
            return str(health["trouble"])

    told = asyncio.run(attacked())
    assert told.startswith("The stored password of Ann Tan has no valid code of this house.")


def test_two_checkpoints_in_the_wrong_order_are_told_by_a_check(config: Path, taisai: Taisai) -> None:
    engine, key = engine_of(config.parent), load_signing_key(config.parent / "house.key")
    (earlier,) = engine.journal.store.checkpoints()
    engine.journal.append(engine.journal.storing(_book(), at=NOW, by="Ann Tan"))
    later = engine.journal.seal(key, at=NOW)
    engine.journal.close()
    insert = "INSERT INTO checkpoint (size, text) VALUES (?, ?)"
    thieve(journal_of(config), ("DELETE FROM checkpoint", ()), (insert, (9, later)), (insert, earlier))
    ran = checked(taisai, config)
    assert (ran.code, ran.err) == (0, "")
    assert "! chain: a checkpoint over 6 entries was stored after one over 9: two servers wrote" in ran.out
    ran = taisai("audit", "verify", str(journal_of(config)))
    assert ran.code == 0
    assert "a checkpoint over 6 entries was stored after one over 9" in ran.out


def _book() -> Any:
    from taisai.rules import rulebook

    return rulebook("us-sic-bo")


def test_a_restored_backup_is_served_and_its_people_sign_in(config: Path, taisai: Taisai) -> None:
    """A restore needs no key; a server does."""
    assert taisai("backup", str(journal_of(config)), "copy.db").code == 0
    journal_of(config).unlink()
    assert taisai("restore", "copy.db", str(journal_of(config))).code == 0
    ran = checked(taisai, config)
    assert (ran.code, ran.err) == (0, "")
    engine = engine_of(config.parent)
    assert credentials.kept(engine, "Ann Tan") is not None
    engine.journal.close()


# A journal of an earlier Taisai


@pytest.fixture
def earlier(tmp_path: Path) -> Path:
    """A house whose journal has no storage secret and no commitments, and whose vault is in clear."""
    folder = tmp_path / "lotus"
    lotus(folder)
    for file in folder.glob("journal.db*"):
        file.unlink()
    (folder / "journal.db").touch(0o600)
    key = load_signing_key(folder / "house.key")
    by: dict[str, Any] = {"at": NOW, "by": "Ann Tan"}
    journal = Journal.opened(
        SqliteStore(folder / "journal.db"), journal="lotus-earlier", key=key.public, program="taisai 0.3",
        demonstration=False, **by,
    )  # fmt: skip
    ladder: dict[str, Any] = {"ladder": FLOOR_LADDER, "second_rank": FLOOR_SECOND}
    for command in (
        OpenHouse(house="Lotus", currency="SGD", **ladder, **by),
        EnrolPerson(person="Ann Tan", rank=FLOOR_LADDER[-1], **by),
        SetCredentials(person="Ann Tan", **by),
    ):
        assert not isinstance(Engine(journal).answer(HOUSE_STREAM, command), Refusal)
    credentials.keep(journal.store, "Ann Tan", own_credentials("the password of Ann"))
    journal.seal(key, at=NOW)
    journal.close()
    return folder / "casino.toml"


def test_a_journal_of_an_earlier_taisai_is_checked_and_authenticated_once(
    earlier: Path, taisai: Taisai
) -> None:
    ran = checked(taisai, earlier)
    assert ran.code == 1
    assert "✗ storage: the journal has no storage secret: an earlier Taisai made it" in ran.err
    assert "taisai journal authenticate journal.db --key house.key --by NAME" in ran.err
    key = str(earlier.parent / "house.key")
    words = ("journal", "authenticate", str(journal_of(earlier)), "--by", "Ann Tan", "--key", key)
    before = journal_of(earlier).read_bytes()
    ran = taisai(*words)
    assert (ran.code, ran.err) == (1, "")
    assert "  staff/Ann Tan\n" in ran.out, "the list is shown before anything is taken over"
    assert json.loads(taisai(*words, "--json").out)["unsealed"] == ["staff/Ann Tan"]
    assert journal_of(earlier).read_bytes() == before, "and nothing was written"
    ran = taisai(*words, "--take-vault")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.splitlines()[1:] == [
        "Authenticated with the house key", "taken over from the vault: staff/Ann Tan",
    ]  # fmt: skip
    assert checked(taisai, earlier).code == 0
    engine = engine_of(earlier.parent)
    assert credentials.stored(engine.journal.store, "Ann Tan") is not None
    assert credentials.kept(engine, "Ann Tan") is None, "until the first start adopts it"
    engine.journal.close()
    again = json.loads(taisai(*words, "--take-vault", "--json").out)
    assert (again["new"], again["taken"]) == (False, [])
    report = verified(journal_of(earlier))
    assert (report.entries, report.tail) == (5, 0)

    async def start() -> None:
        async with serving(earlier) as served:
            await served.stopped()

    asyncio.run(start())
    engine = engine_of(earlier.parent)
    assert credentials.kept(engine, "Ann Tan") is not None
    engine.journal.close()


def test_what_lies_in_the_vault_can_be_dropped(earlier: Path, taisai: Taisai) -> None:
    key = str(earlier.parent / "house.key")
    words = ("journal", "authenticate", str(journal_of(earlier)), "--key", key, "--by", "Ann Tan")
    ran = taisai(*words, "--drop-vault")
    assert (ran.code, ran.err) == (0, "")
    engine = engine_of(earlier.parent)
    assert engine.journal.store.secrets() == []
    engine.journal.close()


def test_a_damaged_journal_is_not_authenticated(earlier: Path, taisai: Taisai) -> None:
    change = "UPDATE entry SET body = CAST(replace(body, 'Ann Tan', 'Eve Koh') AS BLOB) WHERE position = 4"
    thieve(journal_of(earlier), (change, ()))
    key = str(earlier.parent / "house.key")
    before = journal_of(earlier).read_bytes()
    ran = taisai(
        "journal", "authenticate", str(journal_of(earlier)), "--key", key, "--by", "A", "--take-vault"
    )
    assert ran.code == 1
    assert journal_of(earlier).read_bytes() == before


def test_another_key_authenticates_nothing(earlier: Path, taisai: Taisai) -> None:
    key = str(earlier.parent / "approvals.key")
    ran = taisai(
        "journal", "authenticate", str(journal_of(earlier)), "--key", key, "--by", "A", "--take-vault"
    )
    assert ran.code == 2
    assert "expected the key that signs the journal, got lotus-2026-approvals" in ran.err


def test_sabotage_a_serve_that_needs_no_storage_secret_is_seen(
    earlier: Path, taisai: Taisai, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("taisai.server.runtime.startup_checks.check_storage", lambda *_: None)
    assert checked(taisai, earlier).code == 0

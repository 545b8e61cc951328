"""A copy of a house that starts beside the original says so; one that `taisai restore` made is known."""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path

import httpx
import pytest

from taisai.audit.backup import RESTORED
from taisai.cage.messages import PlaceNoted
from taisai.journal import Engine, Journal, SqliteStore
from taisai.server.runtime.environment import WallClock
from taisai.server.runtime.machine import RESTORED_WORDS
from taisai.server.runtime.setup import set_up
from tests.cli.conftest import Taisai
from tests.cli.server_process import serving
from tests.server.house_folder import entropy, plan

ELSEWHERE = "! The journal is in another file than at its last start"


@pytest.fixture
def original(tmp_path: Path) -> Path:
    set_up(plan(tmp_path / "lotus"), now=WallClock().now(), entropy=entropy())
    return tmp_path / "lotus"


def started(folder: Path) -> tuple[list[str], str]:
    """What a start warns of, and its metrics."""

    async def once() -> tuple[list[str], str]:
        async with serving(folder / "casino.toml") as served:
            async with httpx.AsyncClient(base_url=served.url, trust_env=False) as client:
                await asyncio.sleep(1)  # the first looks
                metrics = (await client.get("/metrics")).text
            code, _, err, _ = await served.stopped()
            assert (code, "Traceback" in err) == (0, False), err
            warned = [line for line in served.said if line.startswith("! ") and "journal" in line]
            warnings = [line for line in warned if not line.startswith("! witness:")]
            return warnings, metrics

    return asyncio.run(once())


def moved(is_on: bool) -> str:  # noqa: FBT001
    return f'taisai_alarm{{alarm="journal-moved",severity="critical"}} {1.0 if is_on else 0.0}'


def test_a_copy_that_starts_beside_the_original_says_so(original: Path) -> None:
    warnings, metrics = started(original)
    assert warnings == []
    assert moved(is_on=False) in metrics
    assert "taisai_disk_free_bytes" in metrics
    copy = Path(shutil.copytree(original, original.parent / "copy"))
    (warning,), metrics = started(copy)
    assert warning.startswith(ELSEWHERE)
    assert moved(is_on=True) in metrics
    assert started(original)[0] == [], "the original has no way to know: a witness has"


def test_a_restored_journal_is_known_as_one(original: Path, taisai: Taisai) -> None:
    assert started(original)[0] == []
    journal, backup = original / "journal.db", original / "backup.db"
    assert taisai("backup", str(journal), str(backup)).code == 0
    for file in original.glob("journal.db*"):
        file.unlink()
    assert taisai("restore", str(backup), str(journal)).code == 0
    note = Path(f"{journal}{RESTORED}")
    assert note.stat().st_mode & 0o777 == 0o600
    warnings, metrics = started(original)
    assert warnings == [f"! {RESTORED_WORDS}"]
    assert moved(is_on=False) in metrics
    assert 'taisai_alarm{alarm="journal-restored",severity="warning"} 1.0' in metrics
    assert not note.exists()
    assert started(original)[0] == []
    engine = Engine(Journal(SqliteStore(journal)))
    events = [entry.event for entry in engine.journal.entries()]
    engine.journal.close()
    assert [event.restored for event in events if isinstance(event, PlaceNoted)] == [False, True]

"""The power fails at any moment of an evening: no acknowledged bet is lost, and no cent is anywhere else."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from taisai.journal import journal
from taisai.journal.stores import sqlite
from tests.journal.disk import Create, Disk, Operation, Platter, Read, Sync, Write
from tests.journal.evening_journal import FILE, on_disk, read_once
from tests.journal.power_cuts import Campaign, Recorded, fast_directory, recorded, written
from tests.tiers import LONG, count

pytestmark = pytest.mark.part(name="power-loss")

PARTS, IMAGES = (16, count(0, 10_000)) if LONG else (1, 2_000)
"""Parts that workers can share, each an evening of its own, and images of each."""
FEW = 300  # images in which whatever is broken on purpose must show
KILLS = count(40, 400)
"""Moments at which a process is killed and started again before the power fails."""


@pytest.fixture
def shelf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Where evenings are written and images are looked at."""
    monkeypatch.setattr(journal, "rulebook_from", read_once)
    made = fast_directory(tmp_path)
    for name in ("written", "left", "again"):
        (made / name).mkdir()
    yield made
    shutil.rmtree(made)


def campaign(shelf: Path, record: Recorded, seed: int = 1) -> Campaign:
    """Power cuts during an evening."""
    return Campaign(record, shelf / "left", seed)


@pytest.mark.parametrize("seed", range(1, PARTS + 1))
def test_no_power_cut_loses_an_acknowledged_bet_or_a_cent(shelf: Path, seed: int) -> None:
    cuts = campaign(shelf, recorded(shelf / "written", seed), seed)
    assert cuts.run(IMAGES) == []
    print(cuts.told())  # noqa: T201  what it searched, for whoever asks with -s or -rP
    assert cuts.images == IMAGES
    assert cuts.clean < 0.25 * IMAGES
    # A cut at any moment of the evening: nearly every batch was once the last.
    if IMAGES >= 2_000:  # fewer cuts than that cannot fall on most batches
        assert len(cuts.sizes) > 0.8 * len(set(cuts.record.right.sizes))


def test_the_evening_writes_all_that_a_journal_ever_writes(shelf: Path) -> None:
    record = recorded(shelf / "written", 1)
    files = {one.file: one.name for one in record.operations if isinstance(one, Create)}
    assert set(files.values()) == {FILE, f"{FILE}-wal", f"{FILE}-journal"}
    into_the_file = [one for one in record.operations if isinstance(one, Write) and files[one.file] == FILE]
    assert len(into_the_file) > 50  # the log was moved into it, several times
    right = record.right
    assert len(right.sealed) > 2
    streams = {row.stream for row in right.rows}
    assert streams == {"journal", "house", "table:SB1"}
    events = {entry.event.__class__.__name__ for entry in right.entries(len(right.rows), "table:SB1")}
    assert {"BetRegistered", "RoundSettled", "RoundVoided", "TicketReceived", "CreditsDispensed"} <= events


def test_a_failure_can_be_looked_at_again(shelf: Path) -> None:
    record = recorded(shelf / "written", 1, too_early=True)
    cuts = campaign(shelf, record)
    first = cuts.run(FEW)[0]
    where = dict(word.split("=") for word in first.split(":")[0].split())
    again = campaign(shelf, record, int(where["seed"]))
    assert first.endswith(again.replay(int(where["op"]), int(where["image"]))[0])


# Sabotage: each of these must lose bets, or the campaign is blind


def test_sabotage_normal_sync_loses_bets(shelf: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite, "SAFE", {})
    cuts = campaign(shelf, recorded(shelf / "written", 1, synchronous="normal"))
    assert any("that were acknowledged" in one for one in cuts.run(FEW))


def test_sabotage_a_disk_that_only_says_it_synced_loses_bets(shelf: Path) -> None:
    record = recorded(shelf / "written", 1)
    half = len(record.operations) // 2  # from the first on, not even the file's first page would be there
    late = [Read(one.file, 0, 0) if isinstance(one, Sync) else one for one in record.operations[half:]]
    record.operations[half:] = late
    assert any("that were acknowledged" in one for one in campaign(shelf, record).run(FEW))


def test_sabotage_an_acknowledgement_before_the_commit_loses_bets(shelf: Path) -> None:
    cuts = campaign(shelf, recorded(shelf / "written", 1, too_early=True))
    assert any("that were acknowledged" in one for one in cuts.run(FEW))


# Killed, started again, and then the power fails


def lost_after_restart(shelf: Path, record: Recorded, kills: int) -> list[str]:
    """Entries that a journal showed after it was opened again, and did not have after a power cut."""
    chance, found = Random(7), list[str]()
    for _ in range(kills):
        place = chance.randrange(len(record.operations))
        platter = Platter()
        for operation in record.operations[:place]:
            platter.do(operation)
        if FILE not in platter.seen():
            continue
        written(shelf / "again", platter.seen())

        def watch(operation: Operation, platter: Platter = platter) -> None:
            platter.do(operation)

        disk = Disk("restarted", watch)
        disk.adopt(platter.names())
        with disk:
            store = on_disk(shelf / "again", vfs="restarted")
            shown = len(list(store.rows()))
            for image in range(8):
                written(shelf / "left", platter.image(Random(f"{place} {image}")))
                left = on_disk(shelf / "left")
                if len(list(left.rows())) < shown:
                    found.append(f"op={place} image={image}: expected the {shown} entries that were shown")
                left.close()
            store.close()
    return found


def test_what_a_restarted_journal_shows_is_sure(shelf: Path) -> None:
    assert lost_after_restart(shelf, recorded(shelf / "written", 1), KILLS) == []


def test_sabotage_a_journal_opened_without_a_sync_shows_what_is_lost(
    shelf: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    record = recorded(shelf / "written", 1)
    monkeypatch.setattr(sqlite.SqliteStore, "_sync_log", lambda _store: None)
    assert lost_after_restart(shelf, record, 30)

"""The process is killed at any write of an evening: whatever it had acknowledged is there when it is back."""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from taisai.journal import journal
from taisai.journal.engine import Answer
from tests.journal.disk import Disk, Operation, Read
from tests.journal.evening_journal import FILE, expected, keeping, on_disk, play, read_once
from tests.journal.forked_process import in_child
from tests.journal.power_cuts import Campaign, Known, Recorded, fast_directory, recorded
from tests.tiers import LONG, count

pytestmark = pytest.mark.part(name="kills")

PARTS, POINTS = (16, count(0, 200)) if LONG else (1, 60)
"""Parts that workers can share, each an evening of its own, and moments in each at which it is killed."""
SOME = 20  # moments in which an acknowledgement that comes too early must show


@pytest.fixture
def shelf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Where evenings are written."""
    monkeypatch.setattr(journal, "rulebook_from", read_once)
    made = fast_directory(tmp_path)
    yield made
    shutil.rmtree(made)


def killed(directory: Path, seed: int, point: int, *, too_early: bool = False) -> Known:
    """What an evening had acknowledged when its process was killed, just before the operation at a point."""
    right = expected(seed)

    def until_killed(pipe: int) -> None:
        left = [point]

        def watch(operation: Operation) -> None:
            if isinstance(operation, Read):
                return
            if not left[0]:
                os.kill(os.getpid(), signal.SIGKILL)
            left[0] -= 1

        def answered(number: int, _answers: list[Answer]) -> None:
            promised = number + 2 if too_early else number + 1
            os.write(pipe, b"%d\n" % right.sizes[min(promised, len(right.sizes) - 1)])

        with Disk("deadly", watch):
            engine = keeping(on_disk(directory, vfs="deadly"))
            play(engine, right.evening.batches, answered)
            engine.journal.close()

    said, status = in_child(until_killed)
    assert os.WIFSIGNALED(status), f"seed={seed} point={point}: expected it to be killed, got {said}"
    assert os.WTERMSIG(status) == signal.SIGKILL
    acknowledged = said.split()
    return Known(0, int(acknowledged[-1]) if acknowledged else 0, 0)


def lost(shelf: Path, seed: int, points: int, *, too_early: bool = False) -> list[str]:
    """What is wrong after an evening was killed at so many points, evenly spread over its writes."""
    (shelf / "whole").mkdir()
    record = recorded(shelf / "whole", seed)
    after = Campaign(Recorded(record.right), shelf / "killed", seed)
    writes = len(record.operations)
    found: list[str] = []
    for point in sorted({number * writes // points for number in range(points)}):
        after.directory.mkdir()
        acknowledged = killed(after.directory, seed, point, too_early=too_early)
        # Its lock and its shared memory lie about, as after any kill.
        left = {one.name: one.read_bytes() for one in after.directory.iterdir()}
        found += (f"seed={seed} point={point}: {says}" for says in after.look(left, acknowledged))
        shutil.rmtree(after.directory)
    return found


@pytest.mark.parametrize("seed", range(1, PARTS + 1))
def test_no_kill_loses_an_acknowledged_bet_or_a_cent(shelf: Path, seed: int) -> None:
    assert lost(shelf, seed, POINTS) == []


def test_sabotage_an_acknowledgement_before_the_commit_is_found(shelf: Path) -> None:
    assert any("that were acknowledged" in one for one in lost(shelf, 1, SOME, too_early=True))


def test_the_shared_memory_of_the_killed_process_is_there(shelf: Path) -> None:
    (shelf / "one").mkdir()
    killed(shelf / "one", 1, 300)
    names = {one.name for one in (shelf / "one").iterdir()}
    assert names == {FILE, f"{FILE}-wal", f"{FILE}-shm", f"{FILE}-writer"}

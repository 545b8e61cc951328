"""Whole evenings in virtual time, each drawn from a number: whatever goes wrong, goes wrong again.

To look at one: `.venv/bin/python -m tests.server.sim 17`.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Final

import pytest

from tests.journal.power_cuts import fast_directory
from tests.server.sim.evening import Played, played
from tests.server.sim.storage import OnDisk
from tests.tiers import LONG, count

pytestmark = pytest.mark.part(name="simulation")

SEEDS: Final = count(60, 3_000)
PARTS: Final = 10 if LONG else 2
"""That workers can share."""
ON_DISK: Final = count(4, 50)


def told(one: Played) -> str:
    """What is wrong, and how to see it again."""
    says = "\n  ".join(one.wrong)
    return f"seed {one.seed} ({one.book}):\n  {says}\nreplay: {sys.executable} -m tests.server.sim {one.seed}"


@pytest.mark.parametrize("part", range(PARTS))
def test_whatever_is_cut_or_crashes_nothing_is_lost_and_everyone_sees_the_same(part: int) -> None:
    seen: Counter[str] = Counter()
    for seed in range(part, SEEDS, PARTS):
        one = _played(seed)
        assert one.wrong == (), told(one)
        seen.update({one.book: 1, "crashes": one.crashes, "again": one.again, "entries": len(one.rows)})
    assert len(seen) == 4 + 3, f"expected every rulebook to be played, got {seen}"
    assert seen["crashes"] > SEEDS / PARTS / 8
    if SEEDS / PARTS >= 25:  # in fewer evenings it may not happen at all
        assert seen["again"] > SEEDS / PARTS / 20, "too few requests were sent twice"
    print(seen)  # noqa: T201  what was searched, for whoever asks with -s or -rP


def _played(seed: int) -> Played:
    try:
        return played(seed)
    except Exception as error:
        error.add_note(f"replay: {sys.executable} -m tests.server.sim {seed}")
        raise


@pytest.fixture
def shelf(tmp_path: Path) -> Iterator[Path]:
    """A fast directory for journals."""
    made = fast_directory(tmp_path)
    yield made
    shutil.rmtree(made)


def test_the_power_fails_under_a_journal_on_disk(shelf: Path) -> None:
    crashes = 0
    for seed in range(ON_DISK):
        directory = shelf / f"{seed}"
        directory.mkdir()
        one = played(seed, storage=partial(OnDisk, directory=directory))
        assert one.wrong == (), told(one)
        crashes += one.crashes
    assert crashes > ON_DISK / 4


@pytest.mark.parametrize("seed", range(count(3, 8)))
def test_the_same_seed_writes_the_same_journal(seed: int) -> None:
    first, second = played(seed), played(seed)
    assert first.rows == second.rows
    assert first.log == second.log


def test_another_process_writes_the_same_journal_too() -> None:
    code = "from tests.server.sim.__main__ import main; main(['3', '--digest'])"
    roots = {
        subprocess.run(
            [sys.executable, "-c", code],
            check=True, capture_output=True, text=True, timeout=120,
            env={**os.environ, "PYTHONHASHSEED": hash_seed, "PYTHONPATH": os.pathsep.join(sys.path)},
        ).stdout
        for hash_seed in ("1", "2")
    }  # fmt: skip
    assert len(roots) == 1
    assert roots.pop().strip()

"""Stored journals of simulated evenings keep their bytes: simulated again, replayed, and audited.

A failure means that a change alters what journals say. To see where: `python -m tests.server.sim.goldens`.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

import pytest

from taisai.audit import verified
from taisai.game.rounds import steps
from taisai.journal.errors import DamagedError
from tests.journal.replay import difference, entries_of, replayed
from tests.server.sim.goldens import SAMPLE, SEEDS, index, index_row, simulated, stored
from tests.server.sim.sim_house import BOOKS, KEY, PROGRAM
from tests.tiers import LONG

pytestmark = pytest.mark.part(name="simulation")

CHECKED: Final = SEEDS if LONG else SAMPLE
FIRST_FORMAT: Final = Path(__file__).parents[3] / "cases" / "journals" / "format-1.jsonl"


def test_the_index_names_every_stored_journal() -> None:
    assert index() == [index_row(seed, stored(seed)) for seed in SEEDS]
    assert len(set(SEEDS)) == 50


@pytest.mark.parametrize("seed", CHECKED)
def test_the_simulation_writes_the_stored_bytes(seed: int) -> None:
    assert difference(stored(seed).splitlines(), simulated(seed).splitlines()) is None


@pytest.mark.parametrize("seed", CHECKED)
def test_the_stored_commands_come_to_the_stored_entries(seed: int) -> None:
    entries = entries_of(stored(seed))
    assert difference(entries, replayed(entries)) is None


def test_the_commands_of_the_first_format_come_to_its_entries() -> None:
    entries = entries_of(FIRST_FORMAT.read_bytes())
    assert difference(entries, replayed(entries)) is None


@pytest.mark.parametrize("seed", CHECKED)
def test_the_audit_proves_the_stored_journal(seed: int, tmp_path: Path) -> None:
    export = stored(seed)
    report = verified(_written(export, tmp_path), key=KEY.public if b'{"checkpoint":' in export else None)
    assert index_row(seed, export) == (str(seed), str(report.entries), report.root)


def test_the_sample_reaches_every_rulebook_and_every_kind_of_event_and_command() -> None:
    exports = [stored(seed) for seed in SAMPLE]
    assert all(any(f'"rulebook":"{book}"'.encode() in export for export in exports) for book in BOOKS)
    assert {kind for export in exports for kind in _kinds(export)} == {
        kind for seed in SEEDS for kind in _kinds(stored(seed))
    }


# Each check notices what it is for


def test_sabotage_another_version_number_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.server.sim.world.PROGRAM", "taisai 9.9.9")
    first = difference(stored(SAMPLE[0]).splitlines(), simulated(SAMPLE[0]).splitlines())
    assert first is not None
    assert PROGRAM in first
    assert "taisai 9.9.9" in first


def test_sabotage_another_decision_shows(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    export = stored(2817)
    monkeypatch.setattr(steps, "MOST_TUMBLES", 1)
    assert difference(entries_of(export), replayed(entries_of(export))) is not None
    with pytest.raises(DamagedError, match="refuse"):
        verified(_written(export, tmp_path))
    assert difference(export.splitlines(), simulated(2817).splitlines()) is not None


@pytest.mark.parametrize("part", [b'"asked":{"amount":1', b'"event":{"at":1', b'"previous":"'])
def test_sabotage_one_changed_byte_shows(part: bytes, tmp_path: Path) -> None:
    export = stored(2991)
    place = export.rindex(part) + len(part)
    changed = export[:place] + (b"1" if export[place : place + 1] != b"1" else b"2") + export[place + 1 :]
    assert difference(changed.splitlines(), simulated(2991).splitlines()) is not None
    assert difference(entries_of(changed), replayed(entries_of(changed))) is not None
    with pytest.raises(DamagedError):
        verified(_written(changed, tmp_path))


def _kinds(export: bytes) -> set[bytes]:
    return set(re.findall(rb'"(?:event|command)":"[a-z-]+"', export))


def _written(export: bytes, directory: Path) -> Path:
    path = directory / "export.jsonl"
    path.write_bytes(export)
    return path

"""Everything that the House can record, in a journal: decided again, exported, and read by strangers."""

from __future__ import annotations

from pathlib import Path

import pytest

from taisai.audit import verified
from taisai.audit.export import lines
from taisai.audit.rows import event_rows
from taisai.audit.sources import source_of
from taisai.cage import decide as cage
from taisai.cage.messages import HOUSE_EVENTS
from taisai.game.refusals import Refusal
from taisai.journal.codec import HOUSE_STREAM
from taisai.journal.engine import Engine
from taisai.journal.errors import DamagedError
from taisai.journal.journal import Journal
from taisai.journal.stores.sqlite import SqliteStore
from tests.game.houses import NOON, SCRIPT, begun, watched
from tests.journal.contract import KEY, opened
from tools import verify_export


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The whole script in a journal, with snapshots between."""
    file = tmp_path_factory.mktemp("house") / "house.db"
    engine = Engine(opened(SqliteStore(file)), snapshot_every=7)
    answers = [engine.answer(HOUSE_STREAM, command) for command in SCRIPT]
    assert sum(isinstance(answer, Refusal) for answer in answers) > 10
    engine.journal.seal(KEY, at=NOON)
    engine.journal.close()
    return file


def test_every_event_of_the_house_is_decided_again_by_an_audit(path: Path) -> None:
    events = watched(SCRIPT).events
    assert verified(path, key=KEY.public).entries == len(events) + 1  # and the journal's opening
    engine = Engine(Journal(SqliteStore(path)))
    assert engine.house() == watched(SCRIPT).house
    assert engine.house() != begun()
    engine.journal.close()


def test_every_event_of_the_house_is_exported_and_read_by_other_programs(path: Path) -> None:
    source = source_of(path)
    exported = list(lines(source))
    rows = list(event_rows(source))
    source.close()
    assert {row[7] for row in rows} >= {one.__struct_config__.tag for one in HOUSE_EVENTS}
    report = verify_export.verify(exported, KEY.public.text)
    assert report.entries == len(watched(SCRIPT).events) + 1


def test_sabotage_a_lock_that_nobody_decided_is_found(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cage, "consequences", lambda *_: ())
    with pytest.raises(DamagedError, match="expected a decision of 1 entries, got 2"):
        verified(path)

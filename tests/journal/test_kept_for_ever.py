"""A journal written in the first version of the format, which every later Taisai must read and prove."""

from __future__ import annotations

from pathlib import Path

import pytest

from taisai.audit import verified
from taisai.game import acts
from taisai.journal.errors import DamagedError
from tests.journal.small import NEW
from tools import verify_export

FIRST = Path(__file__).parents[2] / "cases" / "journals" / "format-1.jsonl"
ROOT = "5466ed2b499bd08bc5137c94cc9348124eb53c7a9ba23468a485bb862e9a4646"


def test_the_first_format_is_read_and_decided_as_it_was() -> None:
    """Whoever turns this red has changed what old journals come to: keep the old way for the old version."""
    report = verified(FIRST, key=NEW.public)
    assert (report.root, report.entries, report.sealed) == (ROOT, 187, 187)
    assert (report.tables, report.bets, report.settlements, report.voids) == (6, 16, 8, 2)
    assert report.rulebooks == ("mbs-3-card-sic-bo", "rws-sic-bo-etg-v8", "us-sic-bo")


def test_strangers_read_it_too() -> None:
    report = verify_export.verify(FIRST.read_bytes().splitlines(keepends=True), NEW.public.text)
    assert (report.root().hex(), report.entries, report.sealed) == (ROOT, 187, 187)


def test_sabotage_another_answer_to_the_same_command_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(acts, "MOST_TUMBLES", 1)
    with pytest.raises(DamagedError, match="refuse"):
        verified(FIRST)

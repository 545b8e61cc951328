"""`taisai report`: drop, win and hold of a gaming day, from a journal or from its export."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from taisai.audit.replay import entries_of
from taisai.cli.audit import show
from tests.cli.conftest import Taisai
from tests.cli.journals import ROOT, impostors, one_clear_line, play

DAY = "2026-11-15"
# The story of rws-plain-round: three players buy 1,000.00 each, stake 42.00, win 225.00; one leaves.
LINE = {
    "table": "SB1", "currency": "SGD", "day": DAY, "shift": "", "drop": 300_000, "tickets_in": 0,
    "tickets_out": 102_700, "fills": 0, "credits": 0, "handle": 4_200, "collected": 0, "won": 22_500,
    "win": -22_500, "hold": "-3/40", "hold_percent": "-7.50", "rounds": 1, "void": 0,
    "record_corrections": 0, "by_hand": 0,
}  # fmt: skip


@pytest.fixture
def evening(taisai: Taisai) -> str:
    play(taisai, "evening.db")
    return "evening.db"


@pytest.fixture
def export(taisai: Taisai, evening: str) -> str:
    ran = taisai("audit", "export", evening, "--format", "jsonl", "-o", "evening.jsonl")
    assert ran.code == 0
    return "evening.jsonl"


def test_a_played_journal_as_json(taisai: Taisai, evening: str) -> None:
    ran = taisai("report", evening, "--json")
    assert (ran.code, ran.err) == (0, "")
    assert json.loads(ran.out) == {"day": DAY, "tables": [LINE], "totals": [LINE | {"table": ""}]}


def test_the_export_says_the_same_to_the_byte(taisai: Taisai, evening: str, export: str) -> None:
    for words in ((), ("--json",), ("--day", DAY), ("--day", "2026-11-14", "--json")):
        assert taisai("report", export, *words) == taisai("report", evening, *words)


def test_sabotage_a_report_that_leaves_entries_out_is_seen(
    taisai: Taisai, evening: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(show, "entries_of", lambda source, advance: list(entries_of(source, advance))[:-8])
    with pytest.raises(AssertionError):
        test_a_played_journal_as_json(taisai, evening)


def test_people_read_a_table(taisai: Taisai, evening: str) -> None:
    ran = taisai("report", evening)
    assert (ran.code, ran.err) == (0, "")
    lines = ran.out.splitlines()
    assert lines[0] == f"Gaming day {DAY}; money in minor units of its currency"
    rows = {line.split()[0]: line.split()[1:] for line in lines if line.startswith((" SB1", " all"))}
    figures = ["1", "0", "300,000", "4,200", "-22,500", "-7.50", "%", "0", "102,700"]
    assert rows == {"SB1": figures, "all": ["(SGD)", *figures]}
    assert max(map(len, lines)) <= 110


def test_a_day_without_play_is_all_noughts(taisai: Taisai, evening: str) -> None:
    ran = taisai("report", evening, "--day", "2020-02-29", "--json")
    assert ran.code == 0
    told = json.loads(ran.out)
    assert told["day"] == "2020-02-29"
    (line,) = told["tables"]
    kept = {"table", "currency", "day", "shift"}
    assert {value for name, value in line.items() if name not in kept} == {0, None}
    shown = taisai("report", evening, "--day", "2020-02-29")
    assert shown.code == 0
    assert "–" in shown.out, "nothing was dropped, so there is no share of it"


@pytest.mark.parametrize(
    "day",
    ["", "x", "2026-13-01", "2026-02-29", "20261115", "2026-W46-7", "2026-11-15T00:00", "15.11.2026", "a\nb"],
)
def test_a_day_that_is_none_is_refused_in_one_line(taisai: Taisai, evening: str, day: str) -> None:
    ran = taisai("report", evening, "--day", day)
    assert one_clear_line(ran)
    assert ran.err.startswith("taisai: expected a day such as 2026-11-16, got ")


def test_the_latest_day_that_a_table_began_is_the_one_unless_said(taisai: Taisai) -> None:
    story = ROOT / "cases" / "playbooks"
    days = [path for path in sorted(story.glob("*.round")) if "begin-day" in path.read_text("utf-8")]
    assert days, "expected a playbook that begins another day"
    play(taisai, "days.db", story=str(days[0]))
    latest = json.loads(taisai("report", "days.db", "--json").out)["day"]
    assert latest > DAY
    assert json.loads(taisai("report", "days.db", "--json", "--day", latest).out)["day"] == latest


def test_a_journal_without_tables_says_so(taisai: Taisai) -> None:
    founding = ("init", "lotus", "--administrator", "Ann Tan", "--supervisor", "Sue Lim")
    assert taisai(*founding).code == 0
    ran = taisai("report", "lotus/journal.db")
    assert (ran.code, ran.out, ran.err) == (0, "No table has been opened.\n", "")
    assert json.loads(taisai("report", "lotus/journal.db", "--json").out) == {
        "day": "", "tables": [], "totals": [],
    }  # fmt: skip


def test_what_is_no_journal_is_refused(taisai: Taisai, evening: str, tmp_path: Path) -> None:
    for what, path in impostors(tmp_path, tmp_path / evening).items():
        ran = taisai("report", path)
        assert ran.code in (1, 2), what
        assert ran.out == "", what
        assert "Traceback" not in ran.err, what
        assert ran.err.startswith("taisai: "), (what, ran.err)


def test_a_journal_in_use_may_be_read(taisai: Taisai, evening: str) -> None:
    from taisai.journal import Journal, SqliteStore

    journal = Journal(SqliteStore(Path(evening)))
    try:
        assert taisai("report", evening, "--json").code == 0
    finally:
        journal.close()

"""`taisai audit show`: the rounds of a journal, and one of them retold, entry by entry, bet by bet."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from taisai.cli import main
from taisai.journal.codec import stream_of
from taisai.journal.journal import Journal
from taisai.journal.stores.sqlite import SqliteStore
from taisai.rules import rulebook
from tests.cli.conftest import Taisai
from tests.cli.journals import one_clear_line
from tests.journal import playbook_journal
from tests.journal.small_journal import OLD

WRONG_RESULT = f"SB{playbook_journal.NAMES.index('rws-wrong-result') + 1}"
LIMITS = f"SB{playbook_journal.NAMES.index('mbs-limits') + 1}"
VOID = f"SB{playbook_journal.NAMES.index('mbs-void-rounds') + 1}"


@pytest.fixture
def journal(tmp_path: Path) -> str:
    playbook_journal.as_file(tmp_path)
    return "played.db"


def rows(text: str) -> list[list[str]]:
    return [line.split() for line in text.splitlines()]


# All rounds


def test_the_latest_rounds_are_listed(taisai: Taisai, journal: str) -> None:
    ran = taisai("audit", "show", journal)
    assert (ran.code, ran.err) == (0, "")
    rounds = len({(of, number) for of, number in playbook_journal.ends()})
    assert f" rounds at {len(playbook_journal.NAMES)} tables, by " in " ".join(ran.out.split())
    assert "The latest 30 of " in ran.out
    assert ran.out.endswith("This is what the journal says; `taisai audit verify played.db` checks it.\n")
    assert max(map(len, ran.out.splitlines())) <= 110
    whole = taisai("audit", "show", journal, "--last", "1000")
    assert "The latest" not in whole.out
    assert sum(row[:1] != [] and row[0].startswith("SB") for row in rows(whole.out)) >= rounds


def test_one_table_s_rounds_are_listed(taisai: Taisai, journal: str) -> None:
    out = taisai("audit", "show", journal, "--table", WRONG_RESULT).out
    listed = [row for row in rows(out) if row[:1] == [WRONG_RESULT]]
    assert [(row[1], *row[5:]) for row in listed] == [
        ("1", "4", "3,500", "5", "6", "6", "67,000", "corrected"),
        ("2", "1", "1,000", "1", "2", "4", "2,000"),
    ]
    assert "void" in taisai("audit", "show", journal, "--table", VOID).out


def test_machines_read_the_rounds(taisai: Taisai, journal: str, tmp_path: Path) -> None:
    playbook_journal.as_export(tmp_path)
    facts = [
        json.loads(taisai("audit", "show", file, "--last", "1000", "--json").out)["tables"]
        for file in (journal, "played.jsonl")
    ]
    assert facts[0] == facts[1]
    found = {
        (of["table"], one["round"]): (one["staked"], one["returned"])
        for of in facts[0]
        for one in of["latest"]
    }
    assert {key: found[key] for key in playbook_journal.ends()} == {
        key: (end.staked, end.returned) for key, end in playbook_journal.ends().items()
    }


# One round


def test_a_round_is_retold_with_entries_clauses_and_why(taisai: Taisai, journal: str) -> None:
    ran = taisai("audit", "show", journal, "--table", WRONG_RESULT, "--round", "1")
    assert (ran.code, ran.err) == (0, "")
    told = " ".join(ran.out.split())
    stream = stream_of(WRONG_RESULT)
    settled = next(
        e
        for e in playbook_journal.entries()
        if e.stream == stream and type(e.event).__name__ == "RoundSettled"
    )
    assert f"#{settled.position} round settled: showing 4 6 6, staked 3500" in told
    book = rulebook("rws-sic-bo-etg-v8")
    for clause in ("3.2", "3.5", "3.8", "5.5"):
        assert told.count(f" {clause}: {book.clauses[clause].says}") == 1  # type: ignore[index]
    assert re.search(r"2026-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z · Dan: open bets", told)
    assert "At the close: 4 bets, 3500" in told
    why = [row for row in rows(ran.out) if row[:1] == ["b2"]]
    assert [row[3:7] for row in why][1:] == [
        ["total-17", "1000", "0", "3.8"],
        ["total-17", "1000", "65000", "4.1.1"],
    ]
    assert ran.out.count("┌───────┐ ┌───────┐ ┌───────┐") == 2
    assert told.index("round concluded") < told.index("round resettled") < told.index("claim settled")
    assert max(map(len, ran.out.splitlines())) <= 110


def test_limits_and_voids_are_shown(taisai: Taisai, journal: str) -> None:
    limits = " ".join(
        taisai("audit", "show", journal, "--table", LIMITS, "--round", str(n)).out for n in (1, 2, 3)
    )
    assert "kept out by the limits" in limits
    assert "the round is void: every stake goes back" in " ".join(
        taisai("audit", "show", journal, "--table", VOID, "--round", "1").out.split()
    )


def test_rounds_of_many_playbooks_can_be_retold(taisai: Taisai, journal: str) -> None:
    tables = json.loads(taisai("audit", "show", journal, "--last", "1000", "--json").out)["tables"]
    some = [of for number, of in enumerate(tables) if number % 4 == 0]
    for of in some:
        for number in range(1, of["rounds"] + 1):
            ran = taisai("audit", "show", journal, "--table", of["table"], "--round", str(number))
            assert (ran.code, ran.err) == (0, ""), of
            assert "This is what the journal says" in ran.out


def test_so_many_bets_are_shown_and_the_others_counted(
    taisai: Taisai, journal: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ("audit", "show", journal, "--table", WRONG_RESULT, "--round", "1")
    for most, told, more in ((4, 1 + 3, 0), (3, 1, 3)):  # b4 is registered, and lies there three times
        monkeypatch.setattr("taisai.cli.audit.show.MOST_BETS", most)
        out = taisai(*words).out
        assert sum("b4" in row or "b4," in row for row in rows(out)) == told
        assert out.count("1 more: --seat shows those of one seat, --json all of them.") == more


def test_a_seat_sees_its_own(taisai: Taisai, journal: str) -> None:
    out = taisai("audit", "show", journal, "--table", WRONG_RESULT, "--round", "1", "--seat", "3").out
    assert "b3" in out
    assert "b1" not in out
    assert "round settled" in out


def test_machines_read_a_round(taisai: Taisai, journal: str) -> None:
    words = ("audit", "show", journal, "--table", WRONG_RESULT, "--round", "1", "--json")
    facts = json.loads(taisai(*words).out)
    assert (facts["round"], facts["over"], facts["rulebook"]) == (1, True, "rws-sic-bo-etg-v8")
    assert [one["event"]["event"] for one in facts["moments"]][:2] == ["bets-opened", "bet-registered"]
    assert all(one["asked"]["command"] for one in facts["moments"])
    assert [(one["bet"], one["returned"], one["clause"]) for one in facts["bets"]] == [
        ("b1", 0, "3.8"),
        ("b2", 65_000, "4.1.1"),
        ("b3", 2_000, "4.1.1"),
        ("b4", 0, "3.8"),
    ]


@pytest.mark.parametrize("columns", [80, 120])
@pytest.mark.parametrize("words", [(), ("--table", WRONG_RESULT, "--round", "1")])
def test_it_fits_a_terminal(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    journal: str,
    columns: int,
    words: tuple[str, ...],
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("TERM", "dumb")
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    assert main(["audit", "show", journal, *words]) == 0
    assert max(map(len, _plain(capsys.readouterr().out).splitlines())) <= columns


def _plain(text: str) -> str:
    return re.sub(r"\x1b\[[0-9;]*m", "", text)


def test_what_is_written_cannot_command_a_terminal(taisai: Taisai, tmp_path: Path) -> None:
    playbook_journal.as_export(tmp_path)
    path = tmp_path / "played.jsonl"
    path.write_bytes(path.read_bytes().replace(b'"id":"b1"', b'"id":"\\u001b[2J"'))
    out = taisai("audit", "show", "played.jsonl", "--table", WRONG_RESULT, "--round", "1").out
    assert "\x1b" not in out
    assert "\\x1b[2J" in out


# Misused


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("--round 1", "--table is needed: the journal has "),
        ("--table SB1 --round 99", "expected a round of SB1, from 1 to 1, got 99"),
        ("--table SB1 --round 0", "expected --round from 1, got 0"),
        ("--table SB1 --round -1", "got -1"),
        ("--table SB1 --round x", "such as 3, got 'x'"),
        ("--table SB1 --round 1 --seat x", "expected a seat of SB1 (1, "),
        ("--table x", "expected a table of this journal (SB1, "),
        ("--table x --round 1", "others), got 'x'"),
        ("--seat 1", "--seat needs --round"),
        ("--last 0", "expected --last from 1 to 100000, got 0"),
        ("--last 100001", "got 100001"),
        ("--last many", "got 'many'"),
    ],
)
def test_what_is_not_there_is_refused(taisai: Taisai, journal: str, words: str, says: str) -> None:
    ran = taisai("audit", "show", journal, *words.split())
    assert (ran.code, ran.out, len(ran.err.splitlines())) == (2, "", 1)
    assert says in ran.err


def test_a_journal_without_tables_says_so(taisai: Taisai, tmp_path: Path) -> None:
    Journal.opened(
        SqliteStore(tmp_path / "none.db"), journal="1", key=OLD.public, at=0, by="x", program="x",
        demonstration=True,
    ).close()  # fmt: skip
    ran = taisai("audit", "show", "none.db")
    assert (ran.code, ran.out.splitlines()[0]) == (0, "none.db: no table was opened")
    assert one_clear_line(taisai("audit", "show", "none.db", "--round", "1"))
    assert one_clear_line(taisai("audit", "show", "none.db", "--round", "1", "--table", "x"))


def test_a_flaw_that_stops_the_story_is_shown(taisai: Taisai, tmp_path: Path) -> None:
    path = playbook_journal.as_export(tmp_path)
    path.write_bytes(path.read_bytes().replace(b'"area":"total-17"', b'"area":"total-99"'))
    ran = taisai("audit", "show", "played.jsonl", "--table", WRONG_RESULT, "--round", "1")
    assert (ran.code, ran.out, len(ran.err.splitlines())) == (1, "", 1)
    assert ran.err.startswith("taisai: entry ")
    facts = json.loads(
        taisai("audit", "show", "played.jsonl", "--table", WRONG_RESULT, "--round", "1", "--json").out
    )
    assert facts["ok"] is False

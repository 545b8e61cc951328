"""Exports: byte for byte what is signed, and tables whose sums are the books'."""

from __future__ import annotations

import csv
import dataclasses
import io
import json
import lzma
import sys
from pathlib import Path
from typing import Any

import pytest

from taisai.audit import rows as export_rows
from taisai.audit import verified
from taisai.audit.export import (
    AT_ONCE,
    BET_COLUMNS,
    COLUMNS,
    EVENT_COLUMNS,
    GROUP,
    Column,
    ExportRow,
    Kind,
    lines,
    write_csv,
    write_parquet,
)
from taisai.audit.replay import WrittenReplay, entries_of
from taisai.audit.rows import bet_rows, event_rows
from taisai.audit.sources import source_of
from taisai.game.events import BetRegistered, RoundConcluded, RoundVoided
from taisai.game.rounds.settlement import bet_records
from taisai.game.table import Table
from taisai.journal.codec import Entry
from taisai.journal.errors import DamagedError, JournalError
from taisai.rules.chance import Chance
from taisai.rules.settlement import BetRecord
from tests.journal import playbook_journal
from tests.journal.small_journal import on_disk

AMOUNT = {"stake", "kept_out", "won", "returned"}


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("played")
    return [playbook_journal.as_file(folder), playbook_journal.as_export(folder)]


def named(columns: tuple[Column, ...], rows: list[ExportRow]) -> list[dict[str, Any]]:
    return [dict(zip((one.name for one in columns), row, strict=True)) for row in rows]


@pytest.fixture(scope="module")
def bets(files: list[Path]) -> list[dict[str, Any]]:
    return named(BET_COLUMNS, list(bet_rows(source_of(files[0]))))


@pytest.fixture(scope="module")
def events(files: list[Path]) -> list[dict[str, Any]]:
    return named(EVENT_COLUMNS, list(event_rows(source_of(files[0]))))


# Lines of JSON


def test_an_export_is_byte_for_byte_what_the_format_says(files: list[Path]) -> None:
    for path in files:
        assert b"".join(lines(source_of(path))) == files[1].read_bytes()


def test_journal_and_export_prove_the_same(tmp_path: Path) -> None:
    journal = on_disk(tmp_path / "a.db", "rws-wrong-result", "mbs-void-rounds")
    export = tmp_path / "a.jsonl"
    export.write_bytes(b"".join(lines(source_of(journal))))
    whole, copy = verified(journal), verified(export)
    assert whole.snapshots > 0
    assert dataclasses.replace(whole, snapshots=0) == copy


def test_a_torn_or_altered_export_is_not_exported_again(tmp_path: Path, files: list[Path]) -> None:
    text, path = files[1].read_bytes().splitlines(keepends=True), tmp_path / "torn"
    wrong = {
        "got the end of the file": text[:-1],
        "a line follows the end": [*text, text[-1]],
        "before the end of the export": [*text[:-3], *text[-2:]],
    }
    for says, torn in wrong.items():
        path.write_bytes(b"".join(torn))
        with pytest.raises(DamagedError, match=says):
            list(lines(source_of(path)))


def test_progress_is_shown(files: list[Path]) -> None:
    for path in files:
        told: list[tuple[int, int]] = []

        def tell(done: int, total: int, told: list[tuple[int, int]] = told) -> None:
            told.append((done, total))

        list(lines(source_of(path), tell))
        assert told == sorted(told)
        assert len(told) > 1
        assert told[-1][0] == told[-1][1] > 0


# Events


def test_there_is_a_row_for_each_event(events: list[dict[str, Any]]) -> None:
    entries = playbook_journal.entries()
    assert [row["position"] for row in events] == [entry.position for entry in entries]
    for row, entry in zip(events, entries, strict=True):
        event = json.loads(row["event_json"])
        assert (row["stream"], row["event"], row["clause"]) == (entry.stream, event["event"], event["clause"])
        for name in set(event) & {column.name for column in EVENT_COLUMNS[8:]}:
            told = event[name]
            if told is not None:
                assert row[name] == (" ".join(map(str, told)) if isinstance(told, list) else told)
        assert (row["command"] is not None) == (entry.asked is not None)


def test_an_event_belongs_to_the_round_in_hand(events: list[dict[str, Any]]) -> None:
    settled = [row for row in events if row["event"] == "round-settled"]
    assert settled
    assert all(row["round"] for row in settled)
    assert {(row["stream"].removeprefix("table:"), row["round"]) for row in settled} >= {
        key for key, end in playbook_journal.ends().items() if not end.voided
    }
    opened = [row for row in events if row["event"] == "table-opened"]
    assert all(row["round"] is None for row in opened)


# Bets


def off(rows: list[dict[str, Any]]) -> list[str]:
    """Rounds whose bets are not what the books say."""
    wrong = []
    for (table, number), end in playbook_journal.ends().items():
        mine = [row for row in rows if (row["table"], row["round"]) == (table, number)]
        stood = [row for row in mine if row["state"] in ("settled", "void")]
        sums = tuple(sum(row[name] for row in stood) for name in ("stake", "returned", "won"))
        if sums != (end.staked, end.returned, end.won) or {row["voided"] for row in mine} > {end.voided}:
            wrong.append(f"{table} {number}: expected {end}, got {sums}")
    return wrong


def test_the_sums_of_bets_are_the_books(bets: list[dict[str, Any]]) -> None:
    assert len(playbook_journal.ends()) > 100
    assert off(bets) == []


def test_there_is_a_row_for_each_bet(bets: list[dict[str, Any]], events: list[dict[str, Any]]) -> None:
    registered = {row["position"]: row for row in events if row["event"] == "bet-registered"}
    assert {row["position"] for row in bets} == set(registered)
    assert len(bets) == len(registered)
    for row in bets:
        event = registered[row["position"]]
        names = ("round", "seat", "means", "layout", "stake", "at")
        assert [row[name] for name in names] == [event[name] for name in names]
        assert (row["state"] == "open") == (row["returned"] is None)
    assert {row["state"] for row in bets} == {"settled", "void", "back", "open"}
    assert {row["corrected"] for row in bets} == {True, False}


def test_a_bet_that_went_back_names_the_clause(bets: list[dict[str, Any]]) -> None:
    back = [row for row in bets if row["state"] == "back"]
    assert back
    assert all(row["clause"] and row["returned"] == row["stake"] and row["won"] == 0 for row in back)


def test_sabotage_a_cent_too_much_is_noticed(files: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    def one_more(*arguments: Any) -> list[BetRecord[BetRegistered]]:
        return [one._replace(returned=one.returned + 1) for one in bet_records(*arguments)]

    monkeypatch.setattr(export_rows, "bet_records", one_more)
    assert off(named(BET_COLUMNS, list(bet_rows(source_of(files[0])))))


def test_a_pay_table_has_the_chances_of_the_first_round_that_ended_by_it(tmp_path: Path) -> None:
    stored = Path(__file__).parents[2] / "cases" / "journals" / "format-1-playbooks.jsonl.xz"
    path = tmp_path / "journal.jsonl"
    path.write_bytes(lzma.decompress(stored.read_bytes()))
    expected: dict[str, Chance] = {}

    def look(entry: Entry, table: Table) -> None:
        if isinstance(entry.event, RoundConcluded | RoundVoided):
            round_ = table.rounds.glance(entry.event.round)
            for bet in round_.bets.values():
                digest = table.in_force[round_.terms][bet.layout].matrix.digest
                expected.setdefault(digest, table.book.chance(decks=table.shoe.decks or None))

    replay = WrittenReplay(look)
    for entry in entries_of(source_of(path)):
        replay.take(entry)
    replay.close()
    pay_tables: dict[str, export_rows.PlayedPayTable] = {}
    assert list(export_rows.round_records(source_of(path), None, pay_tables))
    assert {digest: pay_tables[digest].chance for digest in expected} == expected


# Tables as files


@pytest.mark.parametrize("kind", ["events", "bets"])
def test_csv_and_parquet_hold_the_rows(files: list[Path], tmp_path: Path, kind: str) -> None:
    from pyarrow import parquet

    columns, rows_of = COLUMNS[kind], event_rows if kind == "events" else bet_rows
    rows = named(columns, list(rows_of(source_of(files[1]))))
    text = io.BytesIO()
    write_csv(columns, rows_of(source_of(files[0])), text)
    read = list(csv.DictReader(io.StringIO(text.getvalue().decode(), newline="")))
    kinds = {column.name: column.kind for column in columns}
    assert [{name: _read(kinds[name], cell) for name, cell in row.items()} for row in read] == [
        {name: cell or None if kinds[name] is Kind.TEXT else cell for name, cell in row.items()}
        for row in rows
    ]
    with (tmp_path / "rows.parquet").open("wb") as file:
        write_parquet(columns, rows_of(source_of(files[0])), file)
    assert parquet.read_table(tmp_path / "rows.parquet").to_pylist() == rows


def _read(kind: Kind, cell: str) -> object:
    if not cell:
        return None
    if kind is Kind.WHOLE:
        return int(cell)
    return cell == "true" if kind is Kind.YES_OR_NO else cell


TEXT = (Column("a", Kind.TEXT, ""), Column("b", Kind.WHOLE, ""))


@pytest.mark.parametrize("name", ["=1+1", "+1", "-2", "@SUM(A1)", "\tx", "\rx"])
def test_a_name_cannot_be_a_formula(name: str) -> None:
    out = io.BytesIO()
    write_csv(TEXT, [(name, -5), ('Ann, the 大 "one"', None)], out)
    rows = list(csv.reader(io.StringIO(out.getvalue().decode(), newline="")))
    assert rows == [["a", "b"], [f"'{name}", "-5"], ['Ann, the 大 "one"', ""]]


def test_parquet_is_written_in_groups(tmp_path: Path) -> None:
    from pyarrow import parquet

    def rows() -> Any:
        for number in range(2 * GROUP + AT_ONCE + 1):
            yield ("x", number)

    with (tmp_path / "x.parquet").open("wb") as file:
        write_parquet(TEXT, rows(), file)
    made = parquet.ParquetFile(tmp_path / "x.parquet")
    assert [made.metadata.row_group(n).num_rows for n in range(3)] == [GROUP, GROUP, AT_ONCE + 1]
    assert made.read().column("b").to_pylist() == [number for _, number in rows()]


def test_a_number_beyond_64_bits_is_refused(tmp_path: Path) -> None:
    with (tmp_path / "x").open("wb") as file, pytest.raises(JournalError, match="64 bits"):
        write_parquet(TEXT, [("x", 2**63)], file)


def test_without_pyarrow_it_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with (tmp_path / "x").open("wb") as file, pytest.raises(JournalError, match=r"taisai\[parquet\]"):
        write_parquet(TEXT, [], file)


def test_the_columns_are_documented() -> None:
    page = (Path(__file__).parents[2] / "docs" / "how-to" / "audit.md").read_text("utf-8")
    for columns in COLUMNS.values():
        for column in columns:
            assert f"| `{column.name}` | {column.kind} | {column.says} |" in page

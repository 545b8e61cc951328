"""Self-checks: each thing that must hold before a socket opens, and the line that says why it does not."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Sequence
from datetime import date
from pathlib import Path
from shutil import copyfile
from typing import Any

import apsw
import pytest

from taisai.cage.messages import CommitCredentials, EnrolPerson, HouseCommand, IssueActivation
from taisai.game.commands import CloseTable, OpenTable, Shut
from taisai.game.refusals import Refusal
from taisai.game.terms.messages import Limits
from taisai.journal import Engine, Journal, JournalError, SigningKey, SqliteStore, load_signing_key, stream_of
from taisai.journal.codec import HOUSE_STREAM
from taisai.rules import Rulebook, rulebook
from taisai.rules.book import rulebook_from
from taisai.server.auth.enrolment import too_few_supervisors
from taisai.server.config import Config, read_config
from taisai.server.runtime import startup_checks as checks
from taisai.server.runtime import startup_checks as module
from taisai.server.runtime import table_checks
from taisai.server.runtime.environment import copy_checkpoint, newest_copy
from taisai.server.runtime.rulebook_approvals import RulebookApproval, written_approvals
from taisai.server.runtime.setup import NewHouse
from taisai.server.runtime.startup_checks import (
    LEAST_FREE,
    MetricsToken,
    OpenedJournal,
    StartupReport,
    metrics_token,
    opened,
    proven,
)
from tests.server.house_folder import NOW, changed, config_of, data_of, engine_of, lotus, signed_up

DAY = 24 * 3_600_000
RWS = "rws-sic-bo-etg-v8"


@pytest.fixture(scope="module")
def founded(tmp_path_factory: pytest.TempPathFactory) -> NewHouse:
    return lotus(tmp_path_factory.mktemp("house") / "lotus")


@pytest.fixture
def folder(founded: NewHouse, tmp_path: Path) -> Path:
    """A house to be tampered with."""
    return Path(shutil.copytree(founded.config.parent, tmp_path / "lotus"))


def started(
    config: Config,
    *,
    now: int = NOW,
    free: int = LEAST_FREE,
    between: Callable[[OpenedJournal], None] | None = None,
) -> StartupReport:
    """Both halves of a start; `between` is what recovery would do."""
    start, found = opened(config, now=lambda: now, free=lambda _path: free)
    if found is None:
        assert not start.passed
        return start
    try:
        assert start.passed
        if between:
            between(found)
        return proven(config, found, now=now, program=lambda: "sha256:" + "1" * 64)
    finally:
        found.journal.close()


def failed(start: StartupReport) -> list[str]:
    return [line for line in start.lines() if line.startswith("✗")]


def open_table(engine: Engine, book: Rulebook, *, table: str = "SB1", demonstration: bool = False) -> None:
    limits = Limits(least=500, most=100_000)
    command = OpenTable(
        at=NOW, by="Ann Tan", rank="shift-manager", table=table, limits=limits, currency="SGD",
        day="2026-11-16", zone="Asia/Singapore", layout="A", demonstration=demonstration,
    )  # fmt: skip
    answer = engine.open_table(book, command)
    assert not isinstance(answer, Refusal), answer


def edited(book: Rulebook) -> Rulebook:
    return rulebook_from(book.text.replace(book.title, f"{book.title}!"), "edited")


def test_a_house_as_it_was_founded_starts(folder: Path) -> None:
    start = started(config_of(folder))
    assert start.passed
    assert failed(start) == []
    assert [one.what for one in start.findings] == [
        "files", "files", "disk", "approvals", "key", "journal", "clock", "chain", "table", "people",
        "program",
    ]  # fmt: skip


def test_a_start_that_checked_nothing_has_not_passed() -> None:
    assert not StartupReport().passed


def test_nothing_is_written_before_all_is_known(folder: Path) -> None:
    before = (folder / "journal.db").read_bytes()
    assert started(config_of(folder)).passed
    assert not started(config_of(folder), now=0).passed
    assert (folder / "journal.db").read_bytes() == before


def test_a_journal_that_was_refused_is_let_go(folder: Path) -> None:
    assert not started(config_of(folder), now=0).passed
    engine_of(folder).journal.close()  # nobody else holds it


# Files, disk, clock


@pytest.mark.parametrize("name", ["house.key", "journal.db", "phrase", "tls", "token"])
def test_what_is_secret_is_readable_by_its_owner_alone(folder: Path, name: str) -> None:
    for made in ("phrase", "tls", "token"):
        (folder / made).touch(0o600)
    listen = {"tls_key": "tls", "tls_certificate": "tls", "metrics_token_file": "token"}
    config = changed(folder, journal={"passphrase_file": "phrase"}, listen=listen)
    (folder / name).chmod(0o644)
    told = f"✗ files: expected mode 0600, got 0644 ({name}); run chmod 600"
    assert told in started(config).lines()
    (folder / name).chmod(0o600)
    assert told not in started(config).lines()


@pytest.mark.parametrize("length", [0, 31, 32])
def test_a_metrics_token_is_long_enough_that_nobody_guesses_it(folder: Path, length: int) -> None:
    token = folder / "token"
    token.touch(0o600)
    token.write_text("t" * length + "\nnot read\n", encoding="utf-8")
    config = changed(folder, listen={"metrics_token_file": "token"})
    assert metrics_token(config) == "t" * length
    told = f"✗ files: expected a metrics token of 32 characters or more, got {length}"
    assert (told in started(config).lines()) == (length < 32)


def test_a_metrics_token_is_renewed_while_the_server_runs(tmp_path: Path) -> None:
    file, token = tmp_path / "token", MetricsToken(tmp_path / "token")
    assert MetricsToken(None)() is None
    assert token() is None
    for number, text in enumerate(("a" * 32, "b" * 40, "c" * 32)):
        new = tmp_path / "new"
        new.write_text(f"{text}\n", "ascii")
        new.chmod(0o600)
        os.utime(new, ns=(number, number))
        new.replace(file)
        assert token() == token() == text
    file.chmod(0o640)
    assert token() is None, "others can read it"
    file.chmod(0o600)
    assert token() == "c" * 32
    file.write_text("short", "ascii")
    os.utime(file, ns=(9, 9))
    assert token() is None
    file.unlink()
    assert token() is None


def test_sabotage_a_check_that_looks_at_no_mode_is_seen(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "journal.db").chmod(0o644)
    monkeypatch.setattr(module, "OTHERS", 0)
    assert started(config_of(folder)).passed


def test_the_disk_has_room(folder: Path) -> None:
    assert started(config_of(folder), free=LEAST_FREE).passed
    (line,) = failed(started(config_of(folder), free=LEAST_FREE - 1))
    assert line == "✗ disk: disk full: the journal needs 1,000,000,000 bytes free, 999,999,999 left"


def test_the_clock_is_not_behind_the_journal(folder: Path) -> None:
    config = config_of(folder)
    assert started(config, now=NOW - config.floor.clock_jump_ms).passed
    (line,) = failed(started(config, now=NOW - config.floor.clock_jump_ms - 1))
    assert line.startswith("✗ clock: expected a clock at most 2,000 ms behind")
    assert "got 2,001 ms behind; set it" in line


# The journal


def test_a_journal_of_demonstration_is_never_opened(folder: Path) -> None:
    (folder / "journal.db").unlink()
    key = load_signing_key(folder / "house.key")
    Journal.opened(
        SqliteStore(folder / "journal.db"), journal="show", key=key.public, at=NOW, by="Ann", program="x",
        demonstration=True,
    ).close()  # fmt: skip
    (folder / "journal.db").chmod(0o600)
    (line,) = failed(started(config_of(folder)))
    expected = "✗ journal: expected a journal of play for money, got a demonstration (journal.db)"
    assert line == expected


@pytest.mark.parametrize("content", [b"", b"not a journal at all, but long enough to be one" * 100])
def test_what_is_no_journal_is_refused(folder: Path, content: bytes) -> None:
    (folder / "journal.db").write_bytes(content)
    (line,) = failed(started(config_of(folder)))
    assert line.startswith("✗ journal: ")


def test_a_journal_whose_house_was_never_opened_is_refused(folder: Path) -> None:
    (folder / "journal.db").unlink()
    key = load_signing_key(folder / "house.key")
    Journal.opened(
        SqliteStore(folder / "journal.db"), journal="new", key=key, at=NOW, by="Ann", program="x",
        demonstration=False,
    ).close()  # fmt: skip
    (folder / "journal.db").chmod(0o600)
    assert failed(started(config_of(folder))) == [
        "✗ house: the House was never opened in this journal (journal.db); run `taisai init`"
    ]


def test_the_journal_of_another_house_is_refused(folder: Path) -> None:
    (line,) = failed(started(changed(folder, house={"name": "Peony"})))
    says = "expected the journal of 'Peony' in SGD, got 'Lotus' in SGD"
    assert line == f"✗ house: {says} (journal.db)"
    assert failed(started(changed(folder, house={"currency": "USD"})))


def test_a_journal_that_another_process_writes_is_refused(folder: Path) -> None:
    engine = engine_of(folder)
    (line,) = failed(started(config_of(folder)))
    assert line.startswith("✗ journal: another process is writing to the journal")
    engine.journal.close()


def test_another_key_than_the_journals_is_refused(folder: Path) -> None:
    (folder / "house.key").write_text(SigningKey.new("lotus-2026", seed=b"x" * 32).file_text())
    (line,) = failed(started(config_of(folder)))
    assert line.startswith("✗ key: expected the key that signs the journal, lotus-2026 ")


def test_a_key_that_cannot_be_read_is_refused(folder: Path) -> None:
    (folder / "house.key").write_text(SigningKey.new("lotus-2026", seed=b"x" * 32).file_text("phrase"))
    (line,) = failed(started(config_of(folder)))
    assert line.startswith("✗ key: the key is encrypted and needs a passphrase")


def test_an_encrypted_key_is_opened_by_its_passphrase(folder: Path) -> None:
    key = load_signing_key(folder / "house.key")
    (folder / "house.key").write_text(key.file_text("gut gehütet"))
    (folder / "phrase").write_text("gut gehütet\nnot this\n", encoding="utf-8")
    (folder / "phrase").chmod(0o600)
    assert started(changed(folder, journal={"passphrase_file": "phrase"})).passed
    (folder / "phrase").write_text("falsch\n")
    (line,) = failed(started(changed(folder, journal={"passphrase_file": "phrase"})))
    assert "falsch" not in line
    assert line.startswith("✗ key: wrong passphrase")


# The chain


def altered(folder: Path, sql: str) -> None:
    """The journal changed by someone who can write the file, and takes its guards away."""
    connection = apsw.Connection(str(folder / "journal.db"))
    guards = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'")]
    texts = [text for (text,) in connection.execute("SELECT sql FROM sqlite_master WHERE type = 'trigger'")]
    for name in guards:
        connection.execute(f"DROP TRIGGER {name}")
    connection.execute(sql)
    for text in texts:
        connection.execute(text)
    connection.close()


def test_an_entry_that_was_altered_is_found(folder: Path) -> None:
    altered(
        folder, "UPDATE entry SET body = CAST(replace(body, 'Ann Tan', 'Bob Lee') AS BLOB) WHERE position = 3"
    )
    assert failed(started(config_of(folder)))


def cut_off(folder: Path) -> None:
    """The whole file as it was some entries ago, which is authentic."""
    copyfile(folder / "before.db", folder / "journal.db")


def one_more(folder: Path) -> str:
    """One more entry than there was; returns the checkpoint over it."""
    copyfile(folder / "journal.db", folder / "before.db")
    engine = engine_of(folder)
    enrolled = EnrolPerson(at=NOW, by="Ann Tan", person="Dan Ho", rank="dealer")
    assert not isinstance(engine.answer(HOUSE_STREAM, enrolled), Refusal)
    text = engine.journal.seal(load_signing_key(folder / "house.key"), at=NOW)
    engine.journal.close()
    return text


def test_a_journal_that_was_cut_off_is_found_by_the_copy_of_a_checkpoint(
    folder: Path, tmp_path: Path
) -> None:
    copy_checkpoint(tmp_path / "away", one_more(folder))
    config = changed(folder, journal={"checkpoints": str(tmp_path / "away")})
    assert started(config).passed
    cut_off(folder)
    assert started(config_of(folder)).passed  # nothing in the file itself can show it
    (line,) = failed(started(config))
    says = "expected the entries of the copy of a checkpoint over 7 entries, got 6: the journal was cut off"
    assert line == f"✗ chain: {says}"


def test_the_copy_of_another_journals_checkpoint_is_refused(folder: Path, tmp_path: Path) -> None:
    engine = engine_of(folder)
    key = load_signing_key(folder / "house.key")
    other = Journal.opened(
        SqliteStore(tmp_path / "other.db"), journal="other", key=key.public, at=NOW, by="Ann", program="x",
        demonstration=False,
    )  # fmt: skip
    copy_checkpoint(folder / "away", other.seal(key, at=NOW))
    engine.journal.close()
    other.close()
    (line,) = failed(started(changed(folder, journal={"checkpoints": "away"})))
    assert line.startswith("✗ chain: the entries differ from the copy of a checkpoint over 1 entries")


def test_sabotage_a_check_that_looks_at_no_copy_is_seen(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy_checkpoint(tmp_path / "away", one_more(folder))
    cut_off(folder)
    monkeypatch.setattr("taisai.server.runtime.journal_checks.newest_copy", lambda _folder: None)
    assert started(changed(folder, journal={"checkpoints": str(tmp_path / "away")})).passed


def test_the_newest_copy_is_the_one_over_the_most_entries(folder: Path, tmp_path: Path) -> None:
    engine, key = engine_of(folder), load_signing_key(folder / "house.key")
    away = tmp_path / "no" / "such" / "folder"
    assert newest_copy(away) is None
    texts = []
    for table in ("A", "B"):
        open_table(engine, rulebook(RWS), table=table)
        texts.append(engine.journal.seal(key, at=NOW))
    engine.journal.close()
    for text in reversed(texts):
        copy_checkpoint(away, text)
    copy_checkpoint(away, texts[0])  # again, which changes nothing
    (away / "zzz.txt").write_text("something else")
    newest = newest_copy(away)
    assert newest is not None
    assert newest.text == texts[1]
    assert sorted(path.name for path in away.iterdir()) == [
        "checkpoint-0000000000000000008.txt", "checkpoint-0000000000000000009.txt", "zzz.txt",
    ]  # fmt: skip


def test_a_place_where_no_copy_can_be_is_shown(folder: Path) -> None:
    engine = engine_of(folder)
    (sealed,) = engine.journal.store.checkpoints()
    engine.journal.close()
    with pytest.raises(JournalError, match="cannot copy the checkpoint to "):
        copy_checkpoint(folder / "casino.toml", sealed.text)
    with pytest.raises(JournalError, match="cannot read the checkpoints in "):
        newest_copy(folder / "casino.toml")


# Rulebooks


def test_a_rulebook_that_is_not_approved_today_is_refused(folder: Path) -> None:
    (line,) = failed(
        started(config_of(folder), now=NOW + DAY, between=only_until(folder, date(2026, 11, 16)))
    )
    assert line.startswith("✗ table: SB1: expected a rulebook approved for 2026-11-17, got rws-sic-bo-etg-v8")


def only_until(folder: Path, until: date) -> Callable[[OpenedJournal], None]:
    key = load_signing_key(folder / "approvals.key")
    book = rulebook(RWS)
    text = written_approvals([RulebookApproval(book.id, book.digest, date(2026, 1, 1), until)], key)
    (folder / "approvals.txt").write_text(text, encoding="utf-8")
    return lambda _found: None


def test_the_day_is_the_gaming_day_in_the_houses_time_zone(folder: Path) -> None:
    only_until(folder, date(2026, 11, 16))
    six = 1_794_844_800_000 + 6 * 3_600_000  # of the 17th in Singapore
    assert started(config_of(folder), now=six - 1).passed
    assert not started(config_of(folder), now=six).passed


def test_a_list_by_another_key_is_refused(folder: Path) -> None:
    text = written_approvals([], SigningKey.new("lotus-2026-approvals", seed=b"x" * 32))
    (folder / "approvals.txt").write_text(text, encoding="utf-8")
    (line,) = failed(started(config_of(folder)))
    assert line.startswith("✗ approvals: expected a list signed by lotus-2026-approvals ")
    assert line.endswith("(approvals.txt)")


def test_a_table_open_in_the_journal_is_not_left_out_of_the_configuration(folder: Path) -> None:
    engine = engine_of(folder)
    open_table(engine, rulebook(RWS), table="OLD")
    engine.journal.close()
    start = started(config_of(folder))
    says = "open in the journal, but missing under [[table]] (casino.toml); add it again"
    assert failed(start) == [f"✗ table: OLD: {says}, or close the table before you remove it"]
    assert f"✓ table: SB1 by {RWS}, edition 2, new" in start.lines()
    assert started(also(folder, "OLD")).passed


def also(folder: Path, name: str) -> Config:
    """The configuration with one more table."""
    data = data_of(folder)
    data["table"].append(data["table"][0] | {"name": name})
    return read_config(data, folder / "casino.toml")


def test_sabotage_a_check_that_lets_unnamed_tables_pass_is_seen(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(table_checks, "_missing", lambda _table, _config: None)
    with pytest.raises(AssertionError):
        test_a_table_open_in_the_journal_is_not_left_out_of_the_configuration(folder)


def test_a_table_played_by_a_text_that_is_not_approved_is_refused(folder: Path) -> None:
    engine = engine_of(folder)
    open_table(engine, edited(rulebook(RWS)), table="OLD")
    engine.journal.close()
    _, line = failed(started(also(folder, "OLD")))
    assert line.startswith("✗ table: OLD: expected a rulebook approved for 2026-11-16")


def test_a_table_does_not_change_its_rulebook(folder: Path) -> None:
    engine = engine_of(folder)
    open_table(engine, rulebook("mbs-sic-bo-v6"))
    engine.journal.close()
    (line,) = failed(started(config_of(folder)))
    assert line.startswith(
        "✗ table: SB1: expected the rulebook that the table was opened with, mbs-sic-bo-v6 sha256:"
    )


def test_a_table_of_demonstration_is_refused(folder: Path) -> None:
    engine = engine_of(folder)
    open_table(engine, rulebook(RWS), table="SHOW", demonstration=True)
    engine.journal.close()
    says = "SHOW: the table was opened for a demonstration, not for money"
    assert failed(started(also(folder, "SHOW"))) == [f"✗ table: {says}"]


def test_a_table_that_was_closed_at_the_floor_does_not_keep_the_house_from_starting(folder: Path) -> None:
    engine = engine_of(folder)
    for name in ("SB1", "OLD"):
        open_table(engine, rulebook(RWS), table=name)
        closed = engine.answer(stream_of(name), CloseTable(at=NOW, by="Ann Tan"))
        assert not isinstance(closed, Refusal), closed
    engine.journal.close()
    start = started(config_of(folder))
    assert start.passed
    says = "SB1: closed for ever, but still under [[table]] (casino.toml)"
    assert f"! table: {says}; remove it there; a table in its place needs a new name" in start.lines()
    assert not any("OLD" in line for line in start.lines())  # closed, and no longer in casino.toml


def test_other_terms_than_the_journals_are_shown(folder: Path) -> None:
    engine = engine_of(folder)
    open_table(engine, rulebook(RWS))
    engine.answer(stream_of("SB1"), Shut(at=NOW, by="Ann Tan", reason="night"))
    engine.journal.close()
    config = config_of(folder)
    assert f"✓ table: SB1 by {RWS}, edition 2" in started(config).lines()
    text = (folder / "casino.toml").read_text("utf-8").replace("least = 500", "least = 600")
    (folder / "casino.toml").write_text(text, encoding="utf-8")
    told = "with the terms of the journal, not of the configuration"
    assert f"✓ table: SB1 by {RWS}, edition 2, {told}" in started(config_of(folder)).lines()


def test_sabotage_a_check_that_asks_no_approval_is_seen(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    only_until(folder, date(2026, 11, 15))
    assert not started(config_of(folder)).passed
    monkeypatch.setattr(checks.OpenedJournal, "approvals", Anything())
    assert started(config_of(folder)).passed


class Anything:
    """Approvals of whatever there is."""

    def __set__(self, _of: object, _value: object) -> None:
        pass

    def __get__(self, _of: object, _kind: object) -> Anything:
        return self

    def refusal(self, _book: Rulebook, _on: date) -> None:
        return None

    def newest(self, editions: Sequence[Rulebook], _on: date) -> Rulebook:
        return editions[0]


# People


def test_a_house_that_cannot_unlock_its_own_people_is_warned_until_it_can(
    folder: Path, founded: NewHouse
) -> None:
    warned = [line for line in started(config_of(folder)).lines() if line.startswith("! people: ")]
    says = "expected 3 people of the rank pit-supervisor or above who can sign in, got 0: enrol more"
    assert len(warned) == 1
    assert warned[0].startswith(f"! people: {says}")
    assert "`taisai recover-access`" in warned[0]
    signed_up(folder, founded.activations)
    engine = engine_of(folder)
    by: dict[str, Any] = {"at": NOW, "by": "Ann Tan", "second": "Sue Lim"}
    code: dict[str, Any] = {"code": "c0de" * 16, "until": NOW + 1}
    steps: list[tuple[HouseCommand, bool]] = [
        (EnrolPerson(person="Pat Goh", rank="pit-supervisor", **by), True),
        (IssueActivation(person="Pat Goh", **code, **by), True),
        (
            CommitCredentials(
                at=NOW, by="Pat Goh", person="Pat Goh", commitment="ab" * 32, activation=code["code"]
            ),
            False,
        ),
    ]
    for command, is_warned in steps:
        answer = engine.answer(HOUSE_STREAM, command)
        assert not isinstance(answer, Refusal), answer
        assert (too_few_supervisors(engine.house()) is not None) == is_warned, command
    engine.journal.close()
    (line,) = [line for line in started(config_of(folder)).lines() if line.startswith("!")]
    says = "the stored credentials of Pat Goh were changed outside the server: give a new code"
    assert line == f"! people: {says}", "of whom nothing is stored"


# The program


def test_another_program_than_the_one_asked_for_is_refused(folder: Path) -> None:
    ours = "sha256:" + "1" * 64
    assert (
        f"✓ program: {ours}; [software] manifest is not set, so any program may run"
        in started(config_of(folder)).lines()
    )
    assert started(changed(folder, software={"manifest": ours})).passed
    (line,) = failed(started(changed(folder, software={"manifest": "sha256:" + "2" * 64})))
    assert line == f"✗ program: expected the program sha256:{'2' * 64}, got {ours}"

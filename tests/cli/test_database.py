"""`taisai database prepare`, and a house whose journal is in PostgreSQL."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from taisai.cli.server.serve import found_at_start
from taisai.server.config import load_config
from taisai.server.runtime.startup_checks import opened
from tests.cli.conftest import Taisai
from tests.postgres import PostgresServer


def place(server: PostgresServer, name: str) -> str:
    """Where a journal of this name is."""
    return f"{server.url()}#{name}"


def founded(taisai: Taisai, folder: Path, database: str) -> Path:
    """A new house with its journal in a database."""
    ran = taisai(
        *("init", str(folder), "--house", "Lotus", "--administrator", "Ann Tan", "--supervisor", "Sue Lim"),
        *("--database", database),
    )
    assert ran.code == 0, ran.err
    assert f"{database}: the journal lotus-" in ran.out
    return folder / "casino.toml"


def test_a_house_is_set_up_checked_and_audited(
    taisai: Taisai, postgres: PostgresServer, tmp_path: Path
) -> None:
    database = place(postgres, "lotus")
    config = founded(taisai, tmp_path / "lotus", database)
    text = config.read_text()
    assert f'database = "{database}"' in text
    assert '# file = "journal.db"' in text
    assert not (tmp_path / "lotus" / "journal.db").exists()
    checked = taisai("serve", "--config", str(config), "--check")
    assert checked.code == 0, checked.err
    assert "✓ journal: lotus-" in checked.out
    verified = taisai("audit", "verify", database)
    assert verified.code == 0, verified.err
    assert "is intact and follows the rules" in verified.out
    export = tmp_path / "lotus.jsonl"
    assert taisai("audit", "export", database, "--format", "jsonl", "-o", str(export)).code == 0
    assert taisai("audit", "verify", str(export)).code == 0
    listed = taisai("journal", "checkpoints", database, "--json")
    assert '"entries": 6' in listed.out, listed.out


def test_a_clock_that_is_accepted_is_recorded_for_a_journal_in_a_database_too(
    taisai: Taisai, postgres: PostgresServer, tmp_path: Path
) -> None:
    config = load_config(founded(taisai, tmp_path / "lotus", place(postgres, "clock")))
    start, found = opened(config, now=lambda: 0, accept_clock=True)
    assert found is not None, start.lines()
    found.journal.close()
    assert found.behind > 0
    assert found_at_start(config, found)["behind"] == found.behind


def test_a_name_that_is_taken_is_refused_and_nothing_is_left(
    taisai: Taisai, postgres: PostgresServer, tmp_path: Path
) -> None:
    founded(taisai, tmp_path / "first", place(postgres, "taken"))
    ran = taisai(
        *("init", str(tmp_path / "second"), "--administrator", "Ann Tan", "--supervisor", "Sue Lim"),
        *("--database", place(postgres, "taken")),
    )
    assert ran.code == 2
    assert "the database has a journal of this name already; choose another name after the '#'" in ran.err
    assert not (tmp_path / "second").exists()


def test_prepare_says_who_may_do_what(taisai: Taisai, postgres: PostgresServer) -> None:
    asyncio.run(postgres.execute('CREATE ROLE "night floor"; CREATE ROLE inspector'))
    ran = taisai("database", "prepare", postgres.url(), "--writer", "night floor", "--reader", "inspector")
    assert ran.code == 0, ran.err
    assert "ready for journals, version 1 of the tables" in ran.out
    assert "night floor may write to journals" in ran.out
    assert "inspector may audit journals" in ran.out
    assert '"version": 1' in taisai("database", "prepare", postgres.url(), "--json").out


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (
            ("database", "prepare", "house.db"),
            "expected the URL of a database, such as 'postgresql:///taisai'",
        ),
        (("database", "prepare", "postgresql:///x#house"), "expected the URL of a database, such as"),
        (("database", "prepare", "postgresql://ann:pw@127.0.0.1:1/x"), "(postgresql://ann@127.0.0.1:1/x)"),
        (("database", "prepare", "postgresql://[h/x"), "expected the URL of a database, such as"),
        (("audit", "verify", "postgresql://h:abc/x#house"), "expected the URL of a database, such as"),
        (
            ("audit", "verify", "postgresql://ann@[::1]:1,[::1]:2/x#h"),
            "the journal cannot be read",
        ),
        (("database", "prepare", "postgresql://ann:pw@h/x#house"), "got 'postgresql://ann@h/x#house'"),
        (("audit", "verify", "postgresql://ann:pw@h/x"), "got 'postgresql://ann@h/x'"),
        (("audit", "verify", "postgresql://ann:p#pw@h/x"), "got 'postgresql://ann@h/x'"),
        (("backup", "postgresql://ann:pw@h/x#house", "copy.db"), "got one in a database; copy the whole"),
        (
            ("audit", "verify", "postgresql:///x"),
            "expected the URL of a database, '#' and the name of a journal",
        ),
        (
            ("backup", "postgresql:///x#house", "copy.db"),
            "copy the whole database with the tools of PostgreSQL",
        ),
    ],
)
def test_what_cannot_be_is_told_with_what_to_do(taisai: Taisai, words: tuple[str, ...], says: str) -> None:
    ran = taisai(*words)
    assert ran.code == 2
    assert says in ran.err
    assert "pw" not in ran.err


@pytest.mark.parametrize(
    ("line", "says"),
    [
        (
            'file = "journal.db"\ndatabase = "postgresql:///x#house"',
            "expected either file or database, got both",
        ),
        ('database = "postgresql:///x"', "the URL of a PostgreSQL database, '#' and the name of the journal"),
        (
            'database = "postgresql://ann:pw@db/x#house"',
            "a URL without a password, which belongs in a passfile",
        ),
        ('database = "postgresql://ann:pw@db/x"', "a URL without a password, which belongs in a passfile"),
        (
            'database = "postgresql:///x?password=pw#house"',
            "a URL without a password, which belongs in a passfile",
        ),
    ],
)
def test_a_wrong_setting_is_a_fault_of_the_file(
    taisai: Taisai, postgres: PostgresServer, tmp_path: Path, line: str, says: str
) -> None:
    name = f"setting-{abs(hash(line))}"
    config = founded(taisai, tmp_path / "lotus", place(postgres, name))
    setting = f'database = "{place(postgres, name)}"'
    config.write_text(config.read_text().replace(setting, line))
    ran = taisai("serve", "--config", str(config), "--check")
    assert ran.code == 2
    assert says in ran.err
    assert "pw" not in ran.err


def test_only_a_journal_in_a_database_has_a_standby(taisai: Taisai, tmp_path: Path) -> None:
    ran = taisai("init", str(tmp_path / "lotus"), "--administrator", "Ann Tan", "--supervisor", "Sue Lim")
    assert ran.code == 0, ran.err
    ran = taisai("serve", "--config", str(tmp_path / "lotus" / "casino.toml"), "--standby")
    assert ran.code == 2
    assert "expected a journal in a database for --standby, got a file ([journal] file)" in ran.err

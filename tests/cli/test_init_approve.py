"""`taisai approve`: what a regulator types, and the list that it comes to."""

from __future__ import annotations

import json
import shlex
from datetime import date
from pathlib import Path

import pytest

from taisai.cli import main
from taisai.cli.commands import COMMAND_ENTRIES, CommandEntry
from taisai.cli.rules import books
from taisai.journal import load_public_key
from taisai.rules import rulebook
from taisai.server.config import load_config
from taisai.server.runtime.rulebook_approvals import RulebookApproval, read_approvals
from tests.cli.conftest import Taisai
from tests.cli.journals import one_clear_line
from tests.rules.books import saved, text_of

DAY = date(2026, 11, 16)
US = rulebook("us-sic-bo")


@pytest.fixture(autouse=True)
def _key(taisai: Taisai) -> None:
    assert taisai("keys", "make", "regulator.key", "--name", "regulator-2026").code == 0


def approve(taisai: Taisai, words: str, expected: int = 0) -> str:
    ran = taisai("approve", *shlex.split(words))
    assert ran.code == expected, ran
    return ran.out if not expected else ran.err


def listed(text: str) -> tuple[RulebookApproval, ...]:
    return read_approvals(text, load_public_key(Path("regulator.key.pub"))).listed


def test_the_list_is_signed_and_printed(taisai: Taisai) -> None:
    out = approve(taisai, "us-sic-bo --key regulator.key --from 2026-11-16")
    assert listed(out) == (RulebookApproval("us-sic-bo", US.digest, DAY),)


def test_the_list_goes_into_a_new_file(taisai: Taisai) -> None:
    words = "us-sic-bo mbs-sic-bo-v6 --key regulator.key --from 2026-11-16 --until 2026-12-31 -o list.txt"
    assert approve(taisai, words).startswith("list.txt: 2 approved, signed by regulator-2026 ")
    read = listed(Path("list.txt").read_text("utf-8"))
    assert [(one.id, one.since, one.until) for one in read] == [
        ("us-sic-bo", DAY, date(2026, 12, 31)),
        ("mbs-sic-bo-v6", DAY, date(2026, 12, 31)),
    ]
    assert "file exists: list.txt; choose a new file" in approve(taisai, words, 2)


def test_an_older_list_is_kept(taisai: Taisai) -> None:
    approve(taisai, "us-sic-bo --key regulator.key --from 2026-11-16 -o old.txt")
    words = "mbs-sic-bo-v6 us-sic-bo --key regulator.key --from 2027-01-01 --keep old.txt"
    ids = [(one.id, one.since.year) for one in listed(approve(taisai, words))]
    assert ids == [("us-sic-bo", 2026), ("mbs-sic-bo-v6", 2027), ("us-sic-bo", 2027)]


def test_a_rulebook_of_ones_own_is_approved_by_its_text(taisai: Taisai, tmp_path: Path) -> None:
    saved(tmp_path, text_of("us-sic-bo").replace('id = "us-sic-bo"', 'id = "mine"', 1))
    (one,) = listed(approve(taisai, "my.toml --key regulator.key --from 2026-11-16"))
    assert one == RulebookApproval("mine", rulebook("my.toml").digest, DAY)
    assert one.digest != US.digest


def test_machines_are_shown_the_same(taisai: Taisai) -> None:
    told = json.loads(approve(taisai, "us-sic-bo --key regulator.key --from 2026-11-16 --json"))
    assert told["approvals"] == [
        {"id": "us-sic-bo", "digest": US.digest, "since": "2026-11-16", "until": None, "edition": 2}
    ]
    assert listed(told["text"]) == (RulebookApproval("us-sic-bo", US.digest, DAY),)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("us-sic-bo --key regulator.key", "required: --from"),
        ("us-sic-bo --from 2026-11-16", "required: --key"),
        ("--key regulator.key --from 2026-11-16", "required: BOOK"),
        (
            "us-sic-bo --key regulator.key --from today",
            "expected a day such as 2026-11-16, got 'today'",
        ),
        ("us-sic-bo --key regulator.key --from 20261116", "expected a day such as 2026-11-16"),
        (
            "us-sic-bo --key regulator.key --from 2026-11-16 --until 2026-11-15",
            "expected 2026-11-16 or later, got 2026-11-15 (--until)",
        ),
        ("no-such --key regulator.key --from 2026-11-16", "expected a rulebook id"),
        ("us-sic-bo --key no-such --from 2026-11-16", "the key file"),
        ("us-sic-bo --key regulator.key.pub --from 2026-11-16", "expected"),
        (
            "us-sic-bo --key regulator.key --from 2026-11-16 --keep no-such",
            "cannot read the list of approvals",
        ),
        ("us-sic-bo --key regulator.key --from 2026-11-16 --keep regulator.key", "expected"),
        ("us-sic-bo --key regulator.key --from 2026-11-16 -o no/such", "cannot write 'no/such'"),
    ],
)
def test_what_cannot_be_approved_is_refused(taisai: Taisai, words: str, says: str) -> None:
    ran = taisai("approve", *shlex.split(words))
    assert says in ran.err
    assert ran.code == 2
    assert ran.out == ""
    assert len(ran.err.splitlines()) == 1


def test_a_list_by_someone_else_is_not_kept(taisai: Taisai) -> None:
    approve(taisai, "us-sic-bo --key regulator.key --from 2026-11-16 -o old.txt")
    assert taisai("keys", "make", "other.key", "--name", "regulator-2026").code == 0
    ran = taisai("approve", "us-sic-bo", "--key", "other.key", "--from", "2026-11-16", "--keep", "old.txt")
    assert one_clear_line(ran), ran
    assert "expected a list signed by regulator-2026 " in ran.err


@pytest.mark.parametrize(
    "entry",
    [entry for entry in COMMAND_ENTRIES if entry.words in ("init", "approve")],
    ids=lambda entry: entry.words,
)
def test_help_says_what_and_its_examples_run(
    taisai: Taisai, capsys: pytest.CaptureFixture[str], tmp_path: Path, entry: CommandEntry
) -> None:
    words, examples = entry.words, entry.examples
    with pytest.raises(SystemExit):
        main([words, "--help"])
    text = capsys.readouterr().out
    assert text.startswith(f"usage: taisai {words}")
    saved(tmp_path, text_of("us-sic-bo"))
    (tmp_path / "secret").write_text("three dice, one tumbler\n")
    (tmp_path / "secret").chmod(0o600)
    for line in examples:
        assert f"\n  {line}\n" in f"{text}\n"
        ran = taisai(*shlex.split(line)[1:])
        assert (ran.code, ran.err) == (0, ""), line
        assert ran.out


def test_every_fault_of_a_configuration_is_a_line(
    taisai: Taisai, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Whichever command loads it."""
    (tmp_path / "casino.toml").write_text("[house]\nnam = 5\n[listen]\nport = 'a\\nb'\n")
    monkeypatch.setattr(books, "list_books", lambda _arguments: load_config("casino.toml"))
    ran = taisai("rules", "list")
    assert ran.code == 2
    lines = ran.err.splitlines()
    assert len(lines) == 9
    assert all(line.startswith("taisai: ") and "expected " in line for line in lines)

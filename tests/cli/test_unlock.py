"""`taisai unlock`: whoever holds the machine and the house's key lets someone in again, on the record."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from taisai.audit import verified
from taisai.cage import MOST_FAILURES
from taisai.cage import decide as cage
from taisai.cage.messages import (
    CommitCredentials,
    EnrolPerson,
    IssueActivation,
    NoteFailure,
    PersonUnlocked,
)
from taisai.cli.journals import clock
from taisai.game.refusals import Refusal
from taisai.game.vocabulary import FLOOR
from taisai.journal import load_public_key, make_key
from taisai.journal.codec import HOUSE_STREAM
from taisai.server.runtime.environment import newest_copy
from taisai.server.runtime.setup import set_up
from tests.cli.conftest import Taisai
from tests.cli.journals import one_clear_line
from tests.server.house_folder import engine_of, entropy, plan, signed_up

CONFIG = ("--config", "lotus/casino.toml")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A house of three who can sign in, of whom three wrong tries have locked the administrator."""
    made = set_up(plan(tmp_path / "lotus"), now=clock(), entropy=entropy())
    signed_up(tmp_path / "lotus", made.activations, now=clock())
    engine = engine_of(tmp_path / "lotus")
    *_, latest = engine.journal.entries()
    at, code = latest.event.at, "c0de" * 16
    failed = NoteFailure(at=at, by=FLOOR, person="Ann Tan", address="203.0.113.9", why="password")
    for command in (
        EnrolPerson(at=at, by="Ann Tan", person="Pat Lee", rank="pit-manager", second="Sue Lim"),
        IssueActivation(at=at, by="Ann Tan", person="Pat Lee", code=code, until=at + 1, second="Sue Lim"),
        CommitCredentials(at=at, by="Pat Lee", person="Pat Lee", commitment="ab" * 32, activation=code),
        *[failed] * MOST_FAILURES,
    ):
        assert not isinstance(engine.answer(HOUSE_STREAM, command), Refusal)
    assert engine.house().locked == {"Ann Tan"}
    engine.journal.close()
    return tmp_path / "lotus"


def locked(folder: Path) -> set[str]:
    """Who is locked."""
    engine = engine_of(folder)
    found = set(engine.house().locked)
    engine.journal.close()
    return found


def unlocks(folder: Path) -> list[PersonUnlocked]:
    """What the journal has of it."""
    engine = engine_of(folder)
    found = [one.event for one in engine.journal.entries() if isinstance(one.event, PersonUnlocked)]
    engine.journal.close()
    return found


def test_a_house_whose_only_administrator_is_locked_is_not_lost(folder: Path, taisai: Taisai) -> None:
    ran = taisai("unlock", "Ann Tan", *CONFIG, "--reason", "locked by a stranger")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out == "Ann Tan may sign in again; recorded and sealed, 16 entries\n"
    assert locked(folder) == set()
    (event,) = unlocks(folder)
    assert (event.person, event.by, event.second) == ("Ann Tan", FLOOR, None)
    assert (event.reason, event.clause) == ("locked by a stranger", "house:access")
    report = verified(folder / "journal.db", key=load_public_key(folder / "house.key.pub"))
    assert (report.entries, report.tail) == (16, 0), "sealed to its last entry, and every decision proved"


def test_a_name_in_other_letters_is_the_one_on_the_staff_list_and_a_reason_is_always_there(
    folder: Path, taisai: Taisai
) -> None:
    assert taisai("unlock", "ann TAN", *CONFIG).code == 0
    (event,) = unlocks(folder)
    assert (event.person, event.reason) == ("Ann Tan", "nobody else could unlock")


def test_who_is_not_locked_is_shown_and_nothing_is_written(folder: Path, taisai: Taisai) -> None:
    taisai("unlock", "Ann Tan", *CONFIG)
    before = (folder / "journal.db").read_bytes()
    ran = taisai("unlock", "Ann Tan", *CONFIG, "--json")
    assert json.loads(ran.out) == {"person": "Ann Tan", "was_locked": False, "entries": 16}
    assert taisai("unlock", "Ann Tan", *CONFIG).out == "Ann Tan is not locked; nothing was written\n"
    assert (folder / "journal.db").read_bytes() == before


def test_the_checkpoint_goes_where_every_other_goes(folder: Path, taisai: Taisai, tmp_path: Path) -> None:
    text = (folder / "casino.toml").read_text("utf-8")
    kept = text.replace('# checkpoints = "checkpoints"', 'checkpoints = "away"')
    assert kept != text
    (folder / "casino.toml").write_text(kept, encoding="utf-8")
    assert taisai("unlock", "Ann Tan", *CONFIG).code == 0
    copy = newest_copy(tmp_path / "lotus" / "away")
    assert copy is not None
    assert copy.checkpoint.size == 16


# What it does not do


def test_nothing_is_unlocked_beside_a_server_that_runs(folder: Path, taisai: Taisai) -> None:
    running = engine_of(folder)
    ran = taisai("unlock", "Ann Tan", *CONFIG)
    running.journal.close()
    assert one_clear_line(ran), ran
    assert "journal" in ran.err
    assert locked(folder) == {"Ann Tan"}


def test_nothing_is_unlocked_without_the_houses_key(folder: Path, taisai: Taisai) -> None:
    (folder / "house.key").unlink()
    (folder / "house.key.pub").unlink()
    make_key(folder / "house.key", "lotus-2026", seed=b"x" * 32)
    ran = taisai("unlock", "Ann Tan", *CONFIG)
    assert one_clear_line(ran), ran
    assert "expected the key that signs the journal" in ran.err
    assert locked(folder) == {"Ann Tan"}


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("Eve Koh", *CONFIG), "expected a person on the staff list, got 'Eve Koh'"),
        (("Ann Tan", *CONFIG, "--reason", ""), "(reason)"),
        (("Ann Tan", "--config", "nowhere.toml"), "cannot read the configuration 'nowhere.toml'"),
    ],
)
def test_what_cannot_be_done_is_said(folder: Path, taisai: Taisai, words: tuple[str, ...], says: str) -> None:
    ran = taisai("unlock", *words)
    assert one_clear_line(ran), ran
    assert says in ran.err
    assert locked(folder) == {"Ann Tan"}
    assert unlocks(folder) == []


def test_anyone_who_founds_a_house_hears_how_many_people_it_takes(taisai: Taisai, folder: Path) -> None:
    (folder.parent / "other").mkdir()
    ran = taisai("init", "other", "--administrator", "Ann Tan", "--supervisor", "Sue Lim")
    assert "! expected 3 people of the rank pit-supervisor or above who can sign in, got 0" in ran.out


def test_sabotage_a_house_that_hears_no_key_is_seen(
    folder: Path, taisai: Taisai, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cage, "FLOOR", "nobody")
    with pytest.raises(AssertionError):
        test_a_house_whose_only_administrator_is_locked_is_not_lost(folder, taisai)

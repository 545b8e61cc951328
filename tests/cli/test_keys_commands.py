"""`taisai keys`: made once, shown to anyone, handed on by the key before."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest

from taisai.audit import verified
from taisai.journal.seals.keys import load_public_key, load_signing_key
from tests.cli.conftest import Taisai
from tests.cli.journals import as_nobody, impostors, one_clear_line, play

# Made


def test_a_key_is_made_for_its_owner_alone_and_shown_to_anyone(taisai: Taisai) -> None:
    made = taisai("keys", "make", "house.key", "--name", "house-2026")
    assert (made.code, made.err) == (0, "")
    assert Path("house.key").stat().st_mode & 0o777 == 0o600
    public = Path("house.key.pub").read_text("utf-8")
    assert made.out.endswith(public)
    for file in ("house.key", "house.key.pub"):
        shown = taisai("keys", "show", file)
        assert (shown.code, shown.err) == (0, "")
        key = load_public_key(Path("house.key.pub"))
        assert shown.out == f"{public}name house-2026, id {key.id}\n"
        told = json.loads(taisai("keys", "show", file, "--json").out)
        assert told == {"file": file, "name": "house-2026", "id": key.id, "key": key.text}


def test_the_secret_is_in_no_output(taisai: Taisai) -> None:
    said = taisai("keys", "make", "house.key", "--name", "house").out
    said += taisai("keys", "show", "house.key").out + taisai("keys", "show", "house.key", "--json").out
    secret = Path("house.key").read_text("utf-8").splitlines()[2]
    assert len(secret) > 40
    assert secret not in said


def test_making_one_says_the_same_to_machines(taisai: Taisai) -> None:
    told = json.loads(taisai("keys", "make", "house.key", "--name", "house", "--json").out)
    assert (told["file"], told["public"], told["name"]) == ("house.key", "house.key.pub", "house")
    assert told["key"] == load_public_key(Path("house.key.pub")).text


def test_a_passphrase_is_the_first_line_of_its_file(taisai: Taisai, tmp_path: Path) -> None:
    (tmp_path / "secret").write_bytes("gro\u00dfes Gl\u00fcck\r\nnot this\n".encode())
    (tmp_path / "secret").chmod(0o600)
    words = ("--passphrase-file", "secret")
    assert taisai("keys", "make", "house.key", "--name", "house", *words).code == 0
    assert load_signing_key(Path("house.key"), "gro\u00dfes Gl\u00fcck").name == "house"
    assert taisai("keys", "show", "house.key", *words).code == 0
    ran = taisai("keys", "show", "house.key")
    assert one_clear_line(ran), ran
    assert "the key is encrypted and needs a passphrase" in ran.err


@pytest.mark.parametrize("there", ["house.key", "house.key.pub"])
def test_no_key_is_ever_written_over(taisai: Taisai, tmp_path: Path, there: str) -> None:
    (tmp_path / there).write_text("mine", encoding="utf-8")
    ran = taisai("keys", "make", "house.key", "--name", "house")
    assert one_clear_line(ran), ran
    assert "the file exists already" in ran.err
    assert [path.name for path in tmp_path.iterdir()] == [there]
    assert (tmp_path / there).read_text("utf-8") == "mine"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("make x", "required: --name"),
        ("make", "required: FILE, --name"),
        ("make x --name a+b", "invalid key name"),
        ("make no/such/x --name a", "the key file cannot be written"),
        ("make . --name a", "the file exists already"),
        ("make x --name a --passphrase-file no-such", "cannot read the passphrase file 'no-such'"),
        ("make x --name a --passphrase-file .", "Is a directory"),
        ("make x --name a --passphrase-file empty", "expected a passphrase of 1 to 1023 bytes, got 0"),
        ("make x --name a --passphrase-file long", "expected a passphrase of 1 to 1023 bytes, got 1025"),
        ("make x --name a --passphrase-file bytes", "not UTF-8"),
        ("show no-such", "cannot read the key file 'no-such': No such file"),
        ("show .", "Is a directory"),
        ("show empty", "expected a public key like"),
        ("show long", "expected a public key like"),
        ("show huge", "key file too large: expected at most 16,384 bytes"),
        ("show", "required: FILE"),
    ],
)  # fmt: skip
def test_misuse_is_refused_in_one_line(taisai: Taisai, tmp_path: Path, words: str, message: str) -> None:
    for name, raw in {"empty": b"", "long": b"x" * 2_000, "bytes": b"\xff\n", "huge": b"x" * 20_000}.items():
        (tmp_path / name).write_bytes(raw)
        (tmp_path / name).chmod(0o600)
    ran = taisai("keys", *words.split())
    assert (ran.code, ran.out, len(ran.err.splitlines())) == (2, "", 1)
    assert message in ran.err
    assert not (tmp_path / "x").exists()


def test_a_key_that_others_may_read_is_refused_with_what_to_run(taisai: Taisai) -> None:
    taisai("keys", "make", "house.key", "--name", "house")
    Path("house.key").chmod(0o640)
    ran = taisai("keys", "show", "house.key")
    assert one_clear_line(ran), ran
    assert "run: chmod 600 house.key" in ran.err


def test_a_key_that_one_may_not_read_is_shown_in_one_line(taisai: Taisai, open_folder: Path) -> None:
    taisai("keys", "make", str(open_folder / "house.key"), "--name", "house")
    assert taisai("keys", "show", str(open_folder / "house.key")).code == 0
    ran = as_nobody(open_folder, "keys", "show", str(open_folder / "house.key"))
    assert one_clear_line(ran), ran
    assert "Permission denied" in ran.err


# Handed on


def rotated(taisai: Taisai, *more: str) -> None:
    """A journal whose key was replaced by house.key."""
    play(taisai)
    taisai("keys", "make", "house.key", "--name", "house")
    ran = taisai(
        "keys", "rotate", "evening.db", "--key", "evening.db.key", "--new", "house.key", "--by", "Sue",
        "--yes", *more,
    )  # fmt: skip
    assert (ran.code, ran.err) == (0, ""), ran


def test_the_new_key_signs_and_the_old_one_no_more(taisai: Taisai) -> None:
    rotated(taisai)
    report = verified("evening.db")
    assert [key.partition("+")[0] for key in report.keys][1:] == ["house"]
    assert (report.entries, report.tail) == (35, 0)
    ran = taisai("journal", "seal", "evening.db", "--key", "evening.db.key")
    assert one_clear_line(ran), ran
    assert "wrong signing key: expected house " in ran.err
    play(taisai, "evening.db", "--key", "house.key")
    trusted = verified("evening.db", key=load_public_key(Path("house.key.pub")))
    assert trusted.sealed == trusted.entries


def test_a_rotation_that_nobody_confirmed_says_what_cannot_be_undone_and_writes_nothing(
    taisai: Taisai, tmp_path: Path
) -> None:
    play(taisai)
    taisai("keys", "make", "house.key", "--name", "house")
    before = (tmp_path / "evening.db").read_bytes()
    ran = taisai(
        "keys", "rotate", "evening.db", "--key", "evening.db.key", "--new", "house.key", "--by", "Sue"
    )
    assert one_clear_line(ran), ran
    assert "this cannot be undone: taisai/" in ran.err
    assert "can never again sign evening.db; add --yes if you are sure" in ran.err
    assert (tmp_path / "evening.db").read_bytes() == before


@pytest.mark.parametrize(("typed", "is_done"), [("yes\n", True), ("no\n", False), ("", False)])
def test_a_rotation_at_a_terminal_asks_first(
    taisai: Taisai, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, typed: str, *, is_done: bool
) -> None:
    play(taisai)
    taisai("keys", "make", "house.key", "--name", "house")
    before = (tmp_path / "evening.db").read_bytes()
    screen = io.StringIO(typed)
    monkeypatch.setattr(screen, "isatty", lambda: True)
    monkeypatch.setattr(sys, "stdin", screen)
    ran = taisai(
        "keys", "rotate", "evening.db", "--key", "evening.db.key", "--new", "house.key", "--by", "Sue"
    )
    assert ran.err.startswith("! This cannot be undone: ")
    assert ran.err.endswith("nothing was changed\n") is not is_done
    assert (ran.code == 0) is is_done
    assert ((tmp_path / "evening.db").read_bytes() != before) is is_done


def test_a_rotation_says_the_same_to_machines(taisai: Taisai) -> None:
    play(taisai)
    taisai("keys", "make", "house.key", "--name", "house")
    words = ("--key", "evening.db.key", "--new", "house.key", "--by", "Sue", "--yes", "--json")
    told = json.loads(taisai("keys", "rotate", "evening.db", *words).out)
    assert (told["journal"], told["size"], told["name"]) == ("evening.db", 35, "house")
    assert told["checkpoint"].splitlines()[1] == "35"


def test_a_rotation_that_is_refused_writes_nothing(taisai: Taisai, tmp_path: Path) -> None:
    play(taisai)
    play(taisai, "other.db")
    taisai("keys", "make", "house.key", "--name", "house")
    refused = {
        "--key other.db.key --new house.key --by Sue": "wrong signing key",
        "--key evening.db.key --new evening.db.key --by Sue": "expected a new key, got the old one again",
        "--key evening.db.key --new no-such --by Sue": "the key file",
        "--key no-such --new house.key --by Sue": "the key file",
        "--key evening.db.key --new house.key.pub --by Sue": "expected the private key, got the public one",
        "--key evening.db.key --new house.key --by=": "expected the name of a person, got '' (--by)",
        "--key evening.db.key --new house.key --by a\nb": "expected the name of a person",
    }
    before = (tmp_path / "evening.db").read_bytes()
    for words, message in refused.items():
        ran = taisai("keys", "rotate", "evening.db", *words.split(" "))
        assert one_clear_line(ran), (words, ran)
        assert message in ran.err, words
    assert (tmp_path / "evening.db").read_bytes() == before
    for what, path in impostors(tmp_path, tmp_path / "evening.db").items():
        ran = taisai(
            "keys", "rotate", path, "--key", "evening.db.key", "--new", "house.key", "--by", "Sue", "--yes"
        )
        assert one_clear_line(ran), (what, ran)

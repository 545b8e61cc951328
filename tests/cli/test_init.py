"""`taisai init`: a house founded whole or not at all, with nothing secret where it does not belong."""

from __future__ import annotations

import getpass
import json
import re
import sys
from base64 import b32decode
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from taisai.audit import verified
from taisai.cage import FLOOR_LADDER
from taisai.journal import load_public_key, load_signing_key
from taisai.rules import rulebook, rulebook_ids
from taisai.rules.errors import RulesError
from taisai.server.auth import credentials as vault
from taisai.server.auth.credentials import Passwords, base32
from taisai.server.config import load_config
from taisai.server.runtime import setup
from taisai.server.runtime.rulebook_approvals import read_approvals
from taisai.server.runtime.setup import check_setup, set_up
from taisai.server.runtime.startup_checks import opened, proven
from tests.cli.conftest import Ran, Taisai
from tests.cli.journals import one_clear_line
from tests.server.house_folder import NOW, PASSWORD, TINY, engine_of, entropy, plan

MADE = [
    "approvals.key", "approvals.key.pub", "approvals.txt", "casino.toml", "house.key", "house.key.pub",
    "journal.db", "journal.db-writer",
]  # fmt: skip
WORDS = ("init", "lotus", "--house", "Lotus", "--administrator", "Ann Tan")


@pytest.fixture(autouse=True)
def _cheap(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(setup, "Passwords", lambda take, _cost: Passwords(take, TINY))


@pytest.fixture
def password(tmp_path: Path) -> tuple[str, str]:
    (tmp_path / "secret").write_text(f"{PASSWORD}\nnot this\n", encoding="utf-8")
    (tmp_path / "secret").chmod(0o600)
    return ("--password-file", "secret")


@pytest.fixture
def ran(taisai: Taisai, password: tuple[str, str]) -> Ran:
    ran = taisai(*WORDS, *password)
    assert (ran.code, ran.err) == (0, ""), ran
    return ran


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def second_factor(text: str) -> bytes:
    (uri,) = re.findall(r"otpauth://\S+", text)
    return b32decode(parse_qs(urlsplit(uri).query)["secret"][0])


def test_it_makes_a_house_that_can_be_served(ran: Ran, tmp_path: Path) -> None:
    folder = tmp_path / "lotus"
    assert names(folder) == MADE
    config = load_config(folder / "casino.toml")
    now = int(datetime.now(UTC).timestamp() * 1000)
    start, found = opened(config, now=now, free=lambda _path: 10**12)
    assert found is not None, start.lines()
    assert proven(config, found, now=now).passed
    found.journal.close()
    assert "Next: taisai serve --config lotus/casino.toml" in ran.out


@pytest.mark.usefixtures("ran")
def test_the_journal_is_one_of_play_for_money_proved_and_sealed(tmp_path: Path) -> None:
    folder = tmp_path / "lotus"
    report = verified(folder / "journal.db", key=load_public_key(folder / "house.key.pub"))
    assert report.entries == 4
    engine = engine_of(folder)
    identity, house = engine.journal.identity, engine.house()
    assert identity is not None
    assert not identity.demonstration
    assert (house.name, house.currency, house.ladder) == ("Lotus", "SGD", FLOOR_LADDER)
    assert house.people == {"Ann Tan": "administrator"}
    assert house.credentials == {"Ann Tan"}
    assert len(engine.journal.store.checkpoints()) == 1
    engine.journal.close()


def test_the_administrator_signs_in_by_password_and_second_factor(ran: Ran, tmp_path: Path) -> None:
    engine = engine_of(tmp_path / "lotus")
    kept = vault.kept(engine.journal.store, "Ann Tan")
    assert kept is not None
    assert Passwords(entropy(), TINY).verified(kept.hash, PASSWORD)
    assert not Passwords(entropy(), TINY).verified(kept.hash, PASSWORD + "!")
    assert kept.totp == base32(second_factor(ran.out))
    engine.journal.close()


def secrets_in(folder: Path, *secrets: bytes) -> list[tuple[str, bytes]]:
    """Which file has which secret; what is in the vault is in no entry, and encrypted."""
    engine = engine_of(folder)
    texts = {"entries": b"".join(row.body for row in engine.journal.store.rows())}
    engine.journal.close()
    texts |= {name: (folder / name).read_bytes() for name in MADE}
    return [(name, secret) for name, text in texts.items() for secret in secrets if secret in text]


def test_no_secret_is_where_it_does_not_belong(ran: Ran, tmp_path: Path) -> None:
    totp = base32(second_factor(ran.out)).encode()
    private = (tmp_path / "lotus" / "house.key").read_bytes().splitlines()[2]
    assert len(private) > 40
    assert PASSWORD not in ran.out
    found = secrets_in(tmp_path / "lotus", PASSWORD.encode(), totp, private)
    assert found == [("house.key", private)], "the journal has the second factor encrypted"


@pytest.mark.usefixtures("ran")
def test_what_is_secret_is_readable_by_its_owner_alone(tmp_path: Path) -> None:
    for name in ("house.key", "approvals.key", "journal.db"):
        assert (tmp_path / "lotus" / name).stat().st_mode & 0o777 == 0o600, name


@pytest.mark.usefixtures("ran")
def test_every_rulebook_of_the_package_is_approved_from_today(tmp_path: Path) -> None:
    key = load_public_key(tmp_path / "lotus" / "approvals.key.pub")
    text = (tmp_path / "lotus" / "approvals.txt").read_text("utf-8")
    approvals = read_approvals(text, key)
    assert [one.id for one in approvals.listed] == list(rulebook_ids())
    for one in approvals.listed:
        assert approvals.refusal(rulebook(one.id), one.since) is None
    assert text.count("\n# ") == 2 + len(rulebook_ids())


def test_machines_are_shown_the_same(taisai: Taisai, password: tuple[str, str], tmp_path: Path) -> None:
    told = json.loads(taisai(*WORDS, *password, "--json").out)
    assert told["config"] == "lotus/casino.toml"
    assert told["key"] == load_public_key(tmp_path / "lotus" / "house.key.pub").text
    assert told["second_factor"].startswith("otpauth://totp/Lotus:Ann%20Tan?")
    assert sorted(told) == ["approvals_key", "checkpoint", "config", "journal", "key", "second_factor"]


def test_the_house_is_named_for_its_folder_unless_said(taisai: Taisai, password: tuple[str, str]) -> None:
    words = ("init", "peony", "--administrator", "Ann Tan", "--currency", "USD", "--zone", "America/New_York")
    assert taisai(*words, *password).code == 0
    house = load_config("peony/casino.toml").house
    assert (house.name, house.currency, str(house.zone)) == ("peony", "USD", "America/New_York")


def test_a_passphrase_encrypts_the_key_and_its_file_is_named(
    taisai: Taisai, password: tuple[str, str], tmp_path: Path
) -> None:
    (tmp_path / "phrase").write_text("a long passphrase\n")
    (tmp_path / "phrase").chmod(0o600)
    assert taisai(*WORDS, *password, "--passphrase-file", "phrase").code == 0
    assert load_config("lotus/casino.toml").journal.passphrase_file == tmp_path / "phrase"
    assert load_signing_key(Path("lotus/house.key"), "a long passphrase").name.startswith("lotus-")
    with pytest.raises(RulesError, match="the key is encrypted and needs a passphrase"):
        load_signing_key(Path("lotus/house.key"))


# What is refused


@pytest.mark.parametrize("there", MADE)
def test_nothing_is_ever_written_over(
    taisai: Taisai, password: tuple[str, str], tmp_path: Path, there: str
) -> None:
    (tmp_path / "lotus").mkdir()
    (tmp_path / "lotus" / there).write_text("mine")
    ran = taisai(*WORDS, *password)
    assert one_clear_line(ran), ran
    assert f"file exists: {there} in " in ran.err
    assert names(tmp_path / "lotus") == [there]
    assert (tmp_path / "lotus" / there).read_text() == "mine"


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (
            "--currency sgd",
            "expected a currency of three capital letters, such as 'SGD', got 'sgd' (--currency)",
        ),
        ("--zone Nowhere", "expected a time zone such as 'Asia/Singapore', got 'Nowhere' (--zone)"),
        ("--administrator admin", "expected the name of a person, got 'admin', the name of a position"),
        ("--administrator administrator", "expected the name of a person"),
        ("--administrator recovery", "'recovery' is one of the system's own actors"),
        ("--administrator ..", "expected a name without '/' that is not '.' or '..', got '..'"),
        ("--password-file no-such", "cannot read the password file 'no-such': No such file"),
        ("--password-file short", "expected a password of 12 to 128 characters, got 5"),
        ("--password-file bytes", "not UTF-8"),
        ("--password-file name", "the password is the person's name"),
        ("--passphrase-file no-such", "cannot read the passphrase file 'no-such'"),
        ("--passphrase-file empty", "expected a passphrase of 1 to 1023 bytes, got 0"),
    ],
)
def test_what_cannot_be_founded_is_refused_and_leaves_nothing(
    taisai: Taisai, password: tuple[str, str], tmp_path: Path, words: str, says: str
) -> None:
    (tmp_path / "short").write_text("short\n")
    (tmp_path / "name").write_text("Ann Tan Ann Tan\n")
    (tmp_path / "bytes").write_bytes(b"\xff" * 20)
    (tmp_path / "empty").touch()
    for name in ("short", "name", "bytes", "empty"):
        (tmp_path / name).chmod(0o600)
    ran = taisai(*WORDS, *password, *words.split())
    assert one_clear_line(ran), ran
    assert says in ran.err
    assert not (tmp_path / "lotus").exists()


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o604, 0o620])
@pytest.mark.parametrize("option", ["--password-file", "--passphrase-file"])
def test_a_secret_that_others_can_read_is_refused_with_what_to_run(
    taisai: Taisai, password: tuple[str, str], tmp_path: Path, option: str, mode: int
) -> None:
    (tmp_path / "my secret").write_text(f"{PASSWORD}\n")
    (tmp_path / "my secret").chmod(mode)
    ran = taisai(*WORDS, *password, option, "my secret")
    assert one_clear_line(ran), ran
    assert f"expected mode 0600, got {mode:04o}; run: chmod 600 'my secret'" in ran.err
    assert PASSWORD not in ran.err
    assert not (tmp_path / "lotus").exists()


def test_a_folder_that_cannot_be_made_is_shown(taisai: Taisai, password: tuple[str, str]) -> None:
    ran = taisai("init", "secret/lotus", "--administrator", "Ann Tan", *password)
    assert one_clear_line(ran), ran
    assert "Not a directory" in ran.err


@pytest.mark.parametrize("step", ["_own_approvals", "_open_journal", "_config", "_execute"])
@pytest.mark.parametrize("is_new", [True, False], ids=["new folder", "old folder"])
def test_whatever_fails_leaves_nothing_behind(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    step: str,
    is_new: bool,  # noqa: FBT001
) -> None:
    folder = tmp_path / "lotus"
    if not is_new:
        folder.mkdir()

    def fails(*_: object, **_more: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(setup, step, fails)
    with pytest.raises(OSError, match="No space"):
        set_up(plan(folder), PASSWORD, now=NOW, entropy=entropy())
    assert folder.exists() is not is_new
    assert is_new or names(folder) == []
    monkeypatch.undo()
    set_up(plan(folder), PASSWORD, now=NOW, entropy=entropy(), cost=TINY)  # it can be tried again
    assert names(folder) == MADE


def test_sabotage_a_founding_that_leaves_its_key_behind_is_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(_plan: object) -> str:
        raise RulesError("no")

    monkeypatch.setattr(setup, "_config", fails)
    monkeypatch.setattr(Path, "unlink", lambda _path, missing_ok=False: missing_ok)
    with pytest.raises(OSError, match="not empty"):  # the folder, which is to go too
        set_up(plan(tmp_path / "lotus"), PASSWORD, now=NOW, entropy=entropy())
    assert "house.key" in names(tmp_path / "lotus")


def test_what_is_founded_is_shown_by_no_repr(tmp_path: Path) -> None:
    made = set_up(plan(tmp_path / "lotus"), PASSWORD, now=NOW, entropy=entropy(), cost=TINY)
    assert "otpauth" not in repr(made)
    with pytest.raises(RulesError, match=r"file exists: casino\.toml"):
        check_setup(plan(tmp_path / "lotus"))


# Typed


class Typist:
    """Types one line after the other where a password is asked for."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *lines: str) -> None:
        self._lines = list(lines)
        self.asked: list[str] = []
        monkeypatch.setattr(getpass, "getpass", self)
        monkeypatch.setattr(sys, "stdin", self)

    def isatty(self) -> bool:
        return True

    def __call__(self, prompt: str) -> str:
        self.asked.append(prompt)
        if not self._lines:
            raise EOFError
        return self._lines.pop(0)


def test_a_password_is_typed_twice(taisai: Taisai, monkeypatch: pytest.MonkeyPatch) -> None:
    typist = Typist(monkeypatch, PASSWORD, PASSWORD)
    ran = taisai(*WORDS)
    assert (ran.code, ran.err) == (0, "")
    assert typist.asked == ["Password of Ann Tan: ", "Repeat the password: "]
    assert PASSWORD not in ran.out


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        ((), "no password was typed: the input ended"),
        ((PASSWORD,), "no password was typed: the input ended"),
        ((PASSWORD, PASSWORD + "!"), "the two passwords differ"),
        (("short",), "expected a password of 12 to 128 characters, got 5"),
    ],
    ids=range(4),
)
def test_what_is_typed_wrong_founds_nothing(
    taisai: Taisai, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, lines: tuple[str, ...], says: str
) -> None:
    Typist(monkeypatch, *lines)
    ran = taisai(*WORDS)
    assert one_clear_line(ran), ran
    assert says in ran.err
    assert not (tmp_path / "lotus").exists()


def test_nobody_is_asked_where_nobody_can_type(taisai: Taisai) -> None:
    ran = taisai(*WORDS)
    assert one_clear_line(ran), ran
    assert "missing option --password-file: standard input is not a terminal" in ran.err


def test_nobody_is_asked_for_a_house_that_cannot_be(taisai: Taisai, monkeypatch: pytest.MonkeyPatch) -> None:
    typist = Typist(monkeypatch, PASSWORD, PASSWORD)
    assert one_clear_line(taisai(*WORDS, "--currency", "x"))
    assert typist.asked == []

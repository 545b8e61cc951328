"""`taisai init`: a house founded whole or not at all, with nothing secret where it does not belong."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from pathlib import Path

import pytest

from taisai.audit import verified
from taisai.cage import FLOOR_LADDER
from taisai.cage.values import clock as utc
from taisai.journal import load_public_key, load_signing_key
from taisai.rules import rulebook, rulebook_ids
from taisai.rules.errors import RulesError
from taisai.server.auth import credentials as vault
from taisai.server.config import load_config
from taisai.server.runtime import setup
from taisai.server.runtime.rulebook_approvals import read_approvals
from taisai.server.runtime.setup import check_setup, set_up
from taisai.server.runtime.startup_checks import opened, proven
from tests.cli.conftest import Ran, Taisai
from tests.cli.journals import one_clear_line
from tests.server.house_folder import NOW, engine_of, entropy, plan

MADE = [
    "approvals.key", "approvals.key.pub", "approvals.txt", "casino.toml", "house.key", "house.key.pub",
    "journal.db", "journal.db-writer",
]  # fmt: skip
PEOPLE = ("--administrator", "Ann Tan", "--supervisor", "Sue Lim")
WORDS = ("init", "lotus", "--house", "Lotus", *PEOPLE)
CODE = re.compile(r"  ([0-9A-Z]{4}(?:-[0-9A-Z]{4}){6})  (.+)")


@pytest.fixture
def ran(taisai: Taisai) -> Ran:
    ran = taisai(*WORDS)
    assert (ran.code, ran.err) == (0, ""), ran
    return ran


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def codes(text: str) -> dict[str, str]:
    """Each person's activation code."""
    return {person: code for code, person in CODE.findall(text)}


def test_it_makes_a_house_that_can_be_served(ran: Ran, tmp_path: Path) -> None:
    folder = tmp_path / "lotus"
    assert names(folder) == MADE
    config = load_config(folder / "casino.toml")
    now = int(datetime.now(UTC).timestamp() * 1000)
    start, found = opened(config, now=lambda: now, free=lambda _path: 10**12)
    assert found is not None, start.lines()
    assert proven(config, found, now=now).passed
    found.journal.close()
    assert "Next: taisai serve --config lotus/casino.toml" in ran.out


@pytest.mark.usefixtures("ran")
def test_the_journal_is_one_of_play_for_money_proved_and_sealed(tmp_path: Path) -> None:
    folder = tmp_path / "lotus"
    report = verified(folder / "journal.db", key=load_public_key(folder / "house.key.pub"))
    assert report.entries == 6
    engine = engine_of(folder)
    identity, house = engine.journal.identity, engine.house()
    assert identity is not None
    assert not identity.demonstration
    assert (house.name, house.currency, house.ladder) == ("Lotus", "SGD", FLOOR_LADDER)
    assert house.people == {"Ann Tan": "administrator", "Sue Lim": "shift-manager"}
    assert house.activations.keys() == house.people.keys()
    assert house.credentials == set()
    assert len(engine.journal.store.checkpoints()) == 1
    engine.journal.close()


def test_each_of_the_first_two_people_has_a_code(ran: Ran, tmp_path: Path) -> None:
    given = codes(ran.out)
    assert given.keys() == {"Ann Tan", "Sue Lim"}
    engine = engine_of(tmp_path / "lotus")
    for person, code in given.items():
        activation = engine.house().activations[person]
        assert vault.activation_hash(engine.journal, person, activation.until, code) == activation.code
        assert f"valid until {utc(activation.until)}" in ran.out
    engine.journal.close()


def secrets_in(folder: Path, *secrets: bytes) -> list[tuple[str, bytes]]:
    """Which file has which secret; what is in the vault is in no entry, and encrypted."""
    engine = engine_of(folder)
    texts = {"entries": b"".join(row.body for row in engine.journal.store.rows())}
    engine.journal.close()
    texts |= {name: (folder / name).read_bytes() for name in MADE}
    return [(name, secret) for name, text in texts.items() for secret in secrets if secret in text]


def test_no_secret_is_where_it_does_not_belong(ran: Ran, tmp_path: Path) -> None:
    private = (tmp_path / "lotus" / "house.key").read_bytes().splitlines()[2]
    assert len(private) > 40
    given = [form.encode() for code in codes(ran.out).values() for form in (code, code.replace("-", ""))]
    assert secrets_in(tmp_path / "lotus", private, *given) == [("house.key", private)]


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


def test_machines_are_shown_the_same(taisai: Taisai, tmp_path: Path) -> None:
    told = json.loads(taisai(*WORDS, "--json").out)
    assert told["config"] == "lotus/casino.toml"
    assert told["key"] == load_public_key(tmp_path / "lotus" / "house.key.pub").text
    assert told["activations"].keys() == {"Ann Tan", "Sue Lim"}
    assert sorted(told) == ["activations", "approvals_key", "checkpoint", "config", "journal", "key", "until"]


def test_the_house_is_named_for_its_folder_unless_said(taisai: Taisai) -> None:
    words = ("init", "peony", *PEOPLE, "--currency", "USD", "--zone", "America/New_York")
    assert taisai(*words).code == 0
    house = load_config("peony/casino.toml").house
    assert (house.name, house.currency, str(house.zone)) == ("peony", "USD", "America/New_York")


def test_a_passphrase_encrypts_the_key_and_its_file_is_named(taisai: Taisai, tmp_path: Path) -> None:
    (tmp_path / "phrase").write_text("a long passphrase\n")
    (tmp_path / "phrase").chmod(0o600)
    assert taisai(*WORDS, "--passphrase-file", "phrase").code == 0
    assert load_config("lotus/casino.toml").journal.passphrase_file == tmp_path / "phrase"
    assert load_signing_key(Path("lotus/house.key"), "a long passphrase").name.startswith("lotus-")
    with pytest.raises(RulesError, match="the key is encrypted and needs a passphrase"):
        load_signing_key(Path("lotus/house.key"))


# What is refused


@pytest.mark.parametrize("there", MADE)
def test_nothing_is_ever_written_over(taisai: Taisai, tmp_path: Path, there: str) -> None:
    (tmp_path / "lotus").mkdir()
    (tmp_path / "lotus" / there).write_text("mine")
    ran = taisai(*WORDS)
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
        ("--supervisor manager", "expected the name of a person, got 'manager', the name of a position"),
        ("--supervisor floor", "'floor' is one of the system's own actors"),
        ("--supervisor AnnTan --administrator anntan", "expected two people, got 'AnnTan' twice"),
        ("--passphrase-file no-such", "cannot read the passphrase file 'no-such'"),
        ("--passphrase-file empty", "expected a passphrase of 1 to 1023 bytes, got 0"),
    ],
)
def test_what_cannot_be_founded_is_refused_and_leaves_nothing(
    taisai: Taisai, tmp_path: Path, words: str, says: str
) -> None:
    (tmp_path / "empty").touch()
    (tmp_path / "empty").chmod(0o600)
    ran = taisai(*WORDS, *words.split())
    assert one_clear_line(ran), ran
    assert says in ran.err
    assert not (tmp_path / "lotus").exists()


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o604, 0o620])
def test_a_passphrase_that_others_can_read_is_refused_with_what_to_run(
    taisai: Taisai, tmp_path: Path, mode: int
) -> None:
    (tmp_path / "my secret").write_text("a long passphrase\n")
    (tmp_path / "my secret").chmod(mode)
    ran = taisai(*WORDS, "--passphrase-file", "my secret")
    assert one_clear_line(ran), ran
    assert f"expected mode 0600, got {mode:04o}; run: chmod 600 'my secret'" in ran.err
    assert "a long passphrase" not in ran.err
    assert not (tmp_path / "lotus").exists()


def test_a_folder_that_cannot_be_made_is_shown(taisai: Taisai, tmp_path: Path) -> None:
    (tmp_path / "secret").touch()
    ran = taisai("init", "secret/lotus", *PEOPLE)
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
        set_up(plan(folder), now=NOW, entropy=entropy())
    assert folder.exists() is not is_new
    assert is_new or names(folder) == []
    monkeypatch.undo()
    set_up(plan(folder), now=NOW, entropy=entropy())  # it can be tried again
    assert names(folder) == MADE


def test_sabotage_a_founding_that_leaves_its_key_behind_is_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(_plan: object) -> str:
        raise RulesError("no")

    monkeypatch.setattr(setup, "_config", fails)
    monkeypatch.setattr(Path, "unlink", lambda _path, missing_ok=False: missing_ok)
    with pytest.raises(OSError, match="not empty"):  # the folder, which is to go too
        set_up(plan(tmp_path / "lotus"), now=NOW, entropy=entropy())
    assert "house.key" in names(tmp_path / "lotus")


def test_what_is_founded_is_shown_by_no_repr(tmp_path: Path) -> None:
    made = set_up(plan(tmp_path / "lotus"), now=NOW, entropy=entropy())
    assert not any(code in repr(made) for code in made.activations.values())
    with pytest.raises(RulesError, match=r"file exists: casino\.toml"):
        check_setup(plan(tmp_path / "lotus"))

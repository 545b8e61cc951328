"""`taisai recover-access`: the house's key lets a supervisor in again, and everyone hears of it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from taisai.audit import verified
from taisai.cage.messages import AccessRecovered, AcknowledgeRecovery, DismissPerson
from taisai.game.refusals import Refusal
from taisai.game.vocabulary import FLOOR
from taisai.journal import load_public_key, make_key
from taisai.journal.codec import HOUSE_STREAM
from taisai.server.auth.credentials import activation_hash, kept
from taisai.server.auth.enrolment import people_warnings
from taisai.server.projections.house_views import pit_view
from taisai.server.runtime.environment import WallClock
from taisai.server.runtime.setup import set_up
from tests.cli.conftest import Taisai
from tests.cli.journals import one_clear_line
from tests.server.house_folder import engine_of, entropy, plan, signed_up

CONFIG = ("--config", "lotus/casino.toml")
WHY = ("--reason", "both telephones are lost")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A house of two people who could sign in."""
    now = WallClock().now()
    made = set_up(plan(tmp_path / "lotus"), now=now, entropy=entropy())
    signed_up(tmp_path / "lotus", made.activations, now=now)
    return tmp_path / "lotus"


def test_a_house_that_nobody_can_open_is_opened_again(folder: Path, taisai: Taisai) -> None:
    ran = taisai("recover-access", "ann tan", *CONFIG, *WHY, "--rank", "administrator")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith("Ann Tan is administrator; recorded and sealed, 9 entries\n")
    (code,) = re.findall("  ([0-9A-Z-]{34})\n", ran.out)
    ran = taisai("recover-access", "Zoe Ng", *CONFIG, *WHY, "--json")
    told = json.loads(ran.out)
    assert (told["person"], told["entries"]) == ("Zoe Ng", 10)
    engine = engine_of(folder)
    house = engine.house()
    assert (house.people["Ann Tan"], house.people["Zoe Ng"]) == ("administrator", "shift-manager")
    for person, given in (("Ann Tan", code), ("Zoe Ng", told["code"])):
        activation = house.activations[person]
        assert activation_hash(engine.journal, person, activation.until, given) == activation.code
        assert kept(engine, person) is None, "what they had is over"
    events = [one.event for one in engine.journal.entries() if isinstance(one.event, AccessRecovered)]
    assert [(event.by, event.person, event.reason) for event in events] == [
        (FLOOR, "Ann Tan", WHY[1]), (FLOOR, "Zoe Ng", WHY[1]),
    ]  # fmt: skip
    engine.journal.close()
    report = verified(folder / "journal.db", key=load_public_key(folder / "house.key.pub"))
    assert (report.entries, report.tail) == (10, 0), "sealed to its last entry, and every decision proved"


def test_it_shouts_until_another_one_has_seen_it(folder: Path, taisai: Taisai) -> None:
    assert taisai("recover-access", "Zoe Ng", *CONFIG, *WHY).code == 0
    for _ in range(2):
        ran = taisai("serve", "--check", *CONFIG)
        assert "! people: access was recovered for Zoe Ng with the house's key at " in ran.out
        assert WHY[1] in ran.out
    engine = engine_of(folder)
    (alarm,) = pit_view(engine.house(), {}).alarms
    assert "Access was recovered for Zoe Ng with the house's key" in alarm.says.en
    assert "Zoe Ng" in alarm.says.zh
    at = WallClock().now()
    own = engine.answer(HOUSE_STREAM, AcknowledgeRecovery(at=at, by="Zoe Ng", person="Zoe Ng"))
    assert isinstance(own, Refusal)
    administrator = engine.answer(HOUSE_STREAM, AcknowledgeRecovery(at=at, by="Ann Tan", person="Zoe Ng"))
    assert isinstance(administrator, Refusal), "who ran the command is mostly the administrator"
    other = engine.answer(HOUSE_STREAM, AcknowledgeRecovery(at=at, by="Sue Lim", person="Zoe Ng"))
    assert not isinstance(other, Refusal)
    assert pit_view(engine.house(), {}).alarms == ()
    assert not any("recovered" in text for text in people_warnings(engine))
    engine.journal.close()


def test_nobody_comes_in_without_the_houses_key(folder: Path, taisai: Taisai) -> None:
    (folder / "house.key").unlink()
    (folder / "house.key.pub").unlink()
    make_key(folder / "house.key", "lotus-2026", seed=b"x" * 32)
    ran = taisai("recover-access", "Eve Koh", *CONFIG, *WHY)
    assert one_clear_line(ran), ran
    assert "expected the key that signs the journal" in ran.err


def test_nobody_comes_in_beside_a_server_that_runs(folder: Path, taisai: Taisai) -> None:
    running = engine_of(folder)
    ran = taisai("recover-access", "Eve Koh", *CONFIG, *WHY)
    running.journal.close()
    assert one_clear_line(ran), ran


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("Eve Koh", *CONFIG), "--reason"),
        (("Eve Koh", *CONFIG, "--reason", ""), "(reason)"),
        (("Eve Koh", *CONFIG, *WHY, "--rank", "dealer"), "expected the rank pit-supervisor or above"),
        (("Eve Koh", *CONFIG, *WHY, "--rank", "king"), "unknown rank 'king'; known: auditor"),
        (("manager", *CONFIG, *WHY), "expected the name of a person, got 'manager'"),
        (("", *CONFIG, *WHY), "(PERSON)"),
        (("Eve Koh", *WHY, "--config", "nowhere.toml"), "cannot read the configuration 'nowhere.toml'"),
    ],
)
def test_what_cannot_be_done_is_said(folder: Path, taisai: Taisai, words: tuple[str, ...], says: str) -> None:
    ran = taisai("recover-access", *words)
    assert one_clear_line(ran), ran
    assert says in ran.err
    engine = engine_of(folder)
    assert engine.journal.size == 8, "nothing was written"
    engine.journal.close()


def test_two_always_remain_and_the_key_lets_one_in_all_the_same(folder: Path, taisai: Taisai) -> None:
    engine = engine_of(folder)
    for person, by, second in (("Sue Lim", "Ann Tan", None), ("Ann Tan", "Sue Lim", None)):
        command = DismissPerson(at=WallClock().now(), by=by, person=person, second=second)
        assert isinstance(engine.answer(HOUSE_STREAM, command), Refusal)
    engine.journal.close()
    assert taisai("recover-access", "Sue Lim", *CONFIG, *WHY).code == 0

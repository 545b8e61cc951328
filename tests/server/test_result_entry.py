"""What dice or cards show has one door: one module makes results and readings, and few messages carry any."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import msgspec
import pytest

from taisai.game.commands import Command, Perform
from taisai.protocol.commands import AT_TABLE as COMMANDS
from taisai.protocol.commands import BY_TAG
from taisai.protocol.requests import REQUESTS, DoRequest
from taisai.rules import Act
from taisai.server.auth import permissions
from taisai.server.auth.permissions import AT_TABLE, SUPERVISING, Role
from taisai.server.dice import entry
from taisai.server.handlers import commands as doing
from tests.project.tree import SRC
from tests.server.virtual_server import Connected, connected

ROOMS: Final = ("server", "protocol", "client", "demo", "cli/server")
DOOR: Final = "server/dice/entry.py"
SEEN: Final = frozenset({"TakeReading", "CommitSeed", "RevealSeed"})
"""Commands that say what was seen or drawn."""
WITH_FACES: Final = frozenset({"Perform", "Report", "DecideReferral"})
"""Commands that may say it."""
OUTCOMES: Final = frozenset({"Outcome", "OUTCOMES", "Throw", "drawn_by"})
CHANCE: Final = frozenset({"random", "secrets", "numpy", "uuid"})


def modules() -> Iterator[tuple[str, str]]:
    """Every module between the game and the people, with its text."""
    for room in ROOMS:
        for path in sorted((SRC / room).rglob("*.py")):
            yield path.relative_to(SRC).as_posix(), path.read_text("utf-8")


def makes(text: str) -> set[str]:
    """What a module makes of results: readings, seeds, commands with faces, outcomes."""
    found = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Call):
            name = _name(node.func)
            has_faces = any(keyword.arg in ("faces", None) for keyword in node.keywords)
            if name in SEEN or (name in WITH_FACES and has_faces):
                found.add(name)
        elif _name(node) in OUTCOMES:
            found.add(_name(node))
        elif isinstance(node, ast.ImportFrom):
            found |= {alias.name for alias in node.names} & (OUTCOMES | SEEN)
    return found


def _name(node: ast.AST) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def test_one_module_makes_results_and_readings_and_the_views_only_show_them() -> None:
    makers = {path: made for path, text in modules() if (made := makes(text))}
    assert makers.pop(DOOR) >= {"Perform", *SEEN}
    shown = {path: made - {"Outcome", "OUTCOMES"} for path, made in makers.items()}
    assert all(path.startswith("server/projections/") for path in shown), shown
    tried = {path: made for path, made in shown.items() if made}
    assert set(tried) <= {"server/projections/round_offers.py", "server/projections/trial.py"}, (
        tried
    )  # asked, never done


def test_views_have_nothing_done() -> None:
    for path, text in modules():
        if path.startswith("server/projections/"):
            called = {_name(node.func) for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call)}
            assert not called & {"submit", "submit_all", "ask", "answer_all"}, path


def test_the_server_has_no_chance_of_its_own() -> None:
    found = {}
    for path, text in modules():
        names = set()
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Import):
                names |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                names.add((node.module or "").partition(".")[0])
        if names & CHANCE:
            found[path] = names & CHANCE
    inside = {path for path in found if path.startswith(("server/", "protocol/"))}
    assert inside <= {"server/runtime/reconciliation.py"}, found  # the key that ticket numbers are made with


def test_few_messages_carry_what_dice_show_and_those_who_see_them_alone_may_send_one() -> None:
    asks = {
        str(kind.__struct_config__.tag)
        for kind in REQUESTS
        if any(field.name == "faces" for field in msgspec.structs.fields(kind))
    }
    commands = {
        tag
        for tag, kind in BY_TAG.items()
        if any(field.name in ("faces", "outcome", "result") for field in msgspec.structs.fields(kind))
    }
    assert asks == {"preview", "reading"}
    assert commands == {"perform", "report", "decide-referral", "declare-unrecorded", "enter-round"}
    assert set(permissions.REQUESTS["reading"].roles) == {Role.SHAKER}
    assert set(permissions.REQUESTS["preview"].roles) == set(AT_TABLE)
    assert (
        set(permissions.COMMANDS["perform"].roles)
        == set(permissions.COMMANDS["report"].roles)
        == set(AT_TABLE)
    )
    assert set(permissions.COMMANDS["decide-referral"].roles) == set(AT_TABLE & SUPERVISING)


def test_what_is_the_systems_own_to_do_is_not_on_the_wire() -> None:
    names = {kind.__name__ for kind in COMMANDS}
    assert not names & SEEN
    assert not names & {
        "DispenseCredits",
        "ReceiveFill",
        "ReceiveTicket",
        "SendCredit",
        "SendDrop",
        "OpenTable",
    }
    assert all(issubclass(kind, Command) for kind in COMMANDS)


def test_a_result_that_is_keyed_passes_the_one_entry(monkeypatch: pytest.MonkeyPatch) -> None:
    passed = []
    keyed = entry.keyed

    def noted(*given: Any, **named: Any) -> Any:
        passed.append(given)
        return keyed(*given, **named)

    monkeypatch.setattr(entry, "keyed", noted)
    for act in ("enter-result", "tumble"):
        do = msgspec.convert({"command": "perform", "act": act, "faces": [1, 2, 3]}, BY_TAG["perform"])
        ask = doing_ask(do)
        doing.command_of(ask, at=1, by="dan", second=None)
    assert len(passed) == 1


@connected()
async def test_a_result_at_a_table_that_was_not_opened_is_refused(house: Connected) -> None:
    dealer = await house.came(house.session("dealer"))
    keyed = {"command": "perform", "act": "enter-result", "faces": [6, 5, 4]}
    reply = await dealer.answer("do", table="T9", do=keyed)
    assert (reply["type"], reply["reason"]) == ("refused", "table-not-open")


@connected()
async def test_a_result_other_than_the_reading_is_noted_once_it_is_accepted_and_not_before(
    house: Connected,
) -> None:
    dealer, shaker = await house.came(house.session("dealer")), await house.came("S1")
    stranger = await house.came(house.session("pit-manager"))
    await house.opens_bets()
    await house.do(Perform(at=house.clock.now(), by="clock", act=Act.CLOSE_BETS), "T1")
    for act, tumbles in (("tumble", 3), ("uncover", 0)):
        do: dict[str, Any] = {"command": "perform", "act": act, "tumbles": tumbles}
        assert (await dealer.answer("do", table="T1", do=do))["type"] == "done"
    assert (await shaker.answer("reading", table="T1", reading="r1", faces=[1, 2, 3]))["type"] == "done"
    before = house.rows()
    keyed = {"command": "perform", "act": "enter-result", "faces": [6, 5, 4]}
    assert (await stranger.answer("do", table="T1", do=keyed))["reason"] == "unknown-person"
    assert house.rows() == before, "whoever is not at the table overrides nothing"
    assert (await dealer.answer("do", table="T1", do=keyed))["type"] == "done"
    noted = [type(event).__name__ for event in house.events(after=len(before))]
    assert noted[0] == "ResultEntered"
    assert noted[-1] == "OverrideNoted"


def doing_ask(do: object) -> DoRequest:
    """An ask for a command."""
    return DoRequest(id="a", table="T1", do=do)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "made"),
    [
        ("commands.TakeReading(at=1)", {"TakeReading"}),
        ("Perform(at=1, act=act, faces=(1, 2, 3))", {"Perform"}),
        ("Perform(**told)", {"Perform"}),
        ("Report(at=1, event=e, faces=f)", {"Report"}),
        ("from taisai.rules import Outcome", {"Outcome"}),
        ("rules.Outcome.of(1, 2, 3)", {"Outcome"}),
        ("Perform(at=1, act=act, tumbles=3)", set()),
    ],
)
def test_sabotage_another_entry_is_seen(text: str, made: set[str]) -> None:
    assert makes(text) == made


def test_the_tree_is_looked_at() -> None:
    paths = [path for path, _ in modules()]
    assert DOOR in paths
    assert len(paths) > 80
    assert isinstance(SRC, Path)

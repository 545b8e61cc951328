"""The client that docs/reference/server.md shows runs; its limits and feeds are the program's own."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from typing import Any, Final

import pytest

from taisai.cage.access import MOST_FAILURES
from taisai.cage.credentials import LONGEST_ACTIVATION, MOST_TRIES
from taisai.cage.messages import SignOutCause
from taisai.listening import requests
from taisai.listening.accepting import HANDSHAKE_WITHIN
from taisai.listening.requests import MOST_HEAD, MOST_REQUEST, REQUEST_WITHIN
from taisai.protocol.message import MOST_MESSAGE
from taisai.rules import Act
from taisai.server.auth import approvals, permissions
from taisai.server.auth.approvals import MOST_OF_SESSION, PENDING_FOR
from taisai.server.auth.attempts import FREE_FAILURES, FREE_OF_NETWORK, MOST_OF_ONE
from taisai.server.auth.enrolment import SETUP_LASTS
from taisai.server.auth.passkeys import CHALLENGE_LASTS, MOST_PASSKEYS
from taisai.server.auth.sessions import SessionPolicy
from taisai.server.auth.verification import MOST_CHECKED, MOST_STRANGERS, RECORDED
from taisai.server.config.settings import SECTIONS, settings_of
from taisai.server.connections.dispatcher import APPROVALS_ASKED, MOST_AT_WORK
from taisai.server.connections.feeds import MOST_BYTES, MOST_MESSAGES, RING
from taisai.server.connections.parties import BEFORE_HELLO, MOVES, PAGES_OF_PERSON, SEATS_OF_RECORDER
from taisai.server.connections.sockets import HELLO_WITHIN, MOST_FOLLOWED
from taisai.server.connections.transport import FRAMES_BEFORE_HELLO, SLICE
from taisai.server.handlers.context import WITNESSED_WITHIN
from taisai.server.runtime.command_queue import MOST_WAITING
from taisai.server.runtime.plan import ConnectionLimits
from tests.docs.real_server import opened
from tests.server.virtual_server import CREDITS

PAGE: Final = (Path(__file__).parents[2] / "docs" / "reference" / "server.md").read_text("utf-8")
FLOOR: Final = Path(__file__).parents[2] / "src" / "taisai" / "server"
_BLOCK: Final = re.compile(r"^```python\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_ROW: Final = re.compile(r"^\| ([^|]+) \| ([^|]+) \| [^|]+ \|$", re.MULTILINE)


def figures(page: str) -> dict[str, list[int]]:
    """What is limited → the numbers that the page says."""
    limits = page.partition("## Limits")[2].partition("\n## ")[0]
    rows = dict(_ROW.findall(limits))
    return {
        what: [int(one.replace(" ", "")) for one in re.findall(r"\d+(?: \d{3})*", most)]
        for what, most in rows.items()
        if re.search(r"\d", most)
    }


def limits() -> dict[str, list[int]]:
    """The same, by the program."""
    floor, access = SECTIONS["floor"], SECTIONS["access"]
    asks, bets = _default(floor, "asks_a_second"), ConnectionLimits().bets_a_round
    assert HANDSHAKE_WITHIN == REQUEST_WITHIN
    return {
        "a message from a client": [MOST_MESSAGE // 1024],
        "connections": [_default(floor, "sockets")],
        "connections of a device": [ConnectionLimits().sockets_of_device],
        "connections of a person": [ConnectionLimits().sockets_of_person],
        "open sessions of a person": [SessionPolicy().most_per_person],
        "open sessions in all": [SessionPolicy().most],
        "requests of a device, by weight": [asks, 4 * asks],
        "requests of a person, by weight": [PAGES_OF_PERSON],
        "requests of a connection before `hello`": [BEFORE_HELLO],
        "frames of a connection before `hello`": [FRAMES_BEFORE_HELLO, SLICE // 1024],
        "requests of a device or person in progress at once": [MOST_AT_WORK],
        "bets of a terminal in a round, those taken back included": [bets],
        "bets that one person records at a table in a round": [SEATS_OF_RECORDER * bets],
        "an unfinished request or handshake of TLS": [int(REQUEST_WITHIN)],
        "an HTTP request as it is sent: its head, and all of it": [
            MOST_HEAD // 1024,
            MOST_REQUEST // 1024 // 1024,
        ],
        "HTTP requests that wait behind another one of their connection": [requests.MOST_WAITING],
        "`show-layout`, `take-seat`, `leave-seat` and `call-attendant` of a terminal": [
            MOVES.burst,
            MOVES.every // 1_000,
        ],
        "failures of strangers at the sign-in that the journal has": [
            RECORDED.burst,
            RECORDED.every // 1_000,
        ],
        "networks that one device or person makes known": [MOST_OF_ONE],
        "feeds of a connection": [MOST_FOLLOWED],
        "connections before `hello`": [int(HELLO_WITHIN)],
        "messages that wait for a client": [MOST_MESSAGES, MOST_BYTES // 1024 // 1024],
        "changes that a feed remembers": [RING],
        "commands that wait for the journal": [MOST_WAITING],
        "the wait of a ticket or payment for a [witness](../how-to/run-a-witness.md)": [
            int(WITNESSED_WITHIN)
        ],
        "sign-ins from an address": [_default(access, "sign_ins_a_minute")],
        "requests of a session that wait for approval or are approved": [MOST_OF_SESSION],
        "the same of all people together": [approvals.MOST_WAITING, approvals.MOST_SHOWN // 1024 // 1024],
        "requests for approval of a session": [60_000 // APPROVALS_ASKED.every, APPROVALS_ASKED.burst],
        "how long a request waits for approval": [PENDING_FOR // 60_000],
        "failed sign-ins, of any kind, in a row under one name from one network": [FREE_FAILURES],
        "failed sign-ins in a row from a network that the house does not know": [FREE_OF_NETWORK],
        "sign-ins that are checked at once": [MOST_CHECKED, MOST_STRANGERS],
        "wrong activation codes of a person that begin with the right four symbols": [MOST_TRIES],
        "how long an activation code is valid": [LONGEST_ACTIVATION // 3_600_000],
        "how long a person may take to set their credentials": [SETUP_LASTS // 60_000],
        "passkeys of a person": [MOST_PASSKEYS],
        "how long a passkey may take to sign a challenge": [CHALLENGE_LASTS // 60_000],
        "tries in a row with a person's right password and a wrong code": [MOST_FAILURES],
    }


def _default(section: type[Any], name: str) -> int:
    (found,) = (one.default for one in settings_of(section) if one.name == name)
    assert isinstance(found, int)
    return found


def test_the_limits_are_the_programs_own() -> None:
    assert figures(PAGE) == limits()


def test_every_feed_and_every_end_of_a_session_is_named() -> None:
    assert [
        kind for kind in permissions.FEEDS if not re.search(rf"^\| `{kind}[:`]", PAGE, re.MULTILINE)
    ] == []
    assert [why for why in SignOutCause if f"`{why}`" not in PAGE] == []


def test_every_reason_to_end_a_connection_is_named() -> None:
    ended = {
        why
        for file in FLOOR.rglob("*.py")
        for why in re.findall(r"\.end\(\s*\"([a-z-]+)\"", file.read_text("utf-8"))
    }
    assert {"slow", "full", "stopped"} < ended
    assert [why for why in sorted(ended) if f"`{why}`" not in PAGE] == []


def test_the_client_of_the_page_plays(capsys: pytest.CaptureFixture[str]) -> None:
    (code,) = _BLOCK.findall(PAGE)
    names: dict[str, Any] = {}
    exec(code, names)
    with opened() as house:
        house.perform(Act.OPEN_BETS)
        credits_left = asyncio.run(names["play"](house.url, b"P1".ljust(32, b"-")))
    assert credits_left == CREDITS, "expected both bets to be taken back: they came together"
    assert "winnings-not-whole" in capsys.readouterr().out


def test_sabotage_another_limit_is_noticed() -> None:
    assert figures(PAGE.replace("| 64 KiB |", "| 65 KiB |")) != limits()
    assert figures(PAGE.replace("| 1 000 or 4 MiB |", "| 1 001 or 4 MiB |")) != limits()

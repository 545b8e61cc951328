"""Secrets are never logged: an evening over HTTP and sockets, and every word that was said of it."""

from __future__ import annotations

import io
import logging
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit

import pytest
import structlog

from taisai.protocol.message import PROTOCOL_VERSION
from taisai.server.auth.credentials import Passwords, base32, step_of
from taisai.server.auth.permissions import Role
from taisai.server.auth.sessions import EndedSession, Session, StaffSessions
from taisai.server.runtime import environment
from tests.server.enrolling import EARLIER, activated, code_at, issued
from tests.server.sim.virtual import VirtualLoop
from tests.server.virtual_server import HERE, PEOPLE, Connected, device, run, signature

ADA, MAX = PEOPLE[Role.ADMINISTRATOR], PEOPLE[Role.SHIFT_MANAGER]
DAN = PEOPLE[Role.DEALER]
WORDS: Final = {DAN: "seven red lanterns swing", MAX: "nine slow rivers turn", ADA: "two grey herons wait"}
WRONG: Final = "seven red lanterns swung"
NEW: Final = "eleven tall cranes dance"


class Evening:
    """What was secret, and what was said."""

    def __init__(self) -> None:
        self.secrets: dict[str, str] = {}
        self.log = ""
        self.shown = ""
        """What others could look at: figures, health, errors."""
        self.factors: dict[str, bytes] = {}

    def keep(self, what: str, secret: str) -> str:
        """From here on nobody may read it."""
        self.secrets[what] = secret
        return secret

    def found(self) -> list[str]:
        """The secrets that somebody can read."""
        said = self.log + self.shown
        return [what for what, secret in self.secrets.items() if secret in said]


@contextmanager
def logging_to(text: io.StringIO, form: str) -> Iterator[None]:
    """Everything that is logged, as `serve` would log it."""
    root = logging.getLogger()
    handlers, level = root.handlers, root.level
    try:
        with redirect_stderr(text), redirect_stdout(text):
            environment.begin("debug", form)
            yield
    finally:
        structlog.reset_defaults()
        root.handlers, root.level = handlers, level


async def _signs_in(house: Connected, evening: Evening, person: str, password: str | None = None) -> Any:
    code = evening.keep(f"code of {person}", _code(house, evening, person))
    body = {"person": person, "password": password or WORDS[person], "code": code}
    return await house.request("POST", "/api/sign-in", body)


def _code(house: Connected, evening: Evening, person: str) -> str:
    return code_at(evening.factors[person], step_of(house.clock.now()))


async def _played(house: Connected, evening: Evening, patch: pytest.MonkeyPatch) -> None:
    now = house.clock.now() - EARLIER
    codes = {person: await issued(house.door, person, by="olga", now=now) for person in WORDS}
    for person, password in WORDS.items():
        activation = evening.keep(f"activation of {person}", codes[person])
        setup, evening.factors[person] = await activated(house.door, person, activation, password, now=now)
        evening.keep(f"factor of {person}", base32(evening.factors[person]))
        evening.keep(f"setup of {person}", setup.token)
        evening.keep(f"password of {person}", password)
    evening.keep("a wrong password", WRONG)
    evening.keep("a new password", NEW)

    await _at_a_console(house, evening)
    await _at_a_desk(house, evening)
    await _broken(house, evening, patch)
    for path in ("/metrics", "/health"):
        evening.shown += (await house.request("GET", path, client=HERE)).body.decode()
    evening.shown += "".join(
        map(repr, (*house.dispatcher.sockets, *(one.principal for one in house.dispatcher.sockets)))
    )
    evening.shown += repr(house.rows())


async def _at_a_console(house: Connected, evening: Evening) -> None:
    """Signing in, an approval, and sockets by token and by key, rightly and wrongly."""
    # signing in, wrongly and rightly
    assert (await _signs_in(house, evening, DAN, WRONG)).status == 401
    await house.pass_(60)
    signed = await _signs_in(house, evening, DAN)
    token = evening.keep("a token", signed.said["token"])
    bearer = f"Bearer {token}"

    # a second person approves, on a screen of their own
    do = {"command": "report", "event": "other", "detail": "a fire"}
    ask = {"type": "do", "table": "T1", "do": do}
    asked = await house.request("POST", "/api/approvals", {"request": ask}, authorization=bearer)
    assert asked.status == 200, asked.body
    approval = asked.said["approval"]
    second = await _signs_in(house, evening, MAX)
    theirs = evening.keep("the second's token", second.said["token"])
    await house.pass_(400)
    code = evening.keep("code of the second", _code(house, evening, MAX))
    again = await house.request("POST", "/api/approvals", {"request": ask}, authorization=bearer)
    for id_, status in ((approval, 403), (again.said["approval"], 200)):  # the first has expired
        path = f"/api/approvals/{id_}/approve"
        got = await house.request("POST", path, {"code": code}, authorization=f"Bearer {theirs}")
        assert got.status == status, got.body

    # over sockets: by token, by key, with an approval, and with what cannot be read
    line = await house.line()
    await line.answer("hello", protocol=PROTOCOL_VERSION, token=token)
    line.asks("do", table="T1", do=ask["do"], approval=approval)
    line.sends(f'{{"type":"hello","id":"x","protocol":2,"token":"{token}","more":1}}')
    line.sends(f'{{"type":"hello","id":"y","protocol":"{token}"}}')
    terminal = await house.line()
    shown = evening.keep("a signature", signature("P1", terminal.nonce))
    await terminal.answer("hello", protocol=PROTOCOL_VERSION, device="P1", signature=shown)
    stranger = await house.line()
    await stranger.answer("hello", protocol=PROTOCOL_VERSION, device="P1", signature=shown)
    evening.keep("a device's key", device("P1").key.private_bytes_raw().hex())


async def _at_a_desk(house: Connected, evening: Evening) -> None:
    """A new password, and bodies that are wrong."""
    await house.pass_(60)
    signed = await _signs_in(house, evening, MAX)
    token = evening.keep("another token", signed.said["token"])
    await house.pass_(60)
    body = {"password": WORDS[MAX], "code": _code(house, evening, MAX)}
    begun = await house.request("POST", "/api/account", body, authorization=f"Bearer {token}")
    assert begun.status == 200, begun.body
    evening.keep("a new factor", parse_qs(urlsplit(begun.said["uri"]).query)["secret"][0])
    setup = evening.keep("a new setup", begun.said["setup"])
    renewed = await house.request("POST", "/api/credentials", {"setup": setup, "password": NEW})
    assert renewed.status == 200, renewed.body
    for wrong in (
        {"person": DAN, "password": WORDS[DAN]},
        {"person": DAN, "password": [WORDS[DAN]], "code": "1"},
    ):
        assert (await house.request("POST", "/api/sign-in", wrong)).status == 400


async def _broken(house: Connected, evening: Evening, patch: pytest.MonkeyPatch) -> None:
    """Faults: while someone signs in, and while something is asked."""

    def broken(_self: Passwords, _hash: str | None, password: str) -> bool:
        raise RuntimeError(f"a hash of {len(password)} characters could not be made")

    patch.setattr(Passwords, "verified", broken)
    await house.pass_(60)
    assert (await _signs_in(house, evening, ADA)).status == 500
    patch.setattr(house.dispatcher.queue.projections, "books", None)
    auditor = house.session("auditor")
    evening.keep("the auditor's token", auditor.token)
    assert (await house.request("GET", "/api/books", session=auditor)).status == 500
    books = await house.came(auditor)
    assert (await books.answer("books"))["reason"] == "fault"


def evening_of(form: str, patch: pytest.MonkeyPatch) -> Evening:
    """An evening, logged in a form."""
    evening, text = Evening(), io.StringIO()

    async def main(loop: VirtualLoop) -> None:
        await _played(Connected(loop), evening, patch)

    with logging_to(text, form):
        run(main)
    evening.log = text.getvalue()
    return evening


@pytest.mark.parametrize("form", ["json", "console"])
def test_nothing_secret_is_logged_shown_or_in_the_journal(form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    evening = evening_of(form, monkeypatch)
    assert evening.found() == []
    assert len(evening.secrets) > 12
    for said in ("sign-in failed", "signed in", "a request failed", "RuntimeError"):
        assert said in evening.log, "there is a log to look through"


def test_sabotage_a_token_in_the_log_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    of = StaffSessions.of

    def chatty(self: StaffSessions, token: str, now: int) -> Session | EndedSession:
        structlog.get_logger().info(f"someone comes with {token}")
        return of(self, token, now)

    monkeypatch.setattr(StaffSessions, "of", chatty)
    assert "the auditor's token" in evening_of("json", monkeypatch).found()


def test_sabotage_tracebacks_that_show_what_variables_hold_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(structlog.dev, "plain_traceback", structlog.dev.rich_traceback)
    monkeypatch.setattr(structlog.processors, "format_exc_info", lambda _logger, _method, event: event)
    assert evening_of("console", monkeypatch).found() != []

"""The test of the matrix: access that is broken somewhere, and the matrix must see it there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from structlog.testing import capture_logs

from taisai.cage.messages import NoteOverride
from taisai.game.vocabulary import FLOOR
from taisai.journal import Submission
from taisai.journal.codec import HOUSE_STREAM
from taisai.protocol.commands import BY_TAG
from taisai.server.auth import permissions
from taisai.server.auth.permissions import Permission, Reach, Role
from taisai.server.connections.dispatcher import Dispatcher
from taisai.server.handlers import commands as doing
from taisai.server.http import app
from tests.server import access_matrix as matrix
from tests.server.virtual_server import run

ANYONE = Permission(dict.fromkeys(Role, Reach.ANY))


def seen(role: Role, cases: Sequence[matrix.Case] | None = None) -> list[matrix.Verdict]:
    """What is wrong for a role."""
    chosen = matrix.every_socket_case() if cases is None else cases
    verdicts = run(lambda loop: matrix.socket_verdicts(loop, role, chosen, demonstration=False))
    return [verdict for verdict in verdicts if verdict.wrong]


@pytest.mark.parametrize(("table", "kind"), [("REQUESTS", "request"), ("COMMANDS", "do"), ("FEEDS", "feed")])
def test_sabotage_any_permit_that_is_widened_is_seen(
    table: str, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = getattr(permissions, table)
    monkeypatch.setattr(permissions, table, dict.fromkeys(known, ANYONE))
    found = {verdict.case.name for verdict in seen(Role.VISITOR) if verdict.case.kind == kind}
    assert found == {name for name in known if Role.VISITOR not in known[name].roles}


@pytest.mark.parametrize("name", ["perform", "decide-referral", "bring-in", "take-back"])
def test_sabotage_a_permit_that_is_taken_away_is_seen(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    role = next(iter(permissions.COMMANDS[name].roles))
    monkeypatch.setattr(permissions, "COMMANDS", {**permissions.COMMANDS, name: Permission({})})
    assert {verdict.case.name for verdict in seen(role, list(matrix.commands_of(name)))} == {name}


def _by_role_alone(permit: Permission | None, role: Role, **_about: object) -> str | None:
    return None if permit is not None and permit.reach(role) is not None else "expected another, got this"


def test_sabotage_a_seat_that_is_not_looked_at_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(permissions, "refusal", _by_role_alone)
    found = {(one.case.name, one.case.table, one.case.seat) for one in seen(Role.TERMINAL)}
    for name in ("undo", "ticket-out", "take-back", "seat"):
        assert {(name, "T1", "2"), (name, "T2", "1")} <= found
    assert ("felt", "T2", None) in found, "a table is not looked at either"
    assert {name for name, _, _ in found if name in ("reading", "table")} == {"table"}


def test_sabotage_bets_for_another_seat_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    honest = Dispatcher.place_bets

    def careless(self: Dispatcher, socket: Any, ask: Any) -> bool:
        if type(ask.do) is BY_TAG["place-bets"]:
            bets: Any = ask.do
            socket.principal = socket.principal._replace(table=ask.table, seat=bets.seat)
        return honest(self, socket, ask)

    monkeypatch.setattr(Dispatcher, "place_bets", careless)
    assert {str(one.case) for one in seen(Role.TERMINAL, list(matrix.commands_of("place-bets")))} == {
        "do place-bets at T1/2", "do place-bets at T2/1", "do place-bets at T9/1",
    }  # fmt: skip


def test_sabotage_a_terminal_that_sits_another_one_down_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doing, "misplaced", lambda *_given: None)
    found = seen(Role.TERMINAL, list(matrix.commands_of("take-seat")))
    assert {one.case.fields["do"].get("terminal") for one in found} == {"P2", None}


def test_sabotage_a_refusal_that_leaves_a_trace_in_the_journal_is_seen(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    honest = Dispatcher.not_permitted

    def noted(self: Dispatcher, *given: Any) -> str | None:
        wrong = honest(self, *given)
        if wrong is not None:
            note = NoteOverride(
                at=self.clock.now(), by=FLOOR, table="T1", person="nobody", what="access", detail=wrong
            )
            self.queue.submit(Submission(HOUSE_STREAM, note))
        return wrong

    monkeypatch.setattr(Dispatcher, "not_permitted", noted)
    assert any(one.grew for one in seen(Role.DISPLAY, list(matrix.commands_of("perform"))))


def test_sabotage_endpoints_without_a_guard_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    def open_door(connection: Any, _handler: Any) -> None:
        connection.state.session = None

    monkeypatch.setattr(app, "guard", open_door)
    with capture_logs():  # of all that breaks where nobody is signed in
        verdicts = run(lambda loop: matrix.http_verdicts(loop, [Role.VISITOR], demonstration=False))
    found = {verdict.case.name for verdict in verdicts if verdict.wrong}
    http = {name: who for (kind, name), who in matrix.written().items() if kind == "http"}
    may = {name for name, who in http.items() if who.get(Role.VISITOR) == "anywhere"}
    assert found == set(http) - may - set(permissions.DEMONSTRATION)


def test_sabotage_a_widened_endpoint_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    name = "DELETE /api/devices"
    monkeypatch.setattr(permissions, "ENDPOINTS", {**permissions.ENDPOINTS, name: ANYONE})
    verdicts = run(lambda loop: matrix.http_verdicts(loop, [Role.DEALER], demonstration=False))
    assert {verdict.case.name for verdict in verdicts if verdict.wrong} == {name}

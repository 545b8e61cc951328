"""No call deletes or rewrites history: whatever is asked, what stood in the journal stands there still."""

from __future__ import annotations

import ast
from typing import Any, Final

import pytest

from taisai.journal import MemoryStore, Store
from taisai.server.auth.permissions import Role
from tests.project.tree import SRC
from tests.server import access_matrix as matrix
from tests.server.virtual_server import Connected, connected, run

LOOKS: Final = {
    "rows", "head", "last", "version", "streams", "checkpoints", "newest", "backwards", "snapshots",
    "snapshot", "part", "parts", "expect_writer",
}  # fmt: skip
ADDS: Final = {"append", "seal", "keep_newest"}
"""The newest checkpoint replaces one over fewer entries."""
BESIDE: Final = {"keep", "forget", "secret", "keep_secret", "secrets", "close"}
"""Snapshots, which are made from the journal again, and the vault, which is no part of it."""


def test_a_store_can_be_looked_at_and_added_to_and_nothing_else() -> None:
    methods = {name for name in vars(Store) if not name.startswith("_")}
    assert methods == LOOKS | ADDS | BESIDE


def test_the_server_itself_neither_appends_nor_seals_nor_forgets_through_a_store() -> None:
    called: dict[str, str] = {}
    for path in sorted((SRC / "server").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Attribute) and _is_store(node.value):
                called.setdefault(node.attr, path.name)
    known = {"secret", "keep_secret", "secrets", "rows", "last", "checkpoints", "backwards", "close"}
    assert called.keys() <= known | {"expect_writer", "newest"}, called
    assert called.keys() >= {"secret", "keep_secret"}, "something was found"


def _is_store(node: ast.AST) -> bool:
    return getattr(node, "attr", getattr(node, "id", "")) == "store"


@connected()
async def test_what_deletes_over_http_adds_to_the_journal(house: Connected) -> None:
    session: Any = house.session("administrator")
    for path, body in (
        ("/api/devices", {"device": "P2", "reason": "broken"}),
        ("/api/staff", {"person": "floorperson Tan"}),
    ):
        before = house.rows()
        got = await house.request("DELETE", path, body, session=session)
        assert got.status == 200, got.body
        after = house.rows()
        assert after[: len(before)] == before
        assert len(after) == len(before) + 1
    assert {"DeviceDismissed", "PersonDismissed"} <= {type(event).__name__ for event in house.events()}


@connected()
async def test_the_chain_holds_after_everything_that_anyone_may_ask(house: Connected) -> None:
    before = house.rows()
    for role in (Role.TERMINAL, Role.SHIFT_MANAGER, Role.CASHIER):
        line = await house.came_as(role)
        for case in matrix.every_socket_case():
            if case.may(role, demonstration=False):
                await matrix.socket_verdict(house, line, role, case)
    after = house.rows()
    assert len(after) > len(before) + 10
    assert after[: len(before)] == before
    house.engine.journal.prove()


def test_sabotage_a_store_that_rewrites_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    append = MemoryStore.append

    def forging(self: MemoryStore, rows: Any, head: Any = None) -> None:
        append(self, rows, head)
        if len(self._rows) > 30:  # more than was there to begin with
            self._rows[3] = self._rows[3]._replace(body=b"{}")

    monkeypatch.setattr(MemoryStore, "append", forging)
    cases = list(matrix.commands_of("call-attendant"))
    verdicts = run(lambda loop: matrix.socket_verdicts(loop, Role.TERMINAL, cases, demonstration=False))
    assert any(verdict.is_rewritten for verdict in verdicts)

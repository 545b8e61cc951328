"""Whom the server takes a connection for: by its session's id, once the token was shown."""

from __future__ import annotations

from typing import Any

import pytest

from taisai.server.auth import sessions as module
from taisai.server.auth.sessions import StaffSessions
from tests.server.virtual_server import Connected, connected


@connected()
async def test_the_token_is_shown_once_and_kept_nowhere(house: Connected) -> None:
    opened = house.session("pit-supervisor")
    line = await house.came(opened)
    assert (await line.answer("follow", feed="lobby"))["type"] == "snapshot"
    (socket,) = house.dispatcher.sockets
    assert socket.principal.session == opened.session.id
    assert opened.token not in map(str, socket.principal)
    held = [getattr(socket, name, None) for name in dir(socket)]
    assert not [one for one in held if isinstance(one, str | bytes) and opened.token in str(one)]


@connected()
async def test_a_session_is_asked_for_without_another_hash(house: Connected) -> None:
    line = await house.came(house.session("pit-supervisor"))
    with pytest.MonkeyPatch.context() as patch:

        def hashing(_token: str) -> str:
            raise AssertionError("expected no token, got one")

        patch.setattr(module, "digest_of_token", hashing)
        assert (await line.answer("follow", feed="lobby"))["type"] == "snapshot"


@connected()
async def test_a_session_that_idled_is_refused_by_its_id(house: Connected) -> None:
    opened = house.session("pit-supervisor")
    line = await house.came(opened)
    await house.pass_(house.door.sessions.policy.idle_ms / 1_000)
    id_ = line.asks("follow", feed="lobby")
    await house.settle()
    told = [tell for tell in line.told if tell.get("to") == id_ or tell["type"] == "end"]
    assert told
    assert all("idle" in tell.get("message", "") for tell in told)
    assert house.door.sessions.get(opened.session.id) is None


def test_sabotage_a_session_that_is_never_over_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    def found(self: StaffSessions, id_: str, _now: int) -> Any:
        return self._open[id_]

    monkeypatch.setattr(StaffSessions, "at", found)
    with pytest.raises(AssertionError):
        test_a_session_that_idled_is_refused_by_its_id()

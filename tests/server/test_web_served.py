"""The same over a real server: what uvicorn and a real socket add, or take away."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Coroutine
from typing import Any

import httpx
import pytest
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from taisai.cage.messages import SignInFailed
from taisai.protocol.message import MOST_MESSAGE, PROTOCOL_VERSION
from taisai.server.http.guard import HEADERS
from tests.client.real_server import Served, served


def at_server(test: Callable[[Served], Coroutine[Any, Any, None]]) -> Callable[[], None]:
    """A test against a server of its own, at a port of its own."""

    def run() -> None:
        async def main() -> None:
            async with asyncio.timeout(20), served() as server:
                await test(server)

        asyncio.run(main())

    run.__name__ = test.__name__
    return run


async def told(connection: ClientConnection) -> list[dict[str, Any]]:
    """The next message."""
    found: list[dict[str, Any]] = json.loads(await connection.recv())
    return found


@at_server
async def test_a_message_that_is_a_little_too_long_is_refused_in_words(server: Served) -> None:
    async with connect(server.socket, max_size=None) as connection:
        assert (await told(connection))[0]["type"] == "challenge"
        text = json.dumps({"type": "hello", "id": "a", "protocol": PROTOCOL_VERSION})
        await connection.send(text + " " * (MOST_MESSAGE + 1 - len(text)))
        (refused,) = await told(connection)
        assert (
            refused["message"]
            == f"expected a text of at most {MOST_MESSAGE} bytes, got {MOST_MESSAGE + 1} bytes"
        )
        await connection.send(text)
        assert (await told(connection))[0]["type"] == "welcome"


@at_server
async def test_a_message_that_is_much_too_long_is_not_even_read(server: Served) -> None:
    async with connect(server.socket, max_size=None) as connection:
        await told(connection)
        await connection.send(" " * (2 * MOST_MESSAGE + 1))
        with pytest.raises(ConnectionClosed) as closed:
            await told(connection)
    assert closed.value.rcvd is not None
    assert closed.value.rcvd.code == 1009


@at_server
async def test_a_socket_from_another_page_does_not_open(server: Served) -> None:
    for origin in ("https://evil.test", "null"):
        with pytest.raises(InvalidStatus) as refused:
            await connect(server.socket, additional_headers={"Origin": origin})
        assert refused.value.response.status_code == 403
    async with connect(server.socket, additional_headers={"Origin": server.http}) as connection:
        assert (await told(connection))[0]["type"] == "challenge"


@at_server
async def test_a_revoked_session_loses_its_socket_within_a_second(server: Served) -> None:
    token = await server.token("dan")
    async with connect(server.socket) as connection:
        await told(connection)
        await connection.send(
            json.dumps({"type": "hello", "id": "a", "protocol": PROTOCOL_VERSION, "token": token})
        )
        assert (await told(connection))[0]["type"] == "welcome"
        server.casino.authentication.revoke("dan")
        async with asyncio.timeout(1):
            (end,) = await told(connection)
            assert (end["type"], end["why"]) == ("end", "revoked")
            with pytest.raises(ConnectionClosed) as closed:
                await told(connection)
    assert closed.value.rcvd is not None
    assert closed.value.rcvd.code == 1008


@at_server
async def test_real_answers_have_the_headers_and_real_unauthenticated_clients_are_refused(
    server: Served,
) -> None:
    async with httpx.AsyncClient(base_url=server.http) as client:
        for got in (
            await client.get("/health"),
            await client.get("/nowhere"),
            await client.get("/api/books"),
        ):
            assert all(got.headers[name] == value for name, value in HEADERS.items())
            assert "server" not in got.headers
        assert (await client.get("/health", headers={"Host": "evil.test"})).status_code == 403
        assert (
            await client.post("/api/sign-out", headers={"Origin": "https://evil.test"})
        ).status_code == 403
        long = await client.post(
            "/api/sign-in", content=b" " * 70_000, headers={"Content-Type": "application/json"}
        )
        assert long.status_code == 413


@pytest.mark.parametrize(
    ("proxies", "address"),
    [
        ((), "127.0.0.1"),
        (("127.0.0.1",), "198.51.100.9"),
        (("127.0.0.0/8",), "198.51.100.9"),
        (("10.0.0.7",), "127.0.0.1"),  # whoever is no proxy of ours says nothing about others
    ],
)
def test_a_sign_in_has_the_address_that_a_known_proxy_tells(proxies: tuple[str, ...], address: str) -> None:
    async def tried() -> list[str]:
        async with asyncio.timeout(20), served(proxies=proxies) as server:
            async with httpx.AsyncClient(base_url=server.http, trust_env=False) as client:
                body = {"person": "dan", "password": "whatever he likes", "code": "123456"}
                got = await client.post(
                    "/api/sign-in", json=body, headers={"X-Forwarded-For": "203.0.113.1, 198.51.100.9"}
                )
            assert got.status_code == 401
            return await server.casino.queue.run(
                lambda engine: [
                    entry.event.address
                    for entry in engine.journal.entries()
                    if isinstance(entry.event, SignInFailed)
                ]
            )

    assert asyncio.run(tried()) == [address]

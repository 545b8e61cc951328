"""Connections that are begun and never finished keep nobody out. Real sockets, on loopback."""

from __future__ import annotations

import asyncio
import datetime
import re
import socket
import ssl
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any, Final

import httpx
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from websockets.asyncio.client import connect

from taisai.listening import accepting
from taisai.listening.accepting import AcceptedConnection, Acceptor, Room, room_for
from taisai.server.runtime import serving
from taisai.server.runtime.serving import OTHER_FILES, files_for_connections, listening
from tests.client.real_server import Served, served

FILES: Final = 64
"""Files that the server has for connections in these tests."""
HERE: Final = "127.0.0.1"
ATTACKER: Final = "127.0.0.9"
OTHER: Final = "127.0.0.77"
BEGUN: Final = {
    "nothing": b"",
    "half a head": b"GET / HTTP/1.1\r\nHost: fl",
    "half a hello of TLS": b"\x16\x03\x01",
}


_DIALLED: Final[list[socket.socket]] = []


@pytest.fixture(autouse=True)
def hung_up() -> Iterator[None]:
    """Closes what a test dialled."""
    yield
    while _DIALLED:
        _DIALLED.pop().close()


async def dial(port: int, *, source: str = ATTACKER, says: bytes = b"") -> socket.socket:
    """A connection from an address of this machine; what it says is sent at once."""
    client = socket.socket()
    _DIALLED.append(client)
    client.settimeout(0)
    client.bind((source, 0))
    loop = asyncio.get_running_loop()
    with suppress(OSError):  # it was closed at once
        await loop.sock_connect(client, (HERE, port))
        if says:
            await loop.sock_sendall(client, says)
    return client


async def is_closed(client: socket.socket) -> bool:
    """Whether the server has closed a connection."""
    try:
        return await asyncio.wait_for(asyncio.get_running_loop().sock_recv(client, 1), 0.05) == b""
    except TimeoutError:
        return False
    except OSError:
        return True


async def open_ones(clients: list[socket.socket]) -> int:
    closed = await asyncio.gather(*map(is_closed, clients))
    return closed.count(False)


def with_few_files(test: Callable[[Served], Coroutine[Any, Any, None]]) -> Callable[[], None]:
    """A test against a real server that has few files for connections."""

    def run() -> None:
        async def main() -> None:
            async with asyncio.timeout(20), served() as server:
                await test(server)

        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(serving, "files_for_connections", lambda: FILES)
            asyncio.run(main())

    run.__name__ = test.__name__
    return run


def port_of(server: Served) -> int:
    return int(server.http.rpartition(":")[2])


@with_few_files
async def test_half_open_requests_of_one_address_keep_nobody_out(server: Served) -> None:
    attackers = [
        await dial(port_of(server), says=says) for _ in range(100) for says in (b"", b"GET / HTTP/1.1\r\nHo")
    ]
    began = time.monotonic()
    async with httpx.AsyncClient(base_url=server.http) as client:
        assert (await client.get("/health")).status_code == 200
        metrics = (await client.get("/metrics")).text
        (turned_away,) = re.findall(r"^taisai_connections_turned_away_total (\d+)", metrics, re.MULTILINE)
        assert int(turned_away) > 0
    async with connect(server.socket) as terminal:
        assert "challenge" in str(await terminal.recv())
    assert time.monotonic() - began < 2
    assert await open_ones(attackers) <= room_for(FILES).network


@with_few_files
async def test_half_open_requests_of_many_addresses_keep_nobody_out(server: Served) -> None:
    """Neither someone whose network the House knows nor a stranger who finishes a request."""
    await server.token("dan")
    server.casino.authentication.known.add(HERE, server.clock.now())
    attackers = [await dial(port_of(server), source=f"127.0.1.{1 + n % 40}") for n in range(200)]
    assert await open_ones(attackers) <= room_for(FILES).strangers
    async with httpx.AsyncClient(base_url=server.http) as client:
        assert (await client.get("/health")).status_code == 200
    stranger = httpx.AsyncHTTPTransport(local_address="127.0.0.77")
    async with httpx.AsyncClient(base_url=server.http, transport=stranger) as client:
        assert (await client.get("/health")).status_code == 200


def test_sabotage_without_room_for_the_known_the_files_run_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Acceptor, "_make_room", lambda *_, **__: True)
    for test in (
        test_half_open_requests_of_one_address_keep_nobody_out,
        test_half_open_requests_of_many_addresses_keep_nobody_out,
    ):
        with pytest.raises(AssertionError):
            test()


# The acceptor alone


class Quiet(asyncio.Protocol):
    """Says nothing; its first bytes are a complete request, and '!' proves who it is."""

    place: AcceptedConnection | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert self.place is not None
        self.place.transport = transport

    def data_received(self, data: bytes) -> None:
        assert self.place is not None
        self.place.finished()
        if b"!" in data:
            self.place.admitted()

    def connection_lost(self, _error: Exception | None) -> None:
        assert self.place is not None
        self.place.lost()


@asynccontextmanager
async def accepting_at(
    room: Room,
    *,
    known: frozenset[str] = frozenset(),
    tls: ssl.SSLContext | None = None,
    proxies: tuple[str, ...] = (),
    on_refused: Callable[[str], None] = lambda _network: None,
) -> AsyncIterator[tuple[Acceptor, int]]:
    at = listening(HERE, 0)
    acceptor = Acceptor(
        at, Quiet, room=room, is_known=known.__contains__, tls=tls, proxies=proxies, on_refused=on_refused
    )
    try:
        yield acceptor, at.getsockname()[1]
    finally:
        acceptor.close()
        at.close()
        for connection in list(acceptor._open):
            connection.close()
        await asyncio.sleep(0.05)


def bounded(test: Callable[..., Coroutine[Any, Any, None]]) -> Callable[..., None]:
    """A test in a loop of its own, for a few seconds at most."""

    def run(**given: Any) -> None:
        async def main() -> None:
            async with asyncio.timeout(10):
                await test(**given)

        asyncio.run(main())

    run.__name__ = test.__name__
    return run


@bounded
async def test_one_more_of_a_network_closes_its_oldest_half_open_one() -> None:
    async with accepting_at(Room(all=10, strangers=8, network=2)) as (acceptor, port):
        clients = [await dial(port) for _ in range(2)]
        assert await open_ones(clients) == 2
        clients.append(await dial(port))
        await asyncio.sleep(0.05)
        assert [await is_closed(client) for client in clients] == [True, False, False]
        assert (len(acceptor), acceptor.turned_away) == (2, 1)


@bounded
async def test_one_more_of_all_strangers_closes_the_oldest_half_open_one() -> None:
    async with accepting_at(Room(all=10, strangers=3, network=2)) as (acceptor, port):
        clients = [await dial(port, source=f"127.0.0.{10 + n}") for n in range(4)]
        await asyncio.sleep(0.05)
        assert [await is_closed(client) for client in clients] == [True, False, False, False]
        assert len(acceptor) == 3


@bounded
async def test_where_nobody_is_half_open_the_oldest_unproven_one_is_closed() -> None:
    """Else strangers who finish a request and then hold their connections keep everybody out."""
    room = Room(all=4, strangers=2, network=2)
    async with accepting_at(room, known=frozenset({HERE})) as (acceptor, port):
        held = [await dial(port, source=f"127.0.0.{10 + n}", says=b"done") for n in range(2)]
        await asyncio.sleep(0.05)
        held.append(await dial(port, source="127.0.0.20", says=b"done"))
        await asyncio.sleep(0.05)
        assert [await is_closed(client) for client in held] == [True, False, False]
        terminals = [await dial(port, source=HERE, says=b"!") for _ in range(2)]
        await asyncio.sleep(0.05)
        terminals.append(await dial(port, source=HERE, says=b"!"))
        await asyncio.sleep(0.05)
        assert [await is_closed(client) for client in held[1:]] == [True, False], "strangers first"
        terminals.append(await dial(port, source=HERE, says=b"!"))
        await asyncio.sleep(0.05)
        assert await open_ones(terminals) == 4
        one_more = await dial(port, source=HERE)
        assert await is_closed(one_more), "the files are limited for everyone"
        assert (len(acceptor), acceptor.turned_away) == (4, 4)


@bounded
async def test_a_known_network_holds_no_more_unproven_connections_than_another() -> None:
    """Else one terminal's key would be enough to take every file."""
    async with accepting_at(Room(all=10, strangers=8, network=2), known=frozenset({HERE})) as (_, port):
        terminal = await dial(port, source=HERE, says=b"!")
        await asyncio.sleep(0.05)
        held = [await dial(port, source=HERE, says=b"done") for _ in range(6)]
        await asyncio.sleep(0.05)
        assert await open_ones(held) == 2
        assert not await is_closed(terminal)


@bounded
async def test_whoever_proves_who_they_are_is_no_stranger() -> None:
    async with accepting_at(Room(all=10, strangers=1, network=1)) as (acceptor, port):
        terminals = []
        for _ in range(5):
            terminals.append(await dial(port, says=b"!"))
            await asyncio.sleep(0.02)
        assert await open_ones(terminals) == 5
        assert acceptor.turned_away == 0


@bounded
async def test_a_connection_that_is_over_leaves_its_place() -> None:
    async with accepting_at(Room(all=10, strangers=2, network=2)) as (acceptor, port):
        for says in (b"", b"done", b"!") * 5:
            client = await dial(port, says=says)
            await asyncio.sleep(0.02)
            client.close()
            await asyncio.sleep(0.02)
        assert (len(acceptor), acceptor.turned_away) == (0, 0)
        assert not acceptor._strangers.all
        assert not acceptor._strangers.half_open


@bounded
async def test_a_proxy_speaks_for_many_networks() -> None:
    room = Room(all=10, strangers=2, network=1)
    async with accepting_at(room, proxies=("127.0.0.0/29",)) as (acceptor, port):
        proxied = [await dial(port, source="127.0.0.5") for _ in range(6)]
        assert await open_ones(proxied) == 6
        strangers = [await dial(port, source="127.0.0.9") for _ in range(2)]
        await asyncio.sleep(0.05)
        assert [await is_closed(client) for client in strangers] == [True, False]
        assert len(acceptor) == 7


@pytest.fixture(scope="module")
def tls(tmp_path_factory: pytest.TempPathFactory) -> ssl.SSLContext:
    """A certificate of this machine for itself."""
    folder: Path = tmp_path_factory.mktemp("tls")
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "floor.test")])
    now = datetime.datetime.now(datetime.UTC)
    certificate = (
        x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
        .serial_number(1).not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1)).sign(key, hashes.SHA256())
    )  # fmt: skip
    (folder / "floor.crt").write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    (folder / "floor.key").write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "floor.crt", folder / "floor.key")
    return context


def test_half_open_handshakes_make_room_and_are_timed_out(
    tls: ssl.SSLContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(accepting, "HANDSHAKE_WITHIN", 0.5)

    async def main() -> None:
        room = Room(all=10, strangers=4, network=4)
        async with asyncio.timeout(10), accepting_at(room, tls=tls) as (acceptor, port):
            attackers = [await dial(port, says=says) for _ in range(4) for says in BEGUN.values()]
            assert await open_ones(attackers) <= 4
            trusting = ssl.create_default_context()
            trusting.check_hostname, trusting.verify_mode = False, ssl.CERT_NONE
            reader, writer = await asyncio.open_connection(HERE, port, ssl=trusting)
            writer.write(b"!")
            await writer.drain()
            await asyncio.sleep(1)
            assert await open_ones(attackers) == 0, "they had half a second"
            assert len(acceptor) == 1
            assert not reader.at_eof()
            writer.close()

    asyncio.run(main())


def test_a_handshake_that_fails_is_noted_and_one_that_a_client_leaves_is_not(tls: ssl.SSLContext) -> None:
    async def main() -> None:
        refused: asyncio.Queue[str] = asyncio.Queue()
        room = Room(all=10, strangers=10, network=10)
        async with (
            asyncio.timeout(10),
            accepting_at(room, tls=tls, on_refused=refused.put_nowait) as (_acceptor, port),
        ):
            (await dial(port)).close()
            await dial(port, source=OTHER, says=b"GET / HTTP/1.1\r\n\r\n")
            assert await refused.get() == OTHER
            await asyncio.sleep(0.05)
            assert refused.empty()

    asyncio.run(main())


# How much room there is


@pytest.mark.parametrize(
    ("files", "room"),
    [
        (10_000, Room(10_000, 7_500, 1_875)), (64, Room(64, 48, 12)), (1, Room(1, 1, 1)),
        (0, Room(1, 1, 1)),
    ],
)  # fmt: skip
def test_strangers_have_three_quarters_and_one_network_a_quarter_of_that(files: int, room: Room) -> None:
    assert room_for(files) == room


def test_some_files_are_kept_for_everything_else() -> None:
    resource = pytest.importorskip("resource")
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (1_024, hard))
        assert files_for_connections() == 768
        if hard == resource.RLIM_INFINITY or hard >= 8_000:
            resource.setrlimit(resource.RLIMIT_NOFILE, (8_000, hard))
            assert files_for_connections() == 8_000 - OTHER_FILES
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))

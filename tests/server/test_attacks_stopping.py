"""Attacks that want the server to stand still: connections kept open, floods of frames, rounds of old."""

from __future__ import annotations

import asyncio
from base64 import b64encode
from typing import Any

import pytest
import structlog
import uvicorn
from uvicorn.server import ServerState

from taisai.game.betting import placing
from taisai.game.rounds.round import PastRounds
from taisai.listening.requests import (
    MOST_HEAD,
    MOST_REQUEST,
    MOST_WAITING,
    REQUEST_WITHIN,
    SLICE,
    LimitedHttpProtocol,
)
from taisai.server.auth.permissions import Role
from taisai.server.connections import transport
from taisai.server.connections.transport import (
    CLOSED_WITHIN,
    FRAMES,
    FRAMES_BEFORE_HELLO,
    protocol_within,
)
from taisai.server.runtime.plan import ConnectionLimits
from taisai.server.runtime.serving import allow_files
from tests.server.sim.virtual import VirtualLoop
from tests.server.virtual_server import Connected, connected, run

ASKED = b"GET /health HTTP/1.1\r\nHost: floor.test\r\n\r\n"
UPGRADE = (
    b"GET /socket HTTP/1.1\r\nHost: floor.test\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: " + b64encode(bytes(16)) + b"\r\n\r\n"
)
BOUNDS = ConnectionLimits(asks_a_second=50, burst=200)


class Wire(asyncio.Transport):
    """The network, as far as the server's side of a connection sees it."""

    def __init__(self) -> None:
        super().__init__({"peername": ("192.0.2.7", 1), "sockname": ("192.0.2.1", 443)})
        self.sent = b""
        self.is_aborted = self.is_shut = False
        self.protocol: Any = None

    def write(self, data: Any) -> None:
        """The client gets it."""
        self.sent += bytes(data)

    def abort(self) -> None:
        """It is over at once."""
        self.is_aborted = self.is_shut = True
        self.protocol.connection_lost(None)

    def close(self) -> None:
        """It is over."""
        self.is_shut = True

    def is_closing(self) -> bool:
        """Whether it is over."""
        return self.is_shut

    def set_protocol(self, protocol: Any) -> None:
        """Who hears what comes."""
        self.protocol = protocol

    def pause_reading(self) -> None:
        """Here nothing is read."""

    def resume_reading(self) -> None:
        """As above."""


async def _answers(scope: Any, receive: Any, send: Any) -> None:
    """An application that takes whatever comes."""
    if scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.accept"})
        while (await receive())["type"] == "websocket.receive":
            pass
        return
    while (await receive()).get("more_body"):
        pass
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
    await send({"type": "http.response.body", "body": b"ok"})


async def dialled(loop: VirtualLoop, frames: Any = None) -> Wire:
    """A connection to a server of these lines."""
    config = uvicorn.Config(
        _answers, ws=frames or protocol_within(BOUNDS), http=LimitedHttpProtocol, lifespan="off", loop="none",
        log_config=None, access_log=False, ws_per_message_deflate=False, ws_ping_interval=None,
    )  # fmt: skip
    config.load()
    wire = Wire()
    wire.protocol = LimitedHttpProtocol(config, ServerState(), {}, loop)
    wire.protocol.connection_made(wire)
    return wire


def frame(opcode: int = 0x1, says: bytes = b"{}") -> bytes:
    """A frame as a client sends it."""
    return bytes([0x80 | opcode, 0x80 | len(says), 0, 0, 0, 0]) + says


UNFINISHED = {
    "nothing": b"",
    "half a head": b"GET / HTTP/1.1\r\nHost: fl",
    "half a body": b"POST /api/sign-in HTTP/1.1\r\nHost: floor.test\r\nContent-Length: 100\r\n\r\n{",
    "a second one, begun": ASKED + b"G",
    "an answered one, then an empty line": ASKED + b"\r\n",
}


@pytest.mark.parametrize("came", UNFINISHED.values(), ids=UNFINISHED.keys())
def test_a_request_that_is_never_finished_is_let_go(came: bytes) -> None:
    async def main(loop: VirtualLoop) -> None:
        wire = await dialled(loop)
        if came:
            wire.protocol.data_received(came)
        await asyncio.sleep(REQUEST_WITHIN - 1)
        assert not wire.is_aborted
        await asyncio.sleep(2)
        assert wire.is_shut

    run(main)


def test_a_request_that_is_whole_is_answered_and_a_socket_stays() -> None:
    async def main(loop: VirtualLoop) -> None:
        asked, socket = await dialled(loop), await dialled(loop)
        asked.protocol.data_received(ASKED)
        socket.protocol.data_received(UPGRADE)
        await asyncio.sleep(10 * REQUEST_WITHIN)
        assert b"200 OK" in asked.sent
        assert not asked.is_aborted
        assert b"101" in socket.sent
        assert not socket.is_shut
        socket.abort()

    run(main)


def test_a_head_without_an_end_is_let_go() -> None:
    async def main(loop: VirtualLoop) -> None:
        wire = await dialled(loop)
        wire.protocol.data_received(b"GET / HTTP/1.1\r\nX-Long: " + b"a" * MOST_HEAD)
        assert wire.is_aborted

    run(main)


def test_trailers_without_end_are_read_no_further() -> None:
    """Trailers come after the body and are kept: 2 GB of them in ten seconds took 2 GB of memory."""

    async def main(loop: VirtualLoop) -> None:
        wire = await dialled(loop)
        chunked = b"POST / HTTP/1.1\r\nHost: floor.test\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{\r\n0\r\n"
        wire.protocol.data_received(chunked)
        sent, trailer = 0, b"x: " + b"y" * 60_000 + b"\r\n"
        while not wire.is_aborted:
            wire.protocol.data_received(trailer)
            sent += len(trailer)
            assert sent < MOST_REQUEST + len(trailer)
        assert sent > MOST_REQUEST - len(chunked) - len(trailer)

    run(main)


def test_requests_sent_before_the_first_is_answered_are_few() -> None:
    async def main(loop: VirtualLoop) -> None:
        wire = await dialled(loop)
        wire.protocol.data_received(ASKED * (1 + MOST_WAITING))
        assert not wire.is_aborted
        await asyncio.sleep(0.01)
        assert wire.sent.count(b"200 OK") == 1 + MOST_WAITING
        wire = await dialled(loop)
        wire.protocol.data_received(ASKED * 8_000)
        assert wire.is_aborted
        assert len(wire.protocol.pipeline) < 2 * SLICE // len(ASKED), "the rest was not read"

    run(main)


@pytest.mark.parametrize("is_theirs", [True, False], ids=["the client hangs up", "the server does"])
def test_a_request_of_a_connection_that_is_over_is_not_answered(*, is_theirs: bool) -> None:
    """Each reply to nobody was a traceback in the log."""

    async def main(loop: VirtualLoop) -> None:
        wire = await dialled(loop)
        wire.protocol.data_received(ASKED * 3)
        if is_theirs:
            wire.protocol.connection_lost(None)
        else:
            wire.protocol._abort()
        before = len(wire.sent)
        await asyncio.sleep(1)
        assert len(wire.sent) == before

    run(main)


UNREADABLE = {
    "many headers": b"".join(b"x-%d: y\r\n" % number for number in range(130)),
    "a long header": b"x: " + b"y" * 9_000 + b"\r\n",
    "a body": b"Content-Length: 5\r\n",
    "chunks": b"Transfer-Encoding: chunked\r\n",
}
"""Headers that an HTTP request may have and a handshake may not."""


@pytest.mark.parametrize("header", UNREADABLE.values(), ids=UNREADABLE.keys())
def test_a_handshake_that_cannot_be_read_holds_no_connection(header: bytes) -> None:
    async def main(loop: VirtualLoop) -> None:
        wire = await dialled(loop)
        wire.protocol.data_received(UPGRADE[:-2] + header + b"\r\n")
        assert wire.is_aborted
        assert b"101" not in wire.sent

    run(main)


def test_a_body_may_be_longer_than_a_head() -> None:
    async def main(loop: VirtualLoop) -> None:
        wire, size = await dialled(loop), MOST_HEAD + 1
        wire.protocol.data_received(b"POST / HTTP/1.1\r\nContent-Length: %d\r\n\r\n" % size + b"a" * size)
        await asyncio.sleep(1)
        assert b"200 OK" in wire.sent

    run(main)


async def flooded(loop: VirtualLoop, count: int, opcode: int = 0x1, frames: Any = None) -> Wire:
    """A device's socket that sends so many frames at once."""
    wire = await dialled(loop, frames)
    wire.protocol.data_received(UPGRADE)
    await asyncio.sleep(0.01)
    wire.protocol.admitted()
    wire.protocol.data_received(frame(opcode) * count)
    return wire


@pytest.mark.parametrize("opcode", [0x1, 0x9], ids=["asks", "pings"])
def test_frames_by_the_thousand_end_the_connection_unread(opcode: int) -> None:
    async def main(loop: VirtualLoop) -> None:
        most = FRAMES * BOUNDS.burst
        wire = await flooded(loop, most, opcode)
        assert not wire.is_aborted
        again = await flooded(loop, most + 10, opcode)
        assert again.is_aborted
        wire.abort()

    run(main)


def test_whoever_has_not_said_who_they_are_sends_few_frames_and_few_bytes() -> None:
    async def main(loop: VirtualLoop) -> None:
        for sent in (frame() * (FRAMES_BEFORE_HELLO + 10), frame(says=b"a" * 125) * 3_000):
            wire = await dialled(loop)
            wire.protocol.data_received(UPGRADE)
            await asyncio.sleep(0.01)
            wire.protocol.data_received(frame())
            assert not wire.is_aborted
            wire.protocol.data_received(sent)
            assert wire.is_aborted
        wire = await dialled(loop)
        wire.protocol.data_received(UPGRADE)
        await asyncio.sleep(0.01)
        long = bytes([0x81, 0xFF]) + (60_000).to_bytes(8, "big") + bytes(4) + b"a" * 60_000
        wire.protocol.data_received(long * 2)
        assert not wire.is_aborted
        wire.protocol.data_received(long)
        assert wire.is_aborted

    run(main)


def test_frames_are_counted_while_they_are_read_and_not_afterwards() -> None:
    async def main(loop: VirtualLoop) -> None:
        wire = await dialled(loop)
        wire.protocol.data_received(UPGRADE)
        await asyncio.sleep(0.01)
        read, tiny = list[int](), frame(0xA, b"") * 43_000  # as many as one read of the network may have
        take = wire.protocol.conn.receive_data

        def counted(data: bytes) -> None:
            read.append(len(data))
            take(data)

        wire.protocol.conn.receive_data = counted
        wire.protocol.data_received(tiny)
        assert wire.is_aborted
        assert sum(read) < len(tiny) // 10

    run(main)


def test_time_brings_back_what_a_client_may_send() -> None:
    async def main(loop: VirtualLoop) -> None:
        wire = await flooded(loop, FRAMES * BOUNDS.burst - 1)
        await asyncio.sleep(1)
        wire.protocol.data_received(frame() * FRAMES * BOUNDS.asks_a_second)
        assert not wire.is_aborted
        wire.protocol.data_received(frame() * 10)
        assert wire.is_aborted

    run(main)


def test_sabotage_without_bounds_a_flood_is_read_to_its_end() -> None:
    async def main(loop: VirtualLoop) -> None:
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(transport.LimitedWebSocketProtocol, "_has_earned", lambda _self: True)
            wire = await flooded(loop, 10 * FRAMES * BOUNDS.burst)
        assert not wire.is_aborted
        wire.abort()

    run(main)


def test_who_does_not_agree_to_a_close_is_not_waited_for_long() -> None:
    async def main(loop: VirtualLoop) -> None:
        wire = await dialled(loop)
        wire.protocol.data_received(UPGRADE)
        await asyncio.sleep(0.01)
        assert wire.protocol.close_timeout == CLOSED_WITHIN
        wire.abort()

    run(main)


@connected()
async def test_a_retry_that_names_a_round_of_old_does_not_have_it_loaded(house: Connected) -> None:
    table, loaded = house.engine.table("T1"), list[int]()

    def load(number: int) -> Any:
        loaded.append(number)
        raise AssertionError(f"round {number} was loaded")

    table.rounds = PastRounds(1_000, load)
    line = await house.came("P1")
    slips = [{"id": "old", "area": "small", "stake": 100}]
    for number in (1, 500, 1_000 - placing.RETRIED_WITHIN, 0, -1, 5_000, 10**18):
        for command in (
            {"command": "place-bets", "round": number, "seat": "1", "bets": slips},
            {"command": "take-back", "round": number, "seat": "1", "ids": ["old"]},
        ):
            told = await line.answer("do", table="T1", do=command)
            assert told["type"] == "refused", told
    assert loaded == []


@connected()
async def test_who_hangs_up_in_the_middle_leaves_no_trace_in_the_log(house: Connected) -> None:
    scope: dict[str, Any] = {
        "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": "POST",
        "scheme": "https", "path": "/api/sign-in", "raw_path": b"/api/sign-in", "query_string": b"",
        "root_path": "", "client": ("192.0.2.7", 1), "server": ("floor.test", 443), "state": {},
        "extensions": {},
        "headers": [
            (b"host", b"floor.test"), (b"content-length", b"100"), (b"content-type", b"application/json"),
        ],
    }  # fmt: skip
    incoming = [
        {"type": "http.request", "body": b"{", "more_body": True},
        {"type": "http.disconnect"},
    ]

    async def receive() -> Any:
        return incoming.pop(0) if incoming else {"type": "http.disconnect"}

    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    with structlog.testing.capture_logs() as logged:
        await house.app(scope, receive, send)
    assert [one for one in logged if one["log_level"] in ("error", "critical")] == []
    assert b"gone" in b"".join(one.get("body", b"") for one in sent)


def test_there_are_files_for_as_many_connections_as_there_may_be() -> None:
    resource = pytest.importorskip("resource")
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < 600:
        pytest.skip("expected a system that lets a process have 600 files, got another")
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (512, hard))
        allow_files(600)
        assert resource.getrlimit(resource.RLIMIT_NOFILE) == (600, hard)
        allow_files(550)  # never fewer than there were
        assert resource.getrlimit(resource.RLIMIT_NOFILE) == (600, hard)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.mark.parametrize("role", [Role.AUDITOR, Role.SHIFT_MANAGER], ids=str)
@connected()
async def test_staff_who_look_at_everything_again_and_again_do_not_hold_the_writer(
    house: Connected, role: Role
) -> None:
    line = await house.came_as(role)
    told = [(await line.answer("rounds", table="T1"))["type"] for _ in range(40)]
    assert told == ["rounds"] * 20 + ["refused"] * 20
    await house.pass_(1)
    assert (await line.answer("rounds", table="T1"))["type"] == "rounds"

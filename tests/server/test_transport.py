"""Lines: frames written as they are, texts heard at once; neither overtakes what came before it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
import uvicorn
from uvicorn.server import ServerState
from websockets.protocol import State

from taisai.listening.requests import LimitedHttpProtocol
from taisai.server.connections.feeds import DIRECT_TRANSPORT, AsgiMessage, Outbox
from taisai.server.connections.transport import protocol_within
from tests.server.sim.virtual import VirtualLoop
from tests.server.test_attacks_stopping import BOUNDS, UPGRADE, Wire, frame
from tests.server.virtual_server import run


class Served:
    """A connection, and what its application hears of it."""

    def __init__(self, *, at_once: bool) -> None:
        self.heard: list[str] = []
        self.waited_for: list[AsgiMessage] = []
        self.line: Any = None
        self.wire = Wire()
        self._at_once = at_once

    async def _serve(self, scope: Any, receive: Any, send: Any) -> None:
        await receive()
        await send({"type": "websocket.accept"})
        self.line = scope["extensions"][DIRECT_TRANSPORT]["line"]
        if self._at_once:
            self.line.on_text = self.heard.append
        while (message := await receive())["type"] == "websocket.receive":
            self.waited_for.append(message)

    def dial(self, loop: VirtualLoop) -> Served:
        """Asks for the socket."""

        async def app(scope: Any, receive: Any, send: Any) -> None:
            await self._serve(scope, receive, send)

        config = uvicorn.Config(
            app, ws=protocol_within(BOUNDS), http=LimitedHttpProtocol, lifespan="off", loop="none",
            log_config=None, access_log=False, ws_per_message_deflate=False, ws_ping_interval=None,
        )  # fmt: skip
        config.load()
        self.wire.protocol = LimitedHttpProtocol(config, ServerState(), {}, loop)
        self.wire.protocol.connection_made(self.wire)
        self.wire.protocol.data_received(UPGRADE)
        return self

    def says(self, *frames: bytes) -> None:
        """The client sends frames, all at once."""
        self.wire.protocol.data_received(b"".join(frames))


def part(says: bytes, *, opcode: int, last: bool) -> bytes:
    """A part of a text."""
    whole = frame(opcode, says)
    return whole if last else bytes([whole[0] & 0x7F]) + whole[1:]


def test_a_text_is_heard_at_once() -> None:
    async def story(loop: VirtualLoop) -> None:
        served = Served(at_once=True).dial(loop)
        await asyncio.sleep(1)
        served.says(frame(says=b"one"), frame(says="二".encode()))
        assert served.heard == ["one", "二"]
        await asyncio.sleep(1)
        assert served.waited_for == []

    run(story)


def test_a_text_in_parts_is_whole_and_none_overtakes_it() -> None:
    async def story(loop: VirtualLoop) -> None:
        served = Served(at_once=True).dial(loop)
        await asyncio.sleep(1)
        served.says(
            part(b"first ", opcode=1, last=False), part(b"half", opcode=0, last=True), frame(says=b"next")
        )
        assert served.heard == []  # it came while the one before it was still waited for
        await asyncio.sleep(1)
        assert [one["text"] for one in served.waited_for] == ["first half", "next"]
        served.says(frame(says=b"third"))
        assert served.heard == ["third"]

    run(story)


def test_bytes_that_are_no_text_end_the_connection() -> None:
    async def story(loop: VirtualLoop) -> None:
        served = Served(at_once=True).dial(loop)
        await asyncio.sleep(1)
        served.says(frame(says=b"\xff\xfe"))
        await asyncio.sleep(1)
        assert served.heard == []
        assert served.wire.is_shut
        assert b"\x03\xef" in served.wire.sent  # 1007: not what a text is made of

    run(story)


def test_without_anyone_to_hear_texts_are_waited_for() -> None:
    async def story(loop: VirtualLoop) -> None:
        served = Served(at_once=False).dial(loop)
        await asyncio.sleep(1)
        served.says(frame(says=b"one"))
        await asyncio.sleep(1)
        assert [one["text"] for one in served.waited_for] == ["one"]

    run(story)


def test_nothing_is_written_to_a_client_that_takes_nothing_or_goes() -> None:
    async def story(loop: VirtualLoop) -> None:
        served = Served(at_once=True).dial(loop)
        await asyncio.sleep(1)
        assert served.line.write(b"frame")
        assert served.wire.sent.endswith(b"frame")
        served.line.pause_writing()
        assert not served.line.write(b"more")
        served.line.resume_writing()
        assert served.line.write(b"more")
        served.says(frame(0x8, b"\x03\xe8"))
        assert served.line.conn.state is not State.OPEN
        assert not served.line.write(b"too late")
        assert b"too late" not in served.wire.sent

    run(story)


class Fickle:
    """A line that is written to only when it likes."""

    def __init__(self) -> None:
        self.on_text: Callable[[str], None] | None = None
        self.takes = True
        self.written: list[bytes] = []

    def write(self, frame: bytes) -> bool:
        """Takes a frame, or does not."""
        if self.takes:
            self.written.append(frame)
        return self.takes

    def admitted(self) -> None:
        """Makes no difference to it."""


@pytest.mark.parametrize("many", [1, 3], ids=["one", "three"])
def test_what_the_line_does_not_take_is_sent_and_nothing_twice(many: int) -> None:
    async def story(_loop: VirtualLoop) -> None:
        line, sent = Fickle(), list[AsgiMessage]()

        async def send(message: AsgiMessage) -> None:
            sent.append(message)

        outbox = Outbox(send, lambda: None, line)
        for turn in range(4):
            line.takes = turn % 2 == 0
            for number in range(many):
                outbox.put(b'"%d-%d"' % (turn, number))
            outbox.flush()
        texts = [",".join(f'"{turn}-{number}"' for number in range(many)) for turn in range(4)]
        expected = [bytes([0x81, len(text) + 2]) + f"[{text}]".encode() for text in texts]
        assert line.written == expected[::2]
        assert [one["text"] for one in sent] == [f"[{text}]" for text in texts[1::2]]

    run(story)

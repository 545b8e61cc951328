"""Sockets: one connection each, from its challenge to its end; what it asks is answered, in order or refused."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping
from typing import TYPE_CHECKING, Any, Final

import msgspec

from taisai.floor.parties import VISITOR, Party
from taisai.floor.telling import encoded
from taisai.wire.asks import ASKS
from taisai.wire.message import MOST_MESSAGE, Ask
from taisai.wire.tells import TellEnd, TellRefused

if TYPE_CHECKING:
    from taisai.floor.floor import Floor
    from taisai.wire.message import Tell

    AnyAsk = Ask
else:
    from typing import Union

    AnyAsk = Union[ASKS]

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

MOST_OUTBOX: Final = 1_000  # tells that wait for a slow client; one more, and it is cut off
MOST_OUTBOX_BYTES: Final = 4 * 1024 * 1024
POLICY: Final = 1008
TRY_AGAIN: Final = 1013
decode_ask: Final = msgspec.json.Decoder(AnyAsk, strict=True).decode
_WITHOUT_ID: Final = msgspec.json.Decoder(dict[str, Any])


class Socket:
    """One connection."""

    __slots__ = (
        "_bytes", "_closing", "_floor", "_outbox", "_receive", "_send", "_tasks", "_wake", "address",
        "credit", "credit_at", "following", "nonce", "party",
    )  # fmt: skip

    def __init__(self, floor: Floor, receive: Receive, send: Send, address: str) -> None:
        self._floor = floor
        self._receive = receive
        self._send = send
        self._outbox: list[bytes] = []
        self._bytes = 0
        self._wake = asyncio.Event()
        self._closing: tuple[int, str] | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self.address = address
        self.nonce = ""
        self.party: Party = VISITOR
        self.following: set[str] = set()
        self.credit = 0.0
        """What is left of the asks that it may make now."""
        self.credit_at = 0

    # Telling

    def tell(self, body: bytes) -> None:
        """Puts a tell in the outbox; a client that does not take its post is cut off and may come back."""
        self._outbox.append(body)
        self._bytes += len(body)
        if len(self._outbox) > MOST_OUTBOX or self._bytes > MOST_OUTBOX_BYTES:
            self._outbox.clear()
            self._bytes = 0
            self._floor.metrics.cut_off()
            self.end("slow", "expected a client that takes what it is told, got one that does not", TRY_AGAIN)

    def flush(self) -> None:
        """Sends what is in the outbox, all in one message."""
        self._wake.set()

    def say(self, tell: Tell) -> None:
        """Tells something at once."""
        self.tell(encoded(tell))
        self._wake.set()

    def end(self, why: str, message: str, code: int = POLICY) -> None:
        """Says why, and closes."""
        if self._closing is None:
            self._outbox.append(encoded(TellEnd(why=why, message=message)))
            self._closing = (code, why)
            self._wake.set()

    @property
    def is_closing(self) -> bool:
        """Whether nothing more is heard from it."""
        return self._closing is not None

    # Its life

    async def run(self) -> None:
        """From the challenge to the end."""
        writing = asyncio.get_running_loop().create_task(self._write())
        reading = asyncio.get_running_loop().create_task(self._read())
        try:
            await asyncio.wait((writing, reading), return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in (writing, reading, *self._tasks):
                task.cancel()
            await asyncio.gather(writing, reading, *self._tasks, return_exceptions=True)
            self._floor.gone(self)

    async def _write(self) -> None:
        send, wake = self._send, self._wake
        while True:
            await wake.wait()
            wake.clear()
            if self._outbox:
                outbox, self._outbox, self._bytes = self._outbox, [], 0
                text = b"[" + b",".join(outbox) + b"]" if len(outbox) > 1 else b"[" + outbox[0] + b"]"
                await send({"type": "websocket.send", "text": text.decode()})
            if self._closing is not None and not self._outbox:
                code, why = self._closing
                await send({"type": "websocket.close", "code": code, "reason": why})
                return

    async def _read(self) -> None:
        receive, asked = self._receive, self._asked
        while True:
            message = await receive()
            if message["type"] != "websocket.receive":
                return
            if self._closing is None:
                asked(message.get("text"))

    def _asked(self, text: str | None) -> None:
        """One ask; whatever it is, it gets an answer."""
        try:
            if text is None or len(text) > MOST_MESSAGE:
                got = "bytes" if text is None else f"{len(text)} characters"
                self._refuse("bad-message", f"expected a text of at most {MOST_MESSAGE} bytes, got {got}")
                return
            ask = decode_ask(text)
        except (msgspec.DecodeError, UnicodeEncodeError, RecursionError) as error:
            self._refuse("bad-message", _told(error), id_=_id_in(text or ""))
            return
        self._floor.asked(self, ask)

    def _refuse(self, reason: str, message: str, id_: str | None = None) -> None:
        self.say(TellRefused(re=id_, reason=reason, message=message))

    def spawn(self, work: Awaitable[None]) -> None:
        """Does something that takes its time, beside everything else."""
        task = asyncio.ensure_future(work)
        self._tasks.add(task)  # type: ignore[arg-type]
        task.add_done_callback(self._tasks.discard)  # type: ignore[arg-type]

    @property
    def at_work(self) -> int:
        """How many of its asks are being worked on."""
        return len(self._tasks)


def _told(error: Exception) -> str:
    """What was wrong with a message: msgspec says what was expected, what came, and where."""
    return f"expected an ask of the wire, got something else: {error or type(error).__name__}"


def _id_in(text: str) -> str | None:
    """The id of an ask that cannot be read otherwise, so that its sender knows which it was."""
    try:
        found = _WITHOUT_ID.decode(text).get("id")
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        return None
    return found if isinstance(found, str) and len(found) <= 64 else None

"""The bare limit: uvicorn and msgspec, an echo and a broadcast, and nothing else."""

from __future__ import annotations

import asyncio
import sys
from typing import Any

import msgspec
import uvicorn
import uvloop

from taisai.game.commands import Slip
from taisai.server.runtime.serving import listening


class Bets(msgspec.Struct, forbid_unknown_fields=True, tag_field="type", tag="do"):
    """What a terminal sends, in the form of the server's own request."""

    id: str
    table: str
    do: Do


class Do(msgspec.Struct, forbid_unknown_fields=True, tag_field="command", tag="place-bets"):
    """Its bets."""

    round: int
    seat: str
    bets: tuple[Slip, ...]


class Reply(msgspec.Struct, tag_field="type", tag="done"):
    """The acknowledgement."""

    to: str
    seat: str


_decode = msgspec.json.Decoder(Bets).decode
_encode = msgspec.json.Encoder().encode
_open: list[Any] = []


async def app(scope: Any, receive: Any, send: Any) -> None:
    """Decodes, answers, and remembers who is there."""
    if scope["type"] != "websocket":
        return
    await receive()
    await send({"type": "websocket.accept"})
    _open.append(send)
    while (message := await receive())["type"] == "websocket.receive":
        request = _decode(message["text"])
        text = "[" + _encode(Reply(request.id, request.do.seat)).decode() + "]"
        await send({"type": "websocket.send", "text": text})


async def _broadcast(size: int) -> None:
    text = "[" + "1" * (size - 2) + "]"
    for send in _open:
        await send({"type": "websocket.send", "text": text})


async def main() -> None:
    """Serves until standard input ends; each line of it is the size of a broadcast."""
    at = listening("127.0.0.1", 0)
    config = uvicorn.Config(
        app, ws="websockets-sansio", loop="none", http="httptools", lifespan="off", access_log=False,
        ws_per_message_deflate=False, log_level="warning", backlog=2048,
    )  # fmt: skip
    server = uvicorn.Server(config)
    serving = asyncio.create_task(server.serve(sockets=[at]))
    print(at.getsockname()[1], flush=True)
    reader = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), sys.stdin
    )
    while line := await reader.readline():
        await _broadcast(int(line))
        print("done", flush=True)
    server.should_exit = True
    server.force_exit = True
    await serving


if __name__ == "__main__":
    uvloop.run(main())

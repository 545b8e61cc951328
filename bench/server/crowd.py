"""A crowd of clients in one process: as little between the wire and the count as there can be."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Final, cast

_UPGRADE: Final = (
    "GET /socket HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"
)
AT_ONCE: Final = 200
"""Connections that are opened side by side."""


class Client(asyncio.Protocol):
    """One connection: text frames in and out, masked with nothing."""

    def __init__(self, heard: Callable[[Client, bytes], None], number: int) -> None:
        self._heard = heard
        self._buffer = b""
        self._is_open = False
        self._transport: asyncio.Transport | None = None
        self.opened: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.number = number

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Asks for a socket."""
        self._transport = cast("asyncio.Transport", transport)
        port = self._transport.get_extra_info("peername")[1]
        self._transport.write(_UPGRADE.format(port=port).encode())

    def connection_lost(self, _error: Exception | None) -> None:
        """Nothing is heard any more."""
        if not self.opened.done():
            self.opened.set_exception(ConnectionError("expected a socket, got none"))

    def data_received(self, data: bytes) -> None:
        """Whole frames are heard one by one."""
        data = self._buffer + data if self._buffer else data
        if not self._is_open:
            head, found, data = data.partition(b"\r\n\r\n")
            if not found:
                self._buffer = head
                return
            assert head.startswith(b"HTTP/1.1 101"), head
            self._is_open = True
            self.opened.set_result(None)
        place, end = 0, len(data)
        while end - place >= 2:
            length, start = data[place + 1], place + 2
            if length == 126:
                start += 2
                length = int.from_bytes(data[place + 2 : start], "big")
            elif length == 127:
                start += 8
                length = int.from_bytes(data[place + 2 : start], "big")
            if end < start + length or end < start:
                break
            if data[place] & 0x0F == 1:
                self._heard(self, data[start : start + length])
            elif data[place] & 0x0F == 9:  # a floor that hears nothing of a client for long lets it go
                self._frame(0x8A, data[start : start + length])
            place = start + length
        self._buffer = data[place:]

    def send(self, text: bytes) -> None:
        """One text frame."""
        self._frame(0x81, text)

    def _frame(self, kind: int, body: bytes) -> None:
        assert self._transport is not None
        length = len(body)
        head = (
            bytes((kind, 0x80 | length)) if length < 126 else bytes((kind, 0xFE)) + length.to_bytes(2, "big")
        )
        self._transport.write(head + b"\0\0\0\0" + body)

    def close(self) -> None:
        """Goes away."""
        if self._transport is not None:
            self._transport.abort()


async def crowd(port: int, many: int, heard: Callable[[Client, bytes], None]) -> list[Client]:
    """So many clients, all connected."""
    loop = asyncio.get_running_loop()
    clients: list[Client] = []
    for start in range(0, many, AT_ONCE):
        opening = [
            loop.create_connection(partial(Client, heard, number), "127.0.0.1", port)
            for number in range(start, min(many, start + AT_ONCE))
        ]
        made = [client for _, client in await asyncio.gather(*opening)]
        await asyncio.gather(*(client.opened for client in made))
        clients += made
    return clients

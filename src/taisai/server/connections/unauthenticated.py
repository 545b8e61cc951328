"""Strangers: connections that have not said who they are, for how long, and how many there may be."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import TYPE_CHECKING, Final

from taisai.server.auth.rate_limits import network_of

if TYPE_CHECKING:
    from taisai.server.connections.sockets import Socket

HELLO_WITHIN: Final = 10.0  # seconds: a device signs a challenge in a few milliseconds
TRY_AGAIN: Final = 1013


class Strangers:
    """They may fill a part of the house, never all of it, and only for a moment."""

    def __init__(self, sockets: int) -> None:
        """`sockets`: how many connections there may be in all."""
        self.most = max(1, sockets // 2)
        self.most_of_network = max(1, sockets // 4)  # a whole floor may come back from behind one address
        self._waiting: dict[Socket, tuple[str, asyncio.TimerHandle]] = {}
        self._networks: Counter[str] = Counter()

    def came(self, socket: Socket) -> None:
        """Someone is there; where there are too many like him, whoever has said nothing for longest goes."""
        network = network_of(socket.address)
        if self._networks[network] >= self.most_of_network:
            self._send_away(next(one for one, (of, _) in self._waiting.items() if of == network))
        elif len(self._waiting) >= self.most:
            self._send_away(next(iter(self._waiting)))
        timer = asyncio.get_running_loop().call_later(HELLO_WITHIN, self._late, socket)
        self._waiting[socket] = (network, timer)
        self._networks[network] += 1

    def is_one(self, socket: Socket) -> bool:
        """Whether nobody knows who it is."""
        return socket in self._waiting

    def said_hello(self, socket: Socket) -> None:
        """He has said something of himself, or is gone."""
        waiting = self._waiting.pop(socket, None)
        if waiting is not None:
            network, timer = waiting
            timer.cancel()
            self._networks[network] -= 1
            if not self._networks[network]:
                del self._networks[network]

    def _send_away(self, socket: Socket) -> None:
        """The newcomer may be a terminal that signs at once: to refuse him would be to let the silent win."""
        socket.end("full", "expected fewer connections that do not say who they are, got more", TRY_AGAIN)
        self.said_hello(socket)

    def _late(self, socket: Socket) -> None:
        says = f"expected a hello within {HELLO_WITHIN:g} seconds, got none"
        socket.end("silent", says)
        self.said_hello(socket)

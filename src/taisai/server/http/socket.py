"""The socket's door: where it comes from, and how many there are already."""

from __future__ import annotations

from collections.abc import MutableMapping
from typing import TYPE_CHECKING, Any, Final

from taisai.server.connections.outbox import LINE, Send
from taisai.server.connections.sockets import Receive, Socket
from taisai.server.http.guard import is_ours

if TYPE_CHECKING:
    from taisai.server.connections.dispatcher import Floor

PATH: Final = "/socket"


async def serve_socket(floor: Floor, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
    """One connection over WebSocket; a stranger's is refused before it is open."""
    message = await receive()
    if message["type"] != "websocket.connect":
        return
    if scope["path"] != PATH or not is_ours(floor, scope["headers"], origin_needed=True):
        await send({"type": "websocket.close", "code": 1008, "reason": "origin"})
        return
    await send({"type": "websocket.accept"})
    client = scope.get("client")
    line = (scope.get("extensions") or {}).get(LINE, {}).get("line")
    socket = Socket(floor, receive, send, client[0] if client else "unknown", line)
    floor.came(socket)
    await socket.run()

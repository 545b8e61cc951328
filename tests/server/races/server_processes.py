"""Floors in processes of their own: opened, asked, killed and buried, each by its own id."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path
from types import TracebackType
from typing import Self

import msgspec

from tests.server.races.server_process import HOST, MOST_LINE, Order, Request, Told, Wish

ROOT = Path(__file__).parents[3]


class Server:
    """One server: what it listens at, and the line to its people."""

    def __init__(self, processes: Servers, order: Order, pid: int, line: socket.socket) -> None:
        self.order = order
        self.pid = pid
        self.port = 0
        self._processes = processes
        self._line = line
        self._is_buried = False
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    @property
    def url(self) -> str:
        """Where its socket is."""
        return f"ws://{HOST}:{self.port}/socket"

    async def ready(self) -> Self:
        """It listens."""
        self._streams = await asyncio.open_connection(sock=self._line, limit=MOST_LINE)
        self.port = (await self._told()).port
        return self

    async def _told(self) -> Told:
        assert self._streams is not None
        text = await self._streams[0].readline()
        assert text, f"expected a floor that answers, got one that is gone:\n{self._processes.said()}"
        return msgspec.json.decode(text, type=Told)

    async def wish(self, wish: Wish) -> Told:
        """Its people do something."""
        assert self._streams is not None
        self._streams[1].write(msgspec.json.encode(wish) + b"\n")
        return await self._told()

    async def step(self) -> str:
        """The next step of the round; the phase after it."""
        told = await self.wish(Wish(step=True))
        assert not told.refused, told.refused
        return told.phase

    async def until(self, phase: str) -> None:
        """Steps until the round is in a phase."""
        for _ in range(40):
            if await self.step() == phase:
                return
        raise AssertionError(f"expected the round to come to {phase}, got none of it")

    async def token(self, person: str) -> str:
        """A session of someone."""
        told = await self.wish(Wish(admit=person))
        assert told.token, told.refused
        return told.token

    def kill(self) -> None:
        """Kill -9: it is gone in the middle of whatever it does."""
        os.kill(self.pid, signal.SIGKILL)
        status = self._bury()
        assert os.WIFSIGNALED(status), self._processes.said()

    async def stop(self) -> None:
        """It stops as it should."""
        self._close()
        status = await asyncio.to_thread(self._bury)
        assert status == 0, f"expected a server that stops, got {status}:\n{self._processes.said()}"

    def gone(self) -> None:
        """Whatever state it is in, it is no more."""
        if not self._is_buried:
            os.kill(self.pid, signal.SIGKILL)
            self._bury()

    def _bury(self) -> int:
        status = self._processes.asked(Request(bury=self.pid))
        self._is_buried = True
        self._close()
        return status

    def _close(self) -> None:
        if self._streams is not None:
            self._streams[1].close()
        else:
            self._line.close()


class Servers:
    """The warm process from which servers are forked, so that one is there in a moment."""

    def __init__(self, folder: Path) -> None:
        self._said = folder / "said.txt"
        ours, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with its, self._said.open("wb") as said:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tests.server.races.server_process", str(its.fileno())], cwd=ROOT,
                stdin=subprocess.DEVNULL, stdout=said, stderr=said, pass_fds=(its.fileno(),),
            )  # fmt: skip
        self._asking = ours
        self._servers: list[Server] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.clear()
        self._asking.close()
        self._process.wait(60)

    def clear(self) -> None:
        """No server is left."""
        for server in self._servers:
            server.gone()
        self._servers.clear()

    def said(self) -> str:
        """What servers have said when something went wrong, the end of it."""
        return self._said.read_text(errors="replace")[-4_000:]

    async def open(self, order: Order) -> Server:
        """Opens a server, which listens when it is returned."""
        return await self.forked(order).ready()

    def forked(self, order: Order) -> Server:
        """Opens a server, which has hardly begun when it is returned."""
        ours, its = socket.socketpair()
        with its:
            pid = self.asked(Request(open=order), its)
        ours.settimeout(0)
        server = Server(self, order, pid, ours)
        self._servers.append(server)
        return server

    def asked(self, request: Request, line: socket.socket | None = None) -> int:
        """Asks the warm process, which answers at once or when a server is at its end."""
        text = msgspec.json.encode(request)
        if line is not None:
            socket.send_fds(self._asking, [text], [line.fileno()])
        else:
            self._asking.send(text)
        told = self._asking.recv(64)
        assert told, f"expected an answer, got none:\n{self.said()}"
        return int(told)

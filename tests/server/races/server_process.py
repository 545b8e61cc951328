"""A server in a process of its own, which may be killed; and the warm process that such ones are forked from.

Whoever starts it holds a line to it. A server stops when its line is closed, and in any case after a while.
"""

from __future__ import annotations

import asyncio
import os
import secrets
import signal
import socket
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import Any, Final

import msgspec
import uvloop
from msgspec.structs import replace

from taisai.game.commands import Command
from taisai.game.refusals import Refusal
from taisai.journal import Answer, Engine, Journal, open_store
from taisai.protocol.commands import command, completed
from taisai.rules import rulebook
from taisai.rules.errors import RulesError
from taisai.server.auth.credentials import Cost, Passwords
from taisai.server.auth.sessions import NewSession, SessionPolicy
from taisai.server.projections.console import console_view
from taisai.server.runtime.command_queue import CommandQueue
from taisai.server.runtime.environment import WallClock
from taisai.server.runtime.house_server import HouseServer
from taisai.server.runtime.plan import ConnectionLimits, HousePlan, TablePlan
from taisai.server.runtime.serving import Serving, listening
from tests.server.projections.filled_offers import command_of, filled, who
from tests.server.races.race_house import CURRENCY, KEY, LIMITS, STREAM, TABLE, WAITS, ZONE, journal_in
from tests.server.races.sabotages import SABOTAGES

HOST: Final = "127.0.0.1"
PORTS: Final = range(20_000, 32_000)
"""Below those that systems hand out."""
ENDS_AFTER: Final = 180  # seconds after which a server is no more, whoever has forgotten it
MOST_LINE: Final = 1 << 20


class Order(msgspec.Struct, frozen=True, kw_only=True):
    """Which server to open."""

    folder: str
    book: str
    port: int = 0
    window: int | None = None
    sabotage: str | None = None
    ahead: int = 0
    """Milliseconds by which its clock is ahead of the machine's."""
    ends_after: int = ENDS_AFTER


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """What the warm process is to do: open a server, or wait for the end of one."""

    open: Order | None = None
    bury: int | None = None


class Wish(msgspec.Struct, frozen=True, kw_only=True):
    """What a server's own people do, without a connection of their own."""

    step: bool = False
    """The next step of the round, as the console offers it."""
    admit: str | None = None
    """A session for someone."""
    by: str = ""
    second: str | None = None
    do: dict[str, Any] | None = None
    """A command at the table."""


class Told(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What came of it."""

    port: int = 0
    phase: str = ""
    refused: str = ""
    why: Refusal | None = None
    """The same, whole."""
    token: str = ""


# One server


class _Clock(WallClock):
    """The machine's clock, or ahead of it."""

    def __init__(self, ahead: int) -> None:
        self._ahead = ahead

    def now(self) -> int:
        """Milliseconds since 1970."""
        return super().now() + self._ahead


class _Server:
    """A casino that is served until its line is closed."""

    def __init__(self, casino: HouseServer, order: Order) -> None:
        self._casino = casino
        self._order = order
        self._random = Random(0)

    async def answer(self, wish: Wish) -> Told:
        """Does what is wished."""
        if wish.admit is not None:
            signed = await self._casino.authentication.admitted(
                wish.admit, address="races", now=self._casino.clock.now()
            )
            return Told(token=signed.token) if isinstance(signed, NewSession) else Told(refused=str(signed))
        asked: Command | None
        if wish.do is not None:
            fields = {name: value for name, value in wish.do.items() if name != "command"}
            sent = command(wish.do["command"], **fields)
            asked = completed(sent, at=self._casino.clock.now(), by=wish.by, second=wish.second)  # type: ignore[assignment]
        else:
            asked = await self._casino.queue.run(self._next)
        answer: Answer = ()
        if asked is not None:
            answer = await self._casino.queue.execute(STREAM, replace(asked, at=self._casino.clock.now()))
        phase = await self._casino.queue.run(lambda engine: str(engine.table(TABLE).phase))
        if isinstance(answer, Refusal):
            return Told(phase=phase, refused=str(answer), why=answer)
        return Told(phase=phase)

    def _next(self, engine: Engine) -> Command | None:
        """The next step, filled in; none where it is the clock's, and the clock runs."""
        table, now = engine.table(TABLE), self._casino.clock.now()
        offer = next((one for one in console_view(table, now=now).offers if one.main), None)
        if offer is None or (offer.by == ("clock",) and self._order.window is not None):
            return None
        by = who(table, offer, self._random)
        assert by is not None, f"expected someone at the table for {offer}"
        fields = filled(table, offer, by, self._random)
        assert fields is not None, f"expected a second person for {offer}"
        return command_of(offer, fields, at=now, by=by)


def _listening(port: int) -> socket.socket:
    """A socket on a port, or on one that nobody's outgoing connection can take while the server is away.

    Where nobody listens, a client that tries again and again may be given its own port and meet itself.
    """
    while not port:
        with suppress(RulesError):
            return listening(HOST, PORTS.start + secrets.randbelow(len(PORTS)))
    return listening(HOST, port)


async def _served(order: Order, line: socket.socket) -> None:
    engine = Engine(Journal(open_store(journal_in(Path(order.folder)), wait=WAITS)))
    sabotage = SABOTAGES[order.sabotage] if order.sabotage is not None else None
    clock = _Clock(order.ahead)
    if sabotage is None or sabotage.recovers:
        engine.recover(at=clock.now())
    at = _listening(order.port)
    port: int = at.getsockname()[1]
    plan = HousePlan(
        house="Races", currency=CURRENCY, zone=ZONE, origins=frozenset({f"http://{HOST}:{port}"}),
        tables=[TablePlan(name=TABLE, book=rulebook(order.book), limits=LIMITS, window=order.window)],
        bounds=ConnectionLimits(
            asks_a_second=1_000_000, burst=1_000_000, bets_a_round=10**9, sockets_of_device=1_000,
            sockets_of_person=1_000,
        ),
        policy=SessionPolicy(most_per_person=100),
    )  # fmt: skip
    casino = HouseServer(
        engine, plan, clock=clock, entropy=secrets.token_bytes, key=KEY, make_queue=sabotage or CommandQueue,
        passwords=Passwords(secrets.token_bytes, Cost(time=1, memory=8, parallelism=1)),
    )  # fmt: skip
    await casino.start()
    ready = asyncio.Event()
    serving = Serving(casino, at, signals=False, on_ready=ready.set)
    served = asyncio.ensure_future(serving.run())
    await ready.wait()
    reader, writer = await asyncio.open_connection(sock=line, limit=MOST_LINE)
    writer.write(msgspec.json.encode(Told(port=port)) + b"\n")
    server = _Server(casino, order)
    while not served.done():  # a server that lost its journal ends by itself
        reading = asyncio.ensure_future(reader.readline())
        await asyncio.wait((reading, served), return_when=asyncio.FIRST_COMPLETED)
        if not reading.done():
            reading.cancel()
            break
        if not (wished := reading.result()):
            break
        told = await server.answer(msgspec.json.decode(wished, type=Wish))
        writer.write(msgspec.json.encode(told) + b"\n")
    serving.stop()
    await served
    engine.journal.close()
    writer.close()


def _opened(order: Order, line: socket.socket) -> None:
    signal.alarm(order.ends_after)
    uvloop.run(_served(order, line))


# The warm process


def _forked(work: Callable[[], None]) -> int:
    child = os.fork()
    if child:
        return child
    status = 1
    try:
        work()
        status = 0
    except BaseException:  # noqa: BLE001  it is told where whoever waits for the server finds it
        sys.excepthook(*sys.exc_info())
    finally:
        sys.stderr.flush()
        os._exit(status)


def main(descriptor: int) -> None:
    """Forks a server for every request that opens one, until nobody is there to ask."""
    with socket.socket(fileno=descriptor) as asking:
        while True:
            text, descriptors, _, _ = socket.recv_fds(asking, MOST_LINE, 1)
            if not text:
                return
            request = msgspec.json.decode(text, type=Request)
            if request.open is not None:
                line, order = socket.socket(fileno=descriptors[0]), request.open

                def opened(order: Order = order, line: socket.socket = line) -> None:
                    asking.close()
                    _opened(order, line)

                told = _forked(opened)
                line.close()
            else:
                assert request.bury is not None
                told = os.waitpid(request.bury, 0)[1]
            asking.send(b"%d" % told)


if __name__ == "__main__":
    main(int(sys.argv[1]))

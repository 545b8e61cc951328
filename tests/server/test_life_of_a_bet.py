"""One bet from the bytes that come in to the bytes that go out: which functions it passes, in which order.

Everything is real: the protocol of the web server, the queue's own thread, SQLite with full sync. Only the
network is a transport that keeps what is written to it. A step is a function of the package `taisai` that is
called from the arrival of the bet's bytes to the writing of its acknowledgement. A function nested in another
counts as that one; properties and special methods only read or make a value and do not count.

The server's part is everything except what the game decides and what the journal does below the engine.
"""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from types import FrameType
from typing import Any, Final

import msgspec
import pytest
import uvicorn
from uvicorn.server import ServerState

from taisai.game.commands import Perform
from taisai.journal import Engine, Journal, SqliteStore, stream_of
from taisai.listening.requests import LimitedHttpProtocol
from taisai.protocol.message import PROTOCOL_VERSION
from taisai.rules import Act
from taisai.server.auth.permissions import Role
from taisai.server.connections.transport import protocol_within
from taisai.server.http.app import application
from taisai.server.runtime.house_server import HouseServer
from taisai.server.runtime.plan import HousePlan, TablePlan
from tests.server.sim.virtual import VirtualClock
from tests.server.test_attacks_stopping import UPGRADE, Wire
from tests.server.virtual_server import HOST, KEY, LIMITS, MANY, ORIGIN, PEOPLE, _book, furnished, signature

MOST_FUNCTIONS: Final = 23  # of the server's part
MOST_MODULES: Final = 10
MOST_IN_ALL: Final = 37  # with game and journal
MOST_MODULES_IN_ALL: Final = 18
LATER: Final = frozenset({"taisai.journal.engine:Engine.save", "taisai.journal.journal:Journal.version"})
"""Snapshots are saved after the reply is handed over to the loop, perhaps before it is sent."""
PATIENCE: Final = 10.0  # seconds that the server has for each reply


class Steps:
    """Notes the functions of `taisai` that are called, in the order of their first calls, while it is on."""

    def __init__(self) -> None:
        self.names: dict[str, None] = {}
        self.is_on = False

    def note(self, frame: FrameType, event: str, _argument: object) -> None:
        """Called by the interpreter for each call of a function."""
        if event != "call" or not self.is_on:
            return
        module = str(frame.f_globals.get("__name__", ""))
        if module.startswith("taisai.") and not frame.f_code.co_filename.startswith("<"):
            function = frame.f_code.co_qualname.partition(".<locals>")[0]
            if not function.startswith("<") and not _is_value(module, function):
                self.names[f"{module}:{function}"] = None

    def steps(self) -> list[str]:
        """All steps, in the order in which the bet comes to them."""
        return [name for name in self.names if name not in LATER]

    def of_server(self) -> list[str]:
        """The steps of the server's part."""
        return [
            name for name in self.steps() if name.startswith(("taisai.server.", "taisai.journal.engine:"))
        ]


def _is_value(module: str, function: str) -> bool:
    """Whether a function is a property or a special method."""
    owner: Any = sys.modules[module]
    *classes, name = function.split(".")
    for one in classes:
        owner = getattr(owner, one)
    return name.startswith("__") or isinstance(vars(owner).get(name), property)


def modules_of(steps: list[str]) -> list[str]:
    """The modules of steps."""
    return list(dict.fromkeys(step.partition(":")[0] for step in steps))


@contextmanager
def profiled() -> Iterator[Steps]:
    """In this thread, and in every thread that begins here."""
    steps = Steps()
    threading.setprofile(steps.note)
    sys.setprofile(steps.note)
    try:
        yield steps
    finally:
        sys.setprofile(None)
        threading.setprofile(None)


class _Wire(Wire):
    """Says when something is written; then no more steps are noted."""

    def __init__(self, steps: Steps) -> None:
        super().__init__()
        self.written = asyncio.Event()
        self._steps = steps

    def write(self, data: Any) -> None:
        """The client gets it."""
        self._steps.is_on = False
        super().write(data)
        self.written.set()


class Terminal:
    """A terminal's connection, at the level of bytes."""

    def __init__(self, server: HouseServer, steps: Steps) -> None:
        self.wire = _Wire(steps)
        config = uvicorn.Config(
            application(server.dispatcher), ws=protocol_within(MANY), http=LimitedHttpProtocol,
            lifespan="off", loop="none", log_config=None, access_log=False, ws_per_message_deflate=False,
            ws_ping_interval=None,
        )  # fmt: skip
        config.load()
        loop = asyncio.get_running_loop()
        self.wire.protocol = LimitedHttpProtocol(config, ServerState(), {}, loop)
        self.wire.protocol.connection_made(self.wire)
        self._ids = count(1)
        head = b"Host: %b\r\nOrigin: %b" % (HOST.encode(), ORIGIN.encode())
        self.wire.protocol.data_received(UPGRADE.replace(b"Host: floor.test", head))

    def send(self, kind: str, **fields: Any) -> str:
        """Sends a request as the bytes of a frame; returns its id."""
        id_ = f"a{next(self._ids)}"
        text = msgspec.json.encode({"type": kind, "id": id_, **fields})
        head = bytes([0x81, 0xFE]) + len(text).to_bytes(2)  # a text, masked with zeros, of so many bytes
        self.wire.protocol.data_received(head + bytes(4) + text)
        return id_

    async def reply(self, text: str) -> bytes:
        """All that was sent, once it has this text in it."""
        async with asyncio.timeout(PATIENCE):
            while text.encode() not in self.wire.sent:
                self.wire.written.clear()
                await self.wire.written.wait()
        return self.wire.sent

    async def ask(self, kind: str, **fields: Any) -> None:
        """Sends a request, and waits for its reply."""
        await self.reply(f'"to":"{self.send(kind, **fields)}"')


async def life_of_a_bet(path: Path) -> tuple[Steps, bytes]:
    """The steps of one bet at a table whose seat is followed; and what the terminal is sent for it."""
    store = SqliteStore(path)
    store.append(list(furnished().rows()))
    engine = Engine(Journal(store))
    plan = HousePlan(
        house="Lotus", currency="SGD", zone="Asia/Singapore", origins=frozenset({ORIGIN}), bounds=MANY,
        tables=[TablePlan(name="T1", book=_book(), limits=LIMITS)],
    )  # fmt: skip
    loop: Any = asyncio.get_running_loop()
    with profiled() as steps:
        server = HouseServer(engine, plan, clock=VirtualClock(loop), entropy=bytes, key=KEY)
        opened = Perform(at=server.clock.now(), by=PEOPLE[Role.DEALER], act=Act.OPEN_BETS)
        assert isinstance(await server.queue.execute(stream_of("T1"), opened), tuple)
        terminal = Terminal(server, steps)
        challenge = await terminal.reply('"nonce":"')
        nonce = challenge.partition(b'"nonce":"')[2].partition(b'"')[0].decode()
        await terminal.ask("hello", protocol=PROTOCOL_VERSION, device="P1", signature=signature("P1", nonce))
        await terminal.ask("follow", feed="seat:T1/1")
        for number in range(2):  # the first bet of a seat makes what the others find
            slip = {"id": f"b{number}", "area": "small", "stake": 100}
            bet = {"command": "place-bets", "round": 1, "seat": "1", "bets": [slip]}
            terminal.wire.sent = b""
            steps.is_on = number == 1
            await terminal.ask("do", table="T1", do=bet)
        await asyncio.get_running_loop().run_in_executor(None, server.queue.close)
        store.close()
        return steps, terminal.wire.sent


STEPS: Final = """
taisai.server.connections.transport:LimitedWebSocketProtocol.data_received
taisai.server.connections.transport:LimitedWebSocketProtocol.handle_text
taisai.server.connections.sockets:Socket.receive
taisai.server.connections.dispatcher:Dispatcher.handle
taisai.server.connections.dispatcher:Dispatcher.place_bets
taisai.server.runtime.command_queue:CommandQueue.submit
taisai.server.runtime.command_queue:CommandQueue._push
taisai.server.runtime.command_queue:CommandQueue._work
taisai.journal.engine:Engine.outcomes
taisai.journal.engine:Engine._decide
taisai.game.play:decide
taisai.game.betting.placing:place
taisai.game.betting.placing:_registered
taisai.game.betting.placing:_refusal
taisai.game.play:evolve
taisai.game.betting.stakes:on_registered
taisai.game.money.ledger:Ledger.move
taisai.game.betting.stakes:lay
taisai.journal.journal:Journal.append
taisai.journal.seals.merkle:Frontier.append
taisai.journal.stores.sqlite:SqliteStore.append
taisai.journal.stores.sqlite:SqliteStore._transaction
taisai.journal.stores.sqlite:SqliteStore._expect_fence
taisai.journal.stores.contract:check_order
taisai.server.projections.house_feeds:HouseFeeds.frames
taisai.server.projections.table_feeds:TableFeeds.apply
taisai.server.projections.seats:SeatFeeds.send_bets
taisai.server.projections.feed_writer:FeedWriter.send
taisai.server.projections.feed_writer:FeedWriter.take_frames
taisai.server.runtime.command_queue:CommandQueue._deliver
taisai.server.connections.feeds:Feeds.publish
taisai.server.connections.feeds:Outbox.put
taisai.server.connections.sockets:Socket.reply
taisai.server.connections.feeds:Feeds.flush
taisai.server.connections.feeds:Outbox.flush
taisai.server.connections.feeds:_frame
taisai.server.connections.transport:LimitedWebSocketProtocol.write
"""


@pytest.fixture(scope="module")
def bet(tmp_path_factory: pytest.TempPathFactory) -> tuple[Steps, bytes]:
    """The steps of one bet, and the bytes that the terminal is sent for it."""
    return asyncio.run(life_of_a_bet(tmp_path_factory.mktemp("life") / "journal.db"))


def test_a_bet_passes_few_functions(bet: tuple[Steps, bytes]) -> None:
    server, every = bet[0].of_server(), bet[0].steps()
    assert len(server) <= MOST_FUNCTIONS, "\n".join(server)
    assert len(modules_of(server)) <= MOST_MODULES, modules_of(server)
    assert len(every) <= MOST_IN_ALL, "\n".join(every)
    assert len(modules_of(every)) <= MOST_MODULES_IN_ALL, modules_of(every)


def test_these_are_the_steps(bet: tuple[Steps, bytes]) -> None:
    assert bet[0].steps() == STEPS.split()


def test_the_bet_is_published_before_it_is_acknowledged(bet: tuple[Steps, bytes]) -> None:
    text = bet[1].decode("utf-8", "replace")
    assert 0 <= text.index('"type":"change"') < text.index('"type":"done"')

"""A server in one process and in virtual time: connections without a network, requests without a server."""

from __future__ import annotations

import asyncio
import inspect
from collections import deque
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from functools import cache, partial
from hashlib import sha256
from itertools import count
from random import Random
from typing import Any, Final, NamedTuple, TypeVar

import jsonschema_rs
import msgspec
from litestar import Litestar

from taisai.cage import FLOOR_LADDER, FLOOR_SECOND
from taisai.cage.messages import BringIn, DeviceKind, EnrolDevice, EnrolPerson, OpenHouse
from taisai.client.connection import Device
from taisai.game.commands import Assign, BuyCredits, Limits, OpenTable, Perform, TakeSeat
from taisai.game.refusals import Refusal
from taisai.game.vocabulary import HOUSE as BY_THE_HOUSE
from taisai.journal import Engine, Journal, MemoryStore, SigningKey, Store, Submission, stream_of
from taisai.journal.codec import HOUSE_STREAM, AnyCommand
from taisai.protocol.message import PROTOCOL_VERSION
from taisai.protocol.replies import socket_schema
from taisai.protocol.requests import device_text
from taisai.protocol.views import Words
from taisai.rules import Act, Rulebook, rulebook
from taisai.server.auth.credentials import Cost, Passwords
from taisai.server.auth.permissions import DEVICES, STAFF, RateLimit, Role
from taisai.server.auth.sessions import NewSession, SessionPolicy
from taisai.server.config.tables import DiceIn
from taisai.server.http.app import Application, application, serve_socket, web_of
from taisai.server.runtime.house_server import HouseServer
from taisai.server.runtime.plan import ConnectionLimits, HousePlan, TablePlan
from taisai.server.runtime.witness_links import WitnessLink
from tests.server.sim import virtual
from tests.server.sim.simulated_queue import SimulatedQueue
from tests.server.sim.virtual import VirtualClock, VirtualLoop

T = TypeVar("T")
Tell = dict[str, Any]
Who = str | NewSession | None
"""A device, someone with a session, or nobody."""
HOST: Final = "floor.test"
ORIGIN: Final = f"https://{HOST}"
AWAY: Final = "192.0.2.7"
HERE: Final = "127.0.0.1"
"""The server's own machine."""
KEY: Final = SigningKey.new("connected", seed=bytes(range(32)))
BOOK: Final = "rws-sic-bo-etg-v8"
PEOPLE: Final = {role: f"{role} Tan" for role in Role if role in STAFF}
"""Someone of every rank."""
PLACES: Final = {
    "P1": (DeviceKind.TERMINAL, "T1", "1"),
    "P2": (DeviceKind.TERMINAL, "T1", "2"),
    "Q1": (DeviceKind.TERMINAL, "T2", "1"),
    "D1": (DeviceKind.DISPLAY, "T1", None),
    "S1": (DeviceKind.SHAKER, "T1", None),
}
"""Devices, and where they are."""
BY_ROLE: Final = {Role.TERMINAL: "P1", Role.DISPLAY: "D1", Role.SHAKER: "S1"}
TINY: Final = Cost(time=1, memory=8, parallelism=1)
MANY: Final = ConnectionLimits(
    asks_a_second=10_000_000, burst=10_000_000, requests_a_second=1_000, bets_a_round=10**9
)
CREDITS: Final = 50_000


def device(name: str) -> Device:
    """A device with a key of its own."""
    return Device.of(name, name.encode().ljust(32, b"-"))


def signature(name: str, nonce: str) -> str:
    """What a device answers to a challenge."""
    return device(name).key.sign(device_text(name, bytes.fromhex(nonce))).hex()


class Line:
    """One connection, seen from the client's side; sends wait while it is stalled."""

    def __init__(self, house: Connected, scope: dict[str, Any]) -> None:
        self.told: list[Tell] = []
        """Everything that the server said, in order."""
        self.messages: list[str] = []
        self.closed: tuple[int, str] | None = None
        """The code and the reason of the server's close."""
        self.is_open = False
        self.ids = count(1)
        self._incoming: deque[dict[str, Any]] = deque([{"type": "websocket.connect"}])
        self._wake: asyncio.Event = asyncio.Event()
        self._taking = asyncio.Event()
        self._taking.set()
        self._house = house
        self.serving = asyncio.get_running_loop().create_task(self._served(scope))

    # The server's side

    async def _served(self, scope: dict[str, Any]) -> None:
        await serve_socket(self._house.dispatcher, scope, self._receive, self._send)

    async def _receive(self) -> dict[str, Any]:
        while not self._incoming:
            self._wake.clear()
            await self._wake.wait()
        return self._incoming.popleft()

    async def _send(self, message: Any) -> None:
        if not self._taking.is_set():
            await self._taking.wait()
        if message["type"] == "websocket.accept":
            self.is_open = True
        elif message["type"] == "websocket.send":
            self.messages.append(message["text"])
            told = msgspec.json.decode(message["text"])
            tells_schema().validate(told)
            self.told += told
        else:
            self.is_open, self.closed = False, (message["code"], message["reason"])
            self.puts({"type": "websocket.disconnect", "code": message["code"]})

    # The client's side

    def puts(self, message: dict[str, Any]) -> None:
        """Something arrives at the server."""
        self._incoming.append(message)
        self._wake.set()

    def sends(self, text: str) -> None:
        """A text arrives at the server."""
        self.puts({"type": "websocket.receive", "text": text})

    def asks(self, kind: str, **fields: Any) -> str:
        """An ask arrives at the server; its id."""
        id_ = fields.pop("id", None) or f"a{next(self.ids)}"
        self.sends(msgspec.json.encode({"type": kind, "id": id_, **fields}).decode())
        return id_

    def hangs_up(self) -> None:
        """The client is gone."""
        self.is_open = False
        self.puts({"type": "websocket.disconnect", "code": 1006})

    def stalls(self) -> None:
        """The client takes nothing any more."""
        self._taking.clear()

    def goes_on(self) -> None:
        """It does again."""
        self._taking.set()

    # Together

    async def answer(self, kind: str, **fields: Any) -> Tell:
        """The answer to an ask; an AssertionError where there is none."""
        id_ = self.asks(kind, **fields)
        await self._house.settle()
        return self.answer_to(id_)

    def answer_to(self, id_: str) -> Tell:
        """The one answer that an ask got."""
        found = [tell for tell in self.told if tell.get("to") == id_]
        assert len(found) == 1, f"expected one answer to {id_!r}, got {found} (of {self.told[-3:]})"
        return found[0]

    def bets(self, count_: int = 1, *, seat: str = "1", area: str = "small", stake: int = 100) -> list[str]:
        """Bets arrive at the server, one an ask; the ids of the asks."""
        ids = [f"b{seat}-{next(self.ids)}" for _ in range(count_)]
        for id_ in ids:
            bets = [{"id": id_, "area": area, "stake": stake}]
            self.asks(
                "do", id=id_, table="T1", do={"command": "place-bets", "round": 1, "seat": seat, "bets": bets}
            )
        return ids

    async def reply(self, text: str) -> Tell:
        """What the server says to a text, whatever it is."""
        before = len(self.told)
        self.sends(text)
        await self._house.settle()
        assert len(self.told) == before + 1, self.told[before:]
        return self.told[-1]

    async def hello(self, who: Who = None) -> Tell:
        """Comes in: as a device, as someone with a session, or as nobody."""
        if isinstance(who, NewSession | NewSession):
            return await self.answer("hello", protocol=PROTOCOL_VERSION, token=who.token)
        if who is None:
            return await self.answer("hello", protocol=PROTOCOL_VERSION)
        return await self.answer(
            "hello", protocol=PROTOCOL_VERSION, device=who, signature=signature(who, self.nonce)
        )

    @property
    def nonce(self) -> str:
        """The challenge."""
        assert self.told[0]["type"] == "challenge"
        return str(self.told[0]["nonce"])

    def of(self, kind: str) -> list[Tell]:
        """The tells of a kind."""
        return [tell for tell in self.told if tell["type"] == kind]


class Response(NamedTuple):
    """What a request got."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def said(self) -> Any:
        """The body, as JSON."""
        return msgspec.json.decode(self.body)

    @property
    def reason(self) -> str | None:
        """Why it was refused."""
        said = self.said if self.headers.get("content-type", "").startswith("application/json") else None
        return said.get("reason") if isinstance(said, dict) else None


def _entropy() -> Callable[[int], bytes]:
    drawn = count(1)
    return lambda size: sha256(b"%d" % next(drawn)).digest().ljust(size, b"e")[:size]


class Connected:
    """A casino with its application, in a virtual loop."""

    def __init__(
        self,
        loop: VirtualLoop,
        store: Store | None = None,
        *,
        demonstration: bool = False,
        bounds: ConnectionLimits = MANY,
        policy: SessionPolicy | None = None,
        sign_ins: RateLimit | None = None,
        extra: Callable[[HouseServer], Iterable[Any]] = lambda _casino: (),
        links: Sequence[WitnessLink] = (),
        notes: Mapping[str, Words] | None = None,
    ) -> None:
        self.loop = loop
        self.clock = VirtualClock(loop)
        self.store = store or furnished(demonstration=demonstration)
        engine = Engine(Journal(self.store))
        entropy = _entropy()
        self.engine = engine
        self.casino = HouseServer(
            engine,
            HousePlan(
                house="Lotus", currency="SGD", zone="Asia/Singapore", origins=frozenset({ORIGIN}),
                bounds=bounds,
                policy=policy or SessionPolicy(most_per_person=10_000, most=100_000),
                sign_ins=sign_ins or RateLimit(burst=100_000, every=1),
                tables=[
                    TablePlan(
                        name=name, book=_book(), limits=LIMITS, demonstration=demonstration,
                        dice=DiceIn.DEVICE if name == "T1" else DiceIn.KEYS,
                    )
                    for name in ("T1", "T2", "T3")
                ],
            ),
            clock=self.clock, entropy=entropy, key=KEY, passwords=Passwords(entropy, TINY),
            make_queue=partial(SimulatedQueue, chance=_Never(), slow=0.0), links=links,
            notes=notes,
        )  # fmt: skip
        self.dispatcher = self.casino.dispatcher
        self.door = self.casino.authentication
        self.lines: list[Line] = []
        """Every connection there was."""
        self._extra = list(extra(self.casino))
        self._app: Application | None = None

    async def settle(self) -> None:
        """Until everyone who has something to do has done it."""
        await asyncio.sleep(0.001)

    async def pass_(self, seconds: float) -> None:
        """Time goes by."""
        await asyncio.sleep(seconds)

    # Connections

    def dials(self, *, path: str = "/socket", **headers: str) -> Line:
        """A new connection."""
        given = {"host": HOST} | {name.replace("_", "-"): value for name, value in headers.items()}
        scope = {
            "type": "websocket", "path": path, "client": ("192.0.2.7", 1),
            "headers": [(name.encode(), value.encode()) for name, value in given.items()],
        }  # fmt: skip
        line = Line(self, scope)
        self.lines.append(line)  # nobody else may hold on to it
        return line

    async def line(self, **headers: str) -> Line:
        """A connection that was challenged."""
        line = self.dials(**headers)
        await self.settle()
        assert line.is_open, line.closed
        return line

    async def came(self, who: Who) -> Line:
        """A connection that came in."""
        line = await self.line()
        welcome = await line.hello(who)
        assert welcome["type"] == "welcome", welcome
        return line

    async def came_as(self, role: Role) -> Line:
        """A connection of a role."""
        if role is Role.VISITOR:
            return await self.came(None)
        return await self.came(BY_ROLE[role] if role in DEVICES else self.session(role))

    def session(self, role: Role | str) -> NewSession:
        """A session of someone of a rank, as a sign-in opens it."""
        opened = self.door.sessions.opened(PEOPLE[Role(role)], str(role), self.clock.now())
        assert opened is not None
        return opened

    async def signed_in(self, role: Role | str) -> NewSession:
        """The same, and the journal has it."""
        now, person = self.clock.now(), PEOPLE[Role(role)]
        signed = await self.door._open_session(person, str(role), address="192.0.2.7", now=now)
        assert isinstance(signed, NewSession), signed
        return signed

    # Requests

    async def request(
        self,
        method: str,
        path: str,
        body: object = None,
        *,
        session: NewSession | None = None,
        raw: bytes | None = None,
        client: str = AWAY,
        scheme: str = "https",
        **headers: str,
    ) -> Response:
        """What a request gets from a client at an address; headers are named with underscores."""
        content = raw if raw is not None else b"" if body is None else msgspec.json.encode(body)
        given = {"host": HOST, "content-length": str(len(content))}
        if content:
            given["content-type"] = "application/json"
        if session is not None:
            given["authorization"] = f"Bearer {session.token}"
        given |= {name.replace("_", "-"): value for name, value in headers.items()}
        plain, _, query = path.partition("?")
        scope = {
            "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": method,
            "scheme": scheme,
            "path": plain, "raw_path": plain.encode(), "query_string": query.encode(), "root_path": "",
            "headers": [(name.encode(), value.encode("latin-1")) for name, value in given.items() if value],
            "client": (client, 1), "server": (HOST, 443), "state": {}, "extensions": {},
        }  # fmt: skip
        incoming = deque([{"type": "http.request", "body": content, "more_body": False}])
        sent: list[Any] = []

        async def receive() -> dict[str, Any]:
            if incoming:
                return incoming.popleft()
            await asyncio.Event().wait()
            raise AssertionError

        async def send(message: Any) -> None:
            sent.append(message)

        await self.app(scope, receive, send)
        start = sent[0]
        found = {name.decode().lower(): value.decode("latin-1") for name, value in start["headers"]}
        return Response(start["status"], found, b"".join(one.get("body", b"") for one in sent[1:]))

    # What there is

    @property
    def app(self) -> Application:
        """What a server serves; made when it is asked for, since most tests need sockets alone."""
        if self._app is None:
            self._app = application(self.dispatcher, extra=self._extra)
        return self._app

    @property
    def web(self) -> Litestar:
        """The endpoints, to be looked at."""
        return web_of(self.dispatcher, extra=self._extra)

    def do(self, command: AnyCommand, table: str | None = None, book: Rulebook | None = None) -> Any:
        """Asks the queue, outside of any connection; to be awaited."""
        return self.casino.queue.execute(HOUSE_STREAM if table is None else stream_of(table), command, book)

    async def opens_bets(self, table: str = "T1") -> None:
        """The Dealer opens a round."""
        act = Perform(at=self.clock.now(), by=PEOPLE[Role.DEALER], act=Act.OPEN_BETS)
        answer = await self.do(act, table)
        assert not isinstance(answer, Refusal), answer

    def rows(self) -> list[Any]:
        """The journal, row by row."""
        return list(self.store.rows())

    def events(self, after: int = 0) -> list[Any]:
        """The journal's events."""
        return [entry.event for entry in self.engine.journal.entries(after=after)]


class _Never(Random):
    """Chance that is none: the disk is always as quick as it can be."""

    def uniform(self, a: float, b: float) -> float:  # noqa: ARG002  the names are theirs
        """The least."""
        return a


LIMITS: Final = Limits(least=100, most=20_000)
_MADE: Final[dict[bool, MemoryStore]] = {}
_BOOKS: Final[dict[str, Rulebook]] = {}


def _book() -> Rulebook:
    if BOOK not in _BOOKS:
        _BOOKS[BOOK] = rulebook(BOOK)
    return _BOOKS[BOOK]


def furnished(*, demonstration: bool = False) -> MemoryStore:
    """Lotus as it is before anyone comes, with two tables, T3 planned and a device at every kind of place."""
    if demonstration not in _MADE:
        _MADE[demonstration] = _furnished(demonstration=demonstration)
    store = MemoryStore()
    store.append(list(_MADE[demonstration].rows()))
    return store


def _furnished(*, demonstration: bool) -> MemoryStore:
    store, at = MemoryStore(), virtual.START - 60_000
    journal = Journal.opened(
        store,
        journal="connected",
        key=KEY.public,
        at=at,
        by="olga",
        program="taisai",
        demonstration=demonstration,
    )
    engine = Engine(journal)

    def done(command: AnyCommand, stream: str = HOUSE_STREAM, book: Rulebook | None = None) -> None:
        answer = engine.answer_all([Submission(stream, command, book)])[0]
        assert not isinstance(answer, Refusal), f"{command}: {answer}"

    by: Any = {"at": at, "by": "olga"}
    done(OpenHouse(**by, house="Lotus", currency="SGD", ladder=FLOOR_LADDER, second_rank=FLOOR_SECOND))
    head = PEOPLE[Role.SHIFT_MANAGER]
    for role in reversed(PEOPLE):
        second = head if head in engine.house().people else None
        done(EnrolPerson(**by, person=PEOPLE[role], rank=str(role), second=second))
    done(BringIn(at=at, by=PEOPLE[Role.CASHIER], id="capital", amount=100_000_000, second=head))
    for name, (kind, table, seat) in PLACES.items():
        done(EnrolDevice(**by, device=name, kind=kind, key=device(name).public, table=table, seat=seat))
    for table in ("T1", "T2"):
        stream = stream_of(table)
        opening = OpenTable(
            at=at, by=head, rank="shift-manager", table=table, limits=LIMITS, currency="SGD",
            day="2026-11-15", zone="Asia/Singapore", demonstration=demonstration,
        )  # fmt: skip
        done(opening, stream, _book())
        for role in (Role.DEALER, Role.PIT_SUPERVISOR):
            done(
                Assign(at=at, by=BY_THE_HOUSE, person=PEOPLE[role], rank=str(role), position=str(role)),
                stream,
            )
    for name, (kind, table, seat) in PLACES.items():
        if kind is DeviceKind.TERMINAL and seat is not None:
            stream = stream_of(table)
            done(
                TakeSeat(at=at, by=name, seat=seat, player=f"player {name}", terminal=name, layout="B"),
                stream,
            )
            done(BuyCredits(at=at, by=name, seat=seat, amount=CREDITS), stream)
    return store


def connected(**options: Any) -> Callable[[Callable[..., Coroutine[Any, Any, None]]], Callable[..., None]]:
    """Makes a test of what is played at a server of its own, in virtual time."""

    def made(test: Callable[..., Coroutine[Any, Any, None]]) -> Callable[..., None]:
        def played(*given: Any, **named: Any) -> None:
            async def main(loop: VirtualLoop) -> None:
                await test(Connected(loop, **options), *given, **named)

            run(main)

        signature_ = inspect.signature(test)
        played.__name__, played.__doc__, played.__module__ = test.__name__, test.__doc__, test.__module__
        others = list(signature_.parameters.values())[1:]  # pytest gives the others
        played.__signature__ = signature_.replace(parameters=others)  # type: ignore[attr-defined]
        return played

    return made


@cache
def tells_schema() -> Any:
    """What the published schema says of tells; whatever any server of these tests says is held against it."""
    published = socket_schema()
    return jsonschema_rs.validator_for({"$defs": published["$defs"], **published["properties"]["messages"]})


def run(main: Callable[[VirtualLoop], Coroutine[Any, Any, T]]) -> T:
    """Runs something in virtual time."""
    return virtual.run(main, most=1_000_000.0)

"""The floor: who is connected, what they may ask, and who answers."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Mapping
from functools import partial
from typing import Any, Final

import msgspec
import structlog

from taisai.cage import EnrolledDevice
from taisai.cage.messages import DeviceDismissed, SignOutCause
from taisai.game.refusals import Refusal
from taisai.journal import stream_of
from taisai.journal.codec import HOUSE_STREAM
from taisai.protocol import requests
from taisai.protocol.message import PROTOCOL_VERSION, Request, ServerMessage
from taisai.protocol.replies import (
    ChallengeNotice,
    PongReply,
    RefusedReply,
    WelcomeReply,
)
from taisai.server.auth import permissions
from taisai.server.auth.authentication import Authentication
from taisai.server.auth.permissions import DEVICES, VISITOR, Principal, Role, role_of
from taisai.server.auth.rate_limits import RateLimit, RateLimiter
from taisai.server.auth.sessions import EndedSession, Session, digest_of
from taisai.server.auth.verification import device_proof
from taisai.server.connections.sockets import TRY_AGAIN, Socket, UnauthenticatedSockets, follow, unfollow
from taisai.server.handlers import commands, positions
from taisai.server.handlers.registry import HANDLERS
from taisai.server.http.built_pages import NO_PAGES, BuiltPages
from taisai.server.replies import FAULT, refused
from taisai.server.runtime.command_queue import CommandQueue, Committed
from taisai.server.runtime.environment import Clock, Entropy
from taisai.server.runtime.metrics import UNREADABLE, Metrics
from taisai.server.runtime.plan import HousePlan

MOST_AT_WORK: Final = 32  # asks of one socket that are worked on at a time
_log = structlog.get_logger(__name__)
_SELDOM: Final = frozenset({"keep-favourite", "ticket-out"})
"""Asks that a player makes now and then: each leaves something behind for good, or costs the disk a write."""
_LONG: Final = frozenset({"rounds"})
"""Asks that, of staff, go through everybody's bets while the next ones wait."""
canonical: Final = msgspec.json.Encoder(order="sorted").encode


def approved_form(ask: Request) -> bytes:
    """What a second person agrees to: the ask, whatever its id, in its one canonical form."""
    plain = msgspec.to_builtins(ask)
    plain.pop("approval", None)
    plain.pop("id", None)
    return canonical(plain)


class Dispatcher:
    """Everything that is connected."""

    def __init__(
        self,
        queue: CommandQueue,
        authentication: Authentication,
        plan: HousePlan,
        *,
        clock: Clock,
        entropy: Entropy,
        demonstration: bool,
        metrics: Metrics,
        pages: BuiltPages = NO_PAGES,
        dealers: Mapping[str, asyncio.Event] | None = None,
    ) -> None:
        """`dealers`: table → set while its virtual dealer deals."""
        self.queue = queue
        self.authentication = authentication
        self.plan = plan
        self.clock = clock
        self.entropy = entropy
        self.demonstration = demonstration
        self.metrics = metrics
        self.pages = pages
        self.dealers = dealers or {}
        self.bounds = plan.bounds
        self.sockets: dict[Socket, None] = {}
        self._unauthenticated = UnauthenticatedSockets(self.bounds.sockets)
        a_second = self.bounds.requests_a_second
        self._rare_requests = RateLimiter(RateLimit(burst=20, every=2_000))
        self._long_requests = RateLimiter(RateLimit(burst=20, every=500))
        self.requests = RateLimiter(RateLimit(burst=4 * a_second, every=max(1, 1_000 // a_second)))
        self.at_work: set[asyncio.Task[None]] = set()
        """Requests that are worked on, also for clients that have disconnected since."""
        self._by_session: dict[str, set[Socket]] = {}
        self._by_device: dict[str, set[Socket]] = {}
        authentication.sessions.on_end(self._session_ended)
        queue.listeners += (self._on_commit, metrics.count_rounds)
        metrics.gauge("taisai_sockets", "Open connections", lambda: len(self.sockets))
        metrics.gauge("taisai_sessions", "People signed in", lambda: len(authentication.sessions))
        metrics.gauge("taisai_writer_queue", "Commands that wait to be durable", lambda: queue.waiting)

    # Connections

    def connect(self, socket: Socket) -> None:
        """Takes a new connection, and challenges it."""
        self.sockets[socket] = None
        socket.nonce = self.entropy(32).hex()
        socket.credit = self.bounds.burst
        socket.credit_at = self.clock.steady()
        socket.say(
            ChallengeNotice(
                protocol=PROTOCOL_VERSION, program=self.plan.program, nonce=socket.nonce,
                epoch=self.queue.feeds.epoch,
                demonstration=self.demonstration, now=self.clock.now(), pages=self.pages.digest,
            )
        )  # fmt: skip
        if len(self.sockets) > self.bounds.sockets:
            most = self.bounds.sockets
            socket.end("full", f"too many connections: expected at most {most}", TRY_AGAIN)
        else:
            self._unauthenticated.add(socket)

    def disconnect(self, socket: Socket) -> None:
        """Forgets a connection that is over."""
        self.sockets.pop(socket, None)
        self._unauthenticated.remove(socket)
        for feed in socket.following:
            self.queue.feeds.unfollow(feed, socket)
        for register, key in (
            (self._by_session, socket.principal.session),
            (self._by_device, socket.principal.name),
        ):
            if key and key in register:
                register[key].discard(socket)
                if not register[key]:
                    del register[key]

    def _session_ended(self, session: Session, why: SignOutCause) -> None:
        for socket in list(self._by_session.get(session.id, ())):
            socket.end(str(why), f"the session has ended ({why})")

    def _on_commit(self, committed: Committed) -> None:
        if committed.stream != HOUSE_STREAM:
            return
        self.authentication.heard(committed.events)
        for event in committed.events:
            if isinstance(event, DeviceDismissed):
                for socket in list(self._by_device.get(event.device, ())):
                    socket.end("revoked", "the device was dismissed: it has to be enrolled again")

    # Requests

    def handle(self, socket: Socket, request: Request) -> None:
        """Answers a request, at once or as soon as the answer is durable."""
        kind = type(request)
        self.metrics.asks[kind] += 1
        if socket.credit > 0:
            socket.credit -= 1
        elif not self._has_earned(socket):
            self._refuse_too_often(socket, request.id)
            return
        if kind is requests.HelloRequest:
            self._hello(socket, request)  # type: ignore[arg-type]
        elif kind is requests.PingRequest:  # a page pings by itself: its person has done nothing
            socket.say(PongReply(to=request.id, now=self.clock.now()))
        elif socket.principal.session is not None and (ended := self._ended(socket.principal)) is not None:
            socket.say(refused(request.id, "signed-out", ended))
        elif kind is requests.DoRequest:
            commands.do(self, socket, request)  # type: ignore[arg-type]
        elif kind is requests.FollowRequest:
            follow(self, socket, request)  # type: ignore[arg-type]
        elif kind is requests.UnfollowRequest:
            unfollow(self, socket, request)  # type: ignore[arg-type]
        else:
            self._other(socket, request)

    def refuse_unreadable(self, socket: Socket, problem: str, id_: str | None = None) -> None:
        """Answers what is no request; it counts as one, so that a client cannot keep the server busy."""
        self.metrics.asks[UNREADABLE] += 1
        if socket.credit > 0:
            socket.credit -= 1
        elif not self._has_earned(socket):
            self._refuse_too_often(socket, id_)
            return
        socket.say(refused(id_, "bad-message", problem))

    def _refuse_too_often(self, socket: Socket, id_: str | None) -> None:
        most = self.bounds.asks_a_second
        socket.say(refused(id_, "too-often", f"too many requests: expected at most {most} a second"))

    def _has_earned(self, socket: Socket) -> bool:
        """Whether time has brought new credit; the clock is read only when a burst is used up."""
        now, bounds = self.clock.steady(), self.bounds
        earned = (now - socket.credit_at) * bounds.asks_a_second // 1000
        if earned < 1:
            return False
        socket.credit = min(bounds.burst, earned) - 1
        socket.credit_at = now
        return True

    def _ended(self, principal: Principal) -> str | None:
        """Why a session is over; else its person has just done something."""
        now = self.clock.now()
        session = self.authentication.sessions.at(principal.session or "", now)
        if isinstance(session, EndedSession):
            return session.message
        self.authentication.sessions.touch(session.id, now)
        return None

    def _other(self, socket: Socket, ask: Any) -> None:
        kind = str(ask.__struct_config__.tag)
        table, seat = getattr(ask, "table", None), getattr(ask, "seat", None)
        wrong = self.may_not(socket.principal, permissions.REQUESTS.get(kind), table, seat)
        if wrong is not None:
            socket.say(refused(ask.id, "not-permitted", wrong, "house:access"))
        elif self.is_overworked(socket):
            self.refuse_more(socket, ask.id)
        elif kind in _SELDOM and not self._rare_requests.takes(socket.principal.name, self.clock.steady()):
            socket.say(refused(ask.id, "too-often", "expected such an ask now and then, got more of them"))
        elif kind in _LONG and not self._may_look_long(socket.principal):
            socket.say(refused(ask.id, "too-often", "expected a long look now and then, got more"))
        else:
            work = HANDLERS[type(ask)](self, socket.principal, ask)
            socket.spawn(self.answered(socket, ask, work))

    def _may_look_long(self, principal: Principal) -> bool:
        """Whether a party may have the writer's thread for long again; a terminal's own rounds are few."""
        return principal.session is None or self._long_requests.takes(principal.name, self.clock.steady())

    def is_overworked(self, socket: Socket) -> bool:
        """Whether as much is being done for a socket as may be at a time."""
        return socket.at_work >= MOST_AT_WORK

    def refuse_more(self, socket: Socket, id_: str) -> None:
        """Refuses one more."""
        says = f"expected at most {MOST_AT_WORK} asks to be worked on at a time, got one more"
        socket.say(refused(id_, "too-often", says))

    def may_not(
        self, principal: Principal, permit: permissions.Permission | None, table: str | None, seat: str | None
    ) -> str | None:
        """Why a party may not do something."""
        return permissions.refusal(
            permit,
            principal.role,
            own=principal.own,
            table=table,
            seat=seat,
            demonstration=self.demonstration,
        )

    async def answered(self, socket: Socket, ask: Request, work: Awaitable[ServerMessage | None]) -> None:
        """Tells what the work for an ask came to, unless that tells it itself; a fault is an answer too."""
        tell: ServerMessage | None
        try:
            tell = await work
        except Exception as error:  # noqa: BLE001  whatever it is, the ask is answered
            _log.exception("an ask failed", ask=type(ask).__name__, principal=repr(socket.principal))
            tell = refused(ask.id, FAULT, f"expected an answer, got a fault: {type(error).__name__}")
        if tell is not None:
            socket.say(tell)

    async def finished(self) -> None:
        """Waits until whatever is being done for someone is done."""
        await asyncio.gather(*self.at_work, return_exceptions=True)

    async def second(self, principal: Principal, ask: Any) -> str | RefusedReply | None:
        """The second person who approved exactly this ask; None where nobody was asked to."""
        if ask.approval is None:
            return None
        digest = digest_of(approved_form(ask))
        by = self.authentication.approvals.used(
            ask.approval, digest, asker=principal.session or "", now=self.clock.now()
        )
        if by is None:
            says = "expected an approval of exactly this, not yet used, got another"
            return refused(ask.id, "second-person", says, "house:dual-control")
        wrong = await self._no_second(by, getattr(ask, "table", None))
        return by if wrong is None else refused(ask.id, wrong.reason, wrong.message, wrong.clause)

    async def _no_second(self, person: str, table: str | None) -> Refusal | None:
        """Why someone who approved is no second person; at a table they are recorded as having come."""
        rank = await self.queue.run(lambda engine: engine.house().people.get(person, ""))
        if role_of(rank) not in permissions.SECOND_PERSONS:
            return positions.not_of_rank(
                f"one of {', '.join(sorted(permissions.SECOND_PERSONS))}", rank or person
            )
        return None if table is None else await positions.bring_second(self, table, person)

    # Coming in

    def _hello(self, socket: Socket, ask: requests.HelloRequest) -> None:
        if ask.protocol != PROTOCOL_VERSION:
            socket.say(
                refused(
                    ask.id,
                    "protocol",
                    f"expected version {PROTOCOL_VERSION} of the protocol, got {ask.protocol}",
                )
            )
            socket.end("protocol", f"expected version {PROTOCOL_VERSION} of the protocol, got {ask.protocol}")
            return
        if socket.principal is not VISITOR or (ask.token is None and ask.device is None):
            self._come_in(socket, ask, VISITOR)
        elif ask.token is not None:
            session = self.authentication.sessions.of(ask.token, self.clock.now())
            if isinstance(session, EndedSession):
                self._stay_out(socket, ask, session.message)
            else:
                principal = Principal(role_of(session.rank), session.person, session=session.id)
                self._come_in(socket, ask, principal)
        else:
            # Called in order with what is published: no dismissal comes between the look and the entry.
            name = ask.device or ""
            found = partial(self._found, socket, ask, name)
            self.queue.submit_job(lambda engine: engine.house().devices.get(name), found)

    def _found(
        self,
        socket: Socket,
        ask: requests.HelloRequest,
        name: str,
        device: EnrolledDevice | BaseException | None,
    ) -> None:
        if socket not in self.sockets or socket.is_closing:
            return
        try:
            signature = bytes.fromhex(ask.signature or "")
        except ValueError:
            signature = b""
        nonce = bytes.fromhex(socket.nonce)
        is_known = isinstance(device, EnrolledDevice) and str(device.kind) in DEVICES
        if (
            not isinstance(device, EnrolledDevice)
            or not is_known
            or not device_proof(device.key, nonce, name, signature)
        ):
            says = "expected an enrolled device that signs the challenge with its own key, got another"
            self._stay_out(socket, ask, says)
            return
        self._come_in(
            socket, ask, Principal(Role(str(device.kind)), name, table=device.table, seat=device.seat)
        )

    def _stay_out(self, socket: Socket, ask: requests.HelloRequest, says: str) -> None:
        socket.say(refused(ask.id, "not-known", says, "house:access"))
        socket.end("not-known", says)

    def _come_in(self, socket: Socket, ask: requests.HelloRequest, principal: Principal) -> None:
        if socket.principal is not VISITOR:
            socket.say(refused(ask.id, "bad-message", "expected one hello, got another"))
            return
        if principal is not VISITOR or self.demonstration:  # elsewhere there is nothing for a visitor to do
            self._unauthenticated.remove(socket)
        socket.principal = principal
        socket.stream = stream_of(principal.table or "")
        if principal.session is not None:
            self._by_session.setdefault(principal.session, set()).add(socket)
        elif principal.role is not Role.VISITOR:
            self._by_device.setdefault(principal.name, set()).add(socket)
        socket.say(
            WelcomeReply(
                to=ask.id,
                role=principal.role,
                name=principal.name,
                table=principal.table,
                seat=principal.seat,
                currency=self.plan.currency,
            )
        )

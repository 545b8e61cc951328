"""The dispatcher: connections, their rates and permissions, and the handlers that answer."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from functools import partial
from typing import Any, Final

import structlog

from taisai.cage import EnrolledDevice
from taisai.cage.messages import DeviceDismissed, SignOutCause
from taisai.game.commands import PlaceBets
from taisai.game.events import BetsOpened
from taisai.journal import Submission, stream_of, table_of
from taisai.journal.codec import HOUSE_STREAM
from taisai.listening.accepting import network_of
from taisai.protocol import requests
from taisai.protocol.commands import tag_of
from taisai.protocol.message import PROTOCOL_VERSION, Request, ServerMessage
from taisai.protocol.replies import ChallengeNotice, PongReply, RefusedReply, WelcomeReply
from taisai.server.auth import permissions
from taisai.server.auth.authentication import Authentication
from taisai.server.auth.credentials import device_proof
from taisai.server.auth.permissions import (
    DEVICES,
    VISITOR,
    Principal,
    RateLimit,
    RateLimiter,
    Role,
)
from taisai.server.auth.security_log import SecurityLog
from taisai.server.auth.sessions import EndedSession, Session
from taisai.server.connections.approvals_feed import ApprovalsFeed
from taisai.server.connections.parties import (
    PLACE_BETS,
    RECORD_BETS,
    SLIPS_OF_REQUEST,
    WEIGHTS,
    CopiedKeys,
    CostlyRequests,
    Parties,
    too_many_bets,
    too_many_recorded,
)
from taisai.server.connections.sockets import TRY_AGAIN, Socket, UnauthenticatedSockets, follow, unfollow
from taisai.server.dice import entry as dice
from taisai.server.handlers import bet_shortcuts, cage, commands, queries, tickets
from taisai.server.handlers.context import FAULT, Context, Handler, MoneyGate, OpenGate, leaving, refused
from taisai.server.http.public import NO_PAGES, BuiltPages
from taisai.server.runtime.alarms import Alarms
from taisai.server.runtime.command_queue import CommandQueue, Committed
from taisai.server.runtime.environment import Clock, Entropy
from taisai.server.runtime.metrics import UNREADABLE, Metrics
from taisai.server.runtime.plan import HousePlan

MOST_AT_WORK: Final = 32  # requests of one device or person that are worked on at a time
APPROVALS_ASKED: Final = RateLimit(burst=20, every=3_000)  # of a session: each appears on many screens
_log = structlog.get_logger(__name__)
_WITH_BETS: Final = frozenset({PLACE_BETS, RECORD_BETS})
HANDLERS: Final[Mapping[type[Request], Handler]] = {
    requests.DoRequest: commands.do,
    requests.OpenTableRequest: commands.open_table,
    requests.TakePositionRequest: queries.take_position,
    requests.UndoRequest: bet_shortcuts.undo,
    requests.ClearRequest: bet_shortcuts.clear,
    requests.DoubleRequest: bet_shortcuts.double,
    requests.RepeatRequest: bet_shortcuts.repeat,
    requests.KeepFavouriteRequest: bet_shortcuts.keep_favourite,
    requests.FavouritesRequest: bet_shortcuts.favourites,
    requests.TicketInRequest: tickets.ticket_in,
    requests.TicketOutRequest: leaving(tickets.ticket_out),
    requests.TicketsRequest: tickets.tickets,
    requests.FeltRequest: queries.felt,
    requests.RoundsRequest: queries.rounds,
    requests.PreviewRequest: queries.look_before,
    requests.SellTicketRequest: cage.sell_ticket,
    requests.FillRequest: cage.fill,
    requests.TakeCreditRequest: cage.take_credit,
    requests.TakeDropRequest: cage.take_drop,
    requests.CountDropRequest: cage.count_drop,
    requests.SettleClaimRequest: leaving(cage.settle_claim),
    requests.BooksRequest: queries.books,
    requests.ReportRequest: queries.report,
    requests.ReadingRequest: dice.reading,
    requests.VirtualDealerRequest: queries.virtual,
}
"""Requests that take time. The dispatcher answers hello, ping, follow, unfollow and a terminal's bets."""


class Dispatcher:
    """All connections: checks the requests of each, and has handlers answer them."""

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
        alarms: Alarms,
        pages: BuiltPages = NO_PAGES,
        dealers: Mapping[str, asyncio.Event] | None = None,
        gate: MoneyGate | None = None,
    ) -> None:
        """`dealers`: table → set while its virtual dealer deals."""
        self.context = Context(
            queue=queue, plan=plan, clock=clock, entropy=entropy, approvals=authentication.approvals,
            dealers=dealers or {}, gate=gate or OpenGate(),
        )  # fmt: skip
        self.queue, self.authentication, self.plan = queue, authentication, plan
        self.clock, self.entropy = clock, entropy
        self.demonstration = demonstration
        self.metrics, self.alarms, self.pages = metrics, alarms, pages
        self.security = SecurityLog(clock)
        self.bounds = plan.bounds
        self.sockets: dict[Socket, None] = {}
        self._unauthenticated = UnauthenticatedSockets(self.bounds.sockets)
        self.parties = Parties(self.bounds)
        a_second = self.bounds.requests_a_second
        self._costly_requests = CostlyRequests()
        self._copies = CopiedKeys(queue, clock)
        self.approval_requests = RateLimiter(APPROVALS_ASKED)
        self.approvals_feed = ApprovalsFeed(authentication.approvals, self._publish)
        self.requests = RateLimiter(RateLimit(burst=4 * a_second, every=max(1, 1_000 // a_second)))
        self.at_work: set[asyncio.Task[None]] = set()
        """Requests that are worked on, also for clients that have disconnected since."""
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
        socket.send(
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
        socket.party.sockets.pop(socket, None)
        self._unauthenticated.remove(socket)
        for feed in socket.following:
            self.queue.feeds.unfollow(feed, socket.outbox)
        self.approvals_feed.unfollow(socket)

    def _publish(self, socket: Socket, body: bytes) -> None:
        """Puts a message in a connection's outbox; it is sent in the order of all messages."""
        socket.outbox.put(body)
        socket.outbox.flush()

    def _session_ended(self, session: Session, why: SignOutCause) -> None:
        for socket in list(self.sockets):
            if socket.principal.session == session.id:
                socket.end(str(why), f"the session has ended ({why})")

    def _on_commit(self, committed: Committed) -> None:
        if committed.stream != HOUSE_STREAM:
            if any(type(event) is BetsOpened for event in committed.events):
                self.context.placed.pop(table_of(committed.stream) or "", None)
            return
        self.authentication.heard(committed.events)
        for event in committed.events:
            if isinstance(event, DeviceDismissed):
                for socket in list(self.sockets):
                    if socket.principal.role in DEVICES and socket.principal.name == event.device:
                        socket.end("revoked", "the device was dismissed: it has to be enrolled again")

    # Requests

    def handle(self, socket: Socket, request: Request) -> None:  # noqa: C901  every bet passes here
        """Answers a request, at once or as soon as the answer is durable."""
        kind = type(request)
        self.metrics.requests[kind] += 1
        weight, party = WEIGHTS.get(kind, 1), socket.party
        if kind is requests.DoRequest:
            sent: Any = request.do  # type: ignore[attr-defined]
            if type(sent) in _WITH_BETS:
                weight += len(sent.bets) // SLIPS_OF_REQUEST
        if party.credit >= weight:
            party.credit -= weight
        elif not party.has_earned(weight, self.clock.steady()):  # the clock is read only when it is needed
            self.refuse_too_often(socket, request.id)
            return
        if kind is requests.HelloRequest:
            self._hello(socket, request)  # type: ignore[arg-type]
        elif kind is requests.PingRequest:  # a page pings by itself: its person has done nothing
            socket.send(PongReply(to=request.id, now=self.clock.now()))
        elif socket.principal.session is not None and (ended := self._ended(socket.principal)) is not None:
            socket.send(refused(request.id, "signed-out", ended))
        elif kind is requests.DoRequest and self.place_bets(socket, request):  # type: ignore[arg-type]
            pass  # acknowledged by the queue
        elif kind is requests.FollowRequest:
            follow(self, socket, request)  # type: ignore[arg-type]
        elif kind is requests.UnfollowRequest:
            unfollow(self, socket, request)  # type: ignore[arg-type]
        else:
            self._other(socket, request)

    def place_bets(self, socket: Socket, request: requests.DoRequest) -> bool:
        """Submits bets of a terminal at its own seat; returns whether the request is that, as most are."""
        principal, bets = socket.principal, request.do
        if type(bets) is not PLACE_BETS or principal.role is not Role.TERMINAL:
            return False
        sent: Any = bets
        if request.table != principal.table or sent.seat != principal.seat or principal.table is None:
            return False
        count, placed = len(sent.bets), self.context.placed[principal.table]
        if placed[principal.name] + count > self.bounds.bets_a_round:
            problem = too_many_bets(count, placed[principal.name], self.bounds.bets_a_round)
            socket.send(refused(request.id, "too-many", problem, "house:most"))
            return True
        placed[principal.name] += count
        command = PlaceBets(
            at=self.clock.now(), by=principal.name, round=sent.round, seat=sent.seat, bets=sent.bets,
            means=sent.means,
        )  # fmt: skip
        self.queue.submit(Submission(socket.stream, command), partial(socket.reply, request.id))
        return True

    def refuse_unreadable(self, socket: Socket, problem: str, id_: str | None = None) -> None:
        """Answers what is no request; it counts as one, so that a client cannot keep the server busy."""
        self.metrics.requests[UNREADABLE] += 1
        if not socket.party.has_earned(1, self.clock.steady()):
            self.refuse_too_often(socket, id_)
            return
        socket.note_refusal("bad-message", "socket")
        socket.send(refused(id_, "bad-message", problem))

    def refuse_too_often(self, socket: Socket, id_: str | None) -> None:
        """Answers one request too many; a client that has not said who it is is sent away."""
        problem = f"too many requests: expected at most {socket.party.rate} a second"
        socket.note_refusal("too-often", "socket")
        socket.send(refused(id_, "too-often", problem))
        if socket.principal is VISITOR and not self.demonstration:  # it needed one request, its hello
            socket.end("silent", "too many requests came instead of a hello")

    def _ended(self, principal: Principal) -> str | None:
        """Why a session is over; else its person has just done something."""
        now = self.clock.now()
        session = self.authentication.sessions.at(principal.session or "", now)
        if isinstance(session, EndedSession):
            return session.message
        self.authentication.sessions.touch(session.id, now)
        return None

    def _other(self, socket: Socket, request: Any) -> None:
        """Starts the handler of a request that takes time, if the principal may make it now."""
        kind, principal = str(request.__struct_config__.tag), socket.principal
        if type(request) is requests.DoRequest:
            kind = tag_of(request.do)
            permission = permissions.COMMANDS.get(kind)
            seat, misplaced = getattr(request.do, "seat", None), commands.misplaced(principal, request)
        else:
            permission = permissions.REQUESTS.get(kind)
            seat, misplaced = getattr(request, "seat", None), None
        problem = (
            self.not_permitted(principal, permission, getattr(request, "table", None), seat) or misplaced
        )
        now = self.clock.steady()
        if problem is not None:
            socket.note_refusal("not-permitted", kind, "house:access")
            socket.send(refused(request.id, "not-permitted", problem, "house:access"))
        elif (problem := too_many_recorded(self.context, principal.name, request)) is not None:
            socket.send(refused(request.id, "too-many", problem, "house:most"))
        elif len(socket.party.tasks) >= MOST_AT_WORK:
            problem = f"too many requests at work: expected at most {MOST_AT_WORK} at a time"
            socket.send(refused(request.id, "too-often", problem))
        elif not self._costly_requests.takes(kind, principal, now):
            problem = f"too many requests of the kind {kind}: repeat it later"
            socket.send(refused(request.id, "too-often", problem))
        else:
            socket.spawn(self._answer(socket, request))

    def not_permitted(
        self, principal: Principal, permission: permissions.Permission | None, table: str | None,
        seat: str | None,
    ) -> str | None:  # fmt: skip
        """Why a principal may not do something."""
        return permissions.refusal(
            permission, principal.role, own=principal.own, table=table, seat=seat,
            demonstration=self.demonstration,
        )  # fmt: skip

    async def _answer(self, socket: Socket, request: Request) -> None:
        """Sends the reply of a request's handler; a fault is answered too."""
        reply: ServerMessage
        try:
            reply = await HANDLERS[type(request)](self.context, socket.principal, request)
        except Exception as error:  # noqa: BLE001  whatever it is, the request is answered
            _log.exception("a request failed", request=type(request).__name__, by=repr(socket.principal))
            reply = refused(request.id, FAULT, f"the server failed: {type(error).__name__} (see its log)")
        if type(reply) is RefusedReply and reply.reason != FAULT:
            socket.note_refusal(reply.reason, str(request.__struct_config__.tag), reply.clause)
        socket.send(reply)

    async def finished(self) -> None:
        """Waits until all requests are answered."""
        await asyncio.gather(*self.at_work, return_exceptions=True)

    # Authentication

    def _hello(self, socket: Socket, request: requests.HelloRequest) -> None:
        if request.protocol != PROTOCOL_VERSION:
            problem = f"expected version {PROTOCOL_VERSION} of the protocol, got {request.protocol}"
            socket.send(refused(request.id, "protocol", problem))
            socket.end("protocol", problem)
            return
        if socket.principal is not VISITOR or (request.token is None and request.device is None):
            self._admit(socket, request, VISITOR)
        elif request.token is not None:
            session = self.authentication.sessions.of(request.token, self.clock.now())
            if isinstance(session, EndedSession):
                self._reject(socket, request, session.message)
            else:
                principal = Principal(permissions.role_of(session.rank), session.person, session=session.id)
                self._admit(socket, request, principal)
        else:
            # The reply comes in order with what is published, so that no dismissal comes in between.
            check = partial(self._check_device, socket, request, name := request.device or "")
            self.queue.submit_job(lambda engine: engine.house().devices.get(name), check)

    def _check_device(
        self,
        socket: Socket,
        request: requests.HelloRequest,
        name: str,
        device: EnrolledDevice | BaseException | None,
    ) -> None:
        if socket not in self.sockets or socket.is_closing:
            return
        try:
            signature = bytes.fromhex(request.signature or "")
        except ValueError:
            signature = b""
        nonce = bytes.fromhex(socket.nonce)
        if (
            not isinstance(device, EnrolledDevice)
            or str(device.kind) not in DEVICES
            or not device_proof(device.key, nonce, name, signature)
        ):
            problem = f"device {name!r} is not enrolled, or the signature is not by its key"
            self._reject(socket, request, problem)
            return
        self._admit(
            socket, request, Principal(Role(str(device.kind)), name, table=device.table, seat=device.seat)
        )

    def _reject(self, socket: Socket, request: requests.HelloRequest, problem: str) -> None:
        socket.note_refusal("not-known", f"hello {request.device or 'with a token'}", "house:access")
        socket.send(refused(request.id, "not-known", problem, "house:access"))
        socket.end("not-known", problem)

    def _admit(self, socket: Socket, request: requests.HelloRequest, principal: Principal) -> None:
        if socket.principal is not VISITOR:
            socket.send(refused(request.id, "bad-message", "hello was already sent on this connection"))
            return
        if principal is not VISITOR or self.demonstration:  # elsewhere there is nothing for a visitor to do
            self._unauthenticated.remove(socket)
        socket.principal = principal
        socket.stream = stream_of(principal.table or "")
        socket.send(
            WelcomeReply(
                to=request.id, role=principal.role, name=principal.name, table=principal.table,
                seat=principal.seat, currency=self.plan.currency, replaced=self._replaced(socket, principal),
            )
        )  # fmt: skip

    def _replaced(self, socket: Socket, principal: Principal) -> int:
        """Joins the party of the principal; returns how many older connections were closed for this one."""
        network = network_of(socket.address)
        surplus = self.parties.join(socket, principal, network, self.clock.steady())
        if principal is not VISITOR:
            self.authentication.known.add(network, self.clock.now(), by=principal.name)
            socket.admitted()
        for older in surplus:
            older.end("replaced", f"{principal.name} connected again elsewhere: this connection is closed")
            if principal.role in DEVICES:
                self._copies.tell(principal, older=older.address, newer=socket.address)
        return len(surplus)

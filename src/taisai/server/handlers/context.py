"""What the handlers of requests work with: the parts of the server, and replies."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

import msgspec

from taisai.game.refusals import Refusal
from taisai.journal import Answer, JournalError, stream_of
from taisai.journal.codec import HOUSE_STREAM
from taisai.protocol.message import Request, ServerMessage
from taisai.protocol.replies import DoneReply, RefusedReply
from taisai.server.auth.approvals import Approvals, digest_of
from taisai.server.auth.permissions import Principal
from taisai.server.connections.parties import PlacedBets
from taisai.server.handlers import positions
from taisai.server.runtime.command_queue import CommandQueue
from taisai.server.runtime.environment import Clock, Entropy
from taisai.server.runtime.plan import HousePlan

canonical: Final = msgspec.json.Encoder(order="sorted").encode
FAULT: Final = "fault"
"""The reason of a refusal that no rule gives: something is broken, and the log says what."""


class MoneyGate(Protocol):
    """Says whether money may leave the house: when its entries are sealed and witnessed."""

    def refusal(self) -> str | None:
        """Why no money may leave the house now."""

    async def cover(self) -> str | None:
        """Waits until all entries so far are sealed and witnessed; or why they are not."""


class OpenGate(MoneyGate):
    """The gate of a house that seals nothing."""

    def refusal(self) -> str | None:
        return None

    async def cover(self) -> str | None:
        return None


@dataclass(slots=True, kw_only=True)
class Context:
    """The parts of the server that a handler may use."""

    queue: CommandQueue
    plan: HousePlan
    clock: Clock
    entropy: Entropy
    approvals: Approvals
    dealers: Mapping[str, asyncio.Event]
    """Table → set while its virtual dealer deals."""
    placed: PlacedBets = field(default_factory=lambda: PlacedBets(Counter))
    gate: MoneyGate = field(default_factory=OpenGate)

    async def second(self, principal: Principal, request: Any) -> str | RefusedReply | None:
        """The second person who approved exactly this request; None for a request without an approval."""
        if request.approval is None:
            return None
        now, table = self.clock.now(), getattr(request, "table", None)
        digest = digest_of(approved_form(request))
        approver = self.approvals.used(request.approval, digest, asker=principal.session or "", now=now)
        if approver is None:
            problem = "invalid approval: it is used, expired, or for another request"
            return refused(request.id, "second-person", problem, "house:dual-control")
        answer = await self.queue.execute(
            HOUSE_STREAM if table is None else stream_of(table),
            lambda engine: positions.second_person(engine, approver, table, at=now),
        )
        if isinstance(answer, Refusal):
            return refused(request.id, answer.reason, answer.message, answer.clause)
        return approver


Handler = Callable[[Context, Principal, Any], Awaitable[ServerMessage]]
"""Answers a request of a principal who may make it."""


WITNESS: Final = "house:witness"
WITNESSED_WITHIN: Final = 10.0  # seconds that money waits for a witness; pages repeat a request after 15


def leaving(handler: Handler) -> Handler:
    """A handler by which money leaves the house.

    It refuses while a witness is silent, before anything is booked. What is booked is acknowledged only when
    every witness has seen it. A request that was refused in between is repeated with its id, and finds what
    is booked.
    """

    async def guarded(context: Context, principal: Principal, request: Any) -> ServerMessage:
        problem = context.gate.refusal()
        if problem is not None:
            return refused(request.id, "unwitnessed", f"no money leaves the house: {problem}", WITNESS)
        reply = await handler(context, principal, request)
        return reply if isinstance(reply, RefusedReply) else await witnessed(context, request.id, reply)

    return guarded


async def witnessed(context: Context, to: str, reply: ServerMessage) -> ServerMessage:
    """A reply that tells what money may leave, when every witness has seen what is booked."""
    problem = await _unwitnessed(context)
    if problem is None:
        return reply
    message = f"booked, but not witnessed: hand out nothing, and repeat this request; {problem}"
    return refused(to, "unwitnessed", message, WITNESS)


async def _unwitnessed(context: Context) -> str | None:
    """Waits for the witnesses as long as people can; or why what is booked may not leave yet."""
    loop = asyncio.get_running_loop()
    until = loop.time() + WITNESSED_WITHIN
    while True:
        try:
            problem = await context.gate.cover()
        except JournalError as error:
            problem = str(error)
        if problem is None or loop.time() >= until:
            return problem
        await asyncio.sleep(1)


def approved_form(request: Request) -> bytes:
    """What a second person approves: the request without its id, in its one canonical form."""
    plain = msgspec.to_builtins(request)
    plain.pop("approval", None)
    plain.pop("id", None)
    return canonical(plain)


def refused(to: str | None, reason: str, message: str, clause: str | None = None) -> RefusedReply:
    """A refusal by the server itself."""
    return RefusedReply(to=to, reason=reason, message=message, clause=clause)


def answer_to(
    to: str,
    answer: Answer | BaseException,
    *,
    ticket: str | None = None,
    amount: int | None = None,
    transfer: str | None = None,
    again: bool | None = None,
) -> ServerMessage:
    """The reply to a request whose command came to this answer; what the reply has beside it, if done."""
    if isinstance(answer, Refusal):
        return RefusedReply(
            to=to, reason=answer.reason, message=answer.message, clause=answer.clause, bet=answer.bet,
            sums=answer.sums,
        )  # fmt: skip
    if isinstance(answer, BaseException):
        return refused(to, FAULT, f"the server failed: {type(answer).__name__} (see its log)")
    is_again = not answer if again is None else again
    return DoneReply(to=to, ticket=ticket, amount=amount, transfer=transfer, again=is_again)

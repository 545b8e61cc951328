"""What the handlers of requests work with: the parts of the server, and replies."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import msgspec

from taisai.game.refusals import Refusal
from taisai.journal import Answer, stream_of
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

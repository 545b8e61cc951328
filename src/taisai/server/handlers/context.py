"""What the handlers of requests work with."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from taisai.game.commands import Assign
from taisai.game.refusals import Refusal
from taisai.journal import Answer, Engine, stream_of
from taisai.journal.codec import HOUSE_STREAM
from taisai.protocol.message import Request, ServerMessage
from taisai.protocol.replies import RefusedReply
from taisai.server.auth.permissions import Principal
from taisai.server.auth.sessions import Approvals, digest_of
from taisai.server.handlers import positions
from taisai.server.replies import refused
from taisai.server.runtime.command_queue import CommandQueue
from taisai.server.runtime.environment import Clock, Entropy
from taisai.server.runtime.plan import HousePlan

canonical = msgspec.json.Encoder(order="sorted").encode


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

        def check(engine: Engine) -> Assign | Answer:
            return positions.second_person(engine, approver, table, at=now)

        stream = HOUSE_STREAM if table is None else stream_of(table)
        answer = await self.queue.execute(stream, check)
        if isinstance(answer, Refusal):
            return refused(request.id, answer.reason, answer.message, answer.clause)
        return approver


def approved_form(request: Request) -> bytes:
    """What a second person approves: the request without its id, in its one canonical form."""
    plain = msgspec.to_builtins(request)
    plain.pop("approval", None)
    plain.pop("id", None)
    return canonical(plain)


Handler = Callable[[Context, Principal, Any], Awaitable[ServerMessage]]
"""Answers a request of a principal who may make it."""

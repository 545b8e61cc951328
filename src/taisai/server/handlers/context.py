"""What a handler of asks is given, and what it gives back."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Protocol

from taisai.protocol.message import Request, ServerMessage
from taisai.protocol.replies import RefusedReply
from taisai.server.auth.permissions import Principal
from taisai.server.runtime.command_queue import CommandQueue
from taisai.server.runtime.environment import Clock, Entropy
from taisai.server.runtime.plan import HousePlan


class Context(Protocol):
    """The floor, as far as handlers need it."""

    @property
    def queue(self) -> CommandQueue:
        """Who decides, appends and publishes."""

    @property
    def clock(self) -> Clock:
        """The time."""

    @property
    def entropy(self) -> Entropy:
        """Chance."""

    @property
    def plan(self) -> HousePlan:
        """What the house has planned: its tables, and the terms of each."""

    @property
    def dealers(self) -> Mapping[str, asyncio.Event]:
        """Table → set while its virtual dealer deals."""

    async def second(self, principal: Principal, ask: Any) -> str | RefusedReply | None:
        """The second person who approved exactly this ask; None where nobody was asked to."""


Handler = Callable[[Context, Principal, Any], Awaitable[ServerMessage]]
"""Answers one ask of a party who may make it."""

__all__ = ["Context", "Handler", "Request", "ServerMessage"]

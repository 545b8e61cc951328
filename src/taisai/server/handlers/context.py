"""What a handler of asks is given, and what it gives back."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, Protocol

from taisai.protocol.message import Request, ServerMessage
from taisai.protocol.replies import RefusedReply
from taisai.server.auth.permissions import Principal
from taisai.server.runtime.command_queue import CommandQueue
from taisai.server.runtime.environment import Clock, Entropy

if TYPE_CHECKING:
    from taisai.server.runtime.house_server import HousePlan


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
    def plan(self) -> HousePlan | None:
        """What the house has planned: its tables, and the terms of each."""

    async def second(self, principal: Principal, ask: Any) -> str | RefusedReply | None:
        """The second person who approved exactly this ask; None where nobody was asked to."""


Handler = Callable[[Context, Principal, Any], Awaitable[ServerMessage]]
"""Answers one ask of a party who may make it."""

__all__ = ["Context", "Handler", "Request", "ServerMessage"]

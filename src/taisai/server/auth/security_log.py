"""Refusals in the log: who was refused what, and from where. Bounded, so that a flood fills no disk."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import structlog

from taisai.listening.accepting import network_of
from taisai.rules.errors import printable
from taisai.server.auth.permissions import RateLimit, RateLimiter

if TYPE_CHECKING:
    from taisai.server.runtime.environment import Clock

OF_NETWORK: Final = RateLimit(burst=20, every=1_000)  # lines; the others of a network are counted
OF_ALL: Final = RateLimit(burst=200, every=50)
_log = structlog.get_logger(__name__)


class SecurityLog:
    """Writes a line for each refusal; beyond the limits it counts, and the next line says how many."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._networks = RateLimiter(OF_NETWORK)
        self._all = RateLimiter(OF_ALL)
        self.unwritten = 0
        """Refusals since the last line that had none of their own."""

    def refused(
        self, reason: str, *, what: str, address: str, who: str = "", clause: str | None = None
    ) -> None:
        """A request that was refused; `what` names its kind and has nothing of its content."""
        now = self._clock.steady()
        if not (self._networks.takes(network_of(address), now) and self._all.takes("", now)):
            self.unwritten += 1
            return
        unwritten, self.unwritten = self.unwritten, 0
        _log.warning(
            "request refused", reason=reason, what=printable(what), address=printable(address),
            who=printable(who), clause=clause, unwritten=unwritten,
        )  # fmt: skip

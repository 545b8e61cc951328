"""Parties: what all connections of one device or person share, so that more connections buy nothing."""

from __future__ import annotations

import asyncio
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

import structlog

from taisai.protocol import requests
from taisai.protocol.commands import BY_TAG
from taisai.protocol.message import Request
from taisai.server.auth.permissions import DEVICES, STAFF, Principal, RateLimit, RateLimiter, Role
from taisai.server.projections.house_views import copied_key_alarm
from taisai.server.runtime.plan import ConnectionLimits

if TYPE_CHECKING:
    from taisai.server.connections.sockets import Socket
    from taisai.server.handlers.context import Context
    from taisai.server.projections.feed_writer import Frame
    from taisai.server.runtime.command_queue import CommandQueue
    from taisai.server.runtime.environment import Clock

PLACE_BETS: Final = BY_TAG["place-bets"]
RECORD_BETS: Final = BY_TAG["record-bets"]
SEATS_OF_RECORDER: Final = 10
"""A person who records the layout of a live table may record as many bets as so many terminals."""
_log = structlog.get_logger(__name__)
PAGES_OF_PERSON: Final = 4
"""A person may make as many requests as so many devices: some pages load at once."""
BEFORE_HELLO: Final = 10  # requests at once of a connection that has not said whose it is: it needs one
COPIES_TOLD: Final = 5
"""Alarms of devices on two connections that the pit has at once: after a power cut there are hundreds."""
COPIES_EVERY: Final = 60_000  # ms until there may be one more; for the same device ten times as long
MOST_PARTIES: Final = 20_000  # remembered, connected or not: all devices and people of a full house
SLIPS_OF_REQUEST: Final = 8
"""Bets that weigh as much as a request: a favourite of 104 areas weighs 14."""
WEIGHTS: Final[Mapping[type[Request], int]] = {
    requests.FollowRequest: 2,
    requests.KeepFavouriteRequest: 2,
    requests.PreviewRequest: 4,
    requests.DoubleRequest: 8,
    requests.RepeatRequest: 8,
    requests.FeltRequest: 8,
    requests.RoundsRequest: 8,
    requests.BooksRequest: 8,
    requests.ReportRequest: 8,
}
"""What a request weighs against the rate of its party: about what it costs, in plain requests."""


class Party:
    """The connections of one device or person, and how many requests they may still make at once."""

    __slots__ = ("burst", "credit", "credit_at", "rate", "sockets", "tasks")

    def __init__(self, *, rate: int, burst: int, now: int) -> None:
        """`rate`: requests a second."""
        self.rate = rate
        self.burst = self.credit = burst
        self.credit_at = now
        """When its credit was last counted."""
        self.sockets: dict[Socket, None] = {}
        """The oldest first."""
        self.tasks: set[asyncio.Task[None]] = set()
        """Requests that are worked on."""

    def has_earned(self, weight: int, now: int) -> bool:
        """Whether time has brought enough credit for a request; takes it if so."""
        earned = (now - self.credit_at) * self.rate // 1000
        if earned >= 1:
            self.credit = min(self.burst, self.credit + earned)
            self.credit_at = now
        weight = min(weight, self.burst)  # the heaviest request passes when nothing else was asked
        if self.credit < weight:
            return False
        self.credit -= weight
        return True


class Parties:
    """Every party that is connected or was, the least recently connected first."""

    def __init__(self, bounds: ConnectionLimits) -> None:
        self._bounds = bounds
        self._rate = bounds.asks_a_second
        self._burst = bounds.burst
        self._known: OrderedDict[tuple[str, str], Party] = OrderedDict()

    def stranger(self, now: int) -> Party:
        """The party of a connection before its `hello`, which it shares with no other."""
        return Party(rate=1, burst=min(self._burst, BEFORE_HELLO), now=now)

    def of(self, principal: Principal, network: str, now: int) -> Party:
        """The party of a device or a person; the visitors of a demonstration share that of their network."""
        is_device = principal.role in DEVICES
        kind = "device" if is_device else "person" if principal.role in STAFF else "network"
        key = (kind, principal.name if kind != "network" else network)
        party = self._known.get(key)
        if party is None:
            self._drop_one()
            pages = 1 if is_device else PAGES_OF_PERSON
            party = self._known[key] = Party(rate=pages * self._rate, burst=pages * self._burst, now=now)
        self._known.move_to_end(key)
        return party

    def join(self, socket: Socket, principal: Principal, network: str, now: int) -> list[Socket]:
        """Makes a connection one of its party's; returns the older ones, which are too many now."""
        socket.party = party = self.of(principal, network, now)
        if principal.role is Role.VISITOR:
            return []
        bounds = self._bounds
        most = bounds.sockets_of_device if principal.role in DEVICES else bounds.sockets_of_person
        surplus = list(party.sockets)[: max(0, len(party.sockets) + 1 - most)]
        for older in surplus:
            del party.sockets[older]
        party.sockets[socket] = None
        return surplus

    def _drop_one(self) -> None:
        if len(self._known) >= MOST_PARTIES:
            unused = next((key for key, party in self._known.items() if not party.sockets), None)
            if unused is not None:
                del self._known[unused]

    def __len__(self) -> int:
        return len(self._known)


PlacedBets = defaultdict[str, Counter[str]]
"""Table → device or person → bets that they placed since its round opened, those taken back included."""


def too_many_recorded(context: Context, person: str, request: Request) -> str | None:
    """Why a person may not record these bets too in the round; else they are counted."""
    if type(request) is not requests.DoRequest or type(request.do) is not RECORD_BETS:
        return None
    sent: Any = request.do
    count, placed = len(sent.bets), context.placed[request.table or ""]
    most = SEATS_OF_RECORDER * context.plan.bounds.bets_a_round
    if placed[person] + count > most:
        return too_many_bets(count, placed[person], most)
    placed[person] += count
    return None


def too_many_bets(count: int, placed: int, most: int) -> str:
    """Why so many more bets are refused."""
    return (
        f"expected at most {most} bets in a round, those taken back included, got {count} more after {placed}"
    )


_RARE: Final = frozenset({"keep-favourite", "ticket-out"})
"""Requests that a player makes rarely: each stores something for good, or costs a write of the disk."""
_MOVES: Final = frozenset({"show-layout", "take-seat", "leave-seat", "call-attendant"})
"""Commands that a terminal may repeat for ever, each an entry of the journal, and a player gives rarely."""
MOVES: Final = RateLimit(burst=20, every=2_000)
_LONG: Final = frozenset({"rounds"})
"""Requests that, for staff, go through the bets of all seats while commands wait."""


class CostlyRequests:
    """Limits of requests that cost more than others, for each device or person."""

    def __init__(self) -> None:
        self._rare = RateLimiter(RateLimit(burst=20, every=2_000))
        self._moves = RateLimiter(MOVES)
        self._long = RateLimiter(RateLimit(burst=20, every=500))

    def takes(self, kind: str, principal: Principal, now: int) -> bool:
        """Whether a request of this kind, or a command of this tag, may be made now; if so, it counts."""
        if kind in _RARE:
            return self._rare.takes(principal.name, now)
        if kind in _MOVES and principal.session is None:
            return self._moves.takes(principal.name, now)
        is_long = kind in _LONG and principal.session is not None  # the rounds of a terminal are few
        return not is_long or self._long.takes(principal.name, now)


class CopiedKeys:
    """Tells the pit of devices that are on two connections: someone may have copied a key."""

    def __init__(self, queue: CommandQueue, clock: Clock) -> None:
        self._queue = queue
        self._clock = clock
        self._all = RateLimiter(RateLimit(burst=COPIES_TOLD, every=COPIES_EVERY))
        self._of_device = RateLimiter(RateLimit(burst=1, every=10 * COPIES_EVERY))

    def tell(self, device: Principal, *, older: str, newer: str) -> None:
        """Logs it; the pit has a few alarms of it."""
        _log.warning("a device connected a second time", device=device.name, older=older, newer=newer)
        now = self._clock.steady()
        if self._of_device.takes(device.name, now) and self._all.takes("all", now):
            table = device.table or ""
            alarm = copied_key_alarm(self._clock.now(), table, device.name, older=older, newer=newer)
            self._queue.submit_job(lambda _engine: self._queue.projections.notify(alarm), self._publish)

    def _publish(self, frames: list[Frame] | BaseException) -> None:
        for frame in frames if isinstance(frames, list) else ():
            self._queue.feeds.publish(frame)

"""Parties: what all connections of one device or person share, so that more connections buy nothing."""

from __future__ import annotations

import asyncio
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from taisai.protocol import requests
from taisai.protocol.message import Request
from taisai.server.auth.permissions import DEVICES, STAFF, Principal

if TYPE_CHECKING:
    from taisai.server.connections.sockets import Socket

SOCKETS_OF_PERSON: Final = 20  # pages of one person: some at the desk, some on a tablet, some forgotten
PAGES_OF_PERSON: Final = 4
"""A person may make as many requests as so many devices: some pages load at once."""
BEFORE_HELLO: Final = 10  # requests at once of a connection that has not said whose it is: it needs one
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

    def __init__(self, *, rate: int, burst: int) -> None:
        self._rate = rate
        self._burst = burst
        self._known: OrderedDict[tuple[str, str], Party] = OrderedDict()

    def stranger(self, now: int) -> Party:
        """The party of a connection before its `hello`, which it shares with no other."""
        return Party(rate=self._rate, burst=min(self._burst, BEFORE_HELLO), now=now)

    def of(self, principal: Principal, network: str, now: int) -> Party:
        """The party of a device or a person; the visitors of a demonstration share that of their network."""
        is_device = principal.role in DEVICES
        kind = "device" if is_device else "person" if principal.role in STAFF else "network"
        key = (kind, principal.name if kind != "network" else network)
        party = self._known.get(key)
        if party is None:
            pages = 1 if is_device else PAGES_OF_PERSON
            party = self._known[key] = Party(rate=pages * self._rate, burst=pages * self._burst, now=now)
            self._drop_one()
        self._known.move_to_end(key)
        return party

    def _drop_one(self) -> None:
        if len(self._known) > MOST_PARTIES:
            unused = next((key for key, party in self._known.items() if not party.sockets), None)
            if unused is not None:
                del self._known[unused]

    def __len__(self) -> int:
        return len(self._known)


PlacedBets = defaultdict[str, Counter[str]]
"""Table → device or person → bets that they placed since its round opened, those taken back included."""


def too_many_bets(count: int, placed: int, most: int) -> str:
    """Why so many more bets are refused."""
    return (
        f"expected at most {most} bets in a round, those taken back included, got {count} more after {placed}"
    )

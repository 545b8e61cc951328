"""What slows a stranger down and nobody else: growing delays, and the networks that the House knows."""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from typing import Final, NamedTuple

import msgspec

from taisai.listening.accepting import network_of
from taisai.server.auth.permissions import MOST_KEYS

FREE_FAILURES: Final = 5  # of one key in a row, for someone who types badly; each one after them costs time
FREE_OF_NETWORK: Final = 20  # failures in a row of a network that nobody knows: a new desk that types badly
FIRST_DELAY: Final = 2_000  # ms after the first failure that is not free; every further one doubles it
LONGEST_DELAY: Final = 15 * 60_000  # ms: four guesses an hour
KNOWN_FOR: Final = 7 * 24 * 3_600_000  # ms: a desk that is used once a week stays known
MOST_NETWORKS: Final = 10_000  # known at a time
MOST_OF_ONE: Final = 8  # networks that one device or person makes known: a tablet that is carried around
MOST_STORED: Final = 1_000  # of them, the latest: what a start knows again, and a secret has room for
NETWORKS: Final = "networks"
"""The name of the known networks in the vault."""
STORED_AGAIN: Final = 3_600_000  # ms after which networks that are still in use are stored again
STORED_EVERY: Final = 10_000  # ms between two times that they are stored


class _Failures(NamedTuple):
    """How often a key failed in a row, and when it last did."""

    times: int
    at: int


class GrowingDelays:
    """A delay for each key, which doubles with every failure. The least recently used are dropped first."""

    def __init__(self, *, free: int = FREE_FAILURES, most: int = MOST_KEYS) -> None:
        """`free`: failures in a row that cost nothing."""
        self._free = free
        self._most = most
        self._failures: OrderedDict[str, _Failures] = OrderedDict()

    def wait(self, key: str, now: int) -> int:
        """Milliseconds until the key may try again."""
        failures = self._failures.get(key)
        if failures is None or failures.times < self._free:
            return 0
        doublings = min(failures.times - self._free, LONGEST_DELAY.bit_length())
        delay = min(FIRST_DELAY << doublings, LONGEST_DELAY)
        # A clock that was set back must not lengthen a delay.
        return max(0, min(failures.at + delay - now, delay))

    def failed(self, key: str, now: int) -> None:
        """Notes a failure. After a pause as long as the longest delay the count begins again."""
        before = self._failures.pop(key, None)
        is_recent = before is not None and now - before.at < 2 * LONGEST_DELAY
        self._failures[key] = _Failures(before.times + 1 if before is not None and is_recent else 1, now)
        if len(self._failures) > self._most:
            self._failures.popitem(last=False)

    def succeeded(self, key: str) -> None:
        """Forgets the failures of a key."""
        self._failures.pop(key, None)

    def __len__(self) -> int:
        return len(self._failures)


class KnownNetworks:
    """Networks from which an enrolled device or a person with a session came. Strangers cannot add any.

    An address where a person signed in is a desk. Tries from there are counted apart from those of its
    network: with IPv6 a whole floor is one network, and a terminal there must not slow down a desk.
    """

    def __init__(self, most: int = MOST_NETWORKS) -> None:
        self._most = most
        self._seen: OrderedDict[str, int] = OrderedDict()
        self._desks: OrderedDict[str, int] = OrderedDict()
        """Address → when a person last signed in there."""
        self._of: defaultdict[str, OrderedDict[str, None]] = defaultdict(OrderedDict)
        """Device or person → their latest networks: one stolen key must not push out those of others."""
        self._is_stored = True
        self._stored_at: int | None = None

    def add(self, network: str, now: int, *, by: str = "") -> None:
        """Someone proved at this network who they are; `by` is their name."""
        self._is_stored &= network in self._seen and not self._is_time_to_store(now, STORED_AGAIN)
        self._note(self._seen, network, now)
        if not by:
            return
        own = self._of[by]
        own[network] = None
        own.move_to_end(network)
        if len(own) > MOST_OF_ONE:
            left, _ = own.popitem(last=False)
            if not any(left in networks for networks in self._of.values()):
                self._seen.pop(left, None)

    def add_desk(self, address: str, now: int, *, by: str = "") -> None:
        """A person signed in at this address."""
        self.add(network_of(address), now, by=by)
        self._note(self._desks, address, now)

    def has(self, network: str, now: int) -> bool:
        seen = self._seen.get(network)
        return seen is not None and now - seen < KNOWN_FOR

    def counted_as(self, address: str, now: int) -> str:
        """The key under which tries from an address are counted: its network, or itself if it is a desk."""
        seen = self._desks.get(address)
        return address if seen is not None and now - seen < KNOWN_FOR else network_of(address)

    def _note(self, places: OrderedDict[str, int], place: str, now: int) -> None:
        places[place] = now
        places.move_to_end(place)
        if len(places) > self._most:
            places.popitem(last=False)

    def to_store(self, now: int) -> bytes | None:
        """What to store, so that the next start knows them too; None if nothing changed, or not long ago."""
        if self._is_stored or not self._is_time_to_store(now, STORED_EVERY):
            return None
        self._is_stored, self._stored_at = True, now
        return msgspec.json.encode(list(self._seen.items())[-MOST_STORED:])

    def _is_time_to_store(self, now: int, every: int) -> bool:
        return self._stored_at is None or abs(now - self._stored_at) >= every

    def not_stored(self) -> None:
        """What was to be stored was not."""
        self._is_stored = False

    def restore(self, stored: bytes | None, now: int) -> None:
        """Knows again what was stored; nothing if it cannot be read."""
        try:
            known = msgspec.json.decode(stored or b"[]", type=list[tuple[str, int]])
        except msgspec.DecodeError:
            return
        for network, seen in known:
            self._seen.setdefault(network, min(seen, now))  # a clock set back makes none known longer

    def __len__(self) -> int:
        return len(self._seen)

"""Rate limits, by token buckets."""

from __future__ import annotations

from collections import OrderedDict
from ipaddress import IPv6Address, ip_address, ip_network
from typing import Final, NamedTuple

MOST_KEYS: Final = 20_000  # addresses, people or sockets at a time: a megabyte or two


class RateLimit(NamedTuple):
    """`burst` at once, then one every `every` milliseconds."""

    burst: int
    every: int


class RateLimiter:
    """A bucket for each key. The least recently used are dropped first."""

    def __init__(self, rule: RateLimit, most: int = MOST_KEYS) -> None:
        if rule.burst < 1 or rule.every < 1 or most < 1:
            raise ValueError(f"burst, interval and keys must be at least 1, got {rule}, {most} keys")
        self._rule = rule
        self._most = most
        self._full_at: OrderedDict[str, int] = OrderedDict()
        """Key → when its bucket is full again. This determines how much it holds now."""

    def takes(self, key: str, now: int) -> bool:
        """Takes a token from a bucket; returns whether there was one."""
        full_at = self._full(key, now)
        allowed = full_at + self._rule.every - now <= self._rule.burst * self._rule.every
        self._full_at[key] = full_at + self._rule.every if allowed else full_at
        self._full_at.move_to_end(key)
        if len(self._full_at) > self._most:
            self._full_at.popitem(last=False)
        return allowed

    def wait(self, key: str, now: int) -> int:
        """Milliseconds until the bucket has a token."""
        return max(0, self._full(key, now) - now - (self._rule.burst - 1) * self._rule.every)

    def __len__(self) -> int:
        return len(self._full_at)

    def _full(self, key: str, now: int) -> int:
        full_at = max(self._full_at.get(key, now), now)
        latest = now + self._rule.burst * self._rule.every
        if full_at > latest:  # a clock that was set back must not block a key for longer than an empty bucket
            full_at = self._full_at[key] = latest
        return full_at


def network_of(address: str) -> str:
    """An address as the key of rate limits. For IPv6 its /64 network: one household has all of it."""
    try:
        known = ip_address(address)
    except ValueError:
        return address
    if isinstance(known, IPv6Address):
        if known.ipv4_mapped:
            return str(known.ipv4_mapped)
        return str(ip_network((int(known) >> 64 << 64, 64)))
    return str(known)

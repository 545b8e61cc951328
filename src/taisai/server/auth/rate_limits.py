"""Rates: how often someone may do something, by buckets that fill again with time."""

from __future__ import annotations

from collections import OrderedDict
from ipaddress import IPv6Address, ip_address, ip_network
from typing import Final, NamedTuple

MOST_KEYS: Final = 20_000  # addresses, people or sockets remembered at a time, a megabyte or two


class RateLimit(NamedTuple):
    """So many at once, and then one every so many milliseconds."""

    burst: int
    every: int


class RateLimiter:
    """A bucket for each key; those that were asked for longest ago are forgotten first."""

    def __init__(self, rule: RateLimit, most: int = MOST_KEYS) -> None:
        if rule.burst < 1 or rule.every < 1 or most < 1:
            raise ValueError(f"expected a rule of at least 1 at once and 1 ms, got {rule}, {most} keys")
        self._rule = rule
        self._most = most
        self._full_at: OrderedDict[str, int] = OrderedDict()
        """Key → when its bucket will be full again: one number tells all that it holds."""

    def takes(self, key: str, now: int) -> bool:
        """Takes one from a bucket, if there is one."""
        full_at = self._full(key, now)
        allowed = full_at + self._rule.every - now <= self._rule.burst * self._rule.every
        self._full_at[key] = full_at + self._rule.every if allowed else full_at
        self._full_at.move_to_end(key)
        if len(self._full_at) > self._most:
            self._full_at.popitem(last=False)
        return allowed

    def wait(self, key: str, now: int) -> int:
        """How many milliseconds until the next one can be taken."""
        return max(0, self._full(key, now) - now - (self._rule.burst - 1) * self._rule.every)

    def __len__(self) -> int:
        return len(self._full_at)

    def _full(self, key: str, now: int) -> int:
        full_at = max(self._full_at.get(key, now), now)
        latest = now + self._rule.burst * self._rule.every
        if full_at > latest:  # a clock that was put back keeps nobody out for longer than an empty bucket
            full_at = self._full_at[key] = latest
        return full_at


def network_of(address: str) -> str:
    """An address as rates count it: IPv6 by its /64, since one household has all of those."""
    try:
        known = ip_address(address)
    except ValueError:
        return address
    if isinstance(known, IPv6Address):
        if known.ipv4_mapped:
            return str(known.ipv4_mapped)
        return str(ip_network((int(known) >> 64 << 64, 64)))
    return str(known)

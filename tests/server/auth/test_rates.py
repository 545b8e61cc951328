"""Rates: so many at once, then one by one; bounded, and fair when the clock is set."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taisai.listening.accepting import network_of
from taisai.server.auth.permissions import RateLimit, RateLimiter

RULE = RateLimit(burst=3, every=1_000)


def test_so_many_at_once_and_then_one_a_second() -> None:
    rates = RateLimiter(RULE)
    assert [rates.takes("desk", 0) for _ in range(5)] == [True, True, True, False, False]
    assert [rates.takes("desk", now) for now in (999, 1_000, 1_001, 2_000)] == [False, True, False, True]
    assert rates.takes("another", 2_000), "each key has a bucket of its own"


def test_it_says_how_long_to_wait_and_that_is_true() -> None:
    rates = RateLimiter(RULE)
    assert rates.wait("desk", 0) == 0
    for _ in range(3):
        rates.takes("desk", 100)
    wait = rates.wait("desk", 400)
    assert wait == 700
    assert not rates.takes("desk", 400 + wait - 1)
    assert rates.takes("desk", 400 + wait)


def test_a_refusal_costs_nothing() -> None:
    rates = RateLimiter(RULE)
    for now in range(0, 900, 10):
        rates.takes("desk", now)
    assert rates.takes("desk", 1_000)


def test_a_clock_that_was_put_back_keeps_nobody_out_for_long() -> None:
    rates = RateLimiter(RULE)
    for _ in range(4):
        rates.takes("desk", 10_000_000)
    assert rates.wait("desk", 0) == 1_000
    assert rates.takes("desk", 1_000)


def test_the_one_asked_for_longest_ago_is_forgotten_first() -> None:
    rates = RateLimiter(RateLimit(burst=1, every=1_000), most=2)
    assert [rates.takes(key, 0) for key in "aba"] == [True, True, False]
    assert rates.takes("c", 0)
    assert len(rates) == 2
    assert not rates.takes("a", 0), "it was asked for after b"
    assert rates.takes("b", 0)


@pytest.mark.parametrize(("rule", "most"), [(RateLimit(0, 1), 1), (RateLimit(1, 0), 1), (RateLimit(1, 1), 0)])
def test_a_rule_that_lets_nobody_do_anything_is_refused(rule: RateLimit, most: int) -> None:
    with pytest.raises(ValueError, match="must be at least 1"):
        RateLimiter(rule, most)


@given(st.lists(st.integers(0, 3_000), max_size=60), st.integers(1, 5), st.integers(1, 2_000))
def test_no_span_ever_has_more_than_the_rule_says(gaps: list[int], burst: int, every: int) -> None:
    rates, now, taken = RateLimiter(RateLimit(burst, every)), 0, []
    for gap in gaps:
        now += gap
        if rates.takes("x", now):
            taken.append(now)
    for first, start in enumerate(taken):
        for last in range(first, len(taken)):
            assert last - first + 1 <= burst + (taken[last] - start) // every


@pytest.mark.parametrize(
    ("address", "counted_as"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("2001:db8:1:2:ffff::1", "2001:db8:1:2::/64"),
        ("2001:db8:1:3::1", "2001:db8:1:3::/64"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("testclient", "testclient"),
    ],
)
def test_anyone_who_has_a_whole_network_counts_once(address: str, counted_as: str) -> None:
    assert network_of(address) == counted_as

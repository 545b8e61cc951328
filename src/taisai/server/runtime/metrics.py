"""Metrics: what the floor counts about itself, for Prometheus; no names of people, and no money.

Counting is on the way of every bet, so it is one addition in a dictionary; what Prometheus wants to read is
made of it when Prometheus asks.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import accumulate
from typing import Any, Final

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from taisai.game.events import RoundConcluded, RoundVoided
from taisai.journal import table_of
from taisai.server.runtime.command_queue import Committed

BUCKETS: Final = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 5.0)
"""Seconds: a disk's sync is some milliseconds; whoever waits for one second thinks it is broken."""
UNREADABLE: Final = "unreadable"
"""The kind of what is no ask."""


class Metrics(Collector):
    """The floor's own counters. It belongs to the loop."""

    def __init__(self) -> None:
        self.asks: defaultdict[Any, int] = defaultdict(int)
        """Kind of ask, as its class → how many came."""
        self.refusals: defaultdict[str, int] = defaultdict(int)
        """Reason → how often someone heard it."""
        self.sign_ins: defaultdict[str, int] = defaultdict(int)
        """'in', or why not → how often."""
        self.rounds: defaultdict[tuple[str, str], int] = defaultdict(int)
        """Table and end → rounds."""
        self.cuts = 0
        """Clients that did not take their post."""
        self.journal = 0
        """Entries of the journal, when somebody last looked."""
        self._durable = [0] * (len(BUCKETS) + 1)
        self._durable_sum = 0.0
        self._gauges: list[tuple[str, str, Callable[[], float]]] = []
        self._registry = CollectorRegistry()
        self._registry.register(self)

    # Counting

    def cut_off(self) -> None:
        """A slow client was cut off."""
        self.cuts += 1

    def durable(self, seconds: float) -> None:
        """A group of commands was written and told, so long after it was asked for."""
        self._durable[bisect_left(BUCKETS, seconds)] += 1
        self._durable_sum += seconds

    def count_rounds(self, one: Committed) -> None:
        """Counts the rounds that came to an end."""
        table = table_of(one.stream)
        for event in one.events if table is not None else ():
            if isinstance(event, RoundConcluded):
                self.rounds[table or "", "concluded"] += 1
            elif isinstance(event, RoundVoided):
                self.rounds[table or "", "void"] += 1

    def gauge(self, name: str, says: str, value: Callable[[], float]) -> None:
        """A figure that is looked up whenever someone asks."""
        self._gauges.append((name, says, value))

    # Telling

    def text(self) -> bytes:
        """All of it, as Prometheus reads it."""
        return generate_latest(self._registry)

    def describe(self) -> Iterable[Metric]:
        """Nothing beforehand: no two collectors share this registry."""
        return ()

    def collect(self) -> Iterator[Metric]:
        """Every figure as it is now."""
        asks = {_tag(kind): count for kind, count in self.asks.items()}
        yield _counter("taisai_asks", "Asks by kind", "kind", asks)
        yield _counter("taisai_refusals", "Refusals by reason", "reason", self.refusals)
        yield _counter("taisai_sign_ins", "Sign-ins by result", "result", self.sign_ins)
        rounds = CounterMetricFamily("taisai_rounds", "Rounds by end", labels=["table", "end"])
        for (table, end), count in self.rounds.items():
            rounds.add_metric([table, end], count)
        yield rounds
        yield CounterMetricFamily(
            "taisai_sockets_cut_off", "Clients that did not take their post", value=self.cuts
        )
        yield GaugeMetricFamily("taisai_journal_entries", "Entries of the journal", value=self.journal)
        for name, says, value in self._gauges:
            yield GaugeMetricFamily(name, says, value=value())
        yield self._histogram()

    def _histogram(self) -> Metric:
        names = (*map(str, BUCKETS), "+Inf")
        return HistogramMetricFamily(
            "taisai_durable_seconds",
            "From the asking of a group of commands to its answers",
            buckets=list(zip(names, accumulate(self._durable), strict=True)),
            sum_value=self._durable_sum,
        )


def _counter(name: str, says: str, label: str, counted: Mapping[str, int]) -> Metric:
    family = CounterMetricFamily(name, says, labels=[label])
    for value, count in counted.items():
        family.add_metric([str(value)], count)
    return family


def _tag(kind: Any) -> str:
    return kind if isinstance(kind, str) else str(kind.__struct_config__.tag)

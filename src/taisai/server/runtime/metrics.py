"""Metrics of the server for Prometheus; no names of people, and no money.

Every bet is counted, so counting is one addition in a dictionary. Prometheus's text is made when it is read.
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
from taisai.server.runtime.alarms import Alarms
from taisai.server.runtime.command_queue import Committed

BUCKETS: Final = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 5.0)
"""Seconds: a disk's sync takes some milliseconds; a second feels broken."""
UNREADABLE: Final = "unreadable"
"""The kind of a text that is no request."""


class Metrics(Collector):
    """The server's counters. They belong to the loop."""

    def __init__(self) -> None:
        self.requests: defaultdict[Any, int] = defaultdict(int)
        """Class of request → count."""
        self.refusals: defaultdict[str, int] = defaultdict(int)
        """Reason → count."""
        self.sign_ins: defaultdict[str, int] = defaultdict(int)
        """'in', or why not → count."""
        self.rounds: defaultdict[tuple[str, str], int] = defaultdict(int)
        """Table and end → count."""
        self.cuts = 0
        """Clients that were closed because they did not read."""
        self.journal = 0
        """Entries of the journal at the last look."""
        self.alarms: Alarms | None = None
        """Whose states are shown."""
        self._durable = [0] * (len(BUCKETS) + 1)
        self._durable_sum = 0.0
        self._gauges: list[tuple[str, str, Callable[[], float | None]]] = []
        self._counters: list[tuple[str, str, Callable[[], int]]] = []
        self._registry = CollectorRegistry()
        self._registry.register(self)

    # Counting

    def durable(self, seconds: float) -> None:
        """Counts a group of commands that was written, published and answered in so many seconds."""
        self._durable[bisect_left(BUCKETS, seconds)] += 1
        self._durable_sum += seconds

    def count_rounds(self, committed: Committed) -> None:
        """Counts the rounds that ended."""
        table = table_of(committed.stream)
        for event in committed.events if table is not None else ():
            if isinstance(event, RoundConcluded):
                self.rounds[table or "", "concluded"] += 1
            elif isinstance(event, RoundVoided):
                self.rounds[table or "", "void"] += 1

    def gauge(self, name: str, text: str, value: Callable[[], float | None]) -> None:
        """Adds a figure that is read when Prometheus reads; None is left out."""
        self._gauges.append((name, text, value))

    def counter(self, name: str, text: str, value: Callable[[], int]) -> None:
        """Adds a count that is kept elsewhere and only grows."""
        self._counters.append((name, text, value))

    # Reading

    def text(self) -> bytes:
        """All metrics in the format of Prometheus."""
        return generate_latest(self._registry)

    def describe(self) -> Iterable[Metric]:
        """Nothing beforehand: no two collectors share this registry."""
        return ()

    def collect(self) -> Iterator[Metric]:
        """Every figure as it is now."""
        requests = {_tag(kind): count for kind, count in self.requests.items()}
        yield _counter("taisai_asks", "Requests by kind", "kind", requests)
        yield _counter("taisai_refusals", "Refusals by reason", "reason", self.refusals)
        yield _counter("taisai_sign_ins", "Sign-ins by result", "result", self.sign_ins)
        rounds = CounterMetricFamily("taisai_rounds", "Rounds by end", labels=["table", "end"])
        for (table, end), count in self.rounds.items():
            rounds.add_metric([table, end], count)
        yield rounds
        yield CounterMetricFamily(
            "taisai_sockets_cut_off", "Clients closed because they did not read", value=self.cuts
        )
        yield GaugeMetricFamily("taisai_journal_entries", "Entries of the journal", value=self.journal)
        for name, text, value in self._gauges:
            if (figure := value()) is not None:
                yield GaugeMetricFamily(name, text, value=figure)
        for name, text, counted in self._counters:
            yield CounterMetricFamily(name, text, value=counted())
        yield self._alarm_states()
        yield self._histogram()

    def _alarm_states(self) -> Metric:
        labels = ["alarm", "severity"]
        family = GaugeMetricFamily("taisai_alarm", "1 while the alarm goes on, else 0", labels=labels)
        for condition, is_on in self.alarms.states() if self.alarms is not None else ():
            family.add_metric([condition.name, "critical" if condition.is_grave else "warning"], is_on)
        return family

    def _histogram(self) -> Metric:
        names = (*map(str, BUCKETS), "+Inf")
        return HistogramMetricFamily(
            "taisai_durable_seconds",
            "From the submission of a group of commands to its replies",
            buckets=list(zip(names, accumulate(self._durable), strict=True)),
            sum_value=self._durable_sum,
        )


def _counter(name: str, text: str, label: str, counted: Mapping[str, int]) -> Metric:
    family = CounterMetricFamily(name, text, labels=[label])
    for value, count in counted.items():
        family.add_metric([str(value)], count)
    return family


def _tag(kind: Any) -> str:
    return kind if isinstance(kind, str) else str(kind.__struct_config__.tag)

"""Metrics: what the floor counts about itself, for Prometheus."""

from __future__ import annotations

from collections.abc import Callable

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest


class Metrics:
    """The floor's own counters, in a registry of their own."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.asks = Counter("taisai_asks", "Asks by kind", ["kind"], registry=self.registry)
        self.refusals = Counter("taisai_refusals", "Refusals by reason", ["reason"], registry=self.registry)
        self.cuts = Counter(
            "taisai_sockets_cut_off", "Clients that did not take their post", registry=self.registry
        )
        self.sign_ins = Counter("taisai_sign_ins", "Sign-ins by result", ["result"], registry=self.registry)
        self.rounds = Counter("taisai_rounds", "Rounds by end", ["table", "end"], registry=self.registry)
        self.durable = Histogram(
            "taisai_durable_seconds",
            "From an ask of a command to its answer",
            buckets=(0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 5),
            registry=self.registry,
        )
        self._gauges: list[Gauge] = []

    def cut_off(self) -> None:
        """A slow client was cut off."""
        self.cuts.inc()

    def gauge(self, name: str, says: str, value: Callable[[], float]) -> None:
        """A figure that is looked up whenever someone asks."""
        gauge = Gauge(name, says, registry=self.registry)
        gauge.set_function(value)
        self._gauges.append(gauge)

    def text(self) -> bytes:
        """All of it, as Prometheus reads it."""
        return generate_latest(self.registry)

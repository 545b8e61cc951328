"""Simulation: rounds as they might come, seeded, the same digits on one core or on a cluster."""

from taisai.study.simulation.result import Sessions, Simulated
from taisai.study.simulation.shoes import Shoe
from taisai.study.simulation.simulate import simulate, simulate_totals
from taisai.study.simulation.strategies import Counting, Strategy, Terms
from taisai.study.simulation.workers import Workers, cluster_workers, local_workers

__all__ = [
    "Counting",
    "Sessions",
    "Shoe",
    "Simulated",
    "Strategy",
    "Terms",
    "Workers",
    "cluster_workers",
    "local_workers",
    "simulate",
    "simulate_totals",
]

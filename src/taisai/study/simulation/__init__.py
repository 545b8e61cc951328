"""Simulation with seeds: the same digits on one core, on many, or on a cluster."""

from taisai.study.simulation.plans import SimulatedShoe
from taisai.study.simulation.result import Sessions, Simulated
from taisai.study.simulation.run import simulate, simulate_totals
from taisai.study.simulation.workers import Workers, cluster_workers, local_workers
from taisai.study.staking import Counting, SessionTerms, Strategy

# Public names of the first release.
Shoe = SimulatedShoe
Terms = SessionTerms

__all__ = [
    "Counting",
    "SessionTerms",
    "Sessions",
    "Shoe",
    "Simulated",
    "SimulatedShoe",
    "Strategy",
    "Terms",
    "Workers",
    "cluster_workers",
    "local_workers",
    "simulate",
    "simulate_totals",
]

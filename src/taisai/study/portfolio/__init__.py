"""Bets held together: what they come to, how they hang together, and which of them nobody should hold."""

from taisai.study.portfolio.dominance import Dominance, Dominated, Undominated, dominance
from taisai.study.portfolio.portfolio import Portfolio, portfolio

__all__ = ["Dominance", "Dominated", "Portfolio", "Undominated", "dominance", "portfolio"]

"""Real play against theory: what was staked and returned at tables, beside what the pay tables say."""

from taisai.study.journal.observed import AreaObserved, Observed, PlayedBet, TableDice, observed

__all__ = ["AreaObserved", "Observed", "PlayedBet", "TableDice", "observed"]

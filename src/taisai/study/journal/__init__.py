"""Real play against theory: what was staked and returned, beside the exact figures of the pay tables."""

from taisai.study.journal.play import AreaObserved, Observed, PlayedRound, TableDice, observed

__all__ = ["AreaObserved", "Observed", "PlayedRound", "TableDice", "observed"]

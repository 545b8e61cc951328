"""Real play against theory: what was staked and returned, beside the exact figures of the pay tables."""

from taisai.study.journal.accumulate import observed
from taisai.study.journal.results import AreaObserved, Observed, PlayedRound, TableDice

__all__ = ["AreaObserved", "Observed", "PlayedRound", "TableDice", "observed"]

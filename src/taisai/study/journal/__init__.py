"""Real play against theory: what was staked and returned at tables, beside what the pay tables say."""

from taisai.study.journal.accumulate import observed
from taisai.study.journal.results import AreaObserved, Observed, PlayedRound, TableDice

__all__ = ["AreaObserved", "Observed", "PlayedRound", "TableDice", "observed"]

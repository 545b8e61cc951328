"""The approved documents as data, and the total tables they compile to. Pure; standard library only."""

from typing import TYPE_CHECKING

from taisai.rules.areas import CATALOGUE, AreaId
from taisai.rules.book import Rulebook, rulebook, rulebook_ids
from taisai.rules.chance import Chance, ChanceKind
from taisai.rules.clauses import HOUSE, Clause, ClauseText
from taisai.rules.conditions import Condition
from taisai.rules.errors import BookError, RulesError
from taisai.rules.matrix import Established, Explanation, Matrix
from taisai.rules.odds import Odds
from taisai.rules.outcomes import OUTCOMES, Face, Outcome

if TYPE_CHECKING:
    from taisai.rules.layout import Layout
    from taisai.rules.settlement import GREATEST_SUM, Bet, Money, Reason, Refusal, SettledBet, Settlement

__all__ = [
    "CATALOGUE",
    "GREATEST_SUM",
    "HOUSE",
    "OUTCOMES",
    "AreaId",
    "Bet",
    "BookError",
    "Chance",
    "ChanceKind",
    "Clause",
    "ClauseText",
    "Condition",
    "Established",
    "Explanation",
    "Face",
    "Layout",
    "Matrix",
    "Money",
    "Odds",
    "Outcome",
    "Reason",
    "Refusal",
    "Rulebook",
    "RulesError",
    "SettledBet",
    "Settlement",
    "rulebook",
    "rulebook_ids",
]


def __getattr__(name: str) -> object:
    """Loads what a question about odds does not need when it is first asked for."""
    from importlib import import_module

    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(
        import_module("taisai.rules.layout" if name == "Layout" else "taisai.rules.settlement"), name
    )

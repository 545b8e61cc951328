"""The approved documents as data, and the total tables they compile to. Pure; standard library only."""

from typing import TYPE_CHECKING

from taisai.rules.areas import CATALOGUE, AreaId
from taisai.rules.book import Rulebook, rulebook, rulebook_from, rulebook_ids
from taisai.rules.chance import Chance, ChanceKind
from taisai.rules.clauses import HOUSE, Clause, ClauseText
from taisai.rules.conditions import Condition
from taisai.rules.errors import BookError, RulesError
from taisai.rules.matrix import Established, Explanation, Matrix
from taisai.rules.odds import Odds
from taisai.rules.outcomes import OUTCOMES, Face, Outcome

if TYPE_CHECKING:
    from taisai.rules.equipment import Item
    from taisai.rules.irregularities import Irregularities, Ruled, Ruling
    from taisai.rules.layout import Layout
    from taisai.rules.limits import Limits
    from taisai.rules.people import People
    from taisai.rules.procedure import OutOfOrder, Procedure, Recovery, Step
    from taisai.rules.round import Act, Irregularity, Need, Phase
    from taisai.rules.settings import Setting
    from taisai.rules.settlement import GREATEST_SUM, Bet, Money, Reason, Refusal, SettledBet, Settlement

_LATER = {
    "equipment": ("Item",),
    "irregularities": ("Irregularities", "Ruled", "Ruling"),
    "layout": ("Layout",),
    "limits": ("Limits",),
    "people": ("People",),
    "procedure": ("OutOfOrder", "Procedure", "Recovery", "Step"),
    "round": ("Act", "Irregularity", "Need", "Phase"),
    "settings": ("Setting",),
    "settlement": ("GREATEST_SUM", "Bet", "Money", "Reason", "Refusal", "SettledBet", "Settlement"),
}
"""Module → what it offers and a question about odds does not need: loaded when it is first asked for."""

__all__ = [
    "CATALOGUE",
    "GREATEST_SUM",
    "HOUSE",
    "OUTCOMES",
    "Act",
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
    "Irregularities",
    "Irregularity",
    "Item",
    "Layout",
    "Limits",
    "Matrix",
    "Money",
    "Need",
    "Odds",
    "OutOfOrder",
    "Outcome",
    "People",
    "Phase",
    "Procedure",
    "Reason",
    "Recovery",
    "Refusal",
    "Rulebook",
    "Ruled",
    "RulesError",
    "Ruling",
    "Setting",
    "SettledBet",
    "Settlement",
    "Step",
    "rulebook",
    "rulebook_from",
    "rulebook_ids",
]


def __getattr__(name: str) -> object:
    """Loads a later name."""
    from importlib import import_module

    for module, names in _LATER.items():
        if name in names:
            return getattr(import_module(f"taisai.rules.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """What there is, loaded or not."""
    return sorted(__all__)

"""Rulebooks as data, and the tables they compile to. Pure; uses only the standard library."""

from typing import TYPE_CHECKING

from taisai.rules.areas import CATALOGUE, AreaId
from taisai.rules.book import Rulebook, rulebook, rulebook_from, rulebook_ids
from taisai.rules.chance import Chance, ChanceKind
from taisai.rules.clauses import HOUSE_PROCEDURES, Clause, ClauseText
from taisai.rules.errors import BookError, RulesError
from taisai.rules.matrix import Established, Explanation, Matrix
from taisai.rules.outcomes import OUTCOMES, Face, Outcome
from taisai.rules.pay import Condition, Odds

if TYPE_CHECKING:
    from taisai.rules.equipment import EquipmentItem, LimitRules
    from taisai.rules.equipment import EquipmentItem as Item
    from taisai.rules.equipment import LimitRules as Limits
    from taisai.rules.irregularities import Irregularities, Ruling, RulingCell
    from taisai.rules.irregularities import RulingCell as Ruled
    from taisai.rules.layout import Layout
    from taisai.rules.people import People
    from taisai.rules.procedure import OutOfOrder, Procedure, Recovery, Step
    from taisai.rules.settings import Setting
    from taisai.rules.settlement import (
        GREATEST_SUM,
        Bet,
        BetRecord,
        BetRefusal,
        BetRefusalReason,
        BetState,
        Money,
        Settlement,
    )
    from taisai.rules.settlement import BetRecord as SettledBet
    from taisai.rules.settlement import BetRefusal as Refusal
    from taisai.rules.settlement import BetRefusalReason as Reason
    from taisai.rules.vocabulary import Act, Irregularity, Need, Phase

HOUSE = HOUSE_PROCEDURES

# fmt: off
_LAZY_NAMES = {
    "equipment": ("EquipmentItem", "LimitRules"),
    "irregularities": ("Irregularities", "Ruling", "RulingCell"),
    "layout": ("Layout",),
    "people": ("People",),
    "procedure": ("OutOfOrder", "Procedure", "Recovery", "Step"),
    "settings": ("Setting",),
    "settlement": (
        "GREATEST_SUM", "Bet", "BetRecord", "BetRefusal", "BetRefusalReason", "BetState", "Money",
        "Settlement",
    ),
    "vocabulary": ("Act", "Irregularity", "Need", "Phase"),
}
"""Module → its names. `__getattr__` imports the module on first use, because odds do not need it."""

_OLD_NAMES = {
    "Item": "EquipmentItem", "Limits": "LimitRules", "Reason": "BetRefusalReason", "Refusal": "BetRefusal",
    "Ruled": "RulingCell", "SettledBet": "BetRecord",
}
"""Names of release 0.1 → the names of today. Both work."""

__all__ = [
    "CATALOGUE", "GREATEST_SUM", "HOUSE", "HOUSE_PROCEDURES", "OUTCOMES", "Act", "AreaId", "Bet",
    "BetRecord", "BetRefusal", "BetRefusalReason", "BetState", "BookError", "Chance", "ChanceKind",
    "Clause", "ClauseText", "Condition", "EquipmentItem", "Established", "Explanation", "Face",
    "Irregularities", "Irregularity", "Item", "Layout", "LimitRules", "Limits", "Matrix", "Money", "Need",
    "Odds", "OutOfOrder", "Outcome", "People", "Phase", "Procedure", "Reason", "Recovery", "Refusal",
    "Rulebook", "Ruled", "RulesError", "Ruling", "RulingCell", "Setting", "SettledBet", "Settlement",
    "Step", "rulebook", "rulebook_from", "rulebook_ids",
]
# fmt: on


def __getattr__(name: str) -> object:
    """Imports a lazy name on first use."""
    from importlib import import_module

    current_name = _OLD_NAMES.get(name, name)
    for module, names in _LAZY_NAMES.items():
        if current_name in names:
            return getattr(import_module(f"taisai.rules.{module}"), current_name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """All public names, imported or not."""
    return sorted(__all__)

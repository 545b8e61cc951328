"""Taisai: the reference implementation of Sic Bo (Tai Sai)."""

TYPE_CHECKING = False  # checkers take it for true; typing itself takes longer to load than all that is here
if TYPE_CHECKING:
    from taisai.rules import (
        OUTCOMES,
        Bet,
        BetRefusal,
        BookError,
        Chance,
        Matrix,
        Odds,
        Outcome,
        Refusal,
        Rulebook,
        RulesError,
        Settlement,
        rulebook,
        rulebook_ids,
    )
    from taisai.study.dice import DiceWatch, dice_tests, mapping_proof, read_rolls, tallied
    from taisai.study.journal import observed
    from taisai.study.journal.resettle import resettle
    from taisai.study.measures import Side, compare, measures
    from taisai.study.odds import Distribution, Law, Mix, area_odds
    from taisai.study.par import par_sheet
    from taisai.study.portfolio import dominance, portfolio
    from taisai.study.session.ends import ends_of
    from taisai.study.session.total import total_after
    from taisai.study.shoe.composition import composition_odds, full_shoe, position_edges, removal
    from taisai.study.shoe.exposure import exposure
    from taisai.study.shoe.odds import odds_of_many
    from taisai.study.shoe.perfect import perfect_play
    from taisai.study.simulation import (
        Shoe,
        Terms,
        cluster_workers,
        local_workers,
        simulate,
        simulate_totals,
    )

__version__ = "0.2.0.dev0"

_STUDY = {
    "DiceWatch": "dice",
    "Distribution": "odds",
    "Law": "odds",
    "Mix": "odds",
    "Shoe": "simulation",
    "Side": "measures",
    "Terms": "simulation",
    "area_odds": "odds",
    "cluster_workers": "simulation",
    "compare": "measures",
    "composition_odds": "shoe.composition",
    "dice_tests": "dice",
    "dominance": "portfolio",
    "ends_of": "session.ends",
    "exposure": "shoe.exposure",
    "full_shoe": "shoe.composition",
    "local_workers": "simulation",
    "mapping_proof": "dice",
    "measures": "measures",
    "observed": "journal",
    "odds_of_many": "shoe.odds",
    "par_sheet": "par",
    "perfect_play": "shoe.perfect",
    "portfolio": "portfolio",
    "position_edges": "shoe.composition",
    "read_rolls": "dice",
    "removal": "shoe.composition",
    "resettle": "journal.resettle",
    "simulate": "simulation",
    "simulate_totals": "simulation",
    "tallied": "dice",
    "total_after": "session.total",
}
"""What the study offers → the module it is in; all else is of the rules."""

__all__ = [
    "OUTCOMES",
    "Bet",
    "BetRefusal",
    "BookError",
    "Chance",
    "DiceWatch",
    "Distribution",
    "Law",
    "Matrix",
    "Mix",
    "Odds",
    "Outcome",
    "Refusal",
    "Rulebook",
    "RulesError",
    "Settlement",
    "Shoe",
    "Side",
    "Terms",
    "__version__",
    "area_odds",
    "cluster_workers",
    "compare",
    "composition_odds",
    "dice_tests",
    "dominance",
    "ends_of",
    "exposure",
    "full_shoe",
    "local_workers",
    "mapping_proof",
    "measures",
    "observed",
    "odds_of_many",
    "par_sheet",
    "perfect_play",
    "portfolio",
    "position_edges",
    "read_rolls",
    "removal",
    "resettle",
    "rulebook",
    "rulebook_ids",
    "simulate",
    "simulate_totals",
    "tallied",
    "total_after",
]


def __getattr__(name: str) -> object:
    """Loads what is first asked for, so that the command starts quickly."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    within = f"taisai.study.{_STUDY[name]}" if name in _STUDY else "taisai.rules"
    return getattr(import_module(within), name)


def __dir__() -> list[str]:
    """What there is, loaded or not."""
    return sorted(__all__)

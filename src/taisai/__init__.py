"""Taisai: the reference implementation of Sic Bo (Tai Sai)."""

from taisai.rules import (
    OUTCOMES,
    Bet,
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

__version__ = "0.1.0"

__all__ = [
    "OUTCOMES",
    "Bet",
    "BookError",
    "Chance",
    "Matrix",
    "Odds",
    "Outcome",
    "Refusal",
    "Rulebook",
    "RulesError",
    "Settlement",
    "__version__",
    "rulebook",
    "rulebook_ids",
]

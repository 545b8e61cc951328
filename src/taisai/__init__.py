"""Taisai: the reference implementation of Sic Bo (Tai Sai)."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
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


def __getattr__(name: str) -> object:
    """Loads the rules when something of them is first asked for, so that the command starts quickly."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from taisai import rules

    return getattr(rules, name)


def __dir__() -> list[str]:
    """What there is, loaded or not."""
    return sorted(__all__)

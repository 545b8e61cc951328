"""Limits policy: what becomes of a bet under the minimum or over the maximum."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import NamedTuple

from taisai.rules.clauses import Clause, read_clause
from taisai.rules.settings import Setting
from taisai.rules.toml_reader import Section


class LimitPolicy(StrEnum):
    """Refused at entry, or recorded as it lies and settled so."""

    REFUSE = "refuse"
    SETTLE_ONCE = "settle-once"
    SETTLE_TO_MAXIMUM = "settle-to-maximum"


class LimitScope(StrEnum):
    """What a minimum and a maximum are counted over."""

    PLAYER_AND_AREA = "player-and-area"


class LimitRules(NamedTuple):
    """The policy on both sides."""

    scope: LimitScope
    under_minimum: LimitPolicy
    under_clause: Clause
    over_maximum: LimitPolicy
    over_clause: Clause
    memory: str | None
    """The setting that says how many rounds are tolerated, where under-minimum bets are settled once."""


def read_limits(book: Section, settings: Mapping[str, Setting], known: Mapping[Clause, object]) -> LimitRules:
    """The book's limits policy."""
    section = book.table("limits")
    limits = LimitRules(
        section.choice("scope", LimitScope),
        section.choice("under_minimum", LimitPolicy),
        read_clause(section, "under_clause", known),
        section.choice("over_maximum", LimitPolicy),
        read_clause(section, "over_clause", known),
        section.text("memory") if section.has("memory") else None,
    )
    if limits.under_minimum is LimitPolicy.SETTLE_TO_MAXIMUM:
        raise section.error("under_minimum", "refuse or settle-once", repr(str(limits.under_minimum)))
    if limits.over_maximum is LimitPolicy.SETTLE_ONCE:
        raise section.error("over_maximum", "refuse or settle-to-maximum", repr(str(limits.over_maximum)))
    if (limits.memory is not None) != (limits.under_minimum is LimitPolicy.SETTLE_ONCE):
        got = repr(limits.memory) if limits.memory else "nothing"
        raise section.error("memory", "a setting, with 'settle-once' and with nothing else", got)
    if limits.memory and (limits.memory not in settings or not settings[limits.memory].bounds):
        raise section.error("memory", "a setting of the book that is a number", repr(limits.memory))
    section.reject_unknown_keys()
    return limits

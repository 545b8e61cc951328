"""Limit rules: what happens to a bet under the minimum or over the maximum."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import NamedTuple

from taisai.rules.clauses import Clause, read_clause
from taisai.rules.settings import Setting
from taisai.rules.toml_reader import Section


class LimitPolicy(StrEnum):
    """Whether a bet outside the limits is refused, or accepted and settled in a special way."""

    REFUSE = "refuse"
    SETTLE_ONCE = "settle-once"
    SETTLE_TO_MAXIMUM = "settle-to-maximum"


class LimitScope(StrEnum):
    """To which sum of bets the minimum and the maximum apply."""

    PLAYER_AND_AREA = "player-and-area"


class LimitRules(NamedTuple):
    """The policy for bets under the minimum and for bets over the maximum."""

    scope: LimitScope
    under_minimum: LimitPolicy
    under_clause: Clause
    over_maximum: LimitPolicy
    over_clause: Clause
    memory: str | None
    """With `settle-once`: the setting that says for how many rounds the first such bet is remembered."""


def read_limits(book: Section, settings: Mapping[str, Setting], known: Mapping[Clause, object]) -> LimitRules:
    """Reads the limit rules of a rulebook."""
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
        expected = f"no 'memory' with under_minimum = '{limits.under_minimum}'"
        if limits.memory is None:
            expected = "a setting that is a number, because under_minimum is 'settle-once'"
        raise section.error("memory", expected, section.quoted("memory"))
    if limits.memory and (limits.memory not in settings or not settings[limits.memory].bounds):
        raise section.error("memory", "a setting of this rulebook that is a number", repr(limits.memory))
    section.reject_unknown_keys()
    return limits

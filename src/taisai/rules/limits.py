"""Limits policy: what becomes of a bet under the minimum or over the maximum."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import NamedTuple

from taisai.rules.clauses import Clause, cited
from taisai.rules.reading import Section


class LimitPolicy(StrEnum):
    """Refused at entry, or recorded as it lies and settled so."""

    REFUSE = "refuse"
    SETTLE_ONCE = "settle-once"
    SETTLE_TO_MAXIMUM = "settle-to-maximum"


class LimitScope(StrEnum):
    """What a minimum and a maximum are counted over."""

    PLAYER_AND_AREA = "player-and-area"


class Limits(NamedTuple):
    """The policy on both sides."""

    scope: LimitScope
    under_minimum: LimitPolicy
    under_clause: Clause
    over_maximum: LimitPolicy
    over_clause: Clause


def read_limits(book: Section, known: Mapping[Clause, object]) -> Limits:
    """The book's limits policy."""
    section = book.table("limits")
    limits = Limits(
        section.choice("scope", LimitScope),
        section.choice("under_minimum", LimitPolicy),
        cited(section, "under_clause", known),
        section.choice("over_maximum", LimitPolicy),
        cited(section, "over_clause", known),
    )
    if limits.under_minimum is LimitPolicy.SETTLE_TO_MAXIMUM:
        raise section.refused("under_minimum", "refuse or settle-once", repr(str(limits.under_minimum)))
    if limits.over_maximum is LimitPolicy.SETTLE_ONCE:
        raise section.refused("over_maximum", "refuse or settle-to-maximum", repr(str(limits.over_maximum)))
    section.done()
    return limits

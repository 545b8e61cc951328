"""Refusals: why a command is not done. A refusal is a value with a reason, a clause and a message."""

from __future__ import annotations

from enum import StrEnum
from typing import Final, NamedTuple

from taisai.rules.clauses import Clause
from taisai.rules.settlement import BetRefusalReason


class Reason(StrEnum):
    """Why a command is refused, in the order of precedence: of several reasons, the first is given."""

    JOURNAL_UNWRITABLE = "journal-unwritable"
    JOURNAL_IN_DOUBT = "journal-in-doubt"
    TABLE_NOT_OPEN = "table-not-open"
    TABLE_OPEN = "table-open"
    UNKNOWN_SEAT = "unknown-seat"
    UNKNOWN_PERSON = "unknown-person"
    NOT_PERMITTED = "not-permitted"
    SECOND_PERSON = "second-person"
    DIFFERENT_CONTENT = "different-content"
    WRONG_ROUND = "wrong-round"
    ON_HOLD = "on-hold"
    TABLE_SHUT = "table-shut"
    OUT_OF_ORDER = "out-of-order"
    LATE = "late"
    UNMET_NEED = "unmet-need"
    UNDER_LIVE_BETS = "under-live-bets"
    RULED_OUT = "ruled-out"
    BAD_VALUE = "bad-value"
    TOO_MANY = "too-many"
    UNKNOWN_BET = "unknown-bet"
    WRONG_MEANS = "wrong-means"
    NOT_ON_LAYOUT = "not-on-layout"
    STAKE_NOT_WHOLE = "stake-not-whole"
    STAKE_NOT_POSITIVE = "stake-not-positive"
    BEYOND_GREATEST_SUM = "beyond-greatest-sum"
    WINNINGS_NOT_WHOLE = "winnings-not-whole"
    UNDER_MINIMUM = "under-minimum"
    OVER_MAXIMUM = "over-maximum"
    CREDITS_SHORT = "credits-short"
    EXPOSURE = "exposure"
    FLOAT_SHORT = "float-short"

    @property
    def rank(self) -> int:
        """The position in the order of precedence."""
        return _RANKS[self]

    @classmethod
    def _missing_(cls, value: object) -> Reason | None:
        """Accepts the words of release 0.1."""
        return cls(OLD_REASONS[value]) if isinstance(value, str) and value in OLD_REASONS else None


OLD_REASONS: Final = {"not-his-to-do": "not-permitted", "other-content": "different-content"}
"""Words of release 0.1 → the words of today. Playbooks and cases may use both."""

_ORDER: Final = tuple(Reason)
_BEFORE_BETS: Final = _ORDER[_ORDER.index(Reason.TABLE_NOT_OPEN) : _ORDER.index(Reason.NOT_ON_LAYOUT)]
_AFTER_BETS: Final = _ORDER[_ORDER.index(Reason.UNDER_MINIMUM) :]
_RANKS: Final = (
    {Reason.JOURNAL_UNWRITABLE: 1, Reason.JOURNAL_IN_DOUBT: 2}
    | {reason: 5 * place for place, reason in enumerate(_BEFORE_BETS, 1)}
    | {Reason(reason): reason.rank for reason in BetRefusalReason}
    | {reason: 600 + 100 * place for place, reason in enumerate(_AFTER_BETS)}
)
"""Who may act, and when, comes before what a bet is; that comes before what it costs."""


class Refusal(NamedTuple):
    """A command that is not done."""

    reason: Reason
    clause: Clause
    message: str
    bet: str | None = None
    """The id of the bet that it concerns, where it is one of a batch."""
    sums: tuple[int, ...] = ()
    """(expected, got), if both are money: pages show them in their own words."""

    def __str__(self) -> str:
        return f"{self.message} ({self.reason}, {self.clause})"


def first(refusals: list[Refusal]) -> Refusal | None:
    """The refusal of the lowest rank; the earliest of equals."""
    return min(refusals, key=lambda refusal: refusal.reason.rank, default=None)

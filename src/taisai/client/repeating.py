"""Which asks may be sent again when nobody knows whether the first arrived."""

from __future__ import annotations

from typing import Final

from taisai.protocol import requests
from taisai.protocol.commands import tag_of
from taisai.protocol.message import Ask

_HARMLESS: Final = frozenset(
    {
        # they only look, or say how something is to be
        requests.AskUnfollow,
        requests.AskFavourites,
        requests.AskKeepFavourite,
        requests.AskTickets,
        requests.AskFelt,
        requests.AskRounds,
        requests.AskPreview,
        requests.AskBooks,
        requests.AskReport,
        requests.AskTakePosition,
        requests.AskVirtual,
        requests.AskBeat,
        # the floor derives what they make from the ask's own id, so the second time changes nothing
        requests.AskDouble,
        requests.AskRepeat,
        requests.AskTicketIn,
        requests.AskTicketOut,
        requests.AskSellTicket,
        requests.AskFill,
        requests.AskTakeCredit,
        requests.AskTakeDrop,
        requests.AskCountDrop,
        requests.AskSettleClaim,
        requests.AskReading,
    }
)
_WITHIN_A_START: Final = frozenset({requests.AskUndo, requests.AskClear})
"""The floor remembers which bets they took back, until it stops."""
_HARMLESS_COMMANDS: Final = frozenset({"place-bets", "record-bets", "bring-in", "take-out"})
"""They carry ids of their own, and a known id changes nothing."""


def is_harmless(ask: Ask, *, same_start: bool) -> bool:
    """Whether the same ask a second time is as good as once; an approval is spent by the first.

    `same_start`: whether the floor has not been stopped since.
    """
    if getattr(ask, "approval", None) is not None:
        return False
    if isinstance(ask, requests.AskDo):
        return tag_of(ask.do) in _HARMLESS_COMMANDS
    return type(ask) in _HARMLESS or (same_start and type(ask) in _WITHIN_A_START)

"""Words of a table in play that no rulebook has: actors, enumerations, and what a name may be."""

from __future__ import annotations

import unicodedata
from enum import StrEnum
from typing import Final, TypeGuard

from taisai.rules.procedure import CLOCK

MOST_ID: Final = 64  # characters of a name or an id


def folded(name: str) -> str:
    """A name as it is compared with others, so that 'Sue' and 'sue' are not two people."""
    return unicodedata.normalize("NFKC", name).casefold()


def is_name(value: object) -> TypeGuard[str]:
    """Whether a value can name something: printable, of bounded length, no blank at either end."""
    return type(value) is str and 0 < len(value) <= MOST_ID and value.isprintable() and value.strip() == value


CHIP_READER: Final = "chip-reader"
"""The port of chip readers, which record the chips on the layout."""
RECOVERY: Final = "recovery"
"""The system itself, starting again after an interruption."""
CAGE: Final = "cage"
"""The House's side of a transfer, as it arrives at a table."""
TABLE: Final = "table"
"""A table's side of a transfer, as it arrives at the House."""
HOUSE: Final = "house"
"""The House, which signs people in by its staff list."""
FLOOR: Final = "floor"
"""The live server itself: what it notes of sign-ins, settings, and its own starts and stops."""
SHAKER: Final = "shaker"
"""The demonstration shaker, which draws by seed; never used for money."""
RECOGNISER: Final = "recogniser"
"""The port of devices that recognise the dice."""
SYSTEM: Final = frozenset({CLOCK, CHIP_READER, RECOVERY, CAGE, TABLE, HOUSE, FLOOR, SHAKER, RECOGNISER})
"""Actors that are not people; each may do only its own commands."""


class Means(StrEnum):
    """What a bet is made with."""

    CREDITS = "credits"
    CASH_CHIPS = "cash-chips"
    PLAQUES = "plaques"
    COLOUR_CHIPS = "colour-chips"
    CASH = "cash"
    """Money with a spoken bet, which none of our rulebooks accepts."""

    __hash__ = str.__hash__  # an enumeration's own is written in Python, and every bet looks a purse up

    @property
    def purse(self) -> Means:
        """The purse that a bet is paid from and returned to: plaques belong to cash chips."""
        return Means.CASH_CHIPS if self is Means.PLAQUES else self


class RecordChange(StrEnum):
    """How the record of the chips is corrected."""

    ADD = "add"
    """A chip lay there in time and was not recorded."""
    REMOVE = "remove"
    """A recorded chip was not there."""
    STAKE = "stake"
    """The stake was another."""
    SEAT = "seat"
    """The chip was another player's."""
    AREA = "area"
    """The chip lay on another area."""
    SPLIT = "split"
    """A part of a recorded stake lay on another area, or was another player's."""


class Treatment(StrEnum):
    """What someone decides on a referral."""

    CONTINUE = "continue"
    """The round goes on as it is."""
    STANDS = "stands"
    """What was settled stands."""
    VOID = "void"
    """The current round is void."""
    VOID_ROUNDS = "void-rounds"
    """A range of rounds is void, settled ones too."""
    SETTLE_BY_OUTCOME = "settle-by-outcome"
    """A round is settled, or settled again, by what the dice or cards showed."""
    RE_OPEN = "re-open"
    """Bets stay and open again; the dice are shaken again."""
    TREAT_BETS = "treat-bets"
    """Named bets are returned, or count on another area."""
    SHUT = "shut"
    """The current round is void, and the table is shut until it is reopened."""


class ClaimEnd(StrEnum):
    """How a claim is settled."""

    TABLE = "table"
    """Paid out of the tray, or into it."""
    CAGE = "cage"
    """Paid or collected by the cage, under a transfer."""
    WAIVE = "waive"
    """Waived."""


class TransferKind(StrEnum):
    """What moves between a table and the House."""

    TICKET = "ticket"
    DISPENSED = "dispensed"
    FILL = "fill"
    CREDIT = "credit"
    DROP = "drop"
    CLAIM = "claim"


class Subject(StrEnum):
    """What a referral is about, if it is no irregularity of the rulebook."""

    CALL = "call"
    """A player asks for an attendant."""
    DISPUTE = "dispute"
    """A player disputes a round."""
    INTERRUPTION = "interruption"
    """A stop of the system in a phase for which the document has no clause."""


class Hold(StrEnum):
    """Why a round waits."""

    DECLARATION = "declaration"
    """Dealer and supervisor must declare whether a die was seen."""
    WITHDRAWAL = "withdrawal"
    """Players choose whether to withdraw all their bets."""
    REFERRAL = "referral"
    """A person of the named rank must decide."""
    CONFIRMATION = "confirmation"
    """A second person must confirm or contest a report."""
    SETTLEMENT = "settlement"
    """The settlement that was made by hand must be entered."""


class DeviceFault(StrEnum):
    """Why a device reports no faces."""

    NO_SHAKE = "no-shake"
    """The dice were not shaken, or did not stop."""
    INVALID = "invalid"
    """They show no outcome: a die leans or lies on another."""
    INVALID_AFTER_RESHAKE = "invalid-after-reshake"
    """Again no outcome, after the second shake that the rules order."""
    DOWN = "down"
    """The device does not work."""

"""The words of a round: its phases, what is done in it, what can go wrong."""

from __future__ import annotations

from enum import StrEnum


class Visibility(StrEnum):
    """What can be known of the dice or cards."""

    NONE = "none"
    CONCEALED = "concealed"
    SHOWN = "shown"


class Phase(StrEnum):
    """Where a round stands. A rulebook uses those that its procedure has."""

    BETWEEN = "between"
    """No round of play; what is ruled here is ruled on rounds that are over, whenever it is found."""
    OPEN = "open"
    OPEN_TUMBLED = "open-tumbled"
    """Bets open over dice that have tumbled and lie concealed."""
    CLOSED = "closed"
    CLOSED_TUMBLED = "closed-tumbled"
    DEAL_PRESSED = "deal-pressed"
    REVEALED = "revealed"
    """The outcome is on view."""
    ENTERED = "entered"
    """The result is keyed in, and the winning areas are lit where there are lights."""
    SETTLED = "settled"
    """The settlement is recorded; chips still lie."""
    COLLECTED = "collected"
    """Losing bets are off the layout."""
    PAID = "paid"

    @property
    def bets_open(self) -> bool:
        """Whether bets are taken."""
        return self in {Phase.OPEN, Phase.OPEN_TUMBLED}

    @property
    def visibility(self) -> Visibility:
        """What can be known of the dice or cards."""
        if self in {Phase.BETWEEN, Phase.OPEN, Phase.CLOSED}:
            return Visibility.NONE
        if self in {Phase.OPEN_TUMBLED, Phase.CLOSED_TUMBLED, Phase.DEAL_PRESSED}:
            return Visibility.CONCEALED
        return Visibility.SHOWN

    @property
    def settlement_recorded(self) -> bool:
        """Whether what every bet gets is already fixed."""
        return self in {Phase.SETTLED, Phase.COLLECTED, Phase.PAID}


class Act(StrEnum):
    """What someone does to bring a round forward."""

    OPEN_BETS = "open-bets"
    TUMBLE = "tumble"
    """Covers the tumbler or shaker and sets the dice going."""
    ACTIVATE_SHAKER = "activate-shaker"
    """Sets an automated shaker going, whose dice are on view when they rest."""
    CLOSE_BETS = "close-bets"
    PRESS_DEAL = "press-deal"
    UNCOVER = "uncover"
    DEAL_CARDS = "deal-cards"
    ENTER_RESULT = "enter-result"
    SETTLE = "settle"
    COLLECT = "collect"
    PAY = "pay"
    COLLECT_AND_PAY = "collect-and-pay"
    CLEAR_LIGHTS = "clear-lights"
    CONCLUDE = "conclude"


class Need(StrEnum):
    """What must be true for an act to stand."""

    TABLE_INSPECTED = "table-inspected"
    SHIFT_INSPECTED = "shift-inspected"
    DICE_WITHIN_LIFE = "dice-within-life"
    SHOE_CAN_COMPLETE = "shoe-can-complete"
    ENOUGH_TUMBLES = "enough-tumbles"
    DICE_FLAT = "dice-flat"


class Irregularity(StrEnum):
    """What can go wrong at a table."""

    TOO_FEW_TUMBLES = "too-few-tumbles"
    EXPOSED_EARLY = "exposed-early"
    """Concealed dice, or a card, seen before the close."""
    DIE_NOT_FLAT = "die-not-flat"
    DIE_DAMAGED = "die-damaged"
    DOME_OR_DICE_BROKEN = "dome-or-dice-broken"
    LATE_BET = "late-bet"
    """A bet placed or increased after the close."""
    LATE_WITHDRAWAL = "late-withdrawal"
    CHIPS_UNCLEAR = "chips-unclear"
    """Chips not clearly placed, or moved by accident."""
    EQUIPMENT_FAILURE = "equipment-failure"
    """Electronic equipment fails: console, lights, electrical device."""
    AUTOMATED_SHAKER_FAILURE = "automated-shaker-failure"
    DEAL_NOT_PRESSED = "deal-not-pressed"
    """The cover is lifted before the deal button was pressed."""
    UNDER_MINIMUM = "under-minimum"
    OVER_MAXIMUM = "over-maximum"
    EARLIER_LIMIT_MISTAKE = "earlier-limit-mistake"
    POWER_FAILURE = "power-failure"
    TERMINALS_DOWN = "terminals-down"
    WRONG_RESULT = "wrong-result"
    """The result keyed in is not what the dice show."""
    DISPLAY_WRONG = "display-wrong"
    FOREIGN_CARD = "foreign-card"
    CARD_COUNT_WRONG = "card-count-wrong"
    SHOE_SHORT = "shoe-short"
    TWO_SHAKERS = "two-shakers"
    """A manual shaker while the automated one is on the table."""
    OTHER = "other"

"""The words that rulebooks use for a round: phases, acts, needs and irregularities."""

from __future__ import annotations

from enum import StrEnum


class Visibility(StrEnum):
    """How much of the dice or cards can be seen."""

    NONE = "none"
    CONCEALED = "concealed"
    SHOWN = "shown"


class Phase(StrEnum):
    """A phase of a round. Each rulebook uses some of them."""

    BETWEEN = "between"
    """No round is in play. Rulings in this phase concern earlier rounds."""
    OPEN = "open"
    OPEN_TUMBLED = "open-tumbled"
    """Bets are open; the dice have tumbled and are concealed."""
    CLOSED = "closed"
    CLOSED_TUMBLED = "closed-tumbled"
    DEAL_PRESSED = "deal-pressed"
    REVEALED = "revealed"
    """The dice or cards can be seen."""
    ENTERED = "entered"
    """The Dealer has entered the result; winning areas are lit on tables with lights."""
    SETTLED = "settled"
    """The settlement is recorded; the chips are still on the layout."""
    COLLECTED = "collected"
    """The losing bets are off the layout."""
    PAID = "paid"

    @property
    def bets_open(self) -> bool:
        return self in {Phase.OPEN, Phase.OPEN_TUMBLED}

    @property
    def visibility(self) -> Visibility:
        """How much of the dice or cards can be seen."""
        if self in {Phase.BETWEEN, Phase.OPEN, Phase.CLOSED}:
            return Visibility.NONE
        if self in {Phase.OPEN_TUMBLED, Phase.CLOSED_TUMBLED, Phase.DEAL_PRESSED}:
            return Visibility.CONCEALED
        return Visibility.SHOWN

    @property
    def settlement_recorded(self) -> bool:
        """Whether the settlement of the round is recorded."""
        return self in {Phase.SETTLED, Phase.COLLECTED, Phase.PAID}


class Act(StrEnum):
    """An act that moves a round to its next phase."""

    OPEN_BETS = "open-bets"
    TUMBLE = "tumble"
    """Covers the tumbler or shaker and starts the dice."""
    ACTIVATE_SHAKER = "activate-shaker"
    """Starts an automated shaker; its dice can be seen when they rest."""
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
    """A condition that an act needs."""

    TABLE_INSPECTED = "table-inspected"
    SHIFT_INSPECTED = "shift-inspected"
    DICE_WITHIN_LIFE = "dice-within-life"
    SHOE_CAN_COMPLETE = "shoe-can-complete"
    ENOUGH_TUMBLES = "enough-tumbles"
    DICE_FLAT = "dice-flat"
    OUTCOME_OPEN = "outcome-open"
    """No die tumbled for this round was seen."""


class Irregularity(StrEnum):
    """What can go wrong at a table."""

    TOO_FEW_TUMBLES = "too-few-tumbles"
    EXPOSED_EARLY = "exposed-early"
    """Someone sees concealed dice, or a card, before bets close."""
    EXPOSED_LATE = "exposed-late"
    """Someone sees concealed dice, or a card, after bets close and before they are uncovered."""
    UNTUMBLED_IN_VIEW = "untumbled-in-view"
    """Dice that were not tumbled for this round lie in view."""
    DICE_OVER_AGE = "dice-over-age"
    """The dice are on the table for longer than the document allows."""
    DIE_NOT_FLAT = "die-not-flat"
    DIE_DAMAGED = "die-damaged"
    DOME_OR_DICE_BROKEN = "dome-or-dice-broken"
    LATE_BET = "late-bet"
    """A bet is placed or increased after bets close."""
    LATE_WITHDRAWAL = "late-withdrawal"
    CHIPS_UNCLEAR = "chips-unclear"
    """Chips are not clearly on an area, or were moved by accident."""
    EQUIPMENT_FAILURE = "equipment-failure"
    """The console, the lights or another electrical device fails."""
    AUTOMATED_SHAKER_FAILURE = "automated-shaker-failure"
    DEAL_NOT_PRESSED = "deal-not-pressed"
    """The cover is lifted before the deal button is pressed."""
    UNDER_MINIMUM = "under-minimum"
    OVER_MAXIMUM = "over-maximum"
    EARLIER_LIMIT_MISTAKE = "earlier-limit-mistake"
    POWER_FAILURE = "power-failure"
    TERMINALS_DOWN = "terminals-down"
    WRONG_RESULT = "wrong-result"
    """The entered result differs from the dice."""
    DISPLAY_WRONG = "display-wrong"
    FOREIGN_CARD = "foreign-card"
    CARD_COUNT_WRONG = "card-count-wrong"
    SHOE_SHORT = "shoe-short"
    TWO_SHAKERS = "two-shakers"
    """A manual shaker is used while the automated one is on the table."""
    OTHER = "other"

"""Commands and events: the steps of a round, its settlement and its corrections."""

from __future__ import annotations

from typing import ClassVar

from taisai.game.messages import Command, Event, Faces
from taisai.rules.clauses import Clause
from taisai.rules.vocabulary import Act, Phase


class Perform(Command, frozen=True, kw_only=True, tag="perform"):
    """An act of the round."""

    act: Act
    tumbles: int = 0
    """How often the dice tumbled, with 'tumble'."""
    faces: Faces = ()
    """What is keyed in, with 'enter-result'."""
    flat: bool = True
    """Whether every die lies flat, with 'enter-result'."""
    second: str | None = None
    """The witness, if the settlement needs one."""


class BetsOpened(Event, frozen=True, kw_only=True, tag="bets-opened"):
    """A round begins; the digest pins rulebook, settings, odds and limits in force."""

    round: int
    phase: Phase
    day: str
    terms: str


class BetsReopened(Event, frozen=True, kw_only=True, tag="bets-reopened"):
    """Bets open again: those on the layout stay, and the dice are tumbled again."""

    round: int
    phase: Phase


class BetsClosed(Event, frozen=True, kw_only=True, tag="bets-closed"):
    """No more bets."""

    phase: Phase


class DiceTumbled(Event, frozen=True, kw_only=True, tag="dice-tumbled"):
    """The dice tumbled under cover."""

    phase: Phase
    tumbles: int


class ShakerActivated(Event, frozen=True, kw_only=True, tag="shaker-activated"):
    """The automated shaker tossed the dice, which lie in view."""

    phase: Phase


class DealPressed(Event, frozen=True, kw_only=True, tag="deal-pressed"):
    """The deal button was pressed."""

    phase: Phase


class DiceUncovered(Event, frozen=True, kw_only=True, tag="dice-uncovered"):
    """The dice lie in view."""

    phase: Phase


class CardsDealt(Event, frozen=True, kw_only=True, tag="cards-dealt"):
    """Three cards lie face up."""

    phase: Phase


class ResultEntered(Event, frozen=True, kw_only=True, tag="result-entered"):
    """What was keyed in; the winning areas light where there are lights."""

    phase: Phase
    faces: Faces


class ResultCorrected(Event, frozen=True, kw_only=True, tag="result-corrected"):
    """The result was corrected to what the dice or cards show, before the settlement."""

    faces: Faces
    second: str | None


class RoundSettled(Event, frozen=True, kw_only=True, tag="round-settled"):
    """The record of a settlement: the result of each bet follows from it."""

    phase: Phase
    faces: Faces
    terms: str
    staked: int
    collected: int
    """Of losing stakes, to the house."""
    won: int
    """By winning bets above their stakes, from the house."""
    stakes_back: int
    """Stakes that came back: those of winners, and what limits kept out of the game."""
    second: str | None = None
    """The witness, if the settlement needed one."""


class LosersCollected(Event, frozen=True, kw_only=True, tag="losers-collected"):
    """Losing bets are off the layout."""

    phase: Phase
    collected: int
    second: str | None = None


class WinnersPaid(Event, frozen=True, kw_only=True, tag="winners-paid"):
    """Winning bets are paid."""

    phase: Phase
    paid: int
    second: str | None = None


class LightsCleared(Event, frozen=True, kw_only=True, tag="lights-cleared"):
    """The winning areas are dark again."""


class RoundConcluded(Event, frozen=True, kw_only=True, tag="round-concluded"):
    """The round is over."""

    round: int


class RoundVoided(Event, frozen=True, kw_only=True, tag="round-voided"):
    """The round has no result: every stake goes back, and whatever was settled is undone."""

    round: int
    staked: int
    settled: bool
    """Whether a settlement was undone."""
    owed_to_players: int
    owed_by_players: int
    later: Clause | None
    """The clause by which later rounds stay as they are, if there are any."""
    second: str | None


class VoidDeferred(Event, frozen=True, kw_only=True, tag="void-deferred"):
    """The round is void, and it waits until the settlement that was made by hand is entered."""

    since: ClassVar[int] = 2
    round: int
    second: str | None


class SettlementUndone(Event, frozen=True, kw_only=True, tag="settlement-undone"):
    """A settlement that is not yet paid was undone, so that bets can be treated otherwise."""

    round: int
    phase: Phase
    second: str | None
    """None if the document names the one person who decides."""


class RoundResettled(Event, frozen=True, kw_only=True, tag="round-resettled"):
    """A settlement was undone and done again by what the dice or cards showed."""

    round: int
    entered: Faces
    faces: Faces
    staked: int
    collected: int
    won: int
    stakes_back: int
    owed_to_players: int
    owed_by_players: int
    later: Clause | None
    second: str | None

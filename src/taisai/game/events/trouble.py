"""What went wrong, and what was decided."""

from __future__ import annotations

from taisai.game.events.event import Event
from taisai.game.vocabulary import Treatment
from taisai.rules.irregularities import Ruling
from taisai.rules.procedure import Declared, Recovery
from taisai.rules.vocabulary import Irregularity, Phase


class IrregularityRuled(Event, frozen=True, kw_only=True, tag="irregularity-ruled"):
    """Something went wrong, and what the rules order."""

    irregularity: Irregularity
    round: int | None
    phase: Phase
    ruling: Ruling
    foreseen: bool
    """Whether the document speaks of it."""
    seen: bool = False
    """Whether a concealed die was seen."""
    detail: str
    second: str | None


class WithdrawalOffered(Event, frozen=True, kw_only=True, tag="withdrawal-offered"):
    """Each player may withdraw all of his bets or none."""

    round: int


class WithdrawalChosen(Event, frozen=True, kw_only=True, tag="withdrawal-chosen"):
    """A player withdrew all of his bets, or none."""

    seat: str
    withdraw: bool


class WithdrawalClosed(Event, frozen=True, kw_only=True, tag="withdrawal-closed"):
    """The option is over; the round goes on where it stood."""


class Referred(Event, frozen=True, kw_only=True, tag="referred"):
    """Someone of the named rank, or above, has to decide."""

    referral: str
    subject: str
    """An irregularity, or one of the game's own subjects; their words have nothing in common."""
    round: int | None
    to: str
    holds: bool
    """Whether the round waits for it."""
    outside: bool
    """Whether no document speaks of it."""
    detail: str
    seat: str | None


class ReferralDecided(Event, frozen=True, kw_only=True, tag="referral-decided"):
    """The decision and its reason; its effect follows in events of its own."""

    referral: str
    treatment: Treatment
    reason: str
    second: str | None


class Interrupted(Event, frozen=True, kw_only=True, tag="interrupted"):
    """The system stopped here, and what follows from it."""

    phase: Phase
    action: Recovery
    witness: str | None


class SightDeclared(Event, frozen=True, kw_only=True, tag="sight-declared"):
    """Dealer and supervisor declared whether a die was seen."""

    declared: Declared
    second: str


class SettlementWitnessed(Event, frozen=True, kw_only=True, tag="settlement-witnessed"):
    """From here on the round is settled in the presence of this rank, and the table shut after it."""

    witness: str
    reason: str

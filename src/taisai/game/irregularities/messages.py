"""Commands and events: irregularities, referrals, withdrawals, and stops of the system."""

from __future__ import annotations

from typing import ClassVar

from msgspec import UNSET, UnsetType, field

from taisai.game.messages import Command, Event, Faces
from taisai.game.vocabulary import Subject, Treatment
from taisai.rules.irregularities import Ruling
from taisai.rules.procedure import Declared, Recovery
from taisai.rules.vocabulary import Irregularity, Phase


class ReportIrregularity(Command, frozen=True, kw_only=True, tag="report"):
    """Reports an irregularity."""

    after_closing: ClassVar[bool] = True
    event: Irregularity
    round: int | None = None
    """The round that it concerns. Default: the current round."""
    through: int | None = None
    """The last affected round, if there are several."""
    seen: bool = False
    """Whether a concealed die was seen."""
    faces: Faces = ()
    """What the dice or cards really showed."""
    item: str | None = None
    """The equipment that failed."""
    detail: str = ""
    second: str | None = None


class CallAttendant(Command, frozen=True, kw_only=True, tag="call-attendant"):
    """A player calls staff, or disputes a round."""

    seat: str
    subject: Subject
    round: int | None = None
    detail: str = ""


class DecideReferral(Command, frozen=True, kw_only=True, tag="decide-referral"):
    """The decision on a referral, its reason and its effect."""

    after_closing: ClassVar[bool] = True
    referral: str
    treatment: Treatment
    reason: str
    round: int | None = None
    through: int | None = None
    faces: Faces = ()
    bets: dict[str, str | None] = field(default_factory=dict)
    """With 'treat-bets': bet → the area it counts on, or None where it is returned."""
    second: str | None = None


class ChooseWithdrawal(Command, frozen=True, kw_only=True, tag="choose-withdrawal"):
    """A player withdraws all of their bets, or none."""

    seat: str
    withdraw: bool


class CloseWithdrawal(Command, frozen=True, kw_only=True, omit_defaults=True, tag="close-withdrawal"):
    """The Dealer closes the option to withdraw."""

    others_stay: bool = False
    """Whether every player who did not choose was asked and stays."""


class ConfirmReport(Command, frozen=True, kw_only=True, tag="confirm-report"):
    """A second person confirms a report that holds a round; what the document orders follows."""

    since: ClassVar[int] = 2
    after_closing: ClassVar[bool] = True
    report: str


class ContestReport(Command, frozen=True, kw_only=True, tag="contest-report"):
    """A second person contests a report that holds a round; it is referred."""

    since: ClassVar[int] = 2
    after_closing: ClassVar[bool] = True
    report: str
    reason: str


class Recover(Command, frozen=True, kw_only=True, tag="recover"):
    """The system is back after a stop."""

    from_clients: ClassVar[bool] = False
    before_opening: ClassVar[bool] = True
    stopped_for: int | None = None
    """Milliseconds of a stop that no player felt; None where it was felt or is not known."""


class Declare(Command, frozen=True, kw_only=True, tag="declare"):
    """Dealer and supervisor declare whether a die was seen."""

    declared: Declared
    second: str | None = None


class DeclareUnrecorded(Command, frozen=True, kw_only=True, tag="declare-unrecorded"):
    """Dealer and supervisor declare what happened at a live table while nothing was recorded."""

    since: ClassVar[int] = 2
    called: bool = False
    """Whether "no more bets" was announced."""
    tumbles: int = 0
    """How often the dice tumbled since the last record; 0 if they were not tumbled."""
    seen: bool = False
    """Whether a concealed die was seen."""
    early: bool = False
    """Whether it was seen before the announcement."""
    faces: Faces = ()
    """What the dice or cards showed, if they were uncovered."""
    settled: bool = False
    """Whether the round was settled by hand; what was handed over is entered next."""
    second: str | None = None


class IrregularityRuled(Event, frozen=True, kw_only=True, tag="irregularity-ruled"):
    """An irregularity and its ruling."""

    irregularity: Irregularity
    round: int | None
    phase: Phase
    ruling: Ruling
    foreseen: bool
    """Whether the document has a clause on it."""
    seen: bool = False
    """Whether a concealed die was seen."""
    detail: str
    second: str | None
    item: str | UnsetType = UNSET
    """The equipment that failed, if the report named it."""
    unsuitable: str | UnsetType = UNSET
    """Who was named as the second person and cannot be: unknown here, of too low a rank, or the reporter."""


class ReportHeld(Event, frozen=True, kw_only=True, tag="report-held"):
    """A report by one person waits for a second person, who confirms or contests it."""

    since: ClassVar[int] = 2
    report: str
    irregularity: Irregularity
    round: int | None
    through: int | None
    seen: bool
    faces: Faces
    item: str | None
    detail: str


class ReportConfirmed(Event, frozen=True, kw_only=True, tag="report-confirmed"):
    """A second person confirmed a report."""

    since: ClassVar[int] = 2
    report: str


class ReportContested(Event, frozen=True, kw_only=True, tag="report-contested"):
    """A second person contested a report, which is referred."""

    since: ClassVar[int] = 2
    report: str
    reason: str


class WithdrawalOffered(Event, frozen=True, kw_only=True, tag="withdrawal-offered"):
    """Each player may withdraw all of their bets or none."""

    round: int


class WithdrawalChosen(Event, frozen=True, kw_only=True, tag="withdrawal-chosen"):
    """A player withdrew all of their bets, or none."""

    seat: str
    withdraw: bool


class WithdrawalClosed(Event, frozen=True, kw_only=True, omit_defaults=True, tag="withdrawal-closed"):
    """The option is over; the round continues."""

    others_stay: bool = False
    """Whether every player who did not choose was asked and stays."""
    seen: bool = False
    """Whether the option ended because a die was seen."""


class Referred(Event, frozen=True, kw_only=True, tag="referred"):
    """A person of the named rank or above must decide."""

    referral: str
    subject: str
    """An irregularity, or one of the game's own subjects; their words have nothing in common."""
    round: int | None
    to: str
    holds: bool
    """Whether the round waits for it."""
    outside: bool
    """Whether no document has a clause on it."""
    detail: str
    seat: str | None


class ReferralDecided(Event, frozen=True, kw_only=True, tag="referral-decided"):
    """The decision and its reason; its effect follows in events of its own."""

    referral: str
    treatment: Treatment
    reason: str
    second: str | None


class ReferralEnded(Event, frozen=True, kw_only=True, tag="referral-ended"):
    """A referral has no question left, because a clause decides what it was about."""

    since: ClassVar[int] = 2
    referral: str


class Interrupted(Event, frozen=True, kw_only=True, tag="interrupted"):
    """The system stopped in this phase, and what the rules order then."""

    phase: Phase
    action: Recovery
    witness: str | None


class SightDeclared(Event, frozen=True, kw_only=True, tag="sight-declared"):
    """Dealer and supervisor declared whether a die was seen."""

    declared: Declared
    second: str


class UnrecordedDeclared(Event, frozen=True, kw_only=True, tag="unrecorded-declared"):
    """What Dealer and supervisor declared of a round while nothing was recorded, and where it stands now."""

    since: ClassVar[int] = 2
    round: int
    phase: Phase
    """The phase of the round with what was declared."""
    called: bool
    tumbles: int
    seen: bool
    early: bool
    faces: Faces
    settled: bool
    second: str


class SettlementWitnessed(Event, frozen=True, kw_only=True, tag="settlement-witnessed"):
    """The round is settled in the presence of a person of this rank, and the table is shut after it."""

    witness: str
    reason: str

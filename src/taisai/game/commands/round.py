"""The course of a round, and what goes wrong in it."""

from __future__ import annotations

from msgspec import field

from taisai.game.commands.command import Command, Faces
from taisai.game.vocabulary import Subject, Treatment
from taisai.rules.procedure import Declared
from taisai.rules.vocabulary import Act, Irregularity


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
    """Who is present, where a settlement needs a witness."""


class Report(Command, frozen=True, kw_only=True, tag="report"):
    """Something went wrong."""

    event: Irregularity
    round: int | None = None
    """The round that it concerns; the round in hand unless said."""
    through: int | None = None
    """The last round affected, where a range is."""
    seen: bool = False
    """Whether any die was seen, while they lay concealed."""
    faces: Faces = ()
    """What the dice or cards really showed."""
    item: str | None = None
    """The equipment that failed."""
    detail: str = ""
    second: str | None = None


class CallAttendant(Command, frozen=True, kw_only=True, tag="call-attendant"):
    """A player calls, or disputes a round."""

    seat: str
    subject: Subject
    round: int | None = None
    detail: str = ""


class DecideReferral(Command, frozen=True, kw_only=True, tag="decide-referral"):
    """The decision on a referral, its reason and its effect."""

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
    """A player withdraws all of his bets, or none."""

    seat: str
    withdraw: bool


class CloseWithdrawal(Command, frozen=True, kw_only=True, tag="close-withdrawal"):
    """The Dealer closes the option to withdraw."""


class Recover(Command, frozen=True, kw_only=True, tag="recover"):
    """The system is back after a stop."""

    stopped_for: int | None = None
    """Milliseconds of a stop that no player felt; None where it was felt or is not known."""


class Declare(Command, frozen=True, kw_only=True, tag="declare"):
    """Dealer and supervisor declare whether a die was seen."""

    declared: Declared
    second: str | None = None

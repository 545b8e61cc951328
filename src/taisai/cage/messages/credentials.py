"""Commands and events of credentials: activation codes, commitments, and access that is recovered."""

from __future__ import annotations

from typing import ClassVar

from taisai.cage.messages.people import HouseCommand, HouseEvent


class SetCredentials(HouseCommand, frozen=True, kw_only=True, tag="set-credentials"):
    """A person has a password and a second factor from now on; they are stored elsewhere."""

    person: str
    second: str | None = None
    """Who agrees, if someone else replaces the credentials of a possible second person."""


class CredentialsSet(HouseEvent, frozen=True, kw_only=True, tag="credentials-set"):
    """That a person's password and second factor were set, and by whom."""

    person: str
    second: str | None = None


class IssueActivation(HouseCommand, frozen=True, kw_only=True, tag="issue-activation"):
    """A person is given a code for their first sign-in; the credentials that they had end at once."""

    since: ClassVar[int] = 2
    person: str
    code: str
    """The keyed hash of the code, 64 hexadecimal characters. The code itself is stored nowhere."""
    until: int
    second: str | None = None
    """Who agrees; None only while the opener of the House gives the first codes."""


class ActivationIssued(HouseEvent, frozen=True, kw_only=True, tag="activation-issued"):
    """A person has a code for their first sign-in, and no other credentials."""

    since: ClassVar[int] = 2
    person: str
    code: str
    until: int
    second: str | None = None


class CommitCredentials(HouseCommand, frozen=True, kw_only=True, tag="commit-credentials"):
    """A person sets their own password and second factor; only what matches the commitment counts."""

    since: ClassVar[int] = 2
    person: str
    commitment: str
    """A keyed hash over the credentials, 64 hexadecimal characters."""
    activation: str | None = None
    """The keyed hash of the code of a first sign-in; None if the person had credentials."""


class CredentialsCommitted(HouseEvent, frozen=True, kw_only=True, tag="credentials-committed"):
    """A person set their own credentials."""

    since: ClassVar[int] = 2
    person: str
    commitment: str
    activation: str | None = None


class AdoptCredentials(HouseCommand, frozen=True, kw_only=True, tag="adopt-credentials"):
    """The live server commits to the credentials that were set before there were commitments."""

    since: ClassVar[int] = 2
    commitments: dict[str, str]
    """Person → commitment. Other people need an activation code."""


class CredentialsAdopted(HouseEvent, frozen=True, kw_only=True, tag="credentials-adopted"):
    """The stored credentials of these people count as they are now. It happens once."""

    since: ClassVar[int] = 2
    commitments: dict[str, str]


class RecoverAccess(HouseCommand, frozen=True, kw_only=True, tag="recover-access"):
    """Given at the command line with the House's key: a supervisor gets a code for a first sign-in."""

    since: ClassVar[int] = 2
    person: str
    rank: str
    code: str
    until: int
    reason: str


class AccessRecovered(HouseEvent, frozen=True, kw_only=True, tag="access-recovered"):
    """A supervisor was enrolled or given a new code at the machine, with the House's key."""

    since: ClassVar[int] = 2
    person: str
    rank: str
    code: str
    until: int
    reason: str


class AcknowledgeRecovery(HouseCommand, frozen=True, kw_only=True, tag="acknowledge-recovery"):
    """A supervisor has seen that access was recovered for another person, and ends the alarm."""

    since: ClassVar[int] = 2
    person: str


class RecoveryAcknowledged(HouseEvent, frozen=True, kw_only=True, tag="recovery-acknowledged"):
    """A supervisor has seen that access was recovered."""

    since: ClassVar[int] = 2
    person: str

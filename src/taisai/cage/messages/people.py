"""Commands and events of the House: its staff list, its devices, sign-ins, and what the live server notes."""

from __future__ import annotations

from enum import StrEnum
from typing import ClassVar

from taisai.game.messages import Message
from taisai.rules.clauses import Clause


class HouseCommand(Message, frozen=True, kw_only=True, tag_field="command"):
    """A request to the House."""


class HouseEvent(Message, frozen=True, kw_only=True, tag_field="event"):
    """Something that happened at the House."""

    clause: Clause
    """`house:…`: the documents have no clauses on the cage."""


class OpenHouse(HouseCommand, frozen=True, kw_only=True, tag="open-house"):
    """The first command of the House's stream; its actor may enrol the first people alone."""

    house: str
    currency: str
    ladder: tuple[str, ...]
    """The ranks, lowest first."""
    second_rank: str
    """The least rank of the second person under dual control."""


class HouseOpened(HouseEvent, frozen=True, kw_only=True, tag="house-opened"):
    """The first event: the House, its currency and its ranks."""

    house: str
    currency: str
    ladder: tuple[str, ...]
    second_rank: str


class EnrolPerson(HouseCommand, frozen=True, kw_only=True, tag="enrol-person"):
    """A person is added to the staff list, or gets another rank."""

    person: str
    rank: str
    second: str | None = None
    """Who agrees, if a person of the rank can be a second person."""


class PersonEnrolled(HouseEvent, frozen=True, kw_only=True, tag="person-enrolled"):
    """A person is on the staff list with this rank."""

    person: str
    rank: str
    second: str | None = None


class DismissPerson(HouseCommand, frozen=True, kw_only=True, omit_defaults=True, tag="dismiss-person"):
    """A person leaves the staff list."""

    person: str
    second: str | None = None
    """Who agrees, if the person can be a second person."""


class PersonDismissed(HouseEvent, frozen=True, kw_only=True, omit_defaults=True, tag="person-dismissed"):
    """A person is off the staff list."""

    person: str
    second: str | None = None


class DeviceKind(StrEnum):
    """What a device is."""

    TERMINAL = "terminal"
    DISPLAY = "display"
    SHAKER = "shaker"
    CHIP_READER = "chip-reader"


class SignOutCause(StrEnum):
    """Why a session ended."""

    SIGNED_OUT = "signed-out"
    """The person left."""
    IDLE = "idle"
    """Nothing was done for too long."""
    EXPIRED = "expired"
    """It was as old as a session may be."""
    REVOKED = "revoked"
    """Someone else ended it."""
    STOPPED = "stopped"
    """The system stopped under it."""


# Devices


class EnrolDevice(HouseCommand, frozen=True, kw_only=True, tag="enrol-device"):
    """A device may connect from now on, by its key."""

    device: str
    kind: DeviceKind
    key: str
    """Its Ed25519 public key, 64 hexadecimal characters."""
    table: str
    seat: str | None = None
    """A terminal's seat; other devices have none."""


class DeviceEnrolled(HouseEvent, frozen=True, kw_only=True, tag="device-enrolled"):
    """A device of the House, with its key and its place."""

    device: str
    kind: DeviceKind
    key: str
    table: str
    seat: str | None = None


class DismissDevice(HouseCommand, frozen=True, kw_only=True, tag="dismiss-device"):
    """A device may no longer connect."""

    device: str
    reason: str


class DeviceDismissed(HouseEvent, frozen=True, kw_only=True, tag="device-dismissed"):
    """A device was removed from the House."""

    device: str
    reason: str


# Sign-ins, which the live server notes


class NoteSignIn(HouseCommand, frozen=True, kw_only=True, tag="note-sign-in"):
    """A person proved who they are, and a session is open."""

    person: str
    session: str
    """The public name of the session, not its secret."""
    address: str


class SignedIn(HouseEvent, frozen=True, kw_only=True, tag="signed-in"):
    """A person signed in."""

    person: str
    session: str
    address: str


class NoteFailure(HouseCommand, frozen=True, kw_only=True, omit_defaults=True, tag="note-failure"):
    """Someone failed to sign in as a person; the password is not recorded."""

    person: str
    address: str
    why: str
    counts: bool = True
    """Whether it counts towards a lock: since format 2 only a right password with a wrong code."""


class SignInFailed(HouseEvent, frozen=True, kw_only=True, omit_defaults=True, tag="sign-in-failed"):
    """Someone failed to sign in."""

    person: str
    """The name as the staff list has it, if it does."""
    known: bool
    """Whether the name is on the staff list."""
    address: str
    why: str
    counts: bool = True


class PersonLocked(HouseEvent, frozen=True, kw_only=True, tag="person-locked"):
    """A person cannot sign in until they are unlocked: too many failures in a row. Open sessions stay."""

    person: str
    failures: int


class UnlockPerson(HouseCommand, frozen=True, kw_only=True, tag="unlock-person"):
    """A locked person may sign in again."""

    person: str
    reason: str
    second: str | None = None
    """Who agrees; None if it is done at the command line with the journal's key."""


class PersonUnlocked(HouseEvent, frozen=True, kw_only=True, tag="person-unlocked"):
    """A person may sign in again, and their failures no longer count."""

    person: str
    reason: str
    second: str | None = None


class NoteSignOut(HouseCommand, frozen=True, kw_only=True, tag="note-sign-out"):
    """A session is over."""

    person: str
    session: str
    why: SignOutCause


class SignedOut(HouseEvent, frozen=True, kw_only=True, tag="signed-out"):
    """A session ended."""

    person: str
    session: str
    why: SignOutCause


class RevokeSessions(HouseCommand, frozen=True, kw_only=True, tag="revoke-sessions"):
    """All sessions of a person are to end at once."""

    person: str
    reason: str


class SessionsRevoked(HouseEvent, frozen=True, kw_only=True, tag="sessions-revoked"):
    """All sessions of a person ended."""

    person: str
    reason: str


# What the live server notes: settings, starts and stops, and what people should look at


class TakeSettings(HouseCommand, frozen=True, kw_only=True, tag="take-settings"):
    """All settings under which the system runs from now on; none is secret."""

    settings: dict[str, str]


class SettingsTaken(HouseEvent, frozen=True, kw_only=True, tag="settings-taken"):
    """The system runs under these settings, which differ from those before."""

    settings: dict[str, str]


class AdoptInterpretations(HouseCommand, frozen=True, kw_only=True, tag="adopt-interpretations"):
    """A person of the rank that the document names adopts the interpretations of a rulebook's edition."""

    since: ClassVar[int] = 2
    rulebook: str
    edition: int
    digest: str
    """The digest of the whole text, interpretations included."""
    rank: str
    """The least rank, as the rulebook says it."""
    asked_by: str
    """The clause of the document that asks for the adoption."""


class InterpretationsAdopted(HouseEvent, frozen=True, kw_only=True, tag="interpretations-adopted"):
    """The interpretations of an edition of a rulebook are adopted, by name and date."""

    since: ClassVar[int] = 2
    rulebook: str
    edition: int
    digest: str
    rank: str
    asked_by: str


class NoteWin(HouseCommand, frozen=True, kw_only=True, tag="note-win"):
    """A seat won at least the threshold in a round, which people should look at."""

    table: str
    round: int
    seat: str
    amount: int
    threshold: int


class LargeWinNoted(HouseEvent, frozen=True, kw_only=True, tag="large-win-noted"):
    """A seat won at least the threshold in a round."""

    table: str
    round: int
    seat: str
    amount: int
    threshold: int


class NoteOverride(HouseCommand, frozen=True, kw_only=True, tag="note-override"):
    """A person decided differently from a device's reading or the system's proposal."""

    table: str
    person: str
    what: str
    detail: str


class OverrideNoted(HouseEvent, frozen=True, kw_only=True, tag="override-noted"):
    """A person decided against a device or a proposal."""

    table: str
    person: str
    what: str
    detail: str


class NoteAlarm(HouseCommand, frozen=True, kw_only=True, tag="note-alarm"):
    """The results of a set of dice are unlike those of fair dice."""

    table: str
    item: str
    serial: str
    results: int
    """How many results of a single die were counted."""
    e_value: str
    """The evidence as text for people; no figure is computed from it."""


class DiceAlarmNoted(HouseEvent, frozen=True, kw_only=True, tag="dice-alarm-noted"):
    """A set of dice gave an alarm."""

    table: str
    item: str
    serial: str
    results: int
    e_value: str


class NoteOverAge(HouseCommand, frozen=True, kw_only=True, tag="note-over-age"):
    """An item lies on a table longer than the document allows."""

    since: ClassVar[int] = 2
    table: str
    item: str
    serial: str
    hours: int
    """The most hours that the document allows."""


class OverAgeNoted(HouseEvent, frozen=True, kw_only=True, tag="over-age-noted"):
    """An item lies on a table longer than the document allows; the pit has an alarm."""

    since: ClassVar[int] = 2
    table: str
    item: str
    serial: str
    hours: int

"""What is asked at the House's door, and what must hold of whoever comes in whatever is asked."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from taisai.cage import House
from taisai.cage.messages import (
    AccessRecovered,
    AcknowledgeRecovery,
    ActivationIssued,
    AdoptCredentials,
    AmountsLimited,
    ClockJumped,
    CommitCredentials,
    CredentialsAdopted,
    CredentialsCommitted,
    CredentialsSet,
    DeviceKind,
    DiceAlarmNoted,
    DismissDevice,
    EnrolDevice,
    HouseCommand,
    HouseEvent,
    IssueActivation,
    LargeWinNoted,
    NoteAlarm,
    NoteClock,
    NoteFailure,
    NoteOverAge,
    NoteOverride,
    NotePlace,
    NoteSignIn,
    NoteSignOut,
    NoteStart,
    NoteStop,
    NoteWin,
    OverAgeNoted,
    OverrideNoted,
    PersonDismissed,
    PersonEnrolled,
    PersonLocked,
    PersonUnlocked,
    PlaceNoted,
    RecoverAccess,
    RevokeSessions,
    SessionsRevoked,
    SetCredentials,
    SettingsTaken,
    SignedIn,
    SignedOut,
    SignInFailed,
    SignOutCause,
    SystemStarted,
    SystemStopped,
    TakeSettings,
    TicketsArchived,
    UnlockPerson,
)
from taisai.game.vocabulary import FLOOR, SYSTEM, folded

NOON: Final = 1_700_000_000_000
BY_FLOOR: dict[str, Any] = {"at": NOON, "by": FLOOR}
BY_MAX: dict[str, Any] = {"at": NOON, "by": "max"}
KEY: Final = "0123456789abcdef" * 4

TERMINAL = EnrolDevice(device="PT5", kind=DeviceKind.TERMINAL, key=KEY, table="T7", seat="5", **BY_MAX)
DISPLAY = EnrolDevice(device="board", kind=DeviceKind.DISPLAY, key=KEY, table="T7", **BY_MAX)
IN = NoteSignIn(person="ann", session="s1", address="10.0.0.7", **BY_FLOOR)
OUT = NoteSignOut(person="ann", session="s1", why=SignOutCause.IDLE, **BY_FLOOR)
FAILED = NoteFailure(person="ann", address="10.0.0.7", why="password or code", **BY_FLOOR)
UNLOCK = UnlockPerson(person="ann", reason="he forgot it", second="sue", **BY_MAX)
UNLOCK_BY_KEY = UnlockPerson(person="ann", reason="nobody is left who could", **BY_FLOOR)
KNOWN = SetCredentials(person="ann", at=NOON, by="ann")
"""Without which no failure of ann's counts."""
REVOKE = RevokeSessions(person="sue", reason="a lost tablet", **BY_MAX)
SET = SetCredentials(person="sue", second="ivy", **BY_MAX)
SETTINGS = TakeSettings(settings={"large_win": "500000", "idle_minutes": "15"}, **BY_FLOOR)
PLACE = NotePlace(machine=KEY[:16], file=KEY[16:32], restored=False, **BY_FLOOR)
WIN = NoteWin(table="T7", round=3, seat="5", amount=900_000, threshold=1, **BY_FLOOR)
NOTES: tuple[HouseCommand, ...] = (
    NoteStart(program="taisai 0.4", manifest="sha256:" + KEY, **BY_FLOOR),
    NoteStop(**BY_FLOOR),
    NoteClock(jump=-3_600_000, **BY_FLOOR),
    NoteOverride(table="T7", person="ann", what="result", detail="read 2 3 5, entered 2 3 6", **BY_FLOOR),
    NoteAlarm(table="T7", item="dice", serial="D-17", results=4_002, e_value="1204.5", **BY_FLOOR),
    NoteOverAge(table="T7", item="dice", serial="D-17", hours=24, **BY_FLOOR),
)
"""What is noted each time, however often it is asked."""
EACH_TIME: Final[tuple[type[HouseCommand], ...]] = (NoteFailure, SetCredentials, *map(type, NOTES))

AT_THE_DOOR: tuple[HouseCommand, ...] = (
    TERMINAL,
    DISPLAY,
    DismissDevice(device="board", reason="its screen is broken", **BY_MAX),
    KNOWN,
    SetCredentials(person="sue", **BY_MAX),
    SetCredentials(person="sue", at=NOON, by="sue"),
    NoteSignIn(person="sue", session="s2", address="10.0.0.8", **BY_FLOOR),
    IN,
    NoteFailure(person="eve", address="203.0.113.9", why="password or code", **BY_FLOOR),
    FAILED,
    NoteFailure(person="ANN", address="10.0.0.7", why="password or code", **BY_FLOOR),
    FAILED,
    UNLOCK,
    OUT,
    REVOKE,
    SETTINGS,
    WIN,
    PLACE,
    *NOTES,
)
"""Each of them is done, one after the other."""
TURNED_AWAY: tuple[HouseCommand, ...] = (
    FAILED,
    FAILED,
    FAILED,
    IN,
    UnlockPerson(person="ann", reason="he forgot it", at=NOON, by="max"),
    UnlockPerson(person="ann", reason="he forgot it", second="max", at=NOON, by="max"),
    UnlockPerson(person="ann", reason="he forgot it", second="sue", at=NOON, by="ann"),
    SetCredentials(person="sue", **BY_MAX),
    EnrolDevice(device="PT6", kind=DeviceKind.TERMINAL, key=KEY, table="T7", seat="5", **BY_MAX),
    EnrolDevice(device="pt5", kind=DeviceKind.DISPLAY, key=KEY, table="T7", **BY_MAX),
    EnrolDevice(device="Sue", kind=DeviceKind.DISPLAY, key=KEY, table="T7", **BY_MAX),
    NoteSignIn(person="max", session="s3", address="10.0.0.9", at=NOON, by="sue"),
    UNLOCK,
    FAILED,
    IN,
    IN,
    FAILED,
    FAILED,
    NoteSignIn(person="max", session="s4", address="10.0.0.9", **BY_FLOOR),
    *(NoteFailure(person="bob", address="10.0.0.7", why="no-credentials", **BY_FLOOR) for _ in range(4)),
    FAILED,
    UnlockPerson(person="ann", reason="a lie", second="ann", **BY_FLOOR),
    UNLOCK_BY_KEY,
)
"""A lock that holds, two who are one, seats and names that are taken, and failures that a success parts."""

CODE: Final = "c0de" * 16
COMMITTED: Final = "ab" * 32
DAY: Final = 24 * 3_600_000
OWN_CREDENTIALS: tuple[HouseCommand, ...] = (
    AdoptCredentials(commitments={"ann": COMMITTED, "max": COMMITTED, "sue": COMMITTED}, **BY_FLOOR),
    IssueActivation(person="bob", code=CODE, until=NOON + DAY, second="sue", **BY_MAX),
    CommitCredentials(person="bob", commitment=COMMITTED, activation=CODE, at=NOON, by="bob"),
    RecoverAccess(
        person="tom", rank="supervisor", code=CODE, until=NOON + DAY, reason="a lost telephone", **BY_FLOOR
    ),
    AcknowledgeRecovery(person="tom", **BY_MAX),
)
"""Done one after the other, where ann, max and sue have credentials; from then on the House is guarded."""

_FLOOR_EVENTS: Final = (
    CredentialsAdopted, AccessRecovered,
    SignedIn, SignInFailed, SignedOut, PersonLocked, SettingsTaken, SystemStarted, SystemStopped, ClockJumped,
    LargeWinNoted, OverrideNoted, DiceAlarmNoted, OverAgeNoted, PlaceNoted, AmountsLimited, TicketsArchived,
)  # fmt: skip


class Retold:
    """Who is in and who is locked, told from the events alone in another way than the House's."""

    def __init__(self) -> None:
        self.roll: dict[str, str] = {}
        self.failures: dict[str, int] = {}
        self.locked: set[str] = set()
        self.open: set[tuple[str, str]] = set()
        self.had: set[str] = set()
        self.own: set[str] = set()
        """People who set their own credentials."""
        self.codes: dict[str, str] = {}
        self.guarded = False
        self.faults: list[str] = []

    def wrong(self, house: House, event: HouseEvent) -> Iterator[str]:
        """What does not hold of devices, sessions and locks after the next event."""
        self._take(event)
        yield from self.faults
        late = {one for one, failures in self.failures.items() if failures >= 3} - self.locked
        late -= {one for one in late if self._needed(one)}
        if late and not isinstance(event, SignInFailed):  # whose lock is the next event
            yield f"{late} not locked after three failures"
        if set(house.sessions.items()) != self.open:
            yield f"sessions are {house.sessions}, by the events {self.open}"
        if (house.guarded, set(house.commitments), house.credentials) != (self.guarded, self.own, self.had):
            yield f"credentials are those of {house.credentials}, by the events {self.had}"
        if house.locked != self.locked:
            yield f"locked are {house.locked}, by the events {self.locked}"
        if gone := set(house.sessions.values()) - house.people.keys():
            yield f"sessions of {gone}, who left"
        names = [folded(name) for name in (*house.people, *house.devices)] + sorted(SYSTEM)
        if len(set(names)) != len(names):
            yield f"two of one name among {names}"
        places = [(one.table, one.seat) for one in house.devices.values() if one.kind is DeviceKind.TERMINAL]
        if len(set(places)) != len(places):
            yield f"two terminals at one seat: {places}"

    def _take(self, event: HouseEvent) -> None:
        if isinstance(event, _FLOOR_EVENTS) != (event.by == FLOOR) and not isinstance(event, PersonUnlocked):
            self.faults.append(f"{event} is not whose it is")
        if missing := self.locked - self.failures.keys():
            self.faults.append(f"{missing} locked without failures")
        self._own(event)
        self._roll(event)
        self._door(event)
        self._locks(event)

    def _roll(self, event: HouseEvent) -> None:
        match event:
            case PersonEnrolled():
                self.roll[event.person] = event.rank
            case PersonDismissed():
                del self.roll[event.person]
                self._no_credentials(event.person)
                self._close(event.person)
                if event.person not in self.locked:
                    self.failures.pop(event.person, None)
            case CredentialsSet():
                self._set(event)
            case _:
                pass

    def _supervises(self, person: str) -> bool:
        return self.roll.get(person, "cashier") != "cashier"

    def _able(self) -> set[str]:
        return {one for one in self.own if self._supervises(one)} - self.locked

    def _needed(self, person: str) -> bool:
        """Whether someone is one of the last two supervisors who can sign in."""
        return self.guarded and person in self._able() and len(self._able()) < 3

    def _no_credentials(self, person: str) -> None:
        self.had.discard(person)
        self.own.discard(person)
        self.codes.pop(person, None)

    def _own(self, event: HouseEvent) -> None:
        """What follows from credentials that people set themselves."""
        lost = isinstance(event, PersonDismissed | ActivationIssued) or (
            isinstance(event, PersonEnrolled) and event.rank == "cashier"
        )
        if lost and self._needed(event.person):  # type: ignore[attr-defined]
            self.faults.append(f"{event} leaves {self._able()} alone")
        match event:
            case ActivationIssued() | AccessRecovered():
                self._no_credentials(event.person)
                self.codes[event.person] = event.code
                self._close(event.person)
                self.guarded |= isinstance(event, AccessRecovered)
            case CredentialsCommitted():
                has_code = self.codes.pop(event.person, None) == event.activation is not None
                if event.by != event.person or not (has_code or event.person in self.own):
                    self.faults.append(f"{event} with the codes {self.codes}")
                self.had.add(event.person)
                self.own.add(event.person)
                self.guarded = True
            case CredentialsAdopted():
                if self.guarded or event.commitments.keys() - self.had:
                    self.faults.append(f"{event} with the credentials of {self.had}")
                self.had, self.own = set(event.commitments), set(event.commitments)
                self.guarded = True
            case _:
                pass
        if isinstance(event, AccessRecovered):
            self.roll[event.person] = event.rank
            self.locked.discard(event.person)
            self.failures.pop(event.person, None)

    def _door(self, event: HouseEvent) -> None:
        match event:
            case SignedIn():
                if event.person not in self.roll or event.person in self.locked:
                    self.faults.append(f"{event} of someone who may not come in")
                self.failures.pop(event.person, None)
                self.open.add((event.session, event.person))
            case SignedOut():
                self.open.discard((event.session, event.person))
            case SessionsRevoked():
                self._close(event.person)
            case _:
                pass

    def _locks(self, event: HouseEvent) -> None:
        match event:
            case SignInFailed():
                self._fail(event)
            case PersonLocked():
                if self.failures.get(event.person, 0) != 3 or event.person in self.locked:
                    self.faults.append(f"{event} after {self.failures.get(event.person)} failures")
                self.locked.add(event.person)
            case PersonUnlocked():
                if folded(event.person) in {folded(event.by), folded(event.second or "")}:
                    self.faults.append(f"{event} of himself")
                if event.second is None and event.by != FLOOR:
                    self.faults.append(f"{event} by one alone")
                self.locked.discard(event.person)
                self.failures.pop(event.person, None)
            case _:
                pass

    def _fail(self, event: SignInFailed) -> None:
        alike = {folded(one) for one in self.roll}
        if event.known != (folded(event.person) in alike):
            self.faults.append(f"{event} with {sorted(self.roll)} on the roll")
        if event.counts and event.known and event.person in self.had and event.person not in self.locked:
            self.failures[event.person] = self.failures.get(event.person, 0) + 1

    def _set(self, event: CredentialsSet) -> None:
        if self.guarded:
            self.faults.append(f"{event} instead of one's own")
        supervising = self.roll.get(event.person) != "cashier"
        if event.person in self.had and supervising and event.by != event.person and event.second is None:
            self.faults.append(f"{event} was done without a second person")
        self.had.add(event.person)

    def _close(self, person: str) -> None:
        self.open = {one for one in self.open if one[1] != person}

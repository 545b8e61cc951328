"""Access to the House: ranks, devices, sign-ins and locks. What events change, and what is refused."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from taisai.cage import credentials, messages
from taisai.cage.messages import DeviceEnrolled, DeviceKind, HouseCommand, HouseEvent, SignInFailed
from taisai.cage.values import lookup, too_many
from taisai.game.refusals import Reason, Refusal
from taisai.game.vocabulary import SYSTEM, folded, is_name
from taisai.rules.clauses import Clause
from taisai.validation import quoted

if TYPE_CHECKING:
    from taisai.cage.house import House


class StreamError(Exception):
    """An event that cannot follow the ones before it: a defect, never a refusal."""


FLOOR_LADDER: Final = (
    "auditor",
    "cashier",
    "dealer",
    "floorperson",
    "pit-supervisor",
    "pit-manager",
    "casino-supervisor",
    "shift-manager",
    "administrator",
)
"""Lowest first: the ranks of all documents, and those of auditors, cashiers and administrators."""
ADMINISTRATOR: Final = "administrator"
ADOPTION: Final = Clause("house:adoption")
FLOOR_SECOND: Final = "pit-supervisor"
"""The least rank of a second person: what the documents call a supervisor, or above."""
MOST_FAILURES: Final = 3
"""Failures in a row that lock a person, of those that count. It never changes: an audit decides every sign-in
again."""
MOST_ADOPTED: Final = 1_000  # editions of rulebooks: the house has a few, and each a new one at times
MOST_WINS: Final = 1_000
"""Large wins of all tables that are kept. A start notes the latest rounds of its tables again."""


class AdoptedEdition(NamedTuple):
    """Who adopted the interpretations of an edition of a rulebook, and when."""

    rulebook: str
    edition: int
    by: str
    at: int


Win = tuple[str, int, str]
"""Table, round and seat."""


class EnrolledDevice(NamedTuple):
    """A device that may connect."""

    name: str
    kind: DeviceKind
    key: str
    """Its Ed25519 public key, 64 hexadecimal characters."""
    table: str
    seat: str | None = None
    """A terminal's seat."""

    @property
    def place(self) -> tuple[str, str] | None:
        """Table and seat of a terminal, which no other terminal has."""
        return None if self.seat is None else (self.table, self.seat)


def device_of(event: DeviceEnrolled) -> EnrolledDevice:
    """The device that an event enrols."""
    return EnrolledDevice(event.device, event.kind, event.key, event.table, event.seat)


def apply_access(house: House, event: HouseEvent) -> bool:
    """Applies an event of devices, sign-ins or notes; returns whether it was one."""
    change = _CHANGES.get(type(event))
    if change is not None:
        change(house, event)
    return change is not None


def forget_person(house: House, person: str) -> None:
    """Ends what belongs to a person who leaves the staff list; a lock stays, or one person could undo it."""
    _end_sessions(house, person)
    house.failures.pop(person, None)
    house.recovered.pop(person, None)
    credentials.forget_credentials(house, person)


# Devices


def _enrol(house: House, event: DeviceEnrolled) -> None:
    device = device_of(event)
    name = folded(device.name)
    taken = house.device_names.get(name) or (device.place and house.terminals.get(device.place))
    if taken:
        raise StreamError(f"name or seat of a device used twice: {event} besides {taken!r}")
    house.devices[device.name] = device
    house.device_names[name] = device.name
    if device.place:
        house.terminals[device.place] = device.name


def _dismiss(house: House, event: messages.DeviceDismissed) -> None:
    device = house.devices.pop(event.device, None)
    if device is None:
        raise StreamError(f"expected a device of the House, got {event}")
    del house.device_names[folded(device.name)]
    if device.place:
        del house.terminals[device.place]


# People


def _sign_in(house: House, event: messages.SignedIn) -> None:
    if event.person not in house.people or event.person in house.locked or event.session in house.sessions:
        raise StreamError(f"expected a new session of a person who may sign in, got {event}")
    house.sessions[event.session] = event.person
    house.failures.pop(event.person, None)


def _fail(house: House, event: SignInFailed) -> None:
    if event.known != (event.person in house.people):
        raise StreamError(f"the staff list contradicts {event}")
    credentials.count_wrong_activation(house, event)
    if counts(house, event):
        house.failures[event.person] = min(house.failures.get(event.person, 0) + 1, MOST_FAILURES)


def counts(house: House, event: SignInFailed) -> bool:
    """Whether a failure counts towards a lock: only for people who have credentials."""
    is_guess = event.why != credentials.WRONG_PASSKEY
    return event.counts and event.known and is_guess and event.person in house.credentials


def _lock(house: House, event: messages.PersonLocked) -> None:
    if event.person not in house.people or event.person in house.locked:
        raise StreamError(f"expected a person on the staff list who is not locked, got {event}")
    house.locked.add(event.person)


def _unlock(house: House, event: messages.PersonUnlocked) -> None:
    if event.person not in house.locked:
        raise StreamError(f"expected a locked person, got {event}")
    house.locked.discard(event.person)
    house.failures.pop(event.person, None)


def _sign_out(house: House, event: messages.SignedOut) -> None:
    if house.sessions.get(event.session) != event.person:
        raise StreamError(f"expected an open session, got {event}")
    del house.sessions[event.session]


def _revoke(house: House, event: messages.SessionsRevoked) -> None:
    _end_sessions(house, event.person)


def _end_sessions(house: House, person: str) -> None:
    house.sessions = {session: other for session, other in house.sessions.items() if other != person}


def _set_credentials(house: House, event: messages.CredentialsSet) -> None:
    if event.person not in house.people:
        raise StreamError(f"expected a person on the staff list, got {event}")
    house.credentials.add(event.person)


# Notes


def _take_settings(house: House, event: messages.SettingsTaken) -> None:
    house.settings = dict(sorted(event.settings.items()))


def _note_win(house: House, event: messages.LargeWinNoted) -> None:
    win = (event.table, event.round, event.seat)
    house.wins.pop(win, None)
    house.wins[win] = event.amount
    while len(house.wins) > MOST_WINS:
        del house.wins[next(iter(house.wins))]


def _override(house: House, event: messages.WitnessOverridden) -> None:
    house.witness_overridden = event.until


def _adopt(house: House, event: messages.InterpretationsAdopted) -> None:
    house.adopted[event.digest] = AdoptedEdition(event.rulebook, event.edition, event.by, event.at)


def adoption_refusals(house: House, command: messages.AdoptInterpretations) -> Iterator[Refusal]:
    """Why a person may not adopt the interpretations of a rulebook; an administrator may not."""
    rank = house.people.get(command.by) if is_name(command.by) else None
    if command.rank not in house.ladder:
        message = f"unknown rank {quoted(command.rank)}; known: {', '.join(house.ladder)}"
        yield Refusal(Reason.BAD_VALUE, ADOPTION, message)
    elif rank is not None and (
        rank == ADMINISTRATOR or house.ladder.index(rank) < house.ladder.index(command.rank)
    ):
        message = f"only a {command.rank} or a higher rank may do this, not {command.by!r} ({rank})"
        yield Refusal(Reason.NOT_PERMITTED, ADOPTION, message)
    known = lookup(house.adopted, command.digest)
    if known is not None and known.by != command.by:
        message = (
            f"{known.by!r} adopted the interpretations of {known.rulebook}, edition {known.edition}, already"
        )
        yield Refusal(Reason.RULED_OUT, ADOPTION, message)


def _note_place(house: House, event: messages.PlaceNoted) -> None:
    house.machine, house.file = event.machine, event.file


def _only_note(_house: House, _event: HouseEvent) -> None:
    """The event is only recorded."""


_CHANGES: Final[Mapping[type[HouseEvent], Callable[[House, Any], None]]] = {
    DeviceEnrolled: _enrol,
    messages.DeviceDismissed: _dismiss,
    messages.SignedIn: _sign_in,
    SignInFailed: _fail,
    messages.PersonLocked: _lock,
    messages.PersonUnlocked: _unlock,
    messages.SignedOut: _sign_out,
    messages.SessionsRevoked: _revoke,
    messages.CredentialsSet: _set_credentials,
    messages.SettingsTaken: _take_settings,
    messages.InterpretationsAdopted: _adopt,
    messages.WitnessOverridden: _override,
    messages.LargeWinNoted: _note_win,
    messages.SystemStarted: _only_note,
    messages.SystemStopped: _only_note,
    messages.ClockJumped: _only_note,
    messages.OverrideNoted: _only_note,
    messages.DiceAlarmNoted: _only_note,
    messages.OverAgeNoted: _only_note,
    messages.PlaceNoted: _note_place,
    **credentials.CHANGES,
}


MOST_DEVICES: Final = 10_000  # of the House at a time: five tables with all their seats
MOST_SESSIONS_OPEN: Final = 20_000  # of all staff: two for each person on a full staff list

_ACCESS: Final = Clause("house:access")
_DEVICES: Final = Clause("house:devices")


def failed_person(house: House, command: messages.NoteFailure) -> dict[str, Any]:
    """The person who failed to sign in: names are compared without regard to case."""
    person = house.called(command.person)
    return {"person": command.person if person is None else person, "known": person is not None}


def access_retry(house: House, event: HouseEvent) -> Refusal | bool:
    """Whether the event changes nothing; a refusal if its name belongs to something else."""
    match event:
        case DeviceEnrolled():
            kept = lookup(house.devices, event.device)
            if kept is None or kept == device_of(event):
                return kept is not None
            return Refusal(
                Reason.DIFFERENT_CONTENT, _DEVICES, f"the name belongs to another device: {_described(kept)}"
            )
        case messages.SignedIn() | messages.SignedOut():
            return _known_session(house, event)
        case messages.PersonUnlocked():
            return lookup(house.people, event.person) is not None and event.person not in house.locked
        case messages.SessionsRevoked():
            on_staff_list = lookup(house.people, event.person) is not None
            return on_staff_list and event.person not in house.sessions.values()
        case messages.SettingsTaken():
            return house.settings == event.settings
        case messages.PlaceNoted():
            return not event.restored and (house.machine, house.file) == (event.machine, event.file)
        case messages.LargeWinNoted():
            return lookup(house.wins, (event.table, event.round, event.seat)) == event.amount
        case _:
            return credentials.is_credential_retry(house, event)


def _known_session(house: House, event: messages.SignedIn | messages.SignedOut) -> Refusal | bool:
    person = lookup(house.sessions, event.session)
    if person is None:
        return isinstance(event, messages.SignedOut)  # the session is closed already
    if person != event.person:
        message = f"session {quoted(event.session)} does not belong to {quoted(event.person)}"
        return Refusal(Reason.DIFFERENT_CONTENT, _ACCESS, message)
    return isinstance(event, messages.SignedIn)


def access_refusals(house: House, command: HouseCommand) -> Iterator[Refusal]:
    """Why the state of the House does not allow the command."""
    match command:
        case messages.EnrolDevice():
            yield from _enrollable(house, command)
        case messages.DismissDevice():
            if lookup(house.devices, command.device) is None:
                message = f"the House has no device {quoted(command.device)}"
                yield Refusal(Reason.BAD_VALUE, _DEVICES, message)
        case (
            messages.NoteSignIn()
            | messages.RevokeSessions()
            | messages.SetCredentials()
            | messages.UnlockPerson()
        ):
            yield from _unknown_or_locked(house, command)
            yield from credentials.credential_refusals(house, command)
        case _:
            yield from credentials.credential_refusals(house, command)


def _unknown_or_locked(
    house: House,
    command: messages.NoteSignIn | messages.RevokeSessions | messages.SetCredentials | messages.UnlockPerson,
) -> Iterator[Refusal]:
    person = command.person
    locked = is_name(person) and person in house.locked
    if isinstance(command, messages.UnlockPerson) and locked:
        return  # also a person who has left the staff list: they stay locked
    if lookup(house.people, person) is None:
        message = f"expected a person on the staff list, got {quoted(person)}"
        yield Refusal(Reason.UNKNOWN_PERSON, _ACCESS, message)
    elif isinstance(command, messages.NoteSignIn) and locked:
        message = f"{person!r} is locked after {MOST_FAILURES} failures"
        yield Refusal(Reason.RULED_OUT, _ACCESS, message)


def _enrollable(house: House, command: messages.EnrolDevice) -> Iterator[Refusal]:
    if not is_name(command.device):
        return  # and its value is refused
    yield from name_taken(house, command.device, _DEVICES)
    place = (command.table, command.seat)
    if command.kind is DeviceKind.TERMINAL and (other := lookup(house.terminals, place)):
        message = f"seat {quoted(command.seat)} of table {quoted(command.table)} has the terminal {other!r}"
        yield Refusal(Reason.RULED_OUT, _DEVICES, message)


def name_taken(house: House, name: str, clause: Clause) -> Iterator[Refusal]:
    """Why a person or a device may not have a name: in an entry, `by` must mean one thing."""
    alike, what = folded(name), "device" if clause == _DEVICES else "person"
    if alike in SYSTEM:
        message = f"{name!r} is one of the system's own actors, not a {what}"
        yield Refusal(Reason.BAD_VALUE, clause, message)
    for other, whose in ((house.names.get(alike), "person"), (house.device_names.get(alike), "device")):
        if other is not None and (whose, other) != (what, name):
            message = f"the name {name!r} is taken by the {whose} {other!r}"
            yield Refusal(Reason.BAD_VALUE, clause, message)


def left_locked(house: House, person: str) -> Iterator[Refusal]:
    """Why a new person may not have a name: in other letters it would escape a lock."""
    for name in house.locked:
        if name != person and folded(name) == folded(person):
            message = f"the name {person!r} is taken by {name!r}, who left the staff list while locked"
            yield Refusal(Reason.BAD_VALUE, _ACCESS, message)


def access_limits(house: House, event: HouseEvent) -> Iterator[Refusal]:
    """Which limit would be exceeded."""
    if isinstance(event, DeviceEnrolled) and len(house.devices) >= MOST_DEVICES:
        yield too_many("devices", MOST_DEVICES)
    if isinstance(event, messages.InterpretationsAdopted) and len(house.adopted) >= MOST_ADOPTED:
        yield too_many("editions whose interpretations are adopted", MOST_ADOPTED)
    if isinstance(event, messages.SignedIn) and len(house.sessions) >= MOST_SESSIONS_OPEN:
        yield too_many("open sessions", MOST_SESSIONS_OPEN)


def consequences(house: House, event: HouseEvent) -> tuple[HouseEvent, ...]:
    """What follows from an event at once: too many failures in a row lock a person."""
    if not isinstance(event, SignInFailed) or event.person in house.locked:
        return ()
    if not counts(house, event):
        return ()
    failures = house.failures.get(event.person, 0) + 1
    if failures < MOST_FAILURES or credentials.would_leave_too_few(house, event.person):
        return ()
    locked = messages.PersonLocked(
        at=event.at, by=event.by, clause=event.clause, person=event.person, failures=failures
    )
    return (locked,)


def _described(device: EnrolledDevice) -> str:
    seat = f", seat {device.seat!r}" if device.seat is not None else ""
    return f"{device.name!r}, a {device.kind} of table {device.table!r}{seat}"

"""Why a device or a person may not come in, what is known already, and what a failure leads to."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from taisai.cage import messages as said
from taisai.cage.house import House
from taisai.cage.messages import HouseCommand, HouseEvent
from taisai.cage.presence import MOST_FAILURES, EnrolledDevice, counts, device_of
from taisai.cage.values import found, too_many
from taisai.game.refusals import Reason, Refusal
from taisai.game.vocabulary import SYSTEM, folded, is_name
from taisai.rules.clauses import Clause
from taisai.validation import quoted

MOST_DEVICES: Final = 10_000  # of the House at a time: five tables of as many seats as one may have
MOST_SESSIONS_OPEN: Final = 20_000  # of all staff: everyone on a full roll at two screens

_ACCESS: Final = Clause("house:access")
_DEVICES: Final = Clause("house:devices")


def failed_as(house: House, command: said.NoteFailure) -> dict[str, Any]:
    """Whose failure it is: a name in other letters is still the one on the roll."""
    person = house.called(command.person)
    return {"person": command.person if person is None else person, "known": person is not None}


def again_at_door(house: House, event: HouseEvent) -> Refusal | bool:
    """Whether it is so already; a refusal where its name is known for something else."""
    match event:
        case said.DeviceEnrolled():
            kept = found(house.devices, event.device)
            if kept is None or kept == device_of(event):
                return kept is not None
            return Refusal(
                Reason.DIFFERENT_CONTENT, _DEVICES, f"expected a new device, but there is {_told(kept)}"
            )
        case said.SignedIn() | said.SignedOut():
            return _known_session(house, event)
        case said.PersonUnlocked():
            return found(house.people, event.person) is not None and event.person not in house.locked
        case said.SessionsRevoked():
            on_roll = found(house.people, event.person) is not None
            return on_roll and event.person not in house.sessions.values()
        case said.SettingsTaken():
            return house.settings == event.settings
        case said.LargeWinNoted():
            return found(house.wins, (event.table, event.round, event.seat)) == event.amount
        case _:
            return False


def _known_session(house: House, event: said.SignedIn | said.SignedOut) -> Refusal | bool:
    person = found(house.sessions, event.session)
    if person is None:
        return isinstance(event, said.SignedOut)  # what is not open needs no end
    if person != event.person:
        got = f"expected a session of {quoted(event.person)}, got {quoted(event.session)}, which is another's"
        return Refusal(Reason.DIFFERENT_CONTENT, _ACCESS, got)
    return isinstance(event, said.SignedIn)


def not_admitted(house: House, command: HouseCommand) -> Iterator[Refusal]:
    """Why it cannot be done as things stand."""
    match command:
        case said.EnrolDevice():
            yield from _enrollable(house, command)
        case said.DismissDevice():
            if found(house.devices, command.device) is None:
                got = f"expected a device of the House, got {quoted(command.device)}"
                yield Refusal(Reason.BAD_VALUE, _DEVICES, got)
        case said.NoteSignIn() | said.RevokeSessions() | said.SetCredentials() | said.UnlockPerson():
            yield from _nobody(house, command)
        case _:
            pass


def _nobody(
    house: House, command: said.NoteSignIn | said.RevokeSessions | said.SetCredentials | said.UnlockPerson
) -> Iterator[Refusal]:
    person = command.person
    locked = is_name(person) and person in house.locked
    if isinstance(command, said.UnlockPerson) and locked:
        return  # also one who has left: whoever comes back is locked
    if found(house.people, person) is None:
        got = f"expected someone on the staff roll, got {quoted(person)}"
        yield Refusal(Reason.UNKNOWN_PERSON, _ACCESS, got)
    elif isinstance(command, said.NoteSignIn) and locked:
        got = f"expected someone who is not locked, got {person!r} after {MOST_FAILURES} failures"
        yield Refusal(Reason.RULED_OUT, _ACCESS, got)


def _enrollable(house: House, command: said.EnrolDevice) -> Iterator[Refusal]:
    if not is_name(command.device):
        return  # and its value is refused
    yield from name_taken(house, command.device, _DEVICES)
    place = (command.table, command.seat)
    if command.kind is said.DeviceKind.TERMINAL and (other := found(house.terminals, place)):
        got = f"seat {quoted(command.seat)} of table {quoted(command.table)}, which {other!r} is"
        yield Refusal(Reason.RULED_OUT, _DEVICES, f"expected a seat without a terminal, got {got}")


def name_taken(house: House, name: str, clause: Clause) -> Iterator[Refusal]:
    """Why a person or a device may not be called so: an entry's `by` must mean one thing."""
    alike, what = folded(name), "device" if clause == _DEVICES else "person"
    if alike in SYSTEM:
        got = f"expected a {what}, got {name!r}, one of the system's own actors"
        yield Refusal(Reason.BAD_VALUE, clause, got)
    for other, whose in ((house.names.get(alike), "person"), (house.device_names.get(alike), "device")):
        if other is not None and (whose, other) != (what, name):
            got = f"expected a name that nobody else has, got {name!r} besides {other!r}, a {whose}"
            yield Refusal(Reason.BAD_VALUE, clause, got)


def left_locked(house: House, person: str) -> Iterator[Refusal]:
    """Why a newcomer may not be called so: in other letters he would have shed his lock."""
    for one in house.locked:
        if one != person and folded(one) == folded(person):
            got = (
                f"expected a name that nobody left the roll with while locked, got {person!r} besides {one!r}"
            )
            yield Refusal(Reason.BAD_VALUE, _ACCESS, got)


def too_many_at_door(house: House, event: HouseEvent) -> Iterator[Refusal]:
    """Which greatest number would be exceeded."""
    if isinstance(event, said.DeviceEnrolled) and len(house.devices) >= MOST_DEVICES:
        yield too_many("devices", MOST_DEVICES)
    if isinstance(event, said.SignedIn) and len(house.sessions) >= MOST_SESSIONS_OPEN:
        yield too_many("open sessions", MOST_SESSIONS_OPEN)


def consequences(house: House, event: HouseEvent) -> tuple[HouseEvent, ...]:
    """What follows from an event at once: with one failure too many in a row a person is locked."""
    if not isinstance(event, said.SignInFailed) or event.person in house.locked:
        return ()
    if not counts(house, event):
        return ()
    failures = house.failures.get(event.person, 0) + 1
    if failures < MOST_FAILURES:
        return ()
    locked = said.PersonLocked(
        at=event.at, by=event.by, clause=event.clause, person=event.person, failures=failures
    )
    return (locked,)


def _told(device: EnrolledDevice) -> str:
    seat = f", seat {device.seat!r}" if device.seat is not None else ""
    return f"{device.name!r}, a {device.kind} of table {device.table!r}{seat}"

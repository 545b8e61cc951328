"""Who and what is at work: devices, sign-ins, settings, large wins, and what each event changes of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from taisai.cage.errors import StreamError
from taisai.cage.messages import (
    ClockJumped,
    CredentialsSet,
    DeviceDismissed,
    DeviceEnrolled,
    DeviceKind,
    DiceAlarmNoted,
    HouseEvent,
    LargeWinNoted,
    OverrideNoted,
    PersonLocked,
    PersonUnlocked,
    SessionsRevoked,
    SettingsTaken,
    SignedIn,
    SignedOut,
    SignInFailed,
    SystemStarted,
    SystemStopped,
)
from taisai.game.vocabulary import folded

if TYPE_CHECKING:
    from taisai.cage.house import House

MOST_FAILURES: Final = 3
"""In a row, before a person is locked. Kept for ever: an audit decides every sign-in again."""
MOST_WINS: Final = 1_000
"""Of all tables that are remembered. A start notes the latest rounds of its tables anew; it needs no more."""

Win = tuple[str, int, str]
"""Table, round and seat."""


class EnrolledDevice(NamedTuple):
    """A device that may come in."""

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


def apply_presence(house: House, event: HouseEvent) -> bool:
    """Changes the House by an event of this kind; else tells that it is of another."""
    change = _CHANGES.get(type(event))
    if change is not None:
        change(house, event)
    return change is not None


def forget_person(house: House, person: str) -> None:
    """What ends where a person leaves the roll; a lock does not, or one person could undo it alone."""
    _end_sessions(house, person)
    house.failures.pop(person, None)
    house.credentials.discard(person)


# Devices


def _enrol(house: House, event: DeviceEnrolled) -> None:
    device = device_of(event)
    name = folded(device.name)
    taken = house.device_names.get(name) or (device.place and house.terminals.get(device.place))
    if taken:
        raise StreamError(
            f"expected a device with a name and a seat of its own, got {event} besides {taken!r}"
        )
    house.devices[device.name] = device
    house.device_names[name] = device.name
    if device.place:
        house.terminals[device.place] = device.name


def _dismiss(house: House, event: DeviceDismissed) -> None:
    device = house.devices.pop(event.device, None)
    if device is None:
        raise StreamError(f"expected a device of the House, got {event}")
    del house.device_names[folded(device.name)]
    if device.place:
        del house.terminals[device.place]


# People


def _sign_in(house: House, event: SignedIn) -> None:
    if event.person not in house.people or event.person in house.locked or event.session in house.sessions:
        raise StreamError(f"expected a new session of someone who may come in, got {event}")
    house.sessions[event.session] = event.person
    house.failures.pop(event.person, None)


def _fail(house: House, event: SignInFailed) -> None:
    if event.known != (event.person in house.people):
        raise StreamError(f"expected the roll to know whom it knows, got {event}")
    if counts(house, event):
        house.failures[event.person] = min(house.failures.get(event.person, 0) + 1, MOST_FAILURES)


def counts(house: House, event: SignInFailed) -> bool:
    """Whether a failure leads to a lock: nobody guesses at credentials that are not there."""
    return event.known and event.person in house.credentials


def _lock(house: House, event: PersonLocked) -> None:
    if event.person not in house.people or event.person in house.locked:
        raise StreamError(f"expected someone on the roll who is not locked, got {event}")
    house.locked.add(event.person)


def _unlock(house: House, event: PersonUnlocked) -> None:
    if event.person not in house.locked:
        raise StreamError(f"expected someone who is locked, got {event}")
    house.locked.discard(event.person)
    house.failures.pop(event.person, None)


def _sign_out(house: House, event: SignedOut) -> None:
    if house.sessions.get(event.session) != event.person:
        raise StreamError(f"expected an open session, got {event}")
    del house.sessions[event.session]


def _revoke(house: House, event: SessionsRevoked) -> None:
    _end_sessions(house, event.person)


def _end_sessions(house: House, person: str) -> None:
    house.sessions = {session: other for session, other in house.sessions.items() if other != person}


def _set_credentials(house: House, event: CredentialsSet) -> None:
    if event.person not in house.people:
        raise StreamError(f"expected someone on the roll, got {event}")
    house.credentials.add(event.person)


# Notes


def _take_settings(house: House, event: SettingsTaken) -> None:
    house.settings = dict(sorted(event.settings.items()))


def _note_win(house: House, event: LargeWinNoted) -> None:
    win = (event.table, event.round, event.seat)
    house.wins.pop(win, None)
    house.wins[win] = event.amount
    while len(house.wins) > MOST_WINS:
        del house.wins[next(iter(house.wins))]


def _only_note(_house: House, _event: HouseEvent) -> None:
    """The stream remembers it, and nothing is decided by it."""


_CHANGES: Final[Mapping[type[HouseEvent], Callable[[House, Any], None]]] = {
    DeviceEnrolled: _enrol,
    DeviceDismissed: _dismiss,
    SignedIn: _sign_in,
    SignInFailed: _fail,
    PersonLocked: _lock,
    PersonUnlocked: _unlock,
    SignedOut: _sign_out,
    SessionsRevoked: _revoke,
    CredentialsSet: _set_credentials,
    SettingsTaken: _take_settings,
    LargeWinNoted: _note_win,
    SystemStarted: _only_note,
    SystemStopped: _only_note,
    ClockJumped: _only_note,
    OverrideNoted: _only_note,
    DiceAlarmNoted: _only_note,
}

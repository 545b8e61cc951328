"""Devices and people at the House's door: who may come in, who lets them, and what locks and unlocks."""

from __future__ import annotations

from typing import Any

import pytest

from taisai.cage import FLOOR_LADDER, FLOOR_SECOND, MOST_FAILURES, House, access
from taisai.cage import decide as cage
from taisai.cage.messages import (
    DeviceKind,
    DismissDevice,
    DismissPerson,
    EnrolDevice,
    EnrolPerson,
    HouseCommand,
    NoteSignIn,
    PersonLocked,
    PersonUnlocked,
    RevokeSessions,
    SetCredentials,
    SignInFailed,
    SignOutCause,
    UnlockPerson,
)
from taisai.game.refusals import Reason
from taisai.game.vocabulary import FLOOR, SYSTEM
from tests.game.house_access import (
    AT_THE_DOOR,
    BY_FLOOR,
    BY_MAX,
    DISPLAY,
    FAILED,
    IN,
    KEY,
    KNOWN,
    OUT,
    REVOKE,
    TERMINAL,
    UNLOCK,
    UNLOCK_BY_KEY,
)
from tests.game.houses import NOON, OPENING, begun, but, done, name_of, refused, refused_for

FLOOR_ALONE = {type(command): command for command in AT_THE_DOOR if command.by == FLOOR}
SUPERVISED = (
    TERMINAL,
    DismissDevice(device="PT5", reason="worn", **BY_MAX),
    but(REVOKE, person="ann"),
    UNLOCK,
)


def with_credentials() -> House:
    """A House whose people can sign in, and so be locked."""
    house = begun()
    done(house, *(SetCredentials(at=NOON, by=one, person=one) for one in house.people))
    return house


# Who may


@pytest.mark.parametrize("command", FLOOR_ALONE.values(), ids=name_of)
def test_what_the_live_server_notes_nobody_else_does(command: HouseCommand) -> None:
    house = begun()
    stranger: Any
    for stranger in ("max", "owner", "table", "Floor", "", [], None):
        refusal = refused(house, but(command, by=stranger))
        assert refusal.reason is Reason.NOT_PERMITTED
        assert "expected the live server itself ('floor'), got" in refusal.message


@pytest.mark.parametrize("command", SUPERVISED, ids=name_of)
@pytest.mark.parametrize(
    ("by", "reason"),
    [
        ("sue", None),
        ("max", None),
        ("owner", None),
        ("bob", Reason.NOT_PERMITTED),
        ("eve", Reason.UNKNOWN_PERSON),
        ("clock", Reason.UNKNOWN_PERSON),
    ],
)
def test_devices_and_sessions_are_a_supervisors(
    command: HouseCommand, by: str, reason: Reason | None
) -> None:
    house = with_credentials()
    if not isinstance(command, EnrolDevice):
        done(house, TERMINAL, IN, *[FAILED] * MOST_FAILURES)
    second = {"second": "max" if by == "sue" else "sue"} if isinstance(command, UnlockPerson) else {}
    assert refused_for(house, but(command, by=by, **second)) is reason


@pytest.mark.parametrize(
    ("by", "second", "person", "reason"),
    [
        ("max", "sue", "ann", None),
        ("sue", "max", "ann", None),
        ("owner", "sue", "ann", None),
        ("owner", "sue", "max", None),
        ("max", None, "ann", Reason.SECOND_PERSON),
        ("max", "max", "ann", Reason.SECOND_PERSON),
        ("max", "bob", "ann", Reason.SECOND_PERSON),
        ("owner", "max", "max", Reason.SECOND_PERSON),
        ("ann", "sue", "ann", Reason.NOT_PERMITTED),
        ("max", "sue", "max", Reason.NOT_PERMITTED),
        ("sue", "max", "max", Reason.NOT_PERMITTED),
        ("bob", "sue", "ann", Reason.NOT_PERMITTED),
        ("max", "sue", "eve", Reason.UNKNOWN_PERSON),
        ("max", "sue", "ANN", Reason.UNKNOWN_PERSON),
    ],
)
def test_who_unlocks_whom(by: str, second: Any, person: str, reason: Reason | None) -> None:
    house = with_credentials()
    done(house, *(but(FAILED, person=one) for one in ("ann", "max") * MOST_FAILURES))
    assert house.locked == {"ann", "max"}
    command = UnlockPerson(at=NOON, by=by, second=second, person=person, reason="he forgot it")
    assert refused_for(house, command) is reason
    if reason is None:
        [event] = done(house, command)
        assert (event.by, event.second, event.reason) == (by, second, "he forgot it")  # type: ignore[attr-defined]
        assert person not in house.locked
        assert person not in house.failures


@pytest.mark.parametrize("person", ["ann", "max"])
def test_the_house_key_unlocks_where_nobody_is_left_who_could(person: str) -> None:
    house = with_credentials()
    unlock = UnlockPerson(at=NOON, by=FLOOR, person=person, reason="everyone was locked")
    assert done(house, unlock) == ()
    done(house, *(but(FAILED, person=one) for one in ("ann", "max", "sue") * MOST_FAILURES))
    assert house.locked == {"ann", "max", "sue"}
    [event] = done(house, unlock)
    assert isinstance(event, PersonUnlocked)
    assert (event.by, event.second, event.reason) == (FLOOR, None, "everyone was locked")
    assert event.clause == "house:access"
    assert house.locked == {"ann", "max", "sue"} - {person}
    assert done(house, unlock) == ()


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"by": "Floor"}, Reason.UNKNOWN_PERSON),
        ({"by": "house"}, Reason.UNKNOWN_PERSON),
        ({"second": "bob"}, Reason.SECOND_PERSON),  # nothing untrue is recorded
        ({"second": "ann"}, Reason.SECOND_PERSON),
        ({"second": ""}, Reason.SECOND_PERSON),
        ({"reason": ""}, Reason.BAD_VALUE),
        ({"reason": "x" * 501}, Reason.BAD_VALUE),
        ({"person": "eve"}, Reason.UNKNOWN_PERSON),
    ],
)
def test_what_the_house_key_does_not_do(changes: dict[str, Any], reason: Reason) -> None:
    house = with_credentials()
    done(house, *[FAILED] * MOST_FAILURES)
    assert refused(house, but(UNLOCK_BY_KEY, **changes)).reason is reason


def test_anyone_who_opened_the_house_does_not_unlock_themselves_in_other_letters() -> None:
    house = House()
    one = EnrolPerson(at=NOON, by="Sue", person="sue", rank="manager")
    done(house, but(OPENING, by="Sue"), one, but(one, person="max"))
    done(house, SetCredentials(at=NOON, by="sue", person="sue"))
    done(house, *[but(FAILED, person="sue")] * MOST_FAILURES)
    unlock = UnlockPerson(at=NOON, by="Sue", second="max", person="sue", reason="she forgot it")
    assert refused(house, unlock).reason is Reason.NOT_PERMITTED


@pytest.mark.parametrize(
    ("by", "person", "reason"),
    [
        ("max", "sue", None),
        ("sue", "ann", None),
        ("owner", "max", None),
        ("sue", "max", Reason.NOT_PERMITTED),
        ("max", "max", Reason.NOT_PERMITTED),
        ("max", "eve", Reason.UNKNOWN_PERSON),
        ("max", [], Reason.UNKNOWN_PERSON),
    ],
)
def test_nobody_revokes_the_sessions_of_someone_above_them(
    by: str, person: Any, reason: Reason | None
) -> None:
    house = begun()
    done(house, *(but(IN, person=one, session=one) for one in ("ann", "sue", "max")))
    command = RevokeSessions(at=NOON, by=by, person=person, reason="a lost tablet")
    assert refused_for(house, command) is reason
    if reason is None:
        done(house, command)
        assert house.sessions == {one: one for one in ("ann", "sue", "max") if one != person}
        assert done(house, command) == ()


@pytest.mark.parametrize(
    ("by", "second", "person", "reason"),
    [
        ("ann", None, "ann", None),
        ("sue", None, "sue", None),
        ("sue", None, "ann", None),
        ("max", "tom", "sue", None),
        ("owner", "max", "sue", None),
        ("max", None, "sue", Reason.SECOND_PERSON),  # or he could sign in as her, and be two
        ("owner", None, "max", Reason.SECOND_PERSON),
        ("max", "sue", "sue", Reason.SECOND_PERSON),
        ("max", "max", "sue", Reason.SECOND_PERSON),
        ("max", "bob", "ann", Reason.SECOND_PERSON),  # nothing untrue is recorded
        ("sue", "tom", "max", Reason.NOT_PERMITTED),
        ("bob", None, "ann", Reason.NOT_PERMITTED),
        ("eve", None, "eve", Reason.UNKNOWN_PERSON),
        ("max", None, "eve", Reason.UNKNOWN_PERSON),
    ],
)
def test_who_replaces_whose_credentials(by: str, second: Any, person: str, reason: Reason | None) -> None:
    house = begun()
    done(house, EnrolPerson(at=NOON, by="max", second="sue", person="tom", rank="supervisor"))
    done(house, *(SetCredentials(at=NOON, by=one, person=one) for one in ("ann", "sue", "max")))
    command = SetCredentials(at=NOON, by=by, second=second, person=person)
    assert refused_for(house, command) is reason


def test_the_first_credentials_of_a_supervisor_take_one_person() -> None:
    house = begun()
    first = SetCredentials(at=NOON, by="max", person="sue")
    done(house, first)
    assert house.credentials == {"sue"}
    assert refused(house, first).reason is Reason.SECOND_PERSON
    done(house, DismissPerson(at=NOON, by="max", person="sue"))
    assert house.credentials == set()


# Devices


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"device": "PT6"}, Reason.RULED_OUT),
        ({"device": "pt5", "seat": "6"}, Reason.BAD_VALUE),
        ({"device": "ＰＴ５", "seat": "6"}, Reason.BAD_VALUE),
        ({"device": "Sue", "seat": "6"}, Reason.BAD_VALUE),
        *(({"device": actor, "seat": "6"}, Reason.BAD_VALUE) for actor in sorted(SYSTEM)),
        ({"seat": "6"}, Reason.DIFFERENT_CONTENT),
        ({"table": "T8"}, Reason.DIFFERENT_CONTENT),
        ({"key": KEY[::-1]}, Reason.DIFFERENT_CONTENT),
        ({"kind": DeviceKind.SHAKER, "seat": None}, Reason.DIFFERENT_CONTENT),
        ({"device": "PT6", "seat": "6"}, None),
        ({"device": "PT6", "table": "T8"}, None),
        ({"device": "board", "kind": DeviceKind.DISPLAY, "seat": None}, None),
    ],
)
def test_a_device_has_a_name_and_a_terminal_a_seat_of_its_own(
    changes: dict[str, Any], reason: Reason | None
) -> None:
    house = begun()
    done(house, TERMINAL)
    command = but(TERMINAL, **changes)
    if reason is not None:
        assert refused(house, command).reason is reason
        return
    done(house, command)
    kept = house.devices[command.device]
    assert kept == (command.device, command.kind, command.key, command.table, command.seat)


def test_a_person_is_not_called_like_a_device() -> None:
    house = begun()
    done(house, TERMINAL)
    refusal = refused(house, EnrolPerson(at=NOON, by="max", person="pt5", rank="cashier"))
    assert (refusal.reason, "'pt5' is taken by the device 'PT5'" in refusal.message) == (
        Reason.BAD_VALUE,
        True,
    )


def test_a_device_enrolled_again_changes_nothing_and_a_dismissed_one_leaves_its_place() -> None:
    house = begun()
    done(house, TERMINAL)
    assert done(house, TERMINAL, but(TERMINAL, by="sue", at=NOON + 9)) == ()
    dismissal = DismissDevice(device="PT5", reason="worn", **BY_MAX)
    [event] = done(house, dismissal)
    assert (event.clause, house.devices, house.terminals) == ("house:devices", {}, {})
    assert refused(house, dismissal).reason is Reason.BAD_VALUE
    done(house, but(TERMINAL, device="PT6"))


@pytest.mark.parametrize(
    ("changes", "wanted"),
    [
        ({"key": KEY[1:]}, "64 hexadecimal"),
        ({"key": KEY + "0"}, "64 hexadecimal"),
        ({"key": KEY.upper()}, "64 hexadecimal"),
        ({"key": KEY[:-1] + "\n"}, "64 hexadecimal"),
        ({"key": None}, "64 hexadecimal"),
        ({"kind": "terminal"}, "one of terminal, display, shaker, chip-reader"),
        ({"kind": None}, "one of terminal"),
        ({"seat": None}, "(seat)"),
        ({"seat": "x" * 65}, "(seat)"),
        ({"table": ""}, "(table)"),
        ({"device": "x" * 65}, "(device)"),
        ({"device": "a\nb"}, "(device)"),
        ({"kind": DeviceKind.DISPLAY}, "no seat, because only a terminal has one"),
    ],
)
def test_a_device_that_is_not_told_rightly(changes: dict[str, Any], wanted: str) -> None:
    refusal = refused(begun(), but(TERMINAL, **changes))
    assert (refusal.reason, refusal.clause) == (Reason.BAD_VALUE, "house:devices")
    assert wanted in refusal.message


# Sign-ins


def failing(house: House, *people: str) -> list[str]:
    """Who is locked by each of some failures."""
    events = done(house, *(but(FAILED, person=person) for person in people))
    return [event.person for event in events if isinstance(event, PersonLocked)]


def test_the_third_failure_in_a_row_locks() -> None:
    house = with_credentials()
    assert failing(house, "ann", "bob", "ann", "bob") == []
    [failed, locked] = done(house, but(FAILED, person="ANN"))  # whoever types so means her
    assert isinstance(failed, SignInFailed)
    assert isinstance(locked, PersonLocked)
    assert (failed.person, failed.known, locked.person, locked.failures) == ("ann", True, "ann", 3)
    assert (failed.clause, locked.clause) == ("house:access", "house:access")
    refusal = refused(house, IN)
    assert (refusal.reason, refusal.clause) == (Reason.RULED_OUT, "house:access")
    assert failing(house, "ann", "ann", "ann") == []  # once is enough
    assert house.failures == {"ann": 3, "bob": 2}
    done(house, but(IN, person="bob"))
    assert house.failures == {"ann": 3}
    done(house, UNLOCK, but(IN, session="s2"))
    assert failing(house, "ann", "ann") == []


def test_a_success_begins_the_count_again() -> None:
    house = with_credentials()
    for session in "1234":
        assert failing(house, "ann", "ann") == []
        done(house, but(IN, session=session))


def test_failures_of_people_without_credentials_are_noted_and_lock_nobody() -> None:
    house = begun()
    events = done(house, *[FAILED] * 5)
    assert [(type(event), event.known) for event in events] == [(SignInFailed, True)] * 5  # type: ignore[attr-defined]
    assert (house.failures, house.locked) == ({}, set())
    done(house, KNOWN)
    assert failing(house, "ann", "ann") == []  # what came before is not held against her
    assert failing(house, "ann") == ["ann"]


def test_failures_of_unauthenticated_clients_are_noted_and_lock_nobody() -> None:
    house = begun()
    events = done(house, *[but(FAILED, person="eve")] * 5)
    assert [(event.person, event.known) for event in events if isinstance(event, SignInFailed)] == [
        ("eve", False)
    ] * 5
    assert (house.failures, house.locked) == ({}, set())


def test_a_session_is_opened_once_and_ended_once() -> None:
    house = begun()
    done(house, IN)
    assert (house.sessions, done(house, IN)) == ({"s1": "ann"}, ())
    for other in (but(IN, person="bob"), but(OUT, person="bob")):
        assert refused(house, other).reason is Reason.DIFFERENT_CONTENT
    done(house, OUT)
    assert (house.sessions, done(house, OUT, but(OUT, session="never"))) == ({}, ())


def test_who_is_not_on_the_staff_list_does_not_come_in() -> None:
    house = begun()
    person: Any
    for person in ("eve", "owner", "ANN", FLOOR):
        assert refused(house, but(IN, person=person)).reason is Reason.UNKNOWN_PERSON
    done(house, IN, but(IN, person="sue", session="s2"), DismissPerson(at=NOON, by="max", person="ann"))
    assert house.sessions == {"s2": "sue"}
    assert refused(house, but(IN, session="s3")).reason is Reason.UNKNOWN_PERSON
    assert done(house, OUT) == ()


def locks_shed() -> list[str]:
    """How someone who was locked comes in though nobody unlocked him."""
    house = with_credentials()
    done(house, *[FAILED] * MOST_FAILURES, DismissPerson(at=NOON, by="max", person="ann"))
    shed = []
    for name in ("Ann", "ann"):
        enrol = EnrolPerson(at=NOON, by="max", person=name, rank="cashier")
        if refused_for(house, enrol) is None:
            done(house, enrol)
            if refused_for(house, but(IN, person=name)) is not Reason.RULED_OUT:
                shed.append(name)
                done(house, DismissPerson(at=NOON, by="max", person=name))
    return shed


def test_a_lock_outlives_a_dismissal() -> None:
    assert locks_shed() == []
    house = with_credentials()
    done(house, *[FAILED] * MOST_FAILURES, DismissPerson(at=NOON, by="max", person="ann"))
    assert house.locked == {"ann"}
    done(house, UNLOCK)
    assert house.locked == set()
    done(house, EnrolPerson(at=NOON, by="max", person="Ann", rank="cashier"))


def test_sabotage_a_lock_shed_by_other_letters_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cage, "left_locked", lambda *_: ())
    assert locks_shed() == ["Ann"]


@pytest.mark.parametrize("command", [IN, OUT, FAILED], ids=name_of)
@pytest.mark.parametrize("field", ["person", "session"])
def test_names_of_people_and_devices_are_short_and_printable(command: HouseCommand, field: str) -> None:
    if field not in command.__struct_fields__:
        return
    unknown = isinstance(command, NoteSignIn) and field == "person"
    bad: Any
    for bad in ("", "x" * 65, "a\nb", 5, None, [], {}):
        reason = refused(begun(), but(command, **{field: bad})).reason
        assert reason is (Reason.UNKNOWN_PERSON if unknown else Reason.BAD_VALUE)


def test_why_a_session_ended_is_one_of_five() -> None:
    house = begun()
    why: Any
    for why in ("idle", "", None, 1, DeviceKind.SHAKER):
        assert refused(house, but(OUT, why=why)).reason is Reason.BAD_VALUE
    for cause in SignOutCause:
        done(house, IN)
        [event] = done(house, but(OUT, why=cause))
        assert event.why is cause  # type: ignore[attr-defined]


# The most there may be


def test_one_more_device_or_session_than_the_most_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    house = begun()
    monkeypatch.setattr(access, "MOST_DEVICES", 1)
    monkeypatch.setattr(access, "MOST_SESSIONS_OPEN", 1)
    done(house, TERMINAL, IN)
    assert refused(house, DISPLAY).reason is Reason.TOO_MANY
    assert refused(house, but(IN, session="s2")).reason is Reason.TOO_MANY
    assert done(house, TERMINAL, IN) == ()
    done(house, OUT, but(IN, session="s2"))


def test_anyone_who_left_locked_still_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    house = with_credentials()
    monkeypatch.setattr(cage, "MOST_PEOPLE", 4)
    done(house, *[FAILED] * MOST_FAILURES, DismissPerson(at=NOON, by="max", person="ann"))
    newcomer = EnrolPerson(at=NOON, by="max", person="eve", rank="cashier")
    assert refused(house, newcomer).reason is Reason.TOO_MANY
    assert refused_for(house, but(newcomer, person="ann")) is None
    done(house, UNLOCK, newcomer)


# The recommended ladder


def test_the_ladder_of_a_live_server_opens_a_house() -> None:
    house = House()
    done(house, but(OPENING, ladder=FLOOR_LADDER, second_rank=FLOOR_SECOND))
    supervising = [rank for rank in FLOOR_LADDER if house.supervising(rank)]
    assert supervising == [
        "pit-supervisor", "pit-manager", "casino-supervisor", "shift-manager", "administrator",
    ]  # fmt: skip
    done(house, EnrolPerson(at=NOON, by="owner", person="ada", rank="administrator"))
    done(house, but(DISPLAY, by="ada"), but(IN, person="ada", **BY_FLOOR))

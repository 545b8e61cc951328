"""Credentials that people set themselves, and the supervisors who always remain: attacks on the House."""

from __future__ import annotations

from typing import Any

import pytest

from taisai.cage import House, credentials, people
from taisai.cage.credentials import LONGEST_ACTIVATION, MOST_TRIES, can_sign_in
from taisai.cage.house import read_house, write_house
from taisai.cage.messages import (
    AcknowledgeRecovery,
    CommitCredentials,
    DismissPerson,
    EnrolPerson,
    HouseCommand,
    IssueActivation,
    NoteFailure,
    RecoverAccess,
    RevokeSessions,
    SetCredentials,
    UnlockPerson,
)
from taisai.game.refusals import Reason
from taisai.game.vocabulary import FLOOR
from tests.game.house_access import BY_FLOOR, CODE, COMMITTED, OWN_CREDENTIALS
from tests.game.houses import BEGINNING, NOON, OPENING, begun, but, done, refused, refused_for, watched

PEOPLE = ("ann", "bob", "sue", "max")
LATER = NOON + LONGEST_ACTIVATION
WRONG = NoteFailure(person="bob", address="10.0.0.7", why="activation", **BY_FLOOR)
FAILED = but(WRONG, why="code")


def code_for(person: str, *, by: str = "max", second: Any = "sue", until: int = LATER) -> IssueActivation:
    return IssueActivation(at=NOON, by=by, person=person, code=CODE, until=until, second=second)


def first(person: str, *, at: int = NOON, activation: str | None = CODE) -> CommitCredentials:
    return CommitCredentials(at=at, by=person, person=person, commitment=COMMITTED, activation=activation)


def guarded(*people: str) -> House:
    """A House whose people have set their own credentials."""
    house = begun()
    people = people or PEOPLE
    done(house, *(code_for(person, by="owner", second=None) for person in people), *map(first, people))
    return house


def three() -> House:
    """The same with a third supervisor."""
    house = guarded()
    tom = EnrolPerson(at=NOON, by="max", second="sue", person="tom", rank="manager")
    done(house, tom, code_for("tom"), first("tom"))
    return house


def recovers(person: str, rank: str = "supervisor") -> RecoverAccess:
    return RecoverAccess(
        person=person, rank=rank, code=CODE, until=LATER, reason="a lost telephone", **BY_FLOOR
    )


# One person alone


@pytest.mark.parametrize("person", ["ann", "bob", "sue", "eve"])
@pytest.mark.parametrize("second", [None, "max", "ann", "eve"])
def test_one_person_alone_takes_over_nobody(person: str, second: str | None) -> None:
    """A cashier, a dealer, a supervisor, or someone who was just invented."""
    house = three()
    if person == "eve":
        done(house, EnrolPerson(at=NOON, by="max", person="eve", rank="cashier"))
    assert refused_for(house, code_for(person, second=second)) is Reason.SECOND_PERSON


@pytest.mark.parametrize("by", ["max", "sue", FLOOR, "owner"])
def test_nobody_sets_the_credentials_of_another(by: str) -> None:
    house = three()
    done(house, code_for("bob"))
    assert refused_for(house, but(first("bob"), by=by)) is not None
    assert refused_for(house, SetCredentials(at=NOON, by=by, person="bob", second="tom")) is not None
    assert refused_for(house, SetCredentials(at=NOON, by="bob", person="bob")) is Reason.NOT_PERMITTED


def test_one_person_alone_dismisses_no_supervisor() -> None:
    house = three()
    for by in ("max", "tom"):
        for second in (None, by, "ann", "sue"):
            command = DismissPerson(at=NOON, by=by, person="sue", second=second)
            assert refused_for(house, command) is Reason.SECOND_PERSON
    done(house, DismissPerson(at=NOON, by="max", person="sue", second="tom"))
    done(house, DismissPerson(at=NOON, by="max", person="bob"))


def test_one_person_alone_changes_the_rank_of_no_supervisor() -> None:
    house = three()
    for rank in ("cashier", "manager"):
        command = EnrolPerson(at=NOON, by="max", person="sue", rank=rank)
        assert refused_for(house, command) is Reason.SECOND_PERSON
        assert refused_for(house, but(command, second="sue")) is Reason.SECOND_PERSON
        assert refused_for(house, but(command, second="tom")) is None


@pytest.mark.parametrize("rank", ["cashier", "supervisor", "manager"])
def test_nobody_changes_their_own_rank(rank: str) -> None:
    house = three()
    command = EnrolPerson(at=NOON, by="sue", person="sue", rank=rank, second="tom")
    assert refused_for(house, command) is Reason.NOT_PERMITTED


def test_the_opener_of_the_house_has_no_privileges_left() -> None:
    house = three()
    done(house, EnrolPerson(at=NOON, by="max", person="owner", rank="manager", second="tom"))
    for command in (
        EnrolPerson(at=NOON, by="owner", person="owner", rank="supervisor", second="sue"),
        DismissPerson(at=NOON, by="owner", person="owner", second="sue"),
        code_for("owner", by="owner", second="sue"),
        code_for("bob", by="owner", second=None),
        RevokeSessions(at=NOON, by="owner", person="owner", reason="none"),
        UnlockPerson(at=NOON, by="owner", person="owner", reason="none", second="sue"),
    ):
        assert refused_for(house, command) is not None, command


# Two who can sign in remain


def test_two_supervisors_who_can_sign_in_always_remain() -> None:
    house = guarded()
    tom = EnrolPerson(at=NOON, by="max", second="sue", person="tom", rank="manager")
    done(house, tom)  # who has no credentials yet
    for command in (
        DismissPerson(at=NOON, by="max", person="sue", second="tom"),
        EnrolPerson(at=NOON, by="max", person="sue", rank="cashier", second="tom"),
        code_for("sue", second="tom"),
    ):
        refusal = refused(house, command)
        assert refusal.reason is Reason.RULED_OUT
        assert refusal.message == (
            "at least 2 people of the rank supervisor or above must be able to sign in; without 'sue': max. "
            "Enrol another one first"
        )
    done(house, code_for("tom"), first("tom"))
    done(house, DismissPerson(at=NOON, by="max", person="sue", second="tom"))
    assert can_sign_in(house) == ["max", "tom"]


def test_the_last_two_are_not_locked_by_failures() -> None:
    house = three()
    for person, is_locked in (("tom", True), ("sue", False), ("max", False), ("bob", True)):
        done(house, *[but(FAILED, person=person)] * 4)
        assert (person in house.locked) is is_locked, person
    assert can_sign_in(house) == ["sue", "max"]


def test_someone_who_is_locked_or_without_credentials_may_always_leave() -> None:
    house = three()
    done(house, *[but(FAILED, person="tom")] * 3)
    done(house, DismissPerson(at=NOON, by="max", person="tom", second="sue"))
    assert can_sign_in(house) == ["sue", "max"]


# Activation codes


def test_a_code_is_used_once() -> None:
    house = three()
    done(house, code_for("bob"))
    assert "bob" not in house.credentials, "the old ones end at once"
    assert len(done(house, first("bob"))) == 1
    assert refused_for(house, but(first("bob"), commitment="ef" * 32)) is Reason.RULED_OUT
    assert done(house, first("bob"), first("bob", activation=None)) == (), "sent again, it changes nothing"
    assert len(done(house, but(first("bob", activation=None), commitment="ef" * 32))) == 1
    done(house, code_for("bob"))
    assert refused_for(house, first("bob", activation=None)) is Reason.RULED_OUT


def test_a_code_ends_in_time() -> None:
    house = three()
    for late in (NOON, NOON - 1, LATER + 1):
        assert refused_for(house, code_for("bob", until=late)) is Reason.BAD_VALUE
    done(house, code_for("bob"))
    assert refused_for(house, first("bob", at=LATER)) is Reason.RULED_OUT
    assert refused_for(house, first("bob", at=LATER - 1)) is None


def test_a_code_of_another_person_or_of_before_is_none() -> None:
    house = three()
    done(house, code_for("bob"), but(code_for("bob"), code="d0" * 32), code_for("ann"))
    assert refused_for(house, first("bob")) is Reason.RULED_OUT
    assert refused_for(house, first("bob", activation="d0" * 32)) is None


def test_five_wrong_tries_end_a_code() -> None:
    house = three()
    done(house, code_for("bob"), *[WRONG] * (MOST_TRIES - 1))
    assert refused_for(house, first("bob")) is None
    done(house, WRONG)
    assert refused_for(house, first("bob")) is Reason.RULED_OUT
    assert house.locked == set()
    done(house, WRONG, but(WRONG, person="eve"))


def test_anyone_who_leaves_takes_their_code_with_them() -> None:
    house = three()
    done(house, code_for("bob"), DismissPerson(at=NOON, by="max", person="bob"))
    assert refused_for(house, first("bob")) is Reason.UNKNOWN_PERSON
    done(house, EnrolPerson(at=NOON, by="max", person="bob", rank="cashier"))
    assert refused_for(house, first("bob")) is Reason.RULED_OUT


@pytest.mark.parametrize("junk", ["", "C0DE" * 16, "c0de", None, 7, [], {}])
def test_what_is_no_keyed_hash_is_refused(junk: Any) -> None:
    house = three()
    assert refused_for(house, but(code_for("bob"), code=junk)) is Reason.BAD_VALUE
    assert refused_for(house, but(first("bob", activation=None), commitment=junk)) is Reason.BAD_VALUE
    if junk is not None:
        assert refused_for(house, but(first("bob"), activation=junk)) is not None
    house = begun()
    done(house, SetCredentials(at=NOON, by="ann", person="ann"))
    adopting = but(OWN_CREDENTIALS[0], commitments={"ann": junk})
    assert refused_for(house, adopting) is Reason.BAD_VALUE
    assert refused_for(house, but(adopting, commitments=junk)) is (None if junk == {} else Reason.BAD_VALUE)


# Credentials of before, and recovered access


def test_credentials_of_before_are_adopted_once() -> None:
    house = begun()
    adopting = OWN_CREDENTIALS[0]
    assert refused_for(house, adopting) is Reason.UNKNOWN_PERSON
    done(house, *(SetCredentials(at=NOON, by=one, person=one) for one in PEOPLE))
    done(house, adopting)
    assert set(house.commitments) == house.credentials == {"ann", "max", "sue"}
    assert refused_for(house, adopting) is Reason.RULED_OUT
    done(house, *OWN_CREDENTIALS[1:])


def test_access_is_recovered_when_nobody_can_sign_in() -> None:
    house = guarded()
    done(house, *[but(FAILED, person="bob")] * 3)
    for person, rank in (("sue", "supervisor"), ("zoe", "manager")):
        done(house, recovers(person, rank), first(person))
        assert house.people[person] == rank
    assert house.recovered.keys() == {"sue", "zoe"}
    for by, reason in (
        ("bob", Reason.NOT_PERMITTED),
        ("sue", Reason.NOT_PERMITTED),
        ("zoe", Reason.NOT_PERMITTED),  # with the key one person has both accounts
        ("eve", None),
    ):
        acknowledging = AcknowledgeRecovery(at=NOON, by=by, person="sue")
        assert refused_for(house, acknowledging) is (reason or Reason.UNKNOWN_PERSON)
    done(house, AcknowledgeRecovery(at=NOON, by="max", person="sue"))
    assert house.recovered.keys() == {"zoe"}
    assert refused_for(house, AcknowledgeRecovery(at=NOON, by="max", person="sue")) is Reason.RULED_OUT


def test_a_recovery_ends_a_lock_and_the_old_credentials() -> None:
    house = three()
    done(house, *[but(FAILED, person="tom")] * 3, recovers("tom", "manager"))
    assert house.locked == set()
    assert "tom" not in house.commitments
    assert refused_for(house, first("tom", activation=None)) is Reason.RULED_OUT


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"by": "max"}, Reason.NOT_PERMITTED),
        ({"rank": "cashier"}, Reason.BAD_VALUE),
        ({"rank": "king"}, Reason.BAD_VALUE),
        ({"person": "SUE"}, Reason.BAD_VALUE),
        ({"person": ""}, Reason.BAD_VALUE),
        ({"reason": ""}, Reason.BAD_VALUE),
        ({"until": LATER + 1}, Reason.BAD_VALUE),
        ({"code": "c0de"}, Reason.BAD_VALUE),
    ],
)
def test_what_is_no_recovery_is_refused(changes: dict[str, Any], reason: Reason) -> None:
    assert refused_for(guarded(), but(recovers("zoe"), **changes)) is reason


def test_a_house_of_which_all_are_gone_is_opened_again() -> None:
    """Journals of before may have nobody left: the House's key is enough."""
    house = begun()
    done(house, *(DismissPerson(at=NOON, by="owner", person=person) for person in PEOPLE))
    done(house, recovers("zoe", "manager"), recovers("yan", "manager"), first("zoe"), first("yan"))
    assert can_sign_in(house) == ["zoe", "yan"]


def test_a_snapshot_has_it_all() -> None:
    house = three()
    done(house, code_for("bob"), WRONG, recovers("zoe"))
    assert read_house(write_house(house)) == house


def test_nothing_is_ever_wrong_whatever_is_asked_of_a_guarded_house() -> None:
    script: tuple[HouseCommand, ...] = (
        *BEGINNING, *(SetCredentials(at=NOON, by=one, person=one) for one in PEOPLE), *OWN_CREDENTIALS,
        first("tom"), *[but(FAILED, person="tom")] * 4, recovers("tom"), first("tom"), *[FAILED] * 4, WRONG,
        code_for("sue", second="tom"), code_for("max", by="tom", second="sue"), *map(first, PEOPLE),
        DismissPerson(at=NOON, by="max", person="tom", second="sue"), OPENING,
    )  # fmt: skip
    assert watched(script).faults == []


# Sabotage


def _anyone_alone(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(people, "second_person", lambda *_: ())


def _nobody_needed(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(credentials, "LEAST_REMAINING", 0)


def _codes_never_checked(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(credentials, "_committable", lambda *_: ())


def _tries_never_counted(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(credentials, "count_wrong_activation", lambda *_: None)


@pytest.mark.parametrize(
    ("breaks", "check"),
    [
        (_anyone_alone, lambda: test_one_person_alone_takes_over_nobody("bob", None)),
        (_anyone_alone, test_one_person_alone_dismisses_no_supervisor),
        (_anyone_alone, test_one_person_alone_changes_the_rank_of_no_supervisor),
        (_nobody_needed, test_two_supervisors_who_can_sign_in_always_remain),
        (_nobody_needed, test_the_last_two_are_not_locked_by_failures),
        (_codes_never_checked, test_a_code_is_used_once),
        (_codes_never_checked, test_a_code_ends_in_time),
        (_codes_never_checked, test_a_code_of_another_person_or_of_before_is_none),
        (_tries_never_counted, test_five_wrong_tries_end_a_code),
    ],
)
def test_sabotage_is_seen(breaks: Any, check: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    breaks(monkeypatch)
    with pytest.raises(AssertionError):
        check()

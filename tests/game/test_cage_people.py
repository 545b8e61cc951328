"""Who opens the House, who is on its staff roll, and what takes two of them."""

from __future__ import annotations

from typing import Any

import pytest

from taisai.cage import House, people
from taisai.cage import decide as cage
from taisai.cage.messages import (
    DismissPerson,
    EnrolPerson,
    HouseCommand,
    RedeemTicket,
    SellTicket,
    SetCredentials,
    UnlockPerson,
)
from taisai.game.commands import CloseTable
from taisai.game.refusals import Reason
from taisai.game.vocabulary import SYSTEM
from tests.game.houses import (
    ASKED,
    BY_ANN,
    NOON,
    OPENING,
    SOLD,
    begun,
    but,
    done,
    name_of,
    refused,
    refused_for,
)

SELDOM_BY_TWO = (SetCredentials, DismissPerson, SellTicket, RedeemTicket)
WITH_SECOND = [
    command
    for kind, command in ASKED.items()
    if "second" in kind.__struct_fields__ and kind not in SELDOM_BY_TWO
]
BY_STAFF = [command for command in ASKED.values() if command.by == "ann"]


@pytest.mark.parametrize("command", [one for one in ASKED.values() if one != OPENING], ids=name_of)
def test_before_the_opening_everything_is_refused(command: HouseCommand) -> None:
    refusal = refused(House(), command)
    assert refusal.reason is Reason.OUT_OF_ORDER
    assert "OpenHouse once, before everything else" in refusal.message


def test_a_house_is_opened_once() -> None:
    assert refused(begun(), OPENING).reason is Reason.OUT_OF_ORDER


def test_a_command_for_a_table_is_none_for_the_house() -> None:
    for house in (House(), begun()):
        refusal = refused(house, CloseTable(**BY_ANN))  # type: ignore[arg-type]
        assert refusal.reason is Reason.OUT_OF_ORDER
        assert refusal.message == "expected a command of the House, got CloseTable"


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"ladder": ()}, Reason.BAD_VALUE),
        ({"ladder": ["cashier", "supervisor"]}, Reason.BAD_VALUE),
        ({"ladder": ("supervisor", "supervisor")}, Reason.BAD_VALUE),
        ({"ladder": ("supervisor", "")}, Reason.BAD_VALUE),
        ({"ladder": ("supervisor", [])}, Reason.BAD_VALUE),
        ({"second_rank": "king"}, Reason.BAD_VALUE),
        ({"house": ""}, Reason.BAD_VALUE),
        ({"by": ""}, Reason.BAD_VALUE),
        ({"ladder": tuple("abcdefghijklmnopqrstu"), "second_rank": "a"}, Reason.TOO_MANY),
    ],
)
def test_an_opening_that_is_refused(changes: dict[str, Any], reason: Reason) -> None:
    assert refused(House(), but(OPENING, **changes)).reason is reason


def test_as_many_ranks_as_there_may_be() -> None:
    done(House(), but(OPENING, ladder=tuple("abcdefghijklmnopqrst"), second_rank="a"))


@pytest.mark.parametrize("command", BY_STAFF, ids=name_of)
def test_who_is_not_on_the_staff_list_does_nothing_at_the_cage(command: HouseCommand) -> None:
    house = begun()
    done(house, SOLD)
    stranger: Any
    for stranger in ("eve", "owner", "", [], None):
        assert refused(house, but(command, by=stranger)).reason is Reason.UNKNOWN_PERSON
    done(house, DismissPerson(at=NOON, by="max", person="ann"))
    assert refused(house, command).reason is Reason.UNKNOWN_PERSON


def lone_commands() -> list[str]:
    """Commands under dual control that a House does with no proper second person."""
    house = begun()
    lone = []
    second: Any
    for command in WITH_SECOND:
        for second in (None, command.by, "bob", "eve", "", []):
            decided = cage.decide_house(house, but(command, second=second))
            if getattr(decided, "reason", None) is not Reason.SECOND_PERSON:
                lone.append(f"{command} with {second}")
    return lone


def test_dual_control_takes_another_person_of_the_second_rank() -> None:
    assert {name_of(command) for command in WITH_SECOND} == {
        "EnrolPerson", "BringIn", "TakeOut", "SendFill", "CountDrop", "PayClaim", "CollectClaim",
        "UnlockPerson",
    }  # fmt: skip
    assert lone_commands() == []
    for command in WITH_SECOND:
        lowest = "sue" if isinstance(command, EnrolPerson | UnlockPerson) else "ann"
        for by, second in ((lowest, "max"), ("ann", "sue"), ("max", "sue")):
            if by >= lowest:
                done(begun(), but(command, by=by, second=second))


def test_sabotage_dual_control_left_out_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(people, "second_person", lambda *_: ())
    assert len(lone_commands()) == 6 * len(WITH_SECOND)


@pytest.mark.parametrize(
    ("by", "second", "person", "rank", "reason"),
    [
        ("owner", "sue", "eve", "manager", None),
        ("owner", "sue", "owner", "manager", None),
        ("owner", None, "owner", "cashier", None),
        ("max", "sue", "eve", "manager", None),
        ("max", "sue", "eve", "cashier", None),
        ("max", None, "eve", "cashier", None),
        ("max", None, "sue", "cashier", None),
        ("max", None, "sue", "supervisor", None),  # which she is
        ("sue", "max", "eve", "supervisor", None),
        ("sue", "max", "ann", "supervisor", None),
        ("owner", None, "eve", "supervisor", Reason.SECOND_PERSON),
        ("owner", "owner", "eve", "supervisor", Reason.SECOND_PERSON),
        ("owner", "max", "max", "supervisor", Reason.SECOND_PERSON),
        ("max", None, "eve", "supervisor", Reason.SECOND_PERSON),
        ("max", "max", "eve", "supervisor", Reason.SECOND_PERSON),
        ("max", "ann", "eve", "supervisor", Reason.SECOND_PERSON),
        ("max", "owner", "eve", "supervisor", Reason.SECOND_PERSON),
        ("max", "eve", "eve", "supervisor", Reason.SECOND_PERSON),
        ("max", "sue", "sue", "manager", Reason.SECOND_PERSON),
        ("max", "ann", "eve", "cashier", Reason.SECOND_PERSON),  # nothing untrue is recorded
        ("max", [], "eve", "cashier", Reason.SECOND_PERSON),
        ("sue", "max", "eve", "manager", Reason.NOT_PERMITTED),
        ("sue", None, "sue", "cashier", Reason.NOT_PERMITTED),
        ("sue", None, "max", "cashier", Reason.NOT_PERMITTED),
        ("ann", None, "eve", "cashier", Reason.NOT_PERMITTED),
        ("ann", "max", "eve", "supervisor", Reason.NOT_PERMITTED),
        ("eve", "max", "eve", "manager", Reason.UNKNOWN_PERSON),
        ("Owner", "max", "eve", "manager", Reason.UNKNOWN_PERSON),
        ("max", "sue", "eve", "king", Reason.BAD_VALUE),
        ("max", None, "eve", None, Reason.BAD_VALUE),
        ("max", None, [], "cashier", Reason.BAD_VALUE),
        ("max", None, "Sue", "cashier", Reason.BAD_VALUE),
        ("max", None, "ｓｕｅ", "cashier", Reason.BAD_VALUE),
        ("owner", "sue", "MAX", "manager", Reason.BAD_VALUE),
        *(("max", None, actor, "cashier", Reason.BAD_VALUE) for actor in sorted(SYSTEM)),
        *(("max", None, actor.upper(), "cashier", Reason.BAD_VALUE) for actor in sorted(SYSTEM)),
    ],
)
def test_who_may_enrol_whom(by: str, second: Any, person: Any, rank: Any, reason: Reason | None) -> None:
    house = begun()
    command = EnrolPerson(at=NOON, by=by, second=second, person=person, rank=rank)
    if reason:
        assert refused(house, command).reason is reason
        return
    done(house, command)
    assert house.people[person] == rank


def test_a_name_is_free_again_when_its_person_has_left() -> None:
    house = begun()
    sue = EnrolPerson(at=NOON, by="max", person="Sue", rank="cashier")
    assert "'Sue' is taken by the person 'sue'" in refused(house, sue).message
    done(house, DismissPerson(at=NOON, by="max", person="sue"), sue)
    assert refused(house, but(sue, person="sue")).reason is Reason.BAD_VALUE


def enrolled_alone() -> list[str]:
    """Whom the opener could enrol alone as a supervisor: nobody, once two have been on the roll."""
    house = House()
    one = EnrolPerson(at=NOON, by="owner", person="sue", rank="supervisor")
    done(house, OPENING, one, but(one, person="ann", rank="cashier"))
    assert refused(house, but(one, by="sue", person="max")).reason is Reason.SECOND_PERSON
    max_too = but(one, person="max", rank="manager")
    done(house, max_too)
    assert done(house, max_too) == ()
    steps = (DismissPerson(at=NOON, by="owner", person=person) for person in ("max", "sue"))
    alone = []
    for name, step in (("two", None), ("one left", next(steps)), ("none left", next(steps))):
        done(house, *([step] if step else []))
        decided = cage.decide_house(house, but(one, person="eve"))
        if getattr(decided, "reason", None) is not Reason.SECOND_PERSON:
            alone.append(name)
    return alone


def test_anyone_who_opened_the_house_enrols_alone_until_there_are_two_and_never_again() -> None:
    assert enrolled_alone() == []


def test_sabotage_a_beginning_that_comes_back_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    now = property(lambda house: sum(map(house.supervising, house.people.values())) > 1, lambda *_: None)
    monkeypatch.setattr(House, "staffed", now)
    assert enrolled_alone() == ["one left", "none left"]


def passed_for_two() -> list[str]:
    """What one person did as two, having opened the House under a name in other letters."""
    house = House()
    person = EnrolPerson(at=NOON, by="Sue", person="sue", rank="manager")
    done(house, but(OPENING, by="Sue"), person, but(person, person="max"))
    both = but(person, second="sue", person="eve", rank="supervisor")
    done(house, but(both, second="max", person="tom"))
    raised = but(both, by="max", person="SUE")
    return [f"{one}" for one in (both, raised) if refused_for(house, one) is not Reason.SECOND_PERSON]


def test_one_person_in_other_letters_is_not_two() -> None:
    assert passed_for_two() == []


def test_sabotage_letters_taken_for_people_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(people, "same_person", lambda one, other: one == other)
    assert len(passed_for_two()) == 2


@pytest.mark.parametrize(
    ("by", "person", "reason"),
    [
        ("owner", "max", None),
        ("max", "sue", None),
        ("sue", "ann", None),
        ("sue", "max", Reason.NOT_PERMITTED),
        ("max", "max", Reason.NOT_PERMITTED),
        ("ann", "bob", Reason.NOT_PERMITTED),
        ("max", "eve", Reason.UNKNOWN_PERSON),
        ("max", [], Reason.UNKNOWN_PERSON),
    ],
)
def test_who_may_dismiss_whom(by: str, person: Any, reason: Reason | None) -> None:
    house = begun()
    command = DismissPerson(at=NOON, by=by, person=person)
    if reason:
        assert refused(house, command).reason is reason
        return
    done(house, command)
    assert person not in house.people

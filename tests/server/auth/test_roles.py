"""Roles: the House's ranks, and what is no person."""

from __future__ import annotations

import pytest

from taisai.cage import FLOOR_LADDER, House
from taisai.cage.access import FLOOR_SECOND
from taisai.server.auth.permissions import AT_TABLE, DEVICES, STAFF, SUPERVISING, Role, is_generic, role_of


def test_every_rank_of_the_ladder_is_a_role_and_nothing_else_is_staff() -> None:
    assert {str(role) for role in STAFF} == set(FLOOR_LADDER)
    assert set(Role) == STAFF | DEVICES | {Role.VISITOR}
    assert not STAFF & DEVICES


def test_who_works_at_a_table() -> None:
    assert {str(role) for role in AT_TABLE} == {
        "dealer",
        "floorperson",
        "pit-supervisor",
        "pit-manager",
        "casino-supervisor",
        "shift-manager",
    }


def test_those_who_supervise_are_those_whom_the_house_takes_as_a_second_person() -> None:
    house = House()
    house.ladder, house.second_rank = FLOOR_LADDER, FLOOR_SECOND
    assert {role for role in Role if house.supervising(str(role))} == SUPERVISING


@pytest.mark.parametrize("rank", ["terminal", "visitor", "shaker", "boss", "", "Dealer"])
def test_a_rank_that_the_server_does_not_know_may_do_nothing(rank: str) -> None:
    assert role_of(rank) is Role.VISITOR


@pytest.mark.parametrize("rank", FLOOR_LADDER)
def test_a_persons_role_is_their_rank(rank: str) -> None:
    assert role_of(rank) == rank


@pytest.mark.parametrize(
    "name",
    ["dealer", "Dealer 2", "DEALER-07", "pit supervisor", "admin", "Admin1", "root", "test", "42", "user_3"],
)
def test_the_name_of_a_post_is_nobodys(name: str) -> None:
    assert is_generic(name)


@pytest.mark.parametrize(
    "name", ["Dan Teo", "Adminah binte Ali", "王小明", "Sue 2", "Dealer Tan", "Root Jensen"]
)
def test_the_name_of_a_person_is_theirs(name: str) -> None:
    assert not is_generic(name)

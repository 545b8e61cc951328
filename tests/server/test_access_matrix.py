"""Who may do what: every message and endpoint × every role × own and other objects, against the case file."""

from __future__ import annotations

import pytest

from taisai.protocol.commands import BY_TAG
from taisai.protocol.requests import REQUESTS
from taisai.server.auth import permissions
from taisai.server.auth.permissions import DEVICES, Role
from taisai.server.connections.dispatcher import HANDLERS
from tests.server import access_matrix as matrix
from tests.server.sim.virtual import VirtualLoop
from tests.server.virtual_server import Connected, run

ROLES = list(Role)
HOUSES = pytest.mark.parametrize("demonstration", [False, True], ids=["for money", "demonstration"])


def names(kind: str) -> set[str]:
    """What the case file has of a kind."""
    return {name for found, name in matrix.written() if found == kind}


# Nothing is left out


def test_the_case_file_and_the_permits_have_every_ask() -> None:
    assert names("request") == set(matrix.ask_kinds()) == set(permissions.REQUESTS)


def test_the_case_file_and_the_permits_have_every_command() -> None:
    assert names("do") == set(BY_TAG) == set(permissions.COMMANDS)


def test_the_case_file_and_the_permits_have_every_feed() -> None:
    assert names("feed") == set(permissions.FEEDS)


def test_the_case_file_and_the_permits_have_every_endpoint() -> None:
    async def found(loop: VirtualLoop) -> set[str]:
        return matrix.endpoints_of(matrix.a_house(loop, demonstration=True))

    assert names("http") == run(found) == set(permissions.ENDPOINTS) | set(permissions.DEMONSTRATION)


def test_a_house_for_money_has_no_sign_in_of_the_demonstration() -> None:
    async def found(loop: VirtualLoop) -> set[str]:
        return matrix.endpoints_of(Connected(loop))

    assert run(found) == set(permissions.ENDPOINTS)


def test_every_ask_is_answered_by_someone() -> None:
    names = ("HelloRequest", "PingRequest", "FollowRequest", "UnfollowRequest")
    own = {kind for kind in REQUESTS if kind.__name__ in names}
    assert set(HANDLERS) | own == set(REQUESTS)
    assert not set(HANDLERS) & own


# Nobody does what he may not, and everybody may what he may


@HOUSES
@pytest.mark.parametrize("role", ROLES)
def test_over_a_socket_everyone_does_what_is_permitted_and_nothing_else(
    role: Role, *, demonstration: bool
) -> None:
    cases = matrix.every_socket_case()
    verdicts = run(lambda loop: matrix.socket_verdicts(loop, role, cases, demonstration=demonstration))
    assert matrix.wrong(verdicts) == []
    assert len(verdicts) > 250


@HOUSES
def test_over_http_everyone_does_what_is_permitted_and_nothing_else(*, demonstration: bool) -> None:
    verdicts = run(lambda loop: matrix.http_verdicts(loop, ROLES, demonstration=demonstration))
    assert matrix.wrong(verdicts) == []
    assert len(verdicts) == len(ROLES) * (len(permissions.ENDPOINTS) + len(permissions.DEMONSTRATION))


def test_the_matrix_says_yes_and_no_often_enough_to_mean_something() -> None:
    cases = matrix.every_socket_case()
    let = {role: sum(case.may(role, demonstration=False) for case in cases) for role in ROLES}
    assert let[Role.VISITOR] == 3, "hello, beat and unfollow"
    assert all(0 < let[role] < len(cases) / 3 for role in DEVICES)
    assert let[Role.DEALER] < let[Role.SHIFT_MANAGER] < len(cases)

"""A supervisor who lost the second factor: who lets them in again, and when only the house's key can."""

from __future__ import annotations

from typing import Any

import pytest

from taisai.cage import can_sign_in
from taisai.cage.messages import IssueActivation
from taisai.game.refusals import Refusal
from taisai.server.auth.sessions import NewSession
from taisai.server.auth.sign_in_refusals import SignInRefused
from tests.server.enrolling import with_credentials
from tests.server.test_attacks_people import ADA, MAX, SUE, WORDS, asks, guarded
from tests.server.virtual_server import Connected, connected

ABE = "Abe Lim"


def session_of(house: Connected, person: str) -> NewSession:
    rank = house.engine.house().people[person]
    opened = house.door.sessions.opened(person, rank, house.clock.now())
    assert opened is not None
    return opened


async def signs_in(house: Connected, person: str) -> NewSession | SignInRefused:
    """With the password that they had, and the code that their lost authenticator would show."""
    return await house.door.sign_in(person, WORDS, "000000", address="192.0.2.9", now=house.clock.now())


async def with_second_administrator(house: Connected) -> None:
    await guarded(house)
    body = {"person": ABE, "rank": "administrator"}
    answer = await asks(house, house.session("administrator"), "POST /api/staff", body, MAX)
    assert answer.status == 200, answer.said
    await with_credentials(house.door, ABE, WORDS, by=ADA, second=MAX, now=house.clock.now())


async def gives_code(house: Connected, by: str, person: str, approver: str | None) -> Any:
    rank = house.engine.house().people[person]
    body = {"person": person, "rank": rank, "activate": True}
    return await asks(house, session_of(house, by), "POST /api/staff", body, approver)


@pytest.mark.parametrize(
    ("person", "by", "approver"),
    [(ADA, ABE, MAX), (ADA, ABE, SUE), (ABE, ADA, SUE), (MAX, ADA, SUE), (MAX, ADA, ABE), (SUE, ABE, ADA)],
)
def test_two_others_give_a_new_code_and_the_old_credentials_end(person: str, by: str, approver: str) -> None:
    """The first administrator of a house too, as soon as there is a second one."""

    @connected()
    async def lost(house: Connected) -> None:
        await with_second_administrator(house)
        own = session_of(house, person)
        answer = await gives_code(house, by, person, approver)
        assert answer.status == 200, answer.said
        assert house.door.sessions.get(own.session.id) is None
        assert isinstance(await signs_in(house, person), SignInRefused)
        assert person not in can_sign_in(house.engine.house())
        code, now = answer.said["activation"], house.clock.now()
        setup = await house.door.begin_setup(person, code, address="192.0.2.9", now=now)
        assert not isinstance(setup, SignInRefused), setup

    lost()


@connected()
async def test_the_only_administrator_gets_no_code_from_anybody_below(house: Connected) -> None:
    """So a second administrator is enrolled in good time; else it takes the house's key."""
    await guarded(house)
    answer = await gives_code(house, MAX, ADA, SUE)
    assert (answer.status, answer.reason) == (403, "not-permitted")
    asked = IssueActivation(
        at=house.clock.now(), by=MAX, person=ADA, code="0" * 64, until=house.clock.now() + 1, second=SUE
    )
    refused = await house.do(asked)
    assert isinstance(refused, Refusal)
    assert (
        refused.message == f"only the administrator or a higher rank may do this, not {MAX!r} (shift-manager)"
    )


@connected()
async def test_of_the_last_two_neither_gets_a_code(house: Connected) -> None:
    """Two supervisors who can sign in must remain: with only two there is no ordinary way."""
    await guarded(house)
    assert (await gives_code(house, ADA, SUE, MAX)).status == 200
    assert can_sign_in(house.engine.house()) == [ADA, MAX]
    now = house.clock.now()
    command = IssueActivation(at=now, by=ADA, person=MAX, code="0" * 64, until=now + 1, second=SUE)
    refused = await house.do(command)
    assert isinstance(refused, Refusal)
    assert "at least 2 people" in refused.message
    assert "Enrol another one first" in refused.message

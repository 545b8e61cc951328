"""Attacks on the House's own people: nobody becomes someone else, or makes money, by himself."""

from __future__ import annotations

from typing import Any

import pytest

from taisai.cage import can_sign_in
from taisai.cage.credentials import MOST_TRIES
from taisai.cage.messages import NoteFailure, PersonDismissed, RecoverAccess
from taisai.game.refusals import Refusal
from taisai.game.vocabulary import FLOOR
from taisai.server.auth import credentials as vault
from taisai.server.auth.credentials import step_of
from taisai.server.auth.permissions import Role
from taisai.server.auth.sessions import NewSession
from taisai.server.http import staff
from tests.server.enrolling import code_at, secret_of, with_credentials
from tests.server.virtual_server import PEOPLE, Connected, Response, connected

ADA, MAX, SUE = PEOPLE[Role.ADMINISTRATOR], PEOPLE[Role.SHIFT_MANAGER], PEOPLE[Role.PIT_SUPERVISOR]
DAN, CAT = PEOPLE[Role.DEALER], PEOPLE[Role.CASHIER]
WORDS = "three dice, one tumbler"


async def guarded(house: Connected) -> Any:
    """The people have set their own credentials; the administrator's session."""
    for person, by, second in (
        (ADA, "olga", None), (MAX, ADA, SUE), (SUE, ADA, MAX), (DAN, ADA, MAX), (CAT, ADA, MAX),
    ):  # fmt: skip
        await with_credentials(house.door, person, WORDS, by=by, second=second, now=house.clock.now())
    return house.session("administrator")


async def asks(
    house: Connected, session: Any, endpoint: str, body: dict[str, Any], approver: str | None = None
) -> Response:
    """A request to an endpoint, with the approval of a second person if one is named."""
    if approver is not None:
        given = await approved(house, session, endpoint, body, approver)
        if given.status != 200:
            return given
        body = body | {"approval": given.said["approval"]}
    method, path = endpoint.split()
    return await house.request(method, path, body, session=session)


async def approved(
    house: Connected, session: Any, endpoint: str, body: dict[str, Any], approver: str
) -> Response:
    """The id of an approval, which a second person gives in their own session; or what was refused."""
    request = {"request": {"endpoint": endpoint, "body": body}}
    asked = await house.request("POST", "/api/approvals", request, session=session)
    if asked.status != 200:
        return asked
    second = house.door.sessions.opened(approver, house.engine.house().people[approver], house.clock.now())
    path = f"/api/approvals/{asked.said['approval']}/approve"
    given = await house.request("POST", path, {}, session=second)
    return asked if given.status == 200 else given


@connected()
async def test_an_administrator_alone_does_not_become_a_cashier(house: Connected) -> None:
    body = {"person": "Eve Koh", "rank": "cashier"}
    answer = await house.request("POST", "/api/staff", body, session=house.session("administrator"))
    assert (answer.status, answer.reason) == (403, "second-person")


@connected()
async def test_nobody_chooses_the_password_of_another(house: Connected) -> None:
    session = await guarded(house)
    body = {"person": DAN, "rank": "dealer", "password": WORDS}
    for approver in (None, MAX):
        answer = await asks(house, session, "POST /api/staff", body, approver)
        assert (answer.status, answer.reason) == (400, "bad-message")


TAKEN_OVER = [
    (DAN, "dealer"), (CAT, "cashier"), (SUE, "pit-supervisor"), (ADA, "administrator"),
    ("Flo Fake", "floorperson"), ("Aud Fake", "auditor"), ("Dea Fake", "dealer"), ("Sho Fake", "pit-manager"),
]  # fmt: skip


@pytest.mark.parametrize(("person", "rank"), TAKEN_OVER)
def test_an_administrator_alone_has_no_sign_in_but_their_own(person: str, rank: str) -> None:
    """Neither that of a dealer or cashier, nor that of someone who is invented."""

    @connected()
    async def attack(house: Connected) -> None:
        session = await guarded(house)
        body = {"person": person, "rank": rank, "activate": True}
        for approver in (None, ADA):
            answer = await asks(house, session, "POST /api/staff", body, approver)
            reason = (
                "second-person" if approver is None else "not-second"
            )  # nobody approves what they ask for
            assert (answer.status, answer.reason) in {(403, reason), (409, "not-permitted")}
            assert "activation" not in answer.said
        assert person not in house.engine.house().activations
        assert (person in house.engine.house().people) == (person in PEOPLE.values())

    attack()


@connected()
async def test_one_consent_is_for_one_person_and_one_rank(house: Connected) -> None:
    session = await guarded(house)
    body = {"person": "Sho Real", "rank": "shift-manager", "activate": True}
    for person, rank in (
        (ADA, "shift-manager"),
        ("Sho Fake", "shift-manager"),
        ("Sho Real", "administrator"),
    ):
        granted = await approved(house, session, "POST /api/staff", body, MAX)
        assert granted.status == 200, granted.body
        id_ = granted.said["approval"]
        other = {"person": person, "rank": rank, "activate": True, "approval": id_}
        answer = await house.request("POST", "/api/staff", other, session=session)
        assert answer.status == 403, answer.body
    mine = {"person": ADA, "rank": "shift-manager"}
    answer = await asks(house, session, "POST /api/staff", mine, MAX)
    assert (answer.status, answer.reason) == (409, "not-permitted"), "not even with a consent"


@connected()
async def test_an_administrator_alone_dismisses_no_supervisor(house: Connected) -> None:
    session = await guarded(house)
    for person in (MAX, SUE, ADA):
        answer = await asks(house, session, "DELETE /api/staff", {"person": person})
        assert answer.status == 409, answer.body
    assert not any(isinstance(event, PersonDismissed) for event in house.events())


@connected()
async def test_two_together_leave_two_who_can_sign_in(house: Connected) -> None:
    session = await guarded(house)
    answer = await asks(house, session, "DELETE /api/staff", {"person": SUE}, MAX)
    assert answer.status == 200, answer.body
    answer = await asks(house, session, "DELETE /api/staff", {"person": MAX}, PEOPLE[Role.PIT_MANAGER])
    assert answer.status == 409
    assert "must be able to sign in" in answer.said["message"]
    assert set(can_sign_in(house.engine.house())) == {ADA, MAX}
    for person in (ADA, MAX):
        for _ in range(4):
            await house.do(
                NoteFailure(at=house.clock.now(), by=FLOOR, person=person, address="eve", why="password")
            )
    assert set(can_sign_in(house.engine.house())) == {ADA, MAX}


async def first_sign_in(house: Connected, person: str, code: str) -> Response:
    """Someone types a code at the page for a first sign-in."""
    body = {"person": person, "activation": code}
    return await house.request("POST", "/api/first-sign-in", body)


@connected()
async def test_only_the_person_sees_their_secret(house: Connected) -> None:
    session = await guarded(house)
    body = {"person": DAN, "rank": "dealer", "activate": True}
    given = await asks(house, session, "POST /api/staff", body, MAX)
    assert given.status == 200, given.body
    assert set(given.said) == {"done", "activation", "until", "token"}
    assert given.said["token"] is None
    assert b"otpauth" not in given.body
    code = given.said["activation"]
    setup = await first_sign_in(house, DAN.upper(), code.lower())
    assert setup.status == 200, setup.body
    shown = code_at(secret_of(setup.said["uri"]), step_of(house.clock.now()))
    sent = {"setup": setup.said["setup"], "password": WORDS, "code": shown}
    for wrong, says in (
        ({"password": "password1234"}, "easy to guess"),
        ({"code": "12345"}, "not the one that your authenticator shows"),
        ({"setup": "x" * 43}, "begin again"),
    ):
        answer = await house.request("POST", "/api/credentials", sent | wrong)
        assert answer.status in (400, 401)
        assert says in answer.said["message"]
    assert (await house.request("POST", "/api/credentials", sent)).status == 200
    assert (await house.request("POST", "/api/credentials", sent)).status == 401
    assert (await first_sign_in(house, DAN, code)).status == 401
    await house.pass_(60)
    later = code_at(secret_of(setup.said["uri"]), step_of(house.clock.now()))
    signed = await house.request("POST", "/api/sign-in", {"person": DAN, "password": WORDS, "code": later})
    assert signed.status == 200, signed.body


@connected()
async def test_a_code_that_is_guessed_at_ends(house: Connected) -> None:
    session = await guarded(house)
    body = {"person": DAN, "rank": "dealer", "activate": True}
    code = (await asks(house, session, "POST /api/staff", body, MAX)).said["activation"]
    for number in range(MOST_TRIES):
        assert (await first_sign_in(house, DAN, f"{code[:4]}-0000-000{number}")).status == 401
    assert (await first_sign_in(house, DAN, code)).status == 429
    await house.pass_(2)
    assert (await first_sign_in(house, DAN, code)).status == 401
    listed = await house.request("GET", "/api/staff", session=session)
    (dan,) = [one for one in listed.said if one["person"] == DAN]
    assert (dan["activation"], dan["locked"], dan["has_credentials"]) == (None, False, False)


@connected()
async def test_a_reset_ends_the_sessions_and_the_old_credentials_at_once(house: Connected) -> None:
    session = await guarded(house)
    opened = house.door.sessions.opened(DAN, "dealer", house.clock.now())
    assert isinstance(opened, NewSession)
    body = {"person": DAN, "rank": "dealer", "activate": True}
    assert (await asks(house, session, "POST /api/staff", body, MAX)).status == 200
    assert (await house.request("GET", "/api/session", session=opened)).status == 401
    assert vault.kept(house.engine, DAN) is None


async def alarms(house: Connected) -> list[str]:
    """What the pit is alarmed of."""
    line = await house.came(house.session("pit-manager"))
    await line.answer("follow", feed="pit")
    return [alarm["says"]["en"] for alarm in line.of("snapshot")[-1]["view"]["alarms"]]


@connected()
async def test_recovered_access_is_an_alarm_until_another_one_has_seen_it(house: Connected) -> None:
    await guarded(house)
    now = house.clock.now()
    command = RecoverAccess(
        at=now, by=FLOOR, person="zoe", rank="shift-manager", code="c0de" * 16, until=now + 1, reason="lost"
    )
    assert not isinstance(await house.do(command), Refusal)
    assert any("recovered for zoe" in text for text in await alarms(house))
    path = "/api/staff/zoe/acknowledge"
    for role, status in (
        ("auditor", 403), ("pit-supervisor", 403), ("administrator", 403), ("shift-manager", 200),
    ):  # fmt: skip
        answer = await house.request("POST", path, session=house.session(role))
        assert answer.status == status, (role, answer.body)
    assert not any("recovered" in text for text in await alarms(house))


@connected()
async def test_credentials_that_were_changed_in_the_file_are_an_alarm(house: Connected) -> None:
    await guarded(house)
    house.store.keep_secret(f"staff/{DAN}", b"{}")
    body = {"person": DAN, "password": WORDS, "code": "000000"}
    assert (await house.request("POST", "/api/sign-in", body)).status == 401
    assert any(f"credentials of {DAN} were changed" in text for text in await alarms(house))


@connected()
async def test_a_dealer_alone_does_not_make_ten_million_credits(house: Connected) -> None:
    dealer = await house.came(house.session("dealer"))
    command = {"command": "buy-credits", "seat": "1", "amount": 1_000_000_000}
    assert (await dealer.answer("do", table="T1", do=command))["type"] == "refused"


def test_sabotage_codes_given_out_by_one_are_still_refused_by_the_house(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The endpoint's check is the first of two; the House decides."""

    async def unchecked(*_: object, **_more: object) -> None:
        pass

    monkeypatch.setattr(staff, "_check_alone", unchecked)

    @connected()
    async def attack(house: Connected) -> None:
        session = await guarded(house)
        body = {"person": DAN, "rank": "dealer", "activate": True}
        answer = await asks(house, session, "POST /api/staff", body)
        assert (answer.status, answer.reason) == (409, "second-person")

    attack()

"""Asking a second person, who decides in their own session: what they see, and attacks on it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import pytest

from taisai.cage.messages import DismissPerson, EnrolPerson, NoteFailure, SellTicket
from taisai.game.commands import Shut
from taisai.game.money.ledger import Account
from taisai.game.refusals import Refusal
from taisai.game.vocabulary import FLOOR
from taisai.protocol.commands import NEEDS_SECOND
from taisai.protocol.requests import REQUESTS, SettleClaimRequest
from taisai.server.auth import approvals
from taisai.server.auth.approvals import PENDING_FOR, USE_WITHIN
from taisai.server.auth.authentication import PROVED_FOR
from taisai.server.auth.permissions import SECOND_PERSONS, Role
from taisai.server.auth.sessions import NewSession
from taisai.server.handlers.transfers import ticket_number
from taisai.server.http.approvals import ENDPOINTS_TO_APPROVE
from taisai.server.projections import texts
from taisai.server.projections.approvals import ENDPOINTS, request_in_words
from taisai.server.projections.approvals import REQUESTS as REQUEST_TEXTS
from tests.server.inline_server import inline_server
from tests.server.test_cage_transfers import with_claim_of_player
from tests.server.virtual_server import PEOPLE, Connected, Line, Response, Tell, connected

CASHIER, PIT, HEAD = "cashier", "pit-supervisor", "shift-manager"
BRING: Final = {"type": "do", "do": {"command": "bring-in", "id": "m1", "amount": 5_000}}
DROP: Final = {"type": "take-drop", "table": "T1"}


async def asked(house: Connected, session: NewSession, request: Mapping[str, Any] = BRING) -> Response:
    return await house.request("POST", "/api/approvals", {"request": request}, session=session)


async def asked_id(house: Connected, session: NewSession, request: Mapping[str, Any] = BRING) -> str:
    answer = await asked(house, session, request)
    assert answer.status == 200, answer.said
    return str(answer.said["approval"])


async def approve(house: Connected, id_: str, session: NewSession) -> Response:
    return await house.request("POST", f"/api/approvals/{id_}/approve", {}, session=session)


async def sends(line: Line, request: Mapping[str, Any], approval: str, **more: Any) -> Tell:
    fields = {name: value for name, value in request.items() if name != "type"}
    return await line.answer(str(request["type"]), **fields | {"approval": approval} | more)


def view_of(line: Line) -> dict[str, Any]:
    """The feed as its follower has it."""
    view: dict[str, Any] = {}
    number = -1
    for tell in line.told:
        if tell["type"] == "snapshot" and tell["feed"] == "approvals":
            view, number = dict(tell["view"]), tell["number"]
        elif tell["type"] == "change" and tell["feed"] == "approvals":
            assert tell["number"] == number + 1, "a change is missing"
            number = tell["number"]
            view |= tell["changes"]
    return view


async def watches(house: Connected, session: NewSession) -> Line:
    line = await house.came(session)
    assert (await line.answer("follow", feed="approvals"))["type"] == "snapshot"
    return line


# Asked, seen, approved, carried out


@connected()
async def test_a_request_appears_at_once_where_it_may_be_approved_and_is_carried_out_once(
    house: Connected,
) -> None:
    cashier, pit = house.session(CASHIER), house.session(PIT)
    theirs, own = await watches(house, pit), await watches(house, cashier)
    others = [await watches(house, house.session(role)) for role in ("dealer", "floorperson")]
    id_ = await asked_id(house, cashier)
    (line,) = view_of(theirs)["waiting"]
    assert (line["id"], line["by"], line["rank"]) == (id_, PEOPLE[Role.CASHIER], CASHIER)
    assert line["what"] == {"en": "Bring owners' money into the cage", "zh": "股东资金注入账房"}
    assert [(field["label"]["en"], field["amount"]) for field in line["fields"]] == [("Amount", 5_000)]
    (mine,) = view_of(own)["own"]
    assert (mine["state"], mine["people"]) == ("waiting", [PEOPLE[Role.PIT_SUPERVISOR]])
    assert [view_of(other)["waiting"] for other in (*others, own)] == [[], [], []]
    assert (await sends(own, BRING, id_))["reason"] == "second-person", "not yet"
    assert (await approve(house, id_, pit)).said["done"] is True
    assert view_of(theirs)["waiting"] == []
    (mine,) = view_of(own)["own"]
    assert (mine["state"], mine["by"]) == ("approved", PEOPLE[Role.PIT_SUPERVISOR])
    assert (await sends(own, BRING, id_))["type"] == "done"
    assert house.events()[-1].second == PEOPLE[Role.PIT_SUPERVISOR]
    rows = house.rows()
    again = {**BRING, "do": {**BRING["do"], "id": "m2"}}  # type: ignore[dict-item]
    assert (await sends(own, again, id_))["reason"] == "second-person"
    assert house.rows() == rows
    assert view_of(own)["own"] == []


async def sold(house: Connected, number: str, amount: int = 70_000) -> None:
    answer = await house.do(
        SellTicket(at=house.clock.now(), by=PEOPLE[Role.CASHIER], ticket=number, amount=amount)
    )
    assert not isinstance(answer, Refusal), answer


@connected()
async def test_who_approves_a_redemption_sees_what_it_pays_and_not_the_number(house: Connected) -> None:
    cashier, theirs = house.session(CASHIER), await watches(house, house.session(PIT))
    number = ticket_number(b"k" * 32, "sold", "for a test")
    redeeming = {"type": "do", "do": {"command": "redeem-ticket", "ticket": number.lower()}}
    unknown = await asked(house, cashier, redeeming)
    assert (unknown.status, unknown.reason) == (409, "bad-value")
    await sold(house, number)
    await asked_id(house, cashier, redeeming)
    (line,) = view_of(theirs)["waiting"]
    shown = [(field["label"]["en"], field["value"]["en"], field["amount"]) for field in line["fields"]]
    assert shown == [
        ("Ticket that ends with", number.replace("-", "")[-4:], None),
        ("Amount", "70000", 70_000),
    ]
    own = await house.came(cashier)
    assert (await own.answer("do", table=None, do=redeeming["do"]))["type"] == "done"
    again = await asked(house, cashier, redeeming)
    assert (again.status, "was redeemed" in again.said["message"]) == (409, True)


@connected()
async def test_who_approves_that_a_drop_box_leaves_sees_what_is_in_it(house: Connected) -> None:
    theirs = await watches(house, house.session(HEAD))
    await asked_id(house, house.session(PIT), DROP)
    (line,) = view_of(theirs)["waiting"]
    drop = house.engine.table("T1").ledger.balances[Account.DROP]
    assert [(field["label"]["en"], field["amount"]) for field in line["fields"]] == [("Amount", drop)]


# At the page of the first person


@connected()
async def test_the_first_ones_page_shows_all_that_the_second_person_would_see(house: Connected) -> None:
    cashier, pit = house.session(CASHIER), house.session(PIT)
    theirs, own = await watches(house, pit), await watches(house, cashier)
    id_ = await asked_id(house, cashier)
    assert view_of(own)["own"][0]["asks"] == view_of(theirs)["waiting"][0]
    await approve(house, id_, pit)
    assert view_of(own)["own"][0]["asks"] is None


@connected()
async def test_only_who_asked_gets_a_challenge_and_only_for_what_waits(house: Connected) -> None:
    cashier = house.session(CASHIER)
    id_ = await asked_id(house, cashier)
    path = f"/api/approvals/{id_}/challenge"
    given = await house.request("POST", path, session=cashier)
    assert given.status == 200, given.said
    for session in (house.session(PIT), house.session(CASHIER)):
        assert (await house.request("POST", path, session=session)).status == 409
    proof = {"person": PEOPLE[Role.PIT_SUPERVISOR], "challenge": given.said["challenge"], "assertion": {}}
    here = f"/api/approvals/{id_}/approve-here"
    answer = await house.request("POST", here, proof, session=house.session(PIT))
    assert (answer.status, answer.reason) == (403, "not-second")
    for body in (proof, {**proof, "password": "a word"}, {**proof, "code": "123456"}):
        answer = await house.request("POST", here, body, session=cashier)
        assert answer.status in (400, 401), "nobody types a password or a code at another person's page"


@connected()
async def test_whoever_declines_gives_a_reason_that_the_asker_reads(house: Connected) -> None:
    cashier, pit = house.session(CASHIER), house.session(PIT)
    own = await watches(house, cashier)
    id_ = await asked_id(house, cashier)
    path = f"/api/approvals/{id_}/decline"
    assert (await house.request("POST", path, {}, session=pit)).status == 400
    assert (await house.request("POST", path, {"reason": "count it again"}, session=pit)).status == 200
    (mine,) = view_of(own)["own"]
    assert (mine["state"], mine["by"]) == ("declined", PEOPLE[Role.PIT_SUPERVISOR])
    assert mine["reason"] == "count it again"
    assert (await approve(house, id_, house.session(HEAD))).reason == "not-second"
    assert (await sends(own, BRING, id_))["reason"] == "second-person"


@connected()
async def test_the_asker_is_told_who_has_it_on_a_page_and_who_may_approve(house: Connected) -> None:
    cashier = house.session(CASHIER)
    own = await watches(house, cashier)
    await asked_id(house, cashier)
    (mine,) = view_of(own)["own"]
    assert mine["people"] == []
    assert mine["ranks"] == [str(role) for role in Role if role in SECOND_PERSONS]
    theirs = await watches(house, house.session(HEAD))
    assert view_of(own)["own"][0]["people"] == [PEOPLE[Role.SHIFT_MANAGER]]
    assert len(view_of(theirs)["waiting"]) == 1
    theirs.hangs_up()
    await house.settle()
    assert view_of(own)["own"][0]["people"] == []


@connected()
async def test_a_connection_that_unfollows_is_sent_nothing_more(house: Connected) -> None:
    theirs = await watches(house, house.session(PIT))
    assert (await theirs.answer("unfollow", feed="approvals"))["type"] == "following"
    await asked_id(house, house.session(CASHIER))
    assert view_of(theirs)["waiting"] == []
    assert (await theirs.answer("follow", feed="approvals", epoch="x", after=3))["view"]["waiting"] != []


@connected()
async def test_an_old_session_approves_only_with_a_code(house: Connected) -> None:
    cashier, pit = house.session(CASHIER), house.session(PIT)
    await house.pass_(PROVED_FOR / 1_000)
    id_ = await asked_id(house, cashier)
    answer = await approve(house, id_, pit)
    assert (answer.status, answer.reason) == (403, "code-needed")
    path = f"/api/approvals/{id_}/approve"
    wrong = await house.request("POST", path, {"code": "000000"}, session=pit)
    assert (wrong.status, wrong.reason) == (401, "wrong")
    assert len(view_of(await watches(house, pit))["waiting"]) == 1


# Attacks


@connected()
async def test_nobody_approves_for_themselves_from_a_second_session_or_console(house: Connected) -> None:
    one, other = house.session(PIT), house.session(PIT)
    id_ = await asked_id(house, one, DROP)
    for session in (one, other):
        answer = await approve(house, id_, session)
        assert (answer.status, answer.reason) == (403, "not-second")
        assert "must not be" in answer.said["message"]
    assert view_of(await watches(house, other)) == {"of": "approvals", "waiting": [], "own": []}
    spelled = house.door.sessions.opened("PIT-SUPERVISOR TAN", HEAD, house.clock.now())
    assert (await approve(house, id_, spelled)).reason == "not-second"  # type: ignore[arg-type]
    line = await house.came(one)
    assert (await sends(line, DROP, id_))["reason"] == "second-person"


@pytest.mark.parametrize("role", ["dealer", "floorperson", "cashier", "auditor", "administrator"])
@connected()
async def test_a_role_without_the_right_approves_nothing_at_a_table(house: Connected, role: str) -> None:
    pit = house.session(PIT)
    id_ = await asked_id(house, pit, DROP)
    answer = await approve(house, id_, house.session(role))
    assert answer.status == 403, answer.said
    line = await house.came(pit)
    assert (await sends(line, DROP, id_))["reason"] == "second-person"


@pytest.mark.parametrize(
    "more",
    [
        {"do": {"command": "bring-in", "id": "m1", "amount": 5_001}},
        {"do": {"command": "take-out", "id": "m1", "amount": 5_000}},
    ],
    ids=["another amount", "another act"],
)
@connected()
async def test_an_approval_is_for_exactly_what_the_second_person_read(
    house: Connected, more: dict[str, Any]
) -> None:
    cashier = house.session(CASHIER)
    id_ = await asked_id(house, cashier)
    assert (await approve(house, id_, house.session(PIT))).status == 200
    line, rows = await house.came(cashier), house.rows()
    assert (await sends(line, BRING, id_, **more))["reason"] == "second-person"
    assert (await sends(line, BRING, id_))["reason"] == "second-person", "and it is spent"
    assert house.rows() == rows


@connected()
async def test_another_session_cannot_use_or_withdraw_it(house: Connected) -> None:
    cashier, other = house.session(CASHIER), house.session(CASHIER)
    id_ = await asked_id(house, cashier)
    assert (await approve(house, id_, house.session(PIT))).status == 200
    line = await house.came(other)
    assert (await sends(line, BRING, id_))["reason"] == "second-person"
    assert (await house.request("DELETE", f"/api/approvals/{id_}", session=other)).status == 409
    assert (await sends(await house.came(cashier), BRING, id_))["type"] == "done"


@connected()
async def test_what_waits_and_what_was_approved_expires(house: Connected) -> None:
    cashier, pit = house.session(CASHIER), house.session(PIT)
    own = await watches(house, cashier)
    late, given = await asked_id(house, cashier), await asked_id(house, cashier)
    assert (await approve(house, given, pit)).status == 200
    await house.pass_(USE_WITHIN / 1_000)
    assert (await sends(own, BRING, given))["reason"] == "second-person"
    await house.pass_((PENDING_FOR - USE_WITHIN) / 1_000)
    assert (await approve(house, late, house.session(PIT))).reason == "not-second"
    house.door.approvals.due(house.clock.now())
    assert [line["state"] for line in view_of(own)["own"]] == ["expired"]


@connected()
async def test_what_an_asker_leaves_behind_cannot_be_approved(house: Connected) -> None:
    cashier, pit = house.session(CASHIER), house.session(PIT)
    theirs = await watches(house, pit)
    id_ = await asked_id(house, cashier)
    assert len(view_of(theirs)["waiting"]) == 1
    assert (await house.request("POST", "/api/sign-out", session=cashier)).status == 200
    assert view_of(theirs)["waiting"] == []
    assert (await approve(house, id_, pit)).reason == "not-second"


@pytest.mark.parametrize("how", ["dismissed", "of another rank"])
@connected()
async def test_an_approver_who_is_gone_meanwhile_approved_nothing(house: Connected, how: str) -> None:
    cashier, pit = house.session(CASHIER), house.session(PIT)
    id_ = await asked_id(house, cashier)
    assert (await approve(house, id_, pit)).status == 200
    person = PEOPLE[Role.PIT_SUPERVISOR]
    by: Any = {"at": house.clock.now(), "by": PEOPLE[Role.ADMINISTRATOR], "person": person}
    gone = DismissPerson(**by) if how == "dismissed" else EnrolPerson(**by, rank="dealer")
    assert not isinstance(await house.do(gone), Refusal)
    line, rows = await house.came(cashier), house.rows()
    assert (await sends(line, BRING, id_))["reason"] in ("second-person", "not-permitted")
    assert house.rows() == rows


@connected()
async def test_one_session_cannot_flood_the_screens_of_supervisors(house: Connected) -> None:
    cashier = house.session(CASHIER)
    theirs = await watches(house, house.session(PIT))
    answers = [await asked(house, cashier) for _ in range(40)]
    assert [answer.status for answer in answers[:3]] == [200] * 3
    assert {(answer.status, answer.reason) for answer in answers[3:]} == {
        (429, "too-many"),
        (429, "too-often"),
    }
    assert len(view_of(theirs)["waiting"]) == approvals.MOST_OF_SESSION
    other = await asked(house, house.session("dealer"), {**DROP, "type": "take-credit", "amount": 100})
    assert other.status == 200, "nobody else is kept out"
    gone = await house.request("DELETE", f"/api/approvals/{answers[0].said['approval']}", session=cashier)
    assert gone.status == 200
    assert len(view_of(theirs)["waiting"]) == approvals.MOST_OF_SESSION  # the dealer's is one of them


@connected()
async def test_nobody_asks_for_what_they_may_not_do_or_what_takes_no_second_person(house: Connected) -> None:
    dealer, admin = house.session("dealer"), house.session("administrator")
    look = {"type": "preview", "table": "T1", "faces": [1, 2, 3]}
    nobody = {"endpoint": "POST /api/staff", "body": {}}
    refused = [
        (await asked(house, dealer, BRING), 403, "not-permitted"),
        (await asked(house, dealer, DROP), 403, "not-permitted"),
        (await asked(house, dealer, look), 400, "bad-value"),
        (await asked(house, dealer, {"type": "nothing"}), 400, "bad-message"),
        (await asked(house, dealer, nobody), 403, "not-permitted"),
        (await asked(house, dealer, {"endpoint": "POST /api/sign-in", "body": {}}), 400, "bad-value"),
        (await asked(house, admin, nobody), 400, "bad-message"),
    ]  # fmt: skip
    for answer, status, reason in refused:
        assert (answer.status, answer.reason) == (status, reason), answer.said
    assert len(house.door.approvals) == 0


@connected()
async def test_a_code_for_a_first_sign_in_is_asked_for_in_words(house: Connected) -> None:
    admin, theirs = house.session("administrator"), await watches(house, house.session(HEAD))
    body = {"person": "Zoe Lim", "rank": "cashier", "activate": True}
    id_ = await asked_id(house, admin, {"endpoint": "POST /api/staff", "body": body})
    (line,) = view_of(theirs)["waiting"]
    shown = {field["label"]["en"]: field["value"]["en"] for field in line["fields"]}
    assert (shown["Person"], shown["Rank"]) == ("Zoe Lim", "Cashier")
    assert shown["Code for a first sign-in; their old password and authenticator end"] == "yes"
    assert (await approve(house, id_, house.session(HEAD))).status == 200
    given = await house.request("POST", "/api/staff", body | {"approval": id_}, session=admin)
    assert given.status == 200, given.said
    assert given.said["activation"] not in "".join(theirs.messages), "only the first person sees the code"


@connected()
async def test_a_dismissal_is_asked_for_in_words_and_approved_for_this_person(house: Connected) -> None:
    admin, theirs = house.session("administrator"), await watches(house, house.session(HEAD))
    body = {"person": PEOPLE[Role.PIT_MANAGER]}
    id_ = await asked_id(house, admin, {"endpoint": "DELETE /api/staff", "body": body})
    (line,) = view_of(theirs)["waiting"]
    assert line["what"]["en"] == "Remove a person from the staff list"
    shown = [field["value"]["en"] for field in line["fields"]]
    assert shown == [PEOPLE[Role.PIT_MANAGER], "Pit Manager"]
    assert (await approve(house, id_, house.session(HEAD))).status == 200
    done = await house.request("DELETE", "/api/staff", body | {"approval": id_}, session=admin)
    assert done.status == 200, done.said


@connected()
async def test_a_table_shows_its_requests_only_to_ranks_that_count_as_second_there(house: Connected) -> None:
    """The document of T1 knows fewer ranks than the House: who is none of them decides nothing there."""
    ranks = house.engine.table("T1").ranks
    able = set(ranks.ranks()[ranks.place(ranks.second) :])
    dealer = house.session("dealer")
    request = {"type": "take-credit", "table": "T1", "amount": 100}
    id_ = await asked_id(house, dealer, request)
    for role in sorted(SECOND_PERSONS):
        waiting = view_of(await watches(house, house.session(role)))["waiting"]
        assert [line["table"] for line in waiting] == (["T1"] if role in able else []), role
    assert id_


@connected()
async def test_a_request_at_a_table_is_described_by_the_server_with_what_follows(house: Connected) -> None:
    dealer, theirs = house.session("dealer"), await watches(house, house.session(HEAD))
    do = {"command": "report", "event": "power-failure", "detail": "the lamps went out"}
    await asked_id(house, dealer, {"type": "do", "table": "T1", "do": do})
    (line,) = view_of(theirs)["waiting"]
    assert line["what"]["en"].startswith("Report an irregularity: ")
    assert line["then"] is not None
    assert ("Details", "the lamps went out") in [
        (field["label"]["en"], field["value"]["en"]) for field in line["fields"]
    ]


@connected()
async def test_a_request_shows_what_it_changes_and_nothing_else(house: Connected) -> None:
    theirs = await watches(house, house.session(HEAD))
    requests: dict[str, tuple[dict[str, Any], list[tuple[str, str]]]] = {
        CASHIER: ({"type": "fill", "table": "T1", "amount": 70_000}, [("Amount", "70000")]),
        PIT: (DROP, [("Amount", "100000")]),
        "pit-manager": (
            {"type": "do", "table": "T1", "do": {"command": "set-limits", "limits": {
                "least": 100, "most": 500, "groups": {"any-triple": [10, 20]}, "exposure": 9_000}}},
            [("Minimum", "100"), ("Maximum", "500"), ("Any Triple: Minimum", "10"),
             ("Any Triple: Maximum", "20"), ("Most the house may lose on one outcome", "9000")],
        ),
        "dealer": (
            {"type": "do", "table": "T1", "do": {"command": "enter-settlement", "returned": {"1": 900},
                "witnessed": False, "evidence": "camera 3", "reason": "the power failed"}},
            [("Handed back to seat 1, stake and winnings together", "900"),
             ("The supervisor was present", "no"), ("What shows it: camera and time", "camera 3"),
             ("Reason", "the power failed")],
        ),
    }  # fmt: skip
    for role, (request, shown) in requests.items():
        id_ = await asked_id(house, house.session(role), request)
        line = next(line for line in view_of(theirs)["waiting"] if line["id"] == id_)
        fields = [(field["label"]["en"], field["value"]["en"]) for field in line["fields"]]
        assert fields == shown, line["what"]
        assert line["table"] == "T1"


@connected()
async def test_what_the_table_offers_is_described_as_the_table_offers_it(house: Connected) -> None:
    pit, theirs = house.session(PIT), await watches(house, house.session(HEAD))
    shut = Shut(at=house.clock.now(), by=PEOPLE[Role.PIT_SUPERVISOR], reason="the lamp flickers")
    assert not isinstance(await house.do(shut, "T1"), Refusal)
    again = {"type": "do", "table": "T1", "do": {"command": "reopen", "reason": "a new lamp"}}
    id_ = await asked_id(house, pit, again)
    (line,) = view_of(theirs)["waiting"]
    assert line["what"] == {"en": "Reopen the table", "zh": "重新开放本桌"}
    assert [field["value"]["en"] for field in line["fields"]] == ["a new lamp"]
    assert (await approve(house, id_, house.session(HEAD))).status == 200
    assert (await sends(await house.came(pit), again, id_))["type"] == "done"


@connected()
async def test_an_unlocking_is_approved_for_exactly_this_person_and_reason(house: Connected) -> None:
    admin, head = house.session("administrator"), house.session(HEAD)
    theirs = await watches(house, head)
    locked = PEOPLE[Role.DEALER]
    for _ in range(3):
        failed = NoteFailure(at=house.clock.now(), by=FLOOR, person=locked, address="x", why="password")
        assert not isinstance(await house.do(failed), Refusal)
    body = {"reason": "they know it again"}

    async def unlocks(person: str, approval: str, reason: str = body["reason"]) -> Response:
        path = f"/api/staff/{person}/unlock"
        return await house.request("POST", path, {"reason": reason, "approval": approval}, session=admin)

    async def given() -> str:
        asking = {"endpoint": f"POST /api/staff/{locked}/unlock", "body": body}
        id_ = await asked_id(house, admin, asking)
        assert (await approve(house, id_, head)).status == 200
        return id_

    assert (await unlocks("cashier Tan", await given())).reason == "second-person"
    assert (await unlocks(locked, await given(), "another reason")).reason == "second-person"
    assert (await unlocks(locked, await given())).status == 200
    id_ = await asked_id(house, admin, {"endpoint": f"POST /api/staff/{locked}/unlock", "body": body})
    line = next(line for line in view_of(theirs)["waiting"] if line["id"] == id_)
    assert [field["value"]["en"] for field in line["fields"]] == [locked, body["reason"], "Dealer"]


def test_a_claim_is_shown_with_its_amount_and_who_pays() -> None:
    server = inline_server(credits=0)
    claim = with_claim_of_player(server)
    table = server.table("T1")
    words = request_in_words(SettleClaimRequest(id="x", table="T1", claim=claim), table, 0)
    (field,) = words.fields
    owed = table.claims[claim]
    assert (field.label.en, field.amount) == (f"The house pays the player of seat {owed.seat}", owed.amount)


def test_everything_that_takes_a_second_person_has_a_text_in_both_languages() -> None:
    named = {str(kind.__struct_config__.tag) for kind in REQUESTS if "approval" in kind.__struct_fields__}
    for tag in (named | NEEDS_SECOND) - {"do"}:
        words = texts.COMMANDS.get(tag) or REQUEST_TEXTS.get(tag)
        assert words is not None, tag
        assert words.en != words.zh
    assert set(ENDPOINTS) == set(ENDPOINTS_TO_APPROVE)


# Sabotages


@connected()
async def test_sabotage_an_approval_that_is_not_bound_to_its_request_is_seen(
    house: Connected, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(approvals, "compare_digest", lambda _kept, _given: True)
    cashier = house.session(CASHIER)
    id_ = await asked_id(house, cashier)
    assert (await approve(house, id_, house.session(PIT))).status == 200
    changed = {"command": "bring-in", "id": "m1", "amount": 5_001}
    assert (await sends(await house.came(cashier), BRING, id_, do=changed))["type"] == "done"

"""The door of a demonstration: one click into every role, and nowhere else."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from taisai.demo import house as demo_house
from taisai.demo import sign_in as module
from taisai.demo.house import furnish
from taisai.demo.sign_in import ROLES, Demonstration, endpoints
from taisai.journal import Engine, Journal, JournalError, MemoryStore
from taisai.protocol.message import PROTOCOL_VERSION
from taisai.server.auth.permissions import Role
from taisai.server.auth.sign_in_refusals import SignInRefused
from taisai.server.runtime.house_server import HouseServer
from tests.server.sim import virtual
from tests.server.virtual_server import KEY, Connected, device, run, signature

DEMO_ENDPOINTS = (("GET", "/api/demo"), ("POST", "/api/demo/enter"), ("POST", "/api/demo/agree"))


def store() -> MemoryStore:
    """The demonstration's house, before anyone comes."""
    made = MemoryStore()
    at = virtual.START - 60_000
    journal = Journal.opened(
        made, journal="lobby", key=KEY.public, at=at, by="Ada Stone", program="taisai", demonstration=True
    )
    furnish(Engine(journal), now=at)
    return made


def mounted(casino: HouseServer) -> list[Any]:
    """The endpoints of a demonstration."""
    return endpoints(Demonstration(casino))


def visited(story: Callable[[Connected], Coroutine[Any, Any, None]]) -> None:
    """Runs a story in a demonstration."""

    async def whole(loop: Any) -> None:
        await story(Connected(loop, store(), extra=mounted))

    run(whole)


def key_of(name: str) -> str:
    """The public key of a visitor's own device."""
    return device(name).public


# Coming in


def test_what_there_is_is_shown() -> None:
    async def story(house: Connected) -> None:
        told = (await house.request("GET", "/api/demo")).said
        assert [one["table"] for one in told["tables"]] == ["MBS1", "RWS1", "CARD1", "US1"]
        assert [one["rulebook"] for one in told["tables"]] == [
            "mbs-sic-bo-v6", "rws-sic-bo-etg-v8", "mbs-3-card-sic-bo", "us-sic-bo",
        ]  # fmt: skip
        assert told["roles"] == list(ROLES)
        assert told["currency"] == "PLAY"

    visited(story)


@pytest.mark.parametrize("role", [role for role in ROLES if role not in ("player", "display")])
def test_every_rank_is_one_click_away(role: str) -> None:
    async def story(house: Connected) -> None:
        answer = await house.request("POST", "/api/demo/enter", {"role": role, "table": "MBS1"})
        assert answer.status == 200
        line = await house.line()
        welcome = await line.answer("hello", protocol=PROTOCOL_VERSION, token=answer.said["token"])
        assert (welcome["role"], welcome["name"]) == (role, demo_house.GUESTS[role])

    visited(story)


@pytest.mark.parametrize(("role", "kind"), [("player", "terminal"), ("display", "display")])
def test_a_device_comes_in_by_its_own_key(role: str, kind: str) -> None:
    async def story(house: Connected) -> None:
        asked = {"role": role, "table": "US1", "key": key_of("mine")}
        told = (await house.request("POST", "/api/demo/enter", asked)).said
        line = await house.line()
        proof = device("mine").key.sign(
            b"taisai device 1\n" + told["device"].encode() + b"\n" + bytes.fromhex(line.nonce)
        )
        welcome = await line.answer(
            "hello", protocol=PROTOCOL_VERSION, device=told["device"], signature=proof.hex()
        )
        assert (welcome["role"], welcome["table"]) == (kind, "US1")
        assert welcome.get("seat") == told["seat"]
        stranger = await house.line()
        refused = await stranger.answer(
            "hello",
            protocol=PROTOCOL_VERSION,
            device=told["device"],
            signature=signature("other", stranger.nonce),
        )
        assert refused["reason"] == "not-known"

    visited(story)


def test_a_key_keeps_its_seat_and_another_gets_another() -> None:
    async def story(house: Connected) -> None:
        async def seat(name: str) -> str:
            asked = {"role": "player", "table": "RWS1", "key": key_of(name)}
            return str((await house.request("POST", "/api/demo/enter", asked)).said["seat"])

        first = await seat("ann")
        assert int(first) > len(demo_house.TABLES["RWS1"].players)
        assert await seat("bob") != first
        assert await seat("ann") == first

    visited(story)


def test_when_every_seat_has_a_terminal_one_that_nobody_uses_makes_room(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(demo_house, "SEATS", 5)  # two for visitors

    async def story(house: Connected) -> None:
        async def enters(name: str) -> Any:
            return await house.request(
                "POST", "/api/demo/enter", {"role": "player", "table": "RWS1", "key": key_of(name)}
            )

        async def sits(name: str) -> None:
            told = (await enters(name)).said
            line = await house.line()
            proof = device(name).key.sign(
                b"taisai device 1\n" + told["device"].encode() + b"\n" + bytes.fromhex(line.nonce)
            )
            await line.answer(
                "hello", protocol=PROTOCOL_VERSION, device=told["device"], signature=proof.hex()
            )

        await sits("ann")
        assert (await enters("bob")).status == 200
        assert (await enters("cid")).said["seat"] == "5"  # bob's, who is not connected
        await sits("cid")
        assert (await enters("dan")).status == 400  # both are

    visited(story)


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        ({"role": "owner"}, "unknown role"),
        ({"role": "dealer", "table": "T9"}, "unknown table"),
        ({"role": "player", "table": "MBS1"}, "a player needs a table and the key of a device"),
        ({"role": "display", "key": "00" * 32}, "a display needs a table and the key of a device"),
        ({"role": "player", "table": "MBS1", "key": "xyz"}, "invalid request: "),
        ({"role": "dealer", "person": "Ada Stone"}, "invalid request: "),
    ],
)
def test_what_cannot_be_is_refused(asked: dict[str, str], says: str) -> None:
    async def story(house: Connected) -> None:
        answer = await house.request("POST", "/api/demo/enter", asked)
        assert answer.status == 400
        assert answer.said["message"].startswith(says)

    visited(story)


def test_a_page_from_elsewhere_lets_nobody_in() -> None:
    async def story(house: Connected) -> None:
        answer = await house.request(
            "POST", "/api/demo/enter", {"role": "dealer"}, origin="https://elsewhere.test"
        )
        assert (answer.status, answer.reason) == (403, "origin")

    visited(story)


# Agreeing


async def agreed_fill(house: Connected) -> tuple[Any, str]:
    """A cashier who came in, and a virtual supervisor's agreement to a fill of 1,000.00."""
    entered = (await house.request("POST", "/api/demo/enter", {"role": "cashier"})).said
    bearer = f"Bearer {entered['token']}"
    ask = {"type": "fill", "table": "MBS1", "amount": 100_000}
    asked = await house.request("POST", "/api/approvals", {"request": ask}, authorization=bearer)
    approval = asked.said["approval"]
    agreed = await house.request("POST", "/api/demo/agree", {"approval": approval}, authorization=bearer)
    assert agreed.said["done"] is True
    line = await house.line()
    await line.answer("hello", protocol=PROTOCOL_VERSION, token=entered["token"])
    return line, approval


def test_a_virtual_supervisor_approves_and_is_named_in_the_journal() -> None:
    async def story(house: Connected) -> None:
        line, approval = await agreed_fill(house)
        told = await line.answer("fill", table="MBS1", amount=100_000, approval=approval)
        assert told["type"] == "done"
        assert any(getattr(event, "second", None) == "Virtual Sato" for event in house.events()[-3:])

    visited(story)


def test_what_they_agreed_to_is_one_thing() -> None:
    async def story(house: Connected) -> None:
        line, approval = await agreed_fill(house)
        told = await line.answer("fill", table="MBS1", amount=100_001, approval=approval)
        assert told["reason"] == "second-person"

    visited(story)


def test_nobody_is_their_own_second_person() -> None:
    async def story(house: Connected) -> None:
        demo = Demonstration(house.casino)
        for person, rank in demo_house.VIRTUAL.items():
            opened = house.door.sessions.opened(person, rank, house.clock.now())
            assert opened is not None
            for table in (*demo_house.TABLES, "no table"):
                granted = demo.asked_and_approved(opened.session, b"this", table)
                assert not isinstance(granted, str)
                assert granted.by not in (None, person)
                house.door.approvals.withdrawn(session=opened.session.id)

    visited(story)


# Nowhere else


def test_a_house_that_plays_for_money_has_no_such_sign_in() -> None:
    async def whole(loop: Any) -> None:
        house = Connected(loop)
        for method, path in DEMO_ENDPOINTS:
            assert (await house.request(method, path, {} if method == "POST" else None)).status == 404
        with pytest.raises(JournalError, match="play for money"):
            Demonstration(house.casino)
        for person in ("dealer Tan", "administrator Tan"):
            answer = await house.door.admitted(person, address="here", now=house.clock.now())
            assert isinstance(answer, SignInRefused)

    run(whole)


def test_sabotage_the_sign_in_refuses_even_where_it_was_mounted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Mounted over play for money by mistake, it is still not there: neither permits nor Door let it be."""
    monkeypatch.setattr(module.Demonstration, "__init__", _careless)

    async def whole(loop: Any) -> None:
        house = Connected(loop, extra=mounted)
        for method, path in DEMO_ENDPOINTS:
            answer = await house.request(method, path, {"role": "dealer"} if method == "POST" else None)
            assert answer.status == 404, path
        opened = house.session(Role.DEALER)
        before = len(house.door.sessions)
        await house.request("POST", "/api/demo/enter", {"role": "dealer"}, session=opened)
        assert len(house.door.sessions) == before

    run(whole)


def _careless(self: Any, casino: HouseServer) -> None:
    self.casino, self.dealers = casino, None


def test_nobody_who_is_not_on_the_staff_list_is_admitted() -> None:
    async def story(house: Connected) -> None:
        answer = await house.door.admitted("Mallory", address="here", now=house.clock.now())
        assert isinstance(answer, SignInRefused)

    visited(story)

"""The lobby of a demonstration: one click into every role, and nowhere else; a page of its own."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable, Coroutine
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from msgspec import Struct

from taisai.floor.access.refused import SignInRefused
from taisai.floor.access.roles import Role
from taisai.floor.casino import Casino
from taisai.floor.virtual import cast
from taisai.floor.virtual import demonstration as module
from taisai.floor.virtual.demonstration import ROLES, Demonstration
from taisai.floor.virtual.opening import furnish
from taisai.floor.web import pages
from taisai.floor.web.built import NOTHING
from taisai.floor.web.demo import endpoints
from taisai.game import events as happened
from taisai.house import Journal, JournalError, Keeper, MemoryStore
from taisai.wire.message import WIRE
from tests.floor.connected import KEY, Connected, device, run, signature
from tests.floor.sim import virtual

STATIC = {
    one.name: one.read_text("utf-8")
    for one in (files("taisai.floor.web") / "static").iterdir()
    if one.is_file()
}
SCRIPTS = {name: text for name, text in STATIC.items() if name.endswith(".js")}
DEMO_ENDPOINTS = (("GET", "/api/demo"), ("POST", "/api/demo/enter"), ("POST", "/api/demo/agree"))


@pytest.fixture(autouse=True)
def before_there_were_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    """The plain lobby is what a floor shows whose pages are not built."""
    monkeypatch.setattr("taisai.floor.casino.our_pages", lambda: NOTHING)


def store() -> MemoryStore:
    """The demonstration's house, before anyone comes."""
    made = MemoryStore()
    at = virtual.START - 60_000
    journal = Journal.opened(
        made, journal="lobby", key=KEY.public, at=at, by="Ada Stone", program="taisai", demonstration=True
    )
    furnish(Keeper(journal), now=at)
    return made


def mounted(casino: Casino) -> list[Any]:
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


def test_what_there_is_is_told() -> None:
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
        welcome = await line.answer("hello", wire=WIRE, token=answer.said["token"])
        assert (welcome["role"], welcome["name"]) == (role, cast.GUESTS[role])

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
        welcome = await line.answer("hello", wire=WIRE, device=told["device"], signature=proof.hex())
        assert (welcome["role"], welcome["table"]) == (kind, "US1")
        assert welcome.get("seat") == told["seat"]
        stranger = await house.line()
        refused = await stranger.answer(
            "hello", wire=WIRE, device=told["device"], signature=signature("other", stranger.nonce)
        )
        assert refused["reason"] == "not-known"

    visited(story)


def test_a_key_keeps_its_seat_and_another_gets_another() -> None:
    async def story(house: Connected) -> None:
        async def seat(name: str) -> str:
            asked = {"role": "player", "table": "RWS1", "key": key_of(name)}
            return str((await house.request("POST", "/api/demo/enter", asked)).said["seat"])

        first = await seat("ann")
        assert int(first) > len(cast.TABLES["RWS1"].players)
        assert await seat("bob") != first
        assert await seat("ann") == first

    visited(story)


def test_when_every_seat_has_a_terminal_one_that_nobody_uses_makes_room(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(cast, "SEATS", 5)  # two for visitors

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
            await line.answer("hello", wire=WIRE, device=told["device"], signature=proof.hex())

        await sits("ann")
        assert (await enters("bob")).status == 200
        assert (await enters("cid")).said["seat"] == "5"  # bob's, who is not connected
        await sits("cid")
        assert (await enters("dan")).status == 400  # both are

    visited(story)


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        ({"role": "owner"}, "expected a role of player"),
        ({"role": "dealer", "table": "T9"}, "expected a table of MBS1"),
        ({"role": "player", "table": "MBS1"}, "expected a table and a device's key"),
        ({"role": "display", "key": "00" * 32}, "expected a table and a device's key"),
        ({"role": "player", "table": "MBS1", "key": "xyz"}, "expected a body as the schema says"),
        ({"role": "dealer", "person": "Ada Stone"}, "expected a body as the schema says"),
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
    ask = {"ask": "fill", "table": "MBS1", "amount": 100_000}
    agreed = await house.request("POST", "/api/demo/agree", {"ask": ask}, authorization=bearer)
    line = await house.line()
    await line.answer("hello", wire=WIRE, token=entered["token"])
    return line, agreed.said["approval"]


def test_a_virtual_supervisor_agrees_and_stands_in_the_journal() -> None:
    async def story(house: Connected) -> None:
        line, approval = await agreed_fill(house)
        told = await line.answer("fill", table="MBS1", amount=100_000, approval=approval)
        assert told["tell"] == "done"
        assert any(getattr(event, "second", None) == "Virtual Sato" for event in house.events()[-3:])

    visited(story)


def test_what_he_agreed_to_is_one_thing() -> None:
    async def story(house: Connected) -> None:
        line, approval = await agreed_fill(house)
        told = await line.answer("fill", table="MBS1", amount=100_001, approval=approval)
        assert told["reason"] == "second-person"

    visited(story)


def test_nobody_is_his_own_second_person() -> None:
    async def story(house: Connected) -> None:
        demo = Demonstration(house.casino)
        for person, rank in cast.VIRTUAL.items():
            opened = house.door.sessions.opened(person, rank, house.clock.now())
            assert opened is not None
            for table in (*cast.TABLES, None):
                granted = demo.agreed(opened.session, b"this", table)
                assert not isinstance(granted, str)
                assert granted.approval.approver != person

    visited(story)


# Nowhere else


def test_in_a_house_that_plays_for_money_there_is_no_such_door() -> None:
    async def whole(loop: Any) -> None:
        house = Connected(loop)
        for method, path in DEMO_ENDPOINTS:
            assert (await house.request(method, path, {} if method == "POST" else None)).status == 404
        with pytest.raises(JournalError, match="expected a journal of demonstration"):
            Demonstration(house.casino)
        for person in ("dealer Tan", "administrator Tan"):
            answer = await house.door.admitted(person, address="here", now=house.clock.now())
            assert isinstance(answer, SignInRefused)

    run(whole)


def test_sabotage_the_door_is_shut_even_where_it_was_mounted(monkeypatch: pytest.MonkeyPatch) -> None:
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


def _careless(self: Any, casino: Casino) -> None:
    self.casino, self.dealers = casino, None


def test_nobody_who_is_not_on_the_roll_is_admitted() -> None:
    async def story(house: Connected) -> None:
        answer = await house.door.admitted("Mallory", address="here", now=house.clock.now())
        assert isinstance(answer, SignInRefused)

    visited(story)


# The page


def test_the_page_and_everything_it_asks_for_is_there() -> None:
    async def story(house: Connected) -> None:
        page = await house.request("GET", "/")
        assert page.status == 200
        assert page.headers["content-type"].startswith("text/html")
        assert "script-src 'self'" in page.headers["content-security-policy"]
        wanted = {name for text in STATIC.values() for name in re.findall(r"/page/([\w.-]+)", text)}
        assert wanted >= {"lobby.js", "lobby.css", "wire.js", "words.js"}
        for name in wanted:
            assert (await house.request("GET", f"/page/{name}")).status == 200, name

    visited(story)


async def at_work(house: Connected) -> None:
    """What a house that plays for money shows to whoever looks in."""
    for path in ("/", "/page/lobby.html"):
        page = await house.request("GET", path)
        assert page.status == 200
        shown = page.body.decode()
        assert "This floor is at work" in shown
        assert not re.search(r"\bplay\b|\bdemo|游戏币|演示", shown, re.IGNORECASE)
        assert "<script" not in shown  # nothing that could show a lobby, not even for a moment
        links = re.findall(r'href="(/[^"]+)"', shown)
        assert {"/health", "/schema/openapi.json", "/schema/socket.json"} <= set(links)
        for link in links:
            assert (await house.request("GET", link)).status == 200, link


def test_a_house_that_plays_for_money_says_that_it_is_at_work_and_nothing_of_play_money() -> None:
    async def whole(loop: Any) -> None:
        await at_work(Connected(loop))

    run(whole)


def test_sabotage_the_lobby_is_shown_where_money_is_played_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pages, "_AT_WORK", "lobby.html")

    async def whole(loop: Any) -> None:
        with pytest.raises(AssertionError):
            await at_work(Connected(loop))

    run(whole)


def test_a_demonstration_shows_its_lobby() -> None:
    async def story(house: Connected) -> None:
        assert (await house.request("GET", "/")).body.decode() == STATIC["lobby.html"]

    visited(story)


@pytest.mark.parametrize("name", STATIC)
def test_nothing_comes_from_elsewhere_and_text_is_only_text(name: str) -> None:
    text = STATIC[name].replace("http://www.w3.org/2000/svg", "")
    for never in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function"):
        assert never not in text
    assert not re.search(r"https?://", text)
    assert not re.search(r"\son\w+=[\"']|<style|style=|<script(?! type=\"module\" src=\"/page/)", text)


def words_of(language: str) -> set[str]:
    """The names of the page's words in a language."""
    part = STATIC["words.js"].split(f"  {language}: {{", 1)[1].split("\n  },", 1)[0]
    return set(re.findall(r'(?:^|[\s{,])"?([a-z][\w-]*)"?: "', part))


def test_every_word_is_there_in_both_languages() -> None:
    assert words_of("en") == words_of("zh")
    used = {name for text in SCRIPTS.values() for name in re.findall(r'\bsay\("([\w-]+)"', text)}
    used |= {name for text in SCRIPTS.values() for name in re.findall(r'\bbutton\("([\w-]+)"', text)}
    assert used
    assert used <= words_of("en"), used - words_of("en")
    assert set(ROLES) <= words_of("en")


def test_no_odds_and_no_rules_are_in_the_page() -> None:
    """What wins and what it pays comes from the floor."""
    for name, text in SCRIPTS.items():
        assert not re.search(r"\d+(\.\d+)? to 1\b", text), name
        assert not re.search(r"\bhouse edge\b|\bpayoff\b", text), name


def test_every_event_that_has_a_word_is_one() -> None:
    kinds = [one for one in vars(happened).values() if isinstance(one, type) and issubclass(one, Struct)]
    known = {str(one.__struct_config__.tag) for one in kinds}
    part = STATIC["words.js"].split("const HAPPENED = {", 1)[1].split("\n};", 1)[0]
    named = set(re.findall(r'"?([a-z][a-z-]*)"?: "', part))
    assert {"bets-opened", "round-settled", "interrupted"} <= named
    assert named <= known, named - known


# What the page writes

SAID = {
    "money(-0)": ("0.00", "0.00"),
    "money(123450)": ("1,234.50", "1,234.50"),
    "signed(0)": ("0.00", "0.00"),
    "signed(-0)": ("0.00", "0.00"),
    "signed(2500)": ("+25.00", "+25.00"),
    "signed(-2500)": ("−25.00", "−25.00"),
    'odds("8.5 to 1")': ("8.5 to 1", "1 赔 8.5"),
    'odds("1 to 1, 12 to 1")': ("1 to 1, 12 to 1", "1 赔 1, 1 赔 12"),
    'odds("")': ("", ""),
    'happened("bets-opened")': ("bets-opened", "开始投注"),
    'happened("never-heard-of")': ("never-heard-of", "never-heard-of"),
    'say("round", 7)': ("Round 7", "第 7 局"),
}
_ASK = """
globalThis.document = { documentElement: { lang: process.argv[2] } };
const all = { ...(await import("./dom.js")), ...(await import("./words.js")) };
const ask = new Function(...Object.keys(all), `return [${process.argv.slice(3).join(",")}]`);
console.log(ask(...Object.values(all)).join("\\n"));
"""


@pytest.mark.skipif(shutil.which("node") is None, reason="the page's own words are asked for with node")
@pytest.mark.parametrize(("place", "language"), [(0, "en"), (1, "zh")])
def test_sums_odds_and_events_as_they_are_read(tmp_path: Path, place: int, language: str) -> None:
    for name, text in SCRIPTS.items():
        (tmp_path / name).write_text(text.replace('"/page/', '"./'), "utf-8")
    (tmp_path / "package.json").write_text('{"type": "module"}', "utf-8")
    (tmp_path / "ask.js").write_text(_ASK, "utf-8")
    asked = [str(shutil.which("node")), "ask.js", language, *SAID]
    done = subprocess.run(asked, cwd=tmp_path, capture_output=True, encoding="utf-8", check=False, timeout=60)
    assert done.stderr == ""
    assert done.stdout.removesuffix("\n").split("\n") == [said[place] for said in SAID.values()]

"""The device port at tables played for money: a reading is offered, the Dealer enters, a fault suggests."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

import pytest

from taisai.cage.messages import DeviceKind, EnrolDevice, OverrideNoted
from taisai.game import commands as said
from taisai.game.events import ReadingTaken, ResultEntered
from taisai.game.refusals import Refusal
from taisai.game.vocabulary import DeviceFault
from taisai.journal import table_of
from taisai.protocol.requests import ReadingRequest
from taisai.rules.vocabulary import Act, Irregularity, Phase
from taisai.server.config.tables import DiceIn
from taisai.server.connections import dispatcher
from taisai.server.connections.dispatcher import Dispatcher
from taisai.server.dice import entry
from tests.server.sim.sim_house import device
from tests.server.virtual_house import BOOKS, CARDS, MBS, OTHER, RWS, STREAM, TABLE, US, Attended, attended
from tests.server.virtual_server import Line

# book              phase          fault     may be reported           ruling             clause
SUGGESTED = """
rws-sic-bo-etg-v8   closed-tumbled no-shake  too-few-tumbles           void               5.3.1
rws-sic-bo-etg-v8   closed-tumbled invalid   die-not-flat              void               5.3.2
rws-sic-bo-etg-v8   closed-tumbled down      equipment-failure         void               5.1.2
rws-sic-bo-etg-v8   revealed       no-shake  too-few-tumbles           void               5.3.1
rws-sic-bo-etg-v8   revealed       invalid   die-not-flat              void               5.3.2
rws-sic-bo-etg-v8   revealed       down      equipment-failure         continue           5.1.1
mbs-sic-bo-v6       closed-tumbled no-shake  too-few-tumbles           void               5.1
mbs-sic-bo-v6       closed-tumbled invalid   die-not-flat              void               5.3
mbs-sic-bo-v6       closed-tumbled down      equipment-failure         refer              6.1
mbs-sic-bo-v6       revealed       invalid   die-not-flat              void               5.3
mbs-sic-bo-v6       revealed       down      equipment-failure         settle-by-outcome  5.8
mbs-3-card-sic-bo   revealed       no-shake  too-few-tumbles           refer              -
mbs-3-card-sic-bo   revealed       invalid   die-not-flat              refer              -
mbs-3-card-sic-bo   revealed       down      equipment-failure         refer              -
us-sic-bo           closed-tumbled no-shake  too-few-tumbles           refuse             5(d)(1)
us-sic-bo           closed-tumbled invalid   die-not-flat              no-roll            6(a)
us-sic-bo           closed-tumbled down      equipment-failure         refer              -
us-sic-bo           revealed       no-shake  too-few-tumbles           refer              -
us-sic-bo           revealed       down      equipment-failure         settle-then-shut   6(b)
us-sic-bo/automated revealed       no-shake  automated-shaker-failure  void               6(c)
us-sic-bo/automated revealed       invalid   die-not-flat              no-roll            6(a)
us-sic-bo/automated revealed       down      equipment-failure         settle-then-shut   6(b)
"""
"""As RULES and documents say; a dash is where no document speaks."""


async def resting(house: Attended, *phases: Phase) -> Line:
    """The dice rest, and their shaker is connected."""
    await house.opened()
    await house.at_phase(*(phases or (Phase.REVEALED,)))
    return await house.line("S1")


async def _offered(house: Attended) -> None:
    shaker = await resting(house)
    told = await shaker.answer("reading", table=TABLE, reading="r-1", faces=[2, 3, 5])
    assert told["type"] == "done", told
    offered = (await house.console()).reading
    assert offered is not None
    assert (offered.device, offered.faces, offered.fault, offered.suggested) == ("S1", (2, 3, 5), None, None)
    assert house.events(ResultEntered) == [], "a device never enters anything"
    await house.pass_(60)
    assert house.events(ResultEntered) == []
    await house.act("enter-result", faces=offered.faces)
    assert [event.faces for event in house.events(ResultEntered)] == [(2, 3, 5)]
    await house.until(lambda table: len(table.rounds) == 1)
    assert house.events(OverrideNoted) == []


@pytest.mark.parametrize("book", BOOKS)
def test_what_a_device_read_is_offered_and_the_dealer_commits_it(book: str) -> None:
    attended(_offered, book, demonstration=False)


def test_sabotage_a_reading_that_becomes_a_result_by_itself_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    right = entry.reading

    async def hasty(context: Any, party: Any, ask: Any) -> Any:
        told = await right(context, party, ask)
        entered = said.Perform(at=0, by="dan", act=Act.ENTER_RESULT, faces=ask.faces)
        await context.queue.execute(STREAM, entered)
        return told

    monkeypatch.setitem(cast("Any", dispatcher.HANDLERS), ReadingRequest, hasty)
    with pytest.raises(AssertionError):
        attended(_offered, RWS, demonstration=False)


def test_another_result_than_the_reading_is_accepted_and_noted_by_name() -> None:
    async def played(house: Attended) -> None:
        shaker = await resting(house)
        await shaker.answer("reading", table=TABLE, reading="r-1", faces=[2, 3, 5])
        dealer = await house.signed_in("dan")
        done = await dealer.answer(
            "do", table=TABLE, do={"command": "perform", "act": "enter-result", "faces": [2, 3, 6]}
        )
        assert done["type"] == "done", done
        assert [event.faces for event in house.events(ResultEntered)] == [(2, 3, 6)]
        (noted,) = house.events(OverrideNoted)
        assert (noted.table, noted.person, noted.what, noted.clause) == (
            TABLE, "dan", "reading", "house:overrides",
        )  # fmt: skip
        assert "2 3 6" in noted.detail
        (alarm,) = (await house.pit()).alarms
        assert (alarm.about, "dan" in alarm.says.en, "dan" in alarm.says.zh) == (TABLE, True, True)

    attended(played, RWS, demonstration=False)


@pytest.mark.parametrize("faces", [[2, 3, 5], [5, 3, 2]])
def test_the_same_faces_in_any_order_are_no_override(faces: list[int]) -> None:
    async def played(house: Attended) -> None:
        shaker = await resting(house)
        await shaker.answer("reading", table=TABLE, reading="r-1", faces=[2, 3, 5])
        dealer = await house.signed_in("dan")
        await dealer.answer(
            "do", table=TABLE, do={"command": "perform", "act": "enter-result", "faces": faces}
        )
        assert len(house.events(ResultEntered)) == 1
        assert house.events(OverrideNoted) == []

    attended(played, RWS, demonstration=False)


# Faults


@pytest.mark.parametrize(
    "row", [line for line in SUGGESTED.splitlines() if line], ids=lambda row: " ".join(row.split()[:3])
)
def test_a_fault_suggests_what_may_be_reported_with_its_ruling_and_clause(row: str) -> None:
    book, phase, fault, irregularity, ruling, clause = row.split()
    book, _, shaker = book.partition("/")

    async def played(house: Attended) -> None:
        line = await resting(house, Phase(phase))
        told = await line.answer("reading", table=TABLE, reading="f-1", fault=fault)
        assert told["type"] == "done", told
        offered = (await house.console()).reading
        assert offered is not None
        assert (offered.fault, offered.faces) == (fault, None)
        assert offered.label.en
        assert offered.label.zh
        found = offered.suggested
        assert found is not None
        expected = (irregularity, ruling, "house:outside-the-rules" if clause == "-" else clause)
        assert (found.id, found.ruling, found.clause) == expected
        assert (found.to is not None) is (ruling == "refer")
        assert found.by
        assert house.table.round is not None, "nothing follows until someone reports it"

    attended(played, book, demonstration=False, settings={"shaker": shaker} if shaker else None)


def test_the_table_above_has_every_fault_of_a_first_shake_at_every_rulebook() -> None:
    rows = [line.split() for line in SUGGESTED.splitlines() if line]
    assert {(row[0].partition("/")[0], row[2]) for row in rows} == {
        (book, fault)
        for book in BOOKS
        for fault in DeviceFault
        if fault is not DeviceFault.INVALID_AFTER_RESHAKE
    }


@pytest.mark.parametrize(
    ("book", "reason", "clause"),
    [
        (RWS, "ruled-out", "5.3.2"),
        (MBS, "ruled-out", "5.3"),
        (CARDS, "ruled-out", "house:outside-the-rules"),
        (US, "bad-value", "6(a)"),
    ],
)
def test_invalid_after_a_second_shake_is_no_fault_of_a_first(book: str, reason: str, clause: str) -> None:
    async def played(house: Attended) -> None:
        shaker = await resting(house)
        told = await shaker.answer(
            "reading", table=TABLE, reading="f-1", fault=str(DeviceFault.INVALID_AFTER_RESHAKE)
        )
        assert (told["type"], told["reason"], told["clause"]) == ("refused", reason, clause)
        assert house.events(ReadingTaken) == []

    attended(played, book, demonstration=False)


def test_us_6_a_after_a_second_shake_someone_decides() -> None:
    async def played(house: Attended) -> None:
        shaker = await resting(house)
        await house.do(said.ReportIrregularity, "dan", event=Irregularity.DIE_NOT_FLAT)
        await house.at_phase(Phase.REVEALED)
        stale = await shaker.answer("reading", table=TABLE, reading="r-1", faces=[1, 1, 2])
        assert stale["reason"] == "wrong-round", "it is of the first shake"
        fault = str(DeviceFault.INVALID_AFTER_RESHAKE)
        told = await shaker.answer("reading", table=TABLE, reading="f-1", fault=fault, shake=2)
        assert told["type"] == "done", told
        offered = (await house.console()).reading
        assert offered is not None
        assert offered.suggested is not None
        assert (offered.shake, offered.suggested.id, offered.suggested.ruling) == (2, "other", "refer")

    attended(played, US, demonstration=False)


def test_a_fault_that_is_none_is_refused_in_words() -> None:
    async def played(house: Attended) -> None:
        shaker = await resting(house)
        told = await shaker.answer("reading", table=TABLE, reading="f-1", fault="tired")
        assert (told["reason"], told["clause"]) == ("bad-value", "house:readings")
        assert told["message"].startswith("expected one of the faults no-shake, invalid")
        assert told["message"].endswith("got 'tired'")

    attended(played, RWS, demonstration=False)


# When, and where


@pytest.mark.parametrize("book", BOOKS)
def test_a_reading_is_taken_between_the_close_and_the_settlement_alone(book: str) -> None:
    async def played(house: Attended) -> None:
        await house.until(lambda table: table.phase.bets_open)
        shaker = await house.line("S1")
        ids = iter(range(100))

        async def tell() -> str | None:
            told = await shaker.answer("reading", table=TABLE, reading=f"r-{next(ids)}", faces=[1, 2, 3])
            return told.get("reason")

        assert await tell() == "out-of-order"
        await house.at_phase(Phase.REVEALED)
        assert await tell() is None
        await house.at_phase(Phase.SETTLED)
        assert await tell() == "out-of-order"
        await house.until(lambda table: table.round is None)
        assert await tell() == "wrong-round"
        assert len(house.events(ReadingTaken)) == 1

    attended(played, book, demonstration=False)


async def _elsewhere(house: Attended) -> None:
    await house.opened()
    await house.at_phase(Phase.REVEALED)
    stranger = await house.line("S2")
    told = await stranger.answer("reading", table=TABLE, reading="r-1", faces=[1, 2, 3])
    assert (told.get("reason"), told.get("clause")) == ("not-permitted", "house:access")
    assert house.events(ReadingTaken) == []
    own = await stranger.answer("reading", table=OTHER, reading="r-1", faces=[1, 2, 3])
    assert own["reason"] == "wrong-means", "heard at its own table, where results are keyed"
    assert table_of(STREAM) == TABLE


def test_the_shaker_of_another_table_is_refused() -> None:
    attended(_elsewhere, RWS, demonstration=False)


def test_sabotage_a_server_that_does_not_ask_whose_table_it_is_is_seen(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Dispatcher, "not_permitted", lambda *_: None)
    with pytest.raises(AssertionError):
        attended(_elsewhere, RWS, demonstration=False)


def test_where_results_are_keyed_no_device_is_heard() -> None:
    async def played(house: Attended) -> None:
        shaker = await resting(house)
        told = await shaker.answer("reading", table=TABLE, reading="r-1", faces=[1, 2, 3])
        assert (told["reason"], told["clause"]) == ("wrong-means", "house:readings")
        assert house.events(ReadingTaken) == []

    attended(played, RWS, demonstration=False, dice=DiceIn.KEYS)


@pytest.mark.parametrize("named", [{}, {"round": 1}])
def test_at_a_table_that_was_never_opened_a_device_is_refused_in_words(named: dict[str, int]) -> None:
    async def played(house: Attended) -> None:
        planned = replace(house.plan.tables[0], name="T9")
        cast("list[Any]", house.plan.tables).append(planned)
        enrolled = EnrolDevice(
            at=house.clock.now(), by="ada", device="S9", kind=DeviceKind.SHAKER, key=device("S9").public,
            table="T9",
        )  # fmt: skip
        assert not isinstance(await house.ask(enrolled, None), Refusal)
        shaker = await house.line("S9")
        told = await shaker.answer("reading", table="T9", reading="r-1", faces=[1, 2, 3], **named)
        assert (told["type"], told["reason"], told["clause"]) == ("refused", "table-not-open", "house:table")
        assert house.events(ReadingTaken) == []

    attended(played, RWS, demonstration=False)


def test_at_a_demonstration_table_the_seed_stands_for_the_dice() -> None:
    async def played(house: Attended) -> None:
        await house.opened()
        await house.at_phase(Phase.REVEALED)
        shaker = await house.line("S1")
        told = await shaker.answer("reading", table=TABLE, reading="r-1", faces=[1, 2, 3])
        assert told["reason"] == "not-permitted"

    attended(played, RWS)

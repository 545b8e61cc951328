"""The virtual people of the demonstration: they play, stand back for visitors, and come back."""

from __future__ import annotations

import asyncio
from itertools import pairwise
from random import Random
from typing import Any

import pytest

from taisai.demo import crowd, players, staff
from taisai.demo import house as demo_house
from taisai.demo.players import FAST, LIVELY, OF, BetLimiter, PlayerSight, stake_on
from taisai.game import Refusal
from taisai.game.commands import DeclareUnrecorded, Recover
from taisai.game.events import BetRegistered, BetsClosed, UnrecordedDeclared
from taisai.game.vocabulary import RECOVERY, Hold
from taisai.journal import stream_of
from taisai.protocol.commands import command
from taisai.protocol.views import FeltView, LastRound
from taisai.rules.outcomes import Outcome
from taisai.server.dice import shaker
from taisai.server.projections.house_views import books_view
from taisai.server.projections.table import felt_view
from tests.cli.demo_house import Evening, run
from tests.tiers import LONG

TEN_MINUTES = 600.0


def windows_over(times: list[int], most: int, span: int) -> list[int]:
    """Where more bets than `most` came within `span` milliseconds."""
    return [first for first, last in zip(times, times[most:], strict=False) if last - first < span]


async def _evening(evening: Evening) -> dict[str, Any]:
    await evening.goes_on(TEN_MINUTES)
    bets = [event.at for event in evening.events() if isinstance(event, BetRegistered)]
    return {
        "concluded": evening.concluded(),
        "counted": evening.counted(),
        "bets": bets,
        "books": books_view(
            evening.engine.house(), {name: evening.engine.table(name) for name in demo_house.TABLES}
        ),
        "closes": [event.at for event in evening.events("MBS1") if isinstance(event, BetsClosed)],
        "opened": {
            name: [one.at for one in evening.events(name) if type(one).__name__ == "BetsOpened"]
            for name in demo_house.TABLES
        },
    }


@pytest.fixture(scope="module")
def evening() -> dict[str, Any]:
    """Ten minutes of play, looked at from several sides."""
    return run(_evening)


def test_every_table_plays_by_itself(evening: dict[str, Any]) -> None:
    assert evening["concluded"].keys() == {"MBS1", "RWS1", "CARD1", "US1"}
    assert all(15 <= rounds <= 30 for rounds in evening["concluded"].values()), evening["concluded"]


def test_a_dozen_players_bet_undo_repeat_call_and_take_tickets(evening: dict[str, Any]) -> None:
    counted = evening["counted"]
    assert len(OF) == 12
    assert counted["BetRegistered"] > 300
    for what in ("BetTakenBack", "CreditsBought", "TicketIssued", "TicketReceived", "Referred", "SeatLeft"):
        assert counted[what], what


def test_what_waits_for_a_supervisor_is_decided(evening: dict[str, Any]) -> None:
    assert 0 <= evening["counted"]["Referred"] - evening["counted"]["ReferralDecided"] <= 2


def test_they_write_no_more_than_five_bets_a_second(evening: dict[str, Any]) -> None:
    assert windows_over(evening["bets"], 5 * 10 + 10, 10_000) == []
    assert len(evening["bets"]) < 5 * TEN_MINUTES


def test_bets_are_open_for_as_long_as_the_clock_says(evening: dict[str, Any]) -> None:
    opened = evening["opened"]["MBS1"]
    for at, closed in zip(opened, evening["closes"], strict=False):
        assert LIVELY.window * 1000 <= closed - at <= LIVELY.window * 1000 + 2_000


def test_they_take_their_time_between_rounds(evening: dict[str, Any]) -> None:
    for opened in evening["opened"].values():
        assert all(25_000 < after - before < 60_000 for before, after in pairwise(opened))


def test_the_books_balance(evening: dict[str, Any]) -> None:
    assert (evening["books"].balanced, evening["books"].sum) == (True, 0)


def test_sabotage_a_limiter_that_switchs_open_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(players.BetLimiter, "takes", lambda _self, _bets: True)
    monkeypatch.setattr(crowd, "OF", dict.fromkeys(OF, players.TOURIST._replace(plays=1.0, late=0.0)))

    async def flood(evening: Evening) -> list[int]:
        await evening.goes_on(60)
        return [event.at for event in evening.events() if isinstance(event, BetRegistered)]

    assert windows_over(run(flood), 5 * 2 + 10, 2_000)


# Standing back


def test_a_visitor_who_deals_relieves_the_virtual_dealer_until_they_are_gone() -> None:
    async def story(evening: Evening) -> None:
        await evening.goes_on(5)
        console = await evening.console("dealer", "CARD1")
        assert evening.crowd.tables == {"MBS1": True, "RWS1": True, "CARD1": False, "US1": True}
        people = {one.name: one.position for one in console.console.people}
        assert people["Dev Patel"] == "dealer"
        assert "Virtual Rosa" not in people
        before = evening.counted("CARD1")
        await evening.goes_on(120)
        after = evening.counted("CARD1")
        assert after["BetsOpened"] - before["BetsOpened"] <= 1
        assert after["RoundConcluded"] == before["RoundConcluded"]
        assert evening.counted("MBS1")["RoundConcluded"] > 2
        await console.close()
        await evening.goes_on(60)
        assert evening.crowd.tables["CARD1"]
        assert evening.counted("CARD1")["RoundConcluded"] > after["RoundConcluded"]

    run(story)


def test_a_visitor_can_deal_a_whole_round_by_what_is_offered() -> None:
    async def story(evening: Evening) -> None:
        console = await evening.console("dealer", "RWS1")
        for _ in range(40):
            offer = console.next_offer
            if offer is None or "dealer" not in offer.by:
                await evening.goes_on(1)
                continue
            filled: dict[str, Any] = {}
            for blank in offer.blanks:
                if blank.kind == "faces":
                    reading = console.console.reading
                    assert reading is not None
                    filled["faces"] = reading.faces
                elif blank.kind == "whole":
                    filled[blank.field] = blank.least
            await console.take(offer, **filled)
            await evening.goes_on(0.1)
            if evening.counted("RWS1")["RoundConcluded"] >= 1:
                break
        assert evening.counted("RWS1")["RoundConcluded"] >= 1
        await console.close()

    run(story)


def test_a_visitor_who_supervises_decides_for_themselves() -> None:
    async def story(evening: Evening) -> None:
        await evening.goes_on(3)
        console = await evening.console("shift-manager", "MBS1")
        player = await evening.player("MBS1")
        await player.call_attendant("someone, please")
        await evening.goes_on(60)
        assert [one.subject for one in console.console.referrals] == ["call"]
        offers = [offer for offer in console.offers if offer.command == "decide-referral"]
        await console.take(offers[0], reason="he was heard")
        await evening.goes_on(1)
        assert [one.subject for one in console.console.referrals] == []
        await player.call_attendant("once more, please")
        await console.close()
        await evening.goes_on(60)
        assert evening.counted("MBS1")["ReferralDecided"] == evening.counted("MBS1")["Referred"] >= 2
        await player.close()

    run(story)


@pytest.mark.parametrize("table", ["MBS1", "US1", "CARD1"])
def test_after_a_stop_virtual_staff_declare_that_nothing_happened_and_go_on(table: str) -> None:
    async def story(evening: Evening) -> None:
        while not evening.engine.table(table).phase.bets_open:
            await evening.goes_on(0.5)
        recover = Recover(at=evening.clock.now(), by=RECOVERY)
        assert not isinstance(await evening.casino.queue.execute(stream_of(table), recover), Refusal)
        assert Hold.DECLARATION in evening.engine.table(table).holds
        before = evening.concluded()[table]
        await evening.goes_on(120)
        (declared,) = (one for one in evening.events(table) if isinstance(one, UnrecordedDeclared))
        assert not declared.seen
        assert evening.concluded()[table] > before + 1

    run(story)


def test_what_was_handed_back_by_hand_is_left_to_people_to_enter() -> None:
    async def story(evening: Evening) -> None:
        table = evening.engine.table("MBS1")
        while not table.phase.bets_open:
            await evening.goes_on(0.5)
        second = next(name for name, person in table.people.items() if person.position == "shift-manager")
        declared = DeclareUnrecorded(
            at=evening.clock.now(), by=table.dealer() or "", called=True, tumbles=3, seen=True, settled=True,
            faces=(1, 2, 4), second=second,
        )  # fmt: skip
        for done in (Recover(at=evening.clock.now(), by=RECOVERY), declared):
            answer = await evening.casino.queue.execute(stream_of("MBS1"), done)
            assert not isinstance(answer, Refusal), answer
        await evening.goes_on(60)
        assert Hold.SETTLEMENT in evening.engine.table("MBS1").holds
        assert evening.counted("MBS1")["SettlementEntered"] == 0

    run(story)


def test_a_report_by_a_visitor_is_confirmed_by_the_virtual_supervisor() -> None:
    async def story(evening: Evening) -> None:
        while evening.concluded()["RWS1"] < 1:
            await evening.goes_on(1)
        console = await evening.console("dealer", "RWS1")
        faces = evening.engine.table("RWS1").past(1)
        assert faces is not None
        other = (1, 1, 1) if faces.result is not Outcome.of(1, 1, 1) else (2, 2, 2)
        await console.send(command("report", event="wrong-result", round=1, faces=other), table="RWS1")
        assert evening.counted("RWS1")["ReportHeld"] == 1
        await evening.goes_on(30)
        assert evening.counted("RWS1")["ReportConfirmed"] == 1
        assert evening.counted("RWS1")["RoundResettled"] == 1
        await console.close()

    run(story)


def test_sabotage_a_dealer_who_does_not_switch_back_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(staff.WorkSwitch, "pause", lambda _self, *, working: None)  # noqa: ARG005
    with pytest.raises(AssertionError):
        test_a_visitor_who_deals_relieves_the_virtual_dealer_until_they_are_gone()


def slow_shaker(monkeypatch: pytest.MonkeyPatch) -> None:
    """A shaker that takes a while to commit itself, as on a machine that has much to do."""
    step = shaker.Shaker._step

    async def slowly(self: shaker.Shaker) -> bool:
        await asyncio.sleep(5)
        return await step(self)

    monkeypatch.setattr(shaker.Shaker, "_step", slowly)


async def rounds_without_dice(evening: Evening) -> list[str]:
    """Tables at which bets were opened for a round that the shaker had not committed itself to."""
    await evening.goes_on(TEN_MINUTES / 4)
    found = []
    for name in demo_house.TABLES:
        events = [type(one).__name__ for one in evening.events(name)]
        committed = events.count("SeedCommitted")
        found += [name] if events.count("BetsOpened") > committed else []
    return found


def test_bets_open_when_the_shaker_has_committed_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    slow_shaker(monkeypatch)
    assert run(rounds_without_dice) == []


def test_sabotage_a_dealer_who_does_not_wait_for_the_shaker_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    slow_shaker(monkeypatch)
    monkeypatch.delattr(staff.VirtualDealer, "_wanted")
    assert run(rounds_without_dice) != []


def test_the_pause_of_a_dealer_is_one_ask_away() -> None:
    async def story(evening: Evening) -> None:
        evening.casino.dispatcher.context.dealers["MBS1"].clear()
        await evening.goes_on(90)
        assert evening.counted("MBS1")["RoundConcluded"] == 0
        evening.casino.dispatcher.context.dealers["MBS1"].set()
        await evening.goes_on(90)
        assert evening.counted("MBS1")["RoundConcluded"] >= 1

    run(story)


# Coming back


def test_everyone_comes_back_after_a_cut() -> None:
    async def story(evening: Evening) -> None:
        await evening.goes_on(40)
        before = evening.concluded()
        for line in evening.network.open_lines:
            line.cut()
        await evening.goes_on(150)
        after = evening.concluded()
        assert all(after[name] >= before[name] + 2 for name in demo_house.TABLES), (before, after)
        tables = demo_house.TABLES.values()
        inspecting = [setup for setup in tables if setup.floor]
        assert len(evening.network.open_lines) == 2 * len(tables) + len(inspecting) + len(OF)

    run(story)


def test_fast_is_a_round_in_about_two_seconds() -> None:
    async def story(evening: Evening) -> None:
        await evening.goes_on(12)
        assert all(4 <= rounds <= 12 for rounds in evening.concluded().values()), evening.concluded()

    run(story, waits=FAST)


@pytest.mark.skipif(not LONG, reason="a day, even a virtual one, is long")
def test_a_whole_day_with_its_inspections_and_new_dice() -> None:
    """At a US table dice stay a day at most; a new gaming day begins at six."""

    async def story(evening: Evening) -> None:
        await evening.goes_on(27 * 3_600)
        counted = evening.counted("US1")
        assert counted["RoundConcluded"] > 20
        assert (counted["ItemPlaced"], counted["ItemRemoved"]) == (2, 1)
        assert counted["ItemInspected"] >= 2
        assert all(evening.counted(name)["DayBegun"] for name in demo_house.TABLES)

    run(story, waits=LIVELY._replace(window=3_000.0, look=300.0), most=100_000.0)


# Temperaments


@pytest.fixture(scope="module")
def felts() -> list[FeltView]:
    """Every felt of the demonstration."""

    async def look(evening: Evening) -> list[FeltView]:
        tables = [evening.engine.table(name) for name in demo_house.TABLES]
        return [felt_view(table, layout) for table in tables for layout in table.terms]

    return run(look)


def wrong_stakes(felt: FeltView, stakes: dict[str, int]) -> list[str]:
    """Areas that are not on the felt, and stakes that it would refuse."""
    areas = {area.id: area for area in felt.areas}
    return [
        name
        for name, stake in stakes.items()
        if name not in areas
        or not areas[name].least <= stake <= areas[name].most
        or stake % max(1, areas[name].step)
    ]


@pytest.mark.parametrize("temper", {one.name: one for one in OF.values()}.values(), ids=lambda one: one.name)
def test_every_temperament_lays_what_every_felt_takes(felts: list[FeltView], temper: Any) -> None:
    random = Random(7)
    last = LastRound(number=1, void=False, staked=500, returned=0)
    for felt in felts:
        before: dict[str, int] = {}
        for _ in range(200):
            before = temper.bets(PlayerSight(felt, 50_000, last, before, random))
            assert before
            assert wrong_stakes(felt, before) == []


def test_sabotage_a_stake_out_of_step_is_seen(felts: list[FeltView]) -> None:
    felt = next(felt for felt in felts if any(area.step > 1 for area in felt.areas))
    area = next(area for area in felt.areas if area.step > 1)
    assert wrong_stakes(felt, {area.id: stake_on(area, 777)}) == []
    assert wrong_stakes(felt, {area.id: 777})


def test_a_limiter_counts_to_its_limit() -> None:
    now = 0
    limiter = BetLimiter(5.0, lambda: now)
    assert limiter.takes(5)
    assert not limiter.takes(1)
    now = 1_000
    assert limiter.takes(5)
    assert not limiter.takes(1)
    now = 100_000
    assert limiter.takes(10)
    assert not limiter.takes(1)

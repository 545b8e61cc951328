"""The betting clock: it closes where the rules let it, prompts elsewhere, and waits while a round waits."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from taisai.game import commands as said
from taisai.game.events import (
    BetsClosed,
    BetsOpened,
    BetsReopened,
    Interrupted,
    ReferralDecided,
    Referred,
    ReportConfirmed,
    ReportHeld,
    RoundVoided,
    SightDeclared,
    WithdrawalClosed,
    WithdrawalOffered,
)
from taisai.game.refusals import Reason, Refusal
from taisai.game.vocabulary import Treatment
from taisai.journal import UnwritableError
from taisai.rules.clauses import Clause
from taisai.rules.procedure import CLOCK, Declared, Recovery
from taisai.rules.vocabulary import Irregularity, Phase
from taisai.server.projections import table_feeds
from taisai.server.projections.table_feeds import BettingTime
from taisai.server.runtime import betting_clock, house_server
from tests.server.virtual_house import CARDS, MBS, RWS, TABLE, US, WINDOW, Attended, attended

SECONDS = WINDOW / 1000


def prompts(house: Attended) -> list[str]:
    """The tables whose Dealer is prompted from here on, as it happens."""
    prompted: list[str] = []
    clock = house.casino._countdowns[TABLE]
    prompt = clock._on_prompt

    def noted(table: str, until: int) -> None:
        prompted.append(table)
        prompt(table, until)

    clock._on_prompt = noted
    return prompted


def said_up(house: Attended) -> list[tuple[str, bool]]:
    """Feed and whether the time is up, of every frame that said something of the betting clock."""
    frames = [msgspec.json.decode(told) for told in house.told if told.startswith("{")]
    return [
        (frame["feed"], frame["changes"]["countdown"]["is_up"])
        for frame in frames
        if "countdown" in frame["changes"]
    ]


async def _closes_at_the_moment(house: Attended) -> None:
    await house.opened()
    opened = house.events(BetsOpened)[-1]
    await house.pass_(SECONDS - 0.01)
    assert house.is_at(Phase.OPEN)
    await house.bet()  # as good as any other
    await house.pass_(0.01)
    assert len(house.events(BetsClosed)) == 1
    closed = house.events(BetsClosed)[0]
    assert (closed.at - opened.at, closed.by, closed.clause) == (WINDOW, CLOCK, "3.5")
    late = await house.ask(
        said.PlaceBets(
            at=house.clock.now(), by="P1", round=1, seat="1", bets=(said.Slip("late", "small", 100),)
        )
    )
    assert isinstance(late, Refusal)
    assert (late.reason, late.clause) == (Reason.LATE, "3.5")


def test_rws_3_5_the_clock_closes_at_the_moment_and_it_is_an_entry_of_its_own() -> None:
    attended(_closes_at_the_moment, RWS)


def test_sabotage_a_clock_that_goes_slow_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    right = betting_clock.Countdown._run
    monkeypatch.setattr(betting_clock.Countdown, "_run", lambda self, seconds: right(self, seconds + 0.002))
    with pytest.raises(AssertionError):
        attended(_closes_at_the_moment, RWS)


@pytest.mark.parametrize("book", [MBS, US, CARDS])
def test_elsewhere_the_clock_only_prompts_and_everyone_sees_that_the_time_is_up(book: str) -> None:
    async def played(house: Attended) -> None:
        prompted = prompts(house)
        await house.opened()
        up_at = house.events(BetsOpened)[-1].at + WINDOW
        shown = (await house.table_view()).countdown
        assert (shown.closes_at, shown.prompt, shown.is_up) == (up_at, True, False)
        await house.pass_(SECONDS - 0.1)
        assert prompted == []
        await house.pass_(SECONDS)
        assert prompted == [TABLE]
        assert house.events(BetsClosed) == [], "the Dealer announces"
        shown = (await house.table_view()).countdown
        assert (shown.closes_at, shown.prompt, shown.is_up) == (up_at, True, True)
        assert (await house.console()).countdown == shown
        await house.until(lambda table: not table.phase.bets_open)
        assert house.events(BetsClosed)[-1].by == "dan"
        shown = (await house.table_view()).countdown
        assert (shown.closes_at, shown.is_up) == (None, False)

    attended(played, book)


async def _told_at_the_moment(house: Attended) -> None:
    await house.opened()
    await house.pass_(SECONDS - 0.1)
    house.told.clear()
    await house.pass_(0.2)
    assert said_up(house) == [(f"table:{TABLE}", True), (f"console:{TABLE}", True)]
    await house.pass_(SECONDS)
    assert len(said_up(house)) == 2, "once"
    house.told.clear()
    await house.until(lambda table: not table.phase.bets_open)
    assert said_up(house) == [(f"table:{TABLE}", False), (f"console:{TABLE}", False)]


@pytest.mark.parametrize("book", [MBS, US, CARDS])
def test_followers_of_table_and_console_are_shown_at_the_moment_the_time_is_up(book: str) -> None:
    attended(_told_at_the_moment, book)


def test_sabotage_a_prompt_that_nobody_passes_on_is_missed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(house_server.HouseServer, "_prompt", lambda *_: None)
    with pytest.raises(AssertionError):
        attended(_told_at_the_moment, MBS)


def test_a_prompt_that_comes_after_the_close_or_for_an_earlier_time_says_nothing() -> None:
    async def played(house: Attended) -> None:
        await house.opened()
        up_at = (await house.table_view()).countdown.closes_at
        assert up_at is not None
        house.casino._prompt(TABLE, up_at - 1)
        await house.settle()
        assert not (await house.table_view()).countdown.is_up
        await house.until(lambda table: not table.phase.bets_open)
        house.told.clear()
        house.casino._prompt(TABLE, up_at)
        await house.settle()
        assert said_up(house) == []

    attended(played, MBS)


def test_a_round_that_waits_is_prompted_again_when_it_goes_on() -> None:
    async def played(house: Attended) -> None:
        await house.opened()
        await house.pass_(SECONDS + 2)
        await house.do(said.ReportIrregularity, "dan", event=Irregularity.OTHER, detail="a glass fell over")
        assert not (await house.table_view()).countdown.is_up
        (referral,) = house.table.referrals
        head = house.crew.head
        await house.do(
            said.DecideReferral, head, referral=referral, treatment=Treatment.CONTINUE, reason="dry again"
        )
        await house.settle()
        assert (await house.table_view()).countdown.is_up

    attended(played, MBS)


def test_the_time_is_still_up_after_a_start_and_after_the_boards_begin_again() -> None:
    async def played(house: Attended) -> None:
        await house.opened()
        await house.pass_(SECONDS + 1)
        await house.crash_and_come_back()
        await house.declared_unseen()
        assert (await house.table_view()).countdown.is_up
        await house.casino.queue.run(lambda _engine: house.casino.queue.projections.begin_again())
        assert (await house.table_view()).countdown.is_up

    attended(played, MBS)


def test_at_rws_nobody_is_prompted() -> None:
    async def played(house: Attended) -> None:
        await house.opened()
        assert not (await house.table_view()).countdown.prompt

    attended(played, RWS)


def test_rws_3_5_where_the_dice_tumble_first_bets_close_when_the_time_is_up_tumbled_or_not() -> None:
    async def played(house: Attended) -> None:
        await house.opened()
        await house.pass_(SECONDS + 5)
        closed = house.events(BetsClosed)[-1]
        assert closed.by == CLOCK
        assert closed.at - house.events(BetsOpened)[-1].at == WINDOW
        assert house.is_at(Phase.CLOSED), "that the dice tumble first is proposed, not required"
        await house.act("tumble", tumbles=3)
        assert house.is_at(Phase.CLOSED_TUMBLED)
        await house.until(lambda table: len(table.rounds) == 1)
        await house.opened()
        await house.act("tumble", tumbles=3)
        assert house.is_at(Phase.OPEN_TUMBLED), "there is time left"
        await house.pass_(SECONDS)
        assert house.events(BetsClosed)[-1].at - house.events(BetsOpened)[-1].at == WINDOW

    attended(played, RWS, settings={"tumble": "before_close"})


# What stops it


async def _held(house: Attended) -> None:
    await house.opened()
    await house.pass_(4)
    await house.do(said.ReportIrregularity, "dan", event=Irregularity.OTHER, detail="a glass fell over")
    assert house.table.holds
    assert (await house.table_view()).countdown.closes_at is None
    await house.pass_(60)
    assert house.is_at(Phase.OPEN), "while the round waits, no time goes by"
    assert house.events(BetsClosed) == []
    (referral,) = house.table.referrals
    await house.do(
        said.DecideReferral, "sue", referral=referral, treatment=Treatment.CONTINUE, reason="dry again"
    )
    until = (await house.table_view()).countdown.closes_at
    assert until is not None
    assert until - house.clock.now() in range(5_990, 6_001), "what was left"
    await house.pass_(5.9)
    assert house.is_at(Phase.OPEN)
    await house.pass_(0.2)
    assert house.events(BetsClosed)[-1].at == until


def test_a_hold_stops_the_clock_and_what_was_left_is_left() -> None:
    attended(_held, RWS)


def test_sabotage_a_clock_that_goes_on_while_a_round_waits_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(BettingTime, "_hold", lambda *_: None)
    with pytest.raises(AssertionError):
        attended(_held, RWS)


def test_a_report_that_waits_for_a_second_person_stops_the_clock_until_it_is_confirmed_or_contested() -> None:
    time = BettingTime(WINDOW)
    by: Any = {"at": 1_000, "by": "dan", "clause": Clause("house:confirmation")}
    time.apply(BetsOpened(**by | {"at": 0}, round=2, phase=Phase.OPEN, day="2026-11-18", terms="t"))
    told: Any = {"irregularity": Irregularity.DIE_DAMAGED, "seen": False, "faces": (), "detail": ""}
    time.apply(ReportHeld(**by, **told, report="h1", round=1, through=1, item=None))
    closes = [time.up_at]  # the first is about an earlier round alone
    time.apply(ReportHeld(**by, **told, report="h2", round=1, through=2, item=None))
    closes.append(time.up_at)
    time.apply(ReportConfirmed(**by | {"at": 4_000}, report="h2"))
    closes.append(time.up_at)
    assert closes == [WINDOW, None, WINDOW + 3_000]


def test_a_void_round_stops_the_clock_and_the_next_one_has_all_of_its_time() -> None:
    async def played(house: Attended) -> None:
        await house.opened()
        await house.bet()
        await house.pass_(6)
        await house.do(
            said.ReportIrregularity, "dan", event=Irregularity.EQUIPMENT_FAILURE, detail="no light"
        )
        assert house.events(RoundVoided)
        await house.pass_(5)
        await house.opened()
        await house.pass_(SECONDS - 1)
        assert house.is_at(Phase.OPEN)
        assert house.events(BetsClosed) == []

    attended(played, RWS)


async def _earlier_void(house: Attended) -> None:
    await house.played(small=1_000)
    await house.opened()
    await house.do(
        said.ReportIrregularity,
        "dan",
        event=Irregularity.DIE_DAMAGED,
        round=1,
        through=1,
        second="pat",
        detail="a chip off",
    )
    await house.rounds_voided(1, 1)
    assert [event.round for event in house.events(RoundVoided)] == [1]
    assert house.is_at(Phase.OPEN)
    await house.pass_(SECONDS)
    assert house.is_at(Phase.CLOSED)


def test_rws_5_4_an_earlier_round_that_is_void_now_leaves_the_clock_of_this_one_alone() -> None:
    attended(_earlier_void, RWS)


def test_sabotage_a_clock_that_stops_for_any_void_round_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    right = BettingTime.apply

    def apply(self: BettingTime, event: object) -> None:
        if isinstance(event, RoundVoided):
            self._up_at = None
        right(self, event)

    monkeypatch.setattr(table_feeds.BettingTime, "apply", apply)
    with pytest.raises(AssertionError):
        attended(_earlier_void, RWS)


def test_us_6_a_bets_that_open_again_have_all_of_their_time_again() -> None:
    async def played(house: Attended) -> None:
        prompted = prompts(house)
        await house.opened()
        await house.pass_(SECONDS - 1)
        await house.until(lambda table: table.phase in (Phase.REVEALED, Phase.ENTERED))
        await house.do(said.ReportIrregularity, "dan", event=Irregularity.DIE_NOT_FLAT)
        reopened = house.events(BetsReopened)[-1]
        assert (await house.table_view()).countdown.closes_at == reopened.at + WINDOW
        await house.pass_(SECONDS - 1)
        assert prompted == []
        await house.pass_(1)
        assert prompted == [TABLE]

    attended(played, US)


# After a stop


def test_mbs_5_13_1_after_a_stop_the_clock_goes_on_when_the_option_is_closed() -> None:
    async def played(house: Attended) -> None:
        await house.opened()
        await house.bet()
        await house.pass_(3)
        await house.crash_and_come_back()
        await house.declared_unseen()
        assert (await house.table_view()).countdown.closes_at is None
        prompted = prompts(house)
        await house.pass_(120)
        await house.do(said.CloseWithdrawal, "dan", others_stay=True)
        until = (await house.table_view()).countdown.closes_at
        assert until is not None
        assert until - house.clock.now() in range(6_990, 7_001), "the option took none of the bets' time"
        await house.pass_(6.9)
        assert prompted == []
        await house.pass_(0.2)
        assert prompted == [TABLE]

    attended(played, MBS)


def test_after_a_stop_with_no_bets_laid_the_clock_goes_on_with_the_declaration() -> None:
    async def played(house: Attended) -> None:
        await house.opened()
        await house.pass_(3)
        await house.crash_and_come_back()
        await house.pass_(60)
        await house.declared_unseen()
        assert not house.table.holds
        prompted = prompts(house)
        await house.pass_(6.5)
        assert prompted == []
        await house.pass_(1)
        assert prompted == [TABLE]

    attended(played, MBS)


def test_after_a_stop_a_declared_call_leaves_no_time_for_bets() -> None:
    async def played(house: Attended) -> None:
        await house.opened()
        await house.crash_and_come_back()
        await house.do(said.DeclareUnrecorded, "dan", called=True, second="pat")
        assert house.is_at(Phase.CLOSED)
        assert (await house.table_view()).countdown.closes_at is None

    attended(played, CARDS)


def test_rws_5_1_2_after_a_stop_there_is_nothing_for_the_clock_to_close() -> None:
    async def played(house: Attended) -> None:
        await house.opened()
        await house.bet()
        await house.crash_and_come_back()
        assert house.events(RoundVoided)
        await house.pass_(SECONDS * 2)
        assert house.events(BetsClosed) == []

    attended(played, RWS)


def test_a_close_that_cannot_be_written_is_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    async def played(house: Attended) -> None:
        await house.opened()
        right = house.store.append

        def full(_rows: object) -> None:
            raise UnwritableError("disk full")

        monkeypatch.setattr(house.store, "append", full)
        await house.pass_(SECONDS + 2)
        assert house.is_at(Phase.OPEN)
        monkeypatch.setattr(house.store, "append", right)
        await house.pass_(betting_clock.AGAIN + 0.1)
        assert house.is_at(Phase.CLOSED), "else bets would be open for ever"

    attended(played, RWS)


# The time alone


def _referred(at: int, name: str) -> Referred:
    return Referred(
        at=at, by="dan", clause=Clause("5.10"), referral=name, subject="other", round=1, to="sue", holds=True,
        outside=False, detail="", seat=None,
    )  # fmt: skip


def test_two_holds_at_once_are_one_pause() -> None:
    by: Any = {"by": "dan", "clause": Clause("x")}
    time = BettingTime(10_000)
    time.apply(BetsOpened(at=0, **by, round=1, phase=Phase.OPEN, day="2026-11-15", terms=""))

    def up_at() -> int | None:
        return time.up_at

    assert up_at() == 10_000
    time.apply(_referred(2_000, "r1"))
    time.apply(_referred(3_000, "r2"))
    time.apply(WithdrawalOffered(at=3_500, **by, round=1))
    time.apply(Interrupted(at=3_600, **by, phase=Phase.OPEN, action=Recovery.DECLARE, witness=None))
    for at, name in ((4_000, "r1"), (5_000, "r2"), (5_500, "r2")):
        assert up_at() is None
        time.apply(
            ReferralDecided(at=at, **by, referral=name, treatment=Treatment.CONTINUE, reason="", second=None)
        )
    time.apply(WithdrawalClosed(at=6_000, **by))
    assert up_at() is None
    time.apply(SightDeclared(at=7_000, **by, declared=Declared.UNSEEN, second="pat"))
    assert up_at() == 15_000

"""What the server notes by itself: large wins, a clock that was set, dice that are unfair or too old."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from taisai.cage.messages import ClockJumped, DiceAlarmNoted, LargeWinNoted, OverAgeNoted
from taisai.game import commands as said
from taisai.game.events import RoundResettled, RoundVoided
from taisai.game.vocabulary import FLOOR
from taisai.journal import Submission
from taisai.rules.vocabulary import Act, Irregularity, Phase
from taisai.server.runtime import monitors
from taisai.server.runtime.monitors import Monitors
from taisai.server.runtime.plan import Thresholds
from taisai.study.dice.watch import DiceWatch
from tests.server.virtual_house import CARDS, MBS, RWS, SEAT, STREAM, TABLE, US, Attended, attended

SMALL = (1, 2, 4)
BIG = (4, 5, 6)
LARGE = 50_000
WINS = Thresholds(large_win=LARGE)
SOON = Fraction(1, 50)
"""A level at which a few sixes are too many: no house would have it."""
LOADED = (6, 6, 6)
WATCH = Thresholds(watch=SOON)


# Large wins


async def _wins(house: Attended, stakes: dict[str, int], faces: tuple[int, ...] = SMALL) -> list[int]:
    await house.played(faces, **stakes)
    await house.settle()
    return [event.amount for event in house.events(LargeWinNoted)]


@pytest.mark.parametrize(
    ("stakes", "noted"),
    [
        ({"small": LARGE}, [LARGE]),
        ({"small": LARGE - 1}, []),
        ({"small": LARGE + 1}, [LARGE + 1]),
        ({"small": LARGE, "big": LARGE}, []),
        ({"small": LARGE, "even": 20_000, "single_1": 20_000}, [LARGE]),
        ({"total_7": 5_000}, [5_000 * 12]),
        ({"big": 10 * LARGE}, []),
    ],
    ids=str,
)
def test_a_win_is_noted_from_the_threshold_on_above_the_stake_and_over_all_bets_of_the_seat(
    stakes: dict[str, int], noted: list[int]
) -> None:
    async def played(house: Attended) -> None:
        assert await _wins(house, stakes) == noted
        for event in house.events(LargeWinNoted):
            assert (event.table, event.round, event.seat, event.threshold, event.by, event.clause) == (
                TABLE, 1, SEAT, LARGE, FLOOR, "house:large-wins",
            )  # fmt: skip
        assert [(one.table, one.round, one.seat, one.won) for one in (await house.pit()).wins] == [
            (TABLE, 1, SEAT, amount) for amount in noted
        ]

    attended(played, RWS, demonstration=False, thresholds=WINS)


async def _corrected(house: Attended) -> None:
    assert await _wins(house, {"small": LARGE}, BIG) == []
    await house.opened()  # the next round is in hand when it is found
    await house.do(
        said.ReportIrregularity,
        "dan",
        event=Irregularity.WRONG_RESULT,
        round=1,
        faces=SMALL,
        second="pat",
        detail="seen",
    )
    assert house.events(RoundResettled)
    assert [(event.round, event.amount) for event in house.events(LargeWinNoted)] == [(1, LARGE)]


def test_a_win_that_a_correction_brings_is_noted_whenever_it_comes() -> None:
    attended(_corrected, RWS, demonstration=False, thresholds=WINS)


def test_sabotage_a_look_at_the_round_in_hand_alone_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    right = Monitors._wins
    monkeypatch.setattr(
        Monitors,
        "_wins",
        lambda self, engine, name, _number: (
            right(self, engine, name, None) if engine.table(name).round else []
        ),
    )
    with pytest.raises(AssertionError):
        attended(_corrected, RWS, demonstration=False, thresholds=WINS)


def test_a_correction_that_leaves_the_win_as_it_was_is_not_noted_twice() -> None:
    async def played(house: Attended) -> None:
        assert await _wins(house, {"small": LARGE}) == [LARGE]
        await house.do(
            said.ReportIrregularity, "dan", event=Irregularity.WRONG_RESULT,
            round=1, faces=(1, 2, 3), second="pat", detail="seen",
        )  # fmt: skip
        assert len(house.events(RoundResettled)) == 1
        assert len(house.events(LargeWinNoted)) == 1

    attended(played, RWS, demonstration=False, thresholds=WINS)


def test_a_round_that_goes_on_at_once_is_looked_at_all_the_same() -> None:
    """Settled, paid, over, and the next one open, before anyone could look."""

    async def played(house: Attended) -> None:
        await house.opened()
        await house.bet("small", LARGE)
        await house.at_phase(Phase.ENTERED, faces=SMALL)
        acts = ("settle", "collect-and-pay", "conclude", "open-bets")
        now = house.clock.now()
        for act in map(Act, acts):
            house.casino.queue.submit(Submission(STREAM, said.Perform(at=now, by="dan", act=act)))
        await house.settle()
        assert house.is_at(Phase.OPEN)
        assert [event.round for event in house.events(LargeWinNoted)] == [1]

    attended(played, RWS, demonstration=False, thresholds=WINS)


def test_a_win_that_a_crash_kept_from_being_noted_is_noted_at_the_next_start() -> None:
    async def played(house: Attended) -> None:
        await house.opened()
        await house.bet("small", LARGE)
        await house.at_phase(Phase.ENTERED, faces=SMALL)
        house.casino.queue.listeners.clear()
        await house.act("settle")
        assert house.events(LargeWinNoted) == []
        await house.crash_and_come_back()
        assert [event.amount for event in house.events(LargeWinNoted)] == [LARGE]
        await house.crash_and_come_back()
        assert len(house.events(LargeWinNoted)) == 1

    attended(played, RWS, demonstration=False, thresholds=WINS)


# The clock


async def _set(house: Attended, by: int) -> list[int]:
    house.clock.set_by += by
    await house.pass_(10)
    return [event.jump for event in house.events(ClockJumped)]


@pytest.mark.parametrize("by", [2_000, -2_000, 3_600_000, -3_600_000])
def test_a_clock_that_was_set_is_noted_once_and_shown_in_the_pit(by: int) -> None:
    async def played(house: Attended) -> None:
        (jump,) = await _set(house, by)
        assert abs(jump - by) <= 1
        (alarm,) = (await house.pit()).alarms
        assert (alarm.about, f"{jump} ms" in alarm.says.en, str(jump) in alarm.says.zh) == (
            "house",
            True,
            True,
        )
        await house.pass_(30)
        assert len(house.events(ClockJumped)) == 1
        assert len(await _set(house, -by)) == 2, "and when it is set right"

    attended(played, RWS, is_followed=False)


@pytest.mark.parametrize("by", [1_990, -1_990, 0])
def test_a_smaller_step_is_none(by: int) -> None:
    async def played(house: Attended) -> None:
        assert await _set(house, by) == []

    attended(played, RWS, is_followed=False)


def test_sabotage_a_clock_that_is_not_looked_at_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Monitors, "tick", lambda _self: None)

    async def played(house: Attended) -> None:
        assert await _set(house, 5_000) == []

    attended(played, RWS, is_followed=False)


# The dice


async def _rolled(house: Attended, count: int, faces: tuple[int, ...] = LOADED) -> None:
    for _ in range(count):
        await house.played(faces)
    await house.settle()


def enough() -> int:
    """Rounds of loaded dice after which the watch alone raises the alarm."""
    watch, rounds = DiceWatch(SOON), 0
    while not watch.alarm:
        watch.take(LOADED)
        rounds += 1
    return rounds


async def _alarmed(house: Attended) -> None:
    rounds = enough()
    assert 2 <= rounds <= 6
    await _rolled(house, rounds - 1)
    assert house.events(DiceAlarmNoted) == []
    await _rolled(house, 3)
    assert len(house.events(DiceAlarmNoted)) == 1
    noted = house.events(DiceAlarmNoted)[0]
    assert (noted.table, noted.item, noted.results, noted.clause) == (
        TABLE,
        "dice",
        3 * rounds,
        "house:watch",
    )
    (alarm,) = (await house.pit()).alarms
    assert alarm.about == TABLE
    assert "unfair" in alarm.says.en
    watch = (await house.console()).watch
    assert watch is not None
    assert (watch.results, watch.alarm) == (3 * (rounds + 2), True)


def test_loaded_dice_raise_the_alarm_once_and_the_pit_sees_it() -> None:
    attended(_alarmed, RWS, demonstration=False, thresholds=WATCH)


def test_sabotage_a_watch_that_counts_nothing_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    class Blind(DiceWatch):
        def take(self, _faces: object) -> None:
            """Counts nothing."""

    monkeypatch.setattr(monitors, "DiceWatch", Blind)
    with pytest.raises(AssertionError):
        attended(_alarmed, RWS, demonstration=False, thresholds=WATCH)


async def _results(house: Attended) -> int:
    watch = (await house.console()).watch
    return watch.results if watch is not None else 0


def test_other_dice_begin_a_new_watch() -> None:
    async def played(house: Attended) -> None:
        await _rolled(house, 2)
        assert await _results(house) == 6
        await house.do(said.RemoveItem, "dan", item="dice")
        await house.do(said.PlaceItem, "dan", item="dice", serial="B-2")
        assert await _results(house) == 0
        await _rolled(house, enough())
        (noted,) = house.events(DiceAlarmNoted)
        assert (noted.serial, noted.results) == ("B-2", 3 * enough())

    attended(played, RWS, demonstration=False, thresholds=WATCH)


def test_a_void_round_is_not_counted() -> None:
    async def played(house: Attended) -> None:
        await _rolled(house, 1, SMALL)
        await house.opened()
        await house.at_phase(Phase.ENTERED, faces=LOADED)
        await house.do(said.ReportIrregularity, "dan", event=Irregularity.DIE_NOT_FLAT, second="pat")
        assert house.events(RoundVoided)
        assert await _results(house) == 3
        await _rolled(house, 1, SMALL)
        assert await _results(house) == 6

    attended(played, RWS, demonstration=False, thresholds=WATCH)


async def _recounted(house: Attended) -> None:
    await _rolled(house, 2, SMALL)
    await _rolled(house, 1, BIG)
    for number, faces in ((1, LOADED), (3, (6, 6, 5))):
        await house.do(
            said.ReportIrregularity, "dan", event=Irregularity.WRONG_RESULT,
            round=number, faces=faces, second="pat", detail="seen",
        )  # fmt: skip
    expected = DiceWatch.of([LOADED, SMALL, (6, 6, 5)], SOON)
    watch = (await house.console()).watch
    assert watch is not None
    assert (watch.results, watch.e_value) == (9, f"{expected.e_value:.3g}")


def test_a_correction_counts_again() -> None:
    attended(_recounted, RWS, demonstration=False, thresholds=WATCH)


def test_sabotage_a_watch_that_ignores_corrections_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(monitors, "_corrects", lambda _event: False)
    with pytest.raises(AssertionError):
        attended(_recounted, RWS, demonstration=False, thresholds=WATCH)


def test_rounds_that_are_void_after_all_count_no_more() -> None:
    async def played(house: Attended) -> None:
        await _rolled(house, 3)
        await house.do(
            said.ReportIrregularity,
            "dan",
            event=Irregularity.DIE_DAMAGED,
            round=1,
            through=2,
            second="pat",
            detail="x",
        )
        await house.rounds_voided(1, 2)
        assert await _results(house) == 3

    attended(played, RWS, demonstration=False, thresholds=WATCH)


def test_the_watch_survives_a_stop_and_a_crash_and_an_alarm_is_shown_again() -> None:
    async def played(house: Attended) -> None:
        await _rolled(house, 2)
        await house.stop()
        await house.start()
        await house.settle()
        assert await _results(house) == 6
        assert house.events(DiceAlarmNoted) == []
        await _rolled(house, enough() - 2)
        assert len(house.events(DiceAlarmNoted)) == 1
        await house.crash_and_come_back()
        first, second = house.events(DiceAlarmNoted)
        assert (first.results, first.serial) == (second.results, second.serial)
        assert len((await house.pit()).alarms) == 1, "the pit of the new start has it"

    attended(played, RWS, demonstration=False, thresholds=WATCH)


@pytest.mark.parametrize("put_back", [None, "other dice", "nothing yet"])
def test_who_deletes_or_replaces_what_is_stored_of_a_watch_does_not_make_the_dice_fair(
    put_back: str | None,
) -> None:
    """The administrator stops the server before the alarm, and deletes the row or puts an older one back."""

    async def played(house: Attended) -> None:
        name, older = f"watch/{TABLE}", None
        await _rolled(house, 1, SMALL)
        if put_back == "other dice":
            older = house.store.secret(name)
        await house.do(said.RemoveItem, "dan", item="dice")
        await house.do(said.PlaceItem, "dan", item="dice", serial="B-2")
        if put_back == "nothing yet":
            older = house.store.secret(name)
        rounds = enough()
        await _rolled(house, rounds - 1)
        assert house.events(DiceAlarmNoted) == []
        await house.stop()
        house.store.keep_secret(name, older)
        await house.start()
        await house.settle()
        assert await _results(house) == 3 * (rounds - 1)
        await _rolled(house, 1)
        assert [event.results for event in house.events(DiceAlarmNoted)] == [3 * rounds]

    attended(played, RWS, demonstration=False, thresholds=WATCH)


def test_a_start_while_the_dice_are_locked_away_does_not_make_them_fair() -> None:
    async def played(house: Attended) -> None:
        rounds = enough()
        await house.do(said.RemoveItem, "dan", item="dice")
        await house.do(said.PlaceItem, "dan", item="dice", serial="B-2")
        await _rolled(house, rounds - 1)
        await house.do(said.RemoveItem, "dan", item="dice")
        await house.crash_and_come_back()
        await house.do(said.PlaceItem, "dan", item="dice", serial="B-2")
        await _rolled(house, 1)
        assert [event.results for event in house.events(DiceAlarmNoted)] == [3 * rounds]

    attended(played, MBS, demonstration=False, thresholds=WATCH)


def test_a_correction_that_a_crash_kept_from_the_watch_is_counted_at_the_next_start() -> None:
    async def played(house: Attended) -> None:
        await _rolled(house, 2, SMALL)
        house.casino.queue.listeners.clear()
        await house.do(
            said.ReportIrregularity,
            "dan",
            event=Irregularity.WRONG_RESULT,
            round=1,
            faces=LOADED,
            second="pat",
            detail="x",
        )
        await house.crash_and_come_back()
        watch = (await house.console()).watch
        assert watch is not None
        assert watch.e_value == f"{DiceWatch.of([LOADED, SMALL], SOON).e_value:.3g}"

    attended(played, RWS, demonstration=False, thresholds=WATCH)


def test_another_level_counts_the_same_results_by_it() -> None:
    async def played(house: Attended) -> None:
        await _rolled(house, enough())
        assert house.events(DiceAlarmNoted) == []
        house.plan = replace(house.plan, thresholds=WATCH)
        await house.crash_and_come_back()
        assert len(house.events(DiceAlarmNoted)) == 1

    attended(played, RWS, demonstration=False)


def test_a_state_that_cannot_be_read_is_made_again_from_the_entries() -> None:
    async def played(house: Attended) -> None:
        await _rolled(house, 2)
        house.crash()
        house.store.keep_secret(f"watch/{TABLE}", b"{]")
        await house.start()
        await _rolled(house, 1)
        assert await _results(house) == 9

    attended(played, RWS, demonstration=False, thresholds=WATCH)


def test_cards_are_not_watched() -> None:
    async def played(house: Attended) -> None:
        await _rolled(house, 2, (1, 1, 1))
        assert (await house.console()).watch is None

    attended(played, CARDS, demonstration=False, thresholds=WATCH)


# Dice that lie on a table for too long

DAY = 24 * 3_600_000


async def _aged(house: Attended) -> None:
    await house.opened()
    placed = house.table.equipment.placed["dice"]
    house.clock.set_by += placed.since + DAY - house.clock.now() - 60_000
    await house.pass_(10)
    assert house.events(OverAgeNoted) == []
    house.clock.set_by += 120_000
    await house.pass_(10)
    (noted,) = house.events(OverAgeNoted)
    assert (noted.table, noted.item, noted.serial, noted.hours) == (
        TABLE,
        "dice",
        placed.serial or "unmarked",
        24,
    )
    assert any(alarm.about == TABLE and "24 hours" in alarm.says.en for alarm in (await house.pit()).alarms)
    await house.pass_(30)
    assert len(house.events(OverAgeNoted)) == 1


def test_dice_that_lie_on_a_table_over_24_hours_give_the_pit_an_alarm_once() -> None:
    """US 1: asked at every shake, and an alarm when they lie there longer."""
    attended(_aged, US, demonstration=False)


def test_sabotage_a_monitor_that_looks_at_no_age_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Monitors, "_over_aged", lambda _self, _engine: [])
    with pytest.raises(ValueError, match="not enough values"):
        attended(_aged, US, demonstration=False)


def test_no_age_is_noted_where_the_document_names_none() -> None:
    async def played(house: Attended) -> None:
        house.clock.set_by += 3 * DAY
        await house.pass_(10)
        assert house.events(OverAgeNoted) == []

    attended(played, RWS, demonstration=False)

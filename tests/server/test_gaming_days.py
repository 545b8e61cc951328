"""The gaming day: by the calendar for the whole house, and nobody can begin a day of another year."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import time
from functools import partial
from zoneinfo import ZoneInfo

import pytest

from taisai.game.commands import Assign, BeginDay
from taisai.game.events import DayBegun
from taisai.game.refusals import Reason, Refusal
from taisai.game.terms import opening
from taisai.game.terms.opening import gaming_day
from taisai.game.vocabulary import FLOOR
from taisai.game.vocabulary import HOUSE as BY_THE_HOUSE
from taisai.journal import stream_of
from taisai.rules.book import Rulebook, rulebook
from tests.game.playing import RWS, Playing
from tests.server.virtual_house import OTHER, STREAM, TABLE, Attended, attended

DAY = 24 * 3_600
TODAY, TOMORROW, AFTER = "2026-11-15", "2026-11-16", "2026-11-17"
CALENDAR = partial(gaming_day, zone=ZoneInfo("Asia/Singapore"), begins=time(6))
TO_SIX = 18 * 3_600
"""Seconds from the start of a virtual house, at noon in Singapore, to six in the morning."""


def kept(
    test: Callable[[Attended], Awaitable[None]], approved: Callable[[Rulebook, int], str | None] | None = None
) -> None:
    """Runs something at a house that keeps the calendar."""

    async def main(house: Attended) -> None:
        assert not house.plan.tables[0].demonstration
        house.plan = replace(house.plan, day=CALENDAR, approved=approved)
        await house.start()
        await house.settle()
        await test(house)

    attended(main, started=False, demonstration=False)


async def later(house: Attended, seconds: int) -> None:
    """The clock goes on by hours at once, and everything that looks at it has looked."""
    house.clock.set_by += seconds * 1_000
    await house.pass_(3)


def begun(house: Attended, table: str = TABLE) -> list[tuple[str, str]]:
    return [(event.day, event.by) for event in house.events(DayBegun, stream=stream_of(table))]


async def begin(house: Attended, day: str, second: str | None = None, table: str = TABLE) -> str:
    """The reply to a supervisor's begin-day over a connection's handler, as 'done' or the reason."""
    command = BeginDay(
        at=house.clock.now(), by=house.crew.head, day=day, calendar=CALENDAR(house.clock.now()), second=second
    )
    answer = await house.ask(command, table)
    return str(answer.reason) if isinstance(answer, Refusal) else "done"


# By the clock


def test_the_day_begins_by_itself_at_every_table_of_the_house() -> None:
    async def played(house: Attended) -> None:
        await later(house, TO_SIX - 60)
        assert begun(house) == begun(house, OTHER) == []
        await later(house, 120)
        assert begun(house) == begun(house, OTHER) == [(TOMORROW, FLOOR)]
        await later(house, DAY)
        assert begun(house) == begun(house, OTHER) == [(TOMORROW, FLOOR), (AFTER, FLOOR)]

    kept(played)


def test_a_table_in_a_round_begins_the_day_when_the_round_is_over() -> None:
    async def played(house: Attended) -> None:
        number = await house.opened()
        await later(house, TO_SIX + 60)
        assert begun(house) == []
        assert begun(house, OTHER) == [(TOMORROW, FLOOR)]
        await house.until(lambda table: len(table.rounds) >= number)
        await house.settle()
        assert begun(house) == [(TOMORROW, FLOOR)]
        assert house.table.round is None

    kept(played)


def test_days_that_passed_while_the_house_was_closed_are_not_begun_one_by_one() -> None:
    async def played(house: Attended) -> None:
        await house.stop()
        house.clock.set_by += (TO_SIX + DAY) * 1_000
        await house.start()
        await house.pass_(5)
        assert begun(house) == begun(house, OTHER) == [(AFTER, FLOOR)]

    kept(played)


def test_no_day_begins_by_itself_with_a_rulebook_that_is_not_approved_for_it() -> None:
    async def played(house: Attended) -> None:
        await later(house, TO_SIX + 60)
        assert begun(house) == begun(house, OTHER) == []
        assert house.table.day == TODAY

    kept(played, lambda _book, now: "not approved" if CALENDAR(now) > TODAY else None)


def test_where_no_calendar_is_kept_no_day_begins_by_itself() -> None:
    async def played(house: Attended) -> None:
        await later(house, TO_SIX + DAY)
        assert begun(house) == []

    attended(played)


# By people


def test_nobody_begins_a_day_of_another_year() -> None:
    """The attack: one shift manager began 2099-01-01, and no day could follow."""

    async def played(house: Attended) -> None:
        for day in ("2099-01-01", "2027-01-01", AFTER):
            for second in (None, house.crew.second):
                assert await begin(house, day, second) == Reason.BAD_VALUE, (day, second)
        assert house.table.day == TODAY

    kept(played)


def test_a_clock_that_is_far_ahead_begins_no_day_by_itself() -> None:
    """The attack by the clock: set to 2099, it would have begun a day from which there is no way back."""

    async def played(house: Attended) -> None:
        await later(house, TO_SIX + 7 * DAY)
        assert begun(house) == begun(house, OTHER) == []  # eight days at once
        day = CALENDAR(house.clock.now())
        assert await begin(house, day) == Reason.SECOND_PERSON
        await later(house, 73 * 365 * DAY)
        assert begun(house) == []
        house.clock.set_by -= 73 * 365 * DAY * 1_000
        assert await begin(house, day, house.crew.second) == "done"
        assert begun(house) == [(day, house.crew.head)]
        await later(house, 7 * DAY)
        assert len(begun(house)) == 2  # seven days at once are a house that was closed

    kept(played)


def test_a_demonstration_that_was_left_for_weeks_goes_on_by_itself() -> None:
    playing = Playing(rulebook(RWS), {})
    playing.table.demonstration = True
    assert playing.tried(BeginDay, FLOOR, day="2026-12-24", calendar="2026-12-24") == "done"


def test_over_a_connection_the_server_fills_the_calendar_in() -> None:
    async def played(house: Attended) -> None:
        line = await house.signed_in(house.crew.head)
        for day, reason in (("2099-01-01", "bad-value"), (TOMORROW, "second-person")):
            told = await line.answer("do", table=TABLE, do={"command": "begin-day", "day": day})
            assert (told["type"], told["reason"], told["clause"]) == ("refused", reason, "house:day"), told
        claimed = {"command": "begin-day", "day": "2099-01-01", "calendar": "2099-01-01"}
        told = await line.answer("do", table=TABLE, do=claimed)
        assert told["type"] in ("refused", "error"), told
        assert house.table.day == TODAY

    kept(played)


def test_two_people_begin_the_next_day_early_and_the_whole_house_follows() -> None:
    async def played(house: Attended) -> None:
        assert await begin(house, TOMORROW) == Reason.SECOND_PERSON
        assert await begin(house, TOMORROW, house.crew.head) == Reason.SECOND_PERSON
        assert await begin(house, TOMORROW, "dan") == Reason.SECOND_PERSON
        assert await begin(house, TOMORROW, house.crew.second) == "done"
        (event,) = house.events(DayBegun, stream=STREAM)
        assert (event.by, event.second) == (house.crew.head, house.crew.second)
        await house.pass_(3)
        assert begun(house, OTHER) == [(TOMORROW, FLOOR)]
        assert await begin(house, AFTER, house.crew.second) == Reason.BAD_VALUE
        await later(house, TO_SIX)
        assert house.table.day == TOMORROW  # the calendar has come to it
        assert await begin(house, AFTER, house.crew.second) == "done"

    kept(played)


def test_a_person_cannot_act_as_the_server_nor_the_server_without_a_calendar() -> None:
    playing = Playing(rulebook(RWS), {})
    playing.do(Assign, BY_THE_HOUSE, person="dan", rank="dealer", position="dealer")
    assert playing.refused(BeginDay, FLOOR, day=TOMORROW) == "unknown-person house:people"
    assert playing.refused(BeginDay, "dan", day=TOMORROW, calendar=TOMORROW) == "not-permitted house:day"
    assert playing.refused(BeginDay, FLOOR, day="2099-01-01", calendar=TOMORROW) == "bad-value house:day"
    assert playing.refused(BeginDay, "sue", day=TOMORROW, calendar="soon") == "bad-value house:day"
    assert playing.tried(BeginDay, FLOOR, day=TOMORROW, calendar=TOMORROW) == "done"
    assert (
        playing.tried(BeginDay, "sue", day="2099-01-01") == "done"
    )  # a journal of before is decided as it was


def test_sabotage_a_calendar_that_nobody_keeps_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opening, "_off_calendar", lambda *_: None)
    with pytest.raises(AssertionError):
        test_nobody_begins_a_day_of_another_year()

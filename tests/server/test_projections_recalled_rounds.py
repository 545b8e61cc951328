"""Rounds recalled in full: incidents, what was keyed at first, by which clause one is void; and to whom."""

from __future__ import annotations

from typing import Any

import pytest

from taisai.game import commands as said
from taisai.game.vocabulary import Subject, Treatment
from taisai.rules.vocabulary import Irregularity, Phase
from taisai.server.projections import house_feeds
from taisai.server.projections.history import REMEMBERED, RoundLogs
from taisai.server.projections.table_feeds import TableFeeds
from tests.server.virtual_house import MBS, RWS, SEAT, TABLE, TERMINAL, Attended, attended


async def recalled(house: Attended, *, own: bool = False, **asked: Any) -> Any:
    """Rounds as they are told; a player's `own`, or everyone's to staff."""
    projections = house.casino.queue.projections
    seat = SEAT if own else None
    return await house.casino.queue.run(
        lambda _engine: projections.rounds(TABLE, **{"most": 10, "seat": seat, "own": own} | asked)
    )


async def _corrected_and_void(house: Attended) -> None:
    await house.played((1, 2, 3), small=1_000)
    await house.do(
        said.ReportIrregularity,
        "dan",
        event=Irregularity.WRONG_RESULT,
        round=1,
        faces=(4, 5, 6),
        second="sue",
    )
    await house.opened()
    await house.bet()
    await house.at_phase(Phase.REVEALED)
    await house.act("enter-result", flat=False)
    await _are_told(house)


async def _are_told(house: Attended) -> None:
    for own in (False, True):
        void, corrected = await recalled(house, own=own)
        assert (corrected.number, corrected.entered, corrected.faces) == (1, (1, 2, 3), (4, 5, 6))
        assert [one.what for one in corrected.incidents] == ["irregularity-ruled", "round-resettled"]
        assert (void.number, void.void, void.clause) == (2, True, "5.3.2")
        assert [one.clause for one in void.incidents] == ["5.3.2", "5.3.2"]
        assert void.recalled
        assert corrected.recalled


def test_what_went_wrong_in_a_round_is_shown_with_it() -> None:
    attended(_corrected_and_void, RWS)


def test_sabotage_rounds_without_their_stories_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(RoundLogs, "apply", lambda *_: None)
    with pytest.raises(AssertionError):
        attended(_corrected_and_void, RWS)


async def _after_a_start(house: Attended) -> None:
    await _corrected_and_void(house)
    await house.crash_and_come_back()
    await _are_told(house)


def test_it_is_shown_after_a_start_as_before() -> None:
    attended(_after_a_start, RWS)


def test_sabotage_stories_that_a_start_does_not_read_are_missed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(house_feeds, "latest_events", lambda *_: iter(()))
    with pytest.raises(AssertionError):
        attended(_after_a_start, RWS)


def test_a_start_reads_so_many_entries_and_what_it_has_not_read_it_does_not_tell(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def played(house: Attended) -> None:
        await _corrected_and_void(house)
        first = next(
            version
            for version, event in house.engine.journal.events("table:T1")
            if type(event).__name__ == "BetsOpened" and event.round == 2  # type: ignore[union-attr]
        )
        monkeypatch.setattr(
            house_feeds, "LATEST_ENTRIES", house.engine.journal.version("table:T1") - first + 6
        )
        await house.crash_and_come_back()
        void, corrected = await recalled(house)
        assert (void.recalled, void.clause) == (True, "5.3.2")
        assert (corrected.recalled, corrected.incidents, corrected.entered) == (False, (), None)
        assert corrected.faces == (4, 5, 6), "the round itself is known all the same"

    attended(played, RWS)


def test_a_void_that_is_not_remembered_names_no_clause(monkeypatch: pytest.MonkeyPatch) -> None:
    async def played(house: Attended) -> None:
        await _corrected_and_void(house)
        monkeypatch.setattr(house_feeds, "LATEST_ENTRIES", 1)
        await house.crash_and_come_back()
        void, _ = await recalled(house)
        assert (void.void, void.clause, void.recalled) == (True, None, False)

    attended(played, RWS)


def test_the_stories_of_the_last_ten_rounds_are_kept_and_of_no_more() -> None:
    async def played(house: Attended) -> None:
        for _ in range(REMEMBERED + 2):
            await house.played((1, 2, 3), small=1_000)
        numbers = range(1, REMEMBERED + 3)
        told = [(await recalled(house, number=number))[0] for number in numbers]
        assert [one.number for one in told if one.recalled] == list(numbers)[1:]
        own = [len(await recalled(house, own=True, number=number)) for number in numbers]
        assert own == [0, 0] + [1] * REMEMBERED, "a player's own, among the last ten"
        await house.opened()
        assert [one.number for one in await recalled(house) if not one.recalled] == []
        assert not (await recalled(house, number=2))[0].recalled

    attended(played, RWS, is_followed=False)


# To whom


async def _next_player(house: Attended) -> None:
    await house.played((1, 2, 3), small=4_200)
    assert [bet.stake for one in await recalled(house, own=True) for bet in one.bets] == [4_200]
    await house.do(said.DispenseCredits, TERMINAL, seat=SEAT, transfer="out")
    await house.do(said.LeaveSeat, TERMINAL, seat=SEAT)
    assert await recalled(house, own=True) == ()
    await house.do(said.TakeSeat, TERMINAL, seat=SEAT, player="someone else", terminal=TERMINAL)
    assert await recalled(house, own=True) == ()
    assert await recalled(house, own=True, number=1) == ()
    assert len(await recalled(house)) == 1


def test_the_next_player_is_shown_their_own_rounds_alone() -> None:
    attended(_next_player, RWS)


def test_sabotage_rounds_of_anyone_who_sat_there_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    rounds = TableFeeds.rounds

    def everyones(self: Any, table: Any, numbers: Any, seat: Any, _session: Any) -> Any:
        return rounds(self, table, numbers, seat, None)

    monkeypatch.setattr(TableFeeds, "rounds", everyones)
    with pytest.raises(AssertionError):
        attended(_next_player, RWS)


def test_a_players_dispute_is_shown_to_staff_and_to_themselves_alone() -> None:
    async def played(house: Attended) -> None:
        await house.played((1, 2, 3), small=1_000)
        await house.do(
            said.CallAttendant, TERMINAL, seat=SEAT, subject=Subject.DISPUTE, round=1, detail="I had more"
        )
        (referral,) = house.table.referrals
        await house.do(
            said.DecideReferral, "sue", referral=referral, treatment=Treatment.STANDS, reason="he had not"
        )
        (told,) = await recalled(house)
        (own,) = await recalled(house, own=True)
        assert [one.what for one in told.incidents] == ["referred", "referral-decided"]
        assert own.incidents == told.incidents
        stories = RoundLogs.of(event for _, event in house.engine.journal.events("table:T1"))
        story = stories.of_round(1)
        assert story is not None
        assert story.incidents(SEAT) == told.incidents
        assert story.incidents("another") == ()

    attended(played, RWS)


def test_mbs_an_early_correction_tells_what_was_keyed_first() -> None:
    async def played(house: Attended) -> None:
        await house.at_phase(Phase.ENTERED, faces=(1, 2, 3))
        await house.do(
            said.ReportIrregularity, "dan", event=Irregularity.WRONG_RESULT, faces=(4, 5, 6), second="sue"
        )
        (told,) = await recalled(house)
        assert (told.entered, told.faces) == ((1, 2, 3), (4, 5, 6))

    attended(played, MBS)

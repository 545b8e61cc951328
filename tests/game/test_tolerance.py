"""MBS 5.10: the one round with a bet under the minimum, when that round is voided or its record corrected."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import pytest

from taisai.game import play
from taisai.game.commands import (
    CorrectRecord,
    DecideReferral,
    LeaveSeat,
    Limits,
    ReportIrregularity,
    TakeSeat,
)
from taisai.game.events import RoundSettled
from taisai.game.rounds import settlement
from taisai.game.snapshot import loading, read_table, write_round, write_table
from taisai.game.vocabulary import RecordChange, Treatment
from taisai.rules import Rulebook, rulebook
from taisai.rules.vocabulary import Irregularity
from tests.game.playing import SEAT, Playing, opened
from tests.game.single_event import only

LOW: Final = Limits(least=100, most=1_000)
UNDER: Final = {"small": 50}
TOLERATED: Final = (50, 0, 50, 50)
"""Staked, collected, won, returned."""
KEPT_OUT: Final = (50, 0, 0, 50)


@pytest.fixture(scope="module")
def book() -> Rulebook:
    return rulebook("mbs-sic-bo-v6")


def begun(playing: Playing) -> None:
    playing.act("open-bets")
    playing.bet(**UNDER)


def settled(playing: Playing) -> tuple[int, int, int, int]:
    """Plays an open round to its end: staked, collected, won, returned."""
    for act in ("tumble", "close-bets", "press-deal", "uncover", "enter-result"):
        playing.act(act)
    event = only(RoundSettled, playing.act("settle"))
    playing.act("collect-and-pay")
    playing.act("conclude")
    return event.staked, event.collected, event.won, event.stakes_back


def played(playing: Playing) -> tuple[int, int, int, int]:
    begun(playing)
    return settled(playing)


def void(playing: Playing, number: int = 1) -> None:
    """Voids a settled round by a decision."""
    playing.do(ReportIrregularity, "dan", event=Irregularity.OTHER, round=number)
    playing.do(
        DecideReferral, "sue", referral=next(reversed(playing.table.referrals)), round=number,
        treatment=Treatment.VOID_ROUNDS, reason="the cover was open", second="pat",
    )  # fmt: skip


def correct(playing: Playing) -> None:
    """Corrects the stake of round 1 to the minimum."""
    playing.do(
        CorrectRecord, "pat", round=1, change=RecordChange.STAKE, id="1-small", stake=100, second="sue",
        reason="two chips lay there", evidence="camera 4, 21:03:10",
    )  # fmt: skip


Free = Callable[[Playing], None]
FREED: Final[tuple[Free, ...]] = (void, correct)


def read_again(playing: Playing) -> None:
    """The table continues from its snapshot; a replay comes to the same."""
    data = write_table(playing.table)
    past = {round_.number: write_round(round_) for round_ in playing.table.rounds}
    assert write_table(play.replayed(playing.book, playing.log)) == data
    playing.table = read_table(playing.book, data, loading(past.__getitem__))
    assert write_table(playing.table) == data


def frees_the_next_round_opened(book: Rulebook, free: Free) -> None:
    playing = opened(book, limits=LOW)
    assert played(playing) == TOLERATED
    begun(playing)
    free(playing)
    read_again(playing)
    assert settled(playing) == KEPT_OUT, "the round was open already"
    assert played(playing) == TOLERATED
    assert played(playing) == KEPT_OUT


def counts_for_its_own_stay(book: Rulebook, free: Free) -> None:
    playing = opened(book, limits=LOW)
    assert played(playing) == TOLERATED
    playing.do(LeaveSeat, "dan", seat=SEAT)
    playing.do(TakeSeat, "dan", seat=SEAT, player="ann")
    assert played(playing) == TOLERATED
    free(playing)
    assert played(playing) == KEPT_OUT


@pytest.mark.parametrize("free", FREED)
def test_mbs_5_10_a_tolerance_that_is_freed_is_free_from_the_next_round_opened(
    book: Rulebook, free: Free
) -> None:
    frees_the_next_round_opened(book, free)


@pytest.mark.parametrize("free", FREED)
def test_mbs_5_10_a_round_of_an_earlier_stay_frees_nothing_in_this_one(book: Rulebook, free: Free) -> None:
    counts_for_its_own_stay(book, free)


@pytest.mark.parametrize("free", FREED)
def test_mbs_5_10_between_rounds_a_tolerance_is_free_at_once(book: Rulebook, free: Free) -> None:
    playing = opened(book, limits=LOW)
    assert played(playing) == TOLERATED
    assert played(playing) == KEPT_OUT
    free(playing)
    assert played(playing) == TOLERATED
    assert played(playing) == KEPT_OUT


@pytest.mark.parametrize("free", FREED)
def test_sabotage_a_tolerance_that_is_free_for_the_open_round_is_noticed(
    book: Rulebook, free: Free, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settlement, "_freed_since", lambda *_args: 0)
    with pytest.raises(AssertionError, match="open already"):
        frees_the_next_round_opened(book, free)


@pytest.mark.parametrize("free", FREED)
def test_sabotage_a_tolerance_of_another_stay_that_is_freed_is_noticed(
    book: Rulebook, free: Free, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settlement, "is_remembered", lambda *_args: True)
    with pytest.raises(AssertionError):
        counts_for_its_own_stay(book, free)

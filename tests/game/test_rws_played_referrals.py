"""Referrals at Sic Bo ETG of Resorts World Sentosa, version 8, played: who decides, and what follows."""

from __future__ import annotations

from typing import Any, Final

import pytest

from taisai.game.commands import CallAttendant, DecideReferral, ReportIrregularity
from taisai.game.events import ReferralDecided
from taisai.game.vocabulary import Subject, Treatment
from taisai.rules import Rulebook, rulebook
from tests.game.played_events import rulings_by
from tests.game.playing import CREDITS, OTHER_FACES, RWS, SEAT, TERMINAL, Playing, at, opened

TO_REVEAL: Final = "open open-tumbled closed closed-tumbled"
KNOWN: Final = "revealed entered settled paid"
IN_HAND: Final = f"{TO_REVEAL} revealed entered settled"
ALWAYS: Final = f"between {TO_REVEAL} {KNOWN}"


@pytest.fixture(scope="module")
def book() -> Rulebook:
    return rulebook(RWS)


def after(playing: Playing, event: str, **fields: Any) -> Playing:
    """The table after a report."""
    playing.do(ReportIrregularity, "dan", **playing.reporting(event, **fields))
    return playing


def test_rws_5_10_whatever_else_happens_waits_for_the_shift_manager(book: Rulebook) -> None:
    closed = f"between closed closed-tumbled {KNOWN}"
    never = (
        "dome-or-dice-broken", "chips-unclear", "automated-shaker-failure", "deal-not-pressed",
        "earlier-limit-mistake", "foreign-card", "card-count-wrong", "shoe-short", "two-shakers", "other",
    )  # fmt: skip
    assert rulings_by(book, "5.10") == {
        f"{event}: referred to shift-manager": phases
        for event, phases in {
            "too-few-tumbles": "between paid",
            "exposed-early": "between paid",
            "die-not-flat": "between paid",
            "exposed-late": "between",
            "untumbled-in-view": "between",
            "dice-over-age": ALWAYS,
            "late-bet": "between open open-tumbled",
            "late-withdrawal": "between open open-tumbled paid",
            "equipment-failure": "between",
            "power-failure": "between",
            "terminals-down": "between",
            "under-minimum": closed,
            "over-maximum": closed,
            **dict.fromkeys(never, ALWAYS),
        }.items()
    }


def decided(book: Rulebook, phase: str, treatment: Treatment, **fields: Any) -> Playing:
    """The table after an irregularity that no clause foresees, and what was decided on it."""
    playing = after(at(book, phase), "other")
    decision = {"referral": "r1", "treatment": treatment, "reason": "so it is fair", "second": "pat"} | fields
    first, *_ = playing.do(DecideReferral, "sue", **decision)
    assert isinstance(first, ReferralDecided)
    assert (first.clause, playing.table.held) == ("5.10", None)
    return playing


def test_rws_5_10_the_round_waits_and_nobody_below_decides(book: Rulebook) -> None:
    playing = after(at(book, "closed"), "other")
    assert playing.act_refused("tumble") == "on-hold 5.10"
    decision = {"referral": "r1", "treatment": Treatment.CONTINUE, "reason": "fair"}
    for person in ("dan", "pat", "mia"):
        assert playing.refused(DecideReferral, person, **decision) == "not-permitted 5.10"
    no_reason = decision | {"reason": ""}
    assert playing.refused(DecideReferral, "sue", **no_reason) == "bad-value house:most"
    assert playing.tried(DecideReferral, "sue", **decision) == "done"
    opening = after(at(book, "open"), "other")
    assert opening.bet_refused(odd=100) == "on-hold 5.10"


def test_rws_5_10_the_round_goes_on_as_it_is_or_is_void(book: Rulebook) -> None:
    for treatment in (Treatment.CONTINUE, Treatment.STANDS):
        assert decided(book, "closed", treatment).table.phase == "closed"
    for phase in IN_HAND.split():
        playing = decided(book, phase, Treatment.VOID)
        assert (playing.table.round, playing.credits) == (None, CREDITS)
    shut = decided(book, "closed", Treatment.SHUT)
    assert (shut.credits, shut.table.shut) == (CREDITS, "so it is fair")
    assert shut.act_refused("open-bets") == "table-shut 5.10"


def test_rws_5_10_rounds_are_void_or_settled_by_the_dice_by_decision(book: Rulebook) -> None:
    void = decided(book, "between", Treatment.VOID_ROUNDS, round=1)
    assert void.credits == CREDITS
    again = decided(book, "between", Treatment.SETTLE_BY_OUTCOME, round=1, faces=OTHER_FACES)
    assert again.credits == CREDITS - 600
    for treatment in (Treatment.VOID_ROUNDS, Treatment.SETTLE_BY_OUTCOME):
        playing = after(at(book, "between"), "other")
        alone = {"referral": "r1", "treatment": treatment, "reason": "fair", "faces": OTHER_FACES}
        # 5.10 names who decides: no second person is asked.
        assert playing.tried(DecideReferral, "sue", **alone) == "done"
        assert playing.refused(DecideReferral, "mia", **alone) == "not-permitted 5.10"


def test_rws_5_10_bets_open_again_or_are_treated_one_by_one_by_decision(book: Rulebook) -> None:
    assert decided(book, "closed-tumbled", Treatment.RE_OPEN).table.phase == "open"
    playing = decided(book, "open", Treatment.TREAT_BETS, bets={"1-small": None, "1-big": "odd"})
    assert [(bet.area, bet.stake) for bet in playing.table.round.live()] == [("odd", 400)]  # type: ignore[union-attr]
    for phase in f"closed closed-tumbled {KNOWN}".split():
        late = after(at(book, phase), "other")
        move = {
            "referral": "r1",
            "treatment": Treatment.TREAT_BETS,
            "reason": "fair",
            "bets": {"1-big": "odd"},
        }
        assert late.refused(DecideReferral, "sue", **move) == "late 5.7"
    assert playing.credits == CREDITS - 400
    undone = decided(book, "settled", Treatment.TREAT_BETS, bets={"1-big": None})
    assert (undone.table.phase, undone.credits) == ("entered", CREDITS - 1_000)


def test_rws_a_player_calls_an_attendant_and_the_round_does_not_wait(book: Rulebook) -> None:
    playing = at(book, "closed")
    call = {"seat": SEAT, "subject": Subject.DISPUTE, "round": 1}
    (referred,) = playing.do(CallAttendant, TERMINAL, **call)
    assert (referred.clause, playing.table.held) == ("house:player-call", None)
    assert playing.table.referrals["r1"].to == "pit-supervisor"
    beyond = call | {"round": 2}
    assert playing.refused(CallAttendant, TERMINAL, **beyond) == "wrong-round house:player-call"
    assert opened(book).refused(CallAttendant, "T08", **call) == "unknown-person house:people"

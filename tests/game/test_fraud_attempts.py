"""Ways in which someone tried to gain, alone or with another, and what the table answers."""

from __future__ import annotations

import pytest

from taisai.game.betting.placing import exposures
from taisai.game.commands import (
    Assign,
    BuyColour,
    BuyCredits,
    CashColour,
    CloseTable,
    ConfirmReport,
    DecideReferral,
    Declare,
    DispenseCredits,
    LeaveSeat,
    Limits,
    MoveBet,
    PlaceBets,
    PlaceItem,
    ReceiveTicket,
    RecordBets,
    Recover,
    RemoveItem,
    Reopen,
    ReportIrregularity,
    SendCredit,
    SettleClaim,
    Shut,
    Slip,
    TakeBack,
    TakeSeat,
)
from taisai.game.events import IrregularityRuled, SettlementWitnessed, TableShut
from taisai.game.money.ledger import Account
from taisai.game.vocabulary import CAGE, HOUSE, RECOVERY, ClaimEnd, Means, Treatment
from taisai.rules import Irregularity, rulebook
from taisai.rules.procedure import Declared
from tests.game.playing import CREDITS, MBS, OTHER_FACES, RWS, SEAT, TERMINAL, US, Playing, at


def table_of(book: str, *, limits: Limits | None = None, **settings: str) -> Playing:
    """A table with people and equipment, its limits as given."""
    playing = Playing(rulebook(book), settings, limits=limits or Limits(least=100, most=50_000))
    return playing.staff().equip().seat()


# The tray and claims


def test_the_tray_gives_away_nothing_that_lies_on_the_layout() -> None:
    playing = at(rulebook(MBS), "settled")
    chips = playing.balance(Account.CHIPS)
    sent = {"transfer": "c1", "second": "sue"}
    assert playing.refused(SendCredit, "dan", amount=chips - 1_000, **sent) == "float-short house:float"
    playing.do(SendCredit, "dan", amount=chips - 10_000, **sent)
    playing.do(ReportIrregularity, "dan", **playing.reporting("too-few-tumbles"))
    assert playing.balance(Account.CHIPS) == 10_000 - 1_400


def test_a_claim_is_met_by_the_next_correction_and_never_numbered_twice() -> None:
    playing = at(rulebook(RWS), "between")
    playing.do(DispenseCredits, TERMINAL, seat=SEAT, transfer="t1")
    wrong = playing.reporting("wrong-result", round=1)
    playing.do(ReportIrregularity, "dan", **wrong)
    (claim,) = playing.table.claims.values()
    assert not claim.of_player
    playing.do(ReportIrregularity, "dan", **(wrong | {"faces": (1, 2, 3)}))
    assert (playing.table.claims, playing.credits) == ({}, 0)
    playing.do(ReportIrregularity, "dan", **wrong)
    (again,) = playing.table.claims.values()
    assert again.id != claim.id
    playing.do(SettleClaim, "sue", claim=again.id, how=ClaimEnd.WAIVE, reason="so be it", second="pat")
    # He kept what he had: were the first result right after all, he has had it.
    playing.do(ReportIrregularity, "dan", **(wrong | {"faces": (1, 2, 3)}))
    assert (playing.table.claims, playing.credits) == ({}, 0)


def test_a_loser_does_not_leave_while_their_round_can_still_be_void() -> None:
    playing = at(rulebook(RWS), "settled")
    playing.do(TakeSeat, "T08", seat="8", terminal="T08")
    assert playing.refused(LeaveSeat, TERMINAL, seat=SEAT) == "under-live-bets house:seats"
    assert playing.tried(LeaveSeat, "T08", seat="8") == "done"


def test_a_rest_of_less_than_one_colour_chip_goes_with_the_last() -> None:
    playing = table_of(MBS, limits=Limits(least=100, most=100))
    colour = {"seat": SEAT, "colour": "red", "value": 30, "pieces": 10, "paid_with": Means.CASH}
    playing.do(BuyColour, "dan", **colour)
    playing.act("open-bets")
    bets = (Slip("x", "small", 4),)
    playing.do(RecordBets, "dan", round=1, seat=SEAT, means=Means.COLOUR_CHIPS, bets=bets)
    for act in ("tumble", "close-bets", "press-deal", "uncover", "enter-result", "settle", "collect-and-pay"):
        playing.act(act)
    playing.act("conclude")
    # 120 lay, 100 of it at risk and won: 300 - 120 + 200 + 20 back.
    assert playing.table.seats[SEAT].held == 400
    playing.do(CashColour, "dan", seat=SEAT, pieces=13)
    assert playing.table.seats[SEAT].held == 0
    playing.do(LeaveSeat, "dan", seat=SEAT)


def test_a_closed_table_leaves_nothing_behind_and_is_still_corrected() -> None:
    playing = at(rulebook(RWS), "between")
    assert playing.refused(CloseTable, "sue") == "unmet-need house:table"
    playing.do(DispenseCredits, TERMINAL, seat=SEAT, transfer="t1")
    assert playing.refused(CloseTable, "sue") == "unmet-need house:table"


# Bets after something is known


def test_no_bet_once_a_die_was_seen_however_that_was_reported() -> None:
    for event in ("power-failure", "equipment-failure", "chips-unclear", "exposed-early"):
        playing = at(rulebook(MBS), "open-tumbled")
        playing.do(ReportIrregularity, "dan", **playing.reporting(event, seen=True, second=None))
        assert playing.table.rounds[0].voided, event
        assert playing.bet_refused(single_6=100) == "out-of-order 3.1", event


def test_no_bet_once_a_die_was_seen_by_the_first_edition() -> None:
    playing = at(rulebook(f"{MBS}@1"), "open-tumbled")
    seen = playing.reporting("power-failure", seen=True)
    assert (
        playing.refused(ReportIrregularity, "dan", **(seen | {"second": None}))
        == "second-person house:declaration"
    )
    playing.do(ReportIrregularity, "dan", **seen)
    assert playing.bet_refused(single_6=100) == "late 5.2"
    moved = {"round": 1, "id": "1-small", "area": "big"}
    assert playing.refused(MoveBet, "dan", **moved) == "late 5.2"
    back = {"round": 1, "seat": SEAT, "ids": ("1-small",)}
    assert playing.refused(TakeBack, "dan", **back) == "late 5.2"


def test_what_is_recorded_as_seen_is_not_untold() -> None:
    playing = at(rulebook(MBS), "closed-tumbled")
    playing.do(Recover, RECOVERY)
    playing.do(ReportIrregularity, "dan", **playing.reporting("power-failure", seen=True))
    unseen = {"declared": Declared.UNSEEN, "second": "pat"}
    assert playing.refused(Declare, "dan", **unseen) == "different-content house:declaration"


def test_sight_told_in_passing_is_a_fact_of_the_round() -> None:
    """In the first edition it counted for nothing, and the Dealer chose what a failure came to."""
    for book, is_seen in ((MBS, True), (f"{MBS}@1", False)):
        playing = at(rulebook(book), "closed-tumbled")
        playing.do(ReportIrregularity, "dan", **playing.reporting("under-minimum", seen=True, second=None))
        assert playing.table.round is not None
        assert playing.table.round.seen is is_seen


def test_bets_from_before_a_no_roll_open_again_and_stayed_in_the_first_edition() -> None:
    back = {"round": 1, "seat": SEAT, "ids": ("1-small",)}
    playing = at(rulebook(US), "revealed")
    playing.act("enter-result", flat=False)
    playing.do(TakeBack, "dan", **back)
    first = at(rulebook(f"{US}@1"), "revealed")
    first.act("enter-result", flat=False)
    assert first.refused(TakeBack, "dan", **back) == "ruled-out 6(a)"
    for either in (playing, first):
        either.bet(double_2=200)
        either.do(TakeBack, "dan", round=1, seat=SEAT, ids=("1-double-2",))


def test_no_bet_is_moved_onto_the_dice_that_are_seen() -> None:
    """Not by the rank that decides what is unforeseen, and not by two."""
    playing = at(rulebook(US), "revealed")
    moved = {"round": 1, "id": "1-small", "area": "triple-1"}
    for second in (None, "sue"):
        assert playing.refused(MoveBet, "dan", second=second, **moved).startswith("late ")


def test_one_person_does_not_move_a_bet_onto_the_dice_they_see() -> None:
    moved = {"referral": "r1", "treatment": Treatment.TREAT_BETS, "reason": "it lay there"}
    bets = {"1-small": "triple-1"}
    playing = at(rulebook(f"{RWS}@1"), "entered")
    playing.do(ReportIrregularity, "sue", event=Irregularity.OTHER)
    refused = playing.refused(DecideReferral, "sue", bets=bets, **moved)
    assert refused == "second-person house:dual-control"
    beyond = Limits(least=100, most=50_000, groups={"triple": (100, 500)})
    other = table_of(RWS, limits=beyond).to("entered")
    other.do(ReportIrregularity, "sue", event=Irregularity.OTHER)
    assert other.refused(DecideReferral, "sue", bets=bets, second="pat", **moved) == "late 5.7"


# Limits


def test_the_houses_exposure_is_not_opened_by_taking_back() -> None:
    for book in (RWS, MBS):
        playing = table_of(book, limits=Limits(least=100, most=50_000, exposure=20_000))
        playing.act("open-bets")
        playing.bet(small=20_000)
        playing.bet(triple_6=200 if book == RWS else 220)
        back = {"round": 1, "seat": SEAT, "ids": ("1-small",)}
        by = TERMINAL if book == RWS else "dan"
        assert playing.refused(TakeBack, by, **back) == "exposure house:exposure"
        assert max(exposures(playing.table)) <= 20_000


def test_what_lies_over_the_maximum_buys_no_exposure() -> None:
    playing = table_of(MBS, limits=Limits(least=100, most=100, exposure=1_000))
    playing.act("open-bets")
    assert playing.bet_refused(triple_1=100) == "exposure house:exposure"
    playing.bet(small=20_000)
    assert playing.bet_refused(triple_1=100) == "exposure house:exposure"


def test_a_move_counts_once_for_the_exposure() -> None:
    playing = table_of(US, limits=Limits(least=100, most=50_000, exposure=14_950))
    playing.act("open-bets")
    playing.bet(small=100)
    moved = {"round": 1, "id": "1-small", "area": "triple-6"}
    assert playing.refused(MoveBet, "dan", **moved) == "exposure house:exposure"


def test_stakes_and_odds_beyond_what_the_sums_hold_are_refused() -> None:
    playing = table_of(MBS)
    playing.act("open-bets")
    playing.bet(small=2**52 - 1)
    playing.bet(small=2**52 - 1)
    assert playing.bet_refused(small=100) == "beyond-greatest-sum house:greatest-sum"
    odds = {"triple-1": "999999 to 4999", "triple-2": "999999 to 4993"}
    with pytest.raises(AssertionError, match="common denominator"):
        Playing(rulebook(US), {}, offers=odds)


# Who someone is


def test_nobody_makes_their_own_second_person() -> None:
    playing = at(rulebook(RWS), "between")
    ghost = {"person": "ghost", "rank": "pit-supervisor", "position": "pit-supervisor"}
    for by in ("dan", "sue", "ghost"):
        assert playing.tried(Assign, by, **ghost).startswith(("not-permitted", "unknown-person"))
    playing.do(Assign, HOUSE, **ghost)
    assert playing.tried(Assign, HOUSE, **(ghost | {"person": "GHOST"})) == "bad-value house:people"
    assert playing.tried(Assign, HOUSE, **(ghost | {"person": "Cage"})) == "bad-value house:people"
    wrong = playing.reporting("wrong-result", round=1, second="SUE")
    before = playing.credits
    playing.do(ReportIrregularity, "sue", **wrong)
    assert (playing.credits, list(playing.table.reports)) == (before, ["h1"])
    assert playing.refused(ConfirmReport, "sue", report="h1") == "second-person house:confirmation"


def test_a_ticket_goes_to_the_player_who_put_it_in() -> None:
    playing = at(rulebook(RWS), "between")
    ticket = {"transfer": "t9", "seat": SEAT, "amount": 5_000}
    assert playing.refused(ReceiveTicket, "dan", session=1, **ticket) == "not-permitted house:transfers"
    before = playing.credits
    playing.do(ReceiveTicket, CAGE, session=7, **ticket)
    assert (playing.credits, [one.amount for one in playing.table.claims.values()]) == (before, [5_000])
    assert playing.do(ReceiveTicket, CAGE, session=7, **ticket) == ()


def test_a_player_has_one_seat_and_a_terminal_its_own() -> None:
    playing = at(rulebook(RWS), "between")
    second = {"seat": "8", "terminal": "T08", "player": "ANN"}
    assert playing.refused(TakeSeat, "T08", **second) == "ruled-out house:seats"
    playing.do(TakeSeat, "T08", seat="8", terminal="T08")
    playing.do(LeaveSeat, "T08", seat="8")
    assert playing.refused(TakeSeat, "T08", seat="9", terminal="T08") == "not-permitted house:terminals"


def test_credits_have_an_end_and_what_is_beyond_it_is_a_claim() -> None:
    most = 2**53 - 1
    playing = table_of(RWS, limits=Limits(least=100, most=most))
    assert (
        playing.refused(BuyCredits, TERMINAL, seat=SEAT, amount=most) == "beyond-greatest-sum house:credits"
    )
    playing.do(BuyCredits, TERMINAL, seat=SEAT, amount=most - CREDITS)
    playing.act("open-bets")
    playing.do(PlaceBets, TERMINAL, round=1, seat=SEAT, bets=(Slip("a", "small", 1_000),))
    for act in ("close-bets", "tumble", "uncover", "enter-result", "settle", "collect-and-pay", "conclude"):
        playing.act(act)
    (claim,) = playing.table.claims.values()
    assert (claim.of_player, claim.amount, playing.credits) == (True, 1_000, most)


# Equipment


def test_the_same_dice_do_not_grow_young() -> None:
    playing = at(rulebook(US), "between")
    assert playing.refused(PlaceItem, "dan", item="dice") == "out-of-order house:equipment"
    playing.do(RemoveItem, "dan", item="dice")
    assert playing.refused(PlaceItem, "dan", item="dice") == "ruled-out house:equipment"
    playing.do(PlaceItem, "dan", item="dice", serial="set 2")
    playing.now -= 1_000_000_000
    playing.do(RemoveItem, "dan", item="dice")
    playing.do(PlaceItem, "dan", item="dice", serial="set 3")
    assert playing.table.equipment.placed["dice"].since == playing.table.latest


def test_a_shut_that_was_ordered_is_not_lifted_in_between() -> None:
    playing = at(rulebook(US), "revealed")
    events = playing.do(ReportIrregularity, "dan", **playing.reporting("equipment-failure"))
    assert any(isinstance(event, SettlementWitnessed) for event in events)
    playing.do(Shut, "sue", reason="for now")
    assert playing.tried(Reopen, "sue", reason="again", second="sal") == "unmet-need house:shut"
    playing.act("enter-result")
    for act in ("settle", "collect", "pay"):
        playing.act(act, second="sue")
    assert any(isinstance(event, TableShut) for event in playing.act("clear-lights"))
    assert playing.table.shut is not None


def test_one_terminal_that_fails_voids_nothing_and_stops_nothing() -> None:
    for item in ("player-terminal", "display"):
        playing = at(rulebook(RWS), "open")
        playing.do(ReportIrregularity, "dan", **playing.reporting("equipment-failure", item=item))
        assert playing.table.round is not None
        for act in (
            "close-bets",
            "tumble",
            "uncover",
            "enter-result",
            "settle",
            "collect-and-pay",
            "conclude",
        ):
            playing.act(act)
        playing.act("open-bets")


def test_another_result_is_what_the_dice_showed_and_nothing_else() -> None:
    playing = at(rulebook(RWS), "between")
    same = playing.reporting("wrong-result", round=1, faces=(1, 2, 3))
    assert playing.refused(ReportIrregularity, "dan", **same) == "bad-value 5.5"
    playing.do(ReportIrregularity, "dan", **(same | {"faces": OTHER_FACES}))
    playing.do(ReportIrregularity, "dan", **playing.reporting("die-damaged", round=1))
    (recorded,) = playing.do(ReportIrregularity, "dan", **same)  # the round is void: nothing follows
    assert isinstance(recorded, IrregularityRuled)
    assert playing.table.rounds[0].result is None

"""Amounts: what one person may sell and redeem alone; no sale can make another player's ticket fail."""

from __future__ import annotations

from typing import Any

import pytest

from taisai.cage import AmountLimits, House
from taisai.cage import decide as cage
from taisai.cage.messages import (
    BringIn,
    CountDrop,
    HouseCommand,
    IssueTicket,
    LimitAmounts,
    RedeemTicket,
    SellTicket,
    SendFill,
    TicketRedeemed,
    TicketSold,
)
from taisai.game.checks import MOST_AT_ONCE
from taisai.game.commands import Assign, BuyCredits, TakeSeat
from taisai.game.refusals import Reason, Refusal
from taisai.game.vocabulary import FLOOR
from taisai.game.vocabulary import HOUSE as BY_THE_HOUSE
from taisai.rules import rulebook
from taisai.rules.settlement import GREATEST_SUM
from tests.game.houses import BY_ANN, BY_TABLE, BY_TWO, NOON, begun, but, done, name_of, refused
from tests.game.playing import RWS, TERMINAL, Playing

LIMITS = LimitAmounts(at=NOON, by=FLOOR, sale=1_000, redemption=500, fill=2_000)


def limited(limits: LimitAmounts = LIMITS) -> House:
    house = begun()
    done(house, limits)
    return house


def sale(amount: int, ticket: str = "t", **by: Any) -> SellTicket:
    return SellTicket(ticket=ticket, amount=amount, **(by or BY_ANN))


def test_one_person_sells_up_to_the_amount_and_two_above_it() -> None:
    house = limited()
    done(house, sale(1_000, "a"))
    assert refused(house, sale(1_001, "b")).reason is Reason.SECOND_PERSON
    for second in ("ann", "bob", "nobody", ""):
        assert refused(house, sale(1_001, "b", **BY_ANN, second=second)).reason is Reason.SECOND_PERSON
    (sold,) = done(house, sale(1_001, "b", **BY_TWO))
    assert isinstance(sold, TicketSold)
    assert sold.second == "sue"


def test_one_person_redeems_up_to_the_amount_and_two_above_it() -> None:
    house = limited()
    done(house, sale(500, "a"), sale(501, "b"))
    done(house, RedeemTicket(ticket="a", **BY_ANN))
    assert refused(house, RedeemTicket(ticket="b", **BY_ANN)).reason is Reason.SECOND_PERSON
    (redeemed,) = done(house, RedeemTicket(ticket="b", **BY_TWO))
    assert isinstance(redeemed, TicketRedeemed)
    assert (redeemed.amount, redeemed.second) == (501, "sue")


def test_a_retry_needs_no_second_person_again() -> None:
    house = limited()
    done(house, sale(1_001, "b", **BY_TWO), RedeemTicket(ticket="b", ask="r1", **BY_TWO))
    assert done(house, sale(1_001, "b"), RedeemTicket(ticket="b", ask="r1", **BY_ANN)) == ()


def test_a_second_person_who_is_named_without_need_is_checked_too() -> None:
    assert refused(limited(), sale(1, **BY_ANN, second="bob")).reason is Reason.SECOND_PERSON
    (sold,) = done(limited(), sale(1, **BY_TWO))
    assert isinstance(sold, TicketSold)
    assert sold.second == "sue"


def test_a_fill_is_never_larger_than_the_largest() -> None:
    house = limited()
    done(house, SendFill(transfer="t3", table="T7", amount=2_000, **BY_TWO))
    refusal = refused(house, SendFill(transfer="t4", table="T7", amount=2_001, **BY_TWO))
    assert (refusal.reason, refusal.clause) == (Reason.BEYOND_GREATEST_SUM, "house:amounts")
    assert refusal.message == "expected at most 2,000 at once, got 2,001"
    assert refusal.sums == (2_000, 2_001)


@pytest.mark.parametrize("command", [sale(1, **BY_TWO), BringIn(id="m9", amount=1, **BY_TWO)], ids=name_of)
def test_nothing_near_the_greatest_sum_moves_at_once(command: HouseCommand) -> None:
    house = limited()
    for amount in (MOST_AT_ONCE + 1, 9 * 10**15, GREATEST_SUM):
        refusal = refused(house, but(command, amount=amount))
        assert (refusal.reason, refusal.clause) == (Reason.BEYOND_GREATEST_SUM, "house:amounts"), amount
    done(house, but(command, amount=MOST_AT_ONCE))


def test_nobody_counts_a_drop_box_near_the_greatest_sum() -> None:
    box = CountDrop(transfer="t5", table="T7", declared=250, counted=240, **BY_TWO)
    for field in ("declared", "counted"):
        refusal = refused(limited(), but(box, **{field: MOST_AT_ONCE + 1}))
        assert (refusal.reason, refusal.clause) == (Reason.BEYOND_GREATEST_SUM, "house:amounts")
        done(limited(), but(box, **{field: MOST_AT_ONCE}))


def test_no_sale_can_make_another_players_ticket_fail() -> None:
    """The attack: sales up to the greatest sum left no room for the ticket of a player at a table."""
    house = limited(but(LIMITS, sale=MOST_AT_ONCE))
    sold = 0
    while not isinstance(cage.decide_house(house, sale(MOST_AT_ONCE, f"t{sold}")), Refusal):
        done(house, sale(MOST_AT_ONCE, f"t{sold}"))
        sold += 1
    refusal = refused(house, sale(MOST_AT_ONCE, f"t{sold}"))
    assert (refusal.reason, refusal.clause) == (Reason.BEYOND_GREATEST_SUM, "house:amounts")
    assert sold == 999  # and 10,000 of the owners' money
    wins = IssueTicket(transfer="won", table="T7", ticket="won", amount=7 * 10**15, **BY_TABLE)
    done(house, wins)


def test_limits_are_taken_once_and_only_from_the_server() -> None:
    house = limited()
    assert house.amounts == AmountLimits(1_000, 500, 2_000)
    assert done(house, LIMITS) == ()
    done(house, but(LIMITS, sale=7))
    assert refused(house, sale(8)).reason is Reason.SECOND_PERSON
    assert refused(house, but(LIMITS, by="max")).reason is Reason.NOT_PERMITTED
    for name in ("sale", "redemption", "fill"):
        for bad in (0, -1, MOST_AT_ONCE + 1, 1.0, True, "1", None):
            assert refused(house, but(LIMITS, **{name: bad})).reason is Reason.BAD_VALUE, (name, bad)
        done(house, but(LIMITS, **{name: MOST_AT_ONCE}))


def test_a_journal_of_before_decides_as_it_did() -> None:
    done(begun(), sale(GREATEST_SUM - 10_000))


def test_credits_for_cash_take_two_people_above_the_amount() -> None:
    playing = Playing(rulebook(RWS), {})
    for person, rank in {"pat": "pit-supervisor", "dan": "dealer"}.items():
        playing.do(Assign, BY_THE_HOUSE, person=person, rank=rank, position=rank)
    playing.do(TakeSeat, TERMINAL, seat="7", player="may", terminal=TERMINAL)
    buying: dict[str, Any] = {"seat": "7", "alone": 1_000}
    assert playing.tried(BuyCredits, "sue", **buying, amount=1_000) == "done"
    assert playing.refused(BuyCredits, "sue", **buying, amount=1_001) == "second-person house:amounts"
    for second in ("sue", "dan", "eve"):
        told = playing.refused(BuyCredits, "sue", **buying, amount=1_001, second=second)
        assert told == "second-person house:amounts"
    for amount in (MOST_AT_ONCE + 1, 9 * 10**15, GREATEST_SUM):
        told = playing.refused(BuyCredits, "sue", **buying, amount=amount, second="pat")
        assert told == "beyond-greatest-sum house:amounts"
    (bought,) = playing.do(BuyCredits, "sue", **buying, amount=1_001, second="pat")
    assert getattr(bought, "second", None) == "pat"
    assert playing.tried(BuyCredits, "sue", seat="7", amount=9 * 10**14) == "done"  # as journals of before


def test_sabotage_a_cage_that_looks_at_no_amount_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cage, "_amounts", lambda *_: iter(()))
    for check in (
        test_one_person_sells_up_to_the_amount_and_two_above_it,
        test_one_person_redeems_up_to_the_amount_and_two_above_it,
        test_a_fill_is_never_larger_than_the_largest,
    ):
        with pytest.raises(AssertionError):
            check()


def test_sabotage_a_cage_that_keeps_no_room_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cage, "MOST_HELD", 8 * 10**15)
    with pytest.raises(AssertionError):
        test_no_sale_can_make_another_players_ticket_fail()

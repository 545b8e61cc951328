"""3 Card Sic Bo at Marina Bay Sands, played: the shoe, chips, limits, people, referrals, clause by clause."""

from __future__ import annotations

from typing import Any, Final

import pytest

from taisai.game.commands import (
    Assign,
    BuyColour,
    CashColour,
    CountCards,
    DecideReferral,
    Limits,
    LoadShoe,
    Perform,
    PlaceItem,
    RecordBets,
    RemoveItem,
    RepairItem,
    ReportIrregularity,
    ShuffleShoe,
    Slip,
)
from taisai.game.events import (
    CardsCounted,
    ColourBought,
    ItemPlaced,
    LosersCollected,
    PersonAssigned,
    ReferralDecided,
    Referred,
    ReportHeld,
    RoundSettled,
    ShoeLoaded,
    WinnersPaid,
)
from taisai.game.money.ledger import Account
from taisai.game.vocabulary import HOUSE, Means, Treatment
from taisai.rules import Rulebook, rulebook
from tests.game.items import is_needed
from tests.game.playing import FILL, LIMITS, OTHER_FACES, SEAT, Playing, at, course, opened, standing
from tests.game.single_event import only

IN_HAND: Final = ("open", "closed", "revealed", "entered", "settled")
OUTSIDE: Final = "house:outside-the-rules"
OF_EACH: Final = 32
"""Cards of each face in four decks."""
REASON: Final = "seen on camera"


@pytest.fixture(scope="module")
def book() -> Rulebook:
    return rulebook("mbs-3-card-sic-bo")


def shoe_of(book: Rulebook, decks: int, **settings: str) -> Playing:
    """A table with so many decks, shuffled."""
    playing = opened(book, limits=LIMITS, offers=None, **settings)
    playing.do(LoadShoe, "dan", decks=decks)
    playing.do(ShuffleShoe, "dan")
    return playing


def round_dealt(playing: Playing) -> None:
    """One round without bets, and no shuffle after it; the faces go round, as no deck has enough of one."""
    number = len(playing.table.rounds)
    for act, _ in course(playing.book.id, {}):
        shown = {"faces": (1, 2, 3) if number % 2 else (4, 5, 6)} if act == "enter-result" else {}
        playing.act(act, **shown)


# The shoe


def test_three_card_2_1_two_to_six_decks_and_no_other_number(book: Rulebook) -> None:
    playing = standing(book, "between")
    for decks in (0, 1, 7, -2):
        assert playing.refused(LoadShoe, "dan", decks=decks) == "bad-value 2.1"
    for decks in (2, 3, 4, 5, 6):
        loaded = only(ShoeLoaded, playing.fork().do(LoadShoe, "dan", decks=decks))
        assert loaded.clause == "2.1"
    assert standing(book, "open").refused(LoadShoe, "dan", decks=4) == "under-live-bets house:shoe"


def test_three_card_2_2_eight_cards_of_each_face_in_a_deck(book: Rulebook) -> None:
    for decks in (2, 4, 6):
        playing = shoe_of(book, decks)
        assert playing.table.shoe.left == 48 * decks
        counted = only(CardsCounted, playing.do(CountCards, "dan", found=(8 * decks,) * 6))
        assert counted.clause == "house:shoe"


def test_three_card_5_3_a_card_short_or_in_excess_voids_the_round(book: Rulebook) -> None:
    for phase in IN_HAND:
        for found in ((OF_EACH - 1, *(OF_EACH,) * 5), (*(OF_EACH,) * 5, OF_EACH + 1)):
            playing = at(book, phase)
            playing.do(CountCards, "dan", found=found, second="pat")
            assert playing.table.rounds[0].voided
            assert playing.balance(Account.CHIPS) == FILL
            assert playing.refused(ShuffleShoe, "dan") == "unmet-need house:shoe"


def test_three_card_5_3_whether_earlier_rounds_stand_is_referred(book: Rulebook) -> None:
    playing = at(book, "between")
    playing.do(CountCards, "dan", found=(OF_EACH + 1, *(OF_EACH,) * 5))
    referral = only(Referred, playing.log)
    assert (referral.to, referral.outside, referral.holds) == ("shift-manager", True, False)
    assert not playing.table.rounds[0].voided
    assert playing.act_refused("open-bets") == "unmet-need house:shoe"
    assert playing.refused(RepairItem, "pat", item="cards") == "ruled-out house:equipment"
    playing.do(LoadShoe, "dan", decks=4)
    playing.do(ShuffleShoe, "dan")
    playing.act("open-bets")


def test_three_card_5_3_a_wrong_count_in_a_round_voids_it_and_refers_those_before(book: Rulebook) -> None:
    playing = at(book, "between").to("closed")
    playing.do(CountCards, "dan", found=(OF_EACH - 1, *(OF_EACH,) * 5), second="pat")
    assert [one.voided for one in playing.table.rounds] == [False, True]
    referral = only(Referred, playing.log)
    assert (referral.clause, referral.to, referral.outside) == (OUTSIDE, "shift-manager", True)
    void = deciding(Treatment.VOID_ROUNDS, round=1)
    playing.do(DecideReferral, "sue", **void, second="pat")
    assert playing.table.rounds[0].voided


def test_three_card_5_2_1_after_a_foreign_card_other_decks(book: Rulebook) -> None:
    playing = at(book, "revealed")
    playing.do(ReportIrregularity, "dan", **playing.reporting("foreign-card"))
    assert playing.refused(ShuffleShoe, "dan") == "unmet-need house:shoe"
    assert playing.act_refused("open-bets") == "unmet-need house:shoe"
    playing.do(LoadShoe, "dan", decks=2)
    playing.do(ShuffleShoe, "dan")
    playing.act("open-bets")


def test_three_card_2_1_no_round_from_decks_that_were_never_shuffled(book: Rulebook) -> None:
    playing = opened(book)
    playing.do(LoadShoe, "dan", decks=2)
    assert playing.act_refused("open-bets") == "unmet-need house:shoe"  # not shuffled
    playing.do(ShuffleShoe, "dan")
    playing.act("open-bets")


def test_three_card_5_4_a_shoe_is_dealt_to_its_last_three_cards(book: Rulebook) -> None:
    playing = shoe_of(book, 2, shuffle="penetration", penetration="100", burn="1")
    dealt = 0
    while playing.table.shoe.left >= 3:
        round_dealt(playing)
        dealt += 1
    assert (dealt, playing.table.shoe.left) == (31, 2)
    assert playing.act_refused("open-bets") == "unmet-need 5.4"
    playing.do(ShuffleShoe, "dan")
    assert playing.table.shoe.left == 95
    playing.act("open-bets")


def test_three_card_2_1_shuffled_before_every_round_unless_set_otherwise(book: Rulebook) -> None:
    playing = shoe_of(book, 4)
    round_dealt(playing)
    assert playing.act_refused("open-bets") == "unmet-need house:shoe"
    assert playing.refused(ShuffleShoe, "eve") == "unknown-person house:people"
    playing.do(ShuffleShoe, "dan")
    playing.act("open-bets")
    assert playing.refused(ShuffleShoe, "dan") == "under-live-bets house:shoe"


def test_three_card_2_1_shuffled_at_the_penetration_that_was_set(book: Rulebook) -> None:
    playing = shoe_of(book, 2, shuffle="penetration", penetration="10")
    for _ in range(4):  # 3 of 96 cards a round: 9 are less than a tenth, 12 more
        round_dealt(playing)
    assert playing.act_refused("open-bets") == "unmet-need house:shoe"
    playing.do(ShuffleShoe, "dan")
    for _ in range(4):
        round_dealt(playing)


def test_three_card_2_1_cards_are_burnt_after_a_shuffle(book: Rulebook) -> None:
    playing = shoe_of(book, 2, burn="20")
    assert (playing.table.shoe.left, playing.table.shoe.burnt) == (76, 20)


def test_three_card_2_1_dealt_cards_leave_the_shoe_or_go_back_as_set(book: Rulebook) -> None:
    for discard, left in (("rack", (95 - 3, 95 - 6)), ("shoe", (95, 95))):
        playing = shoe_of(book, 2, shuffle="penetration", penetration="50", burn="1", discard=discard)
        for expected in left:
            round_dealt(playing)
            assert playing.table.shoe.left == expected


def needed(book: Rulebook, item: str, clause: str) -> None:
    otherwise = {"shuffle": "penetration", "discard": "shoe", "higher_may_act": "no", "burn": "1"}
    is_needed(book, item, clause, means="3.4", under=({}, otherwise))


def test_three_card_2_2_no_round_without_cards(book: Rulebook) -> None:
    playing = at(book, "between")
    playing.do(RemoveItem, "dan", item="cards")
    assert playing.act_refused("open-bets") == "unmet-need house:shoe"
    placed = only(ItemPlaced, playing.do(PlaceItem, "dan", item="cards", serial="2"))
    assert (placed.clause, placed.custodian) == ("2.2", None)
    assert playing.act_refused("open-bets") == "unmet-need house:shoe"
    playing.do(LoadShoe, "dan", decks=2)
    playing.do(ShuffleShoe, "dan")
    playing.act("open-bets")


def test_three_card_2_2_no_result_that_the_decks_cannot_show(book: Rulebook) -> None:
    playing = shoe_of(book, 2, shuffle="penetration", penetration="100")
    for _ in range(5):  # sixteen ones in two decks: fifteen are out
        for act, _to in course(playing.book.id, {}):
            playing.act(act, **({"faces": (1, 1, 1)} if act == "enter-result" else {}))
    for act in ("open-bets", "close-bets", "deal-cards"):
        playing.act(act)
    assert playing.act_refused("enter-result", faces=(1, 1, 2)) == "bad-value 2.1"
    playing.act("enter-result", faces=(1, 2, 2))


def test_three_card_5_4_no_round_without_a_shoe(book: Rulebook) -> None:
    needed(book, "shoe", "5.4")


def test_three_card_1_1_1_no_round_without_colour_chips(book: Rulebook) -> None:
    needed(book, "colour-chips", "1.1.1")


def test_three_card_3_4_no_round_without_cash_chips(book: Rulebook) -> None:
    needed(book, "cash-chips", "3.4")


# Chips, limits and what is paid


def record(playing: Playing, means: str, area: str, stake: int, name: str = "x") -> dict[str, Any]:
    bets = (Slip(name, area, stake),)
    return {"round": playing.number, "seat": SEAT, "means": Means(means), "bets": bets}


def to_settlement(playing: Playing, *faces: int) -> tuple[int, int, int, int]:
    for act in ("close-bets", "deal-cards"):
        playing.act(act)
    playing.act("enter-result", faces=faces)
    event = only(RoundSettled, playing.act("settle"))
    return event.staked, event.collected, event.won, event.stakes_back


def buying(**fields: Any) -> dict[str, Any]:
    usual = {"seat": SEAT, "colour": "red", "value": 500, "pieces": 10, "paid_with": Means.CASH}
    return usual | fields


def test_three_card_1_1_1_colour_chips_have_the_value_set_at_purchase(book: Rulebook) -> None:
    playing = opened(book)
    assert playing.refused(BuyColour, "dan", **buying()) == "unmet-need 1.1.1"
    bought = only(ColourBought, playing.do(BuyColour, "dan", **buying(marker=500)))
    assert bought.clause == "1.1.1"
    playing.act("open-bets")
    playing.do(RecordBets, "dan", **record(playing, "colour-chips", "total-6", 2))
    assert to_settlement(playing, 1, 2, 3) == (1_000, 0, 18_000, 1_000)
    playing.act("collect-and-pay")
    playing.do(CashColour, "dan", seat=SEAT, pieces=46)
    assert playing.entries() == [("chips", -23_000, "1.1.1"), ("credits", -23_000, "1.1.1")]


def test_three_card_3_4_cash_chips_or_colour_chips_or_both_and_nothing_else(book: Rulebook) -> None:
    playing = at(book, "open")
    playing.do(BuyColour, "dan", **buying(value=100))
    playing.do(RecordBets, "dan", **record(playing, "colour-chips", "odd", 3, "red"))
    playing.do(RecordBets, "dan", **record(playing, "cash-chips", "odd", 300, "cash"))
    for means in ("plaques", "cash"):
        assert playing.refused(RecordBets, "dan", **record(playing, means, "odd", 100)) == "wrong-means 3.4"
    bought = record(playing, "credits", "odd", 100)
    assert playing.refused(RecordBets, "dan", **bought) == "wrong-means house:terminals"


def test_three_card_limits_are_kept_at_entry_by_the_house(book: Rulebook) -> None:
    playing = opened(book, limits=Limits(least=100, most=1_000))
    playing.act("open-bets")
    assert playing.bet_refused(odd=99) == "under-minimum house:limits"
    assert playing.bet_refused(odd=1_001) == "over-maximum house:limits"
    playing.bet(odd=600)
    more = record(playing, "cash-chips", "odd", 401, "more")
    assert playing.refused(RecordBets, "dan", **more) == "over-maximum house:limits"
    playing.bet(even=100, big=1_000)


def test_three_card_3_6_nothing_but_the_nineteen_areas(book: Rulebook) -> None:
    playing = standing(book, "open")
    for area in ("triple_1", "double_1", "single_1", "pair_12", "total_3", "total_18", "four_1234"):
        assert playing.bet_refused(**{area: 100}) == "not-on-layout Diagram A"


def test_three_card_4_1_what_a_chip_on_every_area_comes_to(book: Rulebook) -> None:
    paid = {
        (1, 2, 3): (1 + 1 + 18, 3),  # small, even, total 6
        (2, 2, 2): (31 + 18, 2),  # any triple, total 6
        (5, 5, 6): (1 + 1 + 31, 3),  # big, even, total 16
        (6, 6, 6): (31, 1),
    }
    for faces, (won, winners) in paid.items():
        playing = opened(book)
        areas = playing.table.terms["A"].rows
        assert len(areas) == 19
        playing.act("open-bets")
        playing.bet(**{area.replace("-", "_"): 100 for area in areas})
        came_to = (1_900, 1_900 - 100 * winners, 100 * won, 100 * winners)
        assert to_settlement(playing, *faces) == came_to


def test_three_card_1_1_2_paid_out_of_the_tray(book: Rulebook) -> None:
    playing = at(book, "settled")
    made = playing.act("collect-and-pay")
    assert (only(LosersCollected, made).clause, only(WinnersPaid, made).clause) == ("1.1.2", "1.1.2")
    assert playing.entries() == [("chips", -2_000, "1.1.2"), ("payable", -2_000, "1.1.2")]


# People and referrals


def round_by(playing: Playing, person: str) -> None:
    for act, _ in course(playing.book.id, {}):
        playing.do(Perform, person, **playing.performing(act)[1])


def test_three_card_higher_ranks_deal_unless_the_house_set_otherwise(book: Rulebook) -> None:
    for person in ("dan", "pat", "mia", "sue"):
        round_by(at(book, "between"), person)
    strict = at(book, "between", higher_may_act="no")
    for person in ("pat", "mia", "sue"):
        fields = strict.performing("open-bets")[1]
        assert strict.refused(Perform, person, **fields) == "not-permitted 3.1"
    round_by(strict, "dan")


def test_three_card_3_1_the_dealer_is_the_one_position_of_the_document(book: Rulebook) -> None:
    playing = at(book, "between")
    for position in ("dealer", "pit-supervisor", "pit-manager", "shift-manager"):
        assigned = only(
            PersonAssigned,
            playing.do(Assign, HOUSE, person=f"new-{position}", rank=position, position=position),
        )
        assert assigned.clause == ("3.1" if position == "dealer" else OUTSIDE)


def test_three_card_dual_control_takes_a_pit_supervisor_or_above(book: Rulebook) -> None:
    playing = standing(book, "settled")
    wrong = playing.reporting("wrong-result")
    *_, held = playing.ask(ReportIrregularity, "dan", **wrong | {"second": None})
    assert isinstance(held, ReportHeld)
    for by, second in (("pat", "dan"), ("dan", "eve"), ("pat", "pat")):
        *_, held = playing.ask(ReportIrregularity, by, **wrong | {"second": second})
        assert isinstance(held, ReportHeld)
    for by, second in (("dan", "pat"), ("dan", "mia"), ("dan", "sue"), ("pat", "mia")):
        playing.fork().do(ReportIrregularity, by, **wrong | {"second": second})


def test_three_card_nobody_bets_for_a_player(book: Rulebook) -> None:
    playing = standing(book, "open")
    asked = record(playing, "cash-chips", "odd", 100) | {"at_request": True}
    for person in ("dan", "pat", "mia", "sue"):
        assert playing.refused(RecordBets, person, **asked) == f"not-permitted {OUTSIDE}"


def referred(book: Rulebook, phase: str) -> Playing:
    playing = at(book, phase)
    playing.do(ReportIrregularity, "dan", **playing.reporting("other"))
    return playing


def deciding(treatment: Treatment, **fields: Any) -> dict[str, Any]:
    return {"referral": "r1", "treatment": treatment, "reason": REASON} | fields


def test_three_card_the_round_waits_for_the_shift_manager_alone(book: Rulebook) -> None:
    for phase in IN_HAND:
        playing = referred(book, phase)
        for act, _ in course(book.id, {}):
            assert playing.act_refused(act) == f"on-hold {OUTSIDE}"
        for person in ("dan", "pat", "mia"):
            refused = playing.refused(DecideReferral, person, **deciding(Treatment.CONTINUE))
            assert refused == f"not-permitted {OUTSIDE}"
        decided = only(ReferralDecided, playing.do(DecideReferral, "sue", **deciding(Treatment.CONTINUE)))
        assert decided.clause == OUTSIDE
        assert (playing.table.held, playing.table.phase) == (None, phase)


def test_three_card_what_the_shift_manager_decides_is_done(book: Rulebook) -> None:
    void = referred(book, "closed")
    void.do(DecideReferral, "sue", **deciding(Treatment.VOID))
    assert void.balance(Account.CHIPS) == FILL
    again = referred(book, "closed")
    again.do(DecideReferral, "sue", **deciding(Treatment.RE_OPEN))
    assert (again.table.phase, again.table.seats[SEAT].at_risk) == ("open", 1_400)
    shut = referred(book, "open")
    shut.do(DecideReferral, "sue", **deciding(Treatment.SHUT))
    assert shut.act_refused("open-bets") == "table-shut house:outside-the-rules"
    by_cards = referred(book, "entered")
    as_shown = deciding(Treatment.SETTLE_BY_OUTCOME, faces=OTHER_FACES)
    by_cards.do(DecideReferral, "sue", **as_shown, second="pat")
    by_cards.act("settle")
    assert by_cards.balance(Account.HOUSE_WON) == 1_000
    treated = referred(book, "revealed")
    back = deciding(Treatment.TREAT_BETS, bets={"1-small": None})
    treated.do(DecideReferral, "sue", **back, second="pat")
    assert treated.table.seats[SEAT].at_risk == 400
    past = referred(book, "between")
    voided = deciding(Treatment.VOID_ROUNDS, round=1)
    assert past.refused(DecideReferral, "sue", **voided) == "second-person house:dual-control"
    past.do(DecideReferral, "sue", **voided, second="pat")
    assert past.table.rounds[0].voided

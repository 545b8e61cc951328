"""The equipment of sic bo under the American rules, played clause by clause: dice, shakers, inspections."""

from __future__ import annotations

from typing import Any, Final

import pytest

from taisai.game.commands import (
    Assign,
    BeginShift,
    Inspect,
    Leave,
    Perform,
    PlaceItem,
    RemoveItem,
    RepairItem,
    ReportIrregularity,
)
from taisai.game.equipment.items import HOUR
from taisai.game.events import ItemFailed, ItemInspected, ItemPlaced, Referred
from taisai.game.vocabulary import HOUSE
from taisai.rules import Act, Irregularity, Outcome, Rulebook, rulebook
from taisai.rules.equipment import InspectedBefore
from tests.game.playing import FACES, US, Playing, at, phases, standing

AUTOMATED: Final = "automated"


@pytest.fixture(scope="module")
def book() -> Rulebook:
    return rulebook(US)


def bare(book: Rulebook, **settings: str) -> Playing:
    """A table with its people and nothing inspected."""
    return Playing(book, settings).staff()


def tried_out(playing: Playing, person: str = "flo", **fields: Any) -> str:
    """What becomes of an inspection of the electrical device."""
    lit = tuple(playing.table.terms["A"].matrix.illuminated(Outcome.of(*FACES)))
    trial = {"item": "electrical-device", "runs": 1, "passed": True, "entered": FACES, "lit": lit}
    return playing.tried(Inspect, person, **trial | fields)


# Dice


def test_us_1_no_round_opens_without_dice_or_with_dice_past_24_hours(book: Rulebook) -> None:
    playing = bare(book)
    playing.inspect()
    assert playing.act_refused("open-bets") == "unmet-need 1"
    (placed,) = playing.do(PlaceItem, "dan", item="dice", serial="D-1")
    assert isinstance(placed, ItemPlaced)
    assert (placed.clause, placed.custodian) == ("1", "dan")
    playing.now = placed.at + 24 * HOUR
    assert playing.tried(Perform, "dan", act=Act.OPEN_BETS) == "done"
    playing.now += 1
    assert playing.act_refused("open-bets") == "unmet-need 1"
    playing.do(RemoveItem, "dan", item="dice")
    playing.do(PlaceItem, "dan", item="dice", serial="D-2")
    assert playing.act("open-bets")


def test_us_1_dice_past_24_hours_stay_out_under_the_automated_shaker_too(book: Rulebook) -> None:
    playing = at(book, "between", shaker=AUTOMATED)
    playing.now += 25 * HOUR
    assert playing.act_refused("open-bets") == "unmet-need 1"


def test_us_1_the_age_of_the_dice_is_asked_at_every_shake(book: Rulebook) -> None:
    advice = {
        "closed": "“Remove from the table”",
        "closed-tumbled": "“The dice are on the table for too long”",
    }
    for phase, act in advice.items():
        playing = at(book, phase)
        placed = playing.table.equipment.placed["dice"].since
        playing.now = placed + 24 * HOUR
        assert playing.tried(Perform, "dan", act=Act.TUMBLE, tumbles=1) == "done"
        playing.now += 1
        assert playing.act_refused("tumble") == "unmet-need 1"
        assert act in str(playing.ask(Perform, "dan", act=Act.TUMBLE, tumbles=1))
    automated = at(book, "closed", shaker=AUTOMATED)
    automated.now += 25 * HOUR
    assert automated.act_refused("activate-shaker") == "unmet-need 1"


def test_us_1_dice_too_old_are_replaced_before_the_shake_with_the_round_in_hand(book: Rulebook) -> None:
    swap = {"item": "dice", "serial": "D-2"}
    for phase in ("open", "closed"):
        playing = at(book, phase)
        playing.now += 25 * HOUR
        playing.do(RemoveItem, "dan", item="dice")
        assert phase == "open" or playing.act_refused("tumble") == "unmet-need 1"
        playing.do(PlaceItem, "dan", **swap)
        if phase == "open":
            playing.act("close-bets")
        playing.act("tumble")
        assert playing.table.phase == "closed-tumbled"
    for phase in ("closed-tumbled", "revealed", "entered", "settled", "collected", "paid"):
        shaken = standing(book, phase)
        assert shaken.refused(RemoveItem, "dan", item="dice") == "under-live-bets house:equipment"
        assert shaken.refused(PlaceItem, "dan", **swap) == "under-live-bets house:equipment"


def test_us_1_dice_too_old_found_past_the_shake_hold_the_round_and_earlier_ones_stand(book: Rulebook) -> None:
    playing = at(book, "between").to("closed-tumbled")
    playing.now += 25 * HOUR
    *_, referred = playing.do(ReportIrregularity, "dan", event=Irregularity.DICE_OVER_AGE, round=2)
    assert isinstance(referred, Referred)
    assert (referred.to, referred.holds, referred.outside) == ("casino-supervisor", True, True)
    assert playing.act_refused("uncover") == "on-hold house:outside-the-rules"
    first = playing.table.past(1)
    assert first is not None
    assert not first.voided


def test_us_1_the_last_dealer_stays_until_the_dice_are_handed_over_or_gone(book: Rulebook) -> None:
    playing = at(book, "between")
    for by in ("dan", "sue", HOUSE):
        assert playing.refused(Leave, by, person="dan") == "unmet-need 1"
    assert (
        playing.refused(Assign, "sue", person="dan", rank="dealer", position="floorperson") == "unmet-need 1"
    )
    handed_over = playing.fork()
    handed_over.do(Assign, "sue", person="ivy", rank="dealer", position="dealer")
    assert set(handed_over.table.people) == {"ivy", "flo", "sue", "sal"}
    assert handed_over.refused(Leave, "ivy", person="ivy") == "unmet-need 1"
    playing.do(RemoveItem, "dan", item="dice")
    playing.do(Leave, "dan", person="dan")
    assert "dan" not in playing.table.people


def test_us_1_dice_and_shaker_are_in_the_dealers_charge(book: Rulebook) -> None:
    strict = bare(book)
    for person in ("flo", "sue"):
        assert strict.refused(PlaceItem, person, item="dice") == "not-permitted 1"
    playing = at(book, "open")
    assert playing.table.equipment.placed["dice"].custodian == "dan"
    playing.do(Assign, "sue", person="ivy", rank="dealer", position="dealer")
    assert playing.table.equipment.placed["dice"].custodian == "ivy"


# Inspections


def test_us_5_a_nothing_opens_before_the_floorperson_has_inspected(book: Rulebook) -> None:
    playing = bare(book)
    playing.do(PlaceItem, "dan", item="dice")
    assert playing.act_refused("open-bets") == "unmet-need 5(a)(1)"
    automated = bare(book, shaker=AUTOMATED)
    automated.do(PlaceItem, "dan", item="dice")
    assert automated.act_refused("open-bets") == "unmet-need 5(a)(1)"
    (assigned,) = playing.do(Assign, "sue", person="fay", rank="floorperson", position="floorperson")
    assert assigned.clause == "5(a)"
    for table in (playing, bare(book, higher_may_act="yes")):
        assert tried_out(table, "dan").startswith("not-permitted")


def test_us_5_a_an_item_repaired_or_brought_again_is_inspected_again(book: Rulebook) -> None:
    playing = at(book, "between")
    playing.do(RemoveItem, "dan", item="electrical-device")
    playing.do(PlaceItem, "dan", item="electrical-device")
    assert playing.act_refused("open-bets") == "unmet-need 5(a)(1)"
    playing.inspect()
    assert playing.act("open-bets")


def test_us_5_a_1_the_device_is_tried_with_three_numbers_and_every_winning_area_lights(
    book: Rulebook,
) -> None:
    playing = bare(book)
    assert tried_out(playing) == "done"
    for person in ("dan", "sue"):
        assert tried_out(playing, person) == "not-permitted 5(a)(1)"
    loose = bare(book, higher_may_act="yes")
    assert (tried_out(loose, "sue"), tried_out(loose, "dan")) == ("done", "not-permitted 5(a)(1)")
    assert tried_out(playing, runs=0) == "unmet-need 5(a)(1)"
    assert tried_out(playing, entered=()) == "unmet-need 5(a)(1)"
    assert tried_out(playing, entered=(1, 2)) == "bad-value 5(a)(1)"


def test_us_5_a_1_a_lamp_too_few_or_too_many_fails_the_device(book: Rulebook) -> None:
    right = tuple(bare(book).table.terms["A"].matrix.illuminated(Outcome.of(*FACES)))
    for lit in (right[1:], (*right, "triple-6"), ()):
        playing = bare(book)
        trial = {"item": "electrical-device", "runs": 1, "passed": True, "entered": FACES, "lit": lit}
        inspected, failed = playing.do(Inspect, "flo", **trial)
        assert isinstance(inspected, ItemInspected)
        assert isinstance(failed, ItemFailed)
        assert (inspected.passed, inspected.clause, failed.clause) == (False, "5(a)(1)", "5(a)(1)")
        playing.do(PlaceItem, "dan", item="dice")
        assert playing.act_refused("open-bets") == "unmet-need 5(a)(1)"
        playing.do(RepairItem, "sue", item="electrical-device")
        playing.inspect()
        assert playing.act("open-bets")


def test_us_5_a_2_the_automated_shaker_is_run_three_times_before_opening(book: Rulebook) -> None:
    playing = bare(book, shaker=AUTOMATED)
    runs: dict[str, Any] = {"item": "automated-shaker", "passed": True}
    assert playing.refused(Inspect, "flo", runs=2, **runs) == "unmet-need 5(a)(2)"
    assert playing.refused(Inspect, "dan", runs=3, **runs) == "not-permitted 5(a)(2)"
    playing.do(PlaceItem, "dan", item="dice")
    lit = tuple(playing.table.terms["A"].matrix.illuminated(Outcome.of(*FACES)))
    playing.do(Inspect, "flo", item="electrical-device", runs=1, passed=True, entered=FACES, lit=lit)
    playing.do(Inspect, "sue", runs=3, **runs)
    assert playing.act_refused("open-bets") == "unmet-need 5(a)(2)"
    (inspected,) = playing.do(Inspect, "flo", runs=3, **runs)
    assert inspected.clause == "5(a)(2)"
    assert playing.act("open-bets")
    # A rank above the floorperson may do it for them only where that is set.
    stands_in = {"runs": 3, "before": InspectedBefore.OPENING}
    assert playing.refused(Inspect, "sue", **runs | stands_in) == "not-permitted 5(a)(2)"
    loose = bare(book, shaker=AUTOMATED, higher_may_act="yes")
    assert loose.tried(Inspect, "sue", **runs | stands_in) == "done"
    # With the manual shaker there is none to inspect.
    assert bare(book).refused(Inspect, "flo", runs=3, **runs) == "bad-value house:equipment"


def test_us_5_a_2_a_shaker_that_fails_its_trial_opens_no_round(book: Rulebook) -> None:
    playing = at(book, "between", shaker=AUTOMATED)
    playing.do(Inspect, "flo", item="automated-shaker", runs=3, passed=False)
    assert playing.act_refused("open-bets") == "unmet-need 5(a)(2)"


def test_us_5_b_each_shift_the_casino_supervisor_runs_the_automated_shaker_again(book: Rulebook) -> None:
    playing = at(book, "between", shaker=AUTOMATED)
    playing.do(BeginShift, "sue", shift="night")
    assert playing.act_refused("open-bets") == "unmet-need 5(b)"
    runs: dict[str, Any] = {"item": "automated-shaker", "passed": True}
    playing.do(Inspect, "flo", runs=3, **runs)
    assert playing.act_refused("open-bets") == "unmet-need 5(b)"
    assert playing.refused(Inspect, "sue", runs=2, **runs) == "unmet-need 5(b)"
    his_alone = {"runs": 3, "before": InspectedBefore.SHIFT}
    for person in ("dan", "flo"):
        assert playing.refused(Inspect, person, **runs | his_alone).startswith("not-permitted")
        loose = at(book, "between", shaker=AUTOMATED, higher_may_act="yes")
        assert loose.refused(Inspect, person, **runs | his_alone).startswith("not-permitted")
    (inspected,) = playing.do(Inspect, "sal", runs=3, **runs)
    assert inspected.clause == "5(b)"
    assert playing.act("open-bets")
    arrival = {"person": "sid", "rank": "casino-supervisor", "position": "casino-supervisor"}
    (assigned,) = playing.do(Assign, HOUSE, **arrival)
    assert assigned.clause == "5(b)"


def test_us_5_b_the_supervisor_inspects_as_well_and_nobody_does_both(book: Rulebook) -> None:
    playing = bare(book, shaker=AUTOMATED)
    playing.do(PlaceItem, "dan", item="dice")
    lit = tuple(playing.table.terms["A"].matrix.illuminated(Outcome.of(*FACES)))
    device = {"item": "electrical-device", "runs": 1, "passed": True, "entered": FACES, "lit": lit}
    shaker = {"item": "automated-shaker", "runs": 3, "passed": True}
    assert playing.refused(Inspect, "sue", **device) == "not-permitted 5(a)(1)"
    playing.do(Inspect, "flo", **device)
    (second,) = playing.do(Inspect, "sue", **shaker)
    assert second.clause == "5(b)"
    assert playing.act_refused("open-bets") == "unmet-need 5(a)(2)"
    (first,) = playing.do(Inspect, "flo", **shaker)
    assert first.clause == "5(a)(2)"
    assert playing.act("open-bets")


def test_us_5_b_one_inspection_never_counts_for_both_also_where_a_higher_rank_may_act(
    book: Rulebook,
) -> None:
    shaker: dict[str, Any] = {"item": "automated-shaker", "passed": True}
    lit = tuple(bare(book).table.terms["A"].matrix.illuminated(Outcome.of(*FACES)))
    device: dict[str, Any] = {
        "item": "electrical-device",
        "runs": 1,
        "passed": True,
        "entered": FACES,
        "lit": lit,
    }
    for first, missing in ((InspectedBefore.OPENING, "5(b)"), (InspectedBefore.SHIFT, "5(a)(2)")):
        loose = bare(book, shaker=AUTOMATED, higher_may_act="yes")
        loose.do(PlaceItem, "dan", item="dice")
        loose.do(Inspect, "sue", **device)
        loose.do(Inspect, "sue", **shaker, runs=6, before=first)
        assert loose.act_refused("open-bets") == f"unmet-need {missing}"
        other = next(before for before in InspectedBefore if before is not first)
        assert loose.refused(Inspect, "sue", **shaker, runs=2, before=other) == f"unmet-need {missing}"
        loose.do(Inspect, "sue", **shaker, runs=3, before=other)
        assert loose.act("open-bets")


def test_us_5_b_no_shift_begins_with_a_round_in_hand(book: Rulebook) -> None:
    for phase in phases(US)[1:]:
        refused = standing(book, phase).refused(BeginShift, "sue", shift="night")
        assert refused == "under-live-bets house:day"


def test_us_5_b_a_shift_with_the_manual_shaker_begins_without_a_trial(book: Rulebook) -> None:
    playing = at(book, "between")
    playing.do(BeginShift, "sue", shift="night")
    assert playing.act("open-bets")


def test_us_5_d_1_the_manual_shaker_lies_on_a_table_that_is_played_with_it(book: Rulebook) -> None:
    playing = at(book, "between")
    assert set(playing.table.equipment.placed) == {"electrical-device", "manual-shaker", "dice", "chips"}
    playing.do(RemoveItem, "dan", item="manual-shaker")
    assert playing.act_refused("open-bets") == "unmet-need house:equipment"
    (placed,) = playing.do(PlaceItem, "dan", item="manual-shaker")
    assert isinstance(placed, ItemPlaced)
    assert (placed.clause, placed.custodian) == ("5(d)(1)", None)


def test_us_5_d_2_the_automated_shaker_lies_on_a_table_that_is_played_with_it(book: Rulebook) -> None:
    playing = at(book, "between", shaker=AUTOMATED)
    assert set(playing.table.equipment.placed) == {"electrical-device", "automated-shaker", "dice", "chips"}
    playing.do(RemoveItem, "dan", item="automated-shaker")
    (placed,) = playing.do(PlaceItem, "dan", item="automated-shaker")
    assert isinstance(placed, ItemPlaced)
    assert (placed.clause, placed.custodian) == ("5(d)(2)", None)


def test_us_5_e_the_electrical_device_lies_on_every_table(book: Rulebook) -> None:
    playing = at(book, "between")
    playing.do(RemoveItem, "dan", item="electrical-device")
    (placed,) = playing.do(PlaceItem, "dan", item="electrical-device")
    assert isinstance(placed, ItemPlaced)
    assert (placed.clause, placed.custodian) == ("5(e)", None)


def test_us_3_a_chips_are_on_the_table(book: Rulebook) -> None:
    playing = at(book, "between")
    playing.do(RemoveItem, "dan", item="chips")
    assert playing.act_refused("open-bets") == "unmet-need house:equipment"
    (placed,) = playing.do(PlaceItem, "dan", item="chips")
    assert isinstance(placed, ItemPlaced)
    assert (placed.clause, placed.custodian) == ("3(a)", None)


# Two shakers


def test_us_6_d_the_automated_shaker_leaves_before_the_manual_one_comes(book: Rulebook) -> None:
    for phase in phases(US):
        if phase != "closed-tumbled":
            automated = standing(book, phase, shaker=AUTOMATED)
            assert automated.refused(PlaceItem, "dan", item="manual-shaker") == "ruled-out 6(d)"
        manual = standing(book, phase)
        assert manual.refused(PlaceItem, "dan", item="automated-shaker") == "ruled-out 6(d)"
    playing = at(book, "between", shaker=AUTOMATED)
    playing.do(RemoveItem, "dan", item="automated-shaker")
    playing.do(PlaceItem, "dan", item="manual-shaker")
    playing.act("open-bets")
    playing.act("close-bets")
    assert playing.act_refused("activate-shaker") == "out-of-order 5(d)(2)"
    playing.act("tumble")
    assert playing.table.phase == "closed-tumbled"

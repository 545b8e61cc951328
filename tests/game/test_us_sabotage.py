"""Sabotage of the American rules: a book or a program that breaks a clause turns its played test red."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest

import taisai.rules
from taisai.game import staffing
from taisai.game.betting import stakes
from taisai.game.checks import between_rounds
from taisai.game.equipment import maintenance
from taisai.game.irregularities import consequences, rulings
from taisai.game.refusals import Refusal
from taisai.game.rounds import effects
from taisai.game.rounds.round import Round
from taisai.game.table import Table
from taisai.rules import Irregularity, Rulebook, rulebook
from tests.clauses.altering import GONE, put
from tests.game import (
    test_us_played,
    test_us_played_clauses,
    test_us_played_equipment,
    test_us_played_irregularities,
)
from tests.game.playing import US

pytestmark = pytest.mark.part(name="sabotage")

FILE: Final = Path(taisai.rules.__file__).parent / "books" / f"{US}.toml"
DATA: Final[dict[str, Any]] = tomllib.loads(FILE.read_text("utf-8"))
TESTS: Final[dict[str, Callable[[Rulebook], None]]] = {
    name: test
    for module in (
        test_us_played, test_us_played_clauses, test_us_played_equipment, test_us_played_irregularities,
    )
    for name, test in vars(module).items()
    if name.startswith("test_us_")
}  # fmt: skip


def altered(entries: str, which: dict[str, Any], change: dict[str, Any]) -> Rulebook:
    """The book with a change in every entry of a list that has these values."""
    data: Any = DATA
    changed = 0
    *path, last = entries.split(".")
    if not which:
        for key, value in change.items():
            data = put(data, (*path, last, key), value)
        return Rulebook(data, "altered.toml").check()
    inner: Any = DATA
    for key in path:
        inner = inner[int(key) if key.isdigit() else key]
    place_of = tuple(int(key) if key.isdigit() else key for key in path)
    for place, entry in enumerate(inner[last]):
        if all(entry.get(key) == value for key, value in which.items()):
            changed += 1
            for key, value in change.items():
                data = put(data, (*place_of, last, place, key), value)
    assert changed, f"no entry of {entries} has {which}"
    return Rulebook(data, "altered.toml").check()


STEP, RULING, ITEM, PAY = "procedure.step", "irregularities.ruling", "equipment", "pay_table.0.pay"
INSPECTION: Final = [
    (f"equipment.{place}.inspection", one)
    for place, item in enumerate(DATA["equipment"])
    for one in item.get("inspection", ())
]
IN_BOOK: Final[dict[str, tuple[str, dict[str, Any], dict[str, Any], str]]] = {
    "1 age": (
        STEP,
        {"act": "tumble"},
        {"needs": GONE},
        "test_us_1_the_age_of_the_dice_is_asked_at_every_shake",
    ),
    "1 hours": (
        ITEM,
        {"id": "dice"},
        {"hours_on_table": 48},
        "test_us_1_no_round_opens_without_dice_or_with_dice_past_24_hours",
    ),
    "1 custody": (
        ITEM,
        {"id": "dice"},
        {"custody": GONE},
        "test_us_1_the_last_dealer_stays_until_the_dice_are_handed_over_or_gone",
    ),
    "2(a)(3)": (
        PAY,
        {"wins": "any-triple"},
        {"floor": "23 to 1", "offered": "23 to 1"},
        "test_us_2_a_3_any_three_of_a_kind_is_played",
    ),
    "2(a)(5)": (
        PAY,
        {"floor": "5 to 1"},
        {"offered": "6 to 1"},
        "test_us_2_a_5_a_combination_of_two_dice_is_played",
    ),
    "2(a)(6)": (PAY, {"areas": ["small", "big"]}, {"offered": "2 to 1"}, "test_us_2_a_6_small_is_played"),
    "2(a)(7)": (PAY, {"areas": ["small", "big"]}, {"offered": "2 to 1"}, "test_us_2_a_7_big_is_played"),
    "3(a)": (
        ITEM,
        {"id": "chips"},
        {"means": ["cash-chips"]},
        "test_us_3_a_chips_and_plaques_are_bets_and_spoken_cash_is_not",
    ),
    "3(c)": (
        RULING,
        {"event": "late-withdrawal"},
        {"ruling": "refer", "to": "casino-supervisor"},
        "test_us_3_c_a_withdrawal_reported_past_the_close_changes_nothing",
    ),
    "4(b)": (
        PAY,
        {"areas": ["total-4", "total-17"]},
        {"floor": "49 to 1", "offered": "49 to 1"},
        "test_us_4_b_every_kind_of_bet_is_paid_at_the_floor_that_is_offered",
    ),
    "4(c)": (
        PAY,
        {"odds": "3 to 1"},
        {"odds": "4 to 1"},
        "test_us_4_c_one_of_a_kind_on_two_and_three_dice_is_played",
    ),
    "5(a)(1)": (
        INSPECTION[0][0],
        {"before": "opening"},
        {"by": "casino-supervisor"},
        "test_us_5_a_1_the_device_is_tried_with_three_numbers_and_every_winning_area_lights",
    ),
    "5(a)(2)": (
        INSPECTION[1][0],
        {"before": "opening"},
        {"runs": 2},
        "test_us_5_a_2_the_automated_shaker_is_run_three_times_before_opening",
    ),
    "5(b)": (
        INSPECTION[2][0],
        {"before": "shift"},
        {"by": "floorperson"},
        "test_us_5_b_the_supervisor_inspects_as_well_and_nobody_does_both",
    ),
    "5(c)": (
        "procedure.refused",
        {"clause": "5(c)"},
        {"clause": "5(d)(1)"},
        "test_us_5_c_the_dealer_closes_before_every_shake",
    ),
    "5(d)(1)": (
        ITEM,
        {"id": "manual-shaker"},
        {"least_tumbles": 2},
        "test_us_5_d_1_the_cover_stays_on_until_three_shakes_are_done",
    ),
    "5(e)": (
        RULING,
        {"event": "wrong-result"},
        {"ruling": "refer", "to": "casino-supervisor"},
        "test_us_5_e_a_wrong_result_gives_way_to_the_dice",
    ),
    "5(f)": (
        RULING,
        {"event": "untumbled-in-view"},
        {"ruling": "void"},
        "test_us_5_f_dice_of_the_last_throw_in_view_change_nothing",
    ),
    "5(g)": (
        STEP,
        {"act": "clear-lights"},
        {"clause": "5(f)"},
        "test_us_5_g_the_lights_are_cleared_once_all_are_paid",
    ),
    "6(a)": (
        RULING,
        {"event": "die-not-flat"},
        {"phases": ["closed-tumbled", "revealed", "entered"]},
        "test_us_6_a_past_a_no_roll_bets_are_open_in_every_sense",
    ),
    "6(b)": (
        RULING,
        {"event": "equipment-failure"},
        {"ruling": "refer", "to": "casino-supervisor", "witness": GONE},
        "test_us_6_b_a_device_that_fails_is_settled_without_before_a_casino_supervisor",
    ),
    "6(b) power": (
        RULING,
        {"event": "power-failure"},
        {"ruling": "refer", "to": "casino-supervisor", "witness": GONE},
        "test_us_6_b_a_device_that_fails_is_settled_without_before_a_casino_supervisor",
    ),
    "6(c)": (
        RULING,
        {"event": "automated-shaker-failure"},
        {"ruling": "refer", "to": "casino-supervisor"},
        "test_us_6_c_an_automated_shaker_that_fails_when_activated_voids_the_round",
    ),
    "6(d)": (
        ITEM,
        {"id": "manual-shaker"},
        {"excludes": GONE},
        "test_us_6_d_the_automated_shaker_leaves_before_the_manual_one_comes",
    ),
    "2(a)(1)": (
        PAY,
        {"floor": "150 to 1"},
        {"offered": "151 to 1"},
        "test_us_2_a_1_three_of_a_kind_is_played",
    ),
    "2(a)(2)": (
        PAY,
        {"wins": "shows", "floor": "8 to 1"},
        {"instead": GONE, "wins": "exactly", "dice": 2},
        "test_us_2_a_2_two_of_a_kind_is_played",
    ),
    "2(a)(4)": (
        PAY,
        {"areas": ["total-9", "total-12"]},
        {"wins": "total-not-triple"},
        "test_us_2_a_4_a_total_is_played",
    ),
    "2(a)(8)": (
        PAY,
        {"wins": "exactly", "dice": 1},
        {"floor": "2 to 1", "offered": "2 to 1"},
        "test_us_2_a_8_one_of_a_kind_is_played",
    ),
    "3(b)": (
        "people.placing",
        {},
        {"by": ["floorperson"]},
        "test_us_3_b_the_dealer_may_lay_a_bet_for_a_player_who_answers_for_it",
    ),
    "5(a)": (
        STEP,
        {"act": "open-bets"},
        {"needs": GONE},
        "test_us_5_a_nothing_opens_before_the_floorperson_has_inspected",
    ),
    "5(d)(2)": (
        STEP,
        {"act": "activate-shaker"},
        {"clause": "5(d)(1)"},
        "test_us_5_d_2_the_automated_shaker_shows_its_dice_when_activated",
    ),
    "6(a) void": (
        RULING,
        {"event": "die-not-flat"},
        {"instead": GONE},
        "test_us_6_a_a_house_may_void_a_no_roll_instead",
    ),
}
"""Clause → the entries of the book that are altered, how, and the played test that must fail."""


@pytest.mark.parametrize("clause", IN_BOOK)
def test_sabotage_a_book_that_breaks_a_clause_turns_its_played_test_red(clause: str) -> None:
    entries, which, change, name = IN_BOOK[clause]
    with pytest.raises((AssertionError, pytest.fail.Exception)):
        TESTS[name](altered(entries, which, change))


def _nothing(*_args: Any, **_fields: Any) -> None:
    return None


def _no_events(*_args: Any, **_fields: Any) -> tuple[()]:
    return ()


def _only_between_rounds(table: Table, _item: str, _now: int) -> Refusal | None:
    return between_rounds(table, "house:equipment")


IN_PROGRAM: Final[dict[str, tuple[Any, str, Any, str]]] = {
    "1 the last dealer may leave": (
        staffing, "_has_custody", _nothing,
        "test_us_1_the_last_dealer_stays_until_the_dice_are_handed_over_or_gone",
    ),
    "1 dice are changed between rounds only": (
        maintenance, "refused_change", _only_between_rounds,
        "test_us_1_dice_too_old_are_replaced_before_the_shake_with_the_round_in_hand",
    ),
    "5(c) a bet is moved past the close": (
        stakes, "too_late", _nothing, "test_us_5_c_nobody_moves_a_bet_past_the_close",
    ),
    "6(a) one person undoes a keyed result": (
        consequences, "_alone", _nothing, "test_us_6_a_a_no_roll_reported_by_one_holds_a_keyed_result",
    ),
    "6(a) two people confirm nothing": (
        rulings, "_confirmed_by", _no_events, "test_us_6_a_two_people_confirm_what_one_has_reported",
    ),
    "6(b) a No Roll is remembered past the next shake": (
        effects, "_shaken_afresh", _nothing,
        "test_us_6_b_a_flat_roll_past_a_no_roll_is_settled_without_the_device",
    ),
    "6(b) what a No Roll decided outlives the next shake": (
        Round, "forget_no_roll", lambda round_: round_.forget(Irregularity.DIE_NOT_FLAT),
        "test_us_6_b_a_flat_roll_past_a_no_roll_is_settled_without_the_device",
    ),
    "6(b) a power failure outlives the repair of the device": (
        Round, "forget", _nothing, "test_us_6_b_a_device_repaired_in_the_round_is_not_dead",
    ),
}  # fmt: skip
"""What the program would do wrong → the function that is replaced, by what, and its played test."""


@pytest.mark.parametrize("what", IN_PROGRAM)
def test_sabotage_a_program_that_breaks_a_clause_turns_its_played_test_red(
    what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    module, function, instead, name = IN_PROGRAM[what]
    TESTS[name](rulebook(US))
    monkeypatch.setattr(module, function, instead)
    with pytest.raises((AssertionError, pytest.fail.Exception)):
        TESTS[name](rulebook(US))


def test_the_sound_book_turns_none_of_them_red() -> None:
    sound = Rulebook(DATA, "sound.toml").check()
    for *_, name in IN_BOOK.values():
        TESTS[name](sound)

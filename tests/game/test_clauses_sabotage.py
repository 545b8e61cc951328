"""The test of the played clauses of RWS and 3 Card: a book that breaks a clause is played otherwise."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest

import taisai.rules
from taisai.rules import Rulebook, RulesError, rulebook
from tests.clauses.altering import GONE, put
from tests.game import test_rws_played_clauses as played
from tests.game import test_three_card_played_clauses as cards
from tests.game.playing import RWS, THREE_CARD

pytestmark = pytest.mark.part(name="sabotage")

Test = Callable[[Rulebook], None]
_BOOKS: Final = Path(taisai.rules.__file__).parent / "books"
_DATA: Final[dict[str, dict[str, Any]]] = {
    name: tomllib.loads((_BOOKS / f"{name}.toml").read_text("utf-8")) for name in (RWS, THREE_CARD)
}


def altered(name: str, key: str, which: dict[str, Any], change: dict[str, Any]) -> Rulebook:
    """The book with a change in every entry of a list that has these values."""
    path = tuple(key.split("."))
    data: Any = _DATA[name]
    lists = [path]
    if path[0] == "pay_table":
        lists = [("pay_table", place, "pay") for place in range(len(data["pay_table"]))]  # type: ignore[misc]
    if not which:
        for field, value in change.items():
            data = put(data, (*path, field), value)
        return Rulebook(data, "altered.toml")
    found = 0
    for where in lists:
        entries: Any = data
        for part in where:
            entries = entries[part]
        for place, entry in enumerate(entries):
            if all(value in entry.get(field, ()) if field == "areas" else entry.get(field) == value
                   for field, value in which.items()):  # fmt: skip
                found += 1
                for field, value in change.items():
                    data = put(data, (*where, place, field), value)
    assert found, f"nothing in {key} is {which}"
    return Rulebook(data, "altered.toml")


RULING: Final = "irregularities.ruling"
STEP: Final = "procedure.step"
OUTSIDE: Final = {"ruling": "refer", "to": "shift-manager", "clause": "house:outside-the-rules"}
REFER: Final = {"ruling": "refer", "to": "shift-manager", "clause": "5.10"}
BROKEN: Final[list[tuple[Test, str, dict[str, Any], dict[str, Any]]]] = [
    (played.test_rws_1_8_a_round_begins_with_the_notice_and_ends_with_the_last_player, STEP,
     {"act": "conclude"}, {"from": "settled"}),
    (played.test_rws_1_9_the_upward_faces_are_added_up, "pay_table",
     {"areas": "total-9"}, {"wins": "total-not-triple"}),
    (played.test_rws_1_10_a_void_round_has_neither_result_nor_place_among_the_results, RULING,
     {"event": "die-not-flat"}, {"ruling": "continue"}),
    (played.test_rws_2_1_1_a_player_bets_on_the_display_of_the_terminal, "layout",
     {"id": "B"}, {"pay_table": "3"}),
    (played.test_rws_3_1_numbers_and_combinations_win_as_the_dice_match_them, "pay_table",
     {"areas": "total-12"}, {"wins": "total-not-triple"}),
    (played.test_rws_3_5_no_bet_follows_the_closing_notice_tumbled_or_not, STEP,
     {"act": "close-bets", "from": "open"}, {"to": "open-tumbled"}),
    (played.test_rws_3_6_each_activation_is_recorded_and_judged_by_itself, STEP,
     {"act": "tumble", "from": "closed-tumbled"}, {"when": {"higher_may_act": "no"}}),
    (played.test_rws_5_3_1_a_short_activation_voids_whatever_precedes_it, STEP,
     {"act": "tumble", "from": "open-tumbled"}, {"needs": GONE}),
    (played.test_rws_3_8_losers_go_to_the_house_and_winners_are_paid_by_the_table, "pay_table",
     {"areas": "small"}, {"odds": "2 to 1"}),
    (played.test_rws_3_9_1_on_a_triple_that_very_triple_wins, "pay_table",
     {"areas": "triple-2"}, {"odds": "64 to 1"}),
    (played.test_rws_3_9_2_on_a_triple_any_triple_wins, "pay_table",
     {"areas": "any-triple"}, {"odds": "30 to 1"}),
    (played.test_rws_3_9_3_on_a_triple_its_double_wins_once, "pay_table",
     {"areas": "double-2"}, {"odds": "10 to 1"}),
    (played.test_rws_3_9_4_on_a_triple_its_single_wins_on_three_dice, "pay_table",
     {"areas": "single-2", "dice": 3}, {"odds": "3 to 1"}),
    (played.test_rws_3_9_5_on_a_triple_its_total_wins_if_it_is_6_9_12_or_15, "pay_table",
     {"areas": "total-6"}, {"wins": "total-not-triple"}),
    (played.test_rws_5_3_2_a_report_by_one_person_takes_effect_or_holds_the_round, RULING,
     {"event": "die-not-flat"}, REFER),
    (played.test_rws_5_7_the_house_does_not_answer_for_what_a_player_entered_in_error, RULING,
     {"event": "late-withdrawal"}, REFER),
    (played.test_rws_5_9_every_player_of_a_void_round_has_the_stakes_back, RULING,
     {"event": "too-few-tumbles"}, REFER),
    (cards.test_three_card_2_3_the_player_bets_on_the_areas_of_the_layout_and_no_others, "layout",
     {"id": "A"}, {"clause": "2.3"}),
    (cards.test_three_card_3_6_3_odd_wins_on_odd_totals_and_never_on_a_triple, "pay_table",
     {"areas": "odd"}, {"wins": "total"}),
    (cards.test_three_card_3_7_no_bet_follows_the_call_and_the_call_needs_nothing, STEP,
     {"act": "close-bets"}, {"by": "pit-supervisor"}),
    (cards.test_three_card_3_8_three_cards_come_face_up_after_the_call, STEP,
     {"act": "deal-cards"}, {"by": "pit-supervisor"}),
    (cards.test_three_card_5_1_seen_before_the_call_by_declaration_after_a_stop, "irregularities", {},
     {"sight": GONE}),
    (cards.test_three_card_5_2_a_foreign_card_voids_the_round_in_hand_and_nothing_else, RULING,
     {"event": "foreign-card"}, OUTSIDE),
    (cards.test_three_card_5_3_a_wrong_count_voids_the_round_in_hand_only, RULING,
     {"event": "card-count-wrong"}, OUTSIDE),
    (cards.test_three_card_5_4_a_round_that_the_shoe_cannot_complete_is_void, RULING,
     {"event": "shoe-short"}, OUTSIDE),
    (cards.test_three_card_5_5_a_raise_past_the_call_leaves_the_earlier_stake, RULING,
     {"event": "late-bet"}, OUTSIDE),
    (cards.test_three_card_5_6_a_bet_taken_off_past_the_call_is_won_or_lost, RULING,
     {"event": "late-withdrawal"}, OUTSIDE),
]  # fmt: skip


def is_red(test: Test, book: Rulebook) -> bool:
    try:
        test(book)
    except (AssertionError, RulesError):
        return True
    return False


@pytest.mark.parametrize(("test", "key", "which", "change"), BROKEN, ids=[one[0].__name__ for one in BROKEN])
def test_sabotage_a_book_that_breaks_the_clause_turns_its_test_red(
    test: Test, key: str, which: dict[str, Any], change: dict[str, Any]
) -> None:
    book = THREE_CARD if test.__module__ == cards.__name__ else RWS
    assert not is_red(test, rulebook(book))
    assert is_red(test, altered(book, key, which, change))

"""Without its rule, a clause of Sic Bo at Marina Bay Sands, version 6, is played otherwise."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest

import taisai.rules
from taisai.game.checks import bad_faces
from taisai.game.irregularities import consequences, referrals, withdrawal
from taisai.game.rounds import settlement, steps
from taisai.game.vocabulary import Treatment
from taisai.rules import Act, Rulebook, RulesError
from taisai.rules.irregularities import Ruling
from tests.clauses.altering import GONE, put
from tests.clauses.altering import Path as Keys
from tests.game import test_mbs_played_clauses as mbs

BOOK: Final = Path(taisai.rules.__file__).parent / "books" / "mbs-sic-bo-v6.toml"

Sabotage = Callable[[pytest.MonkeyPatch, dict[str, Any]], dict[str, Any]]


def in_book(*keys: str | int, value: Any) -> Sabotage:
    """The book with another value at a path."""
    return lambda _patch, data: put(data, keys, value)


def ruling(event: str, value: str) -> Sabotage:
    """The book with another ruling on an irregularity."""

    def alter(_patch: pytest.MonkeyPatch, data: dict[str, Any]) -> dict[str, Any]:
        for number, entry in enumerate(data["irregularities"]["ruling"]):
            if entry["event"] == event:
                path: Keys = ("irregularities", "ruling", number)
                kept = {key: entry[key] for key in ("event", "phases", "clause")}
                data = dict(put(data, path, {**kept, "ruling": value}))
        return data

    return alter


def in_code(module: object, name: str, value: object) -> Sabotage:
    """The program with something else in place of a function or table."""

    def patch(monkeypatch: pytest.MonkeyPatch, data: dict[str, Any]) -> dict[str, Any]:
        monkeypatch.setattr(module, name, value)
        return data

    return patch


def without_effect(of: Ruling) -> Sabotage:
    """The program with a ruling that is recorded, and has no effect."""
    kept = {key: value for key, value in consequences._EFFECTS.items() if key is not of}
    return in_code(consequences, "_EFFECTS", kept)


SABOTAGE: Final[list[tuple[Callable[[Rulebook], None], Sabotage]]] = [
    (
        mbs.test_mbs_1_1_3_a_round_ends_when_losers_are_collected_and_winners_paid,
        in_code(steps, "_MAKES", {**steps._MAKES, Act.COLLECT_AND_PAY: steps._collect}),
    ),
    (
        mbs.test_mbs_3_6_the_dots_on_top_decide_every_bet,
        in_code(steps, "_bad_figures", lambda _command, _step: bad_faces(())),
    ),
    (
        mbs.test_mbs_3_7_staff_bet_for_a_player_who_answers_for_the_place,
        in_book("people", "placing", value=GONE),
    ),
    (
        mbs.test_mbs_3_10_a_die_that_leans_gives_no_result_to_settle_by,
        in_code(steps, "_is_met", lambda *_: True),
    ),
    (
        mbs.test_mbs_3_12_unclear_chips_are_settled_where_the_pit_supervisor_puts_them,
        in_code(referrals, "_FOLLOWS", {**referrals._FOLLOWS, Treatment.TREAT_BETS: referrals._nothing}),
    ),
    (
        mbs.test_mbs_5_1_two_tumbles_are_no_round_whatever_followed,
        in_code(steps, "_is_met", lambda *_: True),
    ),
    (
        mbs.test_mbs_5_2_a_die_seen_before_the_call_is_no_round,
        in_book("irregularities", "sight", value=GONE),
    ),
    (mbs.test_mbs_5_3_a_leaning_die_is_no_round_even_when_settled, ruling("die-not-flat", "continue")),
    (mbs.test_mbs_5_3_a_leaning_die_is_no_round_even_when_settled, without_effect(Ruling.VOID)),
    (mbs.test_mbs_5_4_a_damaged_die_is_no_round, ruling("die-damaged", "continue")),
    (mbs.test_mbs_5_5_a_broken_dome_is_no_round, ruling("dome-or-dice-broken", "continue")),
    (mbs.test_mbs_5_6_of_a_late_increase_the_earlier_stake_alone_is_paid, ruling("late-bet", "void")),
    (mbs.test_mbs_5_7_a_bet_taken_up_late_is_lost_all_the_same, ruling("late-withdrawal", "void")),
    (
        mbs.test_mbs_5_8_dark_lights_stop_nothing_and_the_dice_pay,
        ruling("equipment-failure", "void"),
    ),
    (
        mbs.test_mbs_5_8_dark_lights_stop_nothing_and_the_dice_pay,
        without_effect(Ruling.SETTLE_BY_OUTCOME),
    ),
    (
        mbs.test_mbs_5_9_without_the_deal_button_the_outcome_stands_and_is_paid,
        ruling("deal-not-pressed", "void"),
    ),
    (
        mbs.test_mbs_5_9_without_the_deal_button_the_outcome_stands_and_is_paid,
        without_effect(Ruling.RESET_AND_ENTER),
    ),
    (mbs.test_mbs_5_9_saves_no_round_that_another_clause_voids, ruling("die-not-flat", "continue")),
    (
        mbs.test_mbs_5_10_under_the_minimum_one_time_only,
        in_code(settlement, "_tolerated_rounds", lambda _table: 2),
    ),
    (mbs.test_mbs_5_12_an_earlier_over_payment_moves_no_money, ruling("earlier-limit-mistake", "void")),
    (
        mbs.test_mbs_5_13_1_all_bets_or_none_and_nobody_once_a_die_is_seen,
        in_code(consequences, "_ended_option", lambda *_: ()),
    ),
    (
        mbs.test_mbs_5_13_1_all_bets_or_none_and_nobody_once_a_die_is_seen,
        in_code(withdrawal, "_not_asked", lambda *_: None),
    ),
    (
        mbs.test_mbs_5_13_1_nobody_withdraws_while_a_sight_is_unconfirmed,
        in_code(withdrawal, "_comes_first", lambda *_: None),
    ),
    (
        mbs.test_mbs_5_13_2_with_a_die_seen_after_the_call_the_round_is_paid,
        ruling("power-failure", "void"),
    ),
    (mbs.test_mbs_6_3_a_wrong_display_changes_no_payment, ruling("display-wrong", "void")),
]


@pytest.mark.parametrize(("played", "sabotage"), SABOTAGE)
def test_sabotage_without_its_rule_a_clause_is_played_otherwise(
    played: Callable[[Rulebook], None], sabotage: Sabotage, monkeypatch: pytest.MonkeyPatch
) -> None:
    sound = Rulebook(tomllib.loads(BOOK.read_text("utf-8")), "sound.toml")
    played(sound)
    altered = Rulebook(sabotage(monkeypatch, tomllib.loads(BOOK.read_text("utf-8"))), "altered.toml")
    with pytest.raises((AssertionError, RulesError)):
        played(altered)

"""Reports by one person: which take effect at once, and which wait for a second person."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from msgspec import UNSET

from taisai.game import Refusal
from taisai.game.commands import (
    ConfirmReport,
    ContestReport,
    DecideReferral,
    Perform,
    ReportIrregularity,
)
from taisai.game.events import IrregularityRuled, ReportHeld, RoundVoided
from taisai.game.irregularities import consequences, rulings
from taisai.game.irregularities.referrals import open_referrals
from taisai.game.table import MOST_HELD, MOST_REFERRED
from taisai.game.vocabulary import Treatment
from taisai.rules import Act, Irregularity, Outcome, rulebook, rulebook_ids
from taisai.rules.irregularities import Irregularities
from taisai.rules.vocabulary import Visibility
from tests.game.past_rounds import compiled_once
from tests.game.playing import Playing, at


def held_with_nothing_on_view(book: str) -> Iterator[str]:
    """Reports by one person that wait, though no die, card or result is on view or said to be."""
    for phase in rulebook(book).irregularities.phases:
        if phase == "between" or phase.visibility is Visibility.SHOWN:
            continue
        playing = at(rulebook(book), phase)
        for event in Irregularity:
            answer = playing.ask(ReportIrregularity, "dan", event=event)
            if not isinstance(answer, Refusal) and any(isinstance(one, ReportHeld) for one in answer):
                yield f"{event} in {phase}"


@pytest.mark.parametrize("book", rulebook_ids())
def test_a_report_of_one_waits_only_where_the_result_is_on_view(book: str) -> None:
    with compiled_once():
        assert list(held_with_nothing_on_view(book)) == []


def test_sabotage_a_hold_with_nothing_on_view_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rulings, "_says_seen", lambda _table, case, _phase: case.second is None)
    with compiled_once():
        assert "power-failure in closed-tumbled" in list(held_with_nothing_on_view("mbs-sic-bo-v6"))


WORDS = {
    "automated-shaker": ("automated-shaker-failure", "equipment-failure", "power-failure", "other"),
    "dice": ("die-damaged", "equipment-failure", "other"),
    "player-terminal": ("terminals-down", "equipment-failure", "power-failure", "display-wrong", "other"),
    "T07": ("terminals-down", "equipment-failure", "power-failure", "display-wrong", "other"),
    "display": ("display-wrong", "equipment-failure", "power-failure", "terminals-down", "other"),
    "game-console": ("equipment-failure", "terminals-down", "display-wrong", "other"),
    "electrical-device": ("equipment-failure", "terminals-down", "display-wrong", "other"),
    "lights": ("equipment-failure", "terminals-down", "display-wrong", "other"),
}
"""Item → the words by which its failure may be reported."""


def differing_words(book: str, settings: dict[str, str]) -> Iterator[str]:
    """Words for the failure of one item that do not come to the same."""
    for phase in rulebook(book).irregularities.phases:
        if settings.get("shaker") == "automated" and phase == "closed-tumbled":
            continue
        playing = at(rulebook(book), phase, **settings)
        for item, words in WORDS.items():
            if item not in playing.table.equipment.placed and item not in playing.table.terminals:
                continue
            answers = [
                playing.ask(ReportIrregularity, "dan", event=Irregularity(word), item=item) for word in words
            ]
            assert not isinstance(answers[0], Refusal)
            yield from (
                f"{word} of {item} in {phase}"
                for word, answer in zip(words, answers, strict=True)
                if answer != answers[0]
            )


@pytest.mark.parametrize(
    ("book", "settings"),
    [(book, {}) for book in rulebook_ids()] + [("us-sic-bo", {"shaker": "automated"})],
)
def test_the_word_for_a_failure_does_not_decide_the_equipment_does(
    book: str, settings: dict[str, str]
) -> None:
    with compiled_once():
        assert list(differing_words(book, settings)) == []


def test_sabotage_a_word_that_decides_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Irregularities, "event_about", lambda _rules, event, _item: event)
    with compiled_once():
        found = list(differing_words("us-sic-bo", {"shaker": "automated"}))
    assert "equipment-failure of automated-shaker in closed" in found


def test_us_6_c_a_shaker_that_fails_when_activated_voids_the_round_whatever_the_word() -> None:
    for phase, voids in (("open", False), ("closed", True), ("revealed", True), ("entered", False)):
        for word in WORDS["automated-shaker"]:
            playing = at(rulebook("us-sic-bo"), phase, shaker="automated")
            made = playing.do(ReportIrregularity, "dan", event=Irregularity(word), item="automated-shaker")
            if voids:
                assert [one.clause for one in made if isinstance(one, RoundVoided)] == ["6(c)"]
            else:
                assert playing.act_refused("close-bets" if phase == "open" else "settle") == (
                    "on-hold house:outside-the-rules"
                )


def test_rws_5_4_a_broken_die_is_damaged_and_a_cracked_dome_is_referred() -> None:
    broken = Irregularity.DOME_OR_DICE_BROKEN
    playing = at(rulebook("rws-sic-bo-etg-v8"), "closed-tumbled")
    referred = playing.fork()
    playing.do(ReportIrregularity, "dan", event=broken, item="dice")
    assert playing.table.round is None
    assert playing.table.rounds[0].voided
    referred.do(ReportIrregularity, "dan", event=broken, item="tumbler")
    assert referred.act_refused("uncover") == "on-hold 5.10"


# Who is named beside the reporter

WRONG_RESULT = Irregularity.WRONG_RESULT


def recorded_alone(book: str, second: str) -> list[str]:
    """How a report on a keyed result, with an unsuitable second person, differs from one that waits."""
    playing = at(rulebook(book), "settled")
    alone = playing.do(ReportIrregularity, "dan", event=WRONG_RESULT, faces=(4, 5, 6), second=second)
    ruled = next(event for event in alone if isinstance(event, IrregularityRuled))
    found = [] if (ruled.unsuitable, ruled.second) == (second, None) else [f"recorded: {ruled}"]
    return found + ([] if isinstance(alone[-1], ReportHeld) else ["not held"])


@pytest.mark.parametrize("book", rulebook_ids())
def test_a_report_with_an_unsuitable_second_person_waits_and_tells_who_was_named(book: str) -> None:
    with compiled_once():
        for second in ("dan", "DAN", "nobody", "eve"):
            assert recorded_alone(book, second) == []
        playing = at(rulebook(book), "settled")
        playing.do(ReportIrregularity, "dan", event=WRONG_RESULT, faces=(4, 5, 6), second="nobody")
        playing.do(ReportIrregularity, "dan", event=WRONG_RESULT, faces=(4, 5, 6), second="sue")
    assert playing.table.reports == {}
    assert playing.table.current.result is Outcome.of(4, 5, 6)


def void_reported_with_oneself() -> tuple[list[str], list[object]]:
    """The clauses that void a round, and who is recorded as unsuitable, when nobody else is needed."""
    playing = at(rulebook("mbs-sic-bo-v6"), "open-tumbled")
    made = playing.do(ReportIrregularity, "dan", event=Irregularity.EXPOSED_EARLY, second="dan")
    voided = [str(one.clause) for one in made if isinstance(one, RoundVoided)]
    return voided, [one.unsuitable for one in made if isinstance(one, IrregularityRuled)]


def test_a_void_that_one_person_may_report_does_not_wait_for_another() -> None:
    assert void_reported_with_oneself() == (["5.2"], ["dan"])


def test_a_cocked_die_keyed_with_an_unsuitable_second_person_is_recorded() -> None:
    playing = at(rulebook("us-sic-bo"), "revealed")
    made = playing.do(Perform, "dan", act=Act.ENTER_RESULT, flat=False, second="nobody")
    assert [one.unsuitable for one in made if isinstance(one, IrregularityRuled)] == ["nobody"]
    assert playing.table.phase == "open"


def test_two_people_who_report_the_same_are_enough_whoever_is_named_as_the_second() -> None:
    playing = at(rulebook("mbs-sic-bo-v6"), "settled")
    playing.do(ReportIrregularity, "pat", event=WRONG_RESULT, faces=(4, 5, 6), second="dan")
    playing.do(ReportIrregularity, "dan", event=WRONG_RESULT, faces=(4, 5, 6), second="pat")
    assert (playing.table.reports, playing.table.held) == ({}, None)


def test_sabotage_a_second_person_of_any_rank_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rulings, "_with_second", lambda _table, case: case)
    assert void_reported_with_oneself() == (["5.2"], [UNSET])


def test_a_report_that_waits_is_held_once_and_a_person_has_so_many_that_wait() -> None:
    playing = at(rulebook("us-sic-bo"), "settled")
    wrong = {"event": WRONG_RESULT, "faces": (4, 5, 6)}
    playing.do(ReportIrregularity, "dan", **wrong)
    assert playing.refused(ReportIrregularity, "dan", **wrong) == "too-many house:confirmation"
    for number in range(MOST_HELD - 1):
        playing.do(ReportIrregularity, "dan", **wrong, detail=f"camera {number}")
    assert (
        playing.refused(ReportIrregularity, "dan", **wrong, detail="again") == "too-many house:confirmation"
    )
    assert len(playing.table.reports) == MOST_HELD
    playing.do(ReportIrregularity, "sal", **wrong)
    playing.do(ReportIrregularity, "dan", **wrong, second="sue")
    assert playing.table.reports == {}


def test_rws_5_1_2_a_sight_that_is_contested_is_no_fact_for_the_other_report_that_waits() -> None:
    playing = at(rulebook("rws-sic-bo-etg-v8"), "closed-tumbled")
    playing.do(ReportIrregularity, "dan", event=Irregularity.POWER_FAILURE, seen=True)
    playing.do(ReportIrregularity, "dan", event=Irregularity.POWER_FAILURE)
    goes_on = playing.fork()
    playing.do(ContestReport, "pat", report="h1", reason="the cover never moved")
    made = playing.do(ConfirmReport, "sue", report="h2")
    assert [one.clause for one in made if isinstance(one, RoundVoided)] == ["5.1.2"]
    for report in ("h1", "h2"):
        goes_on.do(ConfirmReport, "pat", report=report)
    assert (goes_on.table.phase, goes_on.table.held) == ("closed-tumbled", None)


# Questions


def asked(playing: Playing, reports: int) -> tuple[int, int]:
    """Reports of different words: how many are recorded in all, and how many questions are open."""
    for number in range(reports):
        playing.do(ReportIrregularity, "dan", event=Irregularity.OTHER, detail=f"glass {number} falls")
    ruled = [event for event in playing.log if isinstance(event, IrregularityRuled)]
    return len(ruled), len(open_referrals(playing.table))


@pytest.mark.parametrize("book", rulebook_ids())
def test_every_report_is_recorded_and_no_round_has_more_than_the_most_open_questions(book: str) -> None:
    playing = at(rulebook(book), "closed")
    assert asked(playing, MOST_REFERRED) == (MOST_REFERRED, MOST_REFERRED)
    assert asked(playing, 5) == (MOST_REFERRED + 5, MOST_REFERRED)
    decider = "sal" if book == "us-sic-bo" else "sue"
    for referral in open_referrals(playing.table):
        assert playing.table.holds  # the round waits for the last of them
        decision = {"referral": referral.id, "treatment": Treatment.CONTINUE, "reason": "wiped up"}
        playing.do(DecideReferral, decider, **decision)
    assert not playing.table.holds
    assert asked(playing, 1) == (MOST_REFERRED + 6, 1)


def test_sabotage_questions_without_end_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(consequences, "_is_open_already", lambda *_, **__: False)
    assert asked(at(rulebook("mbs-sic-bo-v6"), "closed"), MOST_REFERRED + 1)[1] > MOST_REFERRED


def test_the_same_report_about_other_equipment_is_another_question() -> None:
    playing = at(rulebook("us-sic-bo"), "closed")
    for item in ("electrical-device", "electrical-device", "manual-shaker", None):
        playing.do(ReportIrregularity, "dan", event=Irregularity.EQUIPMENT_FAILURE, item=item)
    assert len(open_referrals(playing.table)) == 3

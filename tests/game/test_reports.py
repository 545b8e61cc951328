"""Reports by one person: which take effect at once, and which wait for a second person."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from taisai.game import Refusal
from taisai.game.commands import ReportIrregularity
from taisai.game.events import ReportHeld, RoundVoided
from taisai.game.irregularities import rulings
from taisai.rules import Irregularity, rulebook, rulebook_ids
from taisai.rules.irregularities import Irregularities
from taisai.rules.vocabulary import Visibility
from tests.game.past_rounds import compiled_once
from tests.game.playing import at


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

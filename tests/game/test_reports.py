"""Reports by one person: which take effect at once, and which wait for a second person."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from taisai.game import Refusal
from taisai.game.commands import ReportIrregularity
from taisai.game.events import ReportHeld
from taisai.game.irregularities import rulings
from taisai.rules import Irregularity, rulebook, rulebook_ids
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

"""Settings: what the house may choose, and nothing else."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taisai.rules import RulesError, rulebook
from taisai.rules.settings import RulesPart, Setting
from tests.rules.books import IDS

GRACE = Setting("grace", RulesPart.PROCEDURE, (), (5, 60), "5", "x")
MOOD = Setting("mood", RulesPart.PAYOFF, ("good", "bad"), None, "good", "x")


@pytest.mark.parametrize("book", IDS)
def test_without_a_word_from_the_house_the_defaults_hold(book: str) -> None:
    settings = rulebook(book).settings
    assert rulebook(book).chosen() == {name: setting.default for name, setting in settings.items()}
    assert all(setting.takes(setting.default) for setting in settings.values())


def test_a_choice_replaces_its_default_alone() -> None:
    book = rulebook("us-sic-bo")
    assert book.chosen({"no_roll": "void"}) == book.chosen() | {"no_roll": "void"}
    assert rulebook("rws-sic-bo-etg-v8").chosen({"fail_over_grace": "60"})["fail_over_grace"] == "60"


@pytest.mark.parametrize(
    ("given_", "expected"),
    [
        ({"no_roll": "maybe"}, "expected no_roll to be one of reroll, void, got 'maybe'"),
        ({"no_roll": ""}, "expected no_roll to be one of reroll, void, got ''"),
        ({"mood": "good"}, "expected a setting of this rulebook"),
    ],
)
def test_what_a_setting_does_not_take_is_refused(given_: dict[str, str], expected: str) -> None:
    with pytest.raises(RulesError, match=f"^{expected}"):
        rulebook("us-sic-bo").chosen(given_)


@given(n=st.integers(-(10**12), 10**12))
def test_a_number_within_its_bounds_is_taken(n: int) -> None:
    assert GRACE.takes(str(n)) == (5 <= n <= 60)


@pytest.mark.parametrize(
    "text", ["", " 5", "5 ", "05", "+5", "5.0", "5e0", "0x5", "٥", "five", "5\n", "1" * 5000]
)
def test_a_number_is_written_plainly(text: str) -> None:
    assert not GRACE.takes(text)


@given(text=st.text(max_size=6))
def test_a_word_is_one_of_the_choices(text: str) -> None:
    assert MOOD.takes(text) == (text in {"good", "bad"})


def test_a_setting_says_what_it_takes() -> None:
    assert GRACE.expected() == "a whole number from 5 to 60"
    assert MOOD.expected() == "one of good, bad"


def test_us_2_a_2_two_of_a_kind_on_three_of_a_kind_is_a_setting() -> None:
    book = rulebook("us-sic-bo")
    yes, no = (book.matrix("A", settings={"double_on_triple": word}) for word in ("yes", "no"))
    assert book.matrix("A").nets == yes.nets
    differ = {
        (area, place)
        for row, area in enumerate(yes.areas)
        for place in range(56)
        if yes.nets[row][place] != no.nets[row][place]
    }
    assert {area for area, _ in differ} == {f"double-{n}" for n in range(1, 7)}
    assert len(differ) == 6

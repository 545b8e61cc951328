"""A setting may change what wins, but under no mix of settings may an area be paid twice on an outcome."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest

from taisai.rules import OUTCOMES, BookError
from tests.rules.books import data_of, edited, loaded, without

ONE_DIE, TWO_DICE, THREE_DICE = (("pay_table", 0, "pay", n) for n in (12, 13, 14))
"""US 4(b), 4(c): one of a kind on one, two, three dice."""


def setting(name: str, *choices: str) -> dict[str, object]:
    return {
        "id": name, "changes": "payoff", "choices": [*choices], "default": choices[0], "says": "x",
        "clause": "4(b)",
    }  # fmt: skip


def instead(name: str, value: str, dice: int) -> dict[str, object]:
    return {"when": {name: value}, "wins": "exactly", "dice": dice}


def book(*settings: dict[str, object]) -> dict[str, Any]:
    data = data_of("us-sic-bo")
    changed: dict[str, Any] = edited(data, ("setting",), [*data["setting"], *settings])
    return changed


def test_the_lines_are_where_this_file_says() -> None:
    lines = data_of("us-sic-bo")["pay_table"][0]["pay"]
    assert [(line["wins"], line["dice"], line["areas"][0]) for line in lines[12:15]] == [
        ("exactly", dice, "single-1") for dice in (1, 2, 3)
    ]


def test_an_area_paid_twice_under_one_setting_is_refused() -> None:
    data = edited(book(setting("a", "no", "yes")), (*TWO_DICE, "instead"), instead("a", "yes", 1))
    with pytest.raises(BookError, match=r"one line per area and outcome, got 'single-1' twice on 122"):
        loaded(data)


def test_an_area_paid_twice_under_a_mix_of_settings_is_refused() -> None:
    """With neither setting and with both the two lines keep apart; with one alone they meet."""
    data = book(setting("a", "no", "yes"), setting("b", "no", "yes"))
    data = edited(data, (*ONE_DIE, "instead"), instead("a", "yes", 2))
    data = edited(data, (*TWO_DICE, "instead"), instead("b", "yes", 1))
    with pytest.raises(BookError, match=r"one line per area and outcome, got 'single-1' twice on 122"):
        loaded(data)


def test_lines_that_one_setting_exchanges_are_accepted() -> None:
    data = book(setting("a", "no", "yes"))
    data = edited(data, (*ONE_DIE, "instead"), instead("a", "yes", 2))
    data = edited(data, (*TWO_DICE, "instead"), instead("a", "yes", 1))
    plain, swapped = (loaded(data).matrix("A", settings={"a": word}) for word in ("no", "yes"))
    one, two = (OUTCOMES[16], OUTCOMES[1])
    assert (str(one), str(two)) == ("145", "112")
    assert [m.net("single-1", o) for m in (plain, swapped) for o in (one, two)] == [1, 2, 2, 1]


def test_lines_that_never_hold_together_are_accepted() -> None:
    """Each of two values moves one line to three dice; no value moves both."""
    data = without(book(setting("a", "x", "y", "z")), THREE_DICE)
    data = edited(data, ("layout", 0, "block", 9, "cells"), [[{"odds_of": "single-1"}]])
    data = edited(data, (*ONE_DIE, "instead"), instead("a", "y", 3))
    data = edited(data, (*TWO_DICE, "instead"), instead("a", "z", 3))
    read = loaded(data)
    won = {word: len(read.matrix("A", settings={"a": word}).wins[44]) for word in "xyz"}
    assert won == {"x": 2, "y": 2, "z": 2}


def test_in_no_book_and_under_no_mix_does_an_area_win_twice_on_an_outcome() -> None:
    data = book(setting("a", "no", "yes"))
    data = edited(data, (*ONE_DIE, "instead"), instead("a", "yes", 2))
    data = edited(data, (*TWO_DICE, "instead"), instead("a", "yes", 1))
    read = loaded(data)
    for a, double in product(("no", "yes"), repeat=2):
        matrix = read.matrix("A", settings={"a": a, "double_on_triple": double})
        for wins in matrix.wins:
            places = [place for win in wins for place in win.places]
            assert len(set(places)) == len(places)

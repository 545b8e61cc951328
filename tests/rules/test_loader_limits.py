"""Everything in a rulebook has a limit: what reaches it is read, one more is refused."""

from __future__ import annotations

from typing import Any

import pytest

from taisai.rules import BookError
from taisai.rules.areas import MAX_ID_CHARACTERS
from taisai.rules.chance import MAX_DECKS
from taisai.rules.layout import MAX_COLUMNS
from taisai.rules.settings import MAX_COMBINATIONS, MAX_NUMBER
from taisai.rules.toml_reader import MAX_CHARACTERS, MAX_ENTRIES
from tests.rules.books import KeyPath, at, data_of, edited, loaded

US = "us-sic-bo"
CARDS = "mbs-3-card-sic-bo"
RWS = "rws-sic-bo-etg-v8"


def refused_at(data: dict[str, Any]) -> str | None:
    """The key at which a book is refused, if it is."""
    try:
        loaded(data)
    except BookError as error:
        return error.key
    return None


def limit(book: str, path: KeyPath, reaches: object, beyond: object) -> tuple[str | None, str | None]:
    """What becomes of a value that reaches its limit and of one beyond it."""
    return refused_at(edited(data_of(book), path, reaches)), refused_at(edited(data_of(book), path, beyond))


def test_characters_of_a_text() -> None:
    texts = ("大" * MAX_CHARACTERS, "大" * (MAX_CHARACTERS + 1))
    assert limit(US, ("title", "zh"), *texts) == (None, "title, zh")


def test_entries_of_a_list() -> None:
    source = data_of(US)["source"][0]
    assert limit(US, ("source",), [source] * MAX_ENTRIES, [source] * (MAX_ENTRIES + 1)) == (None, "source")
    assert limit(US, ("source",), [source], []) == (None, "source")


def test_rows_and_columns_of_a_felt() -> None:
    sizes = ([MAX_COLUMNS, MAX_COLUMNS], [MAX_COLUMNS, MAX_COLUMNS + 1])
    assert limit(US, ("layout", 0, "size"), *sizes) == (None, "layout 1, size 2")


def test_decks_of_a_shoe() -> None:
    assert limit(CARDS, ("chance", "most_decks"), MAX_DECKS, MAX_DECKS + 1) == (None, "chance, most_decks")


def test_a_number_as_setting() -> None:
    numbered = [n for n, setting in enumerate(data_of(RWS)["setting"]) if "most" in setting]
    path = ("setting", numbered[0], "most")
    assert limit(RWS, path, MAX_NUMBER, MAX_NUMBER + 1) == (None, f"setting {numbered[0] + 1}, most")


@pytest.mark.parametrize("extra", [0, 1])
def test_characters_of_an_id_of_one_s_own(extra: int) -> None:
    name = "a" * (MAX_ID_CHARACTERS + extra)
    data = edited(data_of(US), ("area", 5, "ids"), [name])
    data = edited(data, ("area", 5, "numbers"), [4, 5, 6, 7, 8, 9, 10])
    (line,) = (n for n, line in enumerate(data["pay_table"][0]["pay"]) if "small" in line["areas"])
    data = edited(data, ("pay_table", 0, "pay", line, "areas"), [name, "big"])
    data = edited(data, ("layout", 0, "block", 2, "cells"), [[name]])
    assert refused_at(data) == ("area 6, ids" if extra else None)


def test_combinations_of_settings() -> None:
    """Every combination is looked at when a book is read, so there cannot be many."""
    data = data_of(US)
    there = 1
    for setting in data["setting"]:
        there *= len(setting["choices"])
    for choices in (MAX_COMBINATIONS // there, MAX_COMBINATIONS // there + 1):
        words = [str(n) for n in range(choices)]
        more = {"id": "more", "changes": "limits", "choices": words, "default": "0", "says": "x"}
        more["clause"] = "1"
        found = refused_at(edited(data, ("setting",), [*data["setting"], more]))
        beyond = choices * there > MAX_COMBINATIONS
        assert found == (f"setting {len(data['setting']) + 1}, choices" if beyond else None)


def test_sabotage_a_book_within_its_limits_is_not_refused() -> None:
    assert refused_at(data_of(US)) is None
    assert at(data_of(US), ("id",)) == US

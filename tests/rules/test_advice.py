"""What the loader warns of and does not refuse: a house edge of 0 or less, a mirror image that is missing."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from taisai.rules import Rulebook, rulebook
from tests.rules.books import IDS, at, data_of, edited, loaded, paths, replaced, saved, text_of, without

ANY_TRIPLE = 'floor = "24 to 1"\noffered = "{} to 1"'


def altered(folder: Path, book: str, *changes: tuple[str, str]) -> Rulebook:
    text = replaced(text_of(book), f'id = "{book}"', 'id = "my-game"')
    for cut, put in changes:
        text = replaced(text, cut, put)
    return rulebook(saved(folder, text))


def without_area(book: str, area: str) -> Rulebook:
    """The book without an area: undeclared, unpriced, its cells blank."""
    data = edited(data_of(book), ("id",), "my-game")
    for path in reversed([p for p in paths(data) if at(data, p) == area and p[-1] != "id"]):
        data = edited(data, path, "") if "cells" in path else without(data, path)
    empty = [p for p in paths(data) if p[-1] in {"ids", "areas"} and not at(data, p)]
    for path in reversed(empty):
        data = without(data, path[:-1])
    return loaded(data)


def test_mbs_and_rws_offer_2356_and_not_1245() -> None:
    for book in ("mbs-sic-bo-v6", "rws-sic-bo-etg-v8"):
        found = list(rulebook(book).warnings())
        assert found == [
            f"layout {layout}, four-2356: its mirror image 1245 is not offered"
            for layout in rulebook(book).layouts
        ]


@pytest.mark.parametrize("book", ["us-sic-bo", "mbs-3-card-sic-bo"])
def test_the_other_books_are_warned_of_nothing(book: str) -> None:
    assert list(rulebook(book).warnings()) == []


@pytest.mark.parametrize(("offered", "edge"), [("35", "0"), ("36", "-1/36"), ("71", "-1")])
def test_an_edge_at_or_under_zero_is_a_warning(tmp_path: Path, offered: str, edge: str) -> None:
    book = altered(tmp_path, "us-sic-bo", (ANY_TRIPLE.format(24), ANY_TRIPLE.format(offered)))
    assert list(book.warnings()) == [f"layout A, any-triple: the house edge is {edge}; it should be above 0"]


def test_an_edge_above_zero_is_none(tmp_path: Path) -> None:
    book = altered(tmp_path, "us-sic-bo", (ANY_TRIPLE.format(24), ANY_TRIPLE.format("34.999")))
    assert list(book.warnings()) == []


def test_a_shoe_is_looked_at_with_every_number_of_decks(tmp_path: Path) -> None:
    """At 37 to 1 any triple is worth something to the player with six decks, not yet with two."""
    book = altered(tmp_path, "mbs-3-card-sic-bo", ('odds = "31 to 1"', 'odds = "37 to 1"'))
    found = [line for line in book.warnings() if "any-triple" in line]
    assert len(found) == len(book.layouts)
    assert all("decks; it should be above 0" in line for line in found)
    two, six = (book.chance(decks=n) for n in (2, 6))
    row = book.matrix("A").nets[book.matrix("A").row("any-triple")]
    assert two.expected(row, 1) < 0 < six.expected(row, 1)
    assert not any("with 2 decks" in line for line in found)


def test_a_payoff_setting_is_looked_at_with_every_value(tmp_path: Path) -> None:
    """With two of a kind on exactly two dice the edge is still there; on three as well it is gone."""
    offered = (
        'floor = "8 to 1"\noffered = "8 to 1"\nclause',
        'floor = "8 to 1"\noffered = "13 to 1"\nclause',
    )
    defaults = ('choices = ["yes", "no"]\ndefault = "yes"', 'choices = ["yes", "no"]\ndefault = "no"')
    for changes in ((offered,), (offered, defaults)):
        found = list(altered(tmp_path, "us-sic-bo", *changes).warnings())
        assert [line.split(":")[0] for line in found] == [f"layout A, double-{n}" for n in range(1, 7)]


@pytest.mark.parametrize(
    ("area", "gone", "mirror"),
    [
        ("total-4", "total-17", "17"),
        ("total-9", "total-12", "12"),
        ("pair-12", "pair-56", "56"),
        ("pair-13", "pair-46", "46"),
        ("triple-1", "triple-6", "666"),
        ("double-2", "double-5", "55"),
        ("single-3", "single-4", "4"),
    ],
)
def test_a_missing_mirror_is_named(area: str, gone: str, mirror: str) -> None:
    (found,) = without_area("us-sic-bo", gone).warnings()
    assert re.fullmatch(rf"layout A, {area}: its mirror image (total )?{mirror} is not offered", found)


def test_small_without_big_is_a_missing_mirror_of_totals() -> None:
    (found,) = without_area("us-sic-bo", "big").warnings()
    assert found == "layout A, small: its mirror image total 11 12 13 14 15 16 17 is not offered"


def test_double_and_single_are_named_as_the_layouts_name_them() -> None:
    found = list(without_area("mbs-sic-bo-v6", "double-single-664").warnings())
    assert "layout A, double-single-113: its mirror image 664 is not offered" in found


def test_an_area_that_is_its_own_mirror_misses_none() -> None:
    assert not [line for line in without_area("us-sic-bo", "pair-34").warnings() if "mirror" in line]
    assert not [line for line in rulebook("us-sic-bo").warnings() if "any-triple" in line]


def test_a_book_that_calls_itself_by_another_s_id_is_shown() -> None:
    book = loaded(edited(data_of("us-sic-bo"), ("operator",), "Somebody else"))
    (found,) = book.warnings()
    assert found.startswith("the id us-sic-bo is the id of a different rulebook in the package")
    assert list(loaded(data_of("us-sic-bo")).warnings()) == []


def test_every_book_that_comes_with_the_package_has_an_edge_everywhere() -> None:
    assert not [line for book in IDS for line in rulebook(book).warnings() if "edge" in line]

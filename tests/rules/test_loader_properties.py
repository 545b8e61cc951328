"""Whatever is wrong with a rulebook, the loader refuses it and names the key, and raises nothing else."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache
from itertools import islice
from typing import Any

import pytest

from taisai.rules import BookError, Rulebook
from taisai.rules.clause_coverage import citations_of
from taisai.rules.toml_reader import Section
from tests.rules.books import FILE, IDS, KeyPath, at, data_of, loaded, named, paths, without
from tests.rules.mutants import (
    MEETING_A_NEED,
    NOT_REQUIRED,
    OPTIONAL,
    Mutant,
    bad_texts,
    complaint,
    complaints,
    deletions,
    names,
    other_types,
    shape,
    strangers,
)
from tests.tiers import LONG, drawn

pytestmark = pytest.mark.part(name="mutants")

each_book = pytest.mark.parametrize("book", IDS)


def paths_of(book: str, shapes: frozenset[tuple[str, ...]]) -> list[KeyPath]:
    return [p for p in paths(data_of(book)) if isinstance(p[-1], str) and shape(p) in shapes]


@each_book
def test_a_book_that_comes_with_the_package_is_accepted(book: str) -> None:
    assert loaded(data_of(book)).id == book


def some(mutants: Iterator[Mutant]) -> Iterator[Mutant]:
    """All of them in the long tier, every fifth in the short one, and others after every change."""
    return mutants if LONG else islice(mutants, drawn("mutants").randrange(5), None, 5)


@each_book
def test_a_required_key_that_is_gone_is_named(book: str) -> None:
    assert complaints(some(deletions(book))) == []


@each_book
def test_a_key_that_nobody_knows_is_named(book: str) -> None:
    assert complaints(some(strangers(book))) == []


@each_book
def test_a_value_of_another_type_is_named(book: str) -> None:
    assert complaints(some(other_types(book))) == []


@each_book
def test_a_text_that_is_empty_or_too_long_is_named(book: str) -> None:
    assert complaints(some(bad_texts(book))) == []


def outcome_of_deleting(book: str, path: KeyPath) -> BookError | None:
    try:
        loaded(without(data_of(book), path))
    except BookError as error:
        return error
    return None


@each_book
def test_an_optional_key_that_is_gone_is_missed_only_where_the_book_no_longer_holds(book: str) -> None:
    for path in paths_of(book, OPTIONAL):
        error = outcome_of_deleting(book, path)
        entries = re.sub(r" \d+$", "", named(path[:-1]))  # where entries contradict, any of them may be named
        related = error is None or named(path).startswith(error.key) or error.key.startswith(entries)
        assert related, (named(path), error)


@each_book
def test_what_a_step_needs_is_missed_by_that_step(book: str) -> None:
    for path in paths_of(book, MEETING_A_NEED):
        error = outcome_of_deleting(book, path)
        if error:
            assert re.fullmatch(r"procedure, step \d+, needs", error.key), (named(path), error)
            need = at(data_of(book), ("procedure", "step", int(error.key.split()[2][:-1]) - 1, "needs"))
            assert error.got in {repr(one["need"]) for one in need}


def test_every_optional_key_can_be_left_out_somewhere() -> None:
    left_out = {
        shape(path)
        for book in IDS
        for path in paths_of(book, OPTIONAL)
        if outcome_of_deleting(book, path) is None
    }
    needed = {  # where given
        ("procedure", "recovery", "declared"),
        ("layout", "block", "cells", "area"),
        ("irregularities", "precedence"),  # by the pairs that are exceptions to it
        ("irregularities", "precedence", "events"),  # else the next line is never reached
    }
    assert left_out == OPTIONAL - needed


@cache
def values_by_name(book: str) -> dict[str, Any]:
    data = data_of(book)
    return {named(path): at(data, path) for path in paths(data)}


@each_book
def test_a_clause_that_is_gone_is_missed_where_it_is_cited(book: str) -> None:
    cited = citations_of(loaded(data_of(book)))
    for path in paths_of(book, frozenset({("clauses", "*")})):
        clause = path[-1]
        error = outcome_of_deleting(book, path)
        assert (error is None) == (clause not in cited), clause
        if error:
            there = values_by_name(book)[error.key]
            assert clause == there or clause in there, (clause, error)
            assert error.got == repr(clause)


@each_book
def test_a_setting_that_is_gone_is_missed_where_it_is_read(book: str) -> None:
    for path in paths_of(book, frozenset({("setting",)})):
        error = outcome_of_deleting(book, path)
        assert error is not None
        there = values_by_name(book)[error.key]
        ids = {setting["id"] for setting in data_of(book)["setting"]}
        assert there in ids if isinstance(there, str) else ids & set(there)


def test_every_way_of_being_wrong_is_tried_on_every_key() -> None:
    for book in IDS:
        data = data_of(book)
        every = set(paths(data))
        keys = {path for path in every if isinstance(path[-1], str)}
        spared = {path for path in keys if shape(path) in NOT_REQUIRED}
        assert {mutant.path for mutant in deletions(book)} == keys - spared
        assert {mutant.path for mutant in other_types(book)} == every
        tables = {path for path in every if isinstance(at(data, path), dict)} | {()}
        assert {mutant.path[:-1] for mutant in strangers(book)} == tables - {("clauses",)}


# Sabotage: a loader, or an error, that is worse than ours is found out.


def first_complaint(mutants: Iterator[Mutant]) -> str | None:
    return next(filter(None, map(complaint, islice(mutants, 300))), None)


@pytest.mark.parametrize(
    "doctored",
    [
        "pay_table 1, pay 2, odds",
        "pay_table 1, pay 3, areas",
        "pay_table 2, pay 3, odds",
        "pay_table 1",
        "id",
    ],
)
def test_sabotage_an_error_that_names_another_key_is_seen(doctored: str) -> None:
    path: KeyPath = ("pay_table", 0, "pay", 2, "odds")
    assert names(BookError(file=FILE, key=named(path), expected="x", got="y"), path)
    assert not names(BookError(file=FILE, key=doctored, expected="x", got="y"), path)


def test_sabotage_an_error_that_names_the_table_but_not_the_key_is_seen() -> None:
    path: KeyPath = ("procedure", "step", 0, "when", "shaker")
    said = {"file": FILE, "key": "procedure, step 1, when", "expected": "one setting"}
    assert names(BookError(**said, got="shaker, x"), path)
    assert not names(BookError(**said, got="two"), path)


def test_sabotage_a_loader_that_ignores_unknown_keys_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Section, "reject_unknown_keys", lambda _section: None)
    assert "accepted" in (first_complaint(strangers("us-sic-bo")) or "")


def test_sabotage_a_loader_that_trusts_types_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    def trusting(section: Section, key: str, _kind: type) -> object:
        section._read_keys.add(key)
        return section._data.get(key)

    monkeypatch.setattr(Section, "_get", trusting)
    assert first_complaint(other_types("us-sic-bo"))
    assert first_complaint(deletions("us-sic-bo"))


def test_sabotage_a_loader_that_takes_any_text_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Section, "_checked", lambda _section, _key, value: value)
    assert first_complaint(bad_texts("us-sic-bo"))


def test_sabotage_a_loader_that_raises_something_else_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    def careless(_book: Rulebook) -> Rulebook:
        raise KeyError("title")

    monkeypatch.setattr(Rulebook, "check", careless)
    assert "KeyError" in (first_complaint(strangers("us-sic-bo")) or "")


def test_sabotage_an_error_without_the_place_in_the_list_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    tables: Callable[..., tuple[Section, ...]] = Section.tables

    def placeless(section: Section, key: str, least: int = 1) -> tuple[Section, ...]:
        found = tables(section, key, least)
        for one in found:
            one._place = (*section._place, key)
        return found

    monkeypatch.setattr(Section, "tables", placeless)
    assert first_complaint(deletions("us-sic-bo"))

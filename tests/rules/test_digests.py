"""What is paid has a digest, and so has every word: a change changes them, mere order and layout do not."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator
from hashlib import sha256
from itertools import groupby
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from taisai.rules import BookError, Condition, Matrix, Rulebook, rulebook
from tests.rules.books import FILE, IDS, KeyPath, at, data_of, edited, loaded, named, paths, text_of

each_book = pytest.mark.parametrize("book", IDS)
WAYS = (*(c for c in Condition if c is not Condition.EXACTLY), 1, 2, 3)
"""The winning conditions; a number stands for exactly so many dice."""
WORDS = frozenset({"en", "zh", "says", "title", "note", "reading", "reason", "printed", "read", "operator"})


def digests(book: Rulebook) -> dict[str, str]:
    return {layout: book.matrix(layout).digest for layout in book.layouts}


def pay_lines(data: dict[str, Any]) -> Iterator[tuple[KeyPath, dict[str, Any], str]]:
    """Every pay line with the way to it and its table's id."""
    for t, table in enumerate(data["pay_table"]):
        for n, line in enumerate(table["pay"]):
            yield ("pay_table", t, "pay", n), line, table["id"]


def changed(before: Rulebook, after: Rulebook) -> set[str]:
    """The layouts whose digest changed."""
    old, new = digests(before), digests(after)
    return {layout for layout in old if old[layout] != new[layout]}


def layouts_on(book: Rulebook, table: str) -> set[str]:
    return {name for name, layout in book.layouts.items() if layout.pay_table == table}


def wrongly_digested_odds(book: str) -> list[str]:
    """The pay lines of which another figure does not change the digests of just the layouts they hold on."""
    data, plain = data_of(book), loaded(data_of(book))
    wrong = []
    for path, line, table in pay_lines(data):
        other = loaded(edited(data, (*path, "odds" if "odds" in line else "offered"), "999.5 to 1"))
        if changed(plain, other) != layouts_on(plain, table):
            wrong.append(named(path))
    return wrong


@each_book
def test_another_figure_is_another_digest_on_the_layouts_of_that_table_alone(book: str) -> None:
    assert wrongly_digested_odds(book) == []


def another_way(line: dict[str, Any], way: Condition | int) -> dict[str, Any]:
    rest = {key: value for key, value in line.items() if key not in {"wins", "dice", "instead"}}
    return {**rest, "wins": "exactly", "dice": way} if isinstance(way, int) else {**rest, "wins": str(way)}


@each_book
def test_another_winning_condition_is_another_digest_if_it_wins_elsewhere(book: str) -> None:
    data, plain = data_of(book), loaded(data_of(book))
    tried = 0
    for path, line, table in pay_lines(data):
        for way in WAYS:
            try:
                other = loaded(edited(data, path, another_way(line, way)))
            except BookError:
                continue  # most conditions do not fit most areas
            tried += 1
            for layout in layouts_on(plain, table):
                before, after = plain.matrix(layout), other.matrix(layout)
                assert (before.nets != after.nets) == (before.digest != after.digest), (path, way)
    assert tried > len(list(pay_lines(data)))


@each_book
def test_another_clause_is_another_digest(book: str) -> None:
    data, plain = data_of(book), loaded(data_of(book))
    for path, _, table in pay_lines(data):
        other = loaded(edited(data, (*path, "clause"), "house:stakes"))
        # RWS 3.9: a line that wins on triples alone is paid by the clause on triples, not by its own.
        cited = {name for name in plain.layouts if plain.matrix(name).clauses != other.matrix(name).clauses}
        assert changed(plain, other) == cited, path
        assert cited == layouts_on(plain, table) or plain.id == "rws-sic-bo-etg-v8", path


@each_book
def test_a_setting_is_in_the_digest_if_and_only_if_it_changes_a_payoff(book: str) -> None:
    plain = rulebook(book)
    for setting in plain.settings.values():
        for value in setting.choices:
            if value != setting.default:
                for layout in plain.layouts:
                    other = plain.matrix(layout, settings={setting.id: value})
                    same = other.digest == plain.matrix(layout).digest
                    assert same == (setting.changes != "payoff"), (setting.id, value)


def test_odds_offered_above_the_floor_are_in_the_digest() -> None:
    book = rulebook("us-sic-bo")
    plain = book.matrix("A")
    for area in plain.areas:
        more = book.matrix("A", offered={area: "999 to 1"})
        assert more.digest != plain.digest
        same = book.matrix("A", offered={area: plain.wins[plain.row(area)][0].odds})
        assert same.digest == plain.digest


def test_equal_pay_under_another_name_is_another_digest() -> None:
    seen = [rulebook(book).matrix(layout).digest for book in IDS for layout in rulebook(book).layouts]
    assert len(set(seen)) == len(seen) == 8


@each_book
def test_another_word_is_another_digest_of_the_book_and_the_same_of_its_pay(book: str) -> None:
    data, plain = data_of(book), loaded(data_of(book))
    ours = [p for p in paths(data) if p[-1] in WORDS and isinstance(at(data, p), str)]
    seen = {plain.digest}
    for path in ours:
        seen.add(Rulebook(edited(data, path, at(data, path) + "!"), FILE).digest)
    assert len(seen) == len(ours) + 1
    for path in ours[:: len(ours) // 8]:
        assert changed(plain, loaded(edited(data, path, at(data, path) + "!"))) == set()


@each_book
def test_whatever_else_is_changed_the_digest_of_the_book_changes(book: str) -> None:
    data = data_of(book)
    plain = Rulebook(data, FILE).digest
    every = list(paths(data))
    for path in every[::17]:
        value = at(data, path)
        if isinstance(value, bool | int | str):
            other = value + 1 if isinstance(value, int) else value + "x"
            altered = Rulebook(data, FILE)
            altered._data = edited(data, path, other)
            assert altered.digest != plain, path


def sections(text: str) -> tuple[str, list[str]]:
    """A book's text: what stands before the first table, and the tables of one name together."""
    top, *tables = re.split(r"^(?=\[)", text, flags=re.MULTILINE)
    groups = groupby(tables, key=lambda table: re.split(r"[].]", table.strip("["))[0])
    return top, ["".join(group) for _, group in groups]


@each_book
@settings(max_examples=15)
@given(drawn=st.data())
def test_order_of_sections_white_space_and_comments_change_no_digest(book: str, drawn: st.DataObject) -> None:
    top, tables = sections(text_of(book))
    between = st.sampled_from(["", "\n", "# Small and Big\n", "\n\n  # = [[\n\t\n"])
    text = top + "".join(drawn.draw(between) + "\n" + t for t in drawn.draw(st.permutations(tables)))
    text = text.replace(" = ", drawn.draw(st.sampled_from([" = ", "=", "  =\t"])))
    plain, other = loaded(data_of(book)), loaded(tomllib.loads(text))
    assert other.digest == plain.digest
    assert digests(other) == digests(plain)


def backwards(value: Any) -> Any:
    """The same with the keys of every table in the opposite order."""
    if isinstance(value, dict):
        return {key: backwards(value[key]) for key in reversed(value)}
    return [backwards(item) for item in value] if isinstance(value, list) else value


@each_book
def test_order_of_keys_changes_no_digest(book: str) -> None:
    plain, other = loaded(data_of(book)), loaded(backwards(data_of(book)))
    assert other.digest == plain.digest
    assert digests(other) == digests(plain)


def test_digests_are_what_they_say() -> None:
    for book in IDS:
        for digest in (rulebook(book).digest, *digests(rulebook(book)).values()):
            assert re.fullmatch(r"sha256:[0-9a-f]{64}", digest)


# Sabotage: a digest that forgets something, or remembers too much, is found out.


def test_sabotage_a_digest_that_forgets_the_figures_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Matrix, "digest", property(lambda matrix: f"{matrix.rulebook} {matrix.layout}"))
    assert wrongly_digested_odds("us-sic-bo")


def test_sabotage_a_digest_of_the_text_would_not_survive_another_order() -> None:
    data = data_of("us-sic-bo")
    texts = [json.dumps(value, default=str) for value in (data, backwards(data))]
    assert len({sha256(text.encode()).hexdigest() for text in texts}) == 2

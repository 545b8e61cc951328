"""Whatever lies in a file that is no rulebook, the loader says so in one line and raises nothing else."""

from __future__ import annotations

import tomllib
from contextlib import suppress
from datetime import date, datetime, time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from taisai.rules import BookError, Rulebook, RulesError, rulebook
from taisai.rules.book import MAX_BYTES
from tests.rules.books import IDS, at, data_of, edited, loaded, paths, replaced, saved, text_of

US = "us-sic-bo"
MANY_DIGITS = 5_000  # more than Python turns into a number, or back into text, without being told to

keys = st.one_of(st.sampled_from(sorted({"id", "pay_table", "chance", "cells", ""})), st.text(max_size=5))
leaves = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=8),
    st.sampled_from([date(2026, 1, 1), datetime(2026, 1, 1, 8), time(8)]),  # noqa: DTZ001  as TOML has them
)
junk = st.recursive(
    leaves,
    lambda within: st.one_of(st.lists(within, max_size=4), st.dictionaries(keys, within, max_size=4)),
    max_leaves=12,
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("junk")


def refusal(data: dict[str, Any]) -> BookError | None:
    """The error that refuses the data, if it is refused; any other exception goes through."""
    try:
        loaded(data)
    except BookError as error:
        return error
    return None


@given(content=st.binary(max_size=200))
@example(content=b"")
@example(content=b"\xff\xfe")
@example(content=b"\xef\xbb\xbfid = 'x'")
@example(content=b"id = 'x'\r\n")
@example(content=b"id = '\x00'")
def test_random_bytes_are_no_rulebook(folder: Path, content: bytes) -> None:
    with pytest.raises(BookError, match=r"^expected .+, got .+ \(my\.toml, .+\)$"):
        rulebook(saved(folder, content))


@given(text=st.text(st.sampled_from("[]{}=.,\"'#\n abcid01-_:"), max_size=60))
def test_random_signs_of_toml_are_no_rulebook(folder: Path, text: str) -> None:
    with pytest.raises(BookError):
        rulebook(saved(folder, text))


@given(data=st.dictionaries(keys, junk, max_size=5))
def test_random_tables_are_no_rulebook(data: dict[str, Any]) -> None:
    assert refusal(data)


@pytest.mark.parametrize("book", IDS)
@given(drawn=st.data())
def test_junk_anywhere_in_a_rulebook_is_refused_or_does_no_harm(book: str, drawn: st.DataObject) -> None:
    data = data_of(book)
    path = drawn.draw(st.sampled_from(list(paths(data))))
    value = drawn.draw(junk)
    takes_several_types = path[-1] == "effective" or "cells" in path
    if not refusal(edited(data, path, value)):
        assert value is None or takes_several_types or type(value) is type(at(data, path))


@given(drawn=st.data())
def test_a_text_with_a_slip_of_the_pen_is_refused_or_read(folder: Path, drawn: st.DataObject) -> None:
    text = text_of(US)
    place = drawn.draw(st.integers(0, len(text)))
    cut = drawn.draw(st.integers(0, 20))
    put = drawn.draw(st.text(max_size=4))
    with suppress(BookError):
        rulebook(saved(folder, text[:place] + put + text[place + cut :]))


@pytest.mark.parametrize(
    ("cut", "put"),
    [
        ("hours_on_table = 24", f"hours_on_table = {'9' * MANY_DIGITS}"),
        ("hours_on_table = 24", f"hours_on_table = 0x{'f' * MANY_DIGITS}"),
        ("size = [8, 18]", f"size = [8, 0x{'f' * MANY_DIGITS}]"),
        ('operator = "Gaming licensee"', f"operator = 0x{'f' * MANY_DIGITS}"),
        ('operator = "Gaming licensee"', f"operator = -0x{'f' * MANY_DIGITS}"),
        ('cells = [["big"]]', f"cells = [[0x{'f' * MANY_DIGITS}]]"),
        ('operator = "Gaming licensee"', f"operator = {'[' * 100_000}"),
        ('operator = "Gaming licensee"', f"operator = {'[' * 100}{']' * 100}"),
        ('operator = "Gaming licensee"', "operator = nan"),
        ('operator = "Gaming licensee"', "operator = 2026-02-30"),
        ('operator = "Gaming licensee"', "operator = 08:00:00"),
        ('operator = "Gaming licensee"', f"operator{'.a' * 2_000} = 1"),
    ],
    ids=lambda text: text[:30],
)
def test_what_toml_or_python_chokes_on_is_refused(tmp_path: Path, cut: str, put: str) -> None:
    path = saved(tmp_path, replaced(text_of(US), cut, put))
    with pytest.raises(BookError) as caught:
        rulebook(path)
    assert caught.value.file == "my.toml"
    assert len(str(caught.value)) < 1_000


def test_a_value_too_long_to_quote_is_cut(tmp_path: Path) -> None:
    for put in (f'effective = "{"x" * 9_000}"\nid = ', f'"{"x" * 9_000}" = 1\nid = '):
        with pytest.raises(BookError) as caught:
            rulebook(saved(tmp_path, replaced(text_of(US), "id = ", put)))
        assert len(str(caught.value)) < 1_000
    with pytest.raises(BookError) as caught:
        rulebook(saved(tmp_path, replaced(text_of(US), '[["big"]]', f'[["{"x" * 9_000}"]]')))
    assert len(str(caught.value)) < 1_000


@pytest.mark.parametrize(
    "name",
    ["", ".", "..", "/", "no-such-book", "no-such.toml", "a" * 300, "a/" * 3_000, "us-sic-bo/", "US-SIC-BO",
     "../books/us-sic-bo", "a\nb", "\udcff", "us-sic-bo\0"],
)  # fmt: skip
def test_a_name_that_is_neither_id_nor_file_is_refused(name: str) -> None:
    with pytest.raises(RulesError, match=r"^expected a rulebook id \(.*\) or a TOML file, got .*"):
        rulebook(name)


def test_a_file_is_checked_whatever_it_is_called(tmp_path: Path) -> None:
    broken = replaced(text_of(US), "[limits]", "[limits]\nstranger = 1")
    for name in ("my.toml", "my.txt", "my", "us-sic-bo.toml"):
        with pytest.raises(BookError, match="stranger"):
            rulebook(saved(tmp_path, broken, name))
    with pytest.raises(RulesError, match="expected a rulebook id"):
        rulebook(tmp_path / "us-sic-bo.")
    with pytest.raises(RulesError):
        rulebook(str(tmp_path / "my.toml").removesuffix("oml"))


def test_a_file_in_the_way_of_an_id_does_not_hide_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    saved(tmp_path, "x = 1", US)
    monkeypatch.chdir(tmp_path)
    assert rulebook(US).id == US


def test_a_file_of_the_greatest_size_is_read_and_one_byte_more_is_refused(tmp_path: Path) -> None:
    text = text_of(US).encode()
    filled = text + b"#\n" * ((MAX_BYTES - len(text)) // 2)
    filled += b"#" * (MAX_BYTES - len(filled))
    assert rulebook(saved(tmp_path, filled)).id == US
    too_long = f"expected a file of at most {MAX_BYTES} bytes, got at least {MAX_BYTES + 1} bytes"
    with pytest.raises(BookError, match=rf"^{too_long} \(my\.toml, the whole"):
        rulebook(saved(tmp_path, filled + b"#"))


def test_sabotage_an_exception_of_another_kind_goes_through() -> None:
    class Careless(dict[str, Any]):
        def get(self, *_: object) -> object:
            raise KeyError("id")

    with pytest.raises(KeyError):
        refusal(Careless(tomllib.loads(text_of(US))))
    assert Rulebook(data_of(US), "my.toml").id == US

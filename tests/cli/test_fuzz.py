"""Whatever words are typed, the command ends with exit code 0, 1 or 2 and leaves no exception behind."""

from __future__ import annotations

import io
import sys
import tempfile
from collections.abc import Iterator
from contextlib import chdir, redirect_stderr, redirect_stdout
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import taisai.cli
from taisai.rules import CATALOGUE
from tests.cli.commands import BOOKS
from tests.rules.books import saved, text_of

LEAVES = ["list", "show", "check", "diff", "clauses", "matrix", "irregularities"]
COMMANDS = ["rules", "odds", "settle", "tour", *LEAVES]
TAKING = ["--layout", "--svg", "--about", "--decks", "--seen", "--dice", "--cards", "--bet", "--set"]
FLAGS = ["--offer", "--json", "--toml", "--help", "-h", "--version", "--", "-", "--l", "--s", "--bet=small=1"]
VALUES = ["A", "B", "C", "felt.svg", "payoff", "no_roll=void", "double_on_triple=no", "small=2"]
NAMES = [*BOOKS, "my.toml", "broken.toml", "no-such", "my.toml/A", "us-sic-bo/A", "us-sic-bo/B"]

# No slash but in words we chose ourselves: --svg writes a file wherever it is told to.
typed = st.text(st.characters(codec="utf-8", exclude_characters="/\0"), max_size=8)
numbers = st.one_of(st.integers(-2, 8), st.integers()).map(str)
faces = st.lists(numbers, max_size=5).map(",".join)
areas = st.one_of(st.sampled_from(sorted(CATALOGUE)), typed)
bets = st.tuples(areas, numbers).map("=".join)
offers = st.tuples(areas, st.sampled_from(["999 to 1", "1 to 1", "8:1", "8 for 1", ""])).map("=".join)
books = st.sampled_from(NAMES)
commands = st.sampled_from(COMMANDS)
words = st.one_of(
    *map(st.sampled_from, (TAKING, FLAGS, VALUES)), books, commands, numbers, faces, bets, offers, typed
)
sentences = st.one_of(
    st.lists(words, max_size=8),
    st.tuples(st.just("odds"), books, st.lists(words, max_size=5)).map(lambda t: [t[0], t[1], *t[2]]),
    st.tuples(books, faces, st.lists(bets, max_size=3), st.lists(words, max_size=2)).map(
        lambda t: ["settle", t[0], "--dice", t[1], *(w for bet in t[2] for w in ("--bet", bet)), *t[3]]
    ),
    st.tuples(commands, books, st.lists(words, max_size=4)).map(lambda t: ["rules", t[0], t[1], *t[2]]),
)


@pytest.fixture(scope="module", autouse=True)
def _folder() -> Iterator[None]:
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        saved(Path(folder), text_of("us-sic-bo"))
        saved(Path(folder), "x = 1", "broken.toml")
        yield


def amiss(said: list[str]) -> str | None:
    """What is wrong with how the command ended, if anything is."""
    out, err = io.StringIO(), io.StringIO()
    asks_for_help = False
    with redirect_stdout(out), redirect_stderr(err):
        try:
            code = taisai.cli.main(said)
        except SystemExit as left:
            code = left.code if isinstance(left.code, int) else 0
            asks_for_help = True
    if code not in {0, 1, 2}:
        return f"exit code {code}"
    if asks_for_help and (code, err.getvalue()) != (0, ""):
        return f"left with {code} and {err.getvalue()!r}"
    if code == 2 and (out.getvalue() or len(err.getvalue().splitlines()) != 1):
        return f"refused with {out.getvalue()!r} and {err.getvalue()!r}"
    if code == 0 and err.getvalue():
        return f"done, but {err.getvalue()!r}"
    return None


@given(said=sentences)
@example(said=[])
@example(said=["settle", "us-sic-bo", "--dice", "1,2,3", "--bet", "a\nb=x"])
@example(said=["odds", "a" * 300])
@example(said=["rules", "show", "us-sic-bo", "--svg", "a" * 300])
@example(said=["rules", "show", "us-sic-bo", "--svg", "\udcff"])
@example(said=["odds", "\udcff"])
@example(said=["-h", "odds"])
@example(said=["rules", "check", "my.toml", "--"])
def test_whatever_is_typed_the_command_ends_well(said: list[str]) -> None:
    assert amiss(said) is None


@pytest.mark.parametrize("ending", [KeyError("x"), OSError(5, "x"), SystemExit(3), SystemExit(2)], ids=repr)
def test_sabotage_a_command_that_ends_badly_is_seen(
    monkeypatch: pytest.MonkeyPatch, ending: BaseException
) -> None:
    def badly(_words: list[str]) -> int:
        raise ending

    monkeypatch.setattr(taisai.cli, "main", badly)
    try:
        assert amiss(["odds"])
    except type(ending):
        pass


def test_sabotage_two_lines_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    def wordy(_words: list[str]) -> int:
        sys.stderr.write("taisai: a\nb\n")
        return 2

    monkeypatch.setattr(taisai.cli, "main", wordy)
    assert amiss(["odds"])

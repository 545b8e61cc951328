"""A rulebook of one's own: checked with exit code 0 or 1, and taken by every command in place of an id."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from taisai.rules import BookError, rulebook
from tests.cli.commands import Words
from tests.cli.conftest import Taisai
from tests.rules.books import replaced, saved, text_of

US = "us-sic-bo"
COMMANDS: dict[str, Words] = {
    "show": ("rules", "show", "BOOK"),
    "show svg": ("rules", "show", "BOOK", "--svg", "felt.svg"),
    "check": ("rules", "check", "BOOK"),
    "clauses": ("rules", "clauses", "BOOK"),
    "matrix": ("rules", "matrix", "BOOK", "--layout", "A"),
    "irregularities": ("rules", "irregularities", "BOOK", "--set", "no_roll=void"),
    "diff left": ("rules", "diff", "BOOK/A", "mbs-sic-bo-v6/A"),
    "diff right": ("rules", "diff", "mbs-sic-bo-v6/A", "BOOK/A"),
    "diff without layout": ("rules", "diff", "BOOK", "BOOK"),
    "odds": ("odds", "BOOK", "--offer", "triple-1=180 to 1"),
    "settle": ("settle", "BOOK", "--dice", "2,3,5", "--bet", "small=100"),
}
NAMES = ("my.toml", "sub/my.toml", "./my.toml", "my book.toml", "我的.toml", "ABSOLUTE")
BREAKS = {
    "odds with a colon": ('odds = "2 to 1"', 'odds = "2:1"', "pay_table 1, pay 14, odds"),
    "a stranger": ("[limits]", "[limits]\nstranger = 1", "limits, stranger"),
    "a clause that is not there": ('loses = "2(a)(6)"', 'loses = "2(a)(66)"', "area 6, loses"),
    "no TOML": ("[limits]", "[limits", "the whole file"),
    "a key of two lines": ("[limits]", '[limits]\n"a\\nb" = 1', "limits, a\\nb"),
}


@pytest.mark.parametrize(
    "name", ["my.toml", "sub/my.toml", "./my.toml", "my book.toml", "我的.toml", "ABSOLUTE"]
)
@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_takes_a_path_where_it_takes_an_id(
    taisai: Taisai, tmp_path: Path, command: str, name: str
) -> None:
    (tmp_path / "sub").mkdir()
    saved(tmp_path, text_of(US), "my.toml" if name == "ABSOLUTE" else name)
    path = str(tmp_path / "my.toml") if name == "ABSOLUTE" else name
    machine: Words = () if command == "show svg" else ("--json",)
    by_path = taisai(*(word.replace("BOOK", path) for word in COMMANDS[command]), *machine)
    (tmp_path / "felt.svg").unlink(missing_ok=True)  # which is never written over
    by_id = taisai(*(word.replace("BOOK", US) for word in COMMANDS[command]), *machine)
    if command.startswith("diff"):  # two texts may have one id, so it names the sides as they were typed
        named = json.dumps(path)[1:-1]
        assert named in by_path.out
        by_path = by_path._replace(out=by_path.out.replace(named, US))
    assert by_path == by_id
    assert by_path.code == 0


def test_the_path_comes_with_its_layout(taisai: Taisai, tmp_path: Path) -> None:
    saved(tmp_path, text_of("rws-sic-bo-etg-v8"))
    said = json.loads(taisai("rules", "diff", "my.toml/B", "./my.toml/C", "--json").out)
    assert (said["left"], said["right"]) == ("my.toml/B", "./my.toml/C")
    assert taisai("rules", "diff", "my.toml/D", "my.toml/A").code == 2


@pytest.mark.parametrize("why", BREAKS)
def test_a_broken_book_fails_its_check_and_is_shown_in_one_line(
    taisai: Taisai, tmp_path: Path, why: str
) -> None:
    cut, put, key = BREAKS[why]
    path = saved(tmp_path, replaced(text_of(US), cut, put))
    with pytest.raises(BookError) as caught:
        rulebook(path)
    error = caught.value
    assert error.key == key
    ran = taisai("rules", "check", "my.toml")
    assert (ran.code, ran.out) == (1, "")
    assert len(ran.err.splitlines()) == 1
    assert ran.err.startswith("taisai: ")
    assert error.expected in ran.err
    ran = taisai("rules", "check", "my.toml", "--json")
    assert (ran.code, ran.err) == (1, "")
    facts = {"file": "my.toml", "key": error.key, "expected": error.expected, "got": error.got}
    assert json.loads(ran.out) == {"ok": False, "error": facts, "warnings": []}


def test_a_book_that_is_right_passes_its_check_with_its_warnings(taisai: Taisai, tmp_path: Path) -> None:
    own = replaced(text_of(US), 'id = "us-sic-bo"', 'id = "my-game"')
    generous = replaced(own, 'floor = "24 to 1"\noffered = "24 to 1"', 'odds = "35 to 1"')
    saved(tmp_path, generous)
    ran = taisai("rules", "check", "my.toml")
    assert (ran.code, ran.err) == (0, "")
    assert "is a rulebook" in ran.out
    assert "warning: layout A, any-triple: the house edge is 0; it should be above 0" in ran.out
    said = json.loads(taisai("rules", "check", "my.toml", "--json").out)
    assert said["warnings"] == ["layout A, any-triple: the house edge is 0; it should be above 0"]


def test_the_mirror_that_is_missing_is_a_warning_and_no_failure(taisai: Taisai) -> None:
    ran = taisai("rules", "check", "mbs-sic-bo-v6")
    assert ran.code == 0
    assert "warning: layout A, four-2356: its mirror image 1245 is not offered" in ran.out


def test_odds_of_six_to_five_are_settled_exactly(taisai: Taisai, tmp_path: Path) -> None:
    offered = replaced(text_of(US), 'floor = "1 to 1"\noffered = "1 to 1"', 'odds = "6 to 5"')
    saved(tmp_path, offered)
    words = ("settle", "my.toml", "--dice", "1,2,3", "--bet")
    said = json.loads(taisai(*words, "small=100", "--json").out)
    assert (said["bets"][0]["won"], said["returned"]) == (120, 220)
    refused = taisai(*words, "small=101")
    assert (refused.code, refused.out) == (2, "")
    assert "in steps of 5, because it wins 6 to 5, got 101" in refused.err


def test_no_test_of_ours_holds_a_clause_of_one_s_own(taisai: Taisai) -> None:
    book = str(Path(__file__).parents[2] / "docs" / "examples" / "corner-house.toml")
    said = json.loads(taisai("rules", "clauses", book, "--json").out)
    assert [entry["held"] for entry in said["clauses"]] == [
        {"tests": [], "why": "not a rulebook of the package", "kind": None} for _ in said["clauses"]
    ]
    assert "not a rulebook of the" in taisai("rules", "clauses", book).out


def test_an_area_of_one_s_own_is_bet_on_by_its_id(taisai: Taisai) -> None:
    book = Path(__file__).parents[2] / "docs" / "examples" / "corner-house.toml"
    said = json.loads(taisai("settle", str(book), "--dice", "1,2,6", "--bet", "lucky-six=5", "--json").out)
    assert said["returned"] == 11

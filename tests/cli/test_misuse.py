"""Whatever is asked wrongly is refused with exit code 2, one clear line, and nothing on standard output."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.commands import BOOKS, COMMANDS, Words
from tests.cli.conftest import Ran, Taisai
from tests.rules.books import replaced, saved, text_of

LIMIT = 2**53 - 1
RWS = "settle rws-sic-bo-etg-v8 --layout A --dice 2,3,5"
CARDS = "settle mbs-3-card-sic-bo --cards 2,3,5"
SHOE = "odds mbs-3-card-sic-bo"

MISUSES = {
    # areas and layouts
    f"{RWS} --bet three-126=100": "unknown area 'three-126' on rws-sic-bo-etg-v8 layout A",
    f"{RWS} --bet double-single-112=100": "unknown area 'double-single-112'",
    "settle rws-sic-bo-etg-v8 --layout B --dice 2,3,5 --bet double-single-665=10": "area 'double-single-665'",
    f"{RWS} --bet total-3=100": "unknown area 'total-3'",
    f"{RWS} --bet SMALL=100": "unknown area 'SMALL'",
    "settle us-sic-bo --dice 2,3,5 --bet odd=100": "unknown area 'odd'",
    f"{CARDS} --bet triple-1=100": "unknown area 'triple-1'",
    "settle rws-sic-bo-etg-v8 --layout D --dice 2,3,5 --bet small=100": "(A, B, C), got 'D'",
    "odds us-sic-bo --layout B": "expected a layout of us-sic-bo (A), got 'B'",
    "rules matrix us-sic-bo --layout B": "got 'B'",
    "rules show us-sic-bo --layout B": "got 'B'",
    "rules diff us-sic-bo/B us-sic-bo/A": "got 'B'",
    # stakes
    f"{RWS} --bet small=0": "expected a stake above 0 on small, got 0",
    f"{RWS} --bet small=-5": "expected a stake above 0 on small, got -5",
    f"{RWS} --bet small=1.5": "such as 1050, got '1.5'",
    f"{RWS} --bet small=1e-3": "got '1e-3'",
    f"{RWS} --bet small=1e400": "a whole number of at most 100 digits, such as 1050, got '1e400'",
    f"{RWS} --bet small=-1e3": "expected a stake above 0 on small, got -1000",
    f"{RWS} --bet small=nan": "got 'nan'",
    f"{RWS} --bet small=1__0": "got '1__0'",
    f"{RWS} --bet small=１００": "got '１００'",
    f"{RWS} --bet small=ten": "got 'ten'",
    f"{RWS} --bet small=": "expected a bet such as small=100, got 'small='",
    f"{RWS} --bet small": "got 'small'",
    f"{RWS} --bet =100": "got '=100'",
    RWS: "expected 1 to 2000 bets such as --bet small=100, got 0",
    f"{RWS} --bet small={LIMIT + 1}": f"expected a stake of at most 2^53 - 1, got {LIMIT + 1}",
    f"{RWS} --bet small={'9' * 30}": "expected a stake of at most 2^53 - 1",
    f"{RWS} --bet small={'9' * 100}": "expected a stake of at most 2^53 - 1",
    f"{RWS} --bet small={'9' * 101}": "a whole number of at most 100 digits, such as 1050, got '9",
    f"{RWS} --bet small={'9' * 5000}": "a whole number of at most 100 digits, such as 1050, got '9",
    f"{RWS} --bet small={LIMIT // 2 + 1}": "expected a return of at most 2^53 - 1",
    f"{RWS} --bet big={LIMIT} --bet odd=1": "expected a total staked of at most 2^53 - 1",
    f"{RWS} --bet small={LIMIT // 4 + 1} --bet even={LIMIT // 4 + 1}": "expected a total returned of at most",
    f"{RWS} --bet total-10=1": "in steps of 2, because it wins 6.5 to 1, got 1",
    f"{RWS} --bet total-8=3": "in steps of 2, because it wins 8.5 to 1, got 3",
    # dice and cards
    "settle us-sic-bo --dice 0,3,5 --bet small=1": "expected a face from 1 to 6, got 0 (face 1 of 0, 3, 5)",
    "settle us-sic-bo --dice 2,7,5 --bet small=1": "got 7 (face 2 of 2, 7, 5)",
    "settle us-sic-bo --dice 2,3 --bet small=1": "expected 3 faces from 1 to 6, got 2 (2, 3)",
    "settle us-sic-bo --dice 2,3,5,6 --bet small=1": "got 4 (2, 3, 5, 6)",
    "settle us-sic-bo --dice 2,3,x --bet small=1": "such as 2,3,5, got '2,3,x'",
    "settle us-sic-bo --dice 2,3, --bet small=1": "such as 2,3,5, got '2,3,'",
    "settle us-sic-bo --dice 235 --bet small=1": "got 1 (235)",
    "settle us-sic-bo --dice=-2,3,5 --bet small=1": "got -2",
    "settle us-sic-bo --bet small=1": "expected --dice such as 2,3,5 for us-sic-bo, got nothing",
    "settle us-sic-bo --cards 2,3,5 --bet small=1": "for us-sic-bo, got --cards",
    "settle us-sic-bo --dice 2,3,5 --cards 2,3,5 --bet small=1": "got --cards",
    "settle mbs-3-card-sic-bo --dice 2,3,5 --bet small=1": "expected --cards such as 2,3,5",
    "settle mbs-3-card-sic-bo --bet small=1": "for mbs-3-card-sic-bo, got nothing",
    "settle mbs-3-card-sic-bo --cards 2,3,7 --bet small=1": "got 7",
    # shoes
    f"{SHOE} --decks 1": "expected 2 to 6 decks (2.1), got 1",
    f"{SHOE} --decks 7": "expected 2 to 6 decks (2.1), got 7",
    f"{SHOE} --decks 0": "got 0",
    f"{SHOE} --decks -2": "got -2",
    f"{SHOE} --decks two": "of at most 100 digits, such as 6, got 'two'",
    f"{SHOE} --decks 2 --seen {','.join('1' * 17)}": "expected at most 16 cards of face 1 seen, got 17",
    f"{SHOE} --decks 2 --seen {','.join(face for face in '123456' for _ in range(16))[:-4]}":
        "expected at least 3 cards left in the shoe, got 2",
    f"{SHOE} --seen 0": "expected cards of face 1 to 6 seen, got 0",
    f"{SHOE} --seen 7": "got 7",
    f"{SHOE} --seen 1,,2": "such as 2,3,5, got '1,,2'",
    f"{SHOE} --seen {','.join('1' * 2001)}": "expected at most 2000 numbers, got 2001 (--seen)",
    "odds us-sic-bo --decks 2": "expected no decks and no cards seen in a game of dice",
    "odds us-sic-bo --seen 1": "expected no decks and no cards seen in a game of dice",
    # settings and offers
    "odds us-sic-bo --set mood=good": "expected a setting of this rulebook",
    "odds us-sic-bo --set no_roll=maybe": "expected no_roll to be one of reroll, void, got 'maybe'",
    "odds us-sic-bo --set no_roll": "expected a setting such as no_roll=void, got 'no_roll'",
    "odds us-sic-bo --set no_roll=void --set no_roll=void": "no_roll is given twice",
    "rules irregularities us-sic-bo --set mood=good": "expected a setting of this rulebook",
    "odds us-sic-bo --offer triple-1=160:1": "got '160:1'",
    "odds us-sic-bo --offer triple-1=160": "got '160'",
    "odds us-sic-bo --offer odd=1": "expected odds like '8.5 to 1' or '6 to 5', got '1'",
    # books and commands
    "odds no-such-book": "expected a rulebook id (mbs-3-card-sic-bo,",
    "odds no-such.toml": "got no file 'no-such.toml'",
    f"odds {'a' * 300}": "expected a rulebook id",
    f"odds {'a/' * 3000}": "expected a rulebook id",
    "rules check no-such.toml": "expected a rulebook id",
    "rules diff no-such/A us-sic-bo/A": "expected a rulebook id",
    "rules clauses us-sic-bo --about weather": "expected one of heading,",
    "rules show us-sic-bo --svg /no/such/folder/felt.svg": "cannot write",
    "rules show us-sic-bo --svg .": "file exists: .; choose a new file",
    "": "required: COMMAND",
    "rules": "required: COMMAND",
    "ruels list": "invalid choice: 'ruels'",
    "rules lsit": "invalid choice: 'lsit'",
    "odds": "required: BOOK",
    "rules diff us-sic-bo/A": "expected a rulebook id",
    "odds us-sic-bo extra": "unrecognized arguments: extra",
    "odds us-sic-bo --no-such-option": "unrecognized arguments: --no-such-option",
    "odds us-sic-bo --layout": "expected one argument",
    "rules list --json=yes": "ignored explicit argument 'yes'",
    "odds us-sic-bo --se 1": "ambiguous option: --se could match",
    "--no-such-option": "required: COMMAND",
}  # fmt: skip


def one_clear_line(ran: Ran) -> bool:
    return (
        (ran.code, ran.out) == (2, "")
        and ran.err.startswith("taisai: ")
        and len(ran.err.splitlines()) == 1
        and ran.err.endswith("\n")
        and "Traceback" not in ran.err
    )


@pytest.mark.parametrize("json", [False, True], ids=["people", "json"])
@pytest.mark.parametrize("line", MISUSES, ids=lambda line: line[:60])
def test_misuse_is_refused_in_one_line(taisai: Taisai, line: str, json: bool) -> None:  # noqa: FBT001
    words = line.split()
    ran = taisai(*words, *(["--json"] if json and len(words) > 1 else []))
    assert one_clear_line(ran), ran
    if not json:
        assert MISUSES[line] in ran.err


WITH_SPACES: dict[Words, str] = {
    ("odds", "us-sic-bo", "--offer", "triple-1=149.999 to 1"): "at least 150 to 1 (4(b)), got 149.999 to 1",
    ("odds", "us-sic-bo", "--offer", "triple-1=160 for 1"): "got '160 for 1'",
    ("odds", "us-sic-bo", "--offer", "odd=1 to 1"): "expected an offer on an area of pay table 1, got 'odd'",
    ("odds", "rws-sic-bo-etg-v8", "--offer", "small=2 to 1"): "expected 1 to 1, fixed by 4.1.1",
    ("odds", "us-sic-bo", "--offer", "small=2 to 1", "--offer", "small=2 to 1"): "small is given twice",
    ("odds", ""): "got ''",
    ("odds", " "): "got ' '",
    ("odds", "us-sic-bo", "--layout", ""): "got ''",
    ("odds", "mbs-3-card-sic-bo", "--decks", ""): "got ''",
    ("odds", "mbs-3-card-sic-bo", "--seen", ""): "got ''",
    ("settle", "us-sic-bo", "--dice", "", "--bet", "small=1"): "got ''",
    ("settle", "us-sic-bo", "--dice", "2,3,5", "--bet", ""): "got ''",
    ("rules", "show", "us-sic-bo", "--svg", ""): "file exists: .; choose a new file",
    ("rules", "clauses", "us-sic-bo", "--about", ""): "got ''",
}  # fmt: skip


@pytest.mark.parametrize("words", WITH_SPACES, ids=" ".join)
def test_misuse_with_spaces_or_with_nothing_at_all(taisai: Taisai, words: Words) -> None:
    ran = taisai(*words)
    assert one_clear_line(ran), ran
    assert WITH_SPACES[words] in ran.err


@pytest.mark.parametrize("break_", ["\n", "\r", "\x0b", "\x85", "\u2028", "\x1b[31m", "\udcff"])
@pytest.mark.parametrize(
    "line",
    [
        "{}",
        "rules {}",
        "rules list {}",
        "odds {}",
        "odds us-sic-bo --layout {}",
        "odds us-sic-bo --set {}=1 --set {}=1",
        "odds us-sic-bo --set no_roll={}",
        "odds us-sic-bo --offer {}=1",
        "odds us-sic-bo --seen {}",
        "odds us-sic-bo --{}",
        "odds us-sic-bo --se{}",
        "settle us-sic-bo --dice 1,2,3 --bet {}=1",
        "settle us-sic-bo --dice 1,2,3 --bet {}=x",
        "settle us-sic-bo --dice 1,2,{} --bet small=1",
        "rules clauses us-sic-bo --about {}",
        "rules diff us-sic-bo/{} us-sic-bo",
        "rules check {}.toml",
    ],
)
def test_a_line_break_in_what_was_typed_does_not_break_the_line(
    taisai: Taisai, line: str, break_: str
) -> None:
    ran = taisai(*(word.replace("{}", f"a{break_}b") for word in line.split(" ")))
    assert one_clear_line(ran), ran
    assert ran.err.strip().isprintable()


@pytest.mark.parametrize("book", BOOKS)
@pytest.mark.parametrize("bets", [1, 2000])
def test_as_many_bets_as_there_may_be(taisai: Taisai, book: str, bets: int) -> None:
    shown = "--cards" if book == "mbs-3-card-sic-bo" else "--dice"
    words = ("settle", book, shown, "1,2,3", *["--bet", "small=2"] * bets)
    assert taisai(*words, "--json").code == 0
    if bets > 1:
        assert one_clear_line(taisai(*words, "--bet", "small=2"))


BROKEN = {
    "odds {}": "odds",
    "rules matrix {}": "matrix",
    "rules show {}": "show",
    "rules clauses {}": "clauses",
    "rules irregularities {}": "irregularities",
    "rules diff {}/A us-sic-bo": "diff",
    "rules diff us-sic-bo {}": "diff",
    "settle {} --dice 1,2,3 --bet small=1": "settle",
}


@pytest.mark.parametrize("line", BROKEN)
def test_a_broken_book_is_refused_by_every_command(taisai: Taisai, tmp_path: Path, line: str) -> None:
    saved(tmp_path, replaced(text_of("us-sic-bo"), "[limits]", "[limits]\nstranger = 1"))
    for words in (line.format("my.toml").split(), [*line.format("my.toml").split(), "--json"]):
        ran = taisai(*words)
        assert one_clear_line(ran), ran
        assert "got the unknown key 'stranger' (my.toml, limits, stranger)" in ran.err


def test_every_command_but_the_tour_is_misused_here() -> None:
    tried = {tuple(line.split()[: len(words)]) for line in MISUSES for words in COMMANDS}
    assert set(COMMANDS) - tried == {("tour",)}


def test_sabotage_two_lines_or_a_line_on_the_wrong_stream_are_seen() -> None:
    assert one_clear_line(Ran(2, "", "taisai: no\n"))
    for ran in (
        Ran(1, "", "taisai: no\n"),
        Ran(2, "x", "taisai: no\n"),
        Ran(2, "", "taisai: no\nreally\n"),
        Ran(2, "", "taisai: no"),
        Ran(2, "", ""),
        Ran(2, "", "usage: taisai\n"),
    ):
        assert not one_clear_line(ran)

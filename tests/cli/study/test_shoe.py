"""`taisai shoe`, as a person types it."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import pytest

from tests.cli.conftest import Taisai

BOOK = ("shoe", "mbs-3-card-sic-bo")
OWN = ("--decks", "2")


def test_the_odds_now(taisai: Taisai) -> None:
    ran = taisai(*BOOK, *OWN, "--seen", "1,1,6,6,6,6")
    assert (ran.code, ran.err) == (0, "")
    assert "90 of 96 cards left (14 16 16 16 16 12)" in ran.out
    assert "The player has an advantage on small: 2.125%." in ran.out


def test_the_same_odds_as_the_odds_command(taisai: Taisai) -> None:
    shoe = json.loads(taisai(*BOOK, *OWN, "--seen", "1,1,6", "--json").out)
    odds = json.loads(taisai("odds", "mbs-3-card-sic-bo", *OWN, "--seen", "1,1,6", "--json").out)
    assert [one["house_edge"] for one in shoe["areas"]] == [one["house_edge"] for one in odds["areas"]]


def test_any_composition_by_what_is_left(taisai: Taisai) -> None:
    seen = taisai(*BOOK, *OWN, "--seen", "1,1,6", "--json").out
    assert taisai(*BOOK, *OWN, "--left", "14,16,16,16,16,15", "--json").out == seen


def test_every_position_of_the_shoe(taisai: Taisai) -> None:
    ran = taisai(*BOOK, "--decks", "6", "--positions")
    assert (ran.code, ran.err) == (0, "")
    assert "small             2.634%       2.634%   1081/41041" in ran.out
    assert "All 96 rounds have exactly the same edges" in ran.out
    facts = json.loads(taisai(*BOOK, *OWN, "--positions", "--json").out)
    assert facts["alike"] is True
    assert facts["rounds"] == [facts["rounds"][0]] * 32


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--left", "1,2,3"), "expected six numbers, one per face, such as --left 48,48,48,48,45,42, got 3"),
        (("--left", "49,48,48,48,48,48"), "expected 0 to 48 cards of face 1 left, got 49"),
        (("--left", "48,48,48,48,48,-1"), "expected 0 to 48 cards of face 6 left, got -1"),
        (("--left", "48,48,48,48,48,48", "--seen", "1"), "expected --left or --seen, got both"),
        (("--left", "1,1,0,0,0,0"), "expected at least three cards left"),
        (("--deviation",), "--deviation needs --counting or --perfect"),
        (("--positions", "--removal"), "expected one of --removal, --positions, --counting, got"),
        (("--positions", "--plot", "x.svg"), "--plot cannot be used with --positions"),
    ],
)
def test_what_is_no_composition_or_no_question(taisai: Taisai, words: tuple[str, ...], says: str) -> None:
    ran = taisai(*BOOK, *words)
    assert (ran.code, ran.out) == (2, "")
    assert says in ran.err


def test_effects_of_removal(taisai: Taisai) -> None:
    ran = taisai(*BOOK, "--removal", "--json")
    small = json.loads(ran.out)["areas"][0]
    assert small["id"] == "small"
    assert sum(map(Fraction, small["changes"])) == 0
    assert "+2.734" in taisai(*BOOK, "--removal").out


def test_counting(taisai: Taisai) -> None:
    ran = taisai(*BOOK, *OWN, "--counting", "--penetration", "0.75", "--deviation")
    assert (ran.code, ran.err) == (0, "")
    for words in (
        "75%       24   78.2%   6.588",
        "bet on small at 1 or above, on big at -1 or below",
        "0.978",
        "the standard deviation is 7.56 units in 100 rounds",
    ):
        assert words in ran.out
    facts = json.loads(taisai(*BOOK, *OWN, "--counting", "--count", "total-4", "--tags", "3", "--json").out)
    assert facts["count"]["tags"] == [-3, -1, 1, 1, 1, 1]
    assert facts["count"]["mirror"] is None


def test_perfect_play_beside_it(taisai: Taisai) -> None:
    facts = json.loads(taisai(*BOOK, *OWN, "--perfect", "--deviation", "--json").out)
    half = next(depth for depth in facts["depths"] if depth["penetration"] == "1/2")
    assert half["perfect_gain_per_100"] == pytest.approx(9.676, abs=1e-3)
    assert half["perfect_deviation_per_round"] == pytest.approx(4.904, abs=1e-3)
    assert facts["deviation_per_100"] == pytest.approx(7.627, abs=1e-3)
    assert facts["rounds_until_equal"] == pytest.approx(363.9, abs=0.1)
    assert "std dev a round" in taisai(*BOOK, *OWN, "--perfect").out
    assert facts["harmless_rounds"] == 1
    assert facts["relative_error"] < 1e-10


@pytest.mark.parametrize(
    "question", [("--seen", "6,6"), ("--removal",), ("--counting",)], ids=lambda words: words[0]
)
def test_a_picture_is_the_same_every_time(taisai: Taisai, tmp_path: Path, question: tuple[str, ...]) -> None:
    drawn = []
    for number in range(2):
        file = tmp_path / f"{number}.svg"
        assert taisai(*BOOK, *OWN, *question, "--plot", str(file)).code == 0
        drawn.append(file.read_bytes())
    assert drawn[0] == drawn[1]
    assert b"<svg" in drawn[0]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (
            ("shoe", "us-sic-bo"),
            "expected a rulebook with cards, such as mbs-3-card-sic-bo, got one with dice",
        ),
        ((*BOOK, "--decks", "7"), "expected 2 to 6 decks (2.1), got 7"),
        ((*BOOK, "--decks", "1e30"), "expected 2 to 6 decks (2.1), got 1000000"),
        ((*BOOK, "--seen", "7"), "expected cards of face 1 to 6 seen, got 7"),
        ((*BOOK, *OWN, "--seen", ",".join(["1"] * 17)), "expected at most 16 cards of face 1 seen, got 17"),
        (
            (*BOOK, "--removal", "--counting"),
            "expected one of --removal, --positions, --counting, got --removal and --counting",
        ),
        ((*BOOK, "--penetration", "0.5"), "--penetration needs --counting or --perfect"),
        ((*BOOK, "--counting", "--penetration", "0"), "expected a share above 0 and at most 1"),
        ((*BOOK, "--counting", "--penetration", "1.01"), "expected a share above 0 and at most 1"),
        ((*BOOK, "--counting", "--penetration", "nan"), "expected a share above 0 and at most 1"),
        ((*BOOK, *OWN, "--counting", "--count", "double-1"), "unknown area 'double-1' on mbs-3-card-sic-bo"),
        ((*BOOK, *OWN, "--counting", "--tags", "5"), "expected a greatest tag of 1 to 4, got 5"),
        (
            (*BOOK, *OWN, "--counting", "--deviation", "--tags", "3"),
            "expected at most 5 different tags for a deviation, got 6",
        ),
        (
            (*BOOK, "--counting", "--plot", "a.gif"),
            "expected a picture's file name to end in .svg, .png, .pdf",
        ),
        ((*BOOK, "--layout", "C"), "layout"),
    ],
    ids=str,
)
def test_bad_input_gets_one_line(taisai: Taisai, words: tuple[str, ...], says: str) -> None:
    ran = taisai(*words)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.count("\n") == 1
    assert says in ran.err

"""`taisai session`, as a person types it."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from taisai.rules import rulebook
from taisai.study.odds import Mix
from taisai.study.pictures import total_picture
from taisai.study.session.total import total_after
from tests.cli.conftest import Taisai

SMALL = ("session", "rws-sic-bo-etg-v8", "--layout", "A", "--bet", "small=100")


def test_a_thousand_rounds(taisai: Taisai) -> None:
    ran = taisai(*SMALL, "--rounds", "1_000", "--target", "500")
    assert (ran.code, ran.err) == (0, "")
    for words in ("18.130006 %", "+500 or more", "14.988913 %", "-2,777.78", "Exact"):
        assert words in ran.out


def test_for_machines(taisai: Taisai) -> None:
    ran = taisai(*SMALL, "--rounds", "2", "--json")
    facts = json.loads(ran.out)
    assert facts["probability"]["ahead"]["value"] == "1225/5184"
    assert facts["rounds"] == 2
    wave = json.loads(taisai(*SMALL, "--rounds", "1e5", "--json").out)
    assert wave["exact"] is False
    assert 0 < wave["error_at_most"] < 1e-13
    assert isinstance(wave["probability"]["behind"]["value"], float)


@pytest.mark.parametrize(("word", "target"), [("1e3", 1_000), ("-1e3", -1_000), ("1_000", 1_000), ("-7", -7)])
def test_a_target_is_written_as_any_number(taisai: Taisai, word: str, target: int) -> None:
    for words in ([f"--target={word}"], ["--target", word]):
        assert json.loads(taisai(*SMALL, "--rounds", "20", *words, "--json").out)["target"] == target


def test_one_round_is_one(taisai: Taisai) -> None:
    assert "small=100, 1 round\n" in taisai(*SMALL, "--rounds", "1").out
    assert "small=100, 2 rounds\n" in taisai(*SMALL, "--rounds", "2").out


def test_the_distribution_is_listed_or_kept(taisai: Taisai, tmp_path: Path) -> None:
    facts = json.loads(taisai(*SMALL, "--rounds", "1", "--json").out)
    assert facts["distribution"] == [
        {"total": -100, "probability": "37/72"},
        {"total": 100, "probability": "35/72"},
    ]
    file = tmp_path / "all.json"
    ran = taisai(*SMALL, "--rounds", "300", "--distribution", str(file), "--json")
    assert json.loads(ran.out)["distribution"] is None
    assert len(json.loads(file.read_text("utf-8"))["distribution"]) == 301
    file = tmp_path / "all.parquet"
    assert taisai(*SMALL, "--rounds", "2e3", "--distribution", str(file)).code == 0
    assert sum(pq.read_table(file)["probability"].to_pylist()) == pytest.approx(1, abs=1e-9)


def test_a_picture_says_by_whose_rules_and_never_calls_a_chance_nothing() -> None:
    book = rulebook("rws-sic-bo-etg-v8")
    mix = Mix.of(book.matrix("A"), {"small": 100})
    (axes,) = total_picture(total_after(mix, book.chance(), 100_000, target=-200_000)).axes
    assert axes.get_title(loc="left") == "rws-sic-bo-etg-v8, layout A\nsmall=100"
    legend = axes.get_legend()
    assert legend is not None
    told = [text.get_text() for text in legend.get_texts()]
    assert "ahead: below 0.01 %" in told
    assert "level or behind: above 99.99 %" in told


def test_a_picture_is_the_same_every_time(taisai: Taisai, tmp_path: Path) -> None:
    drawn = []
    for number in range(2):
        file = tmp_path / f"{number}.svg"
        assert taisai(*SMALL, "--rounds", "300", "--target", "100", "--plot", str(file)).code == 0
        drawn.append(file.read_bytes())
    assert drawn[0] == drawn[1]
    assert len(drawn[0]) > 5_000
    wave = tmp_path / "wave.png"
    assert taisai(*SMALL, "--bet", "triple-1=10", "--rounds", "2e3", "--plot", str(wave)).code == 0
    assert wave.read_bytes().startswith(b"\x89PNG")


def test_cards_are_freshly_shuffled(taisai: Taisai) -> None:
    ran = taisai("session", "mbs-3-card-sic-bo", "--bet", "big=100", "--rounds", "10", "--decks", "2")
    assert "Every round is dealt from a shoe of 2 decks, freshly shuffled." in ran.out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--rounds", "1e30"), "expected a whole number from 1 to 1e9"),
        (("--rounds", "0"), "expected a whole number from 1 to 1e9"),
        (("--rounds", "1.5"), "expected a whole number from 1 to 1e9"),
        (("--rounds", "1e9"), "expected a total of at most 2^26 = 67,108,864 possible values"),
        ((), "missing option --rounds, such as --rounds 1000"),
        (("--rounds", "10", "--rounds", "10"), "--rounds is given twice"),
        (("--rounds", "10", "--target", "x"), "expected a whole number"),
        (("--rounds", "10", "--target", "1e31"), "expected a whole number"),
        (
            ("--rounds", "10", "--distribution", "x.csv"),
            "expected a file name that ends in .json or .parquet",
        ),
        (("--rounds", "10", "--distribution", "no/x.json"), "cannot write"),
        (("--rounds", "10", "--plot", "x.gif"), "expected a picture's file name to end in"),
        (("--rounds", "10", "--plot", "nowhere/x.svg"), "cannot write"),
        (("--rounds", "10", "--decks", "2"), "expected no decks"),
        (
            ("--rounds", "10", "--bet", "smal=100"),
            "unknown area 'smal' on rws-sic-bo-etg-v8 layout A",
        ),
        (("--rounds", "10", "--bet", "small=-1"), "expected a stake above 0"),
    ],
)
def test_bad_input_is_one_line(taisai: Taisai, words: tuple[str, ...], message: str) -> None:
    ran = taisai(*SMALL, *words)
    assert (ran.code, ran.out) == (2, "")
    assert message in ran.err
    assert ran.err.count("\n") == 1

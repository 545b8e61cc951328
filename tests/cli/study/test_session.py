"""`taisai session`, as a person types it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

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
    assert "Every round is dealt from a freshly shuffled shoe of 2 decks." in ran.out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--rounds", "1e30"), "expected --rounds as a whole number from 1 to 1e9"),
        (("--rounds", "0"), "expected --rounds as a whole number from 1 to 1e9"),
        (("--rounds", "1.5"), "expected --rounds as a whole number from 1 to 1e9"),
        (("--rounds", "1e9"), "expected a total of at most 2^26 = 67,108,864 possible values"),
        ((), "expected --rounds, such as --rounds 1000, got none"),
        (("--rounds", "10", "--rounds", "10"), "expected --rounds once"),
        (("--rounds", "10", "--target", "x"), "expected --target as a whole number"),
        (("--rounds", "10", "--plot", "x.gif"), "expected a picture's file name to end in"),
        (("--rounds", "10", "--plot", "nowhere/x.svg"), "expected to write the picture"),
        (("--rounds", "10", "--decks", "2"), "expected no decks"),
        (
            ("--rounds", "10", "--bet", "smal=100"),
            "expected an area of rws-sic-bo-etg-v8 layout A, got 'smal'",
        ),
        (("--rounds", "10", "--bet", "small=-1"), "expected a stake above 0"),
    ],
)
def test_bad_input_is_one_line(taisai: Taisai, words: tuple[str, ...], message: str) -> None:
    ran = taisai(*SMALL, *words)
    assert (ran.code, ran.out) == (2, "")
    assert message in ran.err
    assert ran.err.count("\n") == 1

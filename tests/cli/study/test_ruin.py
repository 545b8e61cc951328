"""`taisai ruin`, as a person types it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from taisai.study.session import chain as chains
from taisai.study.session import ends
from tests.cli.conftest import Taisai

SMALL = ("ruin", "rws-sic-bo-etg-v8", "--layout", "A", "--bet", "small=100")
DOUBLE = (*SMALL, "--bankroll", "1000", "--target", "2000")


def test_how_a_martingale_ends(taisai: Taisai) -> None:
    ran = taisai(*DOUBLE, "--system", "martingale", "--rounds", "100", "--maximum", "500")
    assert (ran.code, ran.err) == (0, "")
    for words in ("martingale with small=100, 100 rounds at most", "ruined", "still playing", "100 to 500"):
        assert words in ran.out
    assert "2.7778 %" in ran.out


def test_for_machines(taisai: Taisai) -> None:
    facts = json.loads(taisai(*DOUBLE, "--json").out)
    assert facts["system"] == "flat"
    assert facts["rounds"] is None
    assert facts["probability"]["ruin"]["value"].startswith("0.635456675868116")
    assert facts["error_at_most"] < 1e-15
    assert [end["bankroll"] for end in facts["ends"]] == [0, 2000]


@pytest.mark.parametrize("system", ["flat", "martingale", "paroli", "dalembert", "labouchere"])
def test_every_system_plays(taisai: Taisai, system: str) -> None:
    facts = json.loads(taisai(*DOUBLE, "--system", system, "--rounds", "1e2", "--json").out)
    assert sum(part["about"] for part in facts["probability"].values()) == pytest.approx(1, abs=1e-12)


def test_system_and_strategy_are_one_word_here_and_in_simulate(taisai: Taisai) -> None:
    for words in (DOUBLE, ("simulate", *DOUBLE[1:], "--rounds", "50", "--sessions", "9")):

        def told(*staked: str, words: tuple[str, ...] = words) -> object:
            facts = json.loads(taisai(*words, *staked, "--json").out)
            facts.pop("rounds_per_second", None)
            return facts

        assert told("--system", "paroli") == told("--strategy", "paroli") != told("--system", "flat")


def test_a_picture_is_the_same_every_time(taisai: Taisai, tmp_path: Path) -> None:
    drawn = []
    for number in range(2):
        file = tmp_path / f"{number}.svg"
        assert taisai(*DOUBLE, "--rounds", "50", "--plot", str(file)).code == 0
        drawn.append(file.read_bytes())
    assert drawn[0] == drawn[1]
    assert taisai(*SMALL, "--bankroll", "50", "--target", "90", "--plot", str(tmp_path / "x.png")).code == 0


@pytest.mark.parametrize(("rounds", "of"), [(("--rounds", "1e6"), " of 1,000,000"), ((), "")])
def test_ctrl_c_says_how_far_it_was(
    taisai: Taisai, monkeypatch: pytest.MonkeyPatch, rounds: tuple[str, ...], of: str
) -> None:
    calls = 0

    def interrupted(*_given: object) -> None:
        nonlocal calls
        calls += 1
        if calls == 3:
            raise KeyboardInterrupt

    monkeypatch.setattr(chains, "MOST_SOLVED_CELLS", 0)
    monkeypatch.setattr(ends, "_BATCH", 190)  # ten rounds of nineteen bankrolls
    monkeypatch.setattr(chains, "play", interrupted)
    ran = taisai(*DOUBLE, *rounds)
    assert (ran.code, ran.out) == (130, "")
    assert ran.err == f"taisai: stopped after 20{of} rounds, before the result was known\n"


@pytest.mark.parametrize("rounds", ["1e9", "1e6"])
def test_more_steps_than_can_be_are_refused_at_once(taisai: Taisai, rounds: str) -> None:
    words = "ruin us-sic-bo --bet small=1 --bankroll 1e5 --target 2e5 --system martingale --rounds"
    ran = taisai(*words.split(), rounds)
    assert (ran.code, ran.out) == (2, "")
    assert "expected at most 1e+11 steps, got" in ran.err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--bankroll", "-5", "--target", "100"), "expected a whole number from 1 to 1e12"),
        (("--bankroll", "5"), "missing option --target"),
        (("--bankroll", "500", "--target", "100"), "expected a target above the bankroll of 500, got 100"),
        (("--bankroll", "1e30", "--target", "1e31"), "expected a whole number"),
        (("--bankroll", "1e3", "--target", "2e3", "--rounds", "1e30"), "expected a whole number"),
        (("--bankroll", "1e3", "--target", "2e3", "--system", "x"), "expected one of flat, martingale"),
        (
            ("--bankroll", "1e3", "--target", "2e3", "--maximum", "50"),
            "no multiple of the bets is within the table limits",
        ),
        (("--bankroll", "1e3", "--target", "1e12"), "expected at most 2^22 = 4,194,304 pairs"),
        (("--bankroll", "1e3", "--target", "2e3", "--bet", "pair-77=1"), "unknown area 'pair-77' on"),
    ],
)
def test_bad_input_is_one_line(taisai: Taisai, words: tuple[str, ...], message: str) -> None:
    ran = taisai(*SMALL, *words)
    assert (ran.code, ran.out) == (2, "")
    assert message in ran.err
    assert ran.err.count("\n") == 1

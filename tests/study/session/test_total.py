"""What a session comes to, as it is told."""

from __future__ import annotations

import json
from fractions import Fraction

import pytest

from taisai.rules import RulesError, rulebook
from taisai.study.law import Law
from taisai.study.mix import Mix
from taisai.study.session import total as totals
from taisai.study.session.digits import certain_decimals, decimal_text, fraction_text, power_text, told
from taisai.study.session.total import MOST_EXACT, MOST_ROUNDS, Total, total_after

BOOK = rulebook("rws-sic-bo-etg-v8")
CARDS = rulebook("mbs-3-card-sic-bo")


def small(rounds: int, **how: int) -> Total:
    return total_after(Mix.of(BOOK.matrix("A"), {"small": 100}), BOOK.chance(), rounds, **how)


def test_three_rounds_by_hand() -> None:
    session = small(3, target=300)
    won, lost = Fraction(35, 72), Fraction(37, 72)
    assert session.is_exact
    assert session.ahead == won**3 + 3 * won**2 * lost
    assert session.behind == 1 - session.ahead
    assert session.level == 0
    assert session.reached == won**3
    assert session.mean == 3 * Fraction(-100, 36)
    assert (session.best, session.worst) == (300, -300)
    assert session.quantile(Fraction(1, 2)) == -100


def test_a_thousand_rounds_are_exact_and_one_more_is_a_wave() -> None:
    exact, wave = small(MOST_EXACT), small(MOST_EXACT + 1)
    assert isinstance(exact.law, Law)
    assert exact.error == exact.sum_error == 0
    assert exact.ahead + exact.level + exact.behind == 1
    assert not wave.is_exact
    assert 0 < wave.error < 1e-13
    assert abs(float(wave.ahead) + float(wave.behind) + float(wave.level) - 1) <= 3 * wave.sum_error


def test_mean_and_deviation_are_those_of_the_law() -> None:
    session = small(50)
    assert isinstance(session.law, Law)
    assert session.mean == session.law.mean
    assert session.deviation == pytest.approx(session.law.deviation, rel=1e-14)


def test_a_law_too_large_for_memory_goes_by_the_fft(monkeypatch: pytest.MonkeyPatch) -> None:
    exact = small(400)
    monkeypatch.setattr(totals, "MOST_BYTES", 1_000)
    wave = small(400)
    assert not wave.is_exact
    assert abs(Fraction(wave.ahead) - Fraction(exact.ahead)) <= Fraction(wave.sum_error)


def test_cards_say_that_every_round_has_a_fresh_shoe() -> None:
    session = total_after(Mix.of(CARDS.matrix("A"), {"small": 100}), CARDS.chance(), 1_000)
    assert "freshly shuffled shoe of 6 decks" in str(session)
    facts = json.loads(json.dumps(session.facts()))
    assert facts["assumption"] == "Every round is dealt from a freshly shuffled shoe of 6 decks."
    ahead = facts["probability"]["ahead"]
    assert len(ahead["value"]) > 4_300  # longer than Python prints unasked
    assert small(10).facts()["assumption"] is None


def test_facts_are_exact() -> None:
    facts = small(2, target=200).facts()
    assert facts["exact"] is True
    assert facts["mean"] == "-50/9"
    assert facts["probability"]["target"] == {"value": "1225/5184", "about": 1225 / 5184}
    assert facts["quantiles"][4] == {"share": "1/2", "total": 0}


@pytest.mark.parametrize("rounds", [0, -1, MOST_ROUNDS + 1])
def test_rounds_have_a_limit(rounds: int) -> None:
    with pytest.raises(RulesError, match="expected 1 to 1,000,000,000 rounds"):
        small(rounds)


def test_a_wave_tells_its_error_and_no_more_digits_than_it_has() -> None:
    text = str(small(100_000))
    assert "no single probability is off by more than" in text
    assert "ahead" in text
    assert "below" in text


def test_digits() -> None:
    assert fraction_text(Fraction(10**9_000 + 7)) == "1" + "0" * 8_999 + "7"
    assert fraction_text(Fraction(-1, 36)) == "-1/36"
    assert decimal_text(Fraction(1, 3), 5) == "0.33333"
    assert decimal_text(Fraction(-5, 2)) == "-2.5"
    assert decimal_text(Fraction(7)) == "7"
    assert power_text(Fraction(1, 8 * 10**400)) == "1.25e-401"
    assert (certain_decimals(0.0), certain_decimals(1e-6), certain_decimals(1.0)) == (20, 5, 0)
    assert told(Fraction(1, 3), 0.0) == "33.333333 %"
    assert told(Fraction(1, 3), 1e-5) == "33.33 %"
    assert told(1e-13, 1e-12) == "below 1e-12"
    assert told(Fraction(1, 10**30), 0.0) == "1.00e-30"
    assert told(Fraction(0), 0.0) == "0.000000 %"

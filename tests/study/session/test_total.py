"""What a session comes to, as it is told."""

from __future__ import annotations

import json
from collections import Counter
from fractions import Fraction
from itertools import product
from math import factorial, prod
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from taisai.rules import RulesError, rulebook
from taisai.study.odds import Distribution, Mix
from taisai.study.report import certain_decimals, decimal_text, fraction_text, power_text, probability_text
from taisai.study.session import total as total_module
from taisai.study.session import total as totals
from taisai.study.session.total import (
    MOST_EXACT,
    MOST_LISTED,
    MOST_ROUNDS,
    Total,
    save_distribution,
    total_after,
)

BOOK = rulebook("rws-sic-bo-etg-v8")
US = rulebook("us-sic-bo")
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
    assert isinstance(exact.distribution, Distribution)
    assert exact.error == exact.sum_error == 0
    assert exact.ahead + exact.level + exact.behind == 1
    assert not wave.is_exact
    assert 0 < wave.error < 1e-13
    assert abs(float(wave.ahead) + float(wave.behind) + float(wave.level) - 1) <= 3 * wave.sum_error


def test_mean_and_deviation_are_those_of_the_law() -> None:
    session = small(50)
    assert isinstance(session.distribution, Distribution)
    assert session.mean == session.distribution.mean
    assert session.deviation == pytest.approx(session.distribution.deviation, rel=1e-14)


def test_a_law_too_large_for_memory_goes_by_the_fft(monkeypatch: pytest.MonkeyPatch) -> None:
    exact = small(400)
    monkeypatch.setattr(totals, "MOST_BYTES", 1_000)
    wave = small(400)
    assert not wave.is_exact
    assert abs(Fraction(wave.ahead) - Fraction(exact.ahead)) <= Fraction(wave.sum_error)


def test_cards_say_that_every_round_has_a_fresh_shoe() -> None:
    session = total_after(Mix.of(CARDS.matrix("A"), {"small": 100}), CARDS.chance(), 1_000)
    assert "a shoe of 6 decks, freshly shuffled" in str(session)
    facts = json.loads(json.dumps(session.facts()))
    assert facts["assumption"] == "Every round is dealt from a shoe of 6 decks, freshly shuffled."
    ahead = facts["probability"]["ahead"]
    assert len(ahead["value"]) > 4_300  # longer than Python prints unasked
    assert small(10).facts()["assumption"] is None


def test_facts_are_exact() -> None:
    facts = small(2, target=200).facts()
    assert facts["exact"] is True
    assert facts["mean"] == "-50/9"
    assert facts["probability"]["target"] == {"value": "1225/5184", "about": 1225 / 5184}
    assert facts["quantiles"][4] == {"share": "1/2", "total": 0}


def test_far_apart_totals_are_exact_though_they_span_a_wide_range() -> None:
    bets = {"small": 9_007_199_254_740_991, "big": 1, "triple-1": 3}
    once = Mix.of(US.matrix(), bets).distribution(US.chance())
    session = total_after(Mix.of(US.matrix(), bets), US.chance(), 12)
    expected: Counter[int] = Counter()
    for times in product(range(13), repeat=len(once.values)):
        if sum(times) == 12:
            ways = factorial(12) // prod(map(factorial, times))
            chance = prod(w**n for w, n in zip(once.weights, times, strict=True))
            expected[sum(v * n for v, n in zip(once.values, times, strict=True))] += ways * chance
    assert isinstance(session.distribution, Distribution)
    assert list(session.distribution.values) == sorted(expected)
    assert dict(session.probabilities()) == {
        value: Fraction(weight, once.total**12) for value, weight in expected.items()
    }
    assert total_after(Mix.of(US.matrix(), bets), US.chance(), 100).is_exact


def test_sparse_and_dense_are_one_law(monkeypatch: pytest.MonkeyPatch) -> None:
    mix = Mix.of(US.matrix(), {"small": 301, "big": 97, "triple-1": 13})
    sparse = total_after(mix, US.chance(), 30)
    monkeypatch.setattr(totals, "_CLOSE", 10**9)
    assert total_after(mix, US.chance(), 30).distribution == sparse.law


def test_many_ways_to_few_totals_are_found_out_and_too_many_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    mix = Mix.of(BOOK.matrix("A"), {"single-1": 10**15, "odd": 1, "small": 1})
    monkeypatch.setattr(totals, "MOST_SPARSE", 100)
    assert total_after(mix, BOOK.chance(), 9).is_exact
    monkeypatch.setattr(totals, "_TRIED", 100)
    with pytest.raises(RulesError, match="possible values"):
        total_after(mix, BOOK.chance(), 9)
    with pytest.raises(RulesError, match="possible values"):  # at once, and not after 37 to the power of 10^9
        total_after(mix, BOOK.chance(), MOST_ROUNDS)


def test_a_wave_says_why_it_is_not_exact(monkeypatch: pytest.MonkeyPatch) -> None:
    assert small(1_000).why_not_exact is None
    assert "By FFT, because there are more than 1,000 rounds: the error" in str(small(1_001))
    monkeypatch.setattr(totals, "MOST_BYTES", 2**10)
    assert "because exact fractions would take about" in str(small(1_000))
    assert small(1_000).facts()["why_not_exact"] == small(1_000).why_not_exact


def test_the_distribution_is_listed_up_to_its_limit() -> None:
    facts = small(MOST_LISTED - 1).facts()
    assert len(facts["distribution"]) == facts["points"] == MOST_LISTED
    assert sum(Fraction(point["probability"]) for point in facts["distribution"]) == 1
    assert small(2).facts()["distribution"] == [
        {"total": -200, "probability": "1369/5184"},
        {"total": 0, "probability": "1295/2592"},
        {"total": 200, "probability": "1225/5184"},
    ]
    facts = small(MOST_LISTED).facts()
    assert (facts["points"], facts["distribution"]) == (MOST_LISTED + 1, None)


def test_the_distribution_in_files(tmp_path: Path) -> None:
    session = small(MOST_LISTED)
    file = save_distribution(session, tmp_path / "d.json")
    kept = json.loads(file.read_text("utf-8"))
    expected = dict(session.probabilities())
    assert {point["total"]: Fraction(point["probability"]) for point in kept["distribution"]} == expected
    assert kept["mean"] == session.facts()["mean"]
    for one in (session, small(1_500)):
        file = save_distribution(one, tmp_path / "d.parquet")
        table = pq.read_table(file)
        assert dict(zip(*(table[name].to_pylist() for name in table.column_names), strict=True)) == {
            total: float(share) for total, share in one.probabilities()
        }
        assert table.schema.metadata[b"error_at_most"] == repr(one.error).encode()


def test_a_distribution_too_long_for_json_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(total_module, "MOST_TEXT", 2**20)
    with pytest.raises(RulesError, match="expected a distribution of at most 1 MiB as JSON, got about 5 MiB"):
        save_distribution(small(1_000), tmp_path / "d.json")
    with pytest.raises(
        RulesError, match=r"expected a file name that ends in \.json or \.parquet, got 'd.csv'"
    ):
        save_distribution(small(1), "d.csv")
    with pytest.raises(RulesError, match="cannot write"):
        save_distribution(small(1), tmp_path / "no" / "d.json")


@pytest.mark.parametrize("share", [0.5, True, "1/2", Fraction(0), Fraction(3, 2), 2])
@pytest.mark.parametrize("rounds", [3, 1_500])
def test_a_share_is_a_fraction(share: object, rounds: int) -> None:
    with pytest.raises(RulesError, match="expected a probability above 0 and at most 1, such as"):
        small(rounds).quantile(share)  # type: ignore[arg-type]


def test_all_quantiles_at_once_are_those_one_by_one() -> None:
    session = small(80)
    assert session.quantiles == tuple((share, session.quantile(share)) for share in totals.SHARES)
    assert session.quantile(1) == session.best  # type: ignore[arg-type]


@pytest.mark.parametrize("target", [1.5, True, "500", 10**30 + 1])
def test_a_target_is_a_whole_number(target: object) -> None:
    with pytest.raises(RulesError, match="expected a target of at most 10\\^30 won or lost, got"):
        small(3, target=target)  # type: ignore[arg-type]


@pytest.mark.parametrize("rounds", [0, -1, MOST_ROUNDS + 1, 1.5, True, "3"])
def test_rounds_have_a_limit(rounds: int) -> None:
    with pytest.raises(RulesError, match="expected 1 to 1,000,000,000 rounds"):
        small(rounds)


def test_a_wave_tells_its_error_and_no_more_digits_than_it_has() -> None:
    text = str(small(100_000))
    assert "the error of one probability is at most" in text
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
    assert probability_text(Fraction(1, 3), 0.0) == "33.333333 %"
    assert probability_text(Fraction(1, 3), 1e-5) == "33.33 %"
    assert probability_text(1e-13, 1e-12) == "below 1e-12"
    assert probability_text(Fraction(1, 10**30), 0.0) == "1.00e-30"
    assert probability_text(Fraction(0), 0.0) == "0.000000 %"

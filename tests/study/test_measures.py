"""Measures of areas, against sums over all rolls in plain Python."""

from fractions import Fraction
from itertools import combinations, product
from math import sqrt

import pytest

from taisai.rules import Outcome, RulesError, rulebook, rulebook_ids
from taisai.study.bands import BAND_LEVELS
from taisai.study.measures import measures
from taisai.study.shoe.composition import chance_left

LAYOUTS = [(book, layout) for book in rulebook_ids() for layout in rulebook(book).layouts]


@pytest.mark.parametrize(("name", "layout"), LAYOUTS)
def test_every_area_of_every_layout_by_counting(name: str, layout: str) -> None:
    book = rulebook(name)
    matrix, chance = book.matrix(layout), book.chance()
    if chance.decks is None:
        draws = [Outcome.of(*faces) for faces in product(range(1, 7), repeat=3)]
        weight = dict.fromkeys(draws, 0)
        for drawn in draws:
            weight[drawn] += 1
    else:  # what a shoe's draws weigh has its own oracle; here it is given
        weight = {Outcome.of(*hand): chance.weights[Outcome.of(*hand).index] for hand in _hands()}
    total = sum(weight.values())
    found = measures(matrix, chance)
    for area in matrix.areas:
        nets = {outcome: matrix.net(area, outcome) for outcome in weight}
        mean = sum(nets[o] * w for o, w in weight.items()) / total
        variance = sum((nets[o] - mean) ** 2 * w for o, w in weight.items()) / total
        third = float(sum((nets[o] - mean) ** 3 * w for o, w in weight.items()) / total)
        won = Fraction(sum(w for o, w in weight.items() if nets[o] > 0), total)
        one = found[area]
        assert (one.win_probability, one.house_edge, one.variance) == (won, -mean, variance)
        assert one.hits_one_in == 1 / won
        assert one.skew == pytest.approx(third / float(variance) ** 1.5, rel=1e-12)
        assert one.volatility_index == pytest.approx(1.6448536269514722 * sqrt(variance))


def _hands() -> set[tuple[int, ...]]:
    return {tuple(sorted(hand)) for hand in combinations([f for f in range(1, 7) for _ in range(3)], 3)}


@pytest.mark.parametrize("rounds", [0, -1, 10**15 + 1])
def test_bands_have_limits(rounds: int) -> None:
    book = rulebook("us-sic-bo")
    with pytest.raises(RulesError, match="expected 1 to 1000000000000000 rounds"):
        measures(book.matrix(), book.chance())["small"].band(rounds)


@pytest.mark.parametrize("level", [Fraction(0), Fraction(1)])
def test_a_level_is_between_0_and_1(level: Fraction) -> None:
    book = rulebook("us-sic-bo")
    with pytest.raises(RulesError, match="expected a level between 0 and 1"):
        measures(book.matrix(), book.chance())["small"].band(100, level)


@pytest.mark.parametrize("width", [60, 80, 110, 200])
def test_no_width_of_a_terminal_hides_an_area_or_an_end_of_a_band(width: int) -> None:
    book = rulebook("mbs-sic-bo-v6")
    found = measures(book.matrix(), book.chance(), [1_000, 1_000_000])
    for level, sheet in zip(BAND_LEVELS, found.report().sheets[1:], strict=True):
        assert len(sheet.rows) == len(found.families) < len(found.areas)
        told = sheet.text(width)
        for family in found.families:
            for rounds in found.rounds:
                band = family.areas[-1].band(rounds, level)
                assert f"{100 * band.low:.2f}" in told
                assert f"{100 * band.high:.2f}" in told
        joined = "".join(line[: line.find("  ", 1)] for line in told.splitlines())
        assert all(f"{family.areas[0].id}" in joined.replace(" ", "") for family in found.families)


def test_the_report_says_how_its_bands_were_computed() -> None:
    book = rulebook("us-sic-bo")
    matrix, chance = book.matrix(), book.chance()
    assert "normal" not in measures(matrix, chance, [1_000, 10_000]).report().notes[-1]
    notes = measures(matrix, chance, [10_000, 10**14]).report().notes[-1]
    families = len(measures(matrix, chance).families)
    assert f"{3 * families} of {6 * families} bands are normal" in notes


def test_a_shoe_that_nobody_saw_full_is_shown_without_decks() -> None:
    found = measures(rulebook("mbs-3-card-sic-bo").matrix(), chance_left((16,) * 6), [1_000])
    assert found.facts()["chance"] == {"kind": "cards", "decks": None, "seen": None, "draws": 142_880}
    assert "a shoe with 142,880 ways to draw three cards" in str(found)

"""The compiled matrices against the oracle, the golden files and icepool: every area on every roll."""

from __future__ import annotations

import csv
from collections import Counter
from fractions import Fraction
from functools import cache
from math import lcm

import icepool
import pytest

from taisai.rules import OUTCOMES, Bet, Matrix, Money, Outcome, Settlement, rulebook
from tests.oracle import PAY_TABLES, ROLLS, PayTable
from tests.oracle.goldens import MATRICES, golden_path, golden_text

LAYOUTS = [(table, layout) for table in PAY_TABLES for layout in table.layouts]
each_layout = pytest.mark.parametrize(
    ("table", "layout"), LAYOUTS, ids=[f"{table.rulebook}-{layout}" for table, layout in LAYOUTS]
)
each_table = pytest.mark.parametrize("table", PAY_TABLES, ids=lambda table: table.name)


@cache
def compiled(rulebook_id: str, layout: str) -> Matrix:
    """The matrix under test."""
    return rulebook(rulebook_id).matrix(layout)


def test_the_outcomes_are_the_56_in_order_and_weigh_216() -> None:
    seen = Counter("".join(map(str, sorted(roll))) for roll in ROLLS)
    assert [str(outcome) for outcome in OUTCOMES] == sorted(seen)
    assert {str(outcome): outcome.ways for outcome in OUTCOMES} == seen
    assert [Outcome.of(*roll).index for roll in ROLLS] == [
        sorted(seen).index("".join(map(str, sorted(roll)))) for roll in ROLLS
    ]


@each_layout
def test_the_areas_are_those_the_document_prints(table: PayTable, layout: str) -> None:
    areas = compiled(table.rulebook, layout).areas
    assert len(areas) == len(set(areas))
    assert {str(area) for area in areas} == set(table.areas)


@each_layout
def test_every_net_and_clause_on_all_216_rolls(table: PayTable, layout: str) -> None:
    matrix = compiled(table.rulebook, layout)
    disagreements = []
    for row, area in enumerate(matrix.areas):
        for roll in ROLLS:
            outcome = Outcome.of(*roll)
            net, clause = matrix.net(area, outcome), str(matrix.clauses[row][outcome.index])
            expected = table.verdict(str(area), roll)
            if (net, clause) != expected:
                disagreements.append(f"{area} on {roll}: oracle {expected}, matrix {net} by {clause}")
    assert disagreements == []


@each_layout
def test_nets_are_whole_numbers_over_the_least_denominator(table: PayTable, layout: str) -> None:
    matrix = compiled(table.rulebook, layout)
    verdicts = {(area, roll): table.verdict(area, roll).net for area in table.areas for roll in ROLLS}
    assert matrix.denominator == lcm(*(net.denominator for net in verdicts.values()))
    for area, nets in zip(matrix.areas, matrix.nets, strict=True):
        for roll in ROLLS:
            got = nets[Outcome.of(*roll).index]
            assert type(got) is int
            assert got == verdicts[area, roll] * matrix.denominator


@each_layout
def test_the_illuminated_areas_are_those_the_oracle_calls(table: PayTable, layout: str) -> None:
    matrix = compiled(table.rulebook, layout)
    for roll in ROLLS:
        assert {str(area) for area in matrix.illuminated(Outcome.of(*roll))} == set(table.called(roll))


@each_layout
def test_two_units_on_every_area_settle_as_the_oracle_says(table: PayTable, layout: str) -> None:
    # Two units, so that half odds come out whole.
    matrix = compiled(table.rulebook, layout)
    for roll in ROLLS:
        settled = matrix.settle(Outcome.of(*roll), [Bet(area, Money(2)) for area in matrix.areas])
        assert isinstance(settled, Settlement)
        expected = {area: table.verdict(area, roll) for area in table.areas}
        assert {bet.area: bet.returned for bet in settled.bets} == {
            area: 2 * (verdict.net + 1) for area, verdict in expected.items()
        }
        assert {bet.area: str(bet.clause) for bet in settled.bets} == {
            area: verdict.clause for area, verdict in expected.items()
        }
        assert settled.staked == 2 * len(table.areas)
        assert settled.returned == sum(bet.returned for bet in settled.bets)


@each_table
def test_the_golden_matrix_is_what_the_oracle_says_now(table: PayTable) -> None:
    assert golden_path(table).read_text(encoding="utf-8") == golden_text(table), (
        "stale: run python -m tests.oracle.goldens and review what changed"
    )


def test_there_is_one_golden_matrix_for_each_pay_table_and_no_other() -> None:
    assert {path.name for path in MATRICES.glob("*.csv")} == {golden_path(table).name for table in PAY_TABLES}


@each_layout
def test_the_golden_matrix_equals_the_compiled_one_cell_by_cell(table: PayTable, layout: str) -> None:
    matrix = compiled(table.rulebook, layout)
    with golden_path(table).open(encoding="utf-8", newline="") as lines:
        header, *rows = csv.reader(lines)
    assert header == ["area", *(str(outcome) for outcome in OUTCOMES)]
    assert {area: cells for area, *cells in rows} == {
        str(area): [str(matrix.net(area, outcome)) for outcome in OUTCOMES] for area in matrix.areas
    }


# Icepool as a second opinion. It counts multisets by its own algorithms and is told the odds again, by kind
# of area, so that neither the oracle's prose nor the compiler's conditions can lean on it.

THREE_DICE = icepool.d6.pool(3)

MORE = "three 30 double-single 50"
LINES = {
    "mbs-sic-bo-v6-A": "triple 180 double 11 any 31 pair 6 four 7 single 1/2/12 " + MORE,
    "rws-sic-bo-etg-v8-A": "triple 195 double 11.5 any 32 pair 6 four 7.5 single 1/2/12",
    "rws-sic-bo-etg-v8-B": "triple 195 double 11.5 any 32 pair 6 four 7.5 single 1/2/12 " + MORE,
    "rws-sic-bo-etg-v8-C": "triple 180 double 11 any 31 pair 6 four 7 single 1/2/12 " + MORE,
    "mbs-3-card-sic-bo-A": "any 31",
    "us-sic-bo-A": "triple 150 double 8 any 24 pair 5 single 1/2/3",
}
TOTALS_4_TO_17 = {
    "mbs-sic-bo-v6-A": "62 31 18 12 8 7 6 6 7 8 12 18 31 62",
    "rws-sic-bo-etg-v8-A": "64 32 19 12 8.5 7 6.5 6.5 7 8.5 12 19 32 64",
    "rws-sic-bo-etg-v8-B": "64 32 19 12 8.5 7 6.5 6.5 7 8.5 12 19 32 64",
    "rws-sic-bo-etg-v8-C": "62 31 18 12 8 7 6 6 7 8 12 18 31 62",
    "mbs-3-card-sic-bo-A": "62 31 18 12 8 7 6 6 7 8 12 18 31 62",
    "us-sic-bo-A": "50 18 14 12 8 6 6 6 6 8 12 14 18 50",
}


EVEN_MONEY = {"small": range(4, 11), "big": range(11, 18), "odd": range(5, 18, 2), "even": range(4, 17, 2)}


def icepool_hits(area: str) -> icepool.Die[int]:
    """How often the area hits: 0 or 1, for a single die up to 3, as icepool counts it."""
    kind, _, numbers = area.rpartition("-")
    faces = [int(number) for number in numbers if number.isdigit()]
    if area in EVEN_MONEY:
        wins = EVEN_MONEY[area]
        return THREE_DICE.expand().map(lambda low, mid, high: int(low != high and low + mid + high in wins))
    if kind == "total":
        return THREE_DICE.sum().map(lambda total: int(total == int(numbers)))
    count, hits = {
        "any": (THREE_DICE.unique().size(), {1: 1}),
        "single": (THREE_DICE.keep_outcomes(faces).size(), {1: 1, 2: 2, 3: 3}),
        "double": (THREE_DICE.keep_outcomes(faces).size(), {2: 1, 3: 1}),
        "triple": (THREE_DICE.keep_outcomes(faces).size(), {3: 1}),
        "pair": (THREE_DICE.intersection(faces).size(), {2: 1}),
        "three": (THREE_DICE.intersection(faces).size(), {3: 1}),
        "double-single": (THREE_DICE.intersection(faces).size(), {3: 1}),
        "four": (THREE_DICE.intersection(faces).size(), {3: 1}),
    }[kind]
    return count.map(lambda value: hits.get(value, 0))


def icepool_odds(name: str, area: str) -> list[Fraction]:
    """The odds to 1 for one hit, and for two and three where the line names them."""
    kind, _, number = area.rpartition("-")
    if kind == "total":
        return [Fraction(TOTALS_4_TO_17[name].split()[int(number) - 4])]
    words = LINES[name].split()
    lines = dict(zip(words[::2], words[1::2], strict=True))
    return [Fraction(odds) for odds in lines.get(kind, "1").split("/")]


@each_layout
def test_icepool_agrees_on_the_whole_distribution_of_every_area(table: PayTable, layout: str) -> None:
    matrix = compiled(table.rulebook, layout)
    for area, nets in zip(matrix.areas, matrix.nets, strict=True):
        odds = icepool_odds(table.name, area)
        die = icepool_hits(area).map(lambda hits, odds=odds: odds[hits - 1] if hits else Fraction(-1))
        ours: Counter[Fraction] = Counter()
        for outcome, net in zip(OUTCOMES, nets, strict=True):
            ours[Fraction(net, matrix.denominator)] += outcome.ways
        wins = sum(ways for net, ways in ours.items() if net > 0)
        assert Fraction(wins, 216) == die.probability(">", 0), area
        assert sum(net * Fraction(ways, 216) for net, ways in ours.items()) == die.mean(), area
        assert {net: Fraction(ways, 216) for net, ways in ours.items()} == {
            net: Fraction(quantity, die.denominator()) for net, quantity in die.items()
        }, area

"""What Sic Bo ETG at Resorts World Sentosa, version 8, pays, clause by clause; figures from the document."""

from __future__ import annotations

from typing import Final

import pytest

from taisai.rules import (
    OUTCOMES,
    Bet,
    BetRefusal,
    BetRefusalReason,
    Matrix,
    Outcome,
    Rulebook,
    Settlement,
    rulebook,
)
from taisai.rules.chance import ChanceKind
from tests.clauses.conduct_queries import (
    equipment_by,
    steps_by,
)
from tests.clauses.rulebook_queries import (
    cells_of,
    drawn,
    errata,
    not_on_layout,
    readings,
    won_in,
)
from tests.clauses.winning import (
    FACES,
    OUTCOME_NAMES,
    TRIPLES,
    Paid,
    all_alike,
    all_three,
    both_show,
    by_count,
    for_each,
    just_these,
    sums_but_no_triple,
    three_of_four,
    totals,
    two_or_three,
)

LAYOUTS: Final = ("A", "B", "C")
DOMINOS: Final = "14 12 24 13 23 34 25 26 35 45 36 15 16 46 56"
FOURS: Final = "3456 2356 2345 1234"
THREES: Final = "126 135 234 256 346 123 136 145 235 356 124 146 236 245 456 125 134 156 246 345"
DOUBLE_SINGLES: Final = (
    "113 114 115 116 221 223 224 225 226 331 332 334 335 336 "
    "441 442 443 445 446 551 552 553 554 556 661 662 663 664"
)
# On a triple the kinds of bet that win go by a clause of their own, whatever the layout.
ON_A_TRIPLE: Final = {
    "triple": "3.9.1",
    "any": "3.9.2",
    "double": "3.9.3",
    "single": "3.9.4",
    "total": "3.9.5",
}


@pytest.fixture(scope="module")
def book() -> Rulebook:
    return rulebook("rws-sic-bo-etg-v8")


def kind_of(area: str) -> str:
    return area.partition("-")[0] if not area.startswith("double-single") else "double-single"


def even_money() -> dict[str, Paid]:
    return {
        "small": sums_but_no_triple(4, 10, 1, "1"),
        "big": sums_but_no_triple(11, 17, 1, "1"),
        "even": sums_but_no_triple(4, 16, 2, "1"),
        "odd": sums_but_no_triple(5, 17, 2, "1"),
    }


def triples_of(specific: str, any_triple: str) -> dict[str, Paid]:
    return {"any-triple": all_alike(any_triple), **for_each("triple", FACES, all_three, specific)}


def paid_by_table(book: Rulebook, layout: str, clause: str, expected: dict[str, Paid]) -> None:
    """The layout pays just this, by this clause, or on a triple by the one that 3.9 has for the kind."""
    matrix = book.matrix(layout)
    assert set(matrix.areas) == set(expected)
    for area, paid in expected.items():
        wanted = {
            outcome: (odds, ON_A_TRIPLE.get(kind_of(area), "none") if outcome in TRIPLES else clause)
            for outcome, odds in paid.items()
        }
        assert won_in(matrix, area) == wanted, f"{area} on layout {layout}"
    table = book.pay_tables[book.layout(layout).pay_table]
    assert {table.clause, *(line.clause for line in table.lines)} == {clause}


# Pay


def test_rws_4_1_1_pay_table_1_on_layout_a(book: Rulebook) -> None:
    expected = {
        **even_money(),
        **for_each("single", FACES, by_count, "1", "2", "12"),
        **totals(
            {
                (4, 17): "64",
                (5, 16): "32",
                (6, 15): "19",
                (7, 14): "12",
                (8, 13): "8.5",
                (9, 12): "7",
                (10, 11): "6.5",
            }
        ),
        **for_each("pair", DOMINOS, both_show, "6"),
        **for_each("four", FOURS, three_of_four, "7.5"),
        **for_each("double", FACES, two_or_three, "11.5"),
        **triples_of("195", "32"),
    }
    assert len(expected) == 56
    paid_by_table(book, "A", "4.1.1", expected)
    assert book.matrix("A").denominator == 2


def test_rws_4_1_2_pay_table_2_on_layout_b(book: Rulebook) -> None:
    expected = {
        **even_money(),
        **for_each("single", FACES, by_count, "1", "2", "12"),
        **totals(
            {
                (4, 17): "64",
                (5, 16): "32",
                (6, 15): "19",
                (7, 14): "12",
                (8, 13): "8.5",
                (9, 12): "7",
                (10, 11): "6.5",
            }
        ),
        **for_each("pair", DOMINOS, both_show, "6"),
        **for_each("four", FOURS, three_of_four, "7.5"),
        **for_each("double", FACES, two_or_three, "11.5"),
        **triples_of("195", "32"),
        **for_each("three", THREES, just_these, "30"),
        **for_each("double-single", DOUBLE_SINGLES, just_these, "50"),
    }
    assert len(expected) == 104
    paid_by_table(book, "B", "4.1.2", expected)
    assert book.matrix("B").denominator == 2


def test_rws_4_1_3_pay_table_3_on_layout_c(book: Rulebook) -> None:
    expected = {
        **even_money(),
        **for_each("single", FACES, by_count, "1", "2", "12"),
        **totals(
            {
                (4, 17): "62",
                (5, 16): "31",
                (6, 15): "18",
                (7, 14): "12",
                (8, 13): "8",
                (9, 12): "7",
                (10, 11): "6",
            }
        ),
        **for_each("pair", DOMINOS, both_show, "6"),
        **for_each("double", FACES, two_or_three, "11"),
        **triples_of("180", "31"),
        **for_each("four", FOURS, three_of_four, "7"),
        **for_each("three", THREES, just_these, "30"),
        **for_each("double-single", DOUBLE_SINGLES, just_these, "50"),
    }
    assert len(expected) == 104
    paid_by_table(book, "C", "4.1.3", expected)
    assert book.matrix("C").denominator == 1


def test_rws_4_1_3_mbs_v6_pays_the_same_row_by_row(book: Rulebook) -> None:
    ours, theirs = book.matrix("C"), rulebook("mbs-sic-bo-v6").matrix("A")
    assert set(ours.areas) == set(theirs.areas)
    for area in ours.areas:
        for outcome in OUTCOMES:
            assert ours.net(area, outcome) == theirs.net(area, outcome), (area, outcome)


def test_rws_4_1_1_layout_a_has_no_three_number_and_no_double_single(book: Rulebook) -> None:
    kinds = {kind_of(area) for area in book.matrix("A").areas}
    assert kinds.isdisjoint({"three", "double-single"})
    not_on_layout(book, "A", ["three-126", "double-single-113"])


def test_rws_4_1_2_neither_112_nor_665_is_on_layout_b(book: Rulebook) -> None:
    not_on_layout(book, "B", ["double-single-112", "double-single-665"])


def test_rws_4_1_3_neither_112_nor_665_is_on_layout_c(book: Rulebook) -> None:
    not_on_layout(book, "C", ["double-single-112", "double-single-665"])


def test_rws_4_1_each_layout_has_its_own_table(book: Rulebook) -> None:
    assert [(layout.id, layout.clause) for layout in book.layouts.values()] == [
        ("A", "Appendix A"),
        ("B", "Appendix B"),
        ("C", "Appendix C"),
    ]
    assert [book.pay_tables[book.layout(layout).pay_table].clause for layout in LAYOUTS] == [
        "4.1.1",
        "4.1.2",
        "4.1.3",
    ]
    assert len({book.matrix(layout).digest for layout in LAYOUTS}) == 3
    not_on_layout(book, "A B C", ["total-3", "total-18"])


def test_rws_4_1_half_odds_are_never_rounded(book: Rulebook) -> None:
    halves = {"total-8": (2, 3, 3), "total-11": (1, 4, 6), "four-1234": (1, 2, 3), "double-6": (1, 6, 6)}
    for layout in ("A", "B"):
        for area, dice in halves.items():
            matrix, outcome = book.matrix(layout), Outcome.of(*dice)
            settled = matrix.settle(outcome, [Bet.on(area, 2)])
            assert isinstance(settled, Settlement)
            assert settled.returned == 2 + 2 * matrix.net(area, outcome)
            refused = matrix.settle(outcome, [Bet.on(area, 3)])
            assert isinstance(refused, BetRefusal)
            assert refused.reason is BetRefusalReason.WINNINGS_NOT_WHOLE


# Winners and losers on triples and elsewhere


def clauses_where(matrix: Matrix, *, won: bool, on_triples: bool) -> set[tuple[str, str]]:
    """Each (kind of area, clause) among the cells that are so."""
    return {
        (kind_of(area), matrix.clauses[row][place])
        for row, area in enumerate(matrix.areas)
        for place, outcome in enumerate(OUTCOME_NAMES)
        if (outcome in TRIPLES) == on_triples and (matrix.nets[row][place] > 0) == won
    }


def test_rws_3_8_losers_are_collected(book: Rulebook) -> None:
    for layout in LAYOUTS:
        matrix = book.matrix(layout)
        kinds = {kind_of(area) for area in matrix.areas}
        # Off the triples, every kind of bet loses somewhere, and always by 3.8.
        assert clauses_where(matrix, won=False, on_triples=False) == {(kind, "3.8") for kind in kinds}
        assert "3.8" not in {clause for _, clause in clauses_where(matrix, won=True, on_triples=False)}


def test_rws_3_9_only_five_kinds_of_bet_win_on_a_triple(book: Rulebook) -> None:
    for layout in LAYOUTS:
        matrix = book.matrix(layout)
        for number in range(1, 7):
            wins = {f"triple-{number}", "any-triple", f"double-{number}", f"single-{number}"}
            if number in (2, 3, 4, 5):
                wins.add(f"total-{3 * number}")
            assert set(matrix.illuminated(Outcome.of(number, number, number))) == wins, (layout, number)


def test_rws_3_9_every_loser_on_a_triple_goes_by_it(book: Rulebook) -> None:
    for layout in LAYOUTS:
        matrix = book.matrix(layout)
        # Any triple wins on every triple; every other kind of bet loses on some.
        kinds = {kind_of(area) for area in matrix.areas} - {"any"}
        assert clauses_where(matrix, won=False, on_triples=True) == {(kind, "3.9") for kind in kinds}


def winning_on_triples(book: Rulebook, kind: str, clause: str) -> None:
    for layout in LAYOUTS:
        cells = clauses_where(book.matrix(layout), won=True, on_triples=True)
        assert {by for which, by in cells if which == kind} == {clause}
        assert {which for which, by in cells if by == clause} == {kind}


def test_rws_3_9_1_specific_triple(book: Rulebook) -> None:
    winning_on_triples(book, "triple", "3.9.1")


def test_rws_3_9_2_any_triple(book: Rulebook) -> None:
    winning_on_triples(book, "any", "3.9.2")


def test_rws_3_9_3_double(book: Rulebook) -> None:
    winning_on_triples(book, "double", "3.9.3")


def test_rws_3_9_4_single(book: Rulebook) -> None:
    winning_on_triples(book, "single", "3.9.4")


def test_rws_3_9_5_totals_6_9_12_and_15(book: Rulebook) -> None:
    winning_on_triples(book, "total", "3.9.5")
    for layout in LAYOUTS:
        matrix = book.matrix(layout)
        wins = {area for area in matrix.areas for _, by in won_in(matrix, area).values() if by == "3.9.5"}
        assert wins == {"total-6", "total-9", "total-12", "total-15"}


# Dice, terminals, layouts


def test_rws_2_2_1_three_dice(book: Rulebook) -> None:
    chance = book.chance()
    assert chance.kind is ChanceKind.DICE
    assert (chance.total, sum(chance.weights), len(chance.weights)) == (216, 216, 56)
    assert [chance.weights[OUTCOME_NAMES.index(outcome)] for outcome in ("666", "566", "456")] == [1, 3, 6]
    assert book.chance_rule.clause == "2.2.1"
    assert equipment_by(book, "2.2.1") == ["dice"]


def test_rws_1_3_the_game_console_and_the_result_keyed_in_there(book: Rulebook) -> None:
    assert equipment_by(book, "1.3") == ["game-console"]
    assert steps_by(book, "1.3") == ["dealer: enter-result, revealed to entered once dice-flat"]


def test_rws_1_7_player_terminals(book: Rulebook) -> None:
    assert equipment_by(book, "1.7") == ["player-terminal, for bets with credits"]
    assert len(book.equipment) == 5


def test_rws_2_1_1_the_display(book: Rulebook) -> None:
    assert equipment_by(book, "2.1.1") == ["display"]


def rows(kind: str, *lines: str) -> list[str]:
    return [" ".join(n if n == "-" else f"{kind}-{n}" for n in line.split()) for line in lines]


def odds_printed(book: Rulebook, layout: str) -> list[str]:
    blocks = ("doubles-with-single-odds", "three-numbers-odds", "pair-odds", "single-odds")
    return [cell for block in blocks for cell in cells_of(book, layout, block)]


STRIP: Final = "(single-1 on 1) (single-1 on 2) (single-1 on 3)"
LOST_PICTURES: Final = {"triples", "doubles-left", "doubles-right", "pairs"}


def test_rws_4_1_1_the_drawing_of_layout_a(book: Rulebook) -> None:
    assert drawn(book, "A", "ours") == LOST_PICTURES
    assert cells_of(book, "A", "totals") == rows("total", "17 16 15 14 13 12 11 10 9 8 7 6 5 4")
    assert cells_of(book, "A", "four-numbers") == rows("four", "3456 2356 2345 1234")
    assert cells_of(book, "A", "singles") == rows("single", "6 5 4 3 2 1")
    assert odds_printed(book, "A") == ["(pair-12)", STRIP]


def test_rws_4_1_2_the_drawing_of_layout_b(book: Rulebook) -> None:
    assert drawn(book, "B", "ours") == LOST_PICTURES | {"any-triple"}
    assert cells_of(book, "B", "doubles-with-single") == rows(
        "double-single",
        "- 113 114 115 116",
        "221 223 224 225 226",
        "331 332 334 335 336",
        "441 442 443 445 446",
        "551 552 553 554 556",
        "661 662 663 664 -",
    )
    assert cells_of(book, "B", "three-numbers") == rows(
        "three", "126 135 234 256 346", "123 136 145 235 356", "124 146 236 245 456", "125 134 156 246 345"
    )
    assert cells_of(book, "B", "totals") == rows("total", "17 16 15 14 13 12 11 10 9 8 7 6 5 4")
    assert cells_of(book, "B", "four-numbers") == rows("four", "3456 2356 2345 1234")
    assert cells_of(book, "B", "singles") == rows("single", "6 5 4 3 2 1")
    assert odds_printed(book, "B") == ["(double-single-113)", "(three-126)", "(pair-12)", STRIP]


def test_rws_4_1_3_the_drawing_of_layout_c(book: Rulebook) -> None:
    assert drawn(book, "C", "ours") == LOST_PICTURES
    assert cells_of(book, "C", "doubles-with-single") == rows(
        "double-single",
        "113 114 115 116 -",
        "221 223 224 225 226",
        "331 332 334 335 336",
        "441 442 443 445 446",
        "551 552 553 554 556",
        "661 662 663 664 -",
    )
    assert cells_of(book, "C", "three-numbers") == rows(
        "three", "126 135 234 256 346", "123 136 145 235 356", "124 146 236 245 456", "125 134 156 246 345"
    )
    assert cells_of(book, "C", "totals") == rows("total", "17 16 15 14 13 12 11 10 9 8 7 6 5 4")
    assert cells_of(book, "C", "four-numbers") == rows("four", "3456 2356 2345 1234")
    assert cells_of(book, "C", "singles") == rows("single", "6 5 4 3 2 1")
    assert odds_printed(book, "C") == ["(double-single-113)", "(three-126)", "(pair-12)", STRIP]


# The document itself


def test_rws_readings_are_marked_as_such(book: Rulebook) -> None:
    assert readings(book) == sorted(
        [
            "4.1.1 4.1.2 4.1.3",
            "3.5 3.6 5.3.3 [tumble]",
            "1.5 5.10 [higher_may_act]",
            "3.3",
            "5.1 5.1.2 [fail_over_grace]",
            "5.1.1 5.1.2",
            "5.1.1 5.1.2",
            "5.2.1 5.2.2",
            "5.1 5.2",
            "5.1 5.2 5.4 5.8",
            "5.4",
            "3.5 5.7",
            "4.1.1 4.1.2",
            "4.1 Appendix A Appendix B Appendix C",
            "5.3.3 5.1.1",
            "5.3 5.10",
            "5.3.1 3.6",
            "3.6 5.3.3",
            "5.4 5.10",
            "5.1",
            "5.7 5.10",
            "1.10 5.5",
            "5.1.1 5.2",
        ]
    )


def test_rws_errata_are_the_noise_of_the_scanned_copy(book: Rulebook) -> None:
    assert errata(book) == sorted(
        [
            "1.1: 11 → 1.1",
            "4.1.1: 85to1 → 8.5 to 1",
            "4.1.1: l1to1l → 1 to 1",
            "4.1.2: 85to1 → 8.5 to 1",
            "4.1.2: Lol → 7.5 to 1",
            "4.1.3: 7101 → 7 to 1",
            "Appendix A: (nothing)",
            "Appendix B: (nothing)",
            "Appendix C: 1:22 → 12 to 1",
            "Appendix C: 1:10ONONEDICE → 1 to 1 on one die",
            "Appendix C: 1:20NTWODICE → 2 to 1 on two dice",
            "Appendix C: 1BW'N531 → 31 to 1",
            "Appendix C: 325 → 345",
            "Appendix C: 243 → 443",
            "Appendix C: 426 → 446",
            "Appendix C: 3%6 → 356",
            "Appendix C: (no cells)",
        ]
    )
    # Only what the governing copy lacks is no fault of the scan.
    assert [one.printed for one in book.errata if one.source is None] == ["(no cells)"]


def test_rws_clauses_are_those_of_the_document(book: Rulebook) -> None:
    assert list(book.clauses) == [
        *("1", *(f"1.{n}" for n in range(1, 11))),
        *("2", "2.1", "2.1.1", "2.2", "2.2.1"),
        *("3", *(f"3.{n}" for n in range(1, 10)), *(f"3.9.{n}" for n in range(1, 6))),
        *("4", "4.1", "4.1.1", "4.1.2", "4.1.3"),
        *("5", "5.1", "5.1.1", "5.1.2", "5.2", "5.2.1", "5.2.2", "5.3", "5.3.1", "5.3.2", "5.3.3"),
        *(f"5.{n}" for n in range(4, 11)),
        *("Appendix A", "Appendix B", "Appendix C"),
    ]
    assert (book.version, str(book.effective)) == ("8", "2021-05-24 08:00:00")

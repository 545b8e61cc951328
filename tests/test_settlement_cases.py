"""The settlement cases a pit manager can read, settled: every line of ``cases/settlement``."""

from __future__ import annotations

from collections import defaultdict
from functools import cache
from pathlib import Path
from typing import NamedTuple, cast

import pytest

from taisai.rules import (
    HOUSE_PROCEDURES,
    OUTCOMES,
    AreaId,
    Bet,
    BetRefusal,
    BetRefusalReason,
    Matrix,
    Money,
    Outcome,
    Settlement,
    rulebook,
)
from tests.oracle import PAY_TABLES, PayTable

CASES = Path(__file__).resolve().parent.parent / "cases" / "settlement"
GREATEST = 2**53 - 1

HOUSE_CLAUSES = {
    "stake-not-whole": "house:stakes",
    "stake-not-positive": "house:stakes",
    "beyond-greatest-sum": "house:greatest-sum",
    "winnings-not-whole": "house:whole-money",
}
"""Where no document gives the reason: the procedure of the house."""

each_table = pytest.mark.parametrize("table", PAY_TABLES, ids=lambda table: table.name)


class Case(NamedTuple):
    """One line of a case file: a bet on a roll and what comes of it."""

    line: str
    dice: tuple[int, int, int]
    area: str
    stake: int
    returned: int
    clause: str


class RefusedCase(NamedTuple):
    """One line of ``refused.txt``: a bet and the reason it is not taken."""

    rulebook: str
    layout: str
    area: str
    stake: int | float
    reason: str


def rows(name: str) -> list[tuple[str, list[str]]]:
    """The lines of a case file that are neither blank nor a comment, each with where it stands."""
    lines = (CASES / name).read_text(encoding="utf-8").splitlines()
    numbered = [(f"{name}:{number}", line.split()) for number, line in enumerate(lines, start=1)]
    return [(where, words) for where, words in numbered if words and words[0] != "#"]


def cases_of(table: PayTable) -> list[Case]:
    """The cases of one pay table."""
    cases = []
    for where, (first, second, third, area, stake, returned, clause) in rows(f"{table.name}.txt"):
        dice = (int(first), int(second), int(third))
        cases.append(Case(where, dice, area, int(stake), int(returned), clause))
    return cases


def refused_cases() -> list[RefusedCase]:
    """The cases of ``refused.txt``."""
    return [
        RefusedCase(book, layout, area, float(stake) if "." in stake else int(stake), reason)
        for _, (book, layout, area, stake, reason) in rows("refused.txt")
    ]


def bet_on(area: str, stake: float) -> Bet:
    """A bet as a case writes it, right or wrong."""
    return Bet(AreaId(area), cast("Money", stake))


@cache
def compiled(rulebook_id: str, layout: str) -> Matrix:
    """The matrix under test."""
    return rulebook(rulebook_id).matrix(layout)


def matrices(table: PayTable) -> list[Matrix]:
    """The matrices a case file speaks of: one for each layout with that pay table."""
    return [compiled(table.rulebook, layout) for layout in table.layouts]


def test_every_pay_table_has_its_file_and_no_file_is_left_out() -> None:
    expected = {f"{table.name}.txt" for table in PAY_TABLES} | {"refused.txt"}
    assert {path.name for path in CASES.iterdir()} == expected


@each_table
def test_the_file_holds_at_least_forty_cases_that_the_oracle_confirms(table: PayTable) -> None:
    cases = cases_of(table)
    assert len(cases) >= 40
    for case in cases:
        net, clause = table.verdict(case.area, case.dice)
        assert case.returned == case.stake * (net + 1), case.line
        assert case.clause == clause, case.line


@each_table
def test_each_case_settles_as_written(table: PayTable) -> None:
    for matrix in matrices(table):
        for case in cases_of(table):
            settled = matrix.settle(Outcome.of(*case.dice), [bet_on(case.area, case.stake)])
            assert isinstance(settled, Settlement), case.line
            (bet,) = settled.bets
            assert (bet.area, bet.stake) == (case.area, case.stake), case.line
            assert (bet.returned, str(bet.clause)) == (case.returned, case.clause), case.line
            assert bet.won == max(case.returned - case.stake, 0), case.line
            assert (settled.staked, settled.returned) == (case.stake, case.returned), case.line


@each_table
def test_cases_of_one_roll_settle_together_in_the_order_they_were_placed(table: PayTable) -> None:
    by_roll: dict[str, list[Case]] = defaultdict(list)
    for case in cases_of(table):
        by_roll[str(Outcome.of(*case.dice))].append(case)
    assert max(map(len, by_roll.values())) > 4
    for matrix in matrices(table):
        for cases in by_roll.values():
            bets = [bet_on(case.area, case.stake) for case in cases]
            settled = matrix.settle(Outcome.of(*cases[0].dice), bets)
            assert isinstance(settled, Settlement)
            assert [(bet.area, bet.returned) for bet in settled.bets] == [
                (case.area, case.returned) for case in cases
            ]
            assert settled.staked == sum(case.stake for case in cases)
            assert settled.returned == sum(case.returned for case in cases)


@pytest.mark.parametrize(
    "case", refused_cases(), ids=lambda case: f"{case.rulebook}-{case.layout}-{case.area}={case.stake}"
)
def test_a_refused_bet_is_refused_whatever_the_dice_show(case: RefusedCase) -> None:
    matrix = compiled(case.rulebook, case.layout)
    for outcome in OUTCOMES:
        refused = matrix.settle(outcome, [bet_on(case.area, case.stake)])
        assert isinstance(refused, BetRefusal), outcome
        assert (refused.reason.value, refused.bet) == (case.reason, 0), outcome
        where = (
            matrix.layout_clause
            if refused.reason is BetRefusalReason.NOT_ON_LAYOUT
            else HOUSE_CLAUSES[case.reason]
        )
        assert refused.clause == where, outcome


def test_refused_cases_name_every_reason_and_every_rulebook() -> None:
    cases = refused_cases()
    assert {case.reason for case in cases} == set(BetRefusalReason) == {"not-on-layout", *HOUSE_CLAUSES}
    assert set(HOUSE_CLAUSES.values()) <= set(HOUSE_PROCEDURES)
    assert {case.rulebook for case in cases} == {table.rulebook for table in PAY_TABLES}


def test_one_refused_bet_refuses_all_that_are_handed_in_with_it_and_is_named() -> None:
    for case in refused_cases():
        bets = [bet_on("small", 100), bet_on(case.area, case.stake), bet_on("big", 100)]
        refused = compiled(case.rulebook, case.layout).settle(Outcome.of(1, 2, 4), bets)
        assert isinstance(refused, BetRefusal), case
        assert (refused.reason.value, refused.bet) == (case.reason, 1), case


def test_of_several_refused_bets_the_lowest_rank_is_named_and_of_equals_the_earliest() -> None:
    matrix = compiled("rws-sic-bo-etg-v8", "A")
    # From the highest rank to the lowest, each twice.
    worse_and_worse = [
        ("total-8", 3),
        ("small", GREATEST + 1),
        ("small", 0),
        ("small", 2.5),
        ("total-3", 100),
    ]
    for taken in range(1, len(worse_and_worse) + 1):
        bets = [bet_on(area, stake) for area, stake in worse_and_worse[:taken] for _ in range(2)]
        refused = matrix.settle(Outcome.of(1, 2, 4), bets)
        assert isinstance(refused, BetRefusal)
        assert refused.bet == 2 * (taken - 1)
        alone = matrix.settle(Outcome.of(1, 2, 4), bets[-1:])
        assert isinstance(alone, BetRefusal)
        assert (refused.reason, refused.message) == (alone.reason, alone.message)


@each_table
def test_a_return_up_to_the_greatest_sum_is_paid_and_one_beyond_it_refused(table: PayTable) -> None:
    for matrix in matrices(table):
        paid = matrix.settle(Outcome.of(1, 2, 4), [bet_on("small", GREATEST // 2)])
        assert isinstance(paid, Settlement)
        assert paid.returned == GREATEST - 1
        refused = matrix.settle(Outcome.of(1, 2, 4), [bet_on("small", GREATEST // 2 + 1)])
        assert isinstance(refused, BetRefusal)
        assert (refused.reason.value, refused.bet) == ("beyond-greatest-sum", 0)


@each_table
def test_stakes_that_add_up_beyond_the_greatest_sum_are_refused_as_a_batch(table: PayTable) -> None:
    # Each stake and each return keeps within the greatest sum; three stakes together do not.
    bets = [bet_on("small", GREATEST // 2), bet_on("big", GREATEST // 2), bet_on("any-triple", 2)]
    for matrix in matrices(table):
        refused = matrix.settle(Outcome.of(1, 2, 4), bets)
        assert isinstance(refused, BetRefusal)
        assert (refused.reason.value, refused.bet) == ("beyond-greatest-sum", None)

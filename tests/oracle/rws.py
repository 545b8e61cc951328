"""Resorts World Sentosa, Sic Bo ETG version 8: three pay tables (4.1.1, 4.1.2, 4.1.3), and 3.9 on triples."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from .dice import PayTable, Roll, Verdict

DOMINOS = ["14", "12", "24", "13", "23", "34", "25", "26", "35", "45", "36", "15", "16", "46", "56"]

FOUR_NUMBERS = ["6543", "6532", "5432", "4321"]

THREE_SINGLES = [
    *("126", "135", "234", "256", "346", "123", "136", "145", "235", "356"),
    *("124", "146", "236", "245", "456", "125", "134", "156", "246", "345"),
]

DOUBLE_WITH_SINGLE = [
    *("113", "114", "115", "116", "221", "223", "224", "225", "226", "331", "332", "334", "335", "336"),
    *("441", "442", "443", "445", "446", "551", "552", "553", "554", "556", "661", "662", "663", "664"),
]


@dataclass(frozen=True)
class Pays:
    """The figures in the last column of one pay table; "1", "2" and "12" on single dice are in all three."""

    clause: str
    totals: str
    domino: str
    four_number: str
    double: str
    any_triple: str
    specific_triple: str
    three_singles: str = ""
    double_with_single: str = ""


# The totals are printed two by two: 4 or 17, 5 or 16, 6 or 15, 7 or 14, 8 or 13, 9 or 12, 10 or 11.
TABLE_1 = Pays("4.1.1", "64 32 19 12 8.5 7 6.5", "6", "7.5", "11.5", "32", "195")
TABLE_2 = Pays("4.1.2", "64 32 19 12 8.5 7 6.5", "6", "7.5", "11.5", "32", "195", "30", "50")
TABLE_3 = Pays("4.1.3", "62 31 18 12 8 7 6", "6", "7", "11", "31", "180", "30", "50")

EVEN_MONEY = ["small", "big", "even", "odd"]
SINGLES = [f"single-{number}" for number in range(1, 7)]
TOTALS = [f"total-{total}" for low in range(4, 11) for total in (low, 21 - low)]
PAIRS = [f"pair-{min(domino)}{max(domino)}" for domino in DOMINOS]
FOURS = ["four-" + "".join(sorted(numbers)) for numbers in FOUR_NUMBERS]
DOUBLES = [f"double-{number}" for number in range(1, 7)]
TRIPLES = ["any-triple"] + [f"triple-{number}" for number in range(1, 7)]
THREES = [f"three-{numbers}" for numbers in THREE_SINGLES]
DOUBLE_SINGLES = [f"double-single-{numbers}" for numbers in DOUBLE_WITH_SINGLE]

AREAS_1 = EVEN_MONEY + SINGLES + TOTALS + PAIRS + FOURS + DOUBLES + TRIPLES
AREAS_2 = AREAS_1 + THREES + DOUBLE_SINGLES
AREAS_3 = EVEN_MONEY + SINGLES + TOTALS + PAIRS + DOUBLES + TRIPLES + FOURS + THREES + DOUBLE_SINGLES


def _triple(roll: Roll, pays: Pays) -> dict[str, Verdict]:
    """The only winners when all three dice agree, each by its line of 3.9, at the figures of 4.1."""
    number = roll[0]
    lit = {
        f"triple-{number}": Verdict(Fraction(pays.specific_triple), "3.9.1"),
        "any-triple": Verdict(Fraction(pays.any_triple), "3.9.2"),
        f"double-{number}": Verdict(Fraction(pays.double), "3.9.3"),
        f"single-{number}": Verdict(Fraction(12), "3.9.4"),
    }
    if sum(roll) in (6, 9, 12, 15):
        lit[f"total-{sum(roll)}"] = Verdict(_total_pays(sum(roll), pays), "3.9.5")
    return lit


def _total_pays(total: int, pays: Pays) -> Fraction:
    """The figure of 4.1 on a total from 4 to 17: printed with its mirror, 21 less the total."""
    low = min(total, 21 - total)
    return Fraction(pays.totals.split()[low - 4])


def _other(roll: Roll, pays: Pays) -> dict[str, Verdict]:
    """The winners when the dice do not all agree (4.1.1, 4.1.2 or 4.1.3)."""
    total = sum(roll)
    shown = Counter(roll)
    won: dict[str, Fraction] = {f"total-{total}": _total_pays(total, pays)}
    won["small" if total in range(4, 11) else "big"] = Fraction(1)
    won["even" if total in range(4, 18, 2) else "odd"] = Fraction(1)
    for number, times in shown.items():
        won[f"single-{number}"] = Fraction(times)
        if times == 2:
            won[f"double-{number}"] = Fraction(pays.double)
    won |= _combinations(roll, pays)
    return {area: Verdict(net, pays.clause) for area, net in won.items()}


def _combinations(roll: Roll, pays: Pays) -> dict[str, Fraction]:
    """The printed combinations of two, three and four numbers that the dice make (4.1.1, 4.1.2 or 4.1.3)."""
    won: dict[str, Fraction] = {}
    for domino in DOMINOS:
        # Both numbers must be found on the dice; the third die may repeat one of them.
        if {int(domino[0]), int(domino[1])} <= set(roll):
            won[f"pair-{min(domino)}{max(domino)}"] = Fraction(pays.domino)
    for four in FOUR_NUMBERS:
        # Three of the four numbers match: count the numbers, so a number on two dice counts once.
        if sum(int(number) in roll for number in four) == 3:
            won["four-" + "".join(sorted(four))] = Fraction(pays.four_number)
    for printed, area, odds in (
        (THREE_SINGLES, "three", pays.three_singles),
        (DOUBLE_WITH_SINGLE, "double-single", pays.double_with_single),
    ):
        for trio in printed:
            # Table 1 prints neither combination and so has no odds on them.
            if odds and Counter(map(int, trio)) == Counter(roll):
                won[f"{area}-{trio}"] = Fraction(odds)
    return won


def _called_by(pays: Pays) -> Callable[[Roll], dict[str, Verdict]]:
    """What a terminal with this pay table calls on a roll (3.8, 3.9, 4.1)."""

    def called(roll: Roll) -> dict[str, Verdict]:
        """The winners of one roll: 3.9 where the dice agree, 4.1 elsewhere."""
        return _triple(roll, pays) if len(set(roll)) == 1 else _other(roll, pays)

    return called


def losing_clause(_area: str, roll: Roll) -> str:
    """Losers are collected by 3.8; on a triple it is 3.9 that leaves them without a win."""
    return "3.9" if len(set(roll)) == 1 else "3.8"


LAYOUT_A = PayTable("rws-sic-bo-etg-v8", ("A",), tuple(AREAS_1), _called_by(TABLE_1), losing_clause)
LAYOUT_B = PayTable("rws-sic-bo-etg-v8", ("B",), tuple(AREAS_2), _called_by(TABLE_2), losing_clause)
LAYOUT_C = PayTable("rws-sic-bo-etg-v8", ("C",), tuple(AREAS_3), _called_by(TABLE_3), losing_clause)

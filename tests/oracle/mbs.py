"""Marina Bay Sands, Sic Bo version 6: section 3.5 says what wins, section 4.1 what it pays."""

from __future__ import annotations

from fractions import Fraction

from .dice import (
    PayTable,
    Roll,
    Verdict,
    all_alike,
    all_different,
    digits,
    number_left_over,
    number_shown_twice,
    smaller_first,
)

TOTALS_4_1_2 = {
    "4 or 17": 62,
    "5 or 16": 31,
    "6 or 15": 18,
    "7 or 14": 12,
    "8 or 13": 8,
    "9 or 12": 7,
    "10 or 11": 6,
}

PAIRS_4_1_3 = ("12 13 14 15 16", "23 24 25 26", "34 35 36", "45 46", "56")

THREES_4_1_4 = ("126-135-234-256-346", "123-136-145-235-356", "124-146-236-245-456", "125-134-156-246-345")

# 112 and 665 are missing from the document's rows: the rows of 1 and 6 hold four, the others five.
DOUBLES_WITH_SINGLE_4_1_5 = (
    "113-114-115-116",
    "221-223-224-225-226",
    "331-332-334-335-336",
    "441-442-443-445-446",
    "551-552-553-554-556",
    "661-662-663-664",
)

SINGLE_4_1_6 = {1: 1, 2: 2, 3: 12}

FOURS_4_1_7 = ("1-2-3-4", "2-3-4-5", "2-3-5-6", "3-4-5-6")


def _areas() -> tuple[str, ...]:
    """The 104 areas in the order in which 4.1.1 to 4.1.7 print them."""
    areas = ["small", "big", "odd", "even"]
    areas += [f"triple-{number}" for number in range(1, 7)]
    areas += [f"double-{number}" for number in range(1, 7)]
    areas += ["any-triple"]
    areas += [f"total-{total}" for section in TOTALS_4_1_2 for total in section.split(" or ")]
    areas += [f"pair-{pair}" for row in PAIRS_4_1_3 for pair in row.split()]
    areas += [f"three-{three}" for row in THREES_4_1_4 for three in row.split("-")]
    areas += [f"double-single-{trio}" for row in DOUBLES_WITH_SINGLE_4_1_5 for trio in row.split("-")]
    areas += [f"single-{number}" for number in range(1, 7)]
    areas += ["four-" + four.replace("-", "") for four in FOURS_4_1_7]
    return tuple(areas)


def _pays(odds: int, clause: str) -> Verdict:
    """A winner at these odds to 1 (4.1)."""
    return Verdict(Fraction(odds), clause)


def _on_a_triple(number: int) -> dict[str, Verdict]:
    """All that wins when three dice show one number: 3.5.5.1, 3.5.6.1, 3.5.7.1, 3.5.8.1, 3.5.12.1."""
    lit = {
        f"triple-{number}": _pays(180, "4.1.1"),
        # 3.5.6.1 names two or three dice: three are paid as two are, once.
        f"double-{number}": _pays(11, "4.1.1"),
        "any-triple": _pays(31, "4.1.1"),
        f"single-{number}": _pays(SINGLE_4_1_6[3], "4.1.6"),
    }
    lit.update(_total(3 * number))
    return lit


def _total(total: int) -> dict[str, Verdict]:
    """The total that shows (3.5.8.1, 4.1.2); 3 and 18 stand in no section."""
    for section, odds in TOTALS_4_1_2.items():
        if str(total) in section.split(" or "):
            return {f"total-{total}": _pays(odds, "4.1.2")}
    return {}


def _even_money(total: int) -> dict[str, Verdict]:
    """Small or big, odd or even, on a total from 4 to 17 that is no triple (3.5.1.1 to 3.5.4.1, 4.1.1)."""
    size = "small" if total <= 10 else "big"
    parity = "odd" if total % 2 else "even"
    return {size: _pays(1, "4.1.1"), parity: _pays(1, "4.1.1")}


def _on_two_alike(roll: Roll) -> dict[str, Verdict]:
    """What two equal dice and a third light up (3.5.6.1, 3.5.9.1, 3.5.11.1, 3.5.12.1)."""
    twice, once = number_shown_twice(roll), number_left_over(roll)
    lit = {
        f"double-{twice}": _pays(11, "4.1.1"),
        # 4.1.3 asks that both numbers show; that one of them shows twice neither spoils nor doubles it.
        f"pair-{smaller_first(twice, once)}": _pays(6, "4.1.3"),
        f"single-{twice}": _pays(SINGLE_4_1_6[2], "4.1.6"),
        f"single-{once}": _pays(SINGLE_4_1_6[1], "4.1.6"),
    }
    trio = digits(twice, twice, once)
    if any(trio in row.split("-") for row in DOUBLES_WITH_SINGLE_4_1_5):
        lit[f"double-single-{trio}"] = _pays(50, "4.1.5")
    return lit


def _on_three_different(roll: Roll) -> dict[str, Verdict]:
    """What three different numbers light up (3.5.9.1, 3.5.10.1, 3.5.12.1, 3.5.13.1)."""
    low, middle, high = sorted(roll)
    lit = {f"pair-{digits(*two)}": _pays(6, "4.1.3") for two in ((low, middle), (low, high), (middle, high))}
    lit[f"three-{digits(low, middle, high)}"] = _pays(30, "4.1.4")
    for number in roll:
        lit[f"single-{number}"] = _pays(SINGLE_4_1_6[1], "4.1.6")
    for four in FOURS_4_1_7:
        # Three dice matching three out of the four: all three numbers on the dice are among the four.
        if all(str(number) in four for number in roll):
            lit["four-" + four.replace("-", "")] = _pays(7, "4.1.7")
    return lit


def called(roll: Roll) -> dict[str, Verdict]:
    """Every area that wins on this roll (3.4, 3.6), with what it pays (4.1)."""
    if all_alike(roll):
        return _on_a_triple(roll[0])
    lit = _on_three_different(roll) if all_different(roll) else _on_two_alike(roll)
    return lit | _total(sum(roll)) | _even_money(sum(roll))


def losing_clause(area: str, _roll: Roll) -> str:
    """The paragraph of 3.5 that says when a bet on this area loses."""
    kinds = "small big odd even triple double any-triple total pair three double-single single four"
    kind = area.rstrip("0123456789").rstrip("-")
    return f"3.5.{kinds.split().index(kind) + 1}.1"


V6 = PayTable("mbs-sic-bo-v6", ("A", "B"), _areas(), called, losing_clause)

"""The American rules: bets defined in 2(a), floors under the odds in 4(b), one of a kind also in 4(c).

Every figure here is the floor, which is also what is offered unless a house offers more.
"""

from __future__ import annotations

from fractions import Fraction

from .dice import PayTable, Roll, Verdict

TOTAL_VALUES_4_B = {
    4: 50, 5: 18, 6: 14, 7: 12, 8: 8, 9: 6, 10: 6,
    11: 6, 12: 6, 13: 8, 14: 12, 15: 14, 16: 18, 17: 50,
}  # fmt: skip


def _areas() -> tuple[str, ...]:
    """The 50 areas in the order in which 4(b) lists their odds."""
    areas = [f"triple-{number}" for number in range(1, 7)]
    areas += [f"double-{number}" for number in range(1, 7)]
    areas += ["any-triple"]
    areas += [f"total-{total}" for total in TOTAL_VALUES_4_B]
    areas += [f"pair-{low}{high}" for low in range(1, 7) for high in range(low + 1, 7)]
    areas += ["small", "big"]
    areas += [f"single-{number}" for number in range(1, 7)]
    return tuple(areas)


def three_of_a_kind(selected: int, roll: Roll) -> bool:
    """2(a)(1): the number selected is on all three dice."""
    return all(die == selected for die in roll)


def two_of_a_kind(selected: int, roll: Roll) -> bool:
    """2(a)(2): the number selected is on two dice; three dice show it on two as well, and pay no more."""
    return any(roll[i] == roll[j] == selected for i, j in ((0, 1), (0, 2), (1, 2)))


def any_three_of_a_kind(roll: Roll) -> bool:
    """2(a)(3): whatever the number, all three dice show it."""
    return max(roll) == min(roll)


def two_dice_combination(one: int, other: int, roll: Roll) -> bool:
    """2(a)(5): two different numbers were chosen and both of them show."""
    return one in roll and other in roll


def one_of_a_kind(chosen: int, roll: Roll) -> Verdict | None:
    """2(a)(8): one or more dice show the number; 4(b) pays one die 1 to 1, 4(c) two 2 to 1 and three 3 to 1.

    The printed "1 to 10" is read as 1 to 1, and the dice of 4(c) are those that show the number bet on.
    """
    matching = [die for die in roll if die == chosen]
    if not matching:
        return None
    return Verdict(Fraction(len(matching)), "4(b)" if len(matching) == 1 else "4(c)")


def _chosen_numbers(roll: Roll) -> dict[str, int]:
    """The floors of 4(b) under bets on chosen numbers: three or two of a kind, two dice combinations."""
    floors: dict[str, int] = {}
    for number in range(1, 7):
        if three_of_a_kind(number, roll):
            floors[f"triple-{number}"] = 150
        if two_of_a_kind(number, roll):
            floors[f"double-{number}"] = 8
        for other in range(number + 1, 7):
            if two_dice_combination(number, other, roll):
                floors[f"pair-{number}{other}"] = 5
    return floors


def called(roll: Roll) -> dict[str, Verdict]:
    """The areas the electrical device lights for a roll (5(e)), each at the floor of 4(b) or by 4(c)."""
    floors = _chosen_numbers(roll)
    if any_three_of_a_kind(roll):
        floors["any-triple"] = 24
    # 2(a)(6) and 2(a)(7): a three of a kind loses both; big loses on the totals it does not name.
    elif 4 <= sum(roll) <= 10:
        floors["small"] = 1
    elif 11 <= sum(roll) <= 17:
        floors["big"] = 1
    # 2(a)(4): the total alone decides, so a three of a kind may make it; nothing is offered on 3 and 18.
    if sum(roll) in TOTAL_VALUES_4_B:
        floors[f"total-{sum(roll)}"] = TOTAL_VALUES_4_B[sum(roll)]
    lit = {area: Verdict(Fraction(odds), "4(b)") for area, odds in floors.items()}
    for number in range(1, 7):
        verdict = one_of_a_kind(number, roll)
        if verdict is not None:
            lit[f"single-{number}"] = verdict
    return lit


def losing_clause(area: str, _roll: Roll) -> str:
    """The definition in 2(a) that the roll does not meet."""
    kind = area if area in ("any-triple", "small", "big") else area.partition("-")[0]
    order = ("triple", "double", "any-triple", "total", "pair", "small", "big", "single")
    return f"2(a)({order.index(kind) + 1})"


US = PayTable("us-sic-bo", ("A",), _areas(), called, losing_clause)

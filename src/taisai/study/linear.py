"""Linear equations in fractions."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction


def solved(rows: Sequence[Sequence[Fraction]], right: Sequence[Fraction]) -> list[Fraction] | None:
    """What makes every row times it equal to its right side; None where nothing does, 0 for what is free.

    >>> solved([[Fraction(1), Fraction(1)], [Fraction(1), Fraction(-1)]], [Fraction(3), Fraction(1)])
    [Fraction(2, 1), Fraction(1, 1)]
    """
    table = [[*row, value] for row, value in zip(rows, right, strict=True)]
    unknown = len(rows[0]) if rows else 0
    pivots: list[int] = []
    for column in range(unknown):
        done = len(pivots)
        chosen = next((at for at in range(done, len(table)) if table[at][column]), None)
        if chosen is None:
            continue
        table[done], table[chosen] = table[chosen], table[done]
        head = table[done]
        lead = head[column]
        table[done] = head = [cell / lead for cell in head]
        for at, row in enumerate(table):
            if at != done and row[column]:
                factor = row[column]
                table[at] = [cell - factor * above for cell, above in zip(row, head, strict=True)]
        pivots.append(column)
    if any(row[-1] for row in table[len(pivots) :]):
        return None
    found = [Fraction(0)] * unknown
    for row, column in zip(table, pivots, strict=False):
        found[column] = row[-1]
    return found

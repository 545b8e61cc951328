"""Many sums in one long integer, 64 bits for each of them.

Adding a bet to what comes back on all 56 outcomes, or settling every purse of a table, is then one
addition and one multiplication of a long integer instead of a loop.
"""

from __future__ import annotations

import sys
from array import array
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Annotated, Final

if TYPE_CHECKING:
    Column = array[int]
else:
    Column = array  # which takes no parameter when it runs

PACKED: Final = "packed"
PackedSums = Annotated[int, PACKED]
"""One sum for each of the 56 outcomes, in one integer."""
BITS: Final = 64
BYTES: Final = BITS // 8
GREATEST: Final = (1 << (BITS - 2)) - 1
"""The greatest sum that 64 bits may hold here: the sign bit stays free, and one more bit for the guard."""


def packed(numbers: Sequence[int]) -> int:
    """Numbers that are not negative, 64 bits each, the first in the lowest bits."""
    total = 0
    for number in reversed(numbers):
        total = (total << BITS) | number
    return total


def spread(count: int) -> int:
    """The number 1, `count` times: multiplied by a number, it is that number `count` times."""
    return packed([1] * count)


def guard(count: int) -> int:
    """The highest bit of each of `count` sums."""
    return spread(count) << (BITS - 1)


def none_above(sums: int, ceiling: int, ones: int, guards: int) -> bool:
    """Whether no sum exceeds a ceiling: where one does, the subtraction clears its guard bit."""
    return (guards + ceiling * ones - sums) & guards == guards


def unpacked(sums: int, count: int) -> Column:
    """The sums, one by one."""
    numbers = array("q")
    numbers.frombytes(sums.to_bytes(count * BYTES, sys.byteorder))
    if sys.byteorder == "big":
        numbers.reverse()
    return numbers


def weighed(columns: Iterable[tuple[Column, int]]) -> int:
    """The sum of columns, each times its weight, row by row."""
    alike: dict[int, int] = {}
    for column, weight in columns:
        number = int.from_bytes(_lowest_first(column), sys.byteorder)
        alike[weight] = alike[weight] + number if weight in alike else number  # 0 + a long one takes its time
    return sum(weight * added for weight, added in alike.items())


def changed(column: Column, more: Column, less: Column) -> Column:
    """A column of numbers that may be negative, with another added and one taken off, row by row."""
    count = len(column)
    signs = int.from_bytes(bytes([*[0] * (BYTES - 1), 1 << 7]) * count, "little")
    above_zero = weighed([(column, 1)]) ^ signs  # every number greater by 2^63: no sum borrows from the next
    return unpacked((above_zero + weighed([(more, 1)]) - weighed([(less, 1)])) ^ signs, count)


def total(sums: int, count: int) -> int:
    """The sum of all of them: the upper half is added to the lower, until one is left."""
    while count > 1:
        count = (count + 1) // 2
        sums = (sums >> count * BITS) + (sums & ((1 << count * BITS) - 1))
    return sums


def _lowest_first(column: Column) -> Column:
    return column if sys.byteorder == "little" else column[::-1]

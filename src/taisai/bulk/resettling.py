"""Settled bets settled again, column by column: what each got against what its pay table gives."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from taisai.bulk.entry import BulkError
from taisai.bulk.kernels import loads_numba
from taisai.bulk.multiples import Whole
from taisai.rules.matrix import Matrix
from taisai.rules.outcomes import OUTCOMES
from taisai.rules.settlement import GREATEST_SUM

Codes = npt.NDArray[np.int32]
SETTLED: Final = 0
RETURNED: Final = 1
"""Void or taken back: the stake goes back whole."""
OPEN: Final = 2
"""Nothing yet: there is nothing to check."""
UNKNOWN: Final = -1
BITS: Final = GREATEST_SUM.bit_length()
_MOST: Final = 2**63 - 1
MOST_FACTOR: Final = _MOST // GREATEST_SUM
"""The largest return per unit whose product with any stake is still whole in 64 bits."""


class PayRows(NamedTuple):
    """The pay tables that bets were settled by, stacked: a row for each area of each."""

    returns: Whole
    """[row][outcome] what comes back of one unit, in 1/unit."""
    units: Whole
    """[row] the denominator of its pay table."""
    first: tuple[int, ...]
    """[pay table] its first row."""

    @staticmethod
    def of(matrices: tuple[Matrix, ...]) -> PayRows:
        """The rows of these pay tables, in their order."""
        returns: list[list[int]] = []
        units: list[int] = []
        first: list[int] = []
        for matrix in matrices:
            first.append(len(returns))
            one = matrix.denominator
            returns += [[net + one if net > 0 else 0 for net in row] for row in matrix.nets]
            units += [one] * len(matrix.nets)
        largest = max((max(row) for row in returns), default=0)
        if max([largest, *units]) > MOST_FACTOR:
            raise BulkError(f"expected odds whose returns are at most {MOST_FACTOR} units, got {largest}")
        table = np.array(returns, dtype=np.int64).reshape(-1, len(OUTCOMES))
        return PayRows(table, np.array(units, dtype=np.int64), tuple(first))


class Columns(NamedTuple):
    """Equally long columns of bets; codes are places in the lookups."""

    pay_tables: Codes
    areas: Codes
    faces: Codes
    states: Codes
    tables: Codes
    stakes: Whole
    kept_out: Whole
    won: Whole
    returned: Whole

    def part(self, of: slice) -> Columns:
        """Some of the bets."""
        return Columns._make(one[of] for one in self)


class Lookups(NamedTuple):
    """What the codes mean; UNKNOWN where nobody knows."""

    rows: npt.NDArray[np.int32]
    """[pay table][area] the row among the pay rows."""
    outcomes: Codes
    """[faces] the outcome, by its place among the 56."""
    states: Codes
    """[state] SETTLED, RETURNED or OPEN."""


class Sums(NamedTuple):
    """What bets come to, table by table."""

    bets: Whole
    staked: Whole
    returned: Whole
    """As it was; not as it should have been."""
    due: Whole
    """As it should have been."""

    def plus(self, other: Sums) -> Sums:
        """Both together, however large."""
        return Sums._make(one.astype(object) + more for one, more in zip(self, other, strict=True))


Loop = Callable[..., int]


def resettled(
    columns: Columns, lookups: Lookups, pay: PayRows, tables: int
) -> tuple[Sums, npt.NDArray[np.intp]]:
    """The sums by table, and the places of the bets that did not get what was due.

    A bet with an unknown area, outcome or state, or with money below 0 or beyond the greatest, is at fault.
    """
    size = columns.stakes.size
    highest = min(GREATEST_SUM, int(max(columns.stakes.max(initial=0), columns.returned.max(initial=0))))
    if size > 1 and size * highest * int(pay.returns.max(initial=1)) > _MOST:  # a sum might not fit 64 bits
        half = size // 2
        early, at_first = resettled(columns.part(slice(None, half)), lookups, pay, tables)
        late, at_last = resettled(columns.part(slice(half, None)), lookups, pay, tables)
        return early.plus(late), np.concatenate([at_first, at_last + half])
    sums = Sums._make(np.zeros(tables, dtype=np.int64) for _ in Sums._fields)
    faults = np.empty(size, dtype=bool)
    loop = _compiled() if loads_numba() else _by_numpy
    found = loop(*columns, *lookups, pay.returns, pay.units, *sums, faults)
    return sums, np.flatnonzero(faults) if found else np.empty(0, dtype=np.intp)


def _loop(  # noqa: PLR0917  what numba compiles takes arrays, and takes them by place
    pay_tables: Codes, areas: Codes, faces: Codes, states: Codes, tables: Codes, stakes: Whole,
    kept_out: Whole, won: Whole, returned: Whole, row_of: npt.NDArray[np.int32], outcome_of: Codes,
    state_of: Codes, returns: Whole, units: Whole, bets: Whole, staked: Whole, back: Whole, due: Whole,
    faults: npt.NDArray[np.bool_],
) -> int:  # fmt: skip
    """One bet after another. Returns how many are at fault; those that make no sense are in no sum."""
    found = 0
    for bet in range(stakes.size):
        faults[bet] = False
        state = state_of[states[bet]]
        stake, kept, above, got = stakes[bet], kept_out[bet], won[bet], returned[bet]
        if state == OPEN and not stake >> BITS:
            continue
        wrong = state < 0 or state == OPEN or (stake | kept | above | got) >> BITS != 0  # also below 0
        row = outcome = UNKNOWN
        gives, more = stake, 0
        if state == SETTLED and not wrong:
            row, outcome = row_of[pay_tables[bet], areas[bet]], outcome_of[faces[bet]]
            wrong = row < 0 or outcome < 0
        if wrong:  # nothing that could be summed up
            faults[bet] = True
            found += 1
            continue
        if state == SETTLED:
            unit, playing = units[row], stake - kept
            product = playing * returns[row, outcome]
            gives = (
                product if unit == 1 else product // unit
            )  # mostly 1: a division takes as long as the rest
            wrong = gives * unit != product or playing < 0
            more = gives - playing if gives > playing else 0
            gives += kept
        table = tables[bet]
        bets[table] += 1
        staked[table] += stake
        back[table] += got
        due[table] += gives
        if wrong or got != gives or above != more:
            faults[bet] = True
            found += 1
    return found


def _by_numpy(  # noqa: PLR0917  as above
    pay_tables: Codes, areas: Codes, faces: Codes, states: Codes, tables: Codes, stakes: Whole,
    kept_out: Whole, won: Whole, returned: Whole, row_of: npt.NDArray[np.int32], outcome_of: Codes,
    state_of: Codes, returns: Whole, units: Whole, bets: Whole, staked: Whole, back: Whole, due: Whole,
    faults: npt.NDArray[np.bool_],
) -> int:  # fmt: skip
    """The same, whole columns at a time."""
    state = state_of[states]
    row, outcome = row_of[pay_tables, areas], outcome_of[faces]
    is_open = (state == OPEN) & (stakes >> BITS == 0)
    senseless = (state == UNKNOWN) | (state == OPEN) | ((stakes | kept_out | won | returned) >> BITS != 0)
    senseless |= (state == SETTLED) & ((row < 0) | (outcome < 0))
    senseless &= ~is_open
    counted = ~(is_open | senseless)
    settled = counted & (state == SETTLED)
    row, outcome = np.where(settled, row, 0), np.where(settled, outcome, 0)
    playing = np.where(settled, stakes - kept_out, 0)
    gives, rest = np.divmod(playing * returns[row, outcome], units[row])
    more = np.where(settled, np.maximum(gives - playing, 0), 0)
    gives = np.where(settled, gives + kept_out, stakes)
    wrong = settled & ((rest != 0) | (playing < 0))
    np.logical_or(senseless, counted & (wrong | (returned != gives) | (won != more)), out=faults)
    for total, figures in ((bets, counted), (staked, stakes), (back, returned), (due, gives)):
        np.add.at(total, tables[counted], figures[counted])
    return int(np.count_nonzero(faults))


@cache
def _compiled() -> Loop:
    import numba

    types = numba.types
    code, whole = (types.Array(kind, 1, "C", readonly=True) for kind in (types.int32, types.int64))
    rows, returns = (types.Array(kind, 2, "C", readonly=True) for kind in (types.int32, types.int64))
    sums, flags = types.Array(types.int64, 1, "C"), types.Array(types.boolean, 1, "C")
    lookups = (rows, code, code)
    signature = types.int64(*[code] * 5, *[whole] * 4, *lookups, returns, whole, *[sums] * 4, flags)
    try:
        return numba.njit(signature, cache=True, nogil=True)(_loop)  # type: ignore[no-any-return]
    except RuntimeError:  # no folder that numba could keep the compiled code in
        return numba.njit(signature, nogil=True)(_loop)  # type: ignore[no-any-return]

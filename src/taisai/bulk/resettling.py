"""Settles exported bets again, on columns, and compares the results with the recorded ones."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from taisai.bulk.entry import BulkError, Whole
from taisai.bulk.kernels import compiled, loads_numba
from taisai.rules.matrix import Matrix
from taisai.rules.outcomes import OUTCOMES
from taisai.rules.settlement import GREATEST_SUM

Codes = npt.NDArray[np.uint32]
Flags = npt.NDArray[np.uint8]
SETTLED: Final = 0
RETURNED: Final = 1  # void or withdrawn: the whole stake is returned
OPEN: Final = 2  # not settled yet; an error only if there is money
NO_STATE: Final = 3
UNTOLD: Final = 2
NO_MONEY: Final = -1  # an empty cell: correct for an open bet, an error for others
NO_ROW: Final = 0
NO_OUTCOME: Final = len(OUTCOMES)
NOTHING: Final = -1  # the return in the pay rows of an unknown area or outcome
BITS: Final = GREATEST_SUM.bit_length()
_MOST: Final = 2**63 - 1
MOST_FACTOR: Final = _MOST // GREATEST_SUM
"""The largest return per unit whose product with any stake fits into 64 bits."""
MOST_CELLS: Final = 1 << 20  # the most cells of a lookup of pay tables × areas × faces: eight megabytes
_BEYOND: Final = -1  # the result of a loop that met an unknown code


class PayRows(NamedTuple):
    """The pay tables of the bets, stacked: after NO_ROW, a row for each area of each table."""

    returns: Whole
    """[row][outcome] the return of a stake of 1, in 1/unit; NOTHING in NO_ROW and at NO_OUTCOME."""
    units: Whole  # [row] the denominator of its pay table; a common one could be too large
    first: tuple[int, ...]  # [pay table] its first row

    @staticmethod
    def of(matrices: tuple[Matrix, ...]) -> PayRows:
        """The rows of these pay tables, in their order."""
        returns: list[list[int]] = [[NOTHING] * (NO_OUTCOME + 1)]
        units: list[int] = [1]
        first: list[int] = []
        for matrix in matrices:
            first.append(len(returns))
            one = matrix.denominator
            returns += [[*(net + one if net > 0 else 0 for net in row), NOTHING] for row in matrix.nets]
            units += [one] * len(matrix.nets)
        largest = max(*units, *map(max, returns))
        if largest > MOST_FACTOR:
            raise BulkError(f"expected odds whose returns are at most {MOST_FACTOR} units, got {largest}")
        return PayRows(np.array(returns, dtype=np.int64), np.array(units, dtype=np.int64), tuple(first))


class Columns(NamedTuple):
    """Columns of bets of equal length; codes are indexes of the lookups."""

    pay_tables: Codes
    areas: Codes
    faces: Codes
    states: Codes
    voided: Flags  # whether the round is void: 0, 1, or UNTOLD if unknown
    tables: Codes
    stakes: Whole
    kept_out: Whole
    won: Whole
    returned: Whole

    def part(self, of: slice) -> Columns:
        return Columns._make(column[of] for column in self)


class Lookups(NamedTuple):
    """The meaning of the codes."""

    rows: Codes  # [pay table][area] the row among the pay rows, or NO_ROW
    outcomes: Codes  # [faces] the index of the outcome, or NO_OUTCOME
    states: Codes  # [state][voided] SETTLED, RETURNED, OPEN, or NO_STATE if the two contradict each other


class Sums(NamedTuple):
    """Totals by table."""

    bets: Whole
    staked: Whole
    returned: Whole  # as recorded
    due: Whole  # as computed

    def plus(self, other: Sums) -> Sums:
        """The sum of both, also beyond 64 bits."""
        return Sums._make(left.astype(object) + right for left, right in zip(self, other, strict=True))


class _PayLookup(NamedTuple):
    """The tables in which the loops look up bets."""

    gives: Whole  # [pay table][area][faces] the return of a stake of 1, in 1/unit, or NOTHING
    units: Whole  # [pay table][area]
    states: Codes


Places = npt.NDArray[np.intp]
PairLoop = Callable[..., tuple[int, int]]


def resettled(columns: Columns, lookups: Lookups, pay: PayRows, tables: int) -> tuple[Sums, Places]:
    """The sums by table, and the places of the bets with a wrong result.

    A bet is also wrong, and in no sum, if its area, outcome or state is unknown, if an amount is negative or
    above GREATEST_SUM, or if more was kept out than staked.
    """
    if len(sizes := {column.size for column in columns}) > 1:
        raise BulkError(f"expected columns of equal length, got the lengths {sorted(sizes)}")
    rows, outcomes = pay.returns.shape
    _expect_below(rows, lookups.rows, "rows looked up")
    _expect_below(outcomes, lookups.outcomes, "outcomes looked up")
    if lookups.rows.size * lookups.outcomes.size > MOST_CELLS:
        _expect_known(columns, (*lookups.rows.shape, lookups.outcomes.size), lookups.states, tables)
        columns, lookups = _by_rows(columns, lookups, pay)
    gives = pay.returns[lookups.rows[:, :, np.newaxis], lookups.outcomes]
    return _resettled(columns, _PayLookup(gives, pay.units[lookups.rows], lookups.states), tables)


def _expect_below(count: int, codes: Codes | Flags, what: str) -> None:
    if codes.size and (most := int(codes.max())) >= count:
        raise BulkError(f"expected codes below {count} in {what}, got {most}")


def _expect_known(columns: Columns, cells: tuple[int, ...], states: Codes, tables: int) -> None:
    for name, count in zip(Columns._fields, (*cells, *states.shape, tables), strict=False):
        _expect_below(count, getattr(columns, name), f"column {name}")


def _by_rows(columns: Columns, lookups: Lookups, pay: PayRows) -> tuple[Columns, Lookups]:
    """The same bets by pay row and outcome, for files with very many different words."""
    rows, outcomes = (np.arange(size, dtype=np.uint32) for size in pay.returns.shape)
    known = columns._replace(
        pay_tables=np.zeros_like(columns.pay_tables),
        areas=lookups.rows[columns.pay_tables, columns.areas],
        faces=lookups.outcomes[columns.faces],
    )
    return known, lookups._replace(rows=rows.reshape(1, -1), outcomes=outcomes)


def _resettled(columns: Columns, lookup: _PayLookup, tables: int) -> tuple[Sums, Places]:
    size = columns.stakes.size
    sums = Sums._make(np.zeros(tables, dtype=np.int64) for _ in Sums._fields)
    places = np.empty(size, dtype=np.intp)  # unused pages of it take no memory
    loop = _compiled() if loads_numba() else _by_numpy
    wrong_bets, seen = loop(*columns, *lookup, *sums, places)
    if wrong_bets == _BEYOND:
        _expect_known(columns, lookup.gives.shape, lookup.states, tables)
    if size > 1 and size << int(seen).bit_length() > _MOST:  # a sum might have exceeded 64 bits
        half = size // 2
        early, at_first = _resettled(columns.part(slice(None, half)), lookup, tables)
        late, at_last = _resettled(columns.part(slice(half, None)), lookup, tables)
        return early.plus(late), np.concatenate([at_first, at_last + half])
    return sums, places[:wrong_bets].copy()


def _right_ones(  # noqa: PLR0917  what numba compiles takes arrays, and takes them by place
    pay_tables: Codes, areas: Codes, faces: Codes, states: Codes, voided: Flags, tables: Codes,
    stakes: Whole, kept_out: Whole, won: Whole, returned: Whole, gives_of: Whole, unit_of: Whole,
    state_of: Codes, bets: Whole, staked: Whole, back: Whole, due: Whole, places: Places,
) -> tuple[int, int]:  # fmt: skip
    """Sums the settled bets with a correct result; the others go into the places.

    Returns how many others there are, or _BEYOND, and the bitwise or of all amounts summed. For speed,
    branches are predictable, and the recorded return is multiplied instead of the computed one divided.
    """
    seen = others = 0
    pay_tables_known, areas_known, faces_known = gives_of.shape
    states_known, flags_known = state_of.shape
    last, count, stake_sum, back_sum = np.uint32(0), 0, 0, 0  # rows of one table stand together
    for bet in range(stakes.size):
        pay_table, area, thrown = pay_tables[bet], areas[bet], faces[bet]
        state, flag, table = states[bet], voided[bet], tables[bet]
        if (  # compiled code does not check indexes
            pay_table >= pay_tables_known or area >= areas_known or thrown >= faces_known
            or state >= states_known or flag >= flags_known or table >= bets.size
        ):  # fmt: skip
            return _BEYOND, 0
        if table != last:
            bets[last] += count
            staked[last] += stake_sum
            back[last] += back_sum
            due[last] += back_sum
            last, count, stake_sum, back_sum = table, 0, 0, 0
        stake, kept, above, got = stakes[bet], kept_out[bet], won[bet], returned[bet]
        gives, unit = gives_of[pay_table, area, thrown], unit_of[pay_table, area]
        money, playing, gained = stake | kept | above | got, stake - kept, got - kept
        if (
            (state_of[state, flag] == SETTLED)
            & (gives >= 0)
            & (money >> BITS == 0)  # also not below 0
            & (playing >= 0)
            & (gained * unit == playing * gives)
            & (above == max(gained - playing, 0))
        ):
            count += 1
            stake_sum += stake
            back_sum += got
            seen |= money
        else:
            places[others] = bet
            others += 1
    if stakes.size:
        bets[last] += count
        staked[last] += stake_sum
        back[last] += back_sum
        due[last] += back_sum
    return others, seen


def _others(  # noqa: PLR0917  as above
    pay_tables: Codes, areas: Codes, faces: Codes, states: Codes, voided: Flags, tables: Codes,
    stakes: Whole, kept_out: Whole, won: Whole, returned: Whole, gives_of: Whole, unit_of: Whole,
    state_of: Codes, bets: Whole, staked: Whole, back: Whole, due: Whole, places: Places, others: int,
) -> tuple[int, int]:  # fmt: skip
    """Sums the bets at the first `others` places; wrong bets stay in the places.

    Returns how many are wrong, and the bitwise or of all amounts summed.
    """
    wrong_bets = seen = 0
    for bet in places[:others]:
        state = state_of[states[bet], voided[bet]]
        stake, kept, above, got = stakes[bet], kept_out[bet], won[bet], returned[bet]
        if state == OPEN and not stake >> BITS and kept == above == got == NO_MONEY:
            continue
        gives = gives_of[pay_tables[bet], areas[bet], faces[bet]] if state == SETTLED else 0
        wrong = state >= OPEN or (stake | kept | above | got) >> BITS != 0 or kept > stake or gives < 0
        if not wrong:
            more, owed = 0, stake
            if state == SETTLED:
                playing, unit = stake - kept, unit_of[pay_tables[bet], areas[bet]]
                owed = playing * gives // unit
                wrong = owed * unit != playing * gives
                more, owed = max(owed - playing, 0), owed + kept
            table = tables[bet]
            bets[table] += 1
            staked[table] += stake
            back[table] += got
            due[table] += owed
            seen |= stake | got | owed
            wrong = wrong or got != owed or above != more
        if wrong:
            places[wrong_bets] = bet
            wrong_bets += 1
    return wrong_bets, seen


def _by_numpy(  # noqa: PLR0917  as above
    pay_tables: Codes, areas: Codes, faces: Codes, states: Codes, voided: Flags, tables: Codes,
    stakes: Whole, kept_out: Whole, won: Whole, returned: Whole, gives_of: Whole, unit_of: Whole,
    state_of: Codes, bets: Whole, staked: Whole, back: Whole, due: Whole, places: Places,
) -> tuple[int, int]:  # fmt: skip
    """The same, whole columns at a time."""
    known = (*gives_of.shape, *state_of.shape, bets.size)
    coded: tuple[Codes | Flags, ...] = (pay_tables, areas, faces, states, voided, tables)
    if any(codes.max(initial=0) >= many for codes, many in zip(coded, known, strict=True) if codes.size):
        return _BEYOND, 0
    state = state_of[states, voided]
    gives = np.where(state == SETTLED, gives_of[pay_tables, areas, faces], 0)
    is_open = (state == OPEN) & (stakes >> BITS == 0)
    is_open &= (kept_out == NO_MONEY) & (won == NO_MONEY) & (returned == NO_MONEY)
    senseless = (state >= OPEN) | ((stakes | kept_out | won | returned) >> BITS != 0)
    senseless = (senseless | (kept_out > stakes) | (gives < 0)) & ~is_open
    counted = ~(is_open | senseless)
    settled = counted & (state == SETTLED)
    playing = np.where(settled, stakes - kept_out, 0)
    owed, rest = np.divmod(playing * gives, unit_of[pay_tables, areas])
    more = np.where(settled, np.maximum(owed - playing, 0), 0)
    owed = np.where(settled, owed + kept_out, stakes)
    wrong = (settled & (rest != 0)) | (returned != owed) | (won != more)
    faults = np.flatnonzero(senseless | (counted & wrong))
    places[: faults.size] = faults
    for total, figures in ((bets, counted), (staked, stakes), (back, returned), (due, owed)):
        np.add.at(total, tables[counted], figures[counted])
    summed = np.bitwise_or.reduce((stakes | returned | owed)[counted], initial=0)
    return faults.size, int(summed)


@cache
def _compiled() -> PairLoop:
    import numba

    types = numba.types
    code, whole, flags = (
        types.Array(kind, 1, "C", readonly=True) for kind in (types.uint32, types.int64, types.uint8)
    )
    gives_of, unit_of = (types.Array(types.int64, axes, "C", readonly=True) for axes in (3, 2))
    state_of = types.Array(types.uint32, 2, "C", readonly=True)
    sums, places = types.Array(types.int64, 1, "C"), types.Array(types.intp, 1, "C")
    takes = [
        *[code] * 4, flags, code, *[whole] * 4, gives_of, unit_of, state_of, *[sums] * 4, places
    ]  # fmt: skip
    gives = types.UniTuple(types.int64, 2)

    return one_after_another(
        compiled(_right_ones, gives(*takes)), compiled(_others, gives(*takes, types.int64))
    )


def one_after_another(right_ones: PairLoop = _right_ones, others: PairLoop = _others) -> PairLoop:
    """Both loops as one, compiled or in Python."""

    def loops(*arrays: Any) -> tuple[int, int]:
        left, seen = right_ones(*arrays)
        wrong_bets, more = others(*arrays, left) if left > 0 else (left, 0)
        return wrong_bets, seen | more

    return loops

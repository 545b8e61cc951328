"""Bets as an export has them, however many: columns of codes, the same as a file, and faults planted."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pyarrow import parquet

from taisai.audit.export import BET_COLUMNS, COMPRESSION, GROUP, parquet_schema
from taisai.bulk.resettling import NO_STATE, RETURNED, SETTLED, Columns, Lookups, PayRows
from taisai.rules import OUTCOMES, rulebook

MATRIX: Final = rulebook("rws-sic-bo-etg-v8").matrix("B")
NETS: Final = np.array(MATRIX.nets, dtype=np.int64)
PAY: Final = PayRows.of((MATRIX,))
TABLES: Final = tuple(f"SB{n}" for n in range(1, 41))
AREAS: Final = [str(area) for area in MATRIX.areas]
FACES: Final = [" ".join(map(str, outcome.faces)) for outcome in OUTCOMES]
STATES: Final = ["settled", "back"]
KINDS: Final = ("more", "less", "won", "area", "faces", "state", "voided")
FAULTS: Final = 1_000
PART: Final = 16 * GROUP
"""Bets that are drawn and written at a time."""

_KNOWN: Final = np.arange(len(NETS), dtype=np.uint32)
LOOKUPS: Final = Lookups(
    PAY.first[0] + _KNOWN.reshape(1, -1),
    np.arange(len(OUTCOMES), dtype=np.uint32),
    np.array([(SETTLED, NO_STATE, NO_STATE), (RETURNED, RETURNED, NO_STATE)], dtype=np.uint32),
)
"""What the codes of these columns mean."""


class Exported(NamedTuple):
    """The columns, and by kind of fault the places of the bets that have it."""

    columns: Columns
    planted: dict[str, list[int]]

    @property
    def faults(self) -> list[int]:
        """The places of all."""
        return sorted(place for places in self.planted.values() for place in places)


def written(path: Path, bets: int) -> Exported:
    """Draws bets that got what was due but for the planted faults, and writes them, part by part."""
    kinds = (*[np.uint32] * 4, np.uint8, np.uint32, *[np.int64] * 4)
    columns = Columns._make(np.empty(bets, dtype=kind) for kind in kinds)
    places = np.sort(np.random.default_rng(7).choice(bets, FAULTS, replace=False))
    planted: dict[str, list[int]] = {kind: [] for kind in KINDS}
    with parquet.ParquetWriter(path, _schema(), compression=COMPRESSION) as file:
        for start in range(0, bets, PART):
            part = columns.part(slice(start, min(bets, start + PART)))
            _draw(part, start, bets)
            within = places[(places >= start) & (places < start + PART)] - start
            for place in within.tolist():
                kind = KINDS[sum(map(len, planted.values())) % len(KINDS)]
                planted[_spoilt(part, place, kind)].append(start + place)
            file.write_table(_table(part), row_group_size=GROUP)
    assert all(planted.values()), "of every kind there must be some"
    return Exported(columns, planted)


def _draw(part: Columns, start: int, bets: int) -> None:
    """Fills a part; one bet in a hundred was taken back."""
    drawn = np.random.default_rng([7, start])
    size = part.stakes.size
    part.pay_tables[:] = part.voided[:] = part.kept_out[:] = 0
    part.areas[:] = drawn.integers(0, len(NETS), size, dtype=np.uint32)
    part.faces[:] = drawn.choice(len(OUTCOMES), size, p=[outcome.ways / 216 for outcome in OUTCOMES])
    part.states[:] = drawn.random(size) < 0.01
    part.tables[:] = np.arange(start, start + size) * len(TABLES) // bets
    part.stakes[:] = drawn.integers(1, 500, size) * 20
    net = NETS[part.areas, part.faces] * part.stakes // MATRIX.denominator
    is_back = part.states == 1
    part.won[:] = np.where(is_back, 0, np.maximum(net, 0))
    part.returned[:] = np.where(is_back, part.stakes, np.where(net > 0, part.stakes + net, 0))


def _spoilt(part: Columns, at: int, kind: str) -> str:
    """Does one bet wrong, in such a way if it can be; returns in which."""
    row, outcome, is_settled = part.areas[at], part.faces[at], part.states[at] == 0
    given = NETS[row, outcome]
    if kind == "less" and part.returned[at]:
        part.returned[at] -= 1
    elif kind == "won":
        part.won[at] += 1
    elif kind == "area" and is_settled and any(others := NETS[:, outcome] != given):
        part.areas[at] = np.flatnonzero(others)[at % np.count_nonzero(others)]
    elif kind == "faces" and is_settled and any(others := NETS[row] != given):
        part.faces[at] = np.flatnonzero(others)[at % np.count_nonzero(others)]
    elif kind == "state":  # returned whole, though the dice had it; or the other way round
        part.states[at] = is_settled
    elif kind == "voided" and is_settled:
        part.voided[at] = 1
    else:
        part.returned[at] += 1
        return "more"
    return kind


def _schema() -> pa.Schema:
    names = (
        "table", "area", "pay_table", "state", "voided", "faces", "stake", "kept_out", "won", "returned"
    )  # fmt: skip
    return parquet_schema([one for name in names for one in BET_COLUMNS if one.name == name])


def _table(part: Columns) -> pa.Table:
    def coded(codes: npt.NDArray[Any], words: list[str]) -> pa.Array:
        return pa.DictionaryArray.from_arrays(pa.array(codes.view(np.int32)), pa.array(words))

    made = {
        "table": coded(part.tables, list(TABLES)),
        "area": coded(part.areas, AREAS),
        "pay_table": coded(part.pay_tables, [MATRIX.digest]),
        "state": coded(part.states, STATES),
        "voided": part.voided.astype(bool),
        "faces": coded(part.faces, FACES),
        "stake": part.stakes,
        "kept_out": part.kept_out,
        "won": part.won,
        "returned": part.returned,
    }
    return pa.table(made).cast(_schema())

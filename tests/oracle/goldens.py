"""Write the golden matrices: ``python -m tests.oracle.goldens`` fills ``cases/matrices`` from the oracle."""

from __future__ import annotations

import sys
from itertools import combinations_with_replacement
from pathlib import Path

from . import PAY_TABLES, PayTable

MATRICES = Path(__file__).resolve().parents[2] / "cases" / "matrices"


def golden_path(table: PayTable) -> Path:
    """Where the golden matrix of a pay table lies."""
    return MATRICES / f"{table.name}.csv"


def golden_text(table: PayTable) -> str:
    """The golden matrix as the file holds it: a header, then one line an area."""
    rolls = list(combinations_with_replacement(range(1, 7), 3))
    lines = [",".join(["area", *("".join(map(str, roll)) for roll in rolls)])]
    lines += [
        ",".join([area, *(str(table.verdict(area, roll).net) for roll in rolls)]) for area in table.areas
    ]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Write every golden matrix and say which."""
    MATRICES.mkdir(parents=True, exist_ok=True)
    for table in PAY_TABLES:
        golden_path(table).write_text(golden_text(table), encoding="utf-8", newline="\n")
        sys.stdout.write(f"{golden_path(table).name}: {len(table.areas)} areas\n")


if __name__ == "__main__":
    main()

"""The distribution of a session's total in a file: JSON with fractions, Parquet with floats."""

from __future__ import annotations

import json
from collections.abc import Iterable
from contextlib import nullcontext
from pathlib import Path
from typing import IO, Any, Final

from taisai.rules.errors import RulesError
from taisai.study.law import Law
from taisai.study.missing import needed
from taisai.study.session.total import Total

ENDINGS: Final = (".json", ".parquet")
MOST_TEXT: Final = 2**28
"""Bytes of fractions in a JSON file: more is for Parquet, where each probability is one float."""


def distribution_path(text: str) -> Path:
    """Where a distribution goes, if its ending names a form we write."""
    path = Path(text)
    if path.suffix.lower() not in ENDINGS:
        raise RulesError(f"expected a file name that ends in {' or '.join(ENDINGS)}, got {text!r}")
    if path.suffix.lower() == ".parquet":
        with needed("pyarrow", "study"):
            import pyarrow  # noqa: F401 - better said before the work than after
    return path


def save_distribution(total: Total, path: str | Path, into: IO[bytes] | None = None) -> Path:
    """Writes every total with its probability, in JSON beside all the other facts.

    Into a file that is open already, or its own.
    """
    to = distribution_path(str(path))
    try:
        with nullcontext(into) if into else to.open("wb") as file:
            if to.suffix.lower() == ".json":
                _fits(total)
                facts = {**total.facts(), "distribution": total.listed()}
                file.write((json.dumps(facts) + "\n").encode())
            else:
                _parquet(total, file)
    except OSError as error:
        got = error.strerror or type(error).__name__
        raise RulesError(f"expected a file that can be written, got {str(to)!r}: {got}") from error
    return to


def _fits(total: Total) -> None:
    digits = 2 * total.rounds * total.one_round.total.bit_length() // 3 if total.is_exact else 20
    size = total.points * (digits + 40)
    if size > MOST_TEXT:
        raise RulesError(
            f"expected a distribution of at most {MOST_TEXT >> 20} MiB as JSON, got about "
            f"{size >> 20:,} MiB for {total.points:,} totals: name a .parquet file, where each is one float"
        )


def _parquet(total: Total, file: IO[bytes]) -> None:
    """Totals as whole numbers, probabilities as the nearest float."""
    with needed("pyarrow", "study"):
        import pyarrow as pa
        import pyarrow.parquet as pq
    law = total.law
    if isinstance(law, Law):
        totals: Iterable[int] = law.values
        shares: Any = [weight / law.total for weight in law.weights]  # reducing each would take minutes
    else:
        totals = range(law.low, law.low + law.step * len(law.probabilities), law.step)
        shares = law.probabilities
    narrow = max(abs(total.best), abs(total.worst)) < 2**63
    table = pa.table(
        {
            "total": pa.array(totals, pa.int64() if narrow else pa.decimal128(38)),
            "probability": pa.array(shares, pa.float64()),
        }
    )
    about = {"exact": str(total.is_exact).lower(), "error_at_most": repr(total.error)}
    pq.write_table(table.replace_schema_metadata(about), file)

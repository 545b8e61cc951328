"""Simulations in files: JSON with the figures, Parquet with a row for each session."""

from __future__ import annotations

import json
from contextlib import nullcontext
from pathlib import Path
from typing import IO, Final

from taisai.rules.errors import RulesError
from taisai.study.missing import needed
from taisai.study.simulation.result import Simulated
from taisai.study.simulation.sessions import ENDS

ENDINGS: Final = (".json", ".parquet")


def result_path(text: str) -> Path:
    """Where a result goes, if its ending names a form we write."""
    path = Path(text)
    if path.suffix.lower() not in ENDINGS:
        raise RulesError(f"expected a file name that ends in {' or '.join(ENDINGS)}, got {text!r}")
    if path.suffix.lower() == ".parquet":
        with needed("pyarrow", "study"):
            import pyarrow  # noqa: F401 - better said before the work than after
    return path


def save(result: Simulated, path: str | Path, into: IO[bytes] | None = None) -> None:
    """Writes the figures, into a file that is open already or its own; in Parquet one row a session."""
    path = result_path(str(path))
    try:
        with nullcontext(into) if into else path.open("wb") as file:
            if path.suffix.lower() == ".json":
                file.write((json.dumps(result.facts(), indent=2) + "\n").encode())
            else:
                _parquet(result, file)
    except OSError as error:
        got = error.strerror or type(error).__name__
        raise RulesError(f"expected a file that can be written, got {str(path)!r}: {got}") from error


def _parquet(result: Simulated, file: IO[bytes]) -> None:
    with needed("pyarrow", "study"):
        import pyarrow as pa
        import pyarrow.parquet as pq
    sessions = result.sessions
    if sessions is not None and len(sessions) > 1:
        ways = pa.DictionaryArray.from_arrays(
            pa.array(sessions.ended, pa.int8()), pa.array(list(ENDS.values()), pa.string())
        )
        table = pa.table(
            {
                "session": pa.array(range(len(sessions)), pa.int64()),
                "rounds": sessions.rounds,
                "staked": sessions.staked,
                "net": sessions.net,
                "max_drawdown": sessions.drawdown,
                "ended": ways,
            }
        )
    else:
        facts = result.facts()
        wide = pa.decimal128(38)  # a total may be longer than 64 bits
        whole = ("rounds", "staked", "returned", "net", "max_drawdown")
        kinds = {name: wide if name in whole else pa.float64() for name in facts}
        table = pa.table({name: pa.array([facts[name]], kinds[name]) for name in facts})
    pq.write_table(table.replace_schema_metadata({"taisai": f"{result.title}, seed {result.seed}"}), file)

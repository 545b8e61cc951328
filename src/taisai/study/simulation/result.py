"""Results of a simulation."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from fractions import Fraction
from math import floor, fsum, log10
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final

from taisai.study import needed
from taisai.study.report import Describable, Sheet, StudyReport, columns, counted, data_file, data_path
from taisai.study.simulation.plans import ENDS

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


SHARES: Final = (5, 25, 50, 75, 95)  # the quantiles of the net of many sessions, in per cent


@dataclass(frozen=True, slots=True)
class Sessions:
    """How each session ended; all arrays are indexed by session."""

    rounds: npt.NDArray[np.int64]
    staked: npt.NDArray[np.int64]
    net: npt.NDArray[np.int64]
    drawdown: npt.NDArray[np.int64]
    ended: npt.NDArray[np.int64]
    """A key of ENDS."""
    squares: npt.NDArray[np.float64] = field(repr=False)
    """The sum over rounds of the squared multiples."""

    def __len__(self) -> int:
        return len(self.rounds)

    def ways(self) -> dict[str, int]:
        """How many sessions ended in each way."""
        import numpy as np

        counts = np.bincount(self.ended, minlength=len(ENDS)).tolist()
        return {words: count for words, count in zip(ENDS.values(), counts, strict=True) if count}

    def quantiles(self) -> dict[int, int]:
        """Per cent → the quantile of the net."""
        import numpy as np

        ordered = np.sort(self.net)
        return {share: int(ordered[-(-share * len(ordered) // 100) - 1]) for share in SHARES}

    def squared(self) -> float:
        """The sum of all squares, independent of the order of summation."""
        whole = float(self.squares.max(initial=0)) * len(self.squares) < 2**53  # then every sum is exact
        return float(self.squares.sum()) if whole else fsum(self.squares.tolist())


def exact_sum(numbers: npt.NDArray[np.int64]) -> int:
    """The sum, also beyond 64 bits."""
    greatest = max(abs(int(numbers.max(initial=0))), abs(int(numbers.min(initial=0))))
    return int(numbers.sum()) if greatest * len(numbers) < 2**63 else sum(numbers.tolist())


@dataclass(frozen=True, slots=True)
class Simulated(Describable):
    """The result of a simulation, with its standard error."""

    title: str
    seed: int
    asked: int
    """The most rounds that were to be played."""
    rounds: int
    staked: int
    returned: int
    standard_error: float | None
    """Of the observed house edge; None if nothing was staked."""
    max_drawdown: int | None
    """The greatest drawdown of a player; None for totals."""
    seconds: float | None
    exact_edge: Fraction | None
    """The exact house edge, if every round has the same distribution."""
    is_whole: bool = True
    """False if it was interrupted."""
    sessions: Sessions | None = None
    trail: tuple[tuple[int, int], ...] = ()
    """Points (rounds, net after them)."""

    @property
    def net(self) -> int:
        """Won by the players; negative if they lost."""
        return self.returned - self.staked

    @property
    def house_edge_observed(self) -> float | None:
        """None if nothing was staked."""
        return -self.net / self.staked if self.staked else None

    @property
    def rounds_per_second(self) -> float | None:
        """None for totals, which play no rounds."""
        return self.rounds / self.seconds if self.seconds else None

    def facts(self) -> dict[str, Any]:
        found: dict[str, Any] = {
            "rounds": self.rounds,
            "staked": self.staked,
            "returned": self.returned,
            "net": self.net,
            "house_edge_observed": self.house_edge_observed,
            "standard_error": self.standard_error,
            "max_drawdown": self.max_drawdown,
            "rounds_per_second": self.rounds_per_second,
        }
        if self.sessions is not None and len(self.sessions) > 1:
            found["sessions"] = {
                "played": len(self.sessions),
                "ended": self.sessions.ways(),
                "net_quantiles": {f"{share}%": net for share, net in self.sessions.quantiles().items()},
            }
        return found

    def report(self) -> StudyReport:
        rows = [
            ("rounds", f"{self.rounds:,}"),
            ("staked", f"{self.staked:,}"),
            ("returned", f"{self.returned:,}"),
            ("net", f"{self.net:+,}"),
            ("house edge observed", _percent(self.house_edge_observed, self.standard_error)),
            ("standard error", _percent(self.standard_error, self.standard_error)),
        ]
        if self.exact_edge is not None:
            rows.insert(5, ("house edge exact", _percent(float(self.exact_edge), self.standard_error)))
        if self.max_drawdown is not None:
            rows.append(("maximum drawdown", f"{self.max_drawdown:,}"))
        if self.rounds_per_second is not None:
            rows.append(("rounds a second", f"{self.rounds_per_second:,.0f}"))
        sheets = [Sheet(self.title, columns("", numbers=("figure",)), tuple(rows))]
        if self.sessions is not None and len(self.sessions) > 1:
            sheets.append(_ends(self.sessions))
        notes = [f"Seed {self.seed}: the same seed gives the same figures with any number of workers."]
        if not self.is_whole:
            notes.append(f"Stopped after {self.rounds:,} of at most {counted(self.asked, 'round')}.")
        return StudyReport(tuple(sheets), tuple(notes))


def _ends(sessions: Sessions) -> Sheet:
    count = len(sessions)
    rows = [(way, f"{many:,}", f"{many / count:.3%}") for way, many in sessions.ways().items()]
    rows += [(f"{share} % ended at or below", f"{net:+,}", "") for share, net in sessions.quantiles().items()]
    return Sheet(counted(count, "session"), columns("", numbers=("figure", "share")), tuple(rows))


def _percent(value: float | None, error: float | None) -> str:
    """At least four decimals, and enough to show two digits of the error."""
    if value is None:
        return "–"
    decimals = max(4, min(15, 1 - floor(log10(100 * error)))) if error else 4
    return f"{100 * value:.{decimals}f} %"


def save(result: Simulated, path: str | Path, into: IO[bytes] | None = None) -> None:
    """Writes the figures to a file; Parquet has a row for each session."""
    path = data_path(str(path))
    with data_file(path, into) as file:
        if path.suffix.lower() == ".json":
            file.write((json.dumps(result.facts(), indent=2) + "\n").encode())
        else:
            _parquet(result, file)


def _parquet(result: Simulated, file: IO[bytes]) -> None:
    with needed("pyarrow", "study"):
        import pyarrow as pa
        import pyarrow.parquet as pq
    sessions = result.sessions
    if sessions is not None and len(sessions) > 1:
        words = pa.array(list(ENDS.values()), pa.string())
        ways = pa.DictionaryArray.from_arrays(pa.array(sessions.ended, pa.int8()), words)
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
        wide = pa.decimal128(38)  # a total may exceed 64 bits
        whole = ("rounds", "staked", "returned", "net", "max_drawdown")
        kinds = {name: wide if name in whole else pa.float64() for name in facts}
        table = pa.table({name: pa.array([facts[name]], kinds[name]) for name in facts})
    pq.write_table(table.replace_schema_metadata({"taisai": f"{result.title}, seed {result.seed}"}), file)

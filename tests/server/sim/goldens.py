"""Stored journals of simulated evenings, as exports: `cases/journals/simulated`.

`python -m tests.server.sim.goldens` compares them with what the simulation writes now.
With `--write` it stores what differs; do that only where a change of the bytes is intended, and say why.
"""

from __future__ import annotations

import argparse
import csv
import json
import logging
import lzma
from collections.abc import Iterator, Sequence
from io import StringIO
from pathlib import Path
from typing import Final

import structlog

from taisai.audit.export import lines
from taisai.audit.sources import Body, SourcePiece
from taisai.journal import journal
from tests.game.past_rounds import compiled_once
from tests.journal.evening_journal import read_once
from tests.journal.replay import difference, entries_of
from tests.server.sim.evening import Change, Played, played

DIRECTORY: Final = Path(__file__).parents[3] / "cases" / "journals" / "simulated"
INDEX: Final = DIRECTORY / "index.csv"
SAMPLE: Final = (
    77, 98, 150, 235, 434, 451, 480, 714, 830, 840, 2086, 2401, 2410, 2537, 2577, 2634, 2639, 2817, 2991,
    3005, 3011,
)  # fmt: skip
"""Seeds that together reach every rulebook, and every kind of event, command and irregularity of them all."""
SEEDS: Final = (
    77, 98, 150, 235, 309, 334, 434, 442, 451, 452, 477, 480, 611, 632, 714, 779, 812, 825, 830, 840, 905,
    924, 939, 973, 2035, 2086, 2090, 2143, 2292, 2401, 2410, 2537, 2555, 2577, 2582, 2634, 2639, 2684, 2692,
    2693, 2798, 2817, 2880, 2943, 2984, 2991, 3005, 3011, 3028, 3062,
)  # fmt: skip
"""Of 2228 seeds: each rulebook with each kind of event and command that it reached, in small journals."""


class _Evening:
    """A played evening as the source of an export."""

    name, total, done = "evening", 0, 0

    def __init__(self, evening: Played) -> None:
        self._evening = evening

    def pieces(self) -> Iterator[SourcePiece]:
        """Entries, and each checkpoint after the last entry that it covers."""
        for row in self._evening.rows:
            yield Body(row.body)
            yield from (sealed for sealed in self._evening.checkpoints if sealed.size == row.position)

    def close(self) -> None:
        """Nothing is open."""


def path_of(seed: int) -> Path:
    """The file of a seed."""
    return DIRECTORY / f"{seed}.jsonl.xz"


def stored(seed: int) -> bytes:
    """The stored export of a seed."""
    return lzma.decompress(path_of(seed).read_bytes())


def simulated(seed: int, change: Change | None = None) -> bytes:
    """The export of the evening that the simulation plays now, by edition 1 of its rulebook, in format 1."""
    return b"".join(lines(_Evening(played(seed, change=change, edition="@1"))))


def index_row(seed: int, export: bytes) -> tuple[str, str, str]:
    """What the index says of an export: seed, number of entries, root."""
    end = json.loads(export.splitlines()[-1])["end"]
    return str(seed), str(end["size"]), end["root"]


def index() -> list[tuple[str, ...]]:
    """The rows of the index."""
    with INDEX.open(encoding="utf-8", newline="") as opened:
        return [tuple(row) for row in csv.reader(opened)][1:]


def _write_index() -> None:
    text = StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(("seed", "entries", "root"))
    writer.writerows(index_row(seed, stored(seed)) for seed in SEEDS)
    INDEX.write_text(text.getvalue(), encoding="utf-8", newline="\n")


def main(arguments: Sequence[str] | None = None) -> int:
    """Compares every seed, or the given ones; stores what differs if told to."""
    parser = argparse.ArgumentParser(prog="python -m tests.server.sim.goldens", description=__doc__)
    parser.add_argument("seeds", type=int, nargs="*", help="the default is all of them")
    parser.add_argument("--write", action="store_true", help="store what differs")
    asked = parser.parse_args(arguments)
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    journal.rulebook_from = read_once  # type: ignore[attr-defined]
    differing = 0
    with compiled_once():
        for seed in asked.seeds or SEEDS:
            now = simulated(seed)
            before = stored(seed) if path_of(seed).exists() else b""
            if now == before:
                continue
            differing += 1
            print(f"seed {seed}, {difference(entries_of(before), entries_of(now)) or 'checkpoints'}"[:400])  # noqa: T201
            if asked.write:
                DIRECTORY.mkdir(exist_ok=True)
                path_of(seed).write_bytes(lzma.compress(now, preset=9 | lzma.PRESET_EXTREME))
    if asked.write:
        _write_index()
    print(f"{differing} of {len(asked.seeds or SEEDS)} differ")  # noqa: T201
    return 1 if differing and not asked.write else 0


if __name__ == "__main__":
    raise SystemExit(main())

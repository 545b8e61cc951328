"""Reads the files that an auditor names, with a progress bar."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from taisai.audit.sources import Export, JournalFile, Progress, source_of
from taisai.cli.files import read_file
from taisai.cli.printing import as_json, drawn_bar
from taisai.journal.errors import DamagedError, JournalError
from taisai.journal.seals.checkpoints import MOST_BYTES, CheckpointError, SignedCheckpoint, read_signed
from taisai.rules.errors import printable
from taisai.study.report import counted

CHECK_FAILED: Final = 1
_BEGINNINGS: Final = (b'{"asked":', b'{"event":', b'{"checkpoint":', b'{"end":')
"""How the lines of an export begin."""
_MEGABYTE: Final = 1_000_000
count: Final = counted


def opened(path: str) -> JournalFile | Export:
    """A journal or an export; any other file is an error, not a damaged journal."""
    source = source_of(path)
    if isinstance(source, Export):
        with Path(path).open("rb") as file:
            beginning = file.read(max(map(len, _BEGINNINGS)))
        if not beginning.startswith(_BEGINNINGS):
            got = "an empty file" if not beginning else "another file"
            raise JournalError(f"expected a journal or an export of one, got {got} ({path})")
    return source


def flawed(error: DamagedError, file: str, *, json: bool = False) -> int:
    """Prints the first fault of a file; returns the exit code of a failed check."""
    if json:
        as_json({"ok": False, "file": file, "position": error.position, "says": error.problem})
    else:
        where = "" if error.problem.endswith(f"({file})") else f" ({file})"
        sys.stderr.write(f"taisai: {printable(f'{error}{where}', 1_000)}\n")
    return CHECK_FAILED


@contextmanager
def progress(source: JournalFile | Export, doing: str) -> Iterator[Progress | None]:
    """A progress bar if standard error is a terminal; None otherwise."""
    is_counted = isinstance(source, JournalFile)

    def rate(speed: float) -> str:
        return f"{speed:,.0f} entries/s" if is_counted else f"{speed / _MEGABYTE:,.1f} MB/s"

    with drawn_bar(rate, source.total, doing) as update:
        yield update and (lambda done, total: update(completed=done, total=total))


def moment(milliseconds: int) -> str:
    """A time in UTC, such as 2026-11-15T04:00:00.000Z; a number of milliseconds beyond the calendar."""
    try:
        time = datetime.fromtimestamp(milliseconds // 1_000, UTC)
    except (OverflowError, ValueError, OSError):
        return f"{milliseconds} ms"
    return f"{time:%Y-%m-%dT%H:%M:%S}.{milliseconds % 1_000:03}Z"


def held_checkpoint(path: str) -> SignedCheckpoint:
    try:
        text = read_file(path, "checkpoint", MOST_BYTES)
        return read_signed(text.replace(b"\r\n", b"\n"))  # mail and Windows editors change line ends
    except CheckpointError as error:
        raise CheckpointError(f"{error} ({printable(path)})") from None

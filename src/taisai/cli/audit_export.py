"""`taisai audit export`: a journal written out, for other programs and other people."""

from __future__ import annotations

import os
import sys
from argparse import Namespace
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Final

from taisai.cli.audit_reading import Progress, flawed, opened, progress
from taisai.house.audit.sources import Source
from taisai.house.errors import DamagedError
from taisai.rules.errors import RulesError, printable

FORMATS: Final = ("jsonl", "csv", "parquet")
KINDS: Final = ("events", "bets")
STDOUT: Final = "-"


def run(arguments: Namespace) -> int:
    """Writes the export; 1 where the journal is damaged, and then no file is left behind."""
    file, form, kind, out = arguments.file, arguments.format, arguments.of, arguments.output
    _expect("--format", form, FORMATS)
    _expect("--of", kind, KINDS)
    if form == "jsonl" and kind != "events":
        raise RulesError("expected --of bets with csv or parquet, got jsonl, which holds the journal itself")
    if form == "parquet" and out == STDOUT:
        raise RulesError("expected -o and a file for parquet, got standard output, which it cannot go to")
    source = opened(file)
    try:
        with progress(source, "exporting") as told, writing(out) as written:
            _export(source, form, kind, written, told)
    except DamagedError as error:
        return flawed(error, file)
    finally:
        source.close()
    return 0


def _export(source: Source, form: str, kind: str, written: IO[bytes], told: Progress | None) -> None:
    if form == "jsonl":
        from taisai.house.audit.export import lines

        written.writelines(lines(source, told))
        return
    from taisai.house.audit.export_columns import COLUMNS
    from taisai.house.audit.export_rows import bet_rows, event_rows
    from taisai.house.audit.export_tables import write_csv, write_parquet

    rows = (bet_rows if kind == "bets" else event_rows)(source, told)
    (write_csv if form == "csv" else write_parquet)(COLUMNS[kind], rows, written)


def _expect(option: str, got: str, words: tuple[str, ...]) -> None:
    if got not in words:
        raise RulesError(f"expected {option} {', '.join(words[:-1])} or {words[-1]}, got {got!r}")


@contextmanager
def writing(out: str) -> Iterator[IO[bytes]]:
    """A new file that is there once all of it is written, and not before; or standard output."""
    if out == STDOUT:
        sys.stdout.flush()
        yield sys.stdout.buffer
        return
    path = Path(out)
    unfinished = path.with_name(f"{path.name}.part")
    if os.path.lexists(path):
        raise _is_there(path)
    try:
        file = unfinished.open("xb")
    except FileExistsError:
        raise _is_there(unfinished) from None
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else "no name of a file"
        raise RulesError(f"expected a file that can be written, got {printable(repr(out))}: {why}") from None
    try:
        with file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        _put_in_place(unfinished, path)
    finally:
        unfinished.unlink(missing_ok=True)


def _put_in_place(unfinished: Path, path: Path) -> None:
    """Under its own name, unless someone else took it meanwhile."""
    try:
        os.link(unfinished, path)
    except FileExistsError:
        raise _is_there(path) from None
    except OSError:  # a disk without links
        unfinished.rename(path)


def _is_there(path: Path) -> RulesError:
    return RulesError(f"expected no file there yet, got one ({printable(str(path))})")

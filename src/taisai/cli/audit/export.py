"""`taisai audit export`: a journal written out, for other programs and other people."""

from __future__ import annotations

from argparse import Namespace
from contextlib import closing
from typing import IO, Final

from taisai.audit.sources import Progress, Source
from taisai.cli.audit.reading import flawed, opened, progress
from taisai.cli.writing import STDOUT, writing
from taisai.journal.errors import DamagedError
from taisai.rules.errors import RulesError

FORMATS: Final = ("jsonl", "csv", "parquet")
KINDS: Final = ("events", "bets")


def run(arguments: Namespace) -> int:
    """Writes the export; 1 where the journal is damaged, and then no file is left behind."""
    file, form, kind, out = arguments.file, arguments.format, arguments.of, arguments.output
    _expect("--format", form, FORMATS)
    _expect("--of", kind, KINDS)
    if form == "jsonl" and kind != "events":
        raise RulesError("expected --of bets with csv or parquet, got jsonl, which holds the journal itself")
    if form == "parquet" and out == STDOUT:
        raise RulesError("expected -o and a file for parquet, got standard output, which it cannot go to")
    try:
        with (
            closing(opened(file)) as source,
            writing(out) as written,
            progress(source, "exporting") as told,
        ):
            _export(source, form, kind, written, told)
    except DamagedError as error:
        return flawed(error, file)
    return 0


def _export(source: Source, form: str, kind: str, written: IO[bytes], told: Progress | None) -> None:
    if form == "jsonl":
        from taisai.audit.exports.lines import lines

        written.writelines(lines(source, told))
        return
    from taisai.audit.exports.columns import COLUMNS
    from taisai.audit.exports.rows import bet_rows, event_rows
    from taisai.audit.exports.tables import write_csv, write_parquet

    rows = (bet_rows if kind == "bets" else event_rows)(source, told)
    (write_csv if form == "csv" else write_parquet)(COLUMNS[kind], rows, written)


def _expect(option: str, got: str, words: tuple[str, ...]) -> None:
    if got not in words:
        raise RulesError(f"expected {option} {', '.join(words[:-1])} or {words[-1]}, got {got!r}")

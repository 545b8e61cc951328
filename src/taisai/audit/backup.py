"""Backups: a complete copy of a journal, also while it is written; an existing file is never replaced."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, NamedTuple

from taisai.audit.sources import Progress
from taisai.audit.verify import Report, verified
from taisai.journal.codec import NOTHING_BEFORE
from taisai.journal.errors import ConflictError, DamagedError, JournalError, UnwritableError
from taisai.journal.reading import appended
from taisai.journal.seals.merkle import Frontier
from taisai.journal.stores.database_urls import is_database
from taisai.journal.stores.sqlite_reader import SqliteReader
from taisai.rules.errors import printable

_BESIDE: Final = ("-wal", "-journal")
"""SQLite reads these files as parts of the journal, even if they are left from another one."""

RESTORED: Final = "-restored"
"""The end of the name of the note beside a restored journal."""


class Copied(NamedTuple):
    entries: int
    root: str
    """The root of the tree over all entries, hexadecimal."""
    bytes: int


def back_up(journal: str | Path, copy: str | Path) -> Copied:
    """Copies a journal as it is now. The copy gets its name once it is checked."""
    return _copied(journal, copy, None)


def restore(backup: str | Path, journal: str | Path, *, progress: Progress | None = None) -> Report:
    """Copies a backup to the place of a new journal, after an audit of the backup."""
    expect_nothing(journal)
    report = check(backup, progress=progress)
    _copied(backup, journal, report)
    _note_restored(Path(journal))
    return report


def _note_restored(journal: Path) -> None:
    """Leaves the note by which the next start knows why the journal is another file."""
    note = Path(f"{journal}{RESTORED}")
    try:
        note.unlink(missing_ok=True)
        with os.fdopen(
            os.open(note, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8"
        ) as opened:
            opened.write(f"{journal.name} was made by `taisai restore`; the next start deletes this note\n")
    except OSError as error:
        problem = f"cannot write {printable(str(note))}: {error.strerror}"
        raise UnwritableError(f"restored, but {problem}; the next start will raise an alarm") from None


def _copied(journal: str | Path, copy: str | Path, report: Report | None) -> Copied:
    if is_database(journal):
        todo = "copy the whole database with the tools of PostgreSQL, such as pg_basebackup"
        raise JournalError(f"expected the file of a journal, got one in a database; {todo}")
    reader = SqliteReader(journal)
    try:
        least = _size(reader)
        with _placing(Path(copy)) as fresh:
            fresh.touch(mode=0o600)  # whatever the mode of what is copied: it holds password hashes
            reader.copy_to(fresh)
            copied = _whole(fresh, least)
            if report and (copied.entries, copied.root) != (report.entries, report.root):
                raise ConflictError(f"the backup changed after the check: {journal}; restore it again")
            _sync(fresh)
        return copied
    finally:
        reader.close()


def check(backup: str | Path, *, progress: Progress | None = None) -> Report:
    SqliteReader(backup).close()  # an export is refused: no journal can continue from it
    return verified(backup, progress=progress)


def expect_nothing(path: str | Path) -> None:
    """Raises an error if there is a file at the path, or a part of an earlier journal."""
    if os.path.lexists(path):
        raise UnwritableError(f"file exists: {printable(str(path))}; choose a new file")
    for part in (f"{path}{suffix}" for suffix in _BESIDE):
        if os.path.lexists(part) and Path(part).lstat().st_size:
            raise UnwritableError(f"file of another journal exists: {printable(part)}; choose a new file")


def _size(reader: SqliteReader) -> int:
    last = reader.last()
    return last.position if last else 0


def _whole(copy: Path, least: int) -> Copied:
    """Checks that SQLite finds no fault in the copy, and that it has at least `least` chained entries."""
    reader = SqliteReader(copy)
    try:
        if faults := reader.faults():
            raise DamagedError(0, f"damaged SQLite file: {faults[0]}")
        tree, previous = Frontier(), NOTHING_BEFORE
        for row in reader.rows():
            previous = appended(tree, row, previous)
        if not tree.size == _size(reader) >= least:
            raise DamagedError(0, f"expected a copy of at least {least} entries, got {tree.size}")
        return Copied(tree.size, tree.root().hex(), copy.stat().st_size)
    finally:
        reader.close()


@contextmanager
def _placing(target: Path) -> Iterator[Path]:
    """A temporary path beside the target. The file gets the target's name afterwards, if it is free."""
    expect_nothing(target)
    try:
        with TemporaryDirectory(prefix=".taisai-", dir=target.parent) as beside:
            fresh = Path(beside) / "copy"
            yield fresh
            os.link(fresh, target)  # unlike a rename, it replaces nothing
        _sync(target.parent)
    except JournalError:  # which is a ValueError, too
        raise
    except FileExistsError:
        raise UnwritableError(f"file exists: {printable(str(target))}; choose a new file") from None
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else "an invalid file name"
        raise UnwritableError(f"cannot write {printable(str(target))}: {why}") from None


def _sync(path: Path) -> None:
    """Makes a file, or the names in a directory, survive a power failure."""
    if path.is_dir() and os.name != "posix":  # other systems cannot open a directory, and need no sync of it
        return
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)

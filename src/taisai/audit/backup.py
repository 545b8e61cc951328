"""Backups: a copy of a journal while it is being written, made whole or not at all, and never over a file."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from shutil import copymode
from tempfile import TemporaryDirectory
from typing import Final, NamedTuple

from taisai.audit.sources import Progress
from taisai.audit.verify import Report, verified
from taisai.journal.codec import NOTHING_BEFORE
from taisai.journal.errors import ConflictError, DamagedError, JournalError, UnwritableError
from taisai.journal.journal import expect_next
from taisai.journal.seals.merkle import Frontier, leaf_hash
from taisai.journal.stores.sqlite_reader import SqliteReader
from taisai.rules.errors import printable

_BESIDE: Final = ("-wal", "-journal")
"""What SQLite takes for a part of the file: left from another journal, it would be read into the new one."""


class Copied(NamedTuple):
    """What a copy holds."""

    entries: int
    root: str
    """Of the tree over them, in hexadecimal."""
    bytes: int


def back_up(journal: str | Path, copy: str | Path) -> Copied:
    """Copies a journal as it is now, checks that the copy is whole, and only then gives it its name."""
    return _copied(journal, copy, None)


def restore(backup: str | Path, journal: str | Path, *, progress: Progress | None = None) -> Report:
    """Puts a backup in place as a new journal, once everything that can be proved of it was."""
    expect_nothing(journal)
    report = check(backup, progress=progress)
    _copied(backup, journal, report)
    return report


def _copied(journal: str | Path, copy: str | Path, proved: Report | None) -> Copied:
    reader = SqliteReader(journal)
    try:
        least = _size(reader)
        with _placing(Path(copy)) as fresh:
            reader.copy_to(fresh)
            copymode(journal, fresh)
            copied = _whole(fresh, least)
            if proved and (copied.entries, copied.root) != (proved.entries, proved.root):
                raise ConflictError(f"expected the backup as it was checked, got another ({journal})")
            _sync(fresh)
        return copied
    finally:
        reader.close()


def check(backup: str | Path, *, progress: Progress | None = None) -> Report:
    """What a backup proves; DamagedError where it does not."""
    SqliteReader(backup).close()  # an export may be as true, but is nothing to go on from
    return verified(backup, progress=progress)


def expect_nothing(path: str | Path) -> None:
    """Refuses a place where there is something already, or a part of a journal that was there."""
    if os.path.lexists(path):
        raise UnwritableError(f"expected no file there yet, got one ({printable(str(path))})")
    for part in (f"{path}{suffix}" for suffix in _BESIDE):
        if os.path.lexists(part) and Path(part).lstat().st_size:
            raise UnwritableError(f"expected no part of another file there, got one ({printable(part)})")


def _size(reader: SqliteReader) -> int:
    last = reader.last()
    return last.position if last else 0


def _whole(copy: Path, least: int) -> Copied:
    """What the copy holds, if SQLite finds no fault and no entry is missing that was there at the start."""
    reader = SqliteReader(copy)
    try:
        if faults := reader.faults():
            raise DamagedError(0, f"expected a whole SQLite file, got one with faults: {faults[0]}")
        tree, previous = Frontier(), NOTHING_BEFORE
        for row in reader.rows():
            expect_next(row, previous)
            leaf = leaf_hash(row.body)
            tree.append(leaf)
            previous = leaf.hex()
        if not tree.size == _size(reader) >= least:
            raise DamagedError(0, f"expected a copy of at least {least} entries, got {tree.size}")
        return Copied(tree.size, tree.root().hex(), copy.stat().st_size)
    finally:
        reader.close()


@contextmanager
def _placing(target: Path) -> Iterator[Path]:
    """A place beside the target to make the file in, which then gets its name, if nobody has taken it."""
    expect_nothing(target)
    try:
        with TemporaryDirectory(prefix=".taisai-", dir=target.parent) as beside:
            fresh = Path(beside) / "copy"
            yield fresh
            os.link(fresh, target)  # unlike a renaming, it replaces nothing
        _sync(target.parent)
    except JournalError:  # which is a ValueError, too
        raise
    except FileExistsError:
        raise UnwritableError(f"expected no file there yet, got one ({printable(str(target))})") from None
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else "no name of a file"
        raise UnwritableError(f"expected a place for a copy, got {why} ({printable(str(target))})") from None


def _sync(path: Path) -> None:
    """Makes a file, or the names in a directory, outlive a power failure."""
    if path.is_dir() and os.name != "posix":  # elsewhere a directory cannot be opened, and need not be
        return
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)

"""Journals as files: opening them, `taisai backup` and `taisai restore`."""

from __future__ import annotations

import dataclasses
import shlex
import time
from argparse import Namespace
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from taisai.audit.backup import back_up, check, expect_nothing
from taisai.audit.backup import restore as put_in_place
from taisai.audit.sources import JournalFile
from taisai.cli.audit.reading import count, flawed, progress
from taisai.cli.printing import as_json, line
from taisai.journal.errors import DamagedError, JournalError
from taisai.journal.journal import Journal
from taisai.journal.seals.keys import MOST_PASSPHRASE, SigningKey, load_signing_key
from taisai.journal.stores.sqlite import SqliteStore
from taisai.rules.errors import RulesError, printable

_SQLITE: Final = b"SQLite format 3\0"


def clock() -> int:
    """The moment, in milliseconds since 1970."""
    return time.time_ns() // 1_000_000


@contextmanager
def written(file: str, *, new: bool = False) -> Iterator[Journal]:
    """A journal to be written; one that is not there yet only where it may be new."""
    expect_journal(file, new=new)
    store = SqliteStore(file)
    try:
        journal = Journal(store)
        if journal.identity is None and not new:
            raise JournalError(f"expected a journal that was opened, got an empty one ({printable(file)})")
        yield journal
    finally:
        store.close()


def expect_journal(file: str, *, new: bool = False) -> None:
    """Refuses what cannot be a journal before anything is written beside it."""
    try:
        with Path(file).open("rb") as opened:
            head = opened.read(len(_SQLITE))
    except FileNotFoundError:
        if new:
            return
        raise JournalError(f"expected a journal, got no file {printable(repr(file))}") from None
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else "no name of a file"
        raise JournalError(f"expected a journal, got {printable(repr(file))}: {why}") from None
    if head != _SQLITE and (head or not new):
        raise JournalError(f"expected a journal of Taisai, got another file ({printable(file)})")


def signing_key(file: str, passphrase_file: str | None) -> SigningKey:
    """The key in a file, with the passphrase in another where it needs one."""
    return load_signing_key(Path(file), passphrase_in(passphrase_file))


def passphrase_in(file: str | None) -> str | None:
    """The first line of a file; None where no file is named."""
    if file is None:
        return None
    try:
        with Path(file).open("rb") as read:
            line = read.readline(MOST_PASSPHRASE + 2)
        return line.rstrip(b"\r\n").decode()
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else "no text in UTF-8"
        raise JournalError(f"expected a file with a passphrase, got {printable(repr(file))}: {why}") from None


def signing_time(journal: Journal, now: int) -> int:
    """When a signature is given: never before what it signs; a playbook's time may be ahead."""
    last = journal.store.last()
    if last is None:
        return now
    return max(now, journal.codec.decode(last.body, last.position).event.at)


def backup(arguments: Namespace) -> int:
    """Copies a journal."""
    expect_journal(arguments.journal)
    copied = back_up(arguments.journal, arguments.copy)
    if arguments.json:
        as_json({"journal": arguments.journal, "copy": arguments.copy, **copied._asdict()})
        return 0
    entries = count(copied.entries, "entry", "entries")
    of = printable(arguments.journal)
    line(f"{printable(arguments.copy)}: {entries} of {of}, each chained to the one before")
    line(f"Prove it with `taisai restore --check {printable(shlex.quote(arguments.copy))}`")
    return 0


def restore(arguments: Namespace) -> int:
    """Checks a backup, and puts it in place unless only the check is wanted; 1 where it is not whole."""
    backup, journal = arguments.backup, arguments.journal
    if arguments.check is (journal is not None):
        got = "both" if arguments.check else "neither"
        raise RulesError(f"expected either a new JOURNAL to restore to or --check, got {got}")
    if journal is not None:
        expect_nothing(journal)
    expect_journal(backup)
    source = JournalFile(backup)
    try:
        with progress(source, "checking") as told:
            report = (
                check(backup, progress=told)
                if journal is None
                else put_in_place(backup, journal, progress=told)
            )
    except DamagedError as error:
        return flawed(error, backup, json=arguments.json)
    finally:
        source.close()
    if arguments.json:
        as_json({"ok": True, "backup": backup, "journal": journal, "report": dataclasses.asdict(report)})
        return 0
    entries = count(report.entries, "entry", "entries")
    line(f"{printable(backup)}: {entries}, whole and by the rules, {report.sealed:,} of them sealed")
    if journal is not None:
        line(f"{printable(journal)}: restored")
    return 0

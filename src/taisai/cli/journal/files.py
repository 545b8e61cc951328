"""A journal's file and its key, as commands open them: with one clear line where they cannot."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from taisai.journal.errors import JournalError
from taisai.journal.journal import Journal
from taisai.journal.seals.keys import MOST_PASSPHRASE, SigningKey, load_signing_key
from taisai.journal.stores.sqlite import SqliteStore
from taisai.rules.errors import printable

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

"""The files that commands read and write."""

from __future__ import annotations

import errno
import os
import shlex
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Final

from taisai.rules.errors import RulesError, printable

STDOUT: Final = "-"
_FULL: Final = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""Errors that only a written file can cause; other errors may come from what is read for it."""


def read_file(path: str, what: str, most: int) -> bytes:
    """The bytes of a small file; `what` names it in errors, such as 'checkpoint'."""
    try:
        with Path(path).open("rb") as file:
            data = file.read(most + 1)
    except (OSError, ValueError) as error:
        raise unreadable(path, what, error) from None
    if len(data) > most:
        raise RulesError(f"{what} too large: expected at most {most:,} bytes ({printable(path)})")
    return data


def secret_line(path: str, what: str, most: int) -> str:
    """The first line of a file that only its owner may read, of at most so many bytes."""
    try:
        with Path(path).open("rb") as file:
            mode = os.fstat(file.fileno()).st_mode
            first = file.readline(most + 2).rstrip(b"\r\n").decode()
    except (OSError, ValueError) as error:
        raise unreadable(path, what, error) from None
    if os.name == "posix" and stat.S_ISREG(mode) and mode & (stat.S_IRWXG | stat.S_IRWXO):
        problem = f"others can read the {what}: expected mode 0600, got {stat.S_IMODE(mode):04o}"
        raise RulesError(f"{problem}; run: chmod 600 {printable(shlex.quote(path))}")
    return first


def unreadable(path: str, what: str, error: OSError | ValueError) -> RulesError:
    """The error about a file that cannot be read."""
    return RulesError(f"cannot read the {what} {printable(repr(path))}: {reason_of(error)}")


def reason_of(error: OSError | ValueError) -> str:
    if isinstance(error, OSError):
        return str(error.strerror)
    return "not UTF-8" if isinstance(error, UnicodeError) else "not a file name"


def write_new(path: str, text: str) -> None:
    """Writes a text to a new file; an existing file is an error."""
    try:
        with Path(path).open("x", encoding="utf-8", newline="\n") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
    except FileExistsError:
        raise _exists(Path(path)) from None
    except (OSError, ValueError) as error:
        raise _unwritable(path, error) from None


@contextmanager
def writing(out: str, *, mode: int = 0o666) -> Iterator[IO[bytes]]:
    """A new file that gets its name when all of it is written; or standard output."""
    if out == STDOUT:
        sys.stdout.flush()
        yield sys.stdout.buffer
        return
    path = Path(out)
    if os.path.lexists(path):
        raise _exists(path)
    unfinished = path.with_name(f"{path.name}.part")
    try:
        file = os.fdopen(os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb")
    except FileExistsError:
        raise _exists(unfinished) from None
    except (OSError, ValueError) as error:
        raise _unwritable(out, error) from None
    try:
        with file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        _put_in_place(unfinished, path)
    except OSError as error:
        if error.errno in _FULL:
            raise _unwritable(out, error) from None
        raise
    finally:
        unfinished.unlink(missing_ok=True)


def _put_in_place(unfinished: Path, path: Path) -> None:
    try:
        os.link(unfinished, path)
    except FileExistsError:  # made by another program meanwhile
        raise _exists(path) from None
    except OSError:  # a disk without links
        unfinished.rename(path)


def _exists(path: Path) -> RulesError:
    return RulesError(f"file exists: {printable(str(path))}; choose a new file")


def _unwritable(path: str, error: OSError | ValueError) -> RulesError:
    return RulesError(f"cannot write {printable(repr(path))}: {reason_of(error)}")

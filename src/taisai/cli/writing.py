"""Files that a command makes: new ones, written whole or not at all."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Final

from taisai.rules.errors import RulesError, printable

STDOUT: Final = "-"
_FULL: Final = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""What only a file that is written can fail with: other failures may be of what is read for it."""


@contextmanager
def writing(out: str) -> Iterator[IO[bytes]]:
    """A new file that is there once all of it is written, and not before; or standard output."""
    if out == STDOUT:
        sys.stdout.flush()
        yield sys.stdout.buffer
        return
    path = Path(out)
    if os.path.lexists(path):
        raise _is_there(path)
    unfinished = path.with_name(f"{path.name}.part")
    try:
        file = unfinished.open("xb")
    except FileExistsError:
        raise _is_there(unfinished) from None
    except (OSError, ValueError) as error:
        raise _cannot_be_written(out, error) from None
    try:
        with file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        _put_in_place(unfinished, path)
    except OSError as error:
        if error.errno in _FULL:
            raise _cannot_be_written(out, error) from None
        raise
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


def _cannot_be_written(out: str, error: OSError | ValueError) -> RulesError:
    why = error.strerror if isinstance(error, OSError) else "no name of a file"
    return RulesError(f"expected a file that can be written, got {printable(repr(out))}: {why}")

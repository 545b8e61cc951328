"""One writer at a time: a lock that dies with its process."""

from __future__ import annotations

import os
from types import ModuleType
from typing import Final

from taisai.journal.errors import ConflictError, UnwritableError

_fcntl: ModuleType | None
try:
    import fcntl as _fcntl
except ImportError:  # where there is none, a second writer is refused at its first entry
    _fcntl = None

SUFFIX: Final = "-writer"


class WriterLock:
    """Held from the opening of a journal for writing until its end, however it comes."""

    def __init__(self, path: str) -> None:
        self._descriptor = -1
        if _fcntl is None:
            return
        try:
            self._descriptor = os.open(path + SUFFIX, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise UnwritableError(
                f"expected a journal that can be written, got {error.strerror} ({path})"
            ) from None
        try:
            _fcntl.flock(self._descriptor, _fcntl.LOCK_EX | _fcntl.LOCK_NB)
        except OSError:
            self.release()
            raise ConflictError(
                f"expected to be the only writer, got another process at it ({path})"
            ) from None

    def release(self) -> None:
        """Lets the next one write."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

"""The system calls with which SQLite reads and writes files, each told before it is done and made to fail.

An exception raised in a Python VFS reaches the caller even where SQLite itself gets over an error, as it
does when a checkpoint of its log fails. A system call that fails here fails for SQLite as it would on a
broken disk, and for nobody else.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any, Final, NamedTuple, Self

import apsw

Judge = Callable[[str], int]
"""Told the name of a call before it is done: 0 lets it be done, an errno makes it fail."""


class _Call(NamedTuple):
    """A system call as C knows it."""

    returns: type
    takes: tuple[type, ...]


_FD, _PATH, _BUFFER, _SIZE, _OFFSET = (
    ctypes.c_int,
    ctypes.c_char_p,
    ctypes.c_void_p,
    ctypes.c_size_t,
    ctypes.c_int64,
)
CALLS: Final[dict[str, _Call]] = {
    "open": _Call(ctypes.c_int, (_PATH, ctypes.c_int, ctypes.c_int)),
    "read": _Call(ctypes.c_ssize_t, (_FD, _BUFFER, _SIZE)),
    "pread64": _Call(ctypes.c_ssize_t, (_FD, _BUFFER, _SIZE, _OFFSET)),
    "write": _Call(ctypes.c_ssize_t, (_FD, _BUFFER, _SIZE)),
    "pwrite64": _Call(ctypes.c_ssize_t, (_FD, _BUFFER, _SIZE, _OFFSET)),
    "ftruncate": _Call(ctypes.c_int, (_FD, _OFFSET)),
    "unlink": _Call(ctypes.c_int, (_PATH,)),
}
"""Those that can fail for reasons of the disk. SQLite lets nobody come between it and fsync."""


class SystemCalls(apsw.VFS):
    """While it is entered, every call of `CALLS` that SQLite makes in this process is judged first."""

    def __init__(self, judge: Judge) -> None:
        super().__init__("judged-calls", "unix")
        self._judge = judge
        self._kept: list[Any] = []  # C knows them by their addresses, so they must not go away

    def __enter__(self) -> Self:
        for name, call in CALLS.items():
            real = self.xGetSystemCall(name)
            if real is None:
                continue  # this build of SQLite has no use for it
            kind = ctypes.CFUNCTYPE(call.returns, *call.takes, use_errno=True)
            judged = kind(self._judging(name, kind(real)))
            self._kept.append(judged)
            self.xSetSystemCall(name, ctypes.cast(judged, ctypes.c_void_p).value or 0)
        return self

    def __exit__(self, *_: object) -> None:
        self.xSetSystemCall(None, 0)  # all as they were
        self.unregister()

    def _judging(self, name: str, real: Callable[..., int]) -> Callable[..., int]:
        def judged(*arguments: Any) -> int:
            failure = self._judge(name)
            if failure:
                ctypes.set_errno(failure)
                return -1
            return real(*arguments)

        return judged

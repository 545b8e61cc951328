"""The memory of a witness: a file to which signed checkpoints are appended, one JSON line each.

Nothing in it is ever changed, so that it can lie on a disk that only takes appends. A line is durable before
the witness answers. A file that is full, or whose last line a crash has cut, stays as it is, and
the next file continues it: `seen`, `seen.1`, `seen.2`.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from types import ModuleType
from typing import Final

import msgspec

from taisai.journal.seals.checkpoints import CheckpointError, SignedHead, read_head
from taisai.rules.errors import printable
from taisai.witness.errors import WitnessError

_fcntl: ModuleType | None
try:
    import fcntl as _fcntl
except ImportError:  # on Windows two programs must not be given one file
    _fcntl = None

MOST_FILE: Final = 64_000_000  # bytes of one file: two days of one checkpoint a second, read in half a second
_NUMBER: Final = re.compile("[1-9][0-9]{0,8}")
_ENCODE: Final = msgspec.json.Encoder().encode


class _Line(msgspec.Struct, forbid_unknown_fields=True):
    checkpoint: str


class SeenCheckpoints:
    """The latest checkpoint of each log that was seen, and the files that remember it."""

    def __init__(self, path: Path, *, most: int = MOST_FILE) -> None:
        """The first file has to exist: a witness whose memory was deleted must not begin again by itself."""
        self.path = path
        self.latest: dict[str, str] = {}
        """Origin → the latest checkpoint, signed."""
        self._most = most
        self._number = self._newest()
        self._descriptor, self._size = -1, 0
        self._is_cut = False
        """Whether the last line may be a part of one: nothing is written behind it."""
        last = [self._file(number) for number in (self._number - 1, self._number) if number >= 0]
        whole = [self._read(file) for file in last]
        self._open(is_new=False)
        self._is_cut = not whole[-1]  # the part stays where it is; it was never answered

    @staticmethod
    def make(path: Path) -> None:
        """Makes the first file, empty."""
        try:
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
            os.close(descriptor)
        except OSError as error:
            raise WitnessError(f"cannot make the file of a witness: {error.strerror} ({path})") from None

    @property
    def file(self) -> Path:
        """The file that is appended to."""
        return self._file(self._number)

    def head(self, origin: str) -> SignedHead | None:
        """The latest checkpoint of a log."""
        text = self.latest.get(origin)
        return None if text is None else read_head(text)

    def add(self, text: str) -> None:
        """Remembers a checkpoint, durably when this returns."""
        head = read_head(text)
        if self._is_cut or (self._size and self._size >= self._most):
            self._begin_next()
        self._write([text])
        self.latest[head.origin] = text

    def close(self) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def _file(self, number: int) -> Path:
        return self.path if number == 0 else self.path.with_name(f"{self.path.name}.{number}")

    def _newest(self) -> int:
        """The number of the last file; earlier ones may have been moved away."""
        beside = (path.name.removeprefix(f"{self.path.name}.") for path in self.path.parent.glob("*"))
        return max((int(number) for number in beside if _NUMBER.fullmatch(number)), default=0)

    def _read(self, file: Path) -> bool:
        """Reads one file; returns whether its last line is whole."""
        try:
            *lines, rest = file.read_bytes().split(b"\n")
        except OSError as error:
            hint = "; `taisai witness init` makes it" if isinstance(error, FileNotFoundError) else ""
            raise WitnessError(f"cannot read what was seen: {error.strerror} ({file}){hint}") from None
        for number, line in enumerate(lines, 1):
            try:
                text = msgspec.json.decode(line, type=_Line).checkpoint
                self._learn(text)
            except (msgspec.DecodeError, UnicodeDecodeError, CheckpointError) as error:
                problem = f"damaged: {printable(str(error))} (line {number})"
                raise WitnessError(f"the file of a witness is {problem}: {file}") from None
        return not rest

    def _learn(self, text: str) -> None:
        """Takes a checkpoint of a file; an older one that was appended later changes nothing."""
        head = read_head(text)
        known = self.head(head.origin)
        if known is None or known.size <= head.size:
            self.latest[head.origin] = text

    def _open(self, *, is_new: bool) -> None:
        file = self.file
        flags = os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC | (os.O_CREAT | os.O_EXCL if is_new else 0)
        try:
            descriptor = os.open(file, flags, 0o600)
        except OSError as error:
            raise WitnessError(f"cannot write what was seen: {error.strerror} ({file})") from None
        if _fcntl is not None:
            try:
                _fcntl.flock(descriptor, _fcntl.LOCK_EX | _fcntl.LOCK_NB)
            except OSError:
                os.close(descriptor)
                raise WitnessError(f"another program remembers in this file ({file})") from None
        self.close()
        self._descriptor, self._size = descriptor, os.fstat(descriptor).st_size

    def _begin_next(self) -> None:
        """Continues in a new file, which begins with the latest checkpoint of every log."""
        self._number += 1
        self._open(is_new=True)
        self._write(list(self.latest.values()))
        folder = os.open(self.path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)

    def _write(self, texts: list[str]) -> None:
        data = b"".join(_ENCODE(_Line(text)) + b"\n" for text in texts)
        self._is_cut = True
        try:
            written = os.write(self._descriptor, data) if data else 0
            os.fsync(self._descriptor)
        except OSError as error:
            raise WitnessError(f"cannot remember a checkpoint: {error.strerror} ({self.path})") from None
        self._size += written
        if written != len(data):
            raise WitnessError(f"cannot remember a checkpoint: the disk is full ({self.path})")
        self._is_cut = False

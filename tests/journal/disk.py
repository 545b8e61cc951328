"""A disk that can lose its power: what SQLite does to it, and what a power cut may leave of that.

What is promised by a real disk is promised here, and nothing else: a byte is sure once a sync of its file
has come back, a name once its directory was synced. Everything written since may be there, be missing, or
be there in some sectors of 512 bytes and not in others, in any combination. Bytes beside a write are never
harmed (SQLite's 'powersafe overwrite', which it assumes unless told otherwise).
"""
# ruff: noqa: N802  the names of SQLite's own methods

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Final, NamedTuple, Self

import apsw

SECTOR: Final = 512
_OF_A_JOURNAL: Final = apsw.SQLITE_OPEN_WAL | apsw.SQLITE_OPEN_MAIN_JOURNAL | apsw.SQLITE_OPEN_SUPER_JOURNAL
_KEPT: Final = apsw.SQLITE_OPEN_MAIN_DB | _OF_A_JOURNAL
"""The files that outlive a connection; the others are scratch paper."""

# What SQLite does


class Create(NamedTuple):
    """A name appears in the directory."""

    file: int
    name: str


class Delete(NamedTuple):
    """A name goes from the directory, and for sure where the directory is synced."""

    name: str
    sure: bool


class Write(NamedTuple):
    """Bytes are written to a file."""

    file: int
    offset: int
    data: bytes


class Truncate(NamedTuple):
    """A file is cut."""

    file: int
    size: int


class Sync(NamedTuple):
    """A file is made sure; the directory with it where SQLite has just opened a journal."""

    file: int
    directory: bool


class FailedSync(NamedTuple):
    """A sync fails, and the system forgets that anything was unwritten: no later sync makes it sure."""

    file: int


class Read(NamedTuple):
    """Bytes are read from a file."""

    file: int
    offset: int
    amount: int


Change = Create | Delete | Write | Truncate | Sync | FailedSync
Operation = Change | Read
Watch = Callable[[Operation], None]
"""Told of each operation before it is done; what it raises, SQLite gets as the disk's answer."""


class Disk(apsw.VFS):
    """Real files through SQLite's own code, each operation told before it is done."""

    def __init__(self, name: str, watch: Watch) -> None:
        super().__init__(name, "unix")
        self.watch = watch
        self._files: dict[str, int] = {}
        self._made = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.unregister()

    def xOpen(self, name: str | apsw.URIFilename | None, flags: list[int]) -> apsw.VFSFile:
        """Opens a file; it is watched if it outlives the connection."""
        if name is None or not flags[0] & _KEPT:
            return apsw.VFSFile("unix", name, flags)
        path = Path(name.filename() if isinstance(name, apsw.URIFilename) else name)
        if path.name not in self._files or not path.exists():
            if not flags[0] & apsw.SQLITE_OPEN_CREATE and not path.exists():
                return apsw.VFSFile("unix", name, flags)  # which says that there is none
            self._made += 1
            self.watch(Create(self._made, path.name))
            self._files[path.name] = self._made
        return _Watched(self, name, flags, self._files[path.name])

    def xDelete(self, filename: str, syncdir: bool) -> None:  # noqa: FBT001
        """Deletes a file."""
        name = Path(filename).name
        self.watch(Delete(name, syncdir))
        super().xDelete(filename, syncdir)
        self._files.pop(name, None)

    def adopt(self, names: Mapping[str, int]) -> None:
        """Takes over files that another disk made, under the numbers that they had there."""
        self._files |= names
        self._made = max((self._made, *names.values()))


class _Watched(apsw.VFSFile):
    """A file whose operations are told."""

    def __init__(self, disk: Disk, name: str | apsw.URIFilename, flags: list[int], file: int) -> None:
        self._watch = disk.watch
        self._file = file
        # SQLite syncs the directory with the first sync of a journal that it opened to create it.
        self._new = bool(flags[0] & apsw.SQLITE_OPEN_CREATE and flags[0] & _OF_A_JOURNAL)
        super().__init__("unix", name, flags)

    def xRead(self, amount: int, offset: int) -> bytes:
        self._watch(Read(self._file, offset, amount))
        return super().xRead(amount, offset)

    def xWrite(self, data: bytes, offset: int) -> None:
        self._watch(Write(self._file, offset, bytes(data)))
        super().xWrite(data, offset)

    def xTruncate(self, newsize: int) -> None:
        self._watch(Truncate(self._file, newsize))
        super().xTruncate(newsize)

    def xSync(self, flags: int) -> None:
        self._watch(Sync(self._file, self._new))
        super().xSync(flags)
        self._new = False


# What a power cut leaves


class _Piece(NamedTuple):
    """Bytes whose sync failed: they may be on the disk or not, for ever."""

    offset: int
    data: bytes


class _File:
    """One file: what is sure, and what was done since."""

    __slots__ = ("doubtful", "loose", "sure")

    def __init__(self) -> None:
        self.sure = bytearray()
        self.loose: list[Write | Truncate] = []
        self.doubtful: list[_Piece] = []

    def change(self, change: Write | Truncate) -> None:
        self.loose.append(change)
        if isinstance(change, Write) and self.doubtful:
            start, stop = change.offset, change.offset + len(change.data)
            self.doubtful = [left for piece in self.doubtful for left in _outside(piece, start, stop)]

    def sync(self) -> None:
        for change in self.loose:
            _apply(self.sure, change)
        self.loose.clear()

    def fail(self) -> None:
        """A failed sync: the length is kept, but none of the bytes is sure ever after."""
        whole = self.seen()
        for change in self.loose:
            if isinstance(change, Write):
                self.doubtful += map(_piece, _sectors(change))
        self.sure[len(whole) :] = bytes(max(0, len(whole) - len(self.sure)))
        self.loose.clear()

    def seen(self) -> bytearray:
        """What a program reads: everything that was written."""
        content = bytearray(self.sure)
        for piece in self.doubtful:
            _put(content, piece.offset, piece.data)
        for change in self.loose:
            _apply(content, change)
        return content

    @property
    def is_sure(self) -> bool:
        return not self.loose and not self.doubtful

    @property
    def unsure(self) -> int:
        """How many sectors, and cuts, may be there or not."""
        return sum(
            1 if isinstance(change, Truncate) else len(change.data) // SECTOR + 1 for change in self.loose
        ) + len(self.doubtful)


class Platter:
    """What a disk holds that has seen these operations."""

    def __init__(self) -> None:
        self._files: dict[int, _File] = {}
        self._sure_names: dict[str, int] = {}
        self._loose_names: list[Create | Delete] = []

    def do(self, change: Operation) -> None:
        """Takes one operation in."""
        match change:
            case Write() | Truncate():
                self._files[change.file].change(change)
            case Sync():
                self._files[change.file].sync()
                if change.directory:
                    self._sync_names()
            case FailedSync():
                self._files[change.file].fail()
            case Create():
                self._files[change.file] = _File()
                self._loose_names.append(change)
            case Delete():
                self._loose_names.append(change)
                if change.sure:
                    self._sync_names()
            case Read():
                pass

    def _sync_names(self) -> None:
        self._sure_names = self.names()
        self._loose_names.clear()

    def names(self) -> dict[str, int]:
        """Name → file, as a program sees them."""
        names = dict(self._sure_names)
        for change in self._loose_names:
            _enter(names, change)
        return names

    def seen(self) -> dict[str, bytes]:
        """Name → content, as a program sees them while the power stays on."""
        return {name: bytes(self._files[file].seen()) for name, file in self.names().items()}

    @property
    def unsure(self) -> int:
        """How much of it may be there or not: 0 where a power cut can leave one image alone."""
        files = set(self.names().values()) | set(self._sure_names.values())
        return len(self._loose_names) + sum(self._files[file].unsure for file in files)

    def image(self, chance: Random) -> dict[str, bytes]:
        """Name → content: one of the many things that a power cut here may leave."""
        draw = _Draw(chance)
        gone: set[str] = set()
        names = dict(self._sure_names)
        for change in self._loose_names:  # of one name in order, of several in any
            if change.name not in gone and draw.keeps():
                _enter(names, change)
            else:
                gone.add(change.name)
        return {name: self._content(self._files[file], draw) for name, file in names.items()}

    def _content(self, file: _File, draw: _Draw) -> bytes:
        content = bytearray(file.sure)
        if file.is_sure:
            return bytes(content)
        for piece in file.doubtful:
            if draw.keeps():
                _put(content, piece.offset, piece.data)
        longest = len(content)
        for change in file.loose:
            if isinstance(change, Truncate):
                if draw.keeps():
                    del content[change.size :]
                continue
            longest = max(longest, change.offset + len(change.data))
            for part in draw.parts(change):
                _put(content, part.offset, part.data, draw.filling)
        return bytes(draw.length(content, len(file.sure), longest))


class _Draw:
    """What became of each thing in one image: all, nothing, single sectors, by turns likely and unlikely."""

    def __init__(self, chance: Random) -> None:
        self._chance = chance
        self._keep = chance.choice((0.0, 0.1, 0.5, 0.5, 0.9, 0.97, 1.0))
        self._tear = chance.choice((0.0, 0.1, 0.5, 1.0))
        self._cut = chance.choice((0.0, 0.0, 0.5))
        self._garbage = chance.random() < 0.25

    def keeps(self) -> bool:
        return self._chance.random() < self._keep

    def parts(self, write: Write) -> list[Write]:
        """What is left of one write."""
        if self._chance.random() >= self._tear:
            return [write] if self.keeps() else []
        sectors = _sectors(write)
        place = self._chance.randrange(len(sectors) + 1)
        match self._chance.randrange(3):
            case 0:
                return sectors[:place]
            case 1:
                return sectors[place:]
            case _:
                return [sector for sector in sectors if self._chance.random() < 0.5]

    def filling(self, amount: int) -> bytes:
        """What stands where a file grew and nothing was written."""
        return self._chance.randbytes(amount) if self._garbage else bytes(amount)

    def length(self, content: bytearray, sure: int, longest: int) -> bytearray:
        """The file as long as the directory says: growth that was not synced may be there or not."""
        if longest > sure and self._chance.random() < self._cut:
            size = self._chance.choice((sure, longest, self._chance.randint(sure, longest)))
            content += self.filling(max(0, size - len(content)))
            del content[max(size, sure) :]
        return content


def _sectors(write: Write) -> list[Write]:
    """A write, cut where one sector of the disk ends and another begins."""
    file, offset, data = write
    first = SECTOR - offset % SECTOR
    cuts = [0, *range(first, len(data), SECTOR), len(data)]
    return [Write(file, offset + a, data[a:b]) for a, b in pairwise(cuts) if a < b]


def _piece(write: Write) -> _Piece:
    return _Piece(write.offset, write.data)


def _outside(piece: _Piece, start: int, stop: int) -> list[_Piece]:
    """What of a piece lies outside what is written over it."""
    before = piece.data[: max(0, start - piece.offset)]
    after = piece.data[max(0, stop - piece.offset) :]
    if len(before) == len(piece.data) or len(after) == len(piece.data):
        return [piece]
    return [left for left in (_Piece(piece.offset, before), _Piece(stop, after)) if left.data]


def _zeros(amount: int) -> bytes:
    return bytes(amount)


def _put(content: bytearray, offset: int, data: bytes, filling: Callable[[int], bytes] = _zeros) -> None:
    if offset > len(content):
        content += filling(offset - len(content))
    content[offset : offset + len(data)] = data


def _apply(content: bytearray, change: Write | Truncate) -> None:
    if isinstance(change, Write):
        _put(content, change.offset, change.data)
    else:
        del content[change.size :]


def _enter(names: dict[str, int], change: Create | Delete) -> None:
    if isinstance(change, Create):
        names[change.name] = change.file
    else:
        names.pop(change.name, None)

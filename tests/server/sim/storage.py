"""Where a simulated journal is kept: in memory, or in a file whose disk loses its power with every crash."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Protocol

from taisai.journal import SqliteStore, Store
from tests.journal.disk import Create, Disk, Operation, Platter, Sync, Write
from tests.server.sim.sim_house import furnished

NAME = "journal.db"


class Storage(Protocol):
    """A store, and what a crash leaves of it."""

    store: Store

    def crash(self, chance: Random) -> None:
        """The power goes; `store` is what the next start finds."""

    def close(self) -> None:
        """Lets go of it."""


class InMemory:
    """Nothing that was appended is ever lost."""

    def __init__(self, book: str) -> None:
        self.store: Store = furnished(book)

    def crash(self, chance: Random) -> None:
        """Nothing happens to it."""

    def close(self) -> None:
        """Nothing to let go of."""


class OnDisk:
    """A SQLite file on a disk that keeps what was synced, and of the rest whatever it likes."""

    def __init__(self, book: str, directory: Path) -> None:
        self._directory = directory
        self._platter = Platter()
        self._is_recording = True
        self._disk = Disk("simulated", self._watch)
        self.store: Store = self._opened()
        made = furnished(book)
        self.store.append(list(made.rows()))

    def _opened(self) -> SqliteStore:
        return SqliteStore(self._directory / NAME, vfs="simulated", wal_pages=30)

    def _watch(self, operation: Operation) -> None:
        if self._is_recording:
            self._platter.do(operation)

    def crash(self, chance: Random) -> None:
        """One of the things that a power cut may leave is what the next start finds."""
        image = self._platter.image(chance)
        self._is_recording = False
        self.store.close()
        self._disk.unregister()
        for file in self._directory.iterdir():
            file.unlink()
        self._platter, self._is_recording = Platter(), True
        self._disk = Disk("simulated", self._watch)
        self._restore(image)
        self.store = self._opened()

    def _restore(self, image: dict[str, bytes]) -> None:
        """Writes the image, and tells the new platter that all of it is sure."""
        names = {}
        for number, (name, content) in enumerate(image.items(), 1):
            (self._directory / name).write_bytes(content)
            self._platter.do(Create(number, name))
            self._platter.do(Write(number, 0, content))
            self._platter.do(Sync(number, directory=True))
            names[name] = number
        self._disk.adopt(names)

    def close(self) -> None:
        """Lets go of the file."""
        self.store.close()
        self._disk.unregister()

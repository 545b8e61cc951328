"""A witness in this process that can be silent, lie, or be given up; and the parts of a start that ask it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import apsw

from taisai.journal import Journal, SigningKey, SqliteStore
from taisai.journal.seals.checkpoints import NoteSignature, read_head, read_signature
from taisai.journal.seals.cosignatures import witness_key
from taisai.journal.stores.contract import Store
from taisai.server.config.settings import WitnessConfig
from taisai.server.runtime.startup_checks import StartupReport
from taisai.server.runtime.witness_checks import StartWitnesses, ask_witnesses
from taisai.witness.errors import SecondHistoryError, SilentWitnessError, WitnessedSizeError
from taisai.witness.memory import SeenCheckpoints
from taisai.witness.protocol import written_request
from taisai.witness.service import WitnessService

WITNESS_KEY: Final = SigningKey.new("witness.example/w1", seed=bytes(range(3, 35)))


class Watcher:
    """A witness without a network, whose every answer is that of the real service."""

    def __init__(self, folder: Path, origin: str, key: SigningKey) -> None:
        """`key` signs the journal."""
        self.name = WITNESS_KEY.name
        self.key = witness_key(WITNESS_KEY)
        if not (folder / "seen").exists():
            SeenCheckpoints.make(folder / "seen")
        seen = SeenCheckpoints(folder / "seen")
        logs = {origin: [key.public]}
        self.service = WitnessService(WITNESS_KEY, logs, seen, seconds=lambda: 1_794_800_000)
        self.origin = origin
        self.is_silent = False
        self.silent_after: int | None = None
        """After how many more checkpoints it becomes silent."""
        self.says: int | None = None
        """The size that it says it has seen, whatever it was told."""
        self.asked: list[int] = []
        """The old size of each request."""

    @property
    def size(self) -> int:
        """How many entries it has seen."""
        head = self.service.seen.head(self.origin)
        return 0 if head is None else head.size

    def add(self, text: str, old: int, proof: Sequence[bytes]) -> NoteSignature:
        self.asked.append(old)
        if self.silent_after is not None:
            self.is_silent, self.silent_after = self.silent_after <= 0, self.silent_after - 1
        if self.is_silent:
            raise SilentWitnessError(f"the witness {self.name} cannot be reached: timed out")
        if self.says is not None and old != self.says:
            raise WitnessedSizeError(self.says, f"it says {self.says}")
        reply = self.service.add(written_request(old, proof, text))
        if reply.status == 409 and int(reply.text) != old:
            raise WitnessedSizeError(int(reply.text), "another size")
        if reply.status in (409, 422):
            raise SecondHistoryError(f"the witness {self.name} has seen other entries up to {old}")
        assert reply.status == 200, reply
        assert read_head(text).size == self.size
        return read_signature(reply.text.removesuffix("\n"), 1)

    def abort(self) -> None:
        """Nothing takes time here."""

    def close(self) -> None:
        self.service.seen.close()


def file_config(path: Path) -> WitnessConfig:
    return WitnessConfig(url=None, key=None, certificate=None, file=path)


def url_config(url: str) -> WitnessConfig:
    return WitnessConfig(url=url, key=witness_key(WITNESS_KEY).text, certificate=None, file=None)


def asked_at_start(
    store: Store, key: SigningKey, *configured: WitnessConfig, now: int
) -> tuple[list[str], StartWitnesses | None]:
    """The lines of a start that asks its witnesses, and what came of it."""
    start = StartupReport()
    found = ask_witnesses(configured, Journal(store), key, start, now=now)
    return start.lines(), found


def cut(path: Path, entries: int) -> None:
    """What a thief of the machine does: the file ends after so many entries, as if it always had."""
    connection = apsw.Connection(str(path))
    triggers = [
        str(sql) for (sql,) in connection.execute("SELECT sql FROM sqlite_schema WHERE type = 'trigger'")
    ]
    names = connection.execute("SELECT name FROM sqlite_schema WHERE type = 'trigger'").fetchall()
    with connection:
        for (name,) in names:
            connection.execute(f"DROP TRIGGER {name}")
        connection.execute("DELETE FROM entry WHERE position > ?", (entries,))
        connection.execute("DELETE FROM checkpoint WHERE size > ?", (entries,))
        connection.execute("DELETE FROM newest WHERE size > ?", (entries,))
        connection.execute("DELETE FROM snapshot")
        connection.execute("DELETE FROM part")
        for sql in triggers:
            connection.execute(sql)
    connection.close()


def opened(path: Path) -> SqliteStore:
    return SqliteStore(path)

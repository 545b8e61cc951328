"""The journal: entries that are chained and signed, the stores that hold them, and the engine that appends.

>>> from taisai.game.commands import Limits, OpenTable
>>> from taisai.journal import Journal, Engine, MemoryStore, SigningKey
>>> from taisai.rules import rulebook
>>> key = SigningKey.new("lotus-2026", seed=bytes(32))
>>> journal = Journal.opened(
...     MemoryStore(), journal="evening-1", key=key.public, at=0, by="Sue", program="mine", demonstration=True
... )
>>> engine = Engine(journal)
>>> opening = OpenTable(
...     at=0,
...     by="Sue",
...     rank="shift-manager",
...     table="SB1",
...     currency="SGD",
...     day="2026-11-15",
...     zone="Asia/Singapore",
...     limits=Limits(least=1000, most=500_000),
... )
>>> len(engine.open_table(rulebook("mbs-sic-bo-v6"), opening))  # answered when it is durable
1
>>> [entry.stream for entry in journal.entries()]
['journal', 'journal', 'table:SB1']
>>> print(journal.seal(key, at=1), end="")
taisai/evening-1
3
...
time 1
<BLANKLINE>
— lotus-2026 ...
"""

from taisai.journal.beside import Distrusted
from taisai.journal.codec import Codec, Entry, stream_of, table_of
from taisai.journal.engine import Answer, Engine, Submission
from taisai.journal.errors import (
    ConflictError,
    DamagedError,
    FencedError,
    InDoubtError,
    JournalError,
    UnwritableError,
)
from taisai.journal.journal import Decision, Journal
from taisai.journal.seals.checkpoints import Checkpoint, SignedCheckpoint, read_signed
from taisai.journal.seals.keys import PublicKey, SigningKey, load_public_key, load_signing_key, make_key
from taisai.journal.stores.contract import MemoryStore, Reader, Store
from taisai.journal.stores.database_urls import is_database
from taisai.journal.stores.opening import open_reader, open_store
from taisai.journal.stores.sqlite import SqliteStore
from taisai.journal.stores.sqlite_reader import SqliteReader

__all__ = [
    "Answer",
    "Checkpoint",
    "Codec",
    "ConflictError",
    "DamagedError",
    "Decision",
    "Distrusted",
    "Engine",
    "Entry",
    "FencedError",
    "InDoubtError",
    "Journal",
    "JournalError",
    "MemoryStore",
    "PublicKey",
    "Reader",
    "SignedCheckpoint",
    "SigningKey",
    "SqliteReader",
    "SqliteStore",
    "Store",
    "Submission",
    "UnwritableError",
    "is_database",
    "load_public_key",
    "load_signing_key",
    "make_key",
    "open_reader",
    "open_store",
    "read_signed",
    "stream_of",
    "table_of",
]

"""Snapshots: a table or a round as plain data, from which it goes on as if nothing had been.

A snapshot holds no rounds that are over but their number, and no terms but what they are compiled from:
how long it takes to start again does not depend on how long the table was played at.

>>> from taisai.game import Table
>>> from taisai.game.rounds.past_rounds import PastRounds
>>> from taisai.game.snapshot import TableSnapshot, decode, encode, restored, snapshot_of
>>> from taisai.rules import rulebook
>>> book = rulebook("mbs-sic-bo-v6")
>>> data = encode(snapshot_of(Table(book)))
>>> table = restored(book, decode(data, TableSnapshot), PastRounds())
>>> encode(snapshot_of(table)) == data
True
"""

from taisai.game.snapshot.codec import VERSION, SnapshotError, decode, encode
from taisai.game.snapshot.rounds import RoundSnapshot, loading, restored_round, round_snapshot_of
from taisai.game.snapshot.table import TableSnapshot, restored, snapshot_of

__all__ = [
    "VERSION",
    "RoundSnapshot",
    "SnapshotError",
    "TableSnapshot",
    "decode",
    "encode",
    "loading",
    "restored",
    "restored_round",
    "round_snapshot_of",
    "snapshot_of",
]

"""Exports: a journal as lines of JSON, byte for byte what is signed."""

from __future__ import annotations

from collections.abc import Iterator

from taisai.audit.sources import TOLD_EVERY, Body, End, Progress, Source, checkpoint_line, end_line
from taisai.journal.errors import DamagedError
from taisai.journal.seals.merkle import Frontier, leaf_hash
from taisai.journal.stores.contract import StoredCheckpoint


def lines(source: Source, progress: Progress | None = None) -> Iterator[bytes]:
    """Every line of an export: entries as they are, checkpoints in their places, and how many there were."""
    tree = Frontier()
    for piece in source.pieces():
        if isinstance(piece, Body):
            tree.append(leaf_hash(piece.body))
            yield piece.body + b"\n"
            if progress and not tree.size % TOLD_EVERY:
                progress(source.done, source.total)
        elif isinstance(piece, StoredCheckpoint):
            yield checkpoint_line(piece.text) + b"\n"
        elif piece != End(tree.size, tree.root().hex()):
            says = f"expected {piece.size} entries before the end of the export, got {tree.size} or others"
            raise DamagedError(tree.size, says)
    yield end_line(tree.size, tree.root()) + b"\n"
    if progress:
        progress(source.total, source.total)

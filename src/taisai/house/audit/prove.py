"""Short proofs: that an entry is in what was signed, and that what was signed later continues it."""

from __future__ import annotations

from collections.abc import Iterator

from taisai.house.audit.sources import Export, JournalFile
from taisai.house.checkpoint import CheckpointError, SignedCheckpoint, read_signed
from taisai.house.errors import DamagedError
from taisai.house.store import Sealed


def checkpoints_of(source: JournalFile | Export) -> Iterator[SignedCheckpoint]:
    """Every checkpoint that a file holds, in its order; they are read, and not verified."""
    if isinstance(source, JournalFile):
        kept = iter(source.reader.checkpoints())
    else:
        kept = (piece for piece in source.pieces() if isinstance(piece, Sealed))
    for sealed in kept:
        try:
            yield read_signed(sealed.text)
        except CheckpointError as error:
            says = f"expected a checkpoint, got something else: {error}"
            raise DamagedError(sealed.size, says) from None

"""Copies of checkpoints in a folder elsewhere: they show what a journal cannot, that its end is missing."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Final

from taisai.journal.errors import JournalError
from taisai.journal.seals.checkpoints import MOST_BYTES, SignedCheckpoint, read_signed

_NAME: Final = re.compile(r"checkpoint-([0-9]{19})\.txt")


def copy_checkpoint(folder: Path, text: str) -> Path:
    """Writes a checkpoint into the folder, named by how many entries it is over; whole or not at all."""
    size = read_signed(text).checkpoint.size
    path = folder / f"checkpoint-{size:019}.txt"
    half = folder / f".{path.name}.new"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with half.open("w", encoding="utf-8", newline="\n") as opened:
            opened.write(text)
            opened.flush()
            os.fsync(opened.fileno())
        half.replace(path)
    except OSError as error:
        raise JournalError(
            f"expected a place for a copy of the checkpoint, got {error.strerror} ({folder})"
        ) from None
    return path


def newest_copy(folder: Path) -> SignedCheckpoint | None:
    """The checkpoint over the most entries that the folder has; nothing where it has none."""
    try:
        names = [one.name for one in folder.iterdir() if _NAME.fullmatch(one.name)] if folder.exists() else []
        if not names:
            return None
        with (folder / max(names)).open("rb") as opened:
            return read_signed(opened.read(MOST_BYTES + 1))
    except OSError as error:
        got = f"{error.strerror} ({folder})"
        raise JournalError(f"expected a folder of checkpoints that can be read, got {got}") from None

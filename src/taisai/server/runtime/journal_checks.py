"""The checks of the journal before the server starts: its chain, its checkpoints, what lies beside it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from taisai.journal import Journal, SigningKey
from taisai.journal.seals.merkle import Frontier, leaf_hash
from taisai.rules.errors import RulesError
from taisai.server.config import Config
from taisai.server.runtime.environment import newest_copy

if TYPE_CHECKING:
    from taisai.server.runtime.startup_checks import OpenedJournal, StartupReport


def check_storage(config: Config, journal: Journal, start: StartupReport) -> None:
    """Checks that what is stored beside the entries is authenticated."""
    if journal.secret is None:
        file, key = config.journal.label, config.journal.key.name
        start.fails(
            "storage",
            "the journal has no storage secret: an earlier Taisai made it, and what lies beside its entries "
            "could be anything. Check and authenticate it once, with no server running: "
            f"taisai journal authenticate {file} --key {key} --by NAME",
        )


def check_chain(config: Config, found: OpenedJournal, start: StartupReport, *, whole: bool) -> None:
    """Checks the chain of entries and the newest copy of a checkpoint; `whole`, all of both."""
    journal = found.journal
    try:
        if whole:
            journal.prove()
        if config.journal.checkpoints is not None:
            _expect_copy(journal, found.key, config.journal.checkpoints)
    except RulesError as error:
        start.fails("chain", error)
        return
    if not whole:
        before = journal.hashed_from
        audited = f"; the {before:,} before them are audited while the server runs" if before else ""
        start.passes("chain", f"{journal.size - before:,} entries verified{audited}")
        return
    count = len(journal.store.checkpoints())
    start.passes("chain", f"{journal.size:,} entries verified, checkpoints verified: {count:,}")
    for before, size in journal.store.backwards()[:1]:
        start.warns(
            "chain",
            f"a checkpoint over {size:,} entries was stored after one over {before:,}: two servers wrote "
            "at a time. Both are valid over their own entries",
        )


def _expect_copy(journal: Journal, key: SigningKey, folder: Path) -> None:
    """Checks that the journal still has the entries of the newest copied checkpoint."""
    copy = newest_copy(folder)
    if copy is None:
        return
    checkpoint = copy.checkpoint
    is_stored = any(stored.text == copy.text for stored in journal.store.checkpoints())
    if is_stored and checkpoint.size <= journal.size and copy.is_signed_by(key.public):
        return  # the end of the journal is authentic, and the background audit hashes the rest
    copied = f"the copy of a checkpoint over {checkpoint.size:,} entries"
    if checkpoint.size > journal.size:
        raise RulesError(f"expected the entries of {copied}, got {journal.size:,}: the journal was cut off")
    tree = Frontier()
    for row in journal.store.rows():
        if row.position > checkpoint.size:
            break
        tree.append(leaf_hash(row.body))
    if (checkpoint.origin, checkpoint.root) != (journal.origin, tree.root()):
        raise RulesError(f"the entries differ from {copied} ({checkpoint.origin})")
    if not copy.is_signed_by(key.public) and copy.text not in (
        stored.text for stored in journal.store.checkpoints()
    ):
        raise RulesError(f"{copied} has no signature of the key of the house ({checkpoint.origin})")

"""The checks before anything is written: secrets, disk, approvals, whose journal it is, the clock."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from taisai.cage import StreamError
from taisai.journal import Journal, Keeper, SigningKey, SqliteStore, load_public_key, load_signing_key
from taisai.journal.seals.keys import MOST_PASSPHRASE
from taisai.rules.errors import RulesError
from taisai.server.config import Config
from taisai.server.runtime.checks.findings import StartUp
from taisai.server.runtime.rulebook_approvals import MOST_BYTES, Approvals, read_approvals

LEAST_FREE: Final = 1_000_000_000  # bytes of the journal's disk: some weeks of a busy floor
OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO


@dataclass(frozen=True, slots=True)
class Opened:
    """A journal opened for writing, and what its start needs; nothing was written yet."""

    keeper: Keeper
    key: SigningKey
    approvals: Approvals
    start: StartUp

    @property
    def journal(self) -> Journal:
        """The journal."""
        return self.keeper.journal


def free_bytes(path: Path) -> int:
    """How much the disk under a path still takes."""
    return shutil.disk_usage(path).free


def opened(
    config: Config, *, now: int, free: Callable[[Path], int] = free_bytes
) -> tuple[StartUp, Opened | None]:
    """Opens the journal if it is one to be played for money into, by us, now; recovery comes next."""
    start = StartUp()
    _check_files(config, start)
    _check_disk(config, start, free)
    key, approvals = _signing_key(config, start), _approvals(config, start)
    keeper = _keeper(config, start)
    if keeper is None:
        return start, None
    try:
        _check_journal(config, keeper, key, start)
        _check_clock(config, keeper.journal, now, start)
    except (RulesError, StreamError) as error:
        start.fails("journal", f"{error} ({config.journal.file.name})")
    except BaseException:
        keeper.journal.close()
        raise
    if not start.passed or key is None or approvals is None:
        keeper.journal.close()
        return start, None
    return start, Opened(keeper, key, approvals, start)


def _check_files(config: Config, start: StartUp) -> None:
    """Nobody else reads what is secret; the journal has the vault with what people sign in by."""
    secret = (config.journal.key, config.journal.passphrase_file, config.listen.tls_key, config.journal.file)
    for path in filter(None, secret):
        try:
            mode = stat.S_IMODE(path.stat().st_mode)
        except OSError as error:
            start.fails("files", f"expected a file, got {error.strerror} ({path.name})")
            continue
        if os.name == "posix" and mode & OTHERS:
            start.fails(
                "files", f"expected a file for its owner alone (chmod 600), got mode {mode:04o} ({path.name})"
            )
            continue
        start.passes("files", f"{path.name} is its owner's alone")


def _check_disk(config: Config, start: StartUp, free: Callable[[Path], int]) -> None:
    left = free(config.journal.file.parent)
    if left < LEAST_FREE:
        start.fails("disk", f"expected {LEAST_FREE:,} bytes free for the journal, got {left:,}")
    else:
        start.passes("disk", f"{left:,} bytes free for the journal")


def passphrase(config: Config) -> str | None:
    """The passphrase of the journal's key, if it has one: the first line of its file."""
    if config.journal.passphrase_file is None:
        return None
    with config.journal.passphrase_file.open("rb") as opened_:
        return opened_.readline(MOST_PASSPHRASE + 2).rstrip(b"\r\n").decode(errors="surrogateescape")


def _signing_key(config: Config, start: StartUp) -> SigningKey | None:
    try:
        return load_signing_key(config.journal.key, passphrase(config))
    except OSError as error:
        start.fails("key", f"expected a passphrase's file that can be read, got {error.strerror}")
    except RulesError as error:
        start.fails("key", error)
    return None


def _approvals(config: Config, start: StartUp) -> Approvals | None:
    try:
        key = load_public_key(config.approvals.key)
        with config.approvals.file.open("rb") as opened_:
            read = read_approvals(opened_.read(MOST_BYTES + 1), key)
    except OSError as error:
        start.fails("approvals", f"expected a list, got {error.strerror} ({config.approvals.file.name})")
        return None
    except RulesError as error:
        start.fails("approvals", f"{error} ({config.approvals.file.name})")
        return None
    start.passes("approvals", f"{len(read.listed)} on the list, signed by {key.name} {key.id}")
    return read


def _keeper(config: Config, start: StartUp) -> Keeper | None:
    """The journal opened for writing; a store that cannot be used is let go again."""
    try:
        store = SqliteStore(config.journal.file)
    except RulesError as error:
        start.fails("journal", error)
        return None
    try:
        return Keeper(Journal(store))
    except BaseException as error:
        store.close()
        if not isinstance(error, RulesError):
            raise
        start.fails("journal", f"{error} ({config.journal.file.name})")
        return None


def _check_journal(config: Config, keeper: Keeper, key: SigningKey | None, start: StartUp) -> None:
    """It is one of play for money, of this house, and we sign it."""
    journal, name = keeper.journal, config.journal.file.name
    identity = journal.identity
    if identity is None or journal.key is None:
        start.fails("journal", f"expected a journal that `taisai init` made, got an empty one ({name})")
        return
    if identity.demonstration:
        start.fails("journal", f"expected a journal of play for money, got one of demonstration ({name})")
        return
    if key is not None and key.public != journal.key:
        ours, its = f"{key.name} {key.public.id}", f"{journal.key.name} {journal.key.id}"
        start.fails("key", f"expected the key that signs the journal, {its}, got {ours}")
    elif key is not None:
        start.passes("key", f"{key.name} {key.public.id} signs the journal")
    house = keeper.house()
    wanted, got = (config.house.name, config.house.currency), (house.name, house.currency)
    if not house.open:
        start.fails("house", f"expected a journal whose House was opened, got none ({name})")
    elif wanted != got:
        says = f"expected the journal of {wanted[0]!r} in {wanted[1]}, got that of {got[0]!r} in {got[1]}"
        start.fails("house", f"{says} ({name})")
    else:
        start.passes("journal", f"{identity.journal} of {house.name}, {journal.size:,} entries")


def _check_clock(config: Config, journal: Journal, now: int, start: StartUp) -> None:
    last = journal.store.last()
    behind = 0 if last is None else journal.codec.decode(last.body, last.position).event.at - now
    if behind > config.floor.clock_jump_ms:
        at_most = f"at most {config.floor.clock_jump_ms:,} ms behind the journal's last entry"
        start.fails("clock", f"expected a clock {at_most}, got one {behind:,} ms behind")
    else:
        start.passes("clock", "not behind the journal's last entry")

"""The checks before the server starts: files, disk, key, approvals, journal, clock, tables, program."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from taisai.cage import House, StreamError
from taisai.game.table import Table
from taisai.game.terms.opening import local_time
from taisai.journal import Engine, Journal, SigningKey, SqliteStore, load_public_key, load_signing_key
from taisai.journal.seals.keys import MOST_PASSPHRASE
from taisai.journal.seals.merkle import Frontier, leaf_hash
from taisai.rules.errors import RulesError, printable
from taisai.server.config import Config, TableConfig
from taisai.server.config.tables import TABLE
from taisai.server.runtime.environment import manifest, newest_copy
from taisai.server.runtime.rulebook_approvals import MOST_BYTES, RulebookApprovals, read_approvals


@dataclass(frozen=True, slots=True)
class Finding:
    """What one check found."""

    what: str
    passed: bool
    says: str
    warns: bool = False
    """Whether someone should do something about it, though it stands against nothing."""

    @property
    def line(self) -> str:
        """The finding for people."""
        mark = "✗" if not self.passed else "!" if self.warns else "✓"
        return f"{mark} {self.what}: {self.says}"


@dataclass(slots=True)
class StartupReport:
    """The findings of one start, in order."""

    findings: list[Finding] = field(default_factory=list)

    @property
    def passed(self) -> bool:
        """Whether nothing stands against a start; a start that checked nothing has not passed."""
        return bool(self.findings) and all(one.passed for one in self.findings)

    def lines(self) -> list[str]:
        """All findings for people."""
        return [one.line for one in self.findings]

    def passes(self, what: str, says: str) -> None:
        """Something is as it should be."""
        self.findings.append(Finding(what, passed=True, says=says))

    def warns(self, what: str, says: str) -> None:
        """Something stands against nothing, and should still be looked after."""
        self.findings.append(Finding(what, passed=True, says=says, warns=True))

    def fails(self, what: str, says: object) -> None:
        """Something stands against a start."""
        self.findings.append(Finding(what, passed=False, says=printable(str(says), 1_000)))


LEAST_SUPERVISING: Final = 3
"""With credentials: the one who is locked, and the two who unlock them."""


def too_few_supervisors(house: House) -> str | None:
    """What to do while fewer people of supervising rank can sign in than it takes to unlock one of them."""
    there = [person for person in house.credentials if house.supervising(house.people.get(person))]
    if len(there) >= LEAST_SUPERVISING:
        return None
    return (
        f"expected {LEAST_SUPERVISING} people of the rank {house.second_rank} or above who can sign in, got "
        f"{len(there)}: enrol more, or whoever is locked is unlocked only by a stop and `taisai unlock`"
    )


LEAST_FREE: Final = 1_000_000_000  # bytes of the journal's disk: some weeks of a busy floor
OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO


@dataclass(frozen=True, slots=True)
class OpenedJournal:
    """A journal opened for writing, and what its start needs; nothing was written yet."""

    engine: Engine
    key: SigningKey
    approvals: RulebookApprovals
    start: StartupReport

    @property
    def journal(self) -> Journal:
        """The journal."""
        return self.engine.journal


def free_bytes(path: Path) -> int:
    """How much the disk under a path still takes."""
    return shutil.disk_usage(path).free


def opened(
    config: Config, *, now: int, free: Callable[[Path], int] = free_bytes
) -> tuple[StartupReport, OpenedJournal | None]:
    """Opens the journal if it is one to be played for money into, by us, now; recovery comes next."""
    start = StartupReport()
    _check_files(config, start)
    _check_disk(config, start, free)
    key, approvals = _signing_key(config, start), _approvals(config, start)
    engine = _engine(config, start)
    if engine is None:
        return start, None
    try:
        _check_journal(config, engine, key, start)
        _check_clock(config, engine.journal, now, start)
    except (RulesError, StreamError) as error:
        start.fails("journal", f"{error} ({config.journal.file.name})")
    except BaseException:
        engine.journal.close()
        raise
    if not start.passed or key is None or approvals is None:
        engine.journal.close()
        return start, None
    return start, OpenedJournal(engine, key, approvals, start)


def _check_files(config: Config, start: StartupReport) -> None:
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


def _check_disk(config: Config, start: StartupReport, free: Callable[[Path], int]) -> None:
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


def _signing_key(config: Config, start: StartupReport) -> SigningKey | None:
    try:
        return load_signing_key(config.journal.key, passphrase(config))
    except OSError as error:
        start.fails("key", f"expected a passphrase's file that can be read, got {error.strerror}")
    except RulesError as error:
        start.fails("key", error)
    return None


def _approvals(config: Config, start: StartupReport) -> RulebookApprovals | None:
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


def _engine(config: Config, start: StartupReport) -> Engine | None:
    """The journal opened for writing; a store that cannot be used is let go again."""
    try:
        store = SqliteStore(config.journal.file)
    except RulesError as error:
        start.fails("journal", error)
        return None
    try:
        return Engine(Journal(store))
    except BaseException as error:
        store.close()
        if not isinstance(error, RulesError):
            raise
        start.fails("journal", f"{error} ({config.journal.file.name})")
        return None


def _check_journal(config: Config, engine: Engine, key: SigningKey | None, start: StartupReport) -> None:
    """It is one of play for money, of this house, and we sign it."""
    journal, name = engine.journal, config.journal.file.name
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
    house = engine.house()
    wanted, got = (config.house.name, config.house.currency), (house.name, house.currency)
    if not house.open:
        start.fails("house", f"expected a journal whose House was opened, got none ({name})")
    elif wanted != got:
        says = f"expected the journal of {wanted[0]!r} in {wanted[1]}, got that of {got[0]!r} in {got[1]}"
        start.fails("house", f"{says} ({name})")
    else:
        start.passes("journal", f"{identity.journal} of {house.name}, {journal.size:,} entries")


def _check_clock(config: Config, journal: Journal, now: int, start: StartupReport) -> None:
    last = journal.store.last()
    behind = 0 if last is None else journal.codec.decode(last.body, last.position).event.at - now
    if behind > config.floor.clock_jump_ms:
        at_most = f"at most {config.floor.clock_jump_ms:,} ms behind the journal's last entry"
        start.fails("clock", f"expected a clock {at_most}, got one {behind:,} ms behind")
    else:
        start.passes("clock", "not behind the journal's last entry")


def proven(
    config: Config, found: OpenedJournal, *, now: int, program: Callable[[], str] = manifest
) -> StartupReport:
    """Proves the journal, the rulebooks and the program; the findings of `opened` come first."""
    start = found.start
    _check_chain(config, found, start)
    try:
        _check_tables(config, found, now, start)
        _check_people(found, start)
    except (RulesError, StreamError) as error:
        start.fails("tables", error)
    _check_program(config, program(), start)
    return start


def _check_chain(config: Config, found: OpenedJournal, start: StartupReport) -> None:
    """Every entry follows the one before, and every checkpoint still holds, the copy elsewhere too."""
    journal = found.journal
    try:
        journal.prove()
        count = len(journal.store.checkpoints())
        if config.journal.checkpoints is not None:
            _expect_copy(journal, found.key, config.journal.checkpoints)
    except RulesError as error:
        start.fails("chain", error)
        return
    start.passes("chain", f"{journal.size:,} entries proved, {count:,} of its checkpoints still true")


def _expect_copy(journal: Journal, key: SigningKey, folder: Path) -> None:
    """The newest copy of a checkpoint is over entries that the journal still has."""
    copy = newest_copy(folder)
    if copy is None:
        return
    checkpoint = copy.checkpoint
    told = f"the copy of a checkpoint over {checkpoint.size:,} entries"
    if checkpoint.size > journal.size:
        raise RulesError(f"expected the entries of {told}, got {journal.size:,}: the journal was cut off")
    tree = Frontier()
    for row in journal.store.rows():
        if row.position > checkpoint.size:
            break
        tree.append(leaf_hash(row.body))
    if (checkpoint.origin, checkpoint.root) != (journal.origin, tree.root()):
        raise RulesError(f"expected the entries of {told}, got others ({checkpoint.origin})")
    if not copy.is_signed_by(key.public) and copy.text not in (
        one.text for one in journal.store.checkpoints()
    ):
        raise RulesError(f"expected {told} with a signature of ours, got another ({checkpoint.origin})")


def _check_tables(config: Config, found: OpenedJournal, now: int, start: StartupReport) -> None:
    """Every table, of the configuration and of the journal, is played by a rulebook approved for today."""
    today = local_time(now, config.house.zone).date()
    engine, wanted = found.engine, {one.name: one for one in config.tables}
    there = {name: engine.table(name) for name in engine.tables()}
    for name in dict.fromkeys([*wanted, *there]):
        table, one = there.get(name), wanted.get(name)
        if table is not None and not table.open and one is None:
            continue  # closed for good
        book = table.book if table else wanted[name].book
        wrong = [_unnamed(one, config), _mismatch(one, table), found.approvals.refusal(book, today)]
        for says in filter(None, wrong):
            start.fails("table", f"{name}: {says}")
        if not any(wrong):
            start.passes("table", f"{name} by {book.id}{_words(one, table)}")


def _unnamed(table: TableConfig | None, config: Config) -> str | None:
    """Nobody would attend it: no clock, no terms, nobody to say how its dice come in."""
    if table is not None:
        return None
    says = f"expected every table that is open in the journal under [[{TABLE}]], got one without"
    return f"{says}: name it again, and close it at the floor before it is left out ({config.file.name})"


def _mismatch(config: TableConfig | None, table: Table | None) -> str | None:
    """Why a table of the journal cannot be served, or is not the one that the configuration says."""
    if table is None:
        return None
    if not table.open:
        return "expected a new name, got that of a table which was closed"
    if table.demonstration:
        return "expected a table of play for money, got one of demonstration"
    if config is not None and config.book.digest != table.book.digest:
        was = f"{table.book.id} {table.book.digest}"
        return f"expected the rulebook that it was opened with, {was}, got {config.book.digest}"
    return None


def _words(config: TableConfig | None, table: Table | None) -> str:
    """What someone who changed the configuration should know of a table."""
    if config is None or table is None:
        return ", new"
    asked = (config.limits, config.offers, config.book.chosen(config.settings))
    is_same = asked == (table.limits, table.offers, table.settings)
    return "" if is_same else ", under the terms that the journal says, not those of the configuration"


def _check_people(found: OpenedJournal, start: StartupReport) -> None:
    """Enough people to unlock one another."""
    says = too_few_supervisors(found.engine.house())
    if says is not None:
        start.warns("people", says)


def _check_program(config: Config, ours: str, start: StartupReport) -> None:
    wanted = config.software.manifest
    if wanted is None:
        start.passes("program", f"{ours}; [software] manifest is not set, so any program may run")
    elif wanted == ours:
        start.passes("program", f"{ours}, as [software] manifest says")
    else:
        start.fails("program", f"expected the program {wanted}, got {ours}")

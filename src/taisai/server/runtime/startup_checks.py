"""The checks before the server starts: files, disk, key, approvals, journal, clock, tables, program."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from taisai.cage import StreamError
from taisai.journal import Engine, Journal, SigningKey, load_public_key, load_signing_key, open_store
from taisai.journal.seals.keys import MOST_PASSPHRASE
from taisai.rules.errors import RulesError, printable
from taisai.server.auth.enrolment import people_warnings
from taisai.server.config import Config
from taisai.server.runtime.environment import manifest
from taisai.server.runtime.journal_checks import check_chain, check_storage
from taisai.server.runtime.rulebook_approvals import MOST_BYTES, RulebookApprovals, read_approvals
from taisai.server.runtime.table_checks import check_tables


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of one check."""

    what: str
    passed: bool
    text: str
    warns: bool = False
    """Whether it passed, but somebody should act."""

    @property
    def line(self) -> str:
        mark = "✗" if not self.passed else "!" if self.warns else "✓"
        return f"{mark} {self.what}: {self.text}"


@dataclass(slots=True)
class StartupReport:
    """The results of the checks of one start, in order."""

    findings: list[Finding] = field(default_factory=list)

    @property
    def passed(self) -> bool:
        """Whether all checks passed; a start without checks has not passed."""
        return bool(self.findings) and all(finding.passed for finding in self.findings)

    def lines(self) -> list[str]:
        return [finding.line for finding in self.findings]

    def passes(self, what: str, text: str) -> None:
        self.findings.append(Finding(what, passed=True, text=text))

    def warns(self, what: str, text: str) -> None:
        self.findings.append(Finding(what, passed=True, text=text, warns=True))

    def fails(self, what: str, text: object) -> None:
        self.findings.append(Finding(what, passed=False, text=printable(str(text), 1_000)))


LEAST_FREE: Final = 1_000_000_000  # bytes of the journal's disk: some weeks of a busy casino
LEAST_TOKEN: Final = 32  # characters of the metrics token: nobody guesses it
OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO


@dataclass(frozen=True, slots=True)
class OpenedJournal:
    """A journal opened for writing, with what a start needs; nothing is written yet."""

    engine: Engine
    key: SigningKey
    approvals: RulebookApprovals
    start: StartupReport
    behind: int = 0
    """Milliseconds that the clock is behind the last entry, where that was accepted."""

    @property
    def journal(self) -> Journal:
        return self.engine.journal


def free_bytes(path: Path) -> int:
    return shutil.disk_usage(path).free


def opened(
    config: Config,
    *,
    now: Callable[[], int],
    free: Callable[[Path], int] = free_bytes,
    accept_clock: bool = False,
    wait: float = 0,
) -> tuple[StartupReport, OpenedJournal | None]:
    """Opens the journal if the server may write to it; recovery comes next.

    `wait`: for so many seconds it waits for another process to give back a journal in a database. The time
    is asked for afterwards.
    """
    start, behind = StartupReport(), 0
    _check_files(config, start)
    _check_disk(config, start, free)
    key, approvals = _signing_key(config, start), _approvals(config, start)
    engine = _engine(config, key, start, wait)
    if engine is None:
        return start, None
    try:
        _check_journal(config, engine, key, start)
        behind = _check_clock(config, engine.journal, now(), start, is_accepted=accept_clock)
    except (RulesError, StreamError) as error:
        start.fails("journal", f"{error} ({config.journal.label})")
    except BaseException:
        engine.journal.close()
        raise
    if not start.passed or key is None or approvals is None:
        engine.journal.close()
        return start, None
    return start, OpenedJournal(engine, key, approvals, start, behind)


def _check_files(config: Config, start: StartupReport) -> None:
    """Checks that only the owner can read secret files; the journal holds password hashes."""
    secret = (config.journal.key, config.journal.passphrase_file, config.journal.file)
    for path in filter(None, (*secret, config.listen.tls_key, config.listen.metrics_token_file)):
        try:
            mode = stat.S_IMODE(path.stat().st_mode)
        except OSError as error:
            start.fails("files", f"cannot read {path.name}: {error.strerror}")
            continue
        if os.name == "posix" and mode & OTHERS:
            start.fails("files", f"expected mode 0600, got {mode:04o} ({path.name}); run chmod 600")
            continue
        start.passes("files", f"only its owner can read {path.name}")
    if start.passed and (token := metrics_token(config)) is not None and len(token) < LEAST_TOKEN:
        start.fails(
            "files", f"expected a metrics token of {LEAST_TOKEN} characters or more, got {len(token)}"
        )


def _check_disk(config: Config, start: StartupReport, free: Callable[[Path], int]) -> None:
    if config.journal.file is None:
        return  # the database's own machine watches its disk
    left = free(config.journal.file.parent)
    if left < LEAST_FREE:
        start.fails("disk", f"disk full: the journal needs {LEAST_FREE:,} bytes free, {left:,} left")
    else:
        start.passes("disk", f"{left:,} bytes free for the journal")


def passphrase(config: Config) -> str | None:
    """The passphrase of the journal's key, if it has one: the first line of its file."""
    return _first_line(config.journal.passphrase_file)


def metrics_token(config: Config) -> str | None:
    """The token of monitoring, if there is one: the first line of its file."""
    return _first_line(config.listen.metrics_token_file)


class MetricsToken:
    """The token of monitoring as its file has it now, so that it can be renewed while the server runs.

    A file that is gone, that others can read, or whose token is too short opens nothing.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._read: tuple[int, int, int] | None = None
        self._token: str | None = None

    def __call__(self) -> str | None:
        if self._path is None:
            return None
        try:
            state = self._path.stat()
            read = (state.st_mtime_ns, state.st_ino, state.st_mode)
            if read != self._read:
                is_ours = os.name != "posix" or not stat.S_IMODE(state.st_mode) & OTHERS
                token = _first_line(self._path) if is_ours else None
                self._token = token if token is not None and len(token) >= LEAST_TOKEN else None
                self._read = read
        except OSError:
            self._read = self._token = None
        return self._token


def _first_line(path: Path | None) -> str | None:
    if path is None:
        return None
    with path.open("rb") as opened_:
        return opened_.readline(MOST_PASSPHRASE + 2).rstrip(b"\r\n").decode(errors="surrogateescape")


def _signing_key(config: Config, start: StartupReport) -> SigningKey | None:
    try:
        return load_signing_key(config.journal.key, passphrase(config))
    except OSError as error:
        start.fails("key", f"cannot read the passphrase file: {error.strerror}")
    except RulesError as error:
        start.fails("key", error)
    return None


def _approvals(config: Config, start: StartupReport) -> RulebookApprovals | None:
    try:
        key = load_public_key(config.approvals.key)
        with config.approvals.file.open("rb") as opened_:
            read = read_approvals(opened_.read(MOST_BYTES + 1), key)
    except OSError as error:
        start.fails("approvals", f"cannot read the list: {error.strerror} ({config.approvals.file.name})")
        return None
    except RulesError as error:
        start.fails("approvals", f"{error} ({config.approvals.file.name})")
        return None
    start.passes("approvals", f"{len(read.listed)} on the list, signed by {key.name} {key.id}")
    return read


def _engine(config: Config, key: SigningKey | None, start: StartupReport, wait: float) -> Engine | None:
    """The journal opened for writing; a store that fails is closed again."""
    try:
        store = open_store(config.journal.place, wait=wait)
    except RulesError as error:
        start.fails("journal", error)
        return None
    try:
        return Engine(Journal(store, key=key))
    except BaseException as error:
        store.close()
        if not isinstance(error, RulesError):
            raise
        start.fails("journal", f"{error} ({config.journal.label})")
        return None


def _check_journal(config: Config, engine: Engine, key: SigningKey | None, start: StartupReport) -> None:
    """Checks that the journal is for money, of this house, and signed by our key."""
    journal, name = engine.journal, config.journal.label
    identity = journal.identity
    if identity is None or journal.key is None:
        start.fails("journal", f"expected a journal of `taisai init`, got an empty file ({name})")
        return
    if identity.demonstration:
        start.fails("journal", f"expected a journal of play for money, got a demonstration ({name})")
        return
    if key is not None and key.public != journal.key:
        ours, its = f"{key.name} {key.public.id}", f"{journal.key.name} {journal.key.id}"
        start.fails("key", f"expected the key that signs the journal, {its}, got {ours}")
    elif key is not None:
        start.passes("key", f"{key.name} {key.public.id} signs the journal")
        check_storage(config, journal, start)
    house = engine.house()
    wanted, got = (config.house.name, config.house.currency), (house.name, house.currency)
    if not house.open:
        start.fails("house", f"the House was never opened in this journal ({name}); run `taisai init`")
    elif wanted != got:
        expected = f"the journal of {wanted[0]!r} in {wanted[1]}"
        start.fails("house", f"expected {expected}, got {got[0]!r} in {got[1]} ({name})")
    else:
        start.passes("journal", f"{identity.journal} of {house.name}, {journal.size:,} entries")


def _check_clock(
    config: Config, journal: Journal, now: int, start: StartupReport, *, is_accepted: bool
) -> int:
    """By how much the clock is behind the last entry, if that was accepted."""
    last = journal.store.last()
    behind = 0 if last is None else journal.codec.decode(last.body, last.position).event.at - now
    if behind <= config.floor.clock_jump_ms:
        start.passes("clock", "not behind the journal's last entry")
        return 0
    if is_accepted:
        start.warns("clock", f"{behind:,} ms behind the journal's last entry; accepted, and recorded")
        return behind
    at_most = f"at most {config.floor.clock_jump_ms:,} ms behind the journal's last entry"
    repair = "set it; if it is right, an earlier start had a wrong one: start once with --accept-clock"
    start.fails("clock", f"expected a clock {at_most}, got {behind:,} ms behind; {repair}")
    return 0


def proven(
    config: Config,
    found: OpenedJournal,
    *,
    now: int,
    program: Callable[[], str] = manifest,
    whole: bool = False,
) -> StartupReport:
    """Checks the journal, the rulebooks and the program; the results of `opened` come first.

    `whole` hashes every entry. Otherwise what an authenticated snapshot covers is left to the background
    audit, so that the time of a start does not grow with the past.
    """
    start = found.start
    check_chain(config, found, start, whole=whole)
    try:
        check_tables(config, found, now, start)
        for problem in people_warnings(found.engine):
            start.warns("people", problem)
    except (RulesError, StreamError) as error:
        start.fails("tables", error)
    _check_program(config, program(), start)
    return start


def _check_program(config: Config, ours: str, start: StartupReport) -> None:
    wanted = config.software.manifest
    if wanted is None:
        start.passes("program", f"{ours}; [software] manifest is not set, so any program may run")
    elif wanted == ours:
        start.passes("program", f"{ours}, as in [software] manifest")
    else:
        start.fails("program", f"expected the program {wanted}, got {ours}")

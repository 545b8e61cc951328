"""The disk fails at any moment of an evening: what is not written did not happen, and play goes on after."""

from __future__ import annotations

import errno
import os
import resource
import shutil
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import Final, NamedTuple

import apsw
import pytest

from taisai.audit import verified
from taisai.cage.messages import SellTicket
from taisai.journal import journal
from taisai.journal.codec import HOUSE_STREAM
from taisai.journal.engine import Engine
from taisai.journal.errors import UnwritableError
from taisai.journal.stores import sqlite
from taisai.journal.stores.contract import Head, Row
from tests.journal.disk import Disk, FailedSync, Operation, Platter, Sync
from tests.journal.evening_journal import FILE, expected, keeping, on_disk, play, read_once
from tests.journal.failing_disk import Trouble
from tests.journal.forked_process import in_child
from tests.journal.power_cuts import fast_directory, written
from tests.journal.system_calls import SystemCalls
from tests.tiers import LONG, drawn

pytestmark = pytest.mark.part(name="disk-faults")

EVENING: Final = expected(1, seats=3, rounds=2)
"""A short evening: every one of its calls fails once."""
PARTS: Final = 4
NOBODY: Final = 65_534
READING: Final = frozenset({"read", "pread64"})
REASONS: Final = {
    "open": (errno.EACCES, errno.EROFS, errno.EMFILE),
    "read": (errno.EIO,),
    "pread64": (errno.EIO,),
    "write": (errno.ENOSPC, errno.EIO, errno.EROFS, errno.EDQUOT),
    "pwrite64": (errno.ENOSPC, errno.EIO, errno.EROFS, errno.EDQUOT),
    "ftruncate": (errno.EIO, errno.EROFS),
    "unlink": (errno.EIO, errno.EROFS, errno.EACCES),
}
"""System call → what it may say: full, broken, read-only, no right, too many files."""


@pytest.fixture
def shelf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Where evenings are written."""
    monkeypatch.setattr(journal, "rulebook_from", read_once)
    made = fast_directory(tmp_path)
    yield made
    shutil.rmtree(made)


class Fault(NamedTuple):
    """A system call that fails, alone or with all of its kind from there on until the disk is healed."""

    at: int
    call: str
    reason: int
    lasting: bool

    def __str__(self) -> str:
        name = errno.errorcode[self.reason]
        return f"call={self.at} ({self.call}) {name}{' from there on' if self.lasting else ''}"


class Failing:
    """Judges calls by a fault, and knows which were made while the disk could fail."""

    def __init__(self, fault: Fault | None) -> None:
        self.fault = fault
        self.calls: list[str] = []
        self.healed = False

    def heal(self) -> None:
        """From now on nothing fails."""
        self.healed = True

    def judge(self, call: str) -> int:
        """0, or why the call fails."""
        if self.healed:
            return 0
        self.calls.append(call)
        fault, number = self.fault, len(self.calls) - 1
        if fault is None or number < fault.at:
            return 0
        alike = fault.lasting and (call in READING) == (fault.call in READING) and call in REASONS
        return fault.reason if alike or (number, call) == (fault.at, fault.call) else 0


def after(shelf: Path, fault: Fault | None, *, to_the_end: bool = False) -> tuple[Trouble, Failing]:
    """An evening during which a call fails."""
    directory = shelf / "evening"
    directory.mkdir()
    failing = Failing(fault)
    trouble = Trouble(directory, EVENING, failing.heal)
    with SystemCalls(failing.judge):
        trouble.play(to_the_end=to_the_end)
    shutil.rmtree(directory)
    return trouble, failing


def faults(calls: Sequence[str]) -> Iterator[Fault]:
    """Every call fails for each of its reasons; in the short tier, every second one for one reason."""
    turn = drawn("disk faults").randrange(1_000)
    for at, call in enumerate(calls):
        every = [Fault(at, call, reason, lasting) for reason in REASONS[call] for lasting in (False, True)]
        if LONG:
            yield from every
        elif at % 2 == turn % 2:
            yield every[(at // 2 + turn) % len(every)]


@pytest.mark.parametrize("part", range(PARTS))
def test_whatever_call_fails_nothing_moves_and_play_goes_on(shelf: Path, part: int) -> None:
    assert EVENING.kept  # snapshots and
    assert EVENING.sealed  # checkpoints are written, too
    untroubled, failing = after(shelf, None)
    assert (untroubled.wrong, untroubled.refused, untroubled.failed) == ([], 0, 0)
    refused = 0
    for fault in list(faults(failing.calls))[part::PARTS]:
        trouble, _ = after(shelf, fault)
        assert trouble.wrong == [], str(fault)
        refused += trouble.refused
    assert refused > 10


def test_the_disk_is_full_and_emptied_and_the_evening_ends_as_if_it_never_was(shelf: Path) -> None:
    calls = after(shelf, None)[1].calls
    middle = [at for at, call in enumerate(calls) if call == "pwrite64"][len(calls) // 3]
    trouble, _ = after(shelf, Fault(middle, "pwrite64", errno.ENOSPC, lasting=True), to_the_end=True)
    assert trouble.wrong == []
    assert trouble.refused


def test_a_refusal_says_that_the_journal_cannot_be_written(shelf: Path) -> None:
    said: list[str] = []
    failing = Failing(Fault(0, "pwrite64", errno.ENOSPC, lasting=True))
    table = keeping(on_disk(shelf))
    with SystemCalls(failing.judge):
        play(table, EVENING.evening.batches[:1], lambda _, answers: said.extend(map(str, answers)))
    table.journal.close()
    assert "the journal cannot be written" in said[0]
    assert "disk full" in said[0]
    assert "(journal-unwritable, house:journal)" in said[0]


# Syncs, which no system call can be put in the place of


class Syncs:
    """A disk on which one sync fails, and what a power cut would leave of it."""

    def __init__(self, at: int | None) -> None:
        self.at = at
        self.count = 0
        self.has_failed = self.healed = False
        self.platter = Platter()

    def heal(self) -> None:
        """From now on nothing fails."""
        self.healed = True

    def watch(self, operation: Operation) -> None:
        """Fails the sync at its place, and with it whatever was to be synced."""
        if isinstance(operation, Sync) and not self.healed:
            self.count += 1
            if self.count - 1 == self.at:
                self.has_failed = True
                self.platter.do(FailedSync(operation.file))
                raise apsw.exception_for(apsw.SQLITE_IOERR_FSYNC)
        self.platter.do(operation)


def unsynced(shelf: Path, at: int | None) -> tuple[list[str], int]:
    """What is wrong after a sync failed and the power, some batches later; and how many syncs there were."""
    syncs = Syncs(at)
    (shelf / "evening").mkdir()
    lost: list[str] = []

    def acknowledged(size: int) -> None:
        if not syncs.has_failed:
            return
        for image in range(2):
            left = syncs.platter.image(Random(f"{at} {size} {image}"))
            written(shelf / "left", left)
            store = on_disk(shelf / "left")
            found = len(list(store.rows()))
            store.close()
            if found < size:
                lost.append(f"sync={at} image={image}: expected {size} entries, got {found}")

    (shelf / "left").mkdir(exist_ok=True)
    # What a Python disk raises reaches the store even where SQLite makes light of it, as in a checkpoint
    # of its log: then the batch that is in doubt is there already.
    trouble = Trouble(shelf / "evening", EVENING, syncs.heal, vfs="unsyncing", acknowledged=acknowledged)
    trouble.may_be_there = True
    with Disk("unsyncing", syncs.watch):
        trouble.play()
    shutil.rmtree(shelf / "evening")
    return trouble.wrong + lost, syncs.count


def test_whatever_sync_fails_what_is_acknowledged_after_it_is_sure(shelf: Path) -> None:
    wrong, count = unsynced(shelf, None)
    assert (wrong, count > 40) == ([], True)
    for at in range(count):
        assert unsynced(shelf, at)[0] == []


# A disk that is full, or may not be written, in earnest


def said_by_child(work: Callable[[], list[str]]) -> list[str]:
    """What a piece of work says that is done in a process of its own."""

    def telling(pipe: int) -> None:
        os.write(pipe, "\n".join(work()).encode())

    return in_child(telling).said.splitlines()


def on_a_small_disk(directory: Path, room: int) -> list[str]:
    """An evening in files that cannot grow beyond so many bytes, until someone makes room."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    _, most = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, most))

    def heal() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))

    trouble = Trouble(directory, EVENING, heal)
    wrong = trouble.play(to_the_end=True)
    return wrong or ([] if trouble.refused + trouble.failed else ["expected the room to run out, got enough"])


@pytest.mark.parametrize("room", [0, 1_000, 4_096, 20_000, 50_001, 65_536, 80_000, 100_000, 123_456])
def test_a_disk_that_is_really_full_is_got_over(shelf: Path, room: int) -> None:
    assert said_by_child(lambda: on_a_small_disk(shelf, room)) == []


def as_nobody(work: Callable[[], list[str]]) -> list[str]:
    """The same by someone whom file permissions bind."""

    def bound() -> list[str]:
        if os.geteuid() == 0:
            os.setgid(NOBODY)
            os.setuid(NOBODY)
        return work()

    return said_by_child(bound)


def refused_and_read(directory: Path) -> list[str]:
    """What a journal says that shall be written, and what an audit reads of it."""
    said: list[str] = []
    try:
        table = keeping(on_disk(directory))
        command = SellTicket(
            at=EVENING.evening.batches[-1][0].command.at, by="ann", ticket="late", amount=100
        )
        said.append(str(table.answer(HOUSE_STREAM, command)))
        table.journal.close()
    except UnwritableError as error:
        said.append(str(error))
    return [*said, f"{verified(directory / FILE).entries} entries read"]


@pytest.mark.parametrize(("file", "directory"), [(0o444, 0o755), (0o644, 0o555), (0o444, 0o555)])
def test_a_journal_that_may_not_be_written_says_so_and_can_be_audited(
    shelf: Path, file: int, directory: int
) -> None:
    table = keeping(on_disk(shelf))
    play(table, EVENING.evening.batches)
    table.journal.close()
    (shelf / f"{FILE}-writer").unlink()
    if os.geteuid() == 0:
        for path in (shelf, shelf / FILE):
            os.chown(path, NOBODY, NOBODY)
    (shelf / FILE).chmod(file)
    shelf.chmod(directory)
    said = as_nobody(lambda: refused_and_read(shelf))
    shelf.chmod(0o755)
    assert said[0].startswith(("the journal cannot be", "the journal is read-only"))
    assert said[1:] == [f"{len(EVENING.rows)} entries read"]


# Sabotage: each of these moves money that was never written, or loses what was acknowledged


def found(shelf: Path, reason: int) -> list[str]:
    """What shows while one write after the other fails."""
    calls = after(shelf, None)[1].calls
    places = [at for at, call in enumerate(calls) if call == "pwrite64"][60::30]
    return [
        wrong
        for at in places
        for wrong in after(shelf, Fault(at, "pwrite64", reason, lasting=False))[0].wrong
    ]


@pytest.mark.parametrize("reason", [errno.ENOSPC, errno.EIO])
def test_sabotage_a_table_that_keeps_what_was_not_written_is_seen(
    shelf: Path, monkeypatch: pytest.MonkeyPatch, reason: int
) -> None:
    assert found(shelf, reason) == []
    monkeypatch.setattr(Engine, "_forget", lambda _engine, _streams: None)
    assert any("expected the table as it was" in one for one in found(shelf, reason))


def test_sabotage_an_answer_in_spite_of_the_failure_is_seen(
    shelf: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    append = journal.Journal.append

    def boldly(self: journal.Journal, decisions: Sequence[journal.Decision]) -> None:
        with suppress(UnwritableError):
            append(self, decisions)

    monkeypatch.setattr(journal.Journal, "append", boldly)
    assert found(shelf, errno.ENOSPC)


def test_sabotage_an_answer_in_spite_of_a_failed_sync_is_seen(
    shelf: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    append = sqlite.SqliteStore.append

    def boldly(self: sqlite.SqliteStore, rows: Sequence[Row], head: Head | None = None) -> None:
        with suppress(UnwritableError):
            append(self, rows, head)

    monkeypatch.setattr(sqlite.SqliteStore, "append", boldly)
    assert any("entries, got" in one for one in unsynced(shelf, 41)[0])

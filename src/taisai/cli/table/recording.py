"""Plays a playbook into a journal: once or repeatedly, then seals the journal."""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple

from msgspec.structs import replace

from taisai import __version__
from taisai.cli.journals import clock, expect_journal, passphrase_in, signing_time, written
from taisai.game.commands import Command
from taisai.game.events import Event, SeedCommitted
from taisai.game.play import decide
from taisai.game.playbook import Mismatch, Play, Playbook
from taisai.game.playbook.parser import STEP
from taisai.game.refusals import Refusal
from taisai.game.table import Table
from taisai.journal.codec import stream_of, table_of
from taisai.journal.engine import SNAPSHOT_EVERY, Engine
from taisai.journal.errors import JournalError
from taisai.journal.journal import Decision, Journal
from taisai.journal.seals.checkpoints import origin_of, read_signed
from taisai.journal.seals.keys import SigningKey, load_signing_key, make_key
from taisai.rules.book import Rulebook
from taisai.rules.errors import printable

TOGETHER: Final = 2_000
"""Decisions of repetitions that are written together, because nobody waits for a single one."""
MOST_REPORTED: Final = 20  # mismatches of repetitions: the first play has reported the same ones


class Repeated(NamedTuple):
    times: int
    tables: tuple[str, str]
    """The names of the first and the last."""
    entries: int
    pinned: int
    """The number of pinned lines compared."""
    wrong: int
    """The number of lines that differ."""
    mismatches: tuple[tuple[str, Mismatch], ...]
    """The first mismatches, each with its table."""


class SealedRecording(NamedTuple):
    """A journal after a recording."""

    entries: int
    """The number of new entries."""
    size: int
    """The number of all entries, which are sealed."""
    at: int
    checkpoint: str


class Recording:
    """One playbook, played into a journal; its time continues after the last entry."""

    def __init__(
        self, journal: Journal, story: Playbook, book: Rulebook, key: SigningKey, *, before: int
    ) -> None:
        """`before` is the number of entries before the recording."""
        self.journal, self.story, self.book = journal, story, book
        self._key, self._before = key, before
        self._table, self._number = "", _highest(journal, story.opening.table)
        self._now = max(story.opening.at, signing_time(journal, 0) + STEP)
        self._waiting: list[Decision] = []
        journal.append(journal.storing(book, at=self._now, by=story.opening.by))

    def play(self, *, at_once: bool = True) -> Play:
        """The playbook at a new table; `at_once` makes each answer durable before it is given."""
        self._number += 1
        name = self.story.opening.table
        self._table = name if self._number == 1 else f"{name}-{self._number}"
        stream = stream_of(self._table)

        def decided(table: Table, command: Command) -> tuple[Event, ...] | Refusal:
            self._now = command.at + STEP
            answer = decide(table, command)
            if not isinstance(answer, Refusal):
                self._waiting.append(Decision(stream, answer, command))
                if at_once:
                    self._write()
            return answer

        opening = replace(self.story.opening, table=self._table, at=self._now)
        return Play(self.story._replace(opening=opening), self.book, decided=decided)

    def repeat(self, times: int, done: Callable[[], None]) -> Repeated:
        """Plays the playbook more times, written in batches; calls `done` after each."""
        before, wrong, first = self.journal.size, 0, ""
        mismatches: list[tuple[str, Mismatch]] = []
        for _ in range(times):
            for played in self.play(at_once=False).steps():
                wrong += len(played.mismatches)
                if len(mismatches) < MOST_REPORTED:
                    mismatches += [(self._table, mismatch) for mismatch in played.mismatches]
            first = first or self._table
            if len(self._waiting) >= TOGETHER:
                self._write()
            done()
        self._write()
        pinned = times * sum(step.pinned for step in self.story.steps)
        entries = self.journal.size - before
        tables, reported = (first, self._table), tuple(mismatches[:MOST_REPORTED])
        return Repeated(times, tables, entries, pinned, wrong, reported)

    def seal(self) -> SealedRecording:
        size = self.journal.size
        if size - self._before >= SNAPSHOT_EVERY:  # without it the next start would hash all of them again
            Engine(self.journal).snapshot(stream_of(self._table))
        text = self.journal.seal(self._key, at=signing_time(self.journal, clock()))
        return SealedRecording(size - self._before, size, read_signed(text).checkpoint.at, text)

    def _write(self) -> None:
        self.journal.append(self._waiting)
        self._waiting = []


@contextmanager
def recording(
    story: Playbook, book: Rulebook, file: str, *, key_file: str, passphrase_file: str | None, times: int = 1
) -> Iterator[Recording]:
    """Opens the journal in a file; makes journal and key if there is none."""
    Play(story, book)  # a fault in the header is reported before anything is written
    if times > 1 and seeds_of(story):
        raise JournalError(
            f"{printable(story.name)} commits a seed and a seed may be used once in a journal: "
            f"play it without --repeat, got {times} times"
        )
    name = secrets.token_hex(8)
    expect_journal(file, new=True)
    key = _key(file, Path(key_file), passphrase_in(passphrase_file), name)
    with written(file, key, new=True) as stored:
        journal = stored
        if stored.identity is None:
            journal = Journal.opened(
                stored.store, journal=name, key=key, at=story.opening.at, by=story.opening.by,
                program=f"taisai {__version__}", demonstration=True,
            )  # fmt: skip
        _expect(journal, key, file, key_file)
        _expect_unused_seeds(journal, story, file)
        yield Recording(journal, story, book, key, before=stored.size)


def _key(file: str, key_file: Path, passphrase: str | None, name: str) -> SigningKey:
    """The key in its file; made together with a new journal, but never for an existing one."""
    if key_file.exists():
        return load_signing_key(key_file, passphrase)
    if Path(file).exists() and Path(file).stat().st_size:
        missing = f"no key file {printable(repr(str(key_file)))} for {printable(file)}"
        raise JournalError(f"{missing}; name it with --key")
    return make_key(key_file, origin_of(name), passphrase=passphrase)


def _expect(journal: Journal, key: SigningKey, file: str, key_file: str) -> None:
    """Refuses a journal of play for money, and a key that does not sign the journal."""
    if journal.identity is None or not journal.identity.demonstration:
        problem = "expected a journal of demonstration, got a journal of play for money"
        raise JournalError(f"{problem} ({printable(file)})")
    if journal.key is None or journal.key != key.public:
        expected = f"{journal.key.name} {journal.key.id}" if journal.key else "no key"
        got = f"{key.name} {key.public.id} ({printable(key_file)})"
        raise JournalError(f"wrong key for the journal {printable(file)}: expected {expected}, got {got}")


def seeds_of(story: Playbook) -> frozenset[str]:
    """The commitments to seeds that a playbook makes."""
    lines = (step.command_line for step in story.steps)
    return frozenset(str(line.values["commitment"]) for line in lines if line.verb == "commit-seed")


def _expect_unused_seeds(journal: Journal, story: Playbook, file: str) -> None:
    seeds = seeds_of(story)
    if not seeds:
        return
    for entry in journal.entries():
        if isinstance(entry.event, SeedCommitted) and entry.event.commitment in seeds:
            raise JournalError(
                f"entry {entry.position} of {printable(file)} has already committed a seed of "
                f"{printable(story.name)}, and a seed may be used once: play it into another journal"
            )


def _highest(journal: Journal, name: str) -> int:
    """The highest number of the tables with a name; the first table has no number."""
    numbered = re.compile(rf"{re.escape(name)}(?:-([2-9]|[1-9][0-9]{{1,17}}))?")
    matches = (numbered.fullmatch(table_of(stream) or "") for stream in journal.store.streams())
    return max((int(match[1] or 1) for match in matches if match), default=0)

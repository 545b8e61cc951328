"""A playbook played into a journal: told once, repeated as often as asked, sealed at the end."""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple

from msgspec.structs import replace

from taisai import __version__
from taisai.cli.journal.files import clock, expect_journal, passphrase_in, signing_time, written
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
from taisai.journal.journal import Decision, Journal, origin_of
from taisai.journal.seals.checkpoints import read_signed
from taisai.journal.seals.keys import SigningKey, load_signing_key, make_key
from taisai.rules.book import Rulebook
from taisai.rules.errors import printable

TOGETHER: Final = 2_000
"""Decisions that are made durable in one go where nobody waits for a single one."""
MOST_TOLD: Final = 20  # mismatches of repetitions: the first playing has told the same ones already


class Repeated(NamedTuple):
    """What the repetitions came to."""

    times: int
    tables: tuple[str, str]
    """The first and the last."""
    entries: int
    pinned: int
    """How many pinned lines were compared."""
    wrong: int
    """How many lines were not as pinned."""
    mismatches: tuple[tuple[str, Mismatch], ...]
    """The first of them, each with its table."""


class SealedRecording(NamedTuple):
    """How a journal was left."""

    entries: int
    """Those that are new."""
    size: int
    """Those that are sealed: all there are."""
    at: int
    checkpoint: str


class Recording:
    """One playbook, played into a journal; time goes on from whatever was written last."""

    def __init__(
        self, journal: Journal, story: Playbook, book: Rulebook, key: SigningKey, *, before: int
    ) -> None:
        """`before` is how many entries there were before anything was done for this playbook."""
        self.journal, self.story, self.book = journal, story, book
        self._key, self._before = key, before
        self._table, self._number = "", _highest(journal, story.opening.table)
        self._now = max(story.opening.at, signing_time(journal, 0) + STEP)
        self._waiting: list[Decision] = []
        journal.append(journal.storing(book, at=self._now, by=story.opening.by))

    def play(self, *, at_once: bool = True) -> Play:
        """The playbook at the next table; at once means that an answer is durable before it is given."""
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
        """The playbook so many times more, many of them made durable together; `done` after each."""
        before, wrong, first = self.journal.size, 0, ""
        found: list[tuple[str, Mismatch]] = []
        for _ in range(times):
            for played in self.play(at_once=False).steps():
                wrong += len(played.mismatches)
                if len(found) < MOST_TOLD:
                    found += [(self._table, one) for one in played.mismatches]
            first = first or self._table
            if len(self._waiting) >= TOGETHER:
                self._write()
            done()
        self._write()
        pinned = times * sum(step.pinned for step in self.story.steps)
        entries = self.journal.size - before
        return Repeated(times, (first, self._table), entries, pinned, wrong, tuple(found[:MOST_TOLD]))

    def seal(self) -> SealedRecording:
        """Signs all that is there."""
        size = self.journal.size
        if size - self._before >= SNAPSHOT_EVERY:  # else the next start would hash all of them again
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
    """Opens the journal in a file, or makes it, with its key, if there is none."""
    Play(story, book)  # a fault in the header is reported before anything is written
    if times > 1 and seeds_of(story):
        raise JournalError(
            f"{printable(story.name)} commits a seed and a seed may be used once in a journal: "
            f"play it without --repeat, got {times} times"
        )
    name = secrets.token_hex(8)
    expect_journal(file, new=True)
    key = _key(file, Path(key_file), passphrase_in(passphrase_file), name)
    with written(file, new=True) as found:
        journal = found
        if found.identity is None:
            journal = Journal.opened(
                found.store, journal=name, key=key.public, at=story.opening.at, by=story.opening.by,
                program=f"taisai {__version__}", demonstration=True,
            )  # fmt: skip
        _expect(journal, key, file, key_file)
        _expect_unused_seeds(journal, story, file)
        yield Recording(journal, story, book, key, before=found.size)


def _key(file: str, key_file: Path, passphrase: str | None, name: str) -> SigningKey:
    """The key in its file, which is made together with a new journal and never for an old one."""
    if key_file.exists():
        return load_signing_key(key_file, passphrase)
    if Path(file).exists() and Path(file).stat().st_size:
        raise JournalError(
            f"expected the key that signs {printable(file)}, got no file {printable(repr(str(key_file)))}"
        )
    return make_key(key_file, origin_of(name), passphrase=passphrase)


def _expect(journal: Journal, key: SigningKey, file: str, key_file: str) -> None:
    """A journal that may be played into for show, and its own key."""
    if journal.identity is None or not journal.identity.demonstration:
        raise JournalError(
            f"expected a journal of demonstration, got one of play for money ({printable(file)})"
        )
    if journal.key is None or journal.key != key.public:
        expected = f"{journal.key.name} {journal.key.id}" if journal.key else "none"
        got = f"{key.name} {key.public.id} ({printable(key_file)})"
        raise JournalError(f"expected the key that signs {printable(file)}, {expected}, got {got}")


def seeds_of(story: Playbook) -> frozenset[str]:
    """The commitments to seeds that a playbook makes."""
    lines = (step.command_line for step in story.steps)
    return frozenset(str(line.said["commitment"]) for line in lines if line.verb == "commit-seed")


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
    """How many tables of a name there are, by the highest number; the first one bears none."""
    numbered = re.compile(rf"{re.escape(name)}(?:-([2-9]|[1-9][0-9]{{1,17}}))?")
    found = (numbered.fullmatch(table_of(stream) or "") for stream in journal.store.streams())
    return max((int(match[1] or 1) for match in found if match), default=0)

"""The engine: decides commands, appends their events, and answers when they are durable, never before."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Final, cast

from msgspec import Struct

from taisai.cage import House
from taisai.game.commands import OpenTable, Recover
from taisai.game.events import TableOpened
from taisai.game.refusals import Reason, Refusal
from taisai.game.snapshot_codec import SnapshotError
from taisai.game.table import Table
from taisai.game.vocabulary import RECOVERY
from taisai.journal.codec import (
    HOUSE_STREAM,
    JOURNAL_CLAUSE,
    JOURNAL_STREAM,
    AnyCommand,
    AnyEvent,
    RulebookStored,
    stream_of,
    table_of,
)
from taisai.journal.errors import DamagedError, FencedError, InDoubtError, JournalError, UnwritableError
from taisai.journal.journal import Decision, Journal
from taisai.journal.streams import Aggregate, HouseStream, TableStream, is_round
from taisai.rules.book import Rulebook
from taisai.rules.clauses import Clause

SNAPSHOT_EVERY: Final = 10_000
"""Entries of a stream from one snapshot to the next: a start replays fewer, in a tenth of a second or so."""

CATCH_UP: Final = 5
"""After so many times SNAPSHOT_EVERY entries of the whole journal, every stream is snapshotted.

A start hashes every entry after the oldest snapshot that does not cover its stream: a third of a second.
"""

Answer = tuple[AnyEvent, ...] | Refusal
AnswerOrError = Answer | Exception
"""An answer, or why the stream could not decide: a defect or damage, never a refusal."""
Prepare = Callable[["Engine"], AnyCommand | Answer]
"""Makes a command from the state that the engine has in its turn, or answers in its place."""


class Submission(Struct, gc=False):
    """A command for a stream; the one that opens a table comes with the rulebook."""

    stream: str
    command: AnyCommand | Prepare
    """The command, or the function that makes it in the engine's turn, which then puts it here."""
    book: Rulebook | None = None


class Engine:
    """Runs every stream of one journal, as its only writer."""

    def __init__(self, journal: Journal, *, snapshot_every: int = SNAPSHOT_EVERY) -> None:
        self.journal = journal
        self.trouble: str | None = None
        """Why the journal could not be written, until it can be written again."""
        self.unsaved: str | None = None
        """Why the latest snapshot could not be kept."""
        self._snapshot_every = snapshot_every
        self.loaded: dict[str, Aggregate] = {}
        """Stream → its state as of the latest decision."""
        self._kept: dict[str, int] = {}
        """Stream → the version of its latest snapshot."""
        self._books: dict[str, Rulebook] = {}
        self._written: set[str] = set()
        """Streams that were written to since `save` was last called."""
        self._caught_up = journal.hashed_from
        """The size of the journal when all streams were last snapshotted."""

    # Commands

    def answer(self, stream: str, command: AnyCommand) -> Answer:
        """What a command comes to, durably."""
        return self.answer_all([Submission(stream, command)])[0]

    def open_table(self, book: Rulebook, command: OpenTable) -> Answer:
        """Opens a table, after storing the full text of its rulebook."""
        return self.answer_all([Submission(stream_of(command.table), command, book)])[0]

    def answer_all(self, submissions: Sequence[Submission]) -> list[Answer]:
        """What each command comes to, in order, all durable in one write; then snapshots, if due."""
        answers: list[Answer] = []
        outcomes = self.outcomes(submissions)
        self.save()
        for outcome in outcomes:
            if isinstance(outcome, Exception):
                raise outcome
            answers.append(outcome)
        return answers

    def outcomes(self, submissions: Sequence[Submission]) -> list[AnswerOrError]:
        """Answers each command; a stream that cannot be read fails only its own commands."""
        outcomes: list[AnswerOrError] = []
        decisions: list[Decision] = []
        broken: dict[str, Exception] = {}
        for submission in submissions:
            if submission.stream not in broken:
                try:
                    if callable(submission.command) and (answer := self._prepare(submission)) is not None:
                        outcomes.append(answer)
                    else:
                        outcomes.append(self._decide(submission, decisions))
                    continue
                except UnwritableError as error:
                    return self._not_written(submissions, error)
                except Exception as error:  # noqa: BLE001  it is the answer to all commands of the stream
                    broken[submission.stream] = error
            outcomes.append(broken[submission.stream])
        if broken:
            outcomes = self._without(broken, submissions, outcomes, decisions)
        try:
            self.journal.append(decisions)
        except UnwritableError as error:
            return self._not_written(submissions, error)
        except BaseException:
            self._forget(submission.stream for submission in submissions)
            raise
        if decisions:
            self.trouble = None
        self._written.update(decision.stream for decision in decisions)
        return outcomes

    def _without(
        self,
        broken: dict[str, Exception],
        submissions: Sequence[Submission],
        outcomes: list[AnswerOrError],
        decisions: list[Decision],
    ) -> list[AnswerOrError]:
        """The outcomes without a stream that failed: nothing of it is written, not even what came before."""
        self._forget(broken)
        decisions[:] = [decision for decision in decisions if decision.stream not in broken]
        return [
            broken.get(submission.stream, outcome)
            for submission, outcome in zip(submissions, outcomes, strict=True)
        ]

    def _prepare(self, submission: Submission) -> AnswerOrError | None:
        """Makes the command of a submission; returns an answer where there is no command to decide."""
        try:
            prepared = cast("Prepare", submission.command)(self)
        except Exception as error:  # noqa: BLE001  it answers this submission alone: no state has changed
            return error
        if isinstance(prepared, tuple):
            return prepared
        submission.command = prepared
        return None

    def _decide(self, submission: Submission, decisions: list[Decision]) -> Answer:
        """What one command comes to; its events are added to the decisions that wait to be written."""
        aggregate = self.loaded.get(submission.stream) or self._load(submission)
        if aggregate is None:
            return _NO_TABLE
        command = cast("AnyCommand", submission.command)
        answer = aggregate.decide(command)
        if answer and not isinstance(answer, Refusal):
            if submission.book is not None and not _is_stored(submission.book, decisions):
                decisions += self.journal.storing(submission.book, at=command.at, by=command.by)
            for event in answer:
                aggregate.evolve(event)
            decisions.append(Decision(submission.stream, answer, command))
            self.loaded[submission.stream] = aggregate
        return answer

    def _not_written(self, submissions: Sequence[Submission], error: UnwritableError) -> list[AnswerOrError]:
        """Refuses all commands: nothing was written, or that is unknown. The streams are loaded again."""
        self._forget(submission.stream for submission in submissions)
        self.trouble = str(error)
        reason = Reason.JOURNAL_UNWRITABLE
        message = f"the journal cannot be written: {error}"
        if isinstance(error, FencedError):
            reason = Reason.JOURNAL_IN_DOUBT  # to the client it is the same: another start has to answer
        elif isinstance(error, InDoubtError):
            reason = Reason.JOURNAL_IN_DOUBT
            message += "; it is unknown whether this command is stored: repeat it after the next start"
        return [Refusal(reason, JOURNAL_CLAUSE, message)] * len(submissions)

    def try_to_write(self) -> None:
        """After a failed write: finds out, by a small write beside the chain, whether writing works again."""
        try:
            self.journal.store.keep_secret(_PROBE, b"written")
        except JournalError as error:
            self.trouble = str(error)
        else:
            self.trouble = None

    def _forget(self, streams: Iterable[str]) -> None:
        for stream in streams:
            self.loaded.pop(stream, None)

    # Streams

    def table(self, name: str) -> Table:
        """The state of a table; it is only read."""
        loaded = self._loaded(stream_of(name))
        if not isinstance(loaded, TableStream):
            raise JournalError(f"the journal has no table {name!r}")
        return loaded.table

    def house(self) -> House:
        """The state of the House; it is only read."""
        loaded = self._loaded(HOUSE_STREAM)
        assert isinstance(loaded, HouseStream)
        return loaded.house

    def tables(self) -> list[str]:
        """The tables of the journal, without one whose opening is in doubt."""
        return [name for stream in self.journal.streams() if (name := table_of(stream)) is not None]

    def recover(self, *, at: int, stopped_for: int | None = None) -> dict[str, Answer]:
        """After a start: decides at each table, durably, what follows from the stop."""
        return {
            name: self.answer(stream_of(name), Recover(at=at, by=RECOVERY, stopped_for=stopped_for))
            for name in self.tables()
        }

    def _load(self, submission: Submission) -> Aggregate | None:
        loaded = self._loaded(submission.stream)
        if loaded is None and submission.book is not None:  # kept only if it opens
            loaded = TableStream(submission.book, partial(self.part, submission.stream))
        return loaded

    def _loaded(self, stream: str) -> Aggregate | None:
        """The state of a stream, from its latest usable snapshot or from all entries."""
        known = self.loaded.get(stream)
        if known is not None:
            return known
        if stream != HOUSE_STREAM and not self.journal.version(stream):
            return None
        made = self._from_snapshot(stream)
        if made is None:
            self._kept[stream] = 0
            made = self._played_again(stream)
        self.loaded[stream] = made
        return made

    def _from_snapshot(self, stream: str) -> Aggregate | None:
        """The state from the latest snapshot and the entries after it; None without a usable snapshot."""
        kept = self.journal.snapshot(stream)
        if kept is None or kept[0] > self.journal.version(stream):
            return None
        version, body = kept
        self._kept[stream] = version
        try:
            made = self._made(stream, body)
            self._replay(made, stream, after=version)
        except SnapshotError:
            return None
        return made

    def _played_again(self, stream: str, *, upto: int | None = None) -> Aggregate:
        """The state from the entries alone, every one of which was hashed."""
        if self.journal.hashed_from:
            self.journal.prove()
        made = self._made(stream, None)
        self._replay(made, stream, upto=upto)
        return made

    def _made(self, stream: str, written: bytes | None) -> Aggregate:
        if stream == HOUSE_STREAM:
            return HouseStream(written)
        return TableStream(self._book_of(stream), partial(self.part, stream), written)

    def _replay(self, aggregate: Aggregate, stream: str, *, after: int = 0, upto: int | None = None) -> None:
        for version, event in self.journal.events(stream, after=after):
            if upto is not None and version > upto:
                return
            aggregate.evolve(event)

    def _book_of(self, stream: str) -> Rulebook:
        first = next(self.journal.entries(stream=stream))
        if not isinstance(first.event, TableOpened):
            raise DamagedError(first.position, f"expected the opening of a table, got {first.event}")
        digest = first.event.digest
        if digest not in self._books:
            self._books[digest] = self.journal.rulebook(digest)
        return self._books[digest]

    # Snapshots

    def part(self, stream: str, number: int) -> bytes:
        """A round that was put away; replayed if its stored bytes are gone or unusable."""
        kept = self.journal.part(stream, number)
        if kept is not None and is_round(kept):
            return kept
        return self._played_again(stream, upto=self._kept.get(stream, 0)).written()[1][number]

    def save(self) -> None:
        """Stores snapshots of streams with many new entries, so that the next start is quick.

        A journal without a storage secret has none: nobody could tell them from forged ones.
        """
        written, self._written = self._written, set()
        if self.journal.secret is None:
            return
        for stream in written:
            aggregate, version = self.loaded.get(stream), self.journal.version(stream)
            if aggregate is None or version - self._kept.get(stream, 0) < self._snapshot_every:
                continue
            if aggregate.is_quiet:
                self.snapshot(stream)
            else:
                self._written.add(stream)
        if self.journal.size - self._caught_up >= CATCH_UP * self._snapshot_every:
            self._catch_up()

    def _catch_up(self) -> None:
        """Snapshots every stream with new entries, so that the next start need not hash far back."""
        self._caught_up = self.journal.size
        for stream in self.journal.streams():
            if stream == JOURNAL_STREAM:
                continue
            aggregate = self._loaded(stream)
            is_behind = self._kept.get(stream, 0) < self.journal.version(stream)
            if aggregate is not None and aggregate.is_quiet and is_behind:
                self.snapshot(stream)

    def snapshot(self, stream: str) -> None:
        """Stores a snapshot of a stream; a failure changes no answer."""
        aggregate = self._loaded(stream)
        assert aggregate is not None
        try:
            if not self.journal.keep(stream, *aggregate.written()):
                return
        except JournalError as error:
            self.unsaved = str(error)
            return
        self.unsaved = None
        self._kept[stream] = self.journal.version(stream)
        aggregate.put_away()


def _is_stored(book: Rulebook, decisions: Iterable[Decision]) -> bool:
    """Whether a table that opens in the same write has stored the book already."""
    return any(
        isinstance(event, RulebookStored) and event.digest == book.digest
        for decision in decisions
        for event in decision.events
    )


_PROBE: Final = "engine/probe"
"""The name in the vault under which a write is tried."""
_NO_TABLE: Final = Refusal(
    Reason.TABLE_NOT_OPEN, Clause("house:table"), "the journal has no table of this name: open it first"
)

"""Ways to break the engine, the writer's thread and the file, each with the tests that must notice."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import nullcontext, suppress
from functools import partial
from itertools import count
from queue import Empty
from typing import Any, Final

import apsw
import pytest
from msgspec import Struct

from taisai.cage import House
from taisai.game.events import BetRegistered
from taisai.journal import engine, streams
from taisai.journal.engine import Engine
from taisai.journal.errors import InDoubtError, UnwritableError
from taisai.journal.journal import Journal
from taisai.journal.stores import schema, sqlite
from taisai.journal.stores import sqlite_reader as sqlite_reading
from taisai.journal.stores.contract import Row
from taisai.journal.stores.sqlite import SqliteStore
from taisai.journal.stores.sqlite_reader import SqliteReader
from taisai.server.runtime import command_queue
from taisai.server.runtime.command_queue import CommandQueue
from tests.journal import test_contract_engine as keeping
from tests.journal import test_contract_queue as writing
from tests.journal import test_contract_sqlite as file
from tests.journal.contract import shut
from tests.journal.journal_sabotages import (
    Patch,
    Sabotage,
    around,
    instead,
    together,
    wherever_they_stand,
    without,
)

_of = partial  # a test with one of its parameters
_NO_TRIGGERS: Final = instead(schema, "MIGRATIONS", without("CREATE TRIGGER"))
_NO_PATIENCE: Final = instead(writing, "PATIENCE", 0.5)


# The engine


def _all_written_down(real: Any, self: Engine, given: Any) -> Any:
    answers = real(self, given)
    self.journal.append([shut(0, ask.stream) for ask in given])
    return answers


def _kept_though_refused(real: Any, self: Engine, ask: Any) -> Any:
    loaded = real(self, ask)
    if loaded is not None:
        self.loaded[ask.stream] = loaded
    return loaded


def _no_bets(real: Any, table: Any, event: Any) -> Any:
    return table if isinstance(event, BetRegistered) else real(table, event)


def _no_trouble(real: Any, self: Engine, given: Any) -> Any:
    self.trouble = None
    return real(self, given)


def _stored_at_once(real: Any, self: Journal, book: Any, **named: Any) -> Any:
    decisions = real(self, book, **named)
    self._books[book.digest] = book.text
    return decisions


def _raised(_: Engine, _asks: Any, error: Exception) -> None:
    raise error


def _first_table(real: Any, self: Engine, **named: Any) -> Any:
    return dict(list(real(self, **named).items())[:1])


def _every_other(patch: Patch) -> None:
    turn, real = count(), Engine.outcomes
    patch.setattr(
        Engine, "outcomes", lambda self, asks: real(self, asks) if next(turn) % 2 else [()] * len(asks)
    )


def _never_in_doubt(real: Any, self: Journal, decisions: Any) -> None:
    self._in_doubt = None
    real(self, decisions)


# The queue


def _too_early(_: CommandQueue, _submission: Any, reply: Any) -> None:
    reply(())


def _without_limit(self: CommandQueue) -> None:
    group: list[Any] = []
    while None not in group:
        group = [self._batches.get()]
        with suppress(Empty):
            while True:
                group.append(self._batches.get_nowait())
        steps = self._work([pending for batch in group if batch is not None for pending in batch[0]])
        self._loop.call_soon_threadsafe(self._deliver, steps, 0.0)


def _never_an_error(real: Any, self: Engine, submissions: Any) -> Any:
    with suppress(Exception):
        return real(self, submissions)
    return [()] * len(submissions)


def _silent(_: CommandQueue, steps: Any, _since: float) -> None:
    for step in steps:
        if getattr(step, "reply", None) is not None:
            step.reply(step.answer)


def _thrown_away(real: Any, self: CommandQueue) -> None:
    with suppress(Empty):
        while True:
            self._batches.get_nowait()
    real(self)


class _Unwatched(Struct, gc=False):
    """Work that waits, which the garbage collector does not see."""

    work: Any
    reply: Any
    answer: Any = ()


def _always_taken(self: CommandQueue) -> None:
    submitted, self._submitted = self._submitted, []
    if submitted:
        self._batches.put((submitted, 0.0))


# The file


def _weakened(real: Any, self: Any, *given: Any) -> None:
    real(self, *given)
    self._writing.pragma("synchronous", "normal")


def _as_it_was(self: SqliteReader) -> apsw.Connection:
    flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
    return sqlite_reading.connect(f"file:{self.path}?immutable=1", flags, None)


def _row_by_row(real: Any, self: Any, *, after: int = 0, stream: str | None = None) -> Iterator[Any]:
    while (row := next(real(self, after=after, stream=stream), None)) is not None:
        after += 1
        yield row


def _whatever(self: SqliteReader, *, after: int = 0, stream: str | None = None) -> Iterator[Row]:
    if stream is not None:
        return map(Row._make, self._reading.execute(sqlite_reading._OF_STREAM, (after, stream)))
    return map(Row._make, self._reading.execute(sqlite_reading._ALL, (after,)))


OF_THOSE_AT_WORK: Final[dict[str, Sabotage]] = {
    "refusals and retries are written down": Sabotage(
        around(Engine, "answer_all", _all_written_down),
        (
            keeping.test_a_refused_command_leaves_no_entry,
            keeping.test_a_retry_leaves_no_entry,
            keeping.test_a_table_that_was_never_opened_is_not_open,
        ),
    ),
    "a table is kept though its opening was refused": Sabotage(
        around(Engine, "_load", _kept_though_refused),
        (keeping.test_a_refused_opening_leaves_nothing_of_its_rulebook,),
    ),
    "each table brings its rulebook": Sabotage(
        instead(engine, "_is_stored", lambda _book, _decisions: False),
        (keeping.test_tables_that_open_together_store_their_rulebook_once,),
    ),
    "bets are forgotten": Sabotage(
        around(streams, "evolve", _no_bets),
        (keeping.test_answers_are_those_of_the_game_without_a_journal,),
    ),
    "what was not written has happened": Sabotage(
        instead(Engine, "_forget", lambda _, _streams: None),
        (
            keeping.test_what_a_batch_came_to_before_an_error_has_not_happened,
            keeping.test_a_conflict_is_no_answer_and_changes_nothing,
            keeping.test_a_command_that_cannot_be_written_is_refused_and_has_not_happened,
            keeping.test_it_goes_on_when_it_can_be_written_again,
        ),
    ),
    "trouble is over at the next command": Sabotage(
        around(Engine, "answer_all", _no_trouble), (keeping.test_trouble_lasts_until_something_was_written,)
    ),
    "a rulebook counts as stored before it is": Sabotage(
        around(Journal, "storing", _stored_at_once),
        (keeping.test_a_rulebook_that_could_not_be_written_is_not_stored,),
    ),
    "a journal in doubt is written": Sabotage(
        around(Journal, "append", _never_in_doubt),
        (
            keeping.test_in_doubt_nothing_is_done_until_it_is_known_that_it_was_written,
            keeping.test_in_doubt_nothing_is_done_until_it_is_known_that_it_was_not_written,
        ),
    ),
    "a snapshot has to be kept": Sabotage(
        instead(engine, "JournalError", KeyError),
        (keeping.test_a_snapshot_that_cannot_be_kept_is_nobodys_trouble,),
    ),
    "one table is recovered": Sabotage(
        around(Engine, "recover", _first_table), (keeping.test_recovery_decides_at_every_table,)
    ),
    "the House is always new": Sabotage(
        instead(Engine, "house", lambda _: House()),
        (keeping.test_a_house_that_nobody_opened_is_there_and_empty,),
    ),
    # The queue
    "it is acknowledged before it is appended": Sabotage(
        together(_NO_PATIENCE, instead(CommandQueue, "submit", _too_early)),
        (writing.test_nobody_is_answered_before_it_is_durable,),
    ),
    "each command is written alone": Sabotage(
        instead(command_queue, "MOST_AT_ONCE", 1),
        (writing.test_anyone_who_comes_while_the_disk_is_busy_is_written_together,),
    ),
    "all are written together": Sabotage(
        instead(CommandQueue, "_run", _without_limit),
        (writing.test_no_more_are_written_together_than_the_limit,),
    ),
    "the last come first": Sabotage(
        around(CommandQueue, "_work", lambda real, self, group: real(self, group[::-1])),
        (writing.test_commands_of_a_stream_are_answered_in_order,),
    ),
    "every other command is lost": Sabotage(
        _every_other, (writing.test_many_submit_at_once_and_each_table_keeps_its_own_order,)
    ),
    "errors are kept secret": Sabotage(
        around(Engine, "outcomes", _never_an_error),
        (writing.test_an_error_answers_all_and_the_queue_goes_on,),
        (pytest.fail.Exception,),
    ),
    "nobody is told that it cannot be written": Sabotage(
        instead(Engine, "_not_written", _raised),
        (writing.test_a_journal_that_cannot_be_written_is_an_answer,),
    ),
    "failed work is kept for ever": Sabotage(
        instead(command_queue, "QueuedWork", _Unwatched),
        (writing.test_jobs_and_commands_that_fail_leave_nothing_in_memory,),
    ),
    "one who is gone keeps the others waiting": Sabotage(
        together(_NO_PATIENCE, instead(CommandQueue, "_deliver", _silent)),
        (writing.test_one_who_is_gone_does_not_keep_the_others_waiting,),
        (TimeoutError,),
    ),
    "whoever waits at the end is thrown away": Sabotage(
        together(_NO_PATIENCE, around(CommandQueue, "close", _thrown_away)),
        (writing.test_closing_answers_anyone_who_waits,),
    ),
    "commands are taken after the end": Sabotage(
        together(_NO_PATIENCE, instead(CommandQueue, "_push", _always_taken)),
        (writing.test_nothing_is_taken_after_the_end,),
        (TimeoutError,),
    ),
    "it closes while a command takes its place": Sabotage(
        together(_NO_PATIENCE, instead(command_queue, "Lock", nullcontext)),
        (writing.test_anyone_who_was_taken_is_answered_though_it_closes_at_the_same_moment,),
        (TimeoutError,),
    ),
    # The file
    "there are no triggers": Sabotage(
        _NO_TRIGGERS, (file.test_nothing_that_is_kept_for_ever_is_changed_by_hand,)
    ),
    "the file says what is expected": Sabotage(
        instead(SqliteReader, "definition", lambda _: schema.definition()),
        (file.test_the_file_says_what_it_is_made_by,),
    ),
    "nobody holds a lock": Sabotage(
        instead(sqlite, "_fcntl", None),
        (
            file.test_a_second_writer_is_refused_while_the_first_lives,
            file.test_a_second_writer_in_another_process_is_refused_while_the_first_lives,
        ),
    ),
    "the second writer writes over the first": Sabotage(
        together(
            _NO_TRIGGERS,
            instead(sqlite, "check_order", lambda *_: None),
            instead(SqliteStore, "_expect_fence", lambda *_: None),
            instead(
                sqlite,
                "_INSERT",
                {many: one.replace("INSERT", "INSERT OR REPLACE") for many, one in sqlite._INSERT.items()},
            ),
        ),
        (file.test_where_there_are_no_locks_the_second_is_refused_at_its_first_entry,),
    ),
    "a lock is never let go": Sabotage(
        instead(sqlite.WriterLock, "release", lambda _: None),
        (file.test_a_refused_opening_lets_the_lock_go,),
    ),
    "any setting is safe": Sabotage(
        instead(sqlite, "SAFE", {}),
        (
            _of(file.test_less_than_full_sync_is_refused, synchronous="off"),
            _of(file.test_less_than_full_sync_is_refused, synchronous="normal"),
            file.test_a_database_without_a_log_is_refused,
            file.test_a_file_system_that_cannot_share_a_log_is_refused,
        ),
    ),
    "syncs are left to the system afterwards": Sabotage(
        around(SqliteStore, "_prepare", _weakened),
        (_of(file.test_full_sync_or_more_is_in_force, synchronous="full"),),
    ),
    "a failed sync is nothing": Sabotage(
        instead(sqlite, "error_of", lambda error, *_: UnwritableError(str(error))),
        (file.test_a_failed_sync_leaves_the_journal_in_doubt_until_it_is_opened_again,),
    ),
    "everything is in doubt": Sabotage(
        instead(sqlite, "error_of", lambda error, *_: InDoubtError(str(error))),
        (file.test_a_full_disk_is_no_doubt,),
    ),
    "any file is a journal": Sabotage(
        instead(schema, "check", lambda *_, **_named: None),
        (
            _of(file.test_what_is_no_journal_is_not_written, what="another database"),
            _of(file.test_what_is_no_journal_is_not_written, what="a newer one"),
            _of(file.test_what_is_no_journal_is_not_read, what="an empty file"),
            _of(file.test_what_is_no_journal_is_not_read, what="an older one"),
        ),
    ),
    "no damage is told": Sabotage(
        instead(sqlite_reading, "_DAMAGED", ()), (file.test_a_torn_file_is_damaged,)
    ),
    "a reader sees the file without its log": Sabotage(
        instead(SqliteReader, "_opened", _as_it_was),
        (file.test_a_reader_sees_what_was_committed_and_nothing_else,),
    ),
    "a reader asks again for each row": Sabotage(
        around(SqliteReader, "rows", _row_by_row),
        (file.test_a_reader_that_is_slow_sees_the_journal_as_it_was_when_it_began,),
    ),
    "a reader may write": Sabotage(
        instead(SqliteReader, "_opened", SqliteStore._opened), (file.test_a_reader_cannot_write,)
    ),
    "a copy is made without the log": Sabotage(
        instead(SqliteReader, "copy_to", lambda self, path: shutil.copy(self.path, path)),
        (file.test_a_copy_is_whole_while_the_writer_goes_on,),
    ),
    "a file's reader does not look where an entry stands": Sabotage(
        together(
            instead(Journal, "entries", wherever_they_stand),
            instead(SqliteReader, "rows", _whatever),
            instead(SqliteReader, "last", lambda _: None),
        ),
        (
            file.test_a_stream_that_is_missing_is_damage_and_not_an_empty_name,
            _of(file.test_a_version_taken_or_left_out_by_hand_stops_the_reader, version=4),
            _of(file.test_a_version_taken_or_left_out_by_hand_stops_the_reader, version=6),
        ),
    ),
}

"""Ways to break the journal and what is read of it, each with the tests of its contract that must notice."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from hashlib import sha256
from typing import Any, Final, NamedTuple

import pytest
from msgspec.structs import replace

from taisai.game import snapshot_codec
from taisai.game.rounds.round import PastRounds
from taisai.game.snapshot_codec import SnapshotError
from taisai.journal import beside, codec, journal, streams
from taisai.journal.codec import JOURNAL_CLAUSE, Codec, JournalOpened, RulebookStored
from taisai.journal.engine import Engine
from taisai.journal.errors import DamagedError
from taisai.journal.journal import Decision, Journal
from taisai.journal.reading import ReadTree
from taisai.journal.seals.merkle import Frontier, leaf_hash
from taisai.journal.stores import schema, sqlite
from taisai.journal.stores import sqlite_reader as sqlite_reading
from taisai.journal.stores.contract import MemoryStore, StoredSnapshot
from taisai.journal.stores.sqlite import SqliteStore
from taisai.rules import rulebook
from tests.journal import test_contract as basic
from tests.journal import test_contract_engine as keeping
from tests.journal import test_contract_reading as reading
from tests.journal import test_contract_snapshots as snapshots
from tests.journal import test_contract_sqlite as file
from tests.journal.contract import shut
from tests.journal.evening import BOOK, START

Patch = pytest.MonkeyPatch
Test = Callable[..., None]
_of = partial  # a test with one of its parameters


class Sabotage(NamedTuple):
    """How something is broken, and which tests turn red."""

    how: Callable[[Patch], None]
    reddens: tuple[Test, ...]
    by: tuple[type[BaseException], ...] = ()
    """Errors that count as red beside failed assertions and errors of the journal."""


def around(owner: Any, name: str, wrapper: Callable[..., Any]) -> Callable[[Patch], None]:
    """Puts a function around another, which it is given first."""

    def how(patch: Patch) -> None:
        real = getattr(owner, name)
        patch.setattr(owner, name, lambda *given, **named: wrapper(real, *given, **named))

    return how


def instead(owner: Any, name: str, other: Any) -> Callable[[Patch], None]:
    """Puts one thing in the place of another."""
    return lambda patch: patch.setattr(owner, name, other)


def in_stores(name: str, wrapper: Callable[..., Any]) -> Callable[[Patch], None]:
    """Puts a function around a method of every store."""
    return together(around(MemoryStore, name, wrapper), around(SqliteStore, name, wrapper))


def together(*hows: Callable[[Patch], None]) -> Callable[[Patch], None]:
    """Several things broken at once."""

    def how(patch: Patch) -> None:
        for one in hows:
            one(patch)

    return how


# The journal


def _expectations(changed: Callable[[int | None], int | None]) -> Callable[[Patch], None]:
    def append(real: Any, self: Journal, decisions: Any) -> None:
        real(self, [one._replace(expected=changed(one.expected)) for one in decisions])

    return around(Journal, "append", append)


def _one_by_one(real: Any, self: Any, rows: Any, head: Any = None) -> None:
    for row in rows:
        real(self, [row], head)


def _never_empty(real: Any, self: Journal, decisions: Any) -> None:
    real(self, [one if one.events else shut(0, one.stream) for one in decisions] or [shut(0)])


def _any_row(self: Any, rows: Any, _head: Any = None) -> None:
    self._rows += rows
    for row in rows:
        self._by_stream.setdefault(row.stream, []).append(row.position)


def without(kind: str) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(one for one in step if kind not in one) for step in schema.MIGRATIONS)


def _always_stored(_: Journal, book: Any, *, at: int, by: str) -> list[Decision]:
    event = RulebookStored(
        at=at, by=by, clause=JOURNAL_CLAUSE, id=book.id, digest=book.digest, text=book.text
    )
    return [Decision("journal", [event])]


def _whoever(real: Any, self: Journal, *given: Any) -> None:
    real(self, *given)
    self.identity = self.identity or JournalOpened(
        at=START, by="eve", clause=JOURNAL_CLAUSE, journal="made-up", key="", demonstration=False, program=""
    )


# Reading


def wherever_they_stand(self: Journal, *, after: int = 0, stream: str | None = None) -> Iterator[Any]:
    for row in self.store.rows(after=after, stream=stream):
        yield self.codec.decode(row.body, row.position)


def _over_damage(self: Journal, *, after: int = 0, stream: str | None = None) -> Iterator[Any]:
    for row in self.store.rows(after=after, stream=stream):
        with suppress(DamagedError):
            yield self.codec.decode(row.body, row.position)


def _over_damaged_events(self: Journal, stream: str, *, after: int = 0) -> Iterator[Any]:
    for row in self.store.rows(after=after, stream=stream):
        with suppress(DamagedError):
            yield row.version, self.codec.decode(row.body, row.position).event


def _any_tree(self: Journal) -> Any:
    tree = Frontier()
    for row in self.store.rows():
        tree.append(leaf_hash(row.body))
    return ReadTree(tree, "", {}, 0)


def _as_if_new(self: Codec, body: bytes, _position: int) -> Any:
    return self._decode(body)


def _without_command(real: Any, *given: Any) -> Any:
    return replace(real(*given), asked=None)


# Snapshots


def _the_first_alone(real: Any, self: Any, snapshot: StoredSnapshot, parts: Mapping[int, bytes]) -> None:
    if self.snapshot(snapshot.stream, snapshot.version) is None:
        real(self, snapshot, parts)


def _abroad(real: Any, *given: Any) -> Any:
    table = real(*given)
    table.currency = "MOP"
    return table


def _but_the_last(
    self: Engine, aggregate: Any, stream: str, *, after: int = 0, upto: int | None = None
) -> None:
    entries = [
        one for one in self.journal.entries(after=after, stream=stream) if one.version <= (upto or 10**9)
    ]
    for entry in entries[:-1]:
        aggregate.evolve(entry.event)


OF_THE_JOURNAL: Final[dict[str, Sabotage]] = {
    "no version is ever passed": Sabotage(
        instead(Journal, "version", lambda _, _stream: 0),
        (basic.test_a_stream_at_the_expected_version_is_appended_to,),
    ),
    "the expected version is not looked at": Sabotage(
        _expectations(lambda _: None),
        (
            basic.test_a_version_that_is_passed_already_is_refused,
            basic.test_a_version_that_is_not_reached_yet_is_refused,
            basic.test_a_version_counts_what_stands_before_it_in_the_same_append,
            basic.test_when_the_third_decision_conflicts_none_is_written,
        ),
    ),
    "whoever expects nothing expects a new stream": Sabotage(
        _expectations(lambda expected: expected or 0),
        (basic.test_without_an_expected_version_it_goes_to_the_end,),
    ),
    "rows are written one by one": Sabotage(
        in_stores("append", _one_by_one), (basic.test_when_the_store_refuses_one_row_it_takes_none,)
    ),
    "every entry is the last of its decision": Sabotage(
        around(journal, "Entry", lambda real, **named: real(**named | {"more": 0})),
        (basic.test_entries_of_a_decision_count_down_and_the_first_has_its_command,),
    ),
    "nothing leaves an entry": Sabotage(
        around(Journal, "append", _never_empty), (basic.test_a_decision_without_events_leaves_no_entry,)
    ),
    "any row is taken": Sabotage(
        together(
            instead(MemoryStore, "append", _any_row),
            instead(sqlite, "check_order", lambda *_: None),
            instead(schema, "MIGRATIONS", without("entry_leaves_no_gap")),
        ),
        (basic.test_a_row_out_of_place_is_refused,),
    ),
    "hashes are those of something else": Sabotage(
        instead(journal, "sha256", lambda leaf: sha256(leaf[1:])),
        (
            basic.test_each_entry_has_the_hash_of_the_one_before,
            basic.test_the_root_is_that_of_the_tree_over_all_entries,
            basic.test_checkpoints_are_kept_in_order_and_can_be_verified,
        ),
    ),
    "the first row is never read": Sabotage(
        in_stores(
            "rows", lambda real, self, *, after=0, stream=None: real(self, after=after + 1, stream=stream)
        ),
        (
            basic.test_entries_are_read_by_position_from_any_place,
            basic.test_entries_of_a_stream_are_read_by_version_from_any_place,
            basic.test_what_was_read_is_what_was_written,
        ),
    ),
    "streams are put in order": Sabotage(
        in_stores("streams", lambda real, self: sorted(real(self))),
        (basic.test_streams_come_in_the_order_in_which_they_appeared,),
    ),
    "the last row is the first": Sabotage(
        in_stores("last", lambda _, self: next(self.rows(), None)),
        (basic.test_the_last_row_is_that_of_the_highest_position,),
    ),
    "checkpoints are put in order": Sabotage(
        in_stores("checkpoints", lambda real, self: sorted(real(self))),
        (basic.test_checkpoints_are_kept_in_order_and_can_be_verified,),
    ),
    "any key signs": Sabotage(
        instead(Journal, "_expect", lambda _, _key: None),
        (basic.test_after_a_rotation_the_new_key_alone_signs,),
    ),
    "the old key signs something else": Sabotage(
        instead(journal, "rotation_text", lambda *_: b"whatever"),
        (basic.test_the_old_key_vouches_for_the_new_one,),
    ),
    "a rulebook is stored each time": Sabotage(
        instead(Journal, "storing", _always_stored),
        (basic.test_a_rulebook_is_stored_once_for_each_digest_and_read_back_equal,),
    ),
    "any rulebook will do": Sabotage(
        instead(Journal, "rulebook", lambda _, _digest: rulebook(BOOK)),
        (
            basic.test_a_rulebook_that_is_not_stored_is_not_given,
            basic.test_a_rulebook_is_stored_once_for_each_digest_and_read_back_equal,
        ),
    ),
    "nothing is too large": Sabotage(
        together(instead(journal, "MOST_STREAM", 1 << 30), instead(journal, "MOST_BYTES", 1 << 30)),
        (
            basic.test_a_name_of_a_stream_has_a_limit,
            basic.test_a_name_of_a_stream_has_a_limit_also_where_its_version_is_known,
            basic.test_an_entry_has_a_limit,
        ),
    ),
    # Reading
    "a reader goes on over damage": Sabotage(
        together(
            instead(Journal, "entries", _over_damage),
            instead(Journal, "_read_tree", _any_tree),
            instead(Journal, "events", _over_damaged_events),
        ),
        (
            _of(reading.test_damage_stops_a_start, name="cut"),
            reading.test_an_entry_that_hangs_on_nothing_keeps_a_journal_from_opening,
            _of(reading.test_damage_stops_the_reader_with_position_and_reason, name="cut"),
            _of(reading.test_damage_stops_the_reader_with_position_and_reason, name="an unknown event"),
            _of(reading.test_damage_stops_the_reader_with_position_and_reason, name="a newer format"),
            reading.test_a_journal_whose_own_stream_is_damaged_does_not_open,
        ),
    ),
    "a reader does not look where an entry stands": Sabotage(
        instead(Journal, "entries", wherever_they_stand),
        (
            _of(reading.test_damage_stops_the_reader_with_position_and_reason, name="another position"),
            _of(reading.test_damage_stops_the_reader_with_position_and_reason, name="another version"),
            _of(reading.test_damage_stops_the_reader_with_position_and_reason, name="another table"),
            reading.test_a_row_that_is_gone_stops_the_reader_at_the_next,
            reading.test_rows_in_another_order_stop_the_reader,
            _of(file.test_a_version_taken_or_left_out_by_hand_stops_the_reader, version=4),
        ),
    ),
    "any event belongs to any stream": Sabotage(
        together(
            instead(codec, "_STREAM_OF", defaultdict(str)),
            instead(codec, "_belongs", lambda _kind, _stream: True),
        ),
        (
            _of(reading.test_damage_stops_the_reader_with_position_and_reason, name="the House's event"),
            _of(reading.test_damage_stops_the_reader_with_position_and_reason, name="the House's command"),
        ),
    ),
    "an older format is taken for the new one": Sabotage(
        instead(Codec, "decode", _as_if_new),
        (reading.test_entries_of_an_older_format_are_read_as_they_would_be_written_now,),
    ),
    "commands of an older format are lost": Sabotage(
        around(Codec, "_from_older", _without_command),
        (reading.test_a_whole_evening_of_an_older_format_means_the_same,),
    ),
    "damage in an older format is not expected": Sabotage(
        instead(codec, "_NOT_AN_ENTRY", ()),
        (_of(reading.test_damage_in_an_older_format_is_damage, name="an event that is a list"),),
        by=(AttributeError,),
    ),
    "an entry of format 1 has what format 2 added": Sabotage(
        instead(codec, "_check_age", lambda *_: None),
        (
            _of(reading.test_what_format_2_added_stands_in_no_entry_of_format_1, name="a kind"),
            _of(reading.test_what_format_2_added_stands_in_no_entry_of_format_1, name="a field"),
        ),
    ),
    "entries of format 1 are not canonical any more": Sabotage(
        around(Codec, "is_canonical", lambda real, *given: given[1].v > 1 and real(*given)),
        (reading.test_a_journal_of_format_1_is_continued_in_format_2,),
    ),
    "any bytes are canonical": Sabotage(
        instead(Codec, "is_canonical", lambda *_: True),
        (reading.test_what_is_read_is_canonical_and_anything_else_is_not,),
    ),
    "an empty journal makes up who it is": Sabotage(
        around(Journal, "__init__", _whoever),
        (
            reading.test_a_journal_in_an_empty_store_is_empty,
            reading.test_a_journal_that_was_never_opened_cannot_be_sealed,
        ),
    ),
    # Snapshots
    "only the latest snapshot is known": Sabotage(
        in_stores("snapshot", lambda real, self, stream, _version=None: real(self, stream)),
        (snapshots.test_a_snapshot_takes_the_place_of_the_one_before,),
    ),
    "a round is given as of any version": Sabotage(
        in_stores("part", lambda real, self, stream, number, _version: real(self, stream, number, 10**9)),
        (snapshots.test_a_part_is_given_as_it_was_kept_last,),
    ),
    "the first snapshot of a version stays": Sabotage(
        in_stores("keep", _the_first_alone), (snapshots.test_a_snapshot_kept_twice_is_the_second,)
    ),
    "nothing is forgotten": Sabotage(
        in_stores("forget", lambda _real, _self: None), (snapshots.test_whatever_is_forgotten_is_gone,)
    ),
    "a table made again is played in another currency": Sabotage(
        around(streams, "read_table", _abroad),
        (snapshots.test_a_start_from_snapshots_is_a_start_from_entries,),
    ),
    "a replay leaves out the last entry": Sabotage(
        instead(Engine, "_replay", _but_the_last),
        (
            snapshots.test_snapshots_thrown_away_change_nothing,
            keeping.test_answers_are_those_of_the_game_without_a_journal,
        ),
    ),
    "a corrected round is not kept again": Sabotage(
        instead(PastRounds, "to_correct", lambda self, number: self[number - 1]),
        (
            snapshots.test_rounds_put_away_are_corrected_as_if_they_were_in_memory,
            snapshots.test_a_corrected_round_is_kept_again_in_place_of_the_older_one,
        ),
    ),
    "a snapshot of any form is read": Sabotage(
        instead(snapshot_codec, "check_equal", lambda *_: None),
        (snapshots.test_a_snapshot_of_another_form_is_ignored,),
        by=(SnapshotError,),
    ),
    "a damaged snapshot is used": Sabotage(
        together(
            instead(sqlite_reading, "_is_intact", lambda _digest, _body: True),
            instead(beside, "compare_digest", lambda _ours, _theirs: True),
        ),
        (_of(snapshots.test_a_damaged_snapshot_or_round_is_ignored, damage="no snapshot holds"),),
        by=(ValueError,),
    ),
}

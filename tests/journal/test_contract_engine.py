"""The engine: what was not done leaves no entry, and what was not written has not happened."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec
import pytest

from taisai.cage import House
from taisai.game import Refusal, recover
from taisai.game.commands import Command, OpenTable, PlaceBets, TakeSeat
from taisai.game.refusals import Reason
from taisai.journal.codec import JOURNAL_STREAM, RulebookStored, stream_of
from taisai.journal.engine import Engine, Submission
from taisai.journal.errors import ConflictError, InDoubtError, JournalError, UnwritableError
from taisai.journal.journal import Journal
from taisai.journal.stores.contract import Head, Row, Store, StoredSnapshot
from taisai.rules import rulebook
from tests.game.past_rounds import compiled_once
from tests.journal.contract import SECRET, MakeStore, asks, differences, in_memory, opened, play, rows_of
from tests.journal.evening import BOOK, NAME, START, TABLE_STREAM, Batch, evening

EVENING = evening(seats=2, rounds=2).batches
BETTING = next(
    place for place, batch in enumerate(EVENING) if any(isinstance(one.command, PlaceBets) for one in batch)
)
"""The first batch with a bet in it."""
OPENING = next(
    one.command for batch in EVENING for one in batch if isinstance(one.command, OpenTable)
)  # fmt: skip


@pytest.fixture(scope="module", autouse=True)
def _terms_compiled_once() -> Iterator[None]:
    with compiled_once():
        yield


class Troubled:
    """A store that fails as often as it has errors to raise, before or after it has written."""

    def __init__(self, store: Store, *errors: Exception, written: bool = False) -> None:
        self._store = store
        self.errors = list(errors)
        self.written = written

    def append(self, rows: Sequence[Row], head: Head | None = None) -> None:
        """Raises, or appends."""
        if not self.errors:
            return self._store.append(rows, head)
        if self.written:
            self._store.append(rows, head)
        raise self.errors.pop(0)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)


def at_the_first_bet(make_store: MakeStore) -> Engine:
    """An engine that has been asked everything before the first bet."""
    engine = Engine(opened(make_store()))
    play(engine, EVENING[:BETTING])
    return engine


def troubled(make_store: MakeStore, *errors: Exception, written: bool = False) -> tuple[Engine, Troubled]:
    """The same, over a store that is about to fail."""
    at_the_first_bet(make_store)
    store = Troubled(make_store(), *errors, written=written)
    return Engine(Journal(store)), store


def refusals_of(engine: Engine, batch: Batch) -> list[tuple[str, str]]:
    """Reason and clause of each refusal; every command must be refused."""
    answers = engine.answer_all(asks(batch))
    return [(one.reason, one.clause) if isinstance(one, Refusal) else ("done", "") for one in answers]


# What leaves no entry


def test_a_refused_command_leaves_no_entry(make_store: MakeStore) -> None:
    engine = at_the_first_bet(make_store)
    before = rows_of(engine.journal)
    late = TakeSeat(at=START, by="T01", seat="1", player="Eve", terminal="T01", layout="B")
    assert isinstance(engine.answer(TABLE_STREAM, late), Refusal)
    assert isinstance(engine.open_table(rulebook(BOOK), OPENING), Refusal)
    assert list(make_store().rows()) == before


def test_a_retry_leaves_no_entry(make_store: MakeStore) -> None:
    engine = at_the_first_bet(make_store)
    done = play(engine, EVENING[BETTING : BETTING + 1])
    before = rows_of(engine.journal)
    assert all(done)
    for again in (engine, Engine(Journal(make_store()))):
        assert set(play(again, EVENING[BETTING : BETTING + 1])) == {()}
    assert list(make_store().rows()) == before


def test_a_table_that_was_never_opened_is_not_open(make_store: MakeStore) -> None:
    engine = at_the_first_bet(make_store)
    before = rows_of(engine.journal)
    answer = engine.answer("table:nowhere", EVENING[BETTING][0].command)
    assert isinstance(answer, Refusal)
    assert (answer.reason, answer.clause) == (Reason.TABLE_NOT_OPEN, "house:table")
    with pytest.raises(JournalError, match="the journal has no table 'nowhere'"):
        engine.table("nowhere")
    assert list(make_store().rows()) == before


def test_a_refused_opening_leaves_nothing_of_its_rulebook(make_store: MakeStore) -> None:
    engine = Engine(opened(make_store()))
    nobody = msgspec.structs.replace(OPENING, rank="visitor")
    assert isinstance(engine.open_table(rulebook("mbs-sic-bo-v6"), nobody), Refusal)
    assert engine.journal.size == 1
    assert isinstance(engine.open_table(rulebook(BOOK), OPENING), tuple)
    assert engine.table(NAME).book.id == BOOK
    assert engine.tables() == [NAME]
    assert Engine(Journal(make_store())).table(NAME).book.id == BOOK


def test_tables_that_open_together_store_their_rulebook_once(make_store: MakeStore) -> None:
    engine = Engine(opened(make_store()))
    book = rulebook(BOOK)
    names = ("SB1", "SB2", "SB3")
    openings = [msgspec.structs.replace(OPENING, table=name) for name in names]
    engine.answer_all([Submission(stream_of(one.table), one, book) for one in openings])
    journal = Journal(make_store())
    assert [type(entry.event) for entry in journal.entries(after=1, stream=JOURNAL_STREAM)] == [
        RulebookStored
    ]
    assert Engine(journal).tables() == list(names)


# What happens all the same or not at all


def test_answers_are_those_of_the_game_without_a_journal(make_store: MakeStore) -> None:
    engine = Engine(opened(make_store()))
    play(engine, EVENING)
    assert differences(engine, EVENING) == []
    assert differences(Engine(Journal(make_store())), EVENING) == []


def test_what_a_batch_came_to_before_an_error_has_not_happened(make_store: MakeStore) -> None:
    engine = at_the_first_bet(make_store)
    before = rows_of(engine.journal)
    nonsense = Command(at=START, by="dan")  # which nobody knows how to decide
    with pytest.raises(KeyError):
        engine.answer_all([*asks(EVENING[BETTING]), Submission(TABLE_STREAM, nonsense)])
    assert rows_of(engine.journal) == before
    assert differences(engine, EVENING[:BETTING]) == []
    play(engine, EVENING[BETTING:])
    assert differences(engine, EVENING) == []


def test_a_conflict_is_no_answer_and_changes_nothing(make_store: MakeStore) -> None:
    engine, store = troubled(make_store, ConflictError("another process is writing to the journal"))
    with pytest.raises(ConflictError):
        engine.answer_all(asks(EVENING[BETTING]))
    assert store.errors == []
    assert differences(engine, EVENING[:BETTING]) == []


# A journal that cannot be written


def test_a_command_that_cannot_be_written_is_refused_and_has_not_happened(make_store: MakeStore) -> None:
    engine, _ = troubled(make_store, UnwritableError("disk full"))
    balances = dict(engine.table(NAME).ledger.balances)
    batch = (*EVENING[BETTING], *EVENING[BETTING + 1])
    assert set(refusals_of(engine, batch)) == {("journal-unwritable", "house:journal")}
    assert engine.trouble == "disk full"
    assert engine.table(NAME).ledger.balances == balances
    assert differences(engine, EVENING[:BETTING]) == []


def test_it_goes_on_when_it_can_be_written_again(make_store: MakeStore) -> None:
    engine, store = troubled(make_store, *[UnwritableError("expected room, got none")] * 3)
    for _ in range(3):
        refusals_of(engine, EVENING[BETTING])
        assert engine.trouble == "expected room, got none"
    assert store.errors == []
    play(engine, EVENING[BETTING:])
    assert engine.trouble is None
    assert differences(engine, EVENING) == []
    assert differences(Engine(Journal(make_store())), EVENING) == []


def test_trouble_lasts_until_something_was_written(make_store: MakeStore) -> None:
    engine, _ = troubled(make_store, UnwritableError("expected room, got none"))
    refusals_of(engine, EVENING[BETTING])
    assert isinstance(engine.open_table(rulebook(BOOK), OPENING), Refusal)  # there is one of this name
    assert engine.trouble == "expected room, got none"


def test_a_rulebook_that_could_not_be_written_is_not_stored(make_store: MakeStore) -> None:
    store = Troubled(make_store())
    engine = Engine(opened(store))
    store.errors.append(UnwritableError("expected room, got none"))
    assert isinstance(engine.open_table(rulebook(BOOK), OPENING), Refusal)
    assert isinstance(engine.open_table(rulebook(BOOK), OPENING), tuple)
    assert Engine(Journal(make_store())).table(NAME).book.digest == rulebook(BOOK).digest


def in_doubt(make_store: MakeStore, *, written: bool) -> None:
    """Nothing is done after a write that may have happened, until a new journal looks whether it has."""
    engine, store = troubled(make_store, InDoubtError("expected a sync, got none"), written=written)
    for batch in (
        EVENING[BETTING],
        EVENING[BETTING],
        EVENING[BETTING + 1],
    ):  # the retry may be on disk or not
        for answer in engine.answer_all(asks(batch)):
            assert isinstance(answer, Refusal)
            assert (answer.reason, answer.clause) == (Reason.JOURNAL_IN_DOUBT, "house:journal")
            assert "repeat it after the next start" in answer.message
        assert engine.trouble is not None
        assert "expected a sync, got none" in engine.trouble
    assert store.errors == []
    again = Engine(Journal(make_store()))
    assert differences(again, EVENING[: BETTING + written]) == []
    first = play(again, EVENING[BETTING : BETTING + 1])
    assert [bool(answer) for answer in first] == [not written] * len(first)  # asked again, it is a retry
    play(again, EVENING[BETTING + 1 :])
    assert differences(again, EVENING) == []


def test_in_doubt_nothing_is_done_until_it_is_known_that_it_was_written(make_store: MakeStore) -> None:
    in_doubt(make_store, written=True)


def test_in_doubt_nothing_is_done_until_it_is_known_that_it_was_not_written(make_store: MakeStore) -> None:
    in_doubt(make_store, written=False)


# Snapshots that cannot be kept


class WithoutRoom(Troubled):
    """A store that takes entries and no snapshots."""

    def keep(self, snapshot: StoredSnapshot, parts: Mapping[int, bytes]) -> None:
        """Raises."""
        raise UnwritableError(f"expected room for {snapshot.stream} and {len(parts)} rounds, got none")


def test_a_snapshot_that_cannot_be_kept_is_nobodys_trouble(make_store: MakeStore) -> None:
    engine = Engine(opened(WithoutRoom(make_store()), secret=SECRET), snapshot_every=1)
    play(engine, EVENING)
    assert engine.trouble is None
    assert engine.journal.store.snapshots() == []
    assert differences(engine, EVENING) == []
    assert differences(Engine(Journal(make_store(), secret=SECRET)), EVENING) == []


# After a start


def test_recovery_decides_at_every_table(make_store: MakeStore) -> None:
    engine = at_the_first_bet(make_store)
    other = msgspec.structs.replace(OPENING, table="SB2")
    engine.open_table(rulebook(BOOK), other)
    past = {name: _events_of(engine, name) for name in ("SB1", "SB2")}
    size = engine.journal.size
    at = START + 10**9
    answers = Engine(Journal(make_store())).recover(at=at)
    assert answers == {name: recover(past[name], rulebook(BOOK), at=at).events for name in past}
    assert [len(answer) for answer in answers.values()] == [2, 1]  # at one of them a round is void
    assert Journal(make_store()).size == size + 3


def _events_of(engine: Engine, table: str) -> list[Any]:
    return [entry.event for entry in engine.journal.entries(stream=stream_of(table))]


def test_a_house_that_nobody_opened_is_there_and_empty(make_store: MakeStore) -> None:
    engine = Engine(opened(make_store()))
    assert (engine.tables(), engine.house()) == ([], House())
    play(engine, EVENING[:1])
    assert Engine(Journal(make_store())).house() == in_memory(EVENING[:1])[1] != House()

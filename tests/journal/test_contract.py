"""The contract of a journal, held to by every store: versions, batches, order, chain, reading, sealing."""

from __future__ import annotations

from base64 import b64decode

import msgspec
import pytest

from taisai.journal.codec import (
    HOUSE_STREAM,
    JOURNAL_STREAM,
    MOST_BYTES,
    NOTHING_BEFORE,
    KeyIntroduced,
    RulebookStored,
)
from taisai.journal.errors import ConflictError, JournalError
from taisai.journal.journal import MOST_STREAM, Decision, Journal
from taisai.journal.seals.checkpoints import read_signed, rotation_text
from taisai.journal.seals.keys import PublicKey
from taisai.journal.seals.merkle import leaf_hash, root_of
from taisai.journal.stores.contract import MemoryStore, Row, Store
from taisai.rules import rulebook
from tests.journal.contract import KEY, NEXT_KEY, SB1, SB2, MakeStore, brought, filled, opened, rows_of, shut
from tests.journal.evening import START

# The version that the caller expects


def test_a_stream_at_the_expected_version_is_appended_to(make_store: MakeStore) -> None:
    journal = filled(make_store())
    journal.append([shut(6, expected=4), brought(7, expected=1)])
    assert [row[:3] for row in rows_of(journal)][7:] == [(8, SB1, 5), (9, HOUSE_STREAM, 2)]
    assert (journal.version(SB1), journal.version(HOUSE_STREAM)) == (5, 2)


def test_a_version_that_is_passed_already_is_refused(make_store: MakeStore) -> None:
    journal = filled(make_store())
    before = rows_of(journal)
    with pytest.raises(ConflictError, match="expected the stream table:SB1 at version 3, got version 4"):
        journal.append([shut(6, expected=3)])
    assert rows_of(journal) == before


def test_a_version_that_is_not_reached_yet_is_refused(make_store: MakeStore) -> None:
    journal = filled(make_store())
    before = rows_of(journal)
    with pytest.raises(ConflictError, match="expected the stream table:SB1 at version 5, got version 4"):
        journal.append([shut(6, expected=5)])
    assert rows_of(journal) == before


def test_without_an_expected_version_it_goes_to_the_end(make_store: MakeStore) -> None:
    journal = filled(make_store())
    journal.append([shut(6, expected=None)])
    assert rows_of(journal)[-1][:3] == (8, SB1, 5)


def test_a_version_counts_what_stands_before_it_in_the_same_append(make_store: MakeStore) -> None:
    journal = opened(make_store())
    journal.append([shut(1, expected=0, times=2), shut(2, expected=2)])
    assert journal.version(SB1) == 3
    with pytest.raises(ConflictError, match="at version 3, got version 4"):
        journal.append([shut(3, expected=3), shut(4, expected=3)])
    assert journal.version(SB1) == make_store().version(SB1) == 3


# Decisions, whole


def test_when_the_third_decision_conflicts_none_is_written(make_store: MakeStore) -> None:
    journal = filled(make_store())
    before, root = rows_of(journal), journal.root()
    with pytest.raises(ConflictError):
        journal.append([shut(6), brought(7), shut(8, SB2, expected=9), shut(9)])
    assert rows_of(journal) == before
    assert (journal.size, journal.root(), journal.version(SB1)) == (7, root, 4)
    journal.append([shut(6, expected=4)])  # and it goes on as if nobody had asked
    assert rows_of(Journal(make_store()))[-1][:3] == (8, SB1, 5)


def test_when_the_store_refuses_one_row_it_takes_none(make_store: MakeStore) -> None:
    store = make_store()
    before = rows_of(filled(store))
    with pytest.raises(ConflictError):
        store.append([Row(8, SB1, 5, b"a"), Row(9, "table:SB3", 1, b"b"), Row(11, SB1, 6, b"c")])
    again = make_store()
    assert list(again.rows()) == before
    assert again.streams() == [JOURNAL_STREAM, SB1, HOUSE_STREAM, SB2]


def test_entries_of_a_decision_count_down_and_the_first_has_its_command(make_store: MakeStore) -> None:
    journal = opened(make_store())
    three, one = shut(1, times=3), brought(2)
    journal.append([three, one])
    seen = [(entry.more, entry.asked) for entry in journal.entries(after=1)]
    assert seen == [(2, three.asked), (1, None), (0, None), (0, one.asked)]


def test_a_decision_without_events_leaves_no_entry(make_store: MakeStore) -> None:
    journal = filled(make_store())
    before = rows_of(journal)
    journal.append([])
    journal.append([shut(6, times=0)])
    assert rows_of(journal) == before
    journal.append([shut(6, times=0), shut(7)])
    assert rows_of(journal)[-1][:3] == (8, SB1, 5)


# Order


OUT_OF_PLACE = {
    "a position left out": Row(9, SB1, 5, b"{}"),
    "a position again": Row(7, SB1, 5, b"{}"),
    "a position long past": Row(1, SB1, 5, b"{}"),
    "a version left out": Row(8, SB1, 6, b"{}"),
    "a version again": Row(8, SB1, 4, b"{}"),
    "the version of another stream": Row(8, SB2, 5, b"{}"),
    "a new stream that does not begin": Row(8, "table:SB3", 2, b"{}"),
}


def test_a_row_out_of_place_is_refused(make_store: MakeStore) -> None:
    before = rows_of(filled(make_store()))
    store = make_store()
    assert [what for what, row in OUT_OF_PLACE.items() if not _is_refused(store, row)] == []
    assert list(make_store().rows()) == before


def _is_refused(store: Store, row: Row) -> bool:
    try:
        store.append([row])
    except ConflictError:
        return True
    return False


# Chain and tree


def test_each_entry_has_the_hash_of_the_one_before(make_store: MakeStore) -> None:
    journal = filled(make_store())
    again = Journal(make_store())
    again.append([shut(6)])  # the chain goes on over a start
    bodies = [row.body for row in again.store.rows()]
    hashes = [NOTHING_BEFORE, *(leaf_hash(body).hex() for body in bodies)]
    assert [entry.previous for entry in again.entries()] == hashes[:-1]
    assert journal.size == 7


def test_the_root_is_that_of_the_tree_over_all_entries(make_store: MakeStore) -> None:
    journal = opened(make_store())
    for number in range(1, 20):
        journal.append([shut(number, times=number % 3)])
        assert journal.root() == root_of([leaf_hash(row.body) for row in rows_of(journal)])
        if number == 11:
            journal.keep(SB1, b"{}", {})  # the tree is kept with it, and goes on from there
        if number % 4 == 0:
            journal = Journal(make_store())
            assert journal.root() == root_of([leaf_hash(row.body) for row in rows_of(journal)])


# Reading


def test_entries_are_read_by_position_from_any_place(make_store: MakeStore) -> None:
    filled(make_store())
    journal = Journal(make_store())
    places = [(entry.position, entry.stream, entry.version) for entry in journal.entries()]
    assert places == [
        (1, JOURNAL_STREAM, 1),
        (2, SB1, 1),
        (3, SB1, 2),
        (4, SB1, 3),
        (5, HOUSE_STREAM, 1),
        (6, SB2, 1),
        (7, SB1, 4),
    ]
    for after in range(9):
        assert [entry.position for entry in journal.entries(after=after)] == list(range(after + 1, 8))


def test_entries_of_a_stream_are_read_by_version_from_any_place(make_store: MakeStore) -> None:
    filled(make_store())
    journal = Journal(make_store())
    for after in range(6):
        got = [(entry.stream, entry.version) for entry in journal.entries(after=after, stream=SB1)]
        assert got == [(SB1, version) for version in range(after + 1, 5)]
    assert list(journal.entries(stream="table:nowhere")) == []


def test_what_was_read_is_what_was_written(make_store: MakeStore) -> None:
    decisions = [shut(1), shut(2, times=2), brought(3)]
    opened(make_store()).append(decisions)
    events = [event for decision in decisions for event in decision.events]
    assert [entry.event for entry in Journal(make_store()).entries(after=1)] == events


def test_streams_come_in_the_order_in_which_they_appeared(make_store: MakeStore) -> None:
    journal = opened(make_store())
    for name in ("zebra", "ant", "lynx", "zebra", "bee"):
        journal.append([shut(1, f"table:{name}")])
    store = make_store()
    assert store.streams() == [JOURNAL_STREAM, "table:zebra", "table:ant", "table:lynx", "table:bee"]
    assert [store.version(name) for name in (*store.streams(), "table:nowhere")] == [1, 2, 1, 1, 1, 0]


def test_the_last_row_is_that_of_the_highest_position(make_store: MakeStore) -> None:
    assert make_store().last() is None
    filled(make_store())
    last = make_store().last()
    assert last is not None
    assert last[:3] == (7, SB1, 4)


# Checkpoints and keys


def test_checkpoints_are_kept_in_order_and_can_be_verified(make_store: MakeStore) -> None:
    journal = filled(make_store())
    given = [
        journal.seal(KEY, at=START + 1),
        journal.seal(KEY, at=START),
    ]  # one moment earlier: a clock set back
    journal.append([shut(6)])
    given.append(journal.seal(KEY, at=START + 2))
    store = make_store()
    assert [(one.size, one.text) for one in store.checkpoints()] == list(zip((7, 7, 8), given, strict=True))
    leaves = [leaf_hash(row.body) for row in store.rows()]
    for size, text in store.checkpoints():
        note = read_signed(text)
        assert note.is_signed_by(KEY.public)
        assert (note.checkpoint.origin, note.checkpoint.size) == ("taisai/5f3a9c0e7d214b68", size)
        assert note.checkpoint.root == root_of(leaves[:size])


def test_after_a_rotation_the_new_key_alone_signs(make_store: MakeStore) -> None:
    journal = filled(make_store())
    with pytest.raises(JournalError, match=r"wrong signing key: expected first .*, got second"):
        journal.seal(NEXT_KEY, at=START)
    journal.rotate(KEY, NEXT_KEY.public, at=START, by="sue")
    for here in (journal, Journal(make_store())):
        with pytest.raises(JournalError, match=r"wrong signing key: expected second .*, got first"):
            here.seal(KEY, at=START)
        with pytest.raises(JournalError, match="got first"):
            here.rotate(KEY, KEY.public, at=START, by="sue")
        assert here.key == NEXT_KEY.public
    again = Journal(make_store())
    assert read_signed(again.seal(NEXT_KEY, at=START)).is_signed_by(NEXT_KEY.public)
    assert len(again.store.checkpoints()) == 1


def test_the_old_key_vouches_for_the_new_one(make_store: MakeStore) -> None:
    journal = filled(make_store())
    journal.rotate(KEY, NEXT_KEY.public, at=START, by="sue")
    *_, entry = journal.entries()
    assert isinstance(entry.event, KeyIntroduced)
    assert PublicKey.parse(entry.event.key) == NEXT_KEY.public
    text = rotation_text("taisai/5f3a9c0e7d214b68", 8, entry.previous, entry.event.key)
    assert KEY.public.verify(b64decode(entry.event.signature), text)


# Rulebooks


def test_a_rulebook_is_stored_once_for_each_digest_and_read_back_equal(make_store: MakeStore) -> None:
    books = [rulebook("rws-sic-bo-etg-v8"), rulebook("mbs-sic-bo-v6")]
    journal = opened(make_store())
    for book in (*books, *books):
        journal.append(journal.storing(book, at=START, by="sue"))
    again = Journal(make_store())
    assert [again.storing(book, at=START, by="sue") for book in books] == [[], []]
    stored = [
        entry.event
        for entry in again.entries(stream=JOURNAL_STREAM)
        if isinstance(entry.event, RulebookStored)
    ]
    assert [one.digest for one in stored] == [book.digest for book in books]
    for book in books:
        back = again.rulebook(book.digest)
        assert (back.digest, back.id, back.text, back.clauses) == (
            book.digest,
            book.id,
            book.text,
            book.clauses,
        )


def test_a_rulebook_that_is_not_stored_is_not_given(make_store: MakeStore) -> None:
    with pytest.raises(JournalError, match="the journal has no rulebook with the digest sha256:0"):
        opened(make_store()).rulebook("sha256:0")


# Limits


def test_a_name_of_a_stream_has_a_limit(make_store: MakeStore) -> None:
    journal = opened(make_store())
    longest = "table:".ljust(MOST_STREAM, "x")
    journal.append([shut(1, longest)])
    with pytest.raises(JournalError, match=f"expected a stream name of at most {MOST_STREAM} characters"):
        journal.append([shut(2), shut(2, longest + "x")])
    assert make_store().streams() == [JOURNAL_STREAM, longest]


def test_a_name_of_a_stream_has_a_limit_also_where_its_version_is_known(make_store: MakeStore) -> None:
    journal = opened(make_store())
    too_long = "table:".ljust(MOST_STREAM + 1, "x")
    assert journal.version(too_long) == 0
    with pytest.raises(JournalError, match=f"expected a stream name of at most {MOST_STREAM} characters"):
        journal.append([shut(1, too_long)])


def test_an_entry_has_a_limit(make_store: MakeStore) -> None:
    journal = opened(make_store())
    journal.append([_as_long_as(MOST_BYTES)])
    assert len(rows_of(journal)[-1].body) == MOST_BYTES
    with pytest.raises(JournalError, match=f"at most {MOST_BYTES} bytes, got {MOST_BYTES + 1}"):
        journal.append([shut(2), _as_long_as(MOST_BYTES + 1)])
    again = Journal(make_store())
    assert (again.size, sum(1 for _ in again.entries())) == (2, 2)


def _as_long_as(size: int) -> Decision:
    """A decision whose one entry, among the first nine of a journal, has so many bytes."""
    probe = opened(MemoryStore())
    probe.append([shut(1)])
    missing = size - len(rows_of(probe)[-1].body)
    return Decision(
        SB1, [msgspec.structs.replace(shut(1).events[0], by="sue" + "x" * missing)], shut(1).asked
    )

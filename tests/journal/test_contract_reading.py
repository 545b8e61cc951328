"""What cannot be what was written stops the reader, with position and reason; an older format does not."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from msgspec import to_builtins

from taisai.cage.messages import CapitalBrought
from taisai.journal.codec import HOUSE_STREAM, Codec, Entry
from taisai.journal.engine import Engine
from taisai.journal.errors import DamagedError, JournalError
from taisai.journal.journal import Journal
from taisai.journal.stores.contract import Row, Store
from tests.journal.contract import SB1, SB2, MakeStore, brought, filled, opened, play, read, shut
from tests.journal.evening import START, evening

# Damage

Change = Callable[[dict[str, Any]], Any]
NOT_JSON: dict[str, tuple[Callable[[bytes], bytes], str]] = {
    "cut": (lambda body: body[:-1], "not an entry: "),
    "nothing": (lambda _: b"", "not an entry: "),
    "a letter lost": (lambda body: body.replace(b'"stream"', b'"strem"'), "invalid entry"),
    "not UTF-8": (lambda body: body.replace(b"sue", b"s\xffe"), "not an entry: "),
    "another thing": (lambda _: b'"entry"', "not an entry: "),
    "a list": (lambda _: b"[1]", "not an entry: "),
    "too deep": (lambda _: b"[" * 100_000 + b"]" * 100_000, "not an entry: "),
}
CHANGED: dict[str, tuple[Change, str]] = {
    "an unknown event": (lambda one: one["event"].update(event="table-sold"), "invalid entry"),
    "an unknown command": (lambda one: one["asked"].update(command="sell"), "invalid entry"),
    "an unknown field": (lambda one: one["event"].update(colour="red"), "invalid entry"),
    "a field lost": (lambda one: one["event"].pop("reason"), "invalid entry"),
    "a number as text": (lambda one: one.update(version="5"), "invalid entry"),
    "a newer format": (lambda one: one.update(v=3), "unknown format: expected format 2 or older, got 3"),
    "no format": (lambda one: one.pop("v"), "not an entry: "),
    "format nought": (lambda one: one.update(v=0), "or older, got 0"),
    "format yes": (lambda one: one.update(v=True), "unknown format: expected format 2 or older, got True"),
    "another position": (lambda one: one.update(position=9), "got an entry with position 9"),
    "another version": (lambda one: one.update(version=6), "version 6 of table:SB1"),
    "another table": (lambda one: one.update(stream=SB2), "version 5 of table:SB2"),
    "the House's stream": (lambda one: one.update(stream=HOUSE_STREAM), "in the wrong stream"),
    "the House's event": (
        lambda one: one.update(event=to_builtins(brought(1).events[0])),
        "in the wrong stream 'table:SB1'",
    ),
    "the House's command": (
        lambda one: one.update(asked=to_builtins(brought(1).asked)),
        "in the wrong stream 'table:SB1'",
    ),
}


def damaged(name: str, body: bytes) -> tuple[bytes, str]:
    """An entry's bytes with a damage, and what shall be said of it."""
    if name in NOT_JSON:
        harm, says = NOT_JSON[name]
        return harm(body), says
    change, says = CHANGED[name]
    plain = json.loads(body)
    change(plain)
    return json.dumps(plain, separators=(",", ":"), sort_keys=True).encode(), says


each_damage = pytest.mark.parametrize("name", [*NOT_JSON, *CHANGED])


@each_damage
def test_damage_stops_the_reader_with_position_and_reason(make_store: MakeStore, name: str) -> None:
    twin = filled(make_store())
    twin.append([shut(6)])
    good = twin.store.last()
    assert good is not None
    body, says = damaged(name, good.body)
    assert body != good.body
    journal = _damaged_since(make_store(), lambda row: row._replace(body=body) if row.position == 8 else row)
    for entries, before in ((journal.entries(), 7), (journal.entries(stream=SB1), 4)):
        seen, error = read(entries)
        assert len(seen) == before
        assert error is not None
        assert error.position == 8
        assert says in str(error)
        assert str(error).startswith("entry 8: ")


@each_damage
def test_damage_stops_a_start(make_store: MakeStore, name: str) -> None:
    """Which reads what happened, and the command only to see that it is one piece of JSON."""
    twin = filled(make_store())
    twin.append([shut(6)])
    body, _ = damaged(name, twin.store.last().body)  # type: ignore[union-attr]
    journal = _damaged_since(make_store(), lambda row: row._replace(body=body) if row.position == 8 else row)
    seen, error = read(journal.events(SB1))  # type: ignore[arg-type]
    if name in {"an unknown command", "the House's command"}:
        assert (len(seen), error) == (5, None)
    else:
        assert (len(seen), error and error.position) == (4, 8)


def test_an_entry_that_hangs_on_nothing_keeps_a_journal_from_opening(make_store: MakeStore) -> None:
    store = make_store()
    filled(store)
    for position in range(1, 8):
        altered = Altered(store, _with_another_actor(position))
        if position == 7:  # nothing hangs on the last one yet: only a checkpoint could tell
            assert Journal(altered).size == 7
            continue
        with pytest.raises(DamagedError, match="broken chain: expected the previous hash") as flaw:
            Journal(altered)
        assert flaw.value.position == position + 1


def _with_another_actor(position: int) -> Callable[[Row], Row]:
    def changed(row: Row) -> Row:
        return row._replace(body=row.body.replace(b'"by":"', b'"by":"X')) if row.position == position else row

    return changed


def _damaged_since(store: Store, changed: Callable[[Row], Row | None], codec: Codec | None = None) -> Journal:
    """A journal that was whole when it was opened."""
    journal = Journal(store, codec)
    journal.store = Altered(store, changed)
    return journal


class Altered:
    """A store that gives some of its rows otherwise than it took them."""

    def __init__(self, store: Store, changed: Callable[[Row], Row | None]) -> None:
        self._store = store
        self._changed = changed

    def rows(self, *, after: int = 0, stream: str | None = None) -> Iterator[Row]:
        """The rows, changed or left out."""
        changed = map(self._changed, self._store.rows(after=after, stream=stream))
        return (row for row in changed if row is not None)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)


def test_a_row_that_is_gone_stops_the_reader_at_the_next(make_store: MakeStore) -> None:
    filled(make_store())
    gone = _damaged_since(make_store(), lambda row: None if row.position == 3 else row)
    for entries, before in ((gone.entries(), 2), (gone.entries(stream=SB1), 1)):
        seen, error = read(entries)
        assert len(seen) == before
        assert error is not None
        assert error.position == 4
        assert "got an entry with position 4, version 3 of table:SB1" in str(error)


def test_rows_in_another_order_stop_the_reader(make_store: MakeStore) -> None:
    filled(make_store())
    journal = Journal(make_store())
    rows = {row.position: row for row in journal.store.rows()}
    swapped = {2: rows[3], 3: rows[2]}
    reader = _damaged_since(journal.store, lambda row: swapped.get(row.position, row))
    seen, error = read(reader.entries())
    assert (len(seen), error and error.position) == (1, 3)


def test_a_journal_whose_own_stream_is_damaged_does_not_open(make_store: MakeStore) -> None:
    store = make_store()
    filled(store)
    with pytest.raises(DamagedError, match="entry 1: not an entry"):
        Journal(Altered(store, lambda row: row._replace(body=b"") if row.position == 1 else row))


def test_a_journal_that_was_never_opened_cannot_be_sealed(make_store: MakeStore) -> None:
    with pytest.raises(JournalError, match="the journal is empty"):
        _ = Journal(make_store()).origin


# Older formats


def in_cents(plain: dict[str, Any]) -> dict[str, Any]:
    """An amount as format 2 would write it, if format 1 had written dollars."""
    return {key: value * 100 if key == "amount" else value for key, value in plain.items()}


OLDER = {1: {"capital-brought": in_cents, "bring-in": in_cents}}


def test_entries_of_an_older_format_are_read_as_they_would_be_written_now(make_store: MakeStore) -> None:
    old = filled(make_store(), Codec(1))
    assert {entry.v for entry in old.entries()} == {1}
    journal = Journal(make_store(), Codec(version=2, migrations=OLDER))
    journal.append([brought(6)])
    told = [_meaning(entry) for entry in journal.entries()]
    assert told == [
        "1 journal-opened",
        "1 shut → table-shut",
        "1 shut → table-shut",
        "1 table-shut",
        "1 bring-in 300 → capital-brought 300",
        "1 shut → table-shut",
        "1 shut → table-shut",
        "2 bring-in 6 → capital-brought 6",
    ]
    bodies = [row.body for row in journal.store.rows()]
    assert [b'"v":1' in body for body in bodies] == [True] * 7 + [False]  # what was written stays as it is
    with pytest.raises(DamagedError, match="entry 8: unknown format: expected format 1 or older, got 2"):
        list(Journal(make_store(), Codec(1)).entries())


def _meaning(entry: Entry) -> str:
    asked: Any = entry.asked
    words = [str(entry.v)]
    if asked is not None:
        words += [asked.__struct_config__.tag, str(getattr(asked, "amount", "")), "→"]
    words.append(str(entry.event.__struct_config__.tag))
    if isinstance(entry.event, CapitalBrought):
        words.append(str(entry.event.amount))
    return " ".join(filter(None, words))


def test_a_whole_evening_of_an_older_format_means_the_same(make_store: MakeStore) -> None:
    engine = Engine(opened(make_store()))
    play(engine, evening(seats=2, rounds=2).batches)
    was = [(entry.event, entry.asked) for entry in engine.journal.entries()]
    now = [
        (entry.event, entry.asked)
        for entry in Journal(make_store(), Codec(version=3, migrations={2: {}})).entries()
    ]
    assert now == was
    assert len(now) > 20


HALFWAY: dict[str, Callable[[dict[str, Any]], Any]] = {
    "no event": lambda one: one.pop("event"),
    "an event that is a list": lambda one: one.update(event=[]),
    "an event that is a number": lambda one: one.update(event=5),
    "no amount": lambda one: one["event"].pop("amount"),
    "an amount in letters": lambda one: one["event"].update(amount="nine"),
    "a command that is a list": lambda one: one.update(asked=["bring-in"]),
}


@pytest.mark.parametrize("name", HALFWAY)
def test_damage_in_an_older_format_is_damage(make_store: MakeStore, name: str) -> None:
    filled(make_store(), Codec(1))
    plain = json.loads(next(row.body for row in make_store().rows(stream=HOUSE_STREAM)))
    HALFWAY[name](plain)
    body = json.dumps(plain).encode()
    codec = Codec(
        version=2, migrations={1: {"capital-brought": lambda one: {**one, "amount": int(one["amount"])}}}
    )
    journal = _damaged_since(
        make_store(), lambda row: row._replace(body=body) if row.stream == HOUSE_STREAM else row, codec
    )
    seen, error = read(journal.entries())
    assert (len(seen), error and error.position) == (4, 5)


def test_a_journal_of_format_1_is_continued_in_format_2(make_store: MakeStore) -> None:
    filled(make_store(), Codec(1))
    journal = Journal(make_store())
    journal.append([shut(6)])
    assert [entry.v for entry in journal.entries()] == [1] * 7 + [2]
    for row, entry in zip(journal.store.rows(), journal.entries(), strict=True):
        assert journal.codec.is_canonical(entry, row.body)
    journal.prove()


ADDED: dict[str, tuple[dict[str, Any], str]] = {
    "a kind": (
        {"event": "referral-ended", "referral": "r1"},
        "expected kinds of format 1, got 'referral-ended'",
    ),
    "a field": (
        {"event": "withdrawal-closed", "others_stay": True},
        "expected fields of format 1 in 'withdrawal-closed', got 'others_stay'",
    ),
}


@pytest.mark.parametrize("name", ADDED)
def test_what_format_2_added_stands_in_no_entry_of_format_1(make_store: MakeStore, name: str) -> None:
    event, got = ADDED[name]
    common = {"at": START, "by": "sue", "clause": "house:table"}
    plain = {
        "position": 2, "previous": "0" * 64, "stream": SB1, "version": 1, "more": 0, "v": 1,
        "event": event | common,
    }  # fmt: skip
    body = json.dumps(plain).encode()
    for codec in (Journal(make_store()).codec, Codec(1)):
        for read_entry in (codec.decode, codec.decode_event):
            with pytest.raises(DamagedError, match=got):
                read_entry(body, 2)
    assert Codec().decode(json.dumps(plain | {"v": 2}).encode(), 2).v == 2


def test_what_is_read_is_canonical_and_anything_else_is_not(make_store: MakeStore) -> None:
    journal = filled(make_store())
    for row, entry in zip(journal.store.rows(), journal.entries(), strict=True):
        assert journal.codec.is_canonical(entry, row.body)
        assert not journal.codec.is_canonical(entry, row.body + b" ")
        assert not journal.codec.is_canonical(entry, row.body.replace(b",", b", ", 1))
    assert Codec(version=2).is_canonical(entry, row.body)
    assert not Codec(version=2).is_canonical(entry, row.body + b" ")


def test_a_journal_in_an_empty_store_is_empty(make_store: MakeStore) -> None:
    journal = Journal(make_store())
    assert (journal.size, journal.identity, journal.key, list(journal.entries())) == (0, None, None, [])
    assert opened(make_store()).size == 1

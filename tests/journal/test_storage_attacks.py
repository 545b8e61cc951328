"""People who can write the file: forged snapshots, parts, trees, entries and secrets, and a second writer."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from contextlib import closing
from hashlib import sha256
from itertools import count
from pathlib import Path
from typing import Final

import apsw
import msgspec
import pytest

from taisai.audit.verify import verified
from taisai.cage.messages import NoteClock, SellTicket
from taisai.game.vocabulary import FLOOR
from taisai.journal import beside
from taisai.journal import reading as reading_module
from taisai.journal.beside import CODE_BYTES, NO_PARTS, TREE, Distrusted, Snapshots, body_of
from taisai.journal.codec import HOUSE_STREAM
from taisai.journal.engine import CATCH_UP, Engine
from taisai.journal.errors import ConflictError, DamagedError, FencedError, JournalError
from taisai.journal.journal import Journal
from taisai.journal.reading import has_entry
from taisai.journal.seals.checkpoints import read_signed
from taisai.journal.seals.secret import SecretError, StorageSecret
from taisai.journal.stores.contract import Store, StoredCheckpoint, StoredSnapshot
from taisai.journal.stores.sqlite import SUFFIX, SqliteStore
from taisai.journal.streams import RECENT
from taisai.server.runtime.background_audit import BackgroundAudit
from tests.game.past_rounds import compiled_once
from tests.journal import thief
from tests.journal.contract import (
    KEY,
    NEXT_KEY,
    SB1,
    SECRET,
    MakeStore,
    OnDisk,
    differences,
    filled,
    play,
    shut,
)
from tests.journal.evening import NAME, START, TABLE_STREAM, Asked, Batch, evening
from tests.journal.test_contract_snapshots import CORRECTIONS

EVENING: Final = evening(seats=2, rounds=RECENT + 4).batches
EVERY: Final = 40


@pytest.fixture(scope="module", autouse=True)
def _terms_compiled_once() -> Iterator[None]:
    with compiled_once():
        yield


def opened(store: SqliteStore) -> Journal:
    """A new journal with its storage secret in the first entry, as `taisai init` opens it."""
    return Journal.opened(
        store, journal="attacked", key=KEY, at=START, by="house", program="taisai test", demonstration=False
    )


def played(on_disk: OnDisk) -> None:
    """An evening in the file, with snapshots, and nobody who has it open."""
    engine = Engine(opened(on_disk()), snapshot_every=EVERY)
    play(engine, EVENING)
    engine.journal.seal(KEY, at=START + 10**9)
    on_disk.close()


def started(on_disk: OnDisk) -> Engine:
    """The next start, by the house, which has its key."""
    return Engine(Journal(on_disk(), key=KEY), snapshot_every=EVERY)


def thieve(on_disk: OnDisk, *statements: tuple[str, tuple[object, ...]]) -> None:
    """What a thief does once the house has let go of the file."""
    on_disk.close()
    thief.thieve(on_disk.path, *statements)


def kept(on_disk: OnDisk, stream: str) -> StoredSnapshot:
    """A snapshot as it is in the file."""
    snapshot = on_disk().snapshot(stream)
    assert snapshot is not None
    return snapshot


def forged(body: bytes, old: bytes, new: bytes) -> bytes:
    assert old in body
    return body.replace(old, new)


# Snapshots


def forge_credits(on_disk: OnDisk) -> None:
    """The most valuable forgery: a snapshot in which the players have more credits than they bought."""
    snapshot = kept(on_disk, TABLE_STREAM)
    state = body_of(snapshot.body)
    richer = re.sub(rb"\b[0-9]{5,}\b", lambda amount: b"9" + amount[0][1:], state)
    body = snapshot.body.replace(state, richer)
    assert body != snapshot.body
    thieve(
        on_disk,
        (
            "UPDATE snapshot SET body = ?, digest = ? WHERE stream = ?",
            (body, sha256(body).digest(), TABLE_STREAM),
        ),
    )


def test_a_forged_snapshot_is_not_believed(on_disk: OnDisk) -> None:
    played(on_disk)
    forge_credits(on_disk)
    engine = started(on_disk)
    assert differences(engine, EVENING) == []
    assert [*engine.journal.distrusted] == [Distrusted("snapshot", TABLE_STREAM)]


def test_sabotage_a_snapshot_whose_code_is_not_compared_is_seen(
    on_disk: OnDisk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(beside, "compare_digest", lambda _ours, _theirs: True)
    with pytest.raises((AssertionError, DamagedError)):
        test_a_forged_snapshot_is_not_believed(on_disk)


@pytest.mark.parametrize("what", [TABLE_STREAM, HOUSE_STREAM, TREE])
def test_a_snapshot_of_the_thiefs_own_secret_is_not_believed(on_disk: OnDisk, what: str) -> None:
    played(on_disk)
    snapshot = kept(on_disk, what)
    content = snapshot.body[CODE_BYTES:]
    code = StorageSecret(bytes(32)).mac("snapshot", "attacked", what, snapshot.version, content)
    body = code + content
    digest = sha256(body).digest()
    thieve(on_disk, ("UPDATE snapshot SET body = ?, digest = ? WHERE stream = ?", (body, digest, what)))
    engine = started(on_disk)
    assert differences(engine, EVENING) == []
    assert [found.kind for found in engine.journal.distrusted] == ["tree" if what == TREE else "snapshot"]


def test_a_snapshot_under_another_version_or_stream_is_not_believed(on_disk: OnDisk) -> None:
    played(on_disk)
    version = kept(on_disk, TABLE_STREAM).version
    for change in ("version = version - 1", "version = version + 1", "stream = 'table:SB9'"):
        copy = on_disk.path.read_bytes()
        thieve(on_disk, (f"UPDATE snapshot SET {change} WHERE stream = ?", (TABLE_STREAM,)))
        engine = started(on_disk)
        assert differences(engine, EVENING) == [], change
        on_disk.close()
        on_disk.path.write_bytes(copy)
    assert kept(on_disk, TABLE_STREAM).version == version


@pytest.mark.parametrize("what", [TABLE_STREAM, TREE])
def test_an_authentic_snapshot_of_another_form_is_made_again(on_disk: OnDisk, what: str) -> None:
    """Of a version of the program that stores something else."""
    played(on_disk)
    journal = Journal(on_disk(), key=KEY)
    assert journal.secret is not None
    version, content = kept(on_disk, what).version, b"\xc0"
    code = Snapshots(journal.store, journal.secret, "attacked")._code("snapshot", what, version, 0, content)
    body = code + content
    digest = sha256(body).digest()
    thieve(on_disk, ("UPDATE snapshot SET body = ?, digest = ? WHERE stream = ?", (body, digest, what)))
    engine = started(on_disk)
    assert differences(engine, EVENING) == []
    assert [*engine.journal.distrusted] == []


def test_a_forged_part_is_not_believed(on_disk: OnDisk) -> None:
    played(on_disk)
    part = on_disk().part(TABLE_STREAM, 1, 10**6)
    assert part is not None
    body = forged(part, b'"stake":', b'"stake":9') if b'"stake":' in part else part[:-1] + b"]"
    digest = sha256(body).digest()
    thieve(on_disk, ("UPDATE part SET body = ?, digest = ? WHERE number = 1", (body, digest)))
    engine = started(on_disk)
    assert differences(engine, EVENING) == []
    assert [*engine.journal.distrusted] == [Distrusted("part", f"{TABLE_STREAM}/1")]


def test_an_older_part_beside_a_newer_snapshot_is_not_believed(on_disk: OnDisk) -> None:
    """It was authentic once: the round as it stood before it was corrected."""
    played(on_disk)
    engine = started(on_disk)
    engine.snapshot(TABLE_STREAM)
    older = list(on_disk.raw("SELECT version, digest, body FROM part WHERE number = 1"))
    play(engine, CORRECTIONS)
    engine.snapshot(TABLE_STREAM)
    (newer,) = on_disk.raw("SELECT version FROM part WHERE number = 1")[0]
    for version in (older[0][0], newer):
        statement = "UPDATE part SET version = ?, digest = ?, body = ? WHERE number = 1"
        thieve(on_disk, (statement, (version, *older[0][1:])))
        assert differences(started(on_disk), EVENING + CORRECTIONS) == []


def test_an_older_snapshot_beside_newer_entries_only_makes_the_start_slower(on_disk: OnDisk) -> None:
    played(on_disk)
    older = on_disk.raw("SELECT * FROM snapshot WHERE stream = ?", TABLE_STREAM)[0]
    engine = started(on_disk)
    play(engine, CORRECTIONS)
    engine.snapshot(TABLE_STREAM)
    statement = "INSERT INTO snapshot VALUES (?, ?, ?, ?)"
    thieve(on_disk, ("DELETE FROM snapshot WHERE stream = ?", (TABLE_STREAM,)), (statement, older))
    assert differences(started(on_disk), EVENING + CORRECTIONS) == []


# Rows of a copy that was continued elsewhere: they have valid codes of the house


def sale(number: int) -> Asked:
    """A ticket that nobody paid for in the other history."""
    at = START + 10**9 + number
    return Asked(HOUSE_STREAM, SellTicket(at=at, by="ann", ticket=f"gift {number}", amount=1_000_000))


def note(number: int) -> Asked:
    return Asked(HOUSE_STREAM, NoteClock(at=START + 10**9 + number, by=FLOOR, jump=1 + number))


SALES: Final = tuple((sale(number),) for number in range(3))
NOTES: Final = tuple((note(number),) for number in range(3))


def forked(on_disk: OnDisk, *batches: Batch, snapshot: str) -> dict[str, list[tuple[object, ...]]]:
    """What a copy of the file holds beside its entries after it was continued; the file is as before."""
    copy = on_disk.path.read_bytes()
    engine = started(on_disk)
    play(engine, batches)
    engine.snapshot(snapshot)
    on_disk.close()
    tables = {name: on_disk.raw(f"SELECT * FROM {name}") for name in ("snapshot", "part")}
    on_disk.path.write_bytes(copy)
    return tables


def put(on_disk: OnDisk, rows: list[tuple[object, ...]], stream: str, table: str = "snapshot") -> None:
    marks = ", ".join("?" * len(rows[0]))
    statements = [(f"INSERT INTO {table} VALUES ({marks})", row) for row in rows if row[0] == stream]
    thieve(on_disk, (f"DELETE FROM {table} WHERE stream = ?", (stream,)), *statements)


@pytest.mark.parametrize("is_kept", [False, True])
@pytest.mark.parametrize("streams", [(HOUSE_STREAM,), (TREE,), (HOUSE_STREAM, TREE)])
def test_a_snapshot_of_another_history_of_this_journal_is_not_believed(
    on_disk: OnDisk, streams: tuple[str, ...], *, is_kept: bool
) -> None:
    """An administrator lets a copy go on for some minutes, and takes what it stored into the original."""
    played(on_disk)
    other = forked(on_disk, *SALES, snapshot=HOUSE_STREAM)
    engine = started(on_disk)
    play(engine, NOTES)
    if is_kept:
        engine.snapshot(HOUSE_STREAM)
    for stream in streams:
        put(on_disk, other["snapshot"], stream)
    engine = started(on_disk)
    assert differences(engine, EVENING + NOTES) == []
    assert engine.journal.distrusted
    play(engine, NOTES[:1])
    assert Journal(on_disk(), key=KEY).size == engine.journal.size, "and it goes on"


def test_a_part_of_another_history_of_this_journal_is_not_believed(on_disk: OnDisk) -> None:
    """The round as it would stand if something else had been found, put away at the same version."""
    played(on_disk)
    other = forked(on_disk, CORRECTIONS[1], snapshot=TABLE_STREAM)
    engine = started(on_disk)
    play(engine, CORRECTIONS[:1])
    engine.snapshot(TABLE_STREAM)
    versions = "SELECT version FROM part WHERE number = 1"
    assert [row[2] for row in other["part"] if row[1] == 1] == [on_disk.raw(versions)[0][0]]
    put(on_disk, other["part"], TABLE_STREAM, "part")
    assert differences(started(on_disk), EVENING + CORRECTIONS[:1]) == []


def test_sabotage_a_snapshot_that_is_not_looked_at_by_its_tree_is_seen(
    on_disk: OnDisk, monkeypatch: pytest.MonkeyPatch
) -> None:
    def trusting(self: Snapshots, stream: str) -> tuple[int, bytes] | None:
        opened = self._open(stream)
        return None if opened is None else (opened.version, opened.kept.body)

    monkeypatch.setattr(Snapshots, "snapshot", trusting)
    with pytest.raises((AssertionError, DamagedError)):
        test_a_snapshot_of_another_history_of_this_journal_is_not_believed(
            on_disk, (HOUSE_STREAM,), is_kept=False
        )


# Journals of before release 0.3, whose head covers the last hash alone


def as_before(on_disk: OnDisk) -> None:
    """Writes head, tree, snapshots and parts in the form that they had before release 0.3."""
    journal = Journal(on_disk(), key=KEY)
    secret = journal.secret
    last = on_disk().last()
    assert secret is not None
    assert last is not None
    mac = secret.mac("head", "attacked", journal.size, leaf(last.body))
    statements: list[tuple[str, tuple[object, ...]]] = [("UPDATE head SET mac = ?", (mac,))]

    def coded(kind: str, stream: str, version: int, number: int, content: bytes) -> tuple[bytes, bytes]:
        code = secret.mac(kind, "attacked", stream, version, number, sha256(content).digest())
        return code + content, sha256(code + content).digest()

    for stream, version in on_disk().snapshots():
        content = msgspec.msgpack.decode(kept(on_disk, stream).body[CODE_BYTES:])
        if stream == TREE:
            content = content[:2]
        else:
            content[1] = content[1][:2]
        stored = coded("snapshot", stream, version, 0, msgspec.msgpack.encode(content))
        statements.append(("UPDATE snapshot SET body = ?, digest = ? WHERE stream = ?", (*stored, stream)))
    for stream, number, version, body in on_disk.raw("SELECT stream, number, version, body FROM part"):
        stored = coded("part", stream, version, number, body[CODE_BYTES:])
        where = "WHERE stream = ? AND number = ?"
        statements.append((f"UPDATE part SET body = ?, digest = ? {where}", (*stored, stream, number)))
    thieve(on_disk, *statements)


def test_a_journal_of_an_earlier_release_starts_and_has_the_new_head_with_its_next_entry(
    on_disk: OnDisk,
) -> None:
    played(on_disk)
    as_before(on_disk)
    head = on_disk().head()
    engine = started(on_disk)
    assert (engine.journal.hashed_from, [*engine.journal.distrusted]) == (0, [])
    assert differences(engine, EVENING) == []
    assert engine.journal.snapshot(HOUSE_STREAM) is None
    assert on_disk().head() == head, "only looked at"
    engine = started(on_disk)
    play(engine, NOTES[:1])
    last = on_disk().last()
    assert last is not None
    journal, secret = engine.journal, engine.journal.secret
    assert secret is not None
    assert on_disk().head() == beside.head_of(secret, "attacked", journal.tree(), leaf(last.body))
    for stream in (HOUSE_STREAM, TABLE_STREAM):
        engine.snapshot(stream)
    engine = started(on_disk)
    assert engine.journal.hashed_from == journal.size
    assert differences(engine, EVENING + NOTES[:1]) == []
    on_disk.close()
    assert verified(on_disk.path).entries == journal.size


@pytest.mark.parametrize("is_earlier", [False, True])
@pytest.mark.parametrize("streams", [(HOUSE_STREAM,), (TREE,), (HOUSE_STREAM, TABLE_STREAM, TREE)])
def test_an_earlier_head_brings_back_no_snapshot_of_another_history(
    on_disk: OnDisk, streams: tuple[str, ...], *, is_earlier: bool
) -> None:
    """A copy is continued; what it stored, in either form, is put beside entries with an earlier head."""
    played(on_disk)
    original = on_disk.path.read_bytes()
    engine = started(on_disk)
    play(engine, SALES[:1])
    for stream in (TABLE_STREAM, HOUSE_STREAM):
        engine.snapshot(stream)
    size = engine.journal.size
    if is_earlier:
        as_before(on_disk)
    other = on_disk.raw("SELECT * FROM snapshot")
    on_disk.close()
    on_disk.path.write_bytes(original)
    engine = started(on_disk)
    play(engine, NOTES)
    assert engine.journal.size >= size, "the tree of the copy is over entries that the original has too"
    as_before(on_disk)
    for stream in streams:
        put(on_disk, other, stream)
    engine = started(on_disk)
    assert engine.journal.hashed_from == 0
    assert differences(engine, EVENING + NOTES) == []
    assert engine.journal.snapshot(HOUSE_STREAM) is None


def test_sabotage_an_earlier_head_that_confirms_a_stored_tree_is_seen(
    on_disk: OnDisk, monkeypatch: pytest.MonkeyPatch
) -> None:
    def trusting(store: Store, secret: StorageSecret, journal: str, read: reading_module.ReadTree) -> bool:
        return store.head() == beside.earlier_head_of(secret, journal, read.tree, read.last)

    monkeypatch.setattr(reading_module, "is_earlier_head", trusting)
    with pytest.raises((AssertionError, DamagedError)):
        test_an_earlier_head_brings_back_no_snapshot_of_another_history(
            on_disk, (HOUSE_STREAM, TABLE_STREAM, TREE), is_earlier=False
        )


def test_an_entry_of_another_program_after_an_earlier_head_is_refused(on_disk: OnDisk) -> None:
    played(on_disk)
    as_before(on_disk)
    appended(on_disk)
    with pytest.raises(DamagedError, match="another program has written to the file"):
        started(on_disk)


def test_parts_know_their_versions() -> None:
    parts = NO_PARTS.stored(range(1, 6), 10, b"a").stored([6, 2], 20, b"b").stored([6, 7], 30, b"c")
    expected = {0: None, 1: 10, 2: 20, 3: 10, 4: 10, 5: 10, 6: 30, 7: 30, 8: None}
    assert {number: parts.version(number) for number in expected} == expected
    assert parts.runs == ((1, 10), (2, 20), (3, 10), (6, 30))
    assert parts.trees == {10: b"a", 20: b"b", 30: b"c"}


def test_streams_with_few_entries_are_snapshotted_too_so_that_a_start_hashes_few(on_disk: OnDisk) -> None:
    """A start hashes from the oldest snapshot that it needs, however long ago the House wrote its last."""
    every = 10
    engine = Engine(opened(on_disk()), snapshot_every=every)
    play(engine, EVENING)
    journal = started(on_disk).journal
    assert journal.size > 10 * every
    assert journal.size - journal.hashed_from <= 2 * CATCH_UP * every


def test_sabotage_without_catching_up_a_start_hashes_more_and_more(
    on_disk: OnDisk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Engine, "_catch_up", lambda _self: None)
    engine = Engine(opened(on_disk()), snapshot_every=10)
    right = Engine.snapshot

    def of_tables(self: Engine, stream: str) -> None:  # as if the House had few entries
        if stream != HOUSE_STREAM:
            right(self, stream)

    monkeypatch.setattr(Engine, "snapshot", of_tables)
    play(engine, EVENING)
    assert started(on_disk).journal.hashed_from == 0


def test_what_names_no_entry_is_of_no_history(on_disk: OnDisk) -> None:
    """What was stored before release 0.3 names none, and a stream has none after its last."""
    played(on_disk)
    store = on_disk()
    first = next(store.rows(stream=TABLE_STREAM))
    assert has_entry(store, TABLE_STREAM, 1, leaf(first.body))
    assert not has_entry(store, TABLE_STREAM, 2, leaf(first.body))
    for version in (0, 1, 10**6):
        assert not has_entry(store, TABLE_STREAM, version, "")


# Entries


def leaf(body: bytes) -> str:
    return sha256(b"\0" + body).hexdigest()


def appended(on_disk: OnDisk) -> None:
    """One more entry, chained as it should be: credits for a friend, say."""
    last = on_disk().last()
    assert last is not None
    before = next(row for row in reversed([*on_disk().rows(stream=TABLE_STREAM)]))
    entry = json.loads(before.body)
    entry |= {
        "position": last.position + 1,
        "previous": leaf(last.body),
        "version": before.version + 1,
        "more": 0,
        "event": {"event": "table-shut", "at": START, "by": "eve", "clause": "house:shut", "reason": "x"},
        "asked": {"command": "shut", "at": START, "by": "eve", "reason": "x"},
    }
    body = json.dumps(entry, ensure_ascii=False, separators=(",", ":"), sort_keys=True).encode()
    stream = "(SELECT id FROM stream WHERE name = ?)"
    thieve(
        on_disk,
        (
            f"INSERT INTO entry VALUES (?, {stream}, ?, ?)",
            (last.position + 1, TABLE_STREAM, before.version + 1, body),
        ),
    )


def test_an_entry_of_another_program_is_refused_at_the_start(on_disk: OnDisk) -> None:
    played(on_disk)
    size = Journal(on_disk(), key=KEY).size
    appended(on_disk)
    with pytest.raises(DamagedError) as told:
        started(on_disk)
    assert f"the first {size:,} are authenticated: another program has written to the file" in str(told.value)
    assert told.value.position == size + 1


def test_sabotage_a_start_that_does_not_look_at_the_head_is_seen(
    on_disk: OnDisk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading_module, "expect_head", lambda *_: None)
    with pytest.raises(pytest.fail.Exception):
        test_an_entry_of_another_program_is_refused_at_the_start(on_disk)


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM entry WHERE position = (SELECT max(position) FROM entry)",
        "DELETE FROM head",
        "UPDATE head SET size = size - 1",
        "UPDATE head SET mac = zeroblob(32)",
        "UPDATE head SET mac = X''",
    ],
)
def test_a_cut_end_or_another_head_is_refused_at_the_start(on_disk: OnDisk, statement: str) -> None:
    played(on_disk)
    thieve(on_disk, (statement, ()))
    with pytest.raises(DamagedError, match="expected the end of the journal as this house wrote it"):
        started(on_disk)


def altered(on_disk: OnDisk, position: int) -> None:
    """An entry with another person in it; what follows does not fit any more."""
    (body,) = on_disk.raw("SELECT body FROM entry WHERE position = ?", position)[0]
    changed = re.sub(rb'"at":([0-9]+)', rb'"at":1\1', body, count=1)
    assert changed != body
    thieve(on_disk, ("UPDATE entry SET body = ? WHERE position = ?", (changed, position)))


def test_an_entry_changed_since_the_snapshots_is_refused_at_the_start(on_disk: OnDisk) -> None:
    played(on_disk)
    engine = started(on_disk)
    position = engine.journal.hashed_from + 1
    assert position > 10, "the start did not hash all of them"
    altered(on_disk, position)
    with pytest.raises(DamagedError):
        started(on_disk).table(NAME)


def test_an_entry_changed_before_the_snapshots_is_found_in_the_background(on_disk: OnDisk) -> None:
    """The start goes on from the snapshots, which are right; the audit finds the entry, and it stays out."""
    played(on_disk)
    altered(on_disk, 6)
    engine = started(on_disk)
    assert differences_of_state(engine) == []
    audit = BackgroundAudit(on_disk.path, size=engine.journal.size, root=engine.journal.root())
    with closing(audit), pytest.raises(DamagedError) as told:
        through(audit)
    assert told.value.position in (6, 7)
    checkpoint = read_signed(engine.journal.seal(KEY, at=START + 10**10)).checkpoint
    on_disk.close()
    with pytest.raises(DamagedError):
        verified(on_disk.path)
    assert checkpoint.root == engine.journal.root(), "what is signed is what was written"


def through(audit: BackgroundAudit) -> int:
    """Runs it to its end; how many steps that takes."""
    return next(step for step in count(1) if audit.step(most=50))


def differences_of_state(engine: Engine) -> list[str]:
    return [wrong for wrong in differences(engine, EVENING) if wrong != "the root"]


def test_the_background_audit_of_a_sound_journal_is_silent(on_disk: OnDisk) -> None:
    played(on_disk)
    engine = started(on_disk)
    audit = BackgroundAudit(on_disk.path, size=engine.journal.size, root=engine.journal.root())
    with closing(audit):
        steps = through(audit)
        assert audit.done == engine.journal.size
        assert steps == -(-engine.journal.size // 50), "no step takes more than it may"
    assert audit.step(), "a closed audit is over"


def test_the_background_audit_compares_the_whole_past(on_disk: OnDisk) -> None:
    """Another journal, valid in itself, in place of the one that the start has authenticated."""
    played(on_disk)
    size = Journal(on_disk(), key=KEY).size
    with (
        closing(BackgroundAudit(on_disk.path, size=size, root=bytes(32))) as audit,
        pytest.raises(DamagedError, match="expected the root 0000"),
    ):
        audit.step(most=10**6)


def test_an_entry_put_in_place_of_an_old_one_does_not_reach_a_table(on_disk: OnDisk) -> None:
    """At a place before the snapshots, which a start does not hash, as if it were the table's next event."""
    played(on_disk)
    rows = [*on_disk().rows(stream=TABLE_STREAM)]
    last, old = rows[-1], rows[5].position
    entry = json.loads(last.body) | {"position": old, "version": last.version + 1}
    body = json.dumps(entry, ensure_ascii=False, separators=(",", ":"), sort_keys=True).encode()
    stream = "(SELECT id FROM stream WHERE name = ?)"
    statement = f"UPDATE entry SET body = ?, version = ?, stream = {stream} WHERE position = ?"
    thieve(on_disk, (statement, (body, last.version + 1, TABLE_STREAM, old)))
    with pytest.raises(DamagedError, match=f"expected {last.version} entries of {TABLE_STREAM}, got "):
        started(on_disk).table(NAME)


def test_entries_hidden_from_a_table_are_missed(on_disk: OnDisk) -> None:
    played(on_disk)
    engine = started(on_disk)
    version = engine.journal.version(TABLE_STREAM)
    play(engine, CORRECTIONS[:1])  # after the snapshot
    thieve(
        on_disk,
        ("UPDATE entry SET stream = 2 WHERE version > ? AND stream = (SELECT id FROM stream WHERE name = ?)",
         (version, TABLE_STREAM)),
    )  # fmt: skip
    with pytest.raises(DamagedError):
        started(on_disk).table(NAME)


# The vault


@pytest.fixture
def vault(on_disk: OnDisk) -> OnDisk:
    journal = opened(on_disk())
    journal.store.keep_secret("staff/ann", b'{"totp":"JBSWY3DP"}')
    journal.store.keep_secret("staff/bob", b'{"totp":"MFRGGZDF"}')
    on_disk.close()
    return on_disk


def test_a_thief_of_the_file_reads_no_secret(vault: OnDisk) -> None:
    everything = b"".join(path.read_bytes() for path in vault.path.parent.iterdir())
    assert b"JBSWY3DP" not in everything
    assert b"staff/ann" in everything, "the names are no secret"
    journal = Journal(vault(), key=KEY)
    assert journal.store.secret("staff/ann") == b'{"totp":"JBSWY3DP"}'
    assert journal.distrusted == []


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE vault SET body = CAST('{\"totp\":\"AAAAAAAA\"}' AS BLOB) WHERE name = 'staff/ann'",
        "UPDATE vault SET body = (SELECT body FROM vault WHERE name = 'staff/bob') WHERE name = 'staff/ann'",
        "UPDATE vault SET body = zeroblob(length(body)) WHERE name = 'staff/ann'",
        "UPDATE vault SET body = X'' WHERE name = 'staff/ann'",
    ],
)
def test_a_secret_that_was_replaced_or_moved_counts_as_absent(vault: OnDisk, statement: str) -> None:
    thieve(vault, (statement, ()))
    journal = Journal(vault(), key=KEY)
    assert journal.store.secret("staff/ann") is None
    assert journal.store.secret("staff/bob") == b'{"totp":"MFRGGZDF"}'
    assert [*journal.distrusted] == [Distrusted("vault", "staff/ann")]
    assert [*journal.unsealed()] == ["staff/ann"]


def test_a_secret_that_was_deleted_is_absent(vault: OnDisk) -> None:
    thieve(vault, ("DELETE FROM vault WHERE name = 'staff/ann'", ()))
    assert Journal(vault(), key=KEY).store.secret("staff/ann") is None


# Who may open it


def test_the_journal_is_written_to_with_its_key_alone(vault: OnDisk) -> None:
    for journal in (Journal(vault()), Journal(vault(), key=NEXT_KEY)):
        assert journal.secret is None
        with pytest.raises(JournalError, match="it is written to with the house key"):
            journal.append([shut(1)])


def test_a_secret_that_was_changed_opens_nothing(vault: OnDisk) -> None:
    (body,) = vault.raw("SELECT body FROM entry WHERE position = 1")[0]
    wrapped = json.loads(body)["event"]["secret"]
    for other in ("AAAA" + wrapped[4:], "?"):
        changed = body.replace(wrapped.encode(), other.encode())
        thieve(vault, ("UPDATE entry SET body = ? WHERE position = 1", (changed,)))
        with pytest.raises(SecretError, match="was not wrapped by the house key"):
            Journal(vault(), key=KEY)


def test_the_next_key_opens_the_same_secret(vault: OnDisk) -> None:
    journal = Journal(vault(), key=KEY)
    with pytest.raises(JournalError, match="expected the private key second"):
        journal.rotate(KEY, NEXT_KEY.public, at=START, by="Ann")
    journal.rotate(KEY, NEXT_KEY, at=START, by="Ann")
    journal.seal(NEXT_KEY, at=START)
    again = Journal(vault(), key=NEXT_KEY)
    assert again.secret == journal.secret
    assert again.store.secret("staff/ann") == b'{"totp":"JBSWY3DP"}'
    assert Journal(vault(), key=KEY).secret is None, "the old key signs nothing any more"
    vault.close()
    assert verified(vault.path, key=KEY.public).checkpoints == 1


def test_a_journal_opened_without_a_secret_gets_one(on_disk: OnDisk) -> None:
    journal = filled(on_disk())
    journal.store.keep_secret("staff/ann", b"plain")
    journal = Journal(on_disk(), key=KEY)
    assert (journal.secret, [*journal.unsealed()]) == (None, ["staff/ann"])
    journal.authenticate(KEY, at=START + 100, by="Ann")
    assert journal.store.secret("staff/ann") is None, "nobody has vouched for it"
    journal.append([shut(9)])
    again = Journal(on_disk(), key=KEY)
    assert again.secret is not None
    assert again.size == 9
    with pytest.raises(JournalError, match="the journal has its storage secret already"):
        again.authenticate(KEY, at=START + 100, by="Ann")


# Two writers


def test_a_writer_that_was_replaced_writes_nothing_more(on_disk: OnDisk) -> None:
    """The lock file was deleted, and another server started beside the first."""
    stale = filled(on_disk(), secret=SECRET)
    (on_disk.path.parent / f"{on_disk.path.name}{SUFFIX}").unlink()
    with closing(SqliteStore(on_disk.path)) as store:
        stale.store.expect_writer()
        latest = Journal(store, secret=SECRET)
        latest.append([shut(6)])
        latest.seal(KEY, at=START + 6)
        acts: tuple[Callable[[], object], ...] = (
            lambda: stale.append([shut(7)]),
            lambda: stale.seal(KEY, at=START + 7),
            lambda: stale.keep(SB1, b"{}", {}),
            lambda: stale.store.keep_secret("staff/ann", b"x"),
            stale.store.forget,
            stale.store.expect_writer,
        )
        for act in acts:
            with pytest.raises(FencedError, match="another process has written to the journal"):
                act()
        latest.append([shut(8)])
        assert (latest.size, store.version(SB1)) == (9, 6)
        assert [checkpoint.size for checkpoint in store.checkpoints()] == [8]
        assert store.snapshots() == []
        assert store.secrets() == []


def test_sabotage_a_writer_that_does_not_look_at_its_number_is_seen(
    on_disk: OnDisk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(SqliteStore, "_expect_fence", lambda *_: None)
    with pytest.raises((pytest.fail.Exception, JournalError)):
        test_a_writer_that_was_replaced_writes_nothing_more(on_disk)


# Checkpoints


def test_a_checkpoint_over_fewer_entries_is_not_stored(make_store: MakeStore) -> None:
    store = make_store()
    filled(store).seal(KEY, at=START)
    with pytest.raises(ConflictError, match="over 7 entries or more, as the one before it, got one over 6"):
        store.seal(StoredCheckpoint(6, "x"))
    store.seal(StoredCheckpoint(7, "once more"))


def test_no_program_can_store_a_checkpoint_over_fewer_entries(on_disk: OnDisk) -> None:
    filled(on_disk()).seal(KEY, at=START)
    with pytest.raises(apsw.ConstraintError, match="over fewer entries than the one before"):
        on_disk.raw("INSERT INTO checkpoint (size, text) VALUES (6, 'x')")


def test_a_late_checkpoint_of_the_past_is_told_and_does_no_harm(tmp_path: Path) -> None:
    on_disk = OnDisk(tmp_path)
    played(on_disk)
    journal = started(on_disk).journal
    earlier = journal.seal(KEY, at=START + 10**10)
    size = journal.size
    engine = started(on_disk)
    play(engine, CORRECTIONS[:1])
    later = engine.journal.seal(KEY, at=START + 10**10)
    thieve(
        on_disk,
        ("DELETE FROM checkpoint", ()),
        ("INSERT INTO checkpoint (size, text) VALUES (?, ?)", (engine.journal.size, later)),
        ("INSERT INTO checkpoint (size, text) VALUES (?, ?)", (size, earlier)),
    )
    report = verified(on_disk.path)
    assert (report.checkpoints, report.sealed) == (2, report.entries)
    before = engine.journal.size
    expected = f"a checkpoint over {size:,} entries was stored after one over {before:,}"
    assert report.late_checkpoints == (expected,)
    assert on_disk().backwards() == [(before, size)]
    again = Journal(on_disk(), key=KEY)
    again.prove()
    again.append([shut(10, "table:SB9")])
    again.seal(KEY, at=START + 10**10)
    on_disk.close()

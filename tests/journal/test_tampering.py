"""Tampering: whatever is done to a journal or its export is found, and the position named."""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Callable, Iterator
from functools import lru_cache
from itertools import repeat
from pathlib import Path
from random import Random
from shutil import copyfile
from typing import Any, Final, NamedTuple

import apsw
import pytest

from taisai.audit import verified
from taisai.audit.chain import Chain
from taisai.audit.rules_check import RulesCheck
from taisai.journal.errors import DamagedError, JournalError
from taisai.journal.seals.checkpoints import read_signed
from taisai.journal.stores.sqlite_reader import SqliteReader
from tests.journal.small_journal import NEW, canonical, forged, on_disk, small_export, text_of
from tests.tiers import LONG, one_in
from tools import verify_export

pytestmark = pytest.mark.part(name="tampering")

PARTS: Final = 4
_READ_ONCE: Final = lru_cache(maxsize=100)(tomllib.loads)
STORY: Final = ("three-card-plain-round",)
STORIES: Final = ("three-card-plain-round", "rws-late-bets", "rws-wrong-result", "rws-die-damaged")


class Found(NamedTuple):
    """What both verifiers say of an export: the position of the flaw, or none."""

    ours: int | None
    theirs: int | None


def asked(path: Path, lines: bytes, held: str | None = None) -> Found:
    """The audit and the stand-alone verifier, on the same bytes."""
    path.write_bytes(lines)
    given = [held] if held else []
    try:
        verified(path, held=[read_signed(text) for text in given])
        ours = None
    except DamagedError as flaw:
        ours = flaw.position
    try:
        verify_export.verify(lines.splitlines(keepends=True), None, given)
        theirs = None
    except verify_export.Flaw as flaw:
        theirs = flaw.position
    return Found(ours, theirs)


# Exports


@pytest.fixture(autouse=True)
def books_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A hundred thousand exports store the same few rulebooks, and TOML is slow to read."""
    monkeypatch.setattr(tomllib, "loads", _READ_ONCE)


@pytest.mark.parametrize("part", range(PARTS))
def test_every_byte_of_an_export_altered_is_found_at_its_entry(part: int, tmp_path: Path) -> None:
    """Every byte in the long tier; in the short one every eighteenth, and of the rulebook's text, half of it
    all, every 126th.
    """
    good = text_of(small_export(*STORY))
    assert asked(tmp_path / "export", good) == (None, None)
    random = Random(part)
    book = range(good.index(b'"text":"'), good.index(b'"},"more"', good.index(b'"text":"')))
    for place, position in enumerate(_positions(good)):
        stride = 1 if LONG else 126 if place in book else 18
        if place % PARTS == part and not place // PARTS % stride:
            flipped = bytearray(good)
            flipped[place] ^= random.randrange(1, 256)
            found = asked(tmp_path / "export", bytes(flipped))
            for named in found:
                assert named in {position, position + 1}, f"byte {place} of entry {position}: {found}"


def _positions(text: bytes) -> Iterator[int]:
    """Byte by byte, the position of the entry that it belongs to, or that a checkpoint or the end follows."""
    position = 0
    for line in text.splitlines(keepends=True):
        position += line.startswith((b'{"asked"', b'{"event"'))
        yield from repeat(position, len(line))


def test_entries_dropped_are_found(tmp_path: Path) -> None:
    lines = small_export(*STORIES)
    for place, line in enumerate(lines):
        found = asked(tmp_path / "export", text_of([*lines[:place], *lines[place + 1 :]]))
        if line.startswith(b'{"checkpoint"'):
            assert found == (None, None)  # fewer are sealed, which the report says
        else:
            assert None not in found, (place, line[:60])


def test_entries_swapped_are_found(tmp_path: Path) -> None:
    lines = small_export(*STORIES)
    for one in range(len(lines) - 1):
        for other in {one + 1, (one * 7 + 3) % len(lines)} - {one}:
            swapped = list(lines)
            swapped[one], swapped[other] = swapped[other], swapped[one]
            assert None not in asked(tmp_path / "export", text_of(swapped)), (one, other)


def test_entries_inserted_are_found(tmp_path: Path) -> None:
    lines = small_export(*STORIES)
    for place in one_in("entries inserted", range(len(lines)), 4):
        for inserted in (lines[place], lines[0], b"", b"{}", canonical({"entry": 1})):
            altered = [*lines[: place + 1], inserted, *lines[place + 1 :]]
            found = asked(tmp_path / "export", text_of(altered))
            if inserted.startswith(b'{"checkpoint"'):
                assert found == (None, None)  # the same one twice proves no less
            else:
                assert None not in found, (place, inserted[:60])


def test_a_cut_before_a_checkpoint_that_the_verifier_holds_is_found(tmp_path: Path) -> None:
    """However well the rest is sealed again, whoever kept a checkpoint knows."""
    lines = small_export(*STORIES)
    sealed = [json.loads(line)["checkpoint"] for line in lines if line.startswith(b'{"checkpoint"')]
    size = int(sealed[-1].split("\n")[1])
    for kept in range(1, size):
        cut = text_of(forged(lines, lambda entries, kept=kept: entries[:kept]))  # type: ignore[misc]
        ours, theirs = asked(tmp_path / "export", cut, sealed[-1])
        assert ours is not None, kept
        assert theirs is not None, kept
        assert kept <= ours <= kept + 1
        assert kept <= theirs <= kept + 1


def test_an_altered_past_sealed_again_is_found_by_anyone_who_holds_a_checkpoint(tmp_path: Path) -> None:
    lines = small_export(*STORIES)
    sealed = [json.loads(line)["checkpoint"] for line in lines if line.startswith(b'{"checkpoint"')]

    def renamed(entries: list[dict[str, Any]]) -> None:
        entries[0]["event"]["program"] = "another"

    altered = text_of(forged(lines, renamed))
    assert asked(tmp_path / "export", altered) == (None, None)  # a journal of its own, by the same keys
    for text in sealed:
        assert asked(tmp_path / "export", altered, text) == (int(text.split("\n")[1]),) * 2


def test_a_chain_that_is_not_looked_at_lets_tampering_through(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Sabotage: without the chain's check the tests above would fail."""
    lines = list(small_export(*STORIES))
    place = next(n for n, line in enumerate(lines) if b'"player":"' in line)
    lines[place] = lines[place].replace(b'"player":"', b'"player":"X')
    assert None not in asked(tmp_path / "export", text_of(lines))
    monkeypatch.setattr(Chain, "_check_place", lambda *_: None)
    monkeypatch.setattr(Chain, "check", lambda *_: None)
    monkeypatch.setattr(Chain, "end", lambda *_: None)
    assert asked(tmp_path / "export", text_of(lines)).ours is None


# By someone who has the keys


class Forgery(NamedTuple):
    """A lie that is chained and signed as well as the truth."""

    event: str
    """The kind of entry that is changed."""
    change: Callable[[list[dict[str, Any]], int], None]
    says: str
    """What the audit says of it, in part."""
    after: int = 0
    """How many entries later the flaw is."""


def _event(**fields: Any) -> Callable[[list[dict[str, Any]], int], None]:
    def change(entries: list[dict[str, Any]], place: int) -> None:
        for name, value in fields.items():
            was = entries[place]["event"][name]
            entries[place]["event"][name] = value(was) if callable(value) else value

    return change


def _both(**fields: Any) -> Callable[[list[dict[str, Any]], int], None]:
    """Command and event alike."""

    def change(entries: list[dict[str, Any]], place: int) -> None:
        event, asked = entries[place]["event"], entries[place]["asked"]
        slips = [slip for slip in asked.get("bets", ()) if slip["id"] == event["id"]]
        for message in (event, asked, *slips):
            message |= {name: value for name, value in fields.items() if name in message}

    return change


def _drop(entries: list[dict[str, Any]], place: int) -> None:
    """The whole decision that an entry belongs to."""
    while "asked" not in entries[place]:
        place -= 1
    del entries[place : place + entries[place]["more"] + 1]


def _moved_past_close(entries: list[dict[str, Any]], place: int) -> None:
    """A bet that came after the close, as if it had been taken."""
    close = next(n for n in range(place, len(entries)) if entries[n]["event"]["event"] == "bets-closed")
    entries.insert(close, entries.pop(place))


FORGERIES: Final = {
    "a stake grew after it was registered": Forgery("bet-registered", _event(stake=777), "stake"),
    "a bet lies on another area": Forgery("bet-registered", _both(area="big"), "round-settled"),
    "a bet over the maximum": Forgery("bet-registered", _both(stake=10**9), "refuse"),
    "a stake that is not whole": Forgery("bet-registered", _both(stake=-1), "refuse"),
    "a late bet": Forgery("bet-registered", _moved_past_close, "late"),
    "a settlement that pays too little": Forgery("round-settled", _event(won=lambda was: was - 1), "won"),
    "a settlement that collects too much": Forgery(
        "round-settled", _event(collected=lambda was: was + 1), "collected"
    ),
    "other dice at the settlement": Forgery("round-settled", _event(faces=[6, 6, 6]), "faces"),
    "winners paid less": Forgery("winners-paid", _event(paid=lambda was: was - 1), "paid"),
    "more credits than were bought": Forgery("credits-bought", _event(amount=10**6), "amount"),
    "a result by someone who may not": Forgery("result-entered", _both(by="Mallory"), "refuse"),
    "another clause": Forgery("bets-opened", _event(clause="9.9"), "clause"),
    "another time": Forgery("bets-opened", _event(at=1), "at"),
    "terms that were not in force": Forgery("bets-opened", _event(terms="sha256:00"), "terms"),
    "a close that never was": Forgery("bets-closed", _drop, "expected"),
    "a void that never was": Forgery("round-voided", _drop, "refuse this command"),
    "another rulebook": Forgery("table-opened", _event(digest="sha256:00"), "rulebook"),
    "a rulebook with better odds": Forgery(
        "rulebook-stored", _event(text=lambda was: was.replace(" to 1", "0 to 1", 1)), "rulebook"
    ),
    "a ticket worth more than was paid": Forgery("ticket-sold", _event(amount=6_000), "amount"),
    "an event without its command": Forgery(
        "bets-closed", lambda entries, place: entries[place].pop("asked"), "command"
    ),
}


def _forge(name: str) -> tuple[bytes, int]:
    """The forged export, and where the lie stands."""
    forgery, lines = FORGERIES[name], small_export(*STORIES)
    entries = [json.loads(line) for line in lines if b'"position":' in line]
    places = [
        place
        for place, one in enumerate(entries)
        if one["event"]["event"] == forgery.event
        and (forgery.event != "bet-registered" or ("asked" in one and not one["more"]))
    ]
    assert places, forgery.event
    place = places[0]

    def change(entries: list[dict[str, Any]]) -> None:
        forgery.change(entries, place)

    return text_of(forged(lines, change)), place + 1


@pytest.mark.parametrize("name", FORGERIES)
def test_even_the_holder_of_the_keys_is_found(name: str, tmp_path: Path) -> None:
    text, position = _forge(name)
    (tmp_path / "export").write_bytes(text)
    with pytest.raises(DamagedError) as flaw:
        verified(tmp_path / "export")
    assert FORGERIES[name].says in flaw.value.problem
    if FORGERIES[name].says in {"late", "round-settled", "expected", "refuse this command"}:
        assert flaw.value.position > position - 3, "it is found where it first matters"
    else:
        assert flaw.value.position == position, flaw.value


@pytest.mark.parametrize(
    "name", sorted(FORGERIES.keys() - {"an event without its command"})
)  # which the chain finds
def test_without_deciding_again_the_holder_of_the_keys_gets_away(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Sabotage: it is the second decision that finds him, and no other check."""
    text, _ = _forge(name)
    (tmp_path / "export").write_bytes(text)
    monkeypatch.setattr(RulesCheck, "take", lambda *_: None)
    assert verified(tmp_path / "export").sealed


# The file


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A journal in a file of small pages: less of it is empty."""
    path = on_disk(tmp_path_factory.mktemp("file") / "small.journal", *STORY)
    connection = apsw.Connection(str(path))
    connection.pragma("journal_mode", "delete")
    connection.pragma("page_size", 512)
    connection.execute("VACUUM")
    connection.pragma("journal_mode", "wal")
    connection.close()
    return path


def content(path: Path) -> list[Any]:
    """Everything that a reader can get out of a journal's file, by each way that there is."""
    reader = SqliteReader(path)
    try:
        streams = reader.streams()
        return [
            sorted(reader.definition()),
            list(reader.rows()),
            [list(reader.rows(stream=stream)) for stream in streams],
            [(stream, reader.version(stream), reader.snapshot(stream)) for stream in (*streams, "tree")],
            reader.snapshots(),
            [
                [(number, reader.part(stream, number, version)) for number in reader.parts(stream, version)]
                for stream, version in reader.snapshots()
            ],
            reader.checkpoints(),
            reader.last(),
        ]
    finally:
        reader.close()


@pytest.mark.parametrize("part", range(PARTS))
def test_every_byte_of_the_file_altered_is_found_or_changes_nothing(
    part: int, file: Path, tmp_path: Path
) -> None:
    """Every byte in the long tier, every thirtieth in the short one, from where the seed says."""
    good, before = file.read_bytes(), content(file)
    assert verified(file).snapshots == 2
    stride = PARTS if LONG else 30 * PARTS
    random = Random(seed := int(os.environ.get("TAISAI_SEED", "11")))
    copy, unchanged, found = tmp_path / "copy.journal", 0, 0
    for place in range(part + PARTS * random.randrange(stride // PARTS), len(good), stride):
        flipped = bytearray(good)
        flipped[place] ^= random.randrange(1, 256)
        copy.write_bytes(flipped)
        if _finds(copy):
            found += 1
            continue
        unchanged += 1
        assert content(copy) == before, f"TAISAI_SEED={seed}, byte {place}"
    assert found > unchanged, "most of a file is what was written"


def _finds(path: Path) -> str | None:
    try:
        verified(path)
    except JournalError as flaw:
        return str(flaw)
    return None


ATTACKS: Final = {
    "an entry changed": "UPDATE entry SET body = CAST(replace(CAST(body AS TEXT), '\"stake\":',"
    " '\"stake\":1') AS BLOB)"
    " WHERE position = (SELECT max(position) FROM entry WHERE CAST(body AS TEXT) LIKE '%bet-registered%')",
    "an entry deleted": "DELETE FROM entry WHERE position = 12",
    "the last entry deleted": "DELETE FROM entry WHERE position = (SELECT max(position) FROM entry)",
    "the last checkpoint and its entry deleted": "DELETE FROM checkpoint WHERE size = 29;"
    "DELETE FROM entry WHERE position = 29; DELETE FROM snapshot; DELETE FROM part",
    "two entries exchanged": "UPDATE entry SET position = -1 WHERE position = 12;"
    "UPDATE entry SET position = 12 WHERE position = 13; UPDATE entry SET position = 13 WHERE position = -1",
    "an entry in another stream": "UPDATE entry SET stream = 1, version = 900 WHERE position = 14",
    "another version": "UPDATE entry SET version = 900 WHERE position = 14",
    "a stream renamed": "UPDATE stream SET name = 'table:SB9' WHERE name = 'table:SB1'",
    "a checkpoint changed": "UPDATE checkpoint SET text = replace(text, 'time 1', 'time 2')",
    "a checkpoint under another size": "UPDATE checkpoint SET size = size - 1 WHERE number = 2",
    "a snapshot changed": "UPDATE snapshot SET body = CAST(replace(CAST(body AS TEXT), '1', '2') AS BLOB)",
    "a round that was put away changed": "UPDATE part SET"
    " body = CAST(replace(CAST(body AS TEXT), '1', '2') AS BLOB)",
    "a snapshot of entries that never were": "UPDATE snapshot SET version = version + 1",
    "a trigger gone": "DROP TRIGGER entry_is_not_deleted",
    "a table more": "CREATE TABLE secret (text TEXT)",
}


@pytest.mark.parametrize("name", ATTACKS)
def test_someone_with_the_file_and_sql_is_found(name: str, file: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy.journal"
    copyfile(file, copy)
    connection = apsw.Connection(str(copy))
    triggers = connection.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'").fetchall()
    for trigger, _ in triggers if not name.startswith("a trigger") else ():
        connection.execute(f"DROP TRIGGER {trigger}")
    connection.execute(ATTACKS[name])
    for _, sql in triggers if not name.startswith("a trigger") else ():
        connection.execute(str(sql))
    connection.close()
    if name == "the last checkpoint and its entry deleted":  # only whoever kept it elsewhere can know
        held = read_signed(SqliteReader(file).checkpoints()[-1].text)
        assert verified(copy).sealed < verified(file).sealed
        with pytest.raises(DamagedError, match="cut"):
            verified(copy, held=[held])
        return
    assert _finds(copy)


# What the report says


def test_what_is_not_sealed_is_counted(tmp_path: Path) -> None:
    lines = list(small_export(*STORIES))
    last = max(n for n, line in enumerate(lines) if line.startswith(b'{"checkpoint"'))
    del lines[last]
    (tmp_path / "export").write_bytes(text_of(lines))
    report = verified(tmp_path / "export")
    assert 0 < report.tail == report.entries - report.sealed
    assert not report.is_key_given


def test_a_journal_of_another_key_is_refused(tmp_path: Path) -> None:
    from taisai.journal.seals.keys import SigningKey

    (tmp_path / "export").write_bytes(text_of(small_export(*STORIES)))
    assert verified(tmp_path / "export", key=NEW.public).sealed
    with pytest.raises(DamagedError, match="signed by"):
        verified(tmp_path / "export", key=SigningKey.new("x", seed=bytes(32)).public)

"""The audit makes every draw again: by its seed, and by the very entry that closed bets."""

from __future__ import annotations

import json
from collections.abc import Callable
from hashlib import sha256
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from taisai.audit import verified
from taisai.audit.rules_check import DrawCheck
from taisai.cli import main
from taisai.game.commands import CommitSeed
from taisai.game.dice.draw import Throw
from taisai.game.dice.seeds import drawn_by
from taisai.game.vocabulary import SHAKER
from taisai.journal.engine import Engine
from taisai.journal.errors import DamagedError
from taisai.journal.journal import Journal
from taisai.journal.stores.contract import MemoryStore
from taisai.journal.stores.sqlite import SqliteStore
from taisai.rules import Act
from tests.journal.seeded_journal import DRAWS, MBS, US, Shaken, export, mbs_round, seed_of, us_round, written
from tests.journal.small_journal import AT, ID, OLD, canonical, exported, text_of
from tests.journal.small_journal import forged as forged_entries

Entries = list[dict[str, Any]]


def audited(folder: Path, lines: list[bytes]) -> None:
    """An audit of these lines."""
    path = folder / "export.jsonl"
    path.write_bytes(text_of(lines))
    verified(path)


def hash_of(entry: dict[str, Any]) -> str:
    """The hash of an entry as it stands."""
    return sha256(b"\x00" + canonical(entry)).hexdigest()


def chained(entries: Entries, upto: int) -> None:
    """Chains entries again, as far as someone needs their hashes."""
    for before, entry in pairwise(entries[: upto + 1]):
        entry["previous"] = hash_of(before)


def of_kind(entries: Entries, kind: str, stream: str) -> list[int]:
    """The places of a table's events of a kind."""
    return [
        place
        for place, entry in enumerate(entries)
        if entry["event"]["event"] == kind and entry["stream"] == f"table:{stream}"
    ]


def test_every_draw_is_proven_and_counted(tmp_path: Path) -> None:
    path = tmp_path / "export.jsonl"
    path.write_bytes(text_of(export()))
    assert verified(path).draws == DRAWS


def test_a_journals_file_proves_the_same_with_its_snapshots(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"
    journal = written(SqliteStore(path))
    engine = Engine(journal)
    for name in ("D1", "D2", "D3"):
        assert engine.table(name).revealed is not None
        engine.snapshot(f"table:{name}")
    journal.close()
    report = verified(path)
    assert (report.draws, report.snapshots) == (DRAWS, 4)


def test_the_command_tells_the_draws(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "export.jsonl"
    path.write_bytes(text_of(export()))
    assert main(["audit", "verify", str(path)]) == 0
    assert f"✓ {DRAWS} draws of the demonstration shaker made again" in capsys.readouterr().out
    assert main(["audit", "verify", str(path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["draws"] == DRAWS


# Forgeries, by someone who holds the key: numbered, chained and signed again


def redrawn(entries: Entries, table: str, place: int, closed: int) -> None:
    """A draw made by another entry than the close, and everything in that round by the rules otherwise."""
    revealed = entries[place]
    chained(entries, place)
    other = hash_of(entries[closed])
    number = revealed["event"]["round"]
    (reading,) = [
        entry
        for entry in entries
        if entry["stream"] == f"table:{table}"
        and entry["event"]["event"] == "reading-taken"
        and entry["event"]["round"] == number
    ]
    throw = Throw(table, number, 1, bytes.fromhex(other))
    faces = list(drawn_by(seed_of(table, number), throw, tuple(reading["event"]["cards"])))
    for message in (reading["event"], reading["asked"], revealed["event"], revealed["asked"]):
        message["faces"] = faces
    for message in (revealed["event"], revealed["asked"]):
        message |= {"close": closed + 1, "hash": other}


def by_the_opening(entries: Entries) -> None:
    """Drawn by what was known before any bet was laid."""
    redrawn(
        entries, "D1", of_kind(entries, "seed-revealed", "D1")[-1], of_kind(entries, "bets-opened", "D1")[-1]
    )


def by_an_earlier_close(entries: Entries) -> None:
    """Drawn by the close of the round before."""
    redrawn(
        entries, "D1", of_kind(entries, "seed-revealed", "D1")[-1], of_kind(entries, "bets-closed", "D1")[0]
    )


def by_another_table(entries: Entries) -> None:
    """Drawn by the close of another table."""
    redrawn(
        entries, "D3", of_kind(entries, "seed-revealed", "D3")[-1], of_kind(entries, "bets-closed", "D1")[-1]
    )


def by_a_hash_of_nothing(entries: Entries) -> None:
    """The right position, with the hash of the entry after it."""
    place = of_kind(entries, "seed-revealed", "D1")[-1]
    close = of_kind(entries, "bets-closed", "D1")[-1]
    redrawn(entries, "D1", place, close + 1)
    for message in (entries[place]["event"], entries[place]["asked"]):
        message["close"] = close + 1


def at_another_position(entries: Entries) -> None:
    """The right hash, said to be of another entry."""
    place = of_kind(entries, "seed-revealed", "D1")[0]
    for message in (entries[place]["event"], entries[place]["asked"]):
        message["close"] += 1


FORGERIES: tuple[Callable[[Entries], None], ...] = (
    by_the_opening, by_an_earlier_close, by_another_table, by_a_hash_of_nothing, at_another_position,
)  # fmt: skip


@pytest.mark.parametrize("forgery", FORGERIES, ids=lambda one: one.__name__)
def test_a_draw_by_another_entry_is_found(forgery: Callable[[Entries], None], tmp_path: Path) -> None:
    entries = [json.loads(line) for line in export() if b'"position":' in line]
    forgery(entries)
    changed = next(
        entry["position"]
        for entry, line in zip(entries, (one for one in export() if b'"position":' in one), strict=True)
        if entry["event"]["event"] == "seed-revealed" and entry["event"] != json.loads(line)["event"]
    )
    lines = forged_entries(export(), lambda _: settled_again(entries))
    with pytest.raises(DamagedError, match=r"expected the close that round \d was drawn by, entry") as flaw:
        audited(tmp_path, lines)
    assert flaw.value.position == changed


def settled_again(entries: Entries) -> Entries:
    """Cut after the last seed that was changed, so that nothing else is wrong with it."""
    honest = [json.loads(line) for line in export() if b'"position":' in line]
    last = max(place for place, entry in enumerate(entries) if entry["event"] != honest[place]["event"])
    return entries[: last + 1]


@pytest.mark.parametrize("forgery", FORGERIES, ids=lambda one: one.__name__)
def test_sabotage_an_audit_that_does_not_look_at_the_close(
    forgery: Callable[[Entries], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(DrawCheck, "_prove", lambda *_: None)
    with pytest.raises(pytest.fail.Exception):
        test_a_draw_by_another_entry_is_found(forgery, tmp_path)


def begun() -> Engine:
    """An engine of a journal that is only opened."""
    return Engine(
        Journal.opened(
            MemoryStore(), journal=ID, key=OLD.public, at=AT, by="house", program="taisai", demonstration=True
        )
    )


def ended(engine: Engine) -> list[bytes]:
    """The lines of its export, sealed."""
    engine.journal.seal(OLD, at=AT)
    return exported(engine.journal)


def test_a_draw_of_a_shake_that_did_not_count_is_made_again_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No Roll: nothing rests on the first draw, so the table lets it be; and still it was no draw."""
    engine, draw = begun(), Shaken.draw

    def cheated(table: Shaken) -> tuple[int, ...]:
        assert table.table.round is not None
        return draw(table, (6, 6, 6) if table.table.round.shakes == 1 else None)

    monkeypatch.setattr(Shaken, "draw", cheated)
    us_round(Shaken(engine, "D2", US))
    with pytest.raises(
        DamagedError, match=r"expected \d \d \d in shake 1 of round 1 by seed and close, got 6"
    ):
        audited(tmp_path, ended(engine))


def test_a_seed_that_comes_a_second_time_is_found(tmp_path: Path) -> None:
    """The table refuses the one before; the audit remembers all of them, at every table."""
    engine = begun()
    mbs_round(Shaken(engine, "D1", MBS))
    commitment = sha256(seed_of("D1", 1)).hexdigest()
    Shaken(engine, "D2", MBS).do(CommitSeed, SHAKER, round=1, commitment=commitment, source="a test")
    with pytest.raises(DamagedError, match="the seed was used in an earlier round") as flaw:
        audited(tmp_path, ended(engine))
    assert flaw.value.position == engine.journal.size


def test_a_seed_that_is_not_revealed_yet_proves_nothing_and_harms_nothing(tmp_path: Path) -> None:
    engine = begun()
    table = Shaken(engine, "D1", MBS)
    mbs_round(table)
    table.commit()
    path = tmp_path / "export.jsonl"
    path.write_bytes(text_of(ended(engine)))
    assert verified(path).draws == 1


# A stop between draw and seed


def test_after_a_stop_between_draw_and_seed_the_seed_is_revealed_as_if_nothing_had_been() -> None:
    table = Shaken(begun(), "D1", MBS)
    table.commit()
    table.open()
    table.act(Act.TUMBLE, tumbles=3)
    table.act(Act.CLOSE_BETS, Act.PRESS_DEAL, Act.UNCOVER)
    faces = table.draw()
    table.engine = Engine(Journal(table.engine.journal.store))
    assert table.table.commitment is not None
    table.reveal()
    table.act(Act.ENTER_RESULT, faces=faces)
    assert table.table.commitment is None

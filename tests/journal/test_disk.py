"""The disk that can lose its power, tried on SQLite alone: it loses what a real one may lose, and no less."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from random import Random

import apsw
import pytest

from tests.journal.disk import (
    SECTOR,
    Create,
    Delete,
    Disk,
    FailedSync,
    Operation,
    Platter,
    Read,
    Sync,
    Truncate,
    Write,
)

ROWS = 60
IMAGES = 300


def holding(*operations: Operation) -> Platter:
    """A disk that has seen these operations on the file 'a'."""
    platter = Platter()
    for operation in (Create(1, "a"), Sync(1, directory=True), *operations):
        platter.do(operation)
    return platter


def images(platter: Platter, count: int = 400) -> set[bytes | None]:
    """What a power cut may leave of the file 'a'; None where it is not there."""
    return {platter.image(Random(seed)).get("a") for seed in range(count)}


OLD, NEW = b"o" * SECTOR, b"n" * SECTOR


def test_what_was_synced_is_there() -> None:
    assert images(holding(Write(1, 0, OLD), Sync(1, directory=False))) == {OLD}


def test_what_was_not_synced_may_be_there_or_not() -> None:
    here = holding(Write(1, 0, OLD), Sync(1, directory=False), Write(1, 0, NEW))
    assert images(here) == {OLD, NEW}
    assert here.seen() == {"a": NEW}


def test_sectors_of_one_write_part_company() -> None:
    here = holding(Write(1, 0, OLD * 3), Sync(1, directory=False), Write(1, 0, NEW * 3))
    expected = {a + b + c for a in (OLD, NEW) for b in (OLD, NEW) for c in (OLD, NEW)}
    assert images(here) == expected


def test_bytes_beside_a_write_are_not_harmed() -> None:
    here = holding(Write(1, 0, OLD), Sync(1, directory=False), Write(1, 100, b"new"))
    assert images(here) == {OLD, OLD[:100] + b"new" + OLD[103:]}


def test_a_later_write_may_come_before_an_earlier_one() -> None:
    here = holding(Write(1, 0, OLD * 2), Sync(1, directory=False), Write(1, 0, NEW), Write(1, SECTOR, NEW))
    assert OLD + NEW in images(here)


def test_growth_that_was_not_synced_is_missing_or_zeros_or_garbage() -> None:
    lengths = {len(image or b"") for image in images(holding(Write(1, 0, NEW * 2)))}
    assert {0, SECTOR, 2 * SECTOR} < lengths
    left = images(holding(Write(1, 0, NEW * 2)))
    assert bytes(SECTOR) + NEW in left
    assert any(image and image.endswith(NEW) and image[:2] not in (b"nn", b"\0\0") for image in left)


def test_a_cut_may_not_have_happened() -> None:
    here = holding(Write(1, 0, OLD * 2), Sync(1, directory=False), Truncate(1, SECTOR))
    assert images(here) == {OLD * 2, OLD}


def test_a_name_is_sure_once_its_directory_is() -> None:
    platter = Platter()
    for operation in (Create(1, "a"), Write(1, 0, OLD), Sync(1, directory=False)):
        platter.do(operation)
    assert images(platter) == {None, OLD}
    platter.do(Sync(1, directory=True))
    assert images(platter) == {OLD}
    platter.do(Delete("a", sure=False))
    assert images(platter) == {None, OLD}
    platter.do(Delete("a", sure=True))
    assert images(platter) == {None}


def test_after_a_failed_sync_a_good_one_makes_nothing_sure_but_what_is_written_again() -> None:
    failed = (Write(1, 0, OLD * 2), Sync(1, directory=False), Write(1, 0, NEW * 2), FailedSync(1))
    here = holding(*failed, Sync(1, directory=False))
    assert here.seen() == {"a": NEW * 2}
    assert images(here) == {OLD + OLD, OLD + NEW, NEW + OLD, NEW + NEW}
    again = holding(*failed, Write(1, 0, NEW), Sync(1, directory=False))
    assert images(again) == {NEW + OLD, NEW + NEW}


# SQLite on it


def recorded(directory: Path, synchronous: str) -> tuple[list[Operation], list[int]]:
    """What SQLite does while rows come in one by one, and how much of it was done as each was committed."""
    done: list[Operation] = []
    committed: list[int] = []
    with Disk("recording", lambda one: None if isinstance(one, Read) else done.append(one)):
        connection = apsw.Connection(str(directory / "db"), vfs="recording")
        connection.pragma("journal_mode", "wal")
        connection.pragma("synchronous", synchronous)
        connection.pragma("wal_autocheckpoint", 12)
        connection.execute("CREATE TABLE row (number INTEGER PRIMARY KEY, body BLOB)")
        for number in range(ROWS):
            connection.execute("INSERT INTO row VALUES (?, ?)", (number, Random(number).randbytes(700)))
            committed.append(len(done))
        connection.close()
    return done, committed


def lost(directory: Path, done: Sequence[Operation], committed: Iterable[int]) -> list[str]:
    """Cuts after which a committed row was missing, or the file could not be read."""
    after = list(committed)
    found: list[str] = []
    places = sorted(Random(1).choices(range(after[0], len(done)), k=IMAGES))
    platter, upto = Platter(), 0
    for image, place in enumerate(places):
        while upto < place:
            platter.do(done[upto])
            upto += 1
        for name, content in platter.image(Random(f"{place} {image}")).items():
            (directory / name).write_bytes(content)
        try:
            connection = apsw.Connection(str(directory / "db"))
            rows = connection.execute("SELECT number, body FROM row ORDER BY number").fetchall()
            connection.close()
        except apsw.Error as error:
            found.append(f"op={place} image={image}: {error}")
            continue
        whole = [(number, Random(number).randbytes(700)) for number in range(len(rows))]
        if rows != whole or len(rows) < sum(1 for one in after if one <= place):
            found.append(f"op={place} image={image}: {len(rows)} rows")
        for left in directory.iterdir():
            left.unlink()
    return found


@pytest.fixture
def there(tmp_path: Path) -> tuple[Path, Path]:
    """Where SQLite writes, and where the images are looked at."""
    for name in ("written", "left"):
        (tmp_path / name).mkdir()
    return tmp_path / "written", tmp_path / "left"


def test_with_full_sync_sqlite_loses_no_committed_row(there: tuple[Path, Path]) -> None:
    done, committed = recorded(there[0], "full")
    names = {one.name for one in done if isinstance(one, Create)}
    assert names >= {"db", "db-wal"}
    assert sum(isinstance(one, Write) and one.file == 1 for one in done) > ROWS // 4  # the log was moved
    assert lost(there[1], done, committed) == []


def test_with_normal_sync_it_does(there: tuple[Path, Path]) -> None:
    assert len(lost(there[1], *recorded(there[0], "normal"))) > IMAGES // 4


def test_on_a_disk_that_only_says_it_synced_it_does(there: tuple[Path, Path]) -> None:
    done, committed = recorded(there[0], "full")
    lying = [Read(one.file, 0, 0) if isinstance(one, Sync) else one for one in done]
    assert len(lost(there[1], lying, committed)) > IMAGES // 4

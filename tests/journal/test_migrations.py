"""A file of any older version becomes a new one: by whole steps or not at all, wherever the process dies."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from random import Random
from typing import Any, Final

import apsw
import pytest

from taisai.journal.errors import DamagedError, JournalError
from taisai.journal.journal import Journal
from taisai.journal.stores import schema
from taisai.journal.stores.contract import MemoryStore
from taisai.journal.stores.sqlite import SqliteStore
from taisai.journal.stores.sqlite_reader import SqliteReader
from tests.journal.contract import KEY, filled, shut
from tests.journal.disk import Disk, Operation, Platter, Read
from tests.journal.evening import START
from tests.tiers import count

IMAGES = count(3, 20)
"""What a power cut may leave, for each operation of the disk."""
NEWEST: Final = len(schema.MIGRATIONS)
FILE: Final = "journal"
each_version = pytest.mark.parametrize("version", range(NEWEST + 1))

# Files of older versions


def _contents() -> dict[int, dict[str, list[Any]]]:
    """Version → table → rows: what a file of that version can hold and an older one cannot."""
    store = MemoryStore()
    filled(store).seal(KEY, at=START)
    names = store.streams()
    entries = [(at, names.index(stream) + 1, version, body) for at, stream, version, body in store.rows()]
    return {
        1: {"stream": list(enumerate(names, 1)), "entry": entries},
        2: {"checkpoint": [(1, *one) for one in store.checkpoints()]},
        3: {"snapshot": [("house", 1, bytes(32), b"{}")], "part": [("table:SB1", 1, 4, bytes(32), b"{}")]},
        4: {"vault": [("staff/ann", b"secret")]},
        5: {"head": [(1, 6, 7, b"code")]},
        6: {"newest": [(1, *store.checkpoints()[0], b"{}")]},
    }


CONTENTS: Final = _contents()


def contents_of(version: int) -> dict[str, list[Any]]:
    """Table → rows of a file of a version."""
    return {table: rows for upto in range(version) for table, rows in CONTENTS[upto + 1].items()}


def make(path: Path, version: int, vfs: str | None = None) -> None:
    """A file as the Taisai of a version left it, with all in it that it could hold."""
    with closing(apsw.Connection(str(path), vfs=vfs)) as connection:
        connection.pragma("journal_mode", "wal")
        for statement in (one for step in schema.MIGRATIONS[:version] for one in step):
            connection.execute(statement)
        if version:
            connection.pragma("application_id", schema.APPLICATION)
            connection.pragma("user_version", version)
        for table, rows in contents_of(version).items():
            connection.executemany(f"INSERT INTO {table} VALUES ({', '.join('?' * len(rows[0]))})", rows)


# What is found in them


def faults_of(path: Path, made: int) -> list[str]:
    """What is wrong with a file that was of a version when somebody began to bring it up to date."""
    with closing(apsw.Connection(str(path))) as connection:
        version = schema.version_of(connection)
        application = connection.pragma("application_id")
        statements = connection.execute("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL").fetchall()
        found = frozenset(" ".join(str(sql).split()) for (sql,) in statements)
        if not made <= version <= NEWEST:
            return [f"expected version {made} or a newer one, got {version}"]
        faults = [f"missing in version {version}: {one}" for one in schema.definition(version) - found]
        faults += [f"too much in version {version}: {one}" for one in found - schema.definition(version)]
        if application != (schema.APPLICATION if version else 0):
            faults.append(f"application {application} in version {version}")
        if not faults:
            faults += _differing(connection, contents_of(made))
        return faults


def _differing(connection: apsw.Connection, contents: Mapping[str, list[Any]]) -> list[str]:
    tables = {table: list(connection.execute(f"SELECT * FROM {table}")) for table in contents}
    tables.pop("head", None)  # each writer takes the next number
    return [f"other rows in {table}" for table in tables if tables[table] != contents[table]]


def faults_going_on(path: Path, made: int) -> list[str]:
    """What is wrong with it, and with whatever the next start makes of it."""
    faults = faults_of(path, made)
    if not faults:
        with closing(SqliteStore(path)) as store:
            Journal(store).append([shut(1)])
            faults += [] if store.definition() == schema.definition() else ["another definition"]
            faults += store.faults()
            faults += _but_for_the_last(store, made)
    return faults


def _but_for_the_last(store: SqliteStore, made: int) -> list[str]:
    """Whether all rows are there, and one more."""
    entries = contents_of(made).get("entry", [])
    bodies = [row.body for row in store.rows()]
    return [] if bodies[:-1] == [row[3] for row in entries] else ["other entries than before"]


# Where the process may die


@contextmanager
def told_before_each_statement(tell: Callable[[str], None]) -> Iterator[None]:
    """Tells of every statement on every connection before it is done."""

    def trace(_cursor: apsw.Cursor, sql: str, _values: object) -> bool:
        tell(sql)
        return True

    def hook(connection: apsw.Connection) -> None:
        connection.exec_trace = trace

    apsw.connection_hooks.append(hook)
    try:
        yield
    finally:
        apsw.connection_hooks.remove(hook)


def dying_at_every_statement(directory: Path, made: int) -> Iterator[tuple[str, Path]]:
    """Statement → the files as they lay on the disk when a process was killed before it."""
    (here := directory / "here").mkdir()
    make(here / FILE, made)
    images: list[tuple[str, Path]] = []

    def killed(sql: str) -> None:
        image = directory / f"killed-{len(images)}"
        shutil.copytree(here, image)
        images.append((f"{len(images)} {sql[:60]}", image / FILE))

    with told_before_each_statement(killed):
        SqliteStore(here / FILE).close()
    killed("the end")
    yield from images


def faults_of_dying(directory: Path, made: int) -> tuple[int, list[str]]:
    """How many statements were met, and what was wrong after a death before one of them."""
    (directory := directory / f"from-{made}").mkdir()
    images = list(dying_at_every_statement(directory, made))
    faults = [f"{where}: {fault}" for where, path in images for fault in faults_going_on(path, made)]
    return len(images), faults


@each_version
def test_a_process_that_dies_at_any_statement_leaves_a_whole_version(tmp_path: Path, version: int) -> None:
    met, faults = faults_of_dying(tmp_path, version)
    assert faults == []
    assert met > sum(len(step) + 4 for step in schema.MIGRATIONS[version:])  # begin, commit, who and which


def faults_of_failing(directory: Path, made: int) -> tuple[int, list[str]]:
    """The same where a statement fails and the process lives on."""
    (directory := directory / f"from-{made}").mkdir()
    faults: list[str] = []
    place = 0
    while True:
        path = directory / f"failing-{place}"
        make(path, made)
        left = place

        def fail(sql: str) -> None:
            nonlocal left
            left -= 1
            if left == -1:
                raise apsw.FullError(f"no room for {sql}")

        try:
            with told_before_each_statement(fail):
                SqliteStore(path).close()
        except JournalError:
            faults += [f"statement {place}: {fault}" for fault in faults_going_on(path, made)]
        if left >= 0:
            return place, faults
        place += 1


@each_version
def test_a_statement_that_fails_leaves_a_whole_version(tmp_path: Path, version: int) -> None:
    met, faults = faults_of_failing(tmp_path, version)
    assert faults == []
    assert met > sum(len(step) + 4 for step in schema.MIGRATIONS[version:])


def faults_of_power_cuts(directory: Path, made: int) -> tuple[int, list[str]]:
    """How many operations the disk did, and what was wrong after a power cut before one of them."""
    for name in ("here", "left"):
        (directory / name).mkdir()
    done: list[Operation] = []
    with Disk("migrating", lambda one: None if isinstance(one, Read) else done.append(one)):
        make(directory / "here" / FILE, made, "migrating")
        before = len(done)
        SqliteStore(directory / "here" / FILE, vfs="migrating").close()
    platter, faults = Platter(), list[str]()
    for place, operation in enumerate([*done, None]):
        for seed in range(IMAGES) if place >= before else ():
            for name, content in platter.image(Random(f"{made} {place} {seed}")).items():
                (directory / "left" / name).write_bytes(content)
            found = faults_going_on(directory / "left" / FILE, made)
            faults += [f"operation {place}, seed '{made} {place} {seed}': {fault}" for fault in found]
            for left in (directory / "left").iterdir():
                left.unlink()
        if operation is not None:
            platter.do(operation)
    return len(done) - before, faults


@each_version
def test_a_power_cut_at_any_operation_of_the_disk_leaves_a_whole_version(
    tmp_path: Path, version: int
) -> None:
    operations, faults = faults_of_power_cuts(tmp_path, version)
    assert faults == []
    assert operations > 10 * (NEWEST - version)


# What a version is


@each_version
def test_a_file_consists_of_what_its_version_says(tmp_path: Path, version: int) -> None:
    make(tmp_path / FILE, version)
    assert faults_of(tmp_path / FILE, version) == []


def test_a_new_file_is_made_in_as_many_steps_as_there_are_versions(tmp_path: Path) -> None:
    seen: list[str] = []
    with told_before_each_statement(seen.append):
        SqliteStore(tmp_path / FILE).close()
    assert seen.count("BEGIN IMMEDIATE") == seen.count("COMMIT") == NEWEST + 1  # and one to sync the log
    assert faults_of(tmp_path / FILE, NEWEST) == ["other rows in stream", *_others()]
    seen.clear()
    with told_before_each_statement(seen.append):
        SqliteStore(tmp_path / FILE).close()
    assert "BEGIN IMMEDIATE" not in seen  # there is nothing left to do


def _others() -> list[str]:
    return [f"other rows in {table}" for table in list(contents_of(NEWEST))[1:] if table != "head"]


def test_anyone_who_comes_second_finds_it_done(tmp_path: Path) -> None:
    make(tmp_path / FILE, 1)
    with closing(apsw.Connection(str(tmp_path / FILE))) as first:
        second = apsw.Connection(str(tmp_path / FILE))

        def overtaken(_cursor: apsw.Cursor, sql: str, _values: object) -> bool:
            if sql == "BEGIN IMMEDIATE" and schema.version_of(second) < NEWEST:
                schema.migrate(second)
            return True

        first.exec_trace = overtaken
        schema.migrate(first)
        second.close()
    assert faults_going_on(tmp_path / FILE, 1) == []


@pytest.mark.parametrize("version", range(schema.READABLE, NEWEST + 1))
def test_a_file_of_a_readable_version_is_read_as_it_is(tmp_path: Path, version: int) -> None:
    make(tmp_path / FILE, version)
    before = (tmp_path / FILE).read_bytes()
    with closing(SqliteReader(tmp_path / FILE)) as reader:
        assert [row.body for row in reader.rows()] == [row[3] for row in CONTENTS[1]["entry"]]
    assert (tmp_path / FILE).read_bytes() == before
    with closing(apsw.Connection(str(tmp_path / FILE))) as stranger:
        stranger.execute("DROP TRIGGER entry_is_not_changed")
    with pytest.raises(DamagedError, match="tampered"):
        SqliteReader(tmp_path / FILE)


def test_a_file_that_says_another_version_than_it_is_was_tampered_with(tmp_path: Path) -> None:
    for version, says in ((NEWEST, schema.READABLE), (schema.READABLE, NEWEST)):
        path = tmp_path / f"{version}"
        make(path, version)
        with closing(apsw.Connection(str(path))) as stranger:
            stranger.pragma("user_version", says)
        with pytest.raises(DamagedError, match="tampered"):
            SqliteReader(path)


# Sabotage


def _without_transactions(connection: apsw.Connection) -> None:
    for number, statements in enumerate(schema.MIGRATIONS, 1):
        if schema.version_of(connection) < number:
            for statement in statements:
                connection.execute(statement)
            connection.execute(f"PRAGMA application_id = {schema.APPLICATION}")
            connection.execute(f"PRAGMA user_version = {number}")


def _version_first(connection: apsw.Connection) -> None:
    for number, statements in enumerate(schema.MIGRATIONS, 1):
        if schema.version_of(connection) < number:
            connection.execute(f"PRAGMA application_id = {schema.APPLICATION}")
            connection.execute(f"PRAGMA user_version = {number}")
            with connection:
                for statement in statements:
                    connection.execute(statement)


def _from_nothing(connection: apsw.Connection) -> None:
    """Throws old tables away rather than to bring them up to date."""
    if schema.version_of(connection) == NEWEST:
        return
    connection.pragma("foreign_keys", value=False)
    with connection:
        for kind, name in list(connection.execute("SELECT type, name FROM sqlite_schema WHERE sql NOTNULL")):
            connection.execute(f"DROP {kind} IF EXISTS {name}")
        for statement in (one for step in schema.MIGRATIONS for one in step):
            connection.execute(statement)
        connection.execute(f"PRAGMA application_id = {schema.APPLICATION}")
        connection.execute(f"PRAGMA user_version = {NEWEST}")


Faults = Callable[[Path, int], tuple[int, list[str]]]
EVERYWHERE: Final[tuple[Faults, ...]] = (faults_of_dying, faults_of_failing)
SABOTAGES: Final[dict[str, tuple[Callable[[apsw.Connection], None], tuple[Faults, ...]]]] = {
    "statements without a transaction": (_without_transactions, (*EVERYWHERE, faults_of_power_cuts)),
    "the version before what it stands for": (_version_first, (*EVERYWHERE, faults_of_power_cuts)),
    "old tables thrown away": (_from_nothing, EVERYWHERE),
}


@pytest.mark.parametrize(
    ("name", "look"), [(name, look) for name, (_, looks) in SABOTAGES.items() for look in looks]
)
def test_sabotage_of_a_migration_is_noticed(
    name: str, look: Faults, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(schema, "migrate", SABOTAGES[name][0])
    _, faults = look(tmp_path, 1)
    assert faults

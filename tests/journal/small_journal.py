"""A small journal with everything in it, its export, and a forger who has the key and rewrites it at will."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Callable, Iterator
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from msgspec.structs import replace

from taisai.cage.messages import BringIn, EnrolPerson, OpenHouse, SellTicket
from taisai.game.commands import Command
from taisai.game.events import Event
from taisai.game.playbook import Play, playbook
from taisai.game.refusals import Refusal
from taisai.game.table import Table
from taisai.journal.codec import HOUSE_STREAM, stream_of
from taisai.journal.engine import Engine, Submission
from taisai.journal.journal import Journal
from taisai.journal.seals.checkpoints import rotation_text
from taisai.journal.seals.keys import SigningKey
from taisai.journal.seals.merkle import Frontier
from taisai.journal.seals.secret import StorageSecret
from taisai.journal.stores.contract import Store
from taisai.journal.stores.sqlite import SqliteStore
from taisai.rules import rulebook

CASES: Final = Path(__file__).parents[2] / "cases" / "playbooks" / "edition-1"
"""Playbooks of the first editions: what is played here stays as it is."""
OLD: Final = SigningKey.new("old", seed=bytes(31) + b"\x01")
NEW: Final = SigningKey.new("new", seed=bytes(31) + b"\x02")
ID: Final = "0123456789abcdef"
AT: Final = 1_794_715_200_000
SECRET: Final = StorageSecret(bytes(range(32)))
"""What the house has beside the keys, and the forger has not."""
Lines = list[bytes]


def written(store: Store, *playbooks: str) -> Journal:
    """The House, some playbooks at tables of their own, two keys, checkpoints between."""
    journal = Journal.opened(
        store, journal=ID, key=OLD.public, at=AT, by="house", program="taisai", demonstration=True,
        secret=SECRET,
    )  # fmt: skip
    engine = Engine(journal)
    for command in (
        OpenHouse(at=AT, by="Olga", house="H", currency="SGD", ladder=("dealer", "boss"), second_rank="boss"),
        EnrolPerson(at=AT, by="Olga", person="Bo", rank="boss"),
        EnrolPerson(at=AT, by="Olga", person="Cy", rank="boss"),
        BringIn(at=AT, by="Bo", id="m1", amount=900_000, second="Cy"),
        SellTicket(at=AT, by="Bo", ticket="t1", amount=5_000),
    ):
        assert not isinstance(engine.answer(HOUSE_STREAM, command), Refusal)
    journal.seal(OLD, at=AT)
    for number, name in enumerate(playbooks):
        play_into(engine, name)
        if number == 0:
            journal.rotate(OLD, NEW.public, at=AT, by="Olga")
            journal.seal(NEW, at=AT + 1)
    for name in engine.tables():
        if engine.table(name).round is None:
            engine.snapshot(stream_of(name))
    journal.seal(NEW, at=AT + 2)
    return journal


def play_into(engine: Engine, name: str, folder: Path = CASES) -> None:
    """A playbook from cases/playbooks, asked of an engine and answered as it is pinned."""
    story = playbook((folder / f"{name}.round").read_text(), name)
    opening = replace(story.opening, table=f"SB{len(engine.tables()) + 1}")
    story, book = story._replace(opening=opening), rulebook(story.book)
    stream = stream_of(story.opening.table)

    def decided(_table: Table, command: Command) -> tuple[Event, ...] | Refusal:
        answer: Any = engine.answer_all([Submission(stream, command, book)])[0]
        return answer  # type: ignore[no-any-return]

    for played in Play(story, book, decided=decided).steps():
        assert not played.mismatches


@cache
def small_export(*playbooks: str) -> tuple[bytes, ...]:
    """The lines of an export of it, made here from the store's rows alone."""
    from taisai.journal.stores.contract import MemoryStore

    return tuple(exported(written(MemoryStore(), *playbooks)))


def on_disk(path: Path, *playbooks: str) -> Path:
    """The same in a file."""
    written(SqliteStore(path), *playbooks).close()
    return path


def exported(journal: Journal) -> Lines:
    """Entries, checkpoints in their places, the end."""
    waiting = journal.store.checkpoints()
    lines: Lines = []
    for row in journal.store.rows():
        lines.append(row.body)
        while waiting and waiting[0].size == row.position:
            lines.append(canonical({"checkpoint": waiting.pop(0).text}))
    return [*lines, canonical({"end": {"root": journal.root().hex(), "size": journal.size}})]


def canonical(value: object) -> bytes:
    """As the format's description says."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=True).encode()


def text_of(lines: Iterator[bytes] | Lines | tuple[bytes, ...]) -> bytes:
    """An export's text."""
    return b"".join(line + b"\n" for line in lines)


Change = Callable[[list[dict[str, Any]]], list[dict[str, Any]] | None]
"""Rewrites the entries, in place or again."""


def forged(lines: tuple[bytes, ...], change: Change) -> Lines:
    """The work of someone who holds the keys: entries changed, then numbered, chained and signed again."""
    entries = [json.loads(line) for line in lines if b'"position":' in line]
    sealed = [json.loads(line)["checkpoint"] for line in lines if line.startswith(b'{"checkpoint"')]
    sizes = [int(text.split("\n")[1]) for text in sealed]
    entries = change(entries) or entries
    tree, previous, made, key = Frontier(), "0" * 64, Lines(), OLD
    versions: dict[str, int] = {}
    for position, entry in enumerate(entries, 1):
        versions[entry["stream"]] = version = versions.get(entry["stream"], 0) + 1
        entry |= {"position": position, "previous": previous, "version": version}
        if entry["event"]["event"] == "key-introduced":
            signature = key.sign(rotation_text(f"taisai/{ID}", position, previous, entry["event"]["key"]))
            entry["event"]["signature"] = b64encode(signature).decode()
            key = NEW
        body = canonical(entry)
        leaf = sha256(b"\x00" + body).digest()
        tree.append(leaf)
        previous = leaf.hex()
        made.append(body)
        if position in sizes or position == len(entries):
            made.append(canonical({"checkpoint": checkpoint(tree, key)}))
    return [*made, canonical({"end": {"root": tree.root().hex(), "size": tree.size}})]


def checkpoint(tree: Frontier, key: SigningKey) -> str:
    """A signed note over a tree, from the format's description."""
    body = f"taisai/{ID}\n{tree.size}\n{b64encode(tree.root()).decode()}\ntime {AT}\n"
    blob = bytes.fromhex(key.public.id) + key.sign(body.encode())
    return f"{body}\n— {key.name} {b64encode(blob).decode()}\n"

"""`taisai journal` and `taisai keys`: checkpoints, snapshots, and the keys that sign."""

from __future__ import annotations

import os
from argparse import Namespace
from pathlib import Path
from typing import Final

from taisai.audit.backup import expect_nothing
from taisai.cli.audit.reading import count, moment, read_small
from taisai.cli.journal.files import clock, expect_journal, passphrase_in, signing_key, signing_time, written
from taisai.cli.printing import as_json, line, table
from taisai.cli.printing import show as show_table
from taisai.journal.errors import JournalError
from taisai.journal.seals.checkpoints import read_signed
from taisai.journal.seals.keys import MOST_FILE, PublicKey, load_public_key, make_key, public_path_of
from taisai.journal.stores.sqlite_reader import SqliteReader
from taisai.rules.errors import RulesError, printable


def seal(arguments: Namespace) -> int:
    """Signs a checkpoint over all entries, and prints it."""
    key = signing_key(arguments.key, arguments.passphrase_file)
    if arguments.output is not None:
        expect_nothing(arguments.output)
    with written(arguments.journal) as journal:
        text = journal.seal(key, at=signing_time(journal, clock()))
        size = journal.size
    if arguments.output is not None:
        _write_new(arguments.output, text)
    if arguments.json:
        at = read_signed(text).checkpoint.at
        as_json({"journal": arguments.journal, "size": size, "at": at, "checkpoint": text})
    else:
        line(text.removesuffix("\n"))
    return 0


def checkpoints(arguments: Namespace) -> int:
    """Lists the checkpoints in the order they were signed."""
    expect_journal(arguments.journal)
    reader = SqliteReader(arguments.journal)
    try:
        last = reader.last()
        kept = [read_signed(one.text) for one in reader.checkpoints()]
    finally:
        reader.close()
    size = last.position if last else 0
    if arguments.json:
        facts = [
            {
                "size": one.checkpoint.size,
                "at": one.checkpoint.at,
                "keys": [{"name": by.name, "id": by.id} for by in one.signatures],
                "checkpoint": one.text,
            }
            for one in kept
        ]
        as_json({"journal": arguments.journal, "entries": size, "checkpoints": facts})
        return 0
    if not kept:
        line(f"{printable(arguments.journal)}: no checkpoint, {count(size, 'entry', 'entries')} not sealed")
        return 0
    made = table(f"{printable(arguments.journal)}: {count(len(kept), 'checkpoint')}",
                 ("entries", "signed at", "by"), right=("entries",))  # fmt: skip
    for one in kept:
        by = ", ".join(f"{by.name} {by.id}" for by in one.signatures)
        made.add_row(f"{one.checkpoint.size:,}", moment(one.checkpoint.at), by)
    show_table(made)
    tail = size - max((one.checkpoint.size for one in kept), default=0)
    line(f"{count(tail, 'entry', 'entries')} not sealed" if tail else "All entries are sealed")
    return 0


def forget(arguments: Namespace) -> int:
    """Throws the snapshots away."""
    with written(arguments.journal) as journal:
        found = len(journal.store.snapshots())
        journal.store.forget()
    if arguments.json:
        as_json({"journal": arguments.journal, "forgotten": found})
    else:
        line(f"{printable(arguments.journal)}: {count(found, 'snapshot')} thrown away")
    return 0


def _write_new(file: str, text: str) -> None:
    """The checkpoint in a new file; one that someone kept is not written over."""
    try:
        with Path(file).open("x", encoding="utf-8", newline="\n") as opened:
            opened.write(text)
            opened.flush()
            os.fsync(opened.fileno())
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else "no name of a file"
        got = f"{printable(repr(file))}: {why}; it is in the journal, though"
        raise JournalError(f"expected a new file for the checkpoint, got {got}") from None


_PRIVATE: Final = b"PRIVATE KEY-----"  # of the line that such a key begins with


def make(arguments: Namespace) -> int:
    """A new key in a new file."""
    path = Path(arguments.file)
    key = make_key(path, arguments.name, passphrase=passphrase_in(arguments.passphrase_file)).public
    if arguments.json:
        as_json({"file": arguments.file, "public": str(public_path_of(path)), **_facts(key)})
        return 0
    line(f"{printable(arguments.file)}: the key {key.name} {key.id}; keep it where only you can read it")
    line(f"{printable(str(public_path_of(path)))}: its public half, to give away:")
    line(key.text)
    return 0


def show(arguments: Namespace) -> int:
    """The public half of whatever key file is named."""
    key = _public(arguments.file, arguments.passphrase_file)
    if arguments.json:
        as_json({"file": arguments.file, **_facts(key)})
        return 0
    line(key.text)
    line(f"name {key.name}, id {key.id}")
    return 0


def rotate(arguments: Namespace) -> int:
    """Lets another key sign, and seals the journal with it."""
    by = arguments.by.strip()
    if not by or not by.isprintable():
        raise RulesError(f"expected --by a person, got {printable(repr(arguments.by))}")
    old = signing_key(arguments.key, arguments.passphrase_file)
    new = signing_key(arguments.new, arguments.new_passphrase_file)
    if old.public == new.public:
        raise RulesError(f"expected another key than the one before, got {new.name} {new.public.id} again")
    with written(arguments.journal) as journal:
        journal.rotate(old, new.public, at=signing_time(journal, clock()), by=by)
        text = journal.seal(new, at=signing_time(journal, clock()))
        size = journal.size
    if arguments.json:
        as_json({"journal": arguments.journal, "size": size, "checkpoint": text, **_facts(new.public)})
        return 0
    line(f"{printable(arguments.journal)}: {new.name} {new.public.id} signs from entry {size:,} on")
    line(f"Sealed over {count(size, 'entry', 'entries')}; send this elsewhere:")
    line()
    line(text.removesuffix("\n"))
    return 0


def _public(file: str, passphrase_file: str | None) -> PublicKey:
    """The key of a `.pub` file or of a private one, whichever it is."""
    if _PRIVATE in read_small(file, "a key file", MOST_FILE):
        return signing_key(file, passphrase_file).public
    return load_public_key(Path(file))


def _facts(key: PublicKey) -> dict[str, str]:
    return {"name": key.name, "id": key.id, "key": key.text}

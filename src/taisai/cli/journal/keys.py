"""`taisai keys`: keys made, shown, and handed on."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path
from typing import Final

from taisai.cli.audit.reading import count, read_small
from taisai.cli.journal.files import clock, passphrase_in, signing_key, signing_time, written
from taisai.cli.printing import as_json, line
from taisai.journal.seals.keys import MOST_FILE, PublicKey, load_public_key, make_key, public_path_of
from taisai.rules.errors import RulesError, printable

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

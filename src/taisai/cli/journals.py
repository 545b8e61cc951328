"""`taisai journal`, `keys`, `backup` and `restore`: journals as files, and the keys that sign them."""

from __future__ import annotations

import dataclasses
import shlex
import sys
import time
from argparse import Namespace
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from taisai.audit.backup import back_up, check, expect_nothing
from taisai.audit.backup import restore as restore_backup
from taisai.audit.sources import JournalFile
from taisai.audit.verify import verified
from taisai.cli import CHECK_FAILED
from taisai.cli.audit.reading import count, flawed, moment, progress
from taisai.cli.files import read_file, reason_of, secret_line, write_new
from taisai.cli.printing import as_json, line, show_table
from taisai.journal.errors import DamagedError, JournalError
from taisai.journal.journal import Journal
from taisai.journal.seals.checkpoints import read_signed
from taisai.journal.seals.keys import (
    MOST_FILE,
    MOST_PASSPHRASE,
    PublicKey,
    SigningKey,
    load_public_key,
    load_signing_key,
    make_key,
    public_path_of,
)
from taisai.journal.stores.database_urls import is_database
from taisai.journal.stores.opening import open_reader, open_store
from taisai.rules.errors import RulesError, printable

_SQLITE: Final = b"SQLite format 3\0"
_PRIVATE: Final = b"PRIVATE KEY-----"  # in the first line of a private key


def clock() -> int:
    """The time, in milliseconds since 1970."""
    return time.time_ns() // 1_000_000


@contextmanager
def written(file: str, key: SigningKey, *, new: bool = False) -> Iterator[Journal]:
    """Opens a journal for writing with its key; `new` allows one that does not exist yet."""
    expect_journal(file, new=new)
    store = open_store(file)
    try:
        journal = Journal(store, key=key)
        if journal.identity is None and not new:
            raise JournalError(f"empty journal: {printable(file)}")
        yield journal
    finally:
        store.close()


def expect_journal(file: str, *, new: bool = False) -> None:
    """Refuses a file that is not a journal, before anything is written beside it."""
    if is_database(file):
        return
    try:
        with Path(file).open("rb") as opened:
            head = opened.read(len(_SQLITE))
    except FileNotFoundError:
        if new:
            return
        raise JournalError(f"no journal {printable(repr(file))}: the file does not exist") from None
    except (OSError, ValueError) as error:
        raise JournalError(f"cannot read the journal {printable(repr(file))}: {reason_of(error)}") from None
    if head != _SQLITE and (head or not new):
        raise JournalError(f"not a journal of Taisai: {printable(file)}")


def signing_key(file: str, passphrase_file: str | None) -> SigningKey:
    """The key in a file, decrypted with the passphrase in another file."""
    return load_signing_key(Path(file), passphrase_in(passphrase_file))


def passphrase_in(file: str | None) -> str | None:
    """The first line of a file; None where no file is named."""
    return None if file is None else secret_line(file, "passphrase file", MOST_PASSPHRASE)


def signing_time(journal: Journal, now: int) -> int:
    """The time of a signature, never before the last entry; the time of a playbook may be ahead."""
    last = journal.store.last()
    if last is None:
        return now
    return max(now, journal.codec.decode(last.body, last.position).event.at)


def backup(arguments: Namespace) -> int:
    expect_journal(arguments.journal)
    copied = back_up(arguments.journal, arguments.copy)
    if arguments.json:
        as_json({"journal": arguments.journal, "copy": arguments.copy, **copied._asdict()})
        return 0
    entries = count(copied.entries, "entry", "entries")
    line(f"{printable(arguments.copy)}: {entries} of {printable(arguments.journal)}, the chain is complete")
    line(f"Prove it with `taisai restore --check {printable(shlex.quote(arguments.copy))}`")
    return 0


def restore(arguments: Namespace) -> int:
    """Checks a backup, and restores it if a new journal is named; exit code 1 if it is damaged."""
    backup, journal = arguments.backup, arguments.journal
    if arguments.check is (journal is not None):
        got = "both" if arguments.check else "neither"
        raise RulesError(f"expected either a new JOURNAL to restore to or --check, got {got}")
    if journal is not None:
        expect_nothing(journal)
    expect_journal(backup)
    source = JournalFile(backup)
    try:
        with progress(source, "checking") as advance:
            if journal is None:
                report = check(backup, progress=advance)
            else:
                report = restore_backup(backup, journal, progress=advance)
    except DamagedError as error:
        return flawed(error, backup, json=arguments.json)
    finally:
        source.close()
    if arguments.json:
        as_json({"ok": True, "backup": backup, "journal": journal, "report": dataclasses.asdict(report)})
        return 0
    entries = count(report.entries, "entry", "entries")
    line(f"{printable(backup)}: {entries}, intact and by the rules, {report.sealed:,} of them sealed")
    if journal is not None:
        line(f"{printable(journal)}: restored")
    return 0


def seal(arguments: Namespace) -> int:
    key = signing_key(arguments.key, arguments.passphrase_file)
    if arguments.output is not None:
        expect_nothing(arguments.output)
    with written(arguments.journal, key) as journal:
        text = journal.seal(key, at=signing_time(journal, clock()))
        size = journal.size
    if arguments.output is not None:
        try:
            write_new(arguments.output, text)
        except RulesError as error:
            raise RulesError(f"{error}; the checkpoint is stored in the journal") from None
    if arguments.json:
        at = read_signed(text).checkpoint.at
        as_json({"journal": arguments.journal, "size": size, "at": at, "checkpoint": text})
    else:
        line(text.removesuffix("\n"))
    return 0


def checkpoints(arguments: Namespace) -> int:
    expect_journal(arguments.journal)
    reader = open_reader(arguments.journal)
    try:
        last = reader.last()
        signed = [read_signed(stored.text) for stored in reader.checkpoints()]
    finally:
        reader.close()
    size = last.position if last else 0
    if arguments.json:
        facts = [
            {
                "size": note.checkpoint.size, "at": note.checkpoint.at,
                "keys": [{"name": by.name, "id": by.id} for by in note.signatures], "checkpoint": note.text,
            }
            for note in signed
        ]  # fmt: skip
        as_json({"journal": arguments.journal, "entries": size, "checkpoints": facts})
        return 0
    if not signed:
        line(f"{printable(arguments.journal)}: no checkpoint, {count(size, 'entry', 'entries')} not sealed")
        return 0
    rows = []
    for note in signed:
        keys = ", ".join(f"{by.name} {by.id}" for by in note.signatures)
        rows.append((f"{note.checkpoint.size:,}", moment(note.checkpoint.at), keys))
    title = f"{printable(arguments.journal)}: {count(len(signed), 'checkpoint')}"
    show_table(title, ("entries", "signed at", "by"), rows, right=("entries",))
    tail = size - max(note.checkpoint.size for note in signed)
    line(f"{count(tail, 'entry', 'entries')} not sealed" if tail else "All entries are sealed")
    return 0


def forget(arguments: Namespace) -> int:
    expect_journal(arguments.journal)
    store = open_store(arguments.journal)
    try:
        if store.last() is None:
            raise JournalError(f"empty journal: {printable(arguments.journal)}")
        snapshots = len(store.snapshots())
        store.forget()
    finally:
        store.close()
    if arguments.json:
        as_json({"journal": arguments.journal, "forgotten": snapshots})
    else:
        line(f"{printable(arguments.journal)}: {count(snapshots, 'snapshot')} deleted")
    return 0


def authenticate(arguments: Namespace) -> int:
    """Checks a journal of an earlier Taisai as a whole, then authenticates what lies beside its entries."""
    by, file = _person(arguments.by), arguments.journal
    key = signing_key(arguments.key, arguments.passphrase_file)
    with written(file, key) as journal:
        try:
            report = verified(file)
        except DamagedError as error:
            return flawed(error, file, json=arguments.json)
        if (report.entries, report.root) != (journal.size, journal.root().hex()):
            raise JournalError(f"the journal has changed since it was checked: {printable(file)}")
        is_new = journal.secret is None
        if is_new and journal.key != key.public:
            ours = f"{key.name} {key.public.id}"
            raise JournalError(f"expected the key that signs the journal, got {ours} ({arguments.key})")
        unsealed = journal.unsealed()
        if unsealed and not (arguments.take_vault or arguments.drop_vault):
            return _list_unsealed(file, unsealed, json=arguments.json)
        if is_new:
            journal.authenticate(key, at=signing_time(journal, clock()), by=by)
        for name, body in unsealed.items():
            journal.store.keep_secret(name, body if arguments.take_vault else None)
        journal.seal(key, at=signing_time(journal, clock()))
    if arguments.json:
        done = "taken" if arguments.take_vault else "dropped"
        as_json({"ok": True, "journal": file, "entries": report.entries, "new": is_new, done: [*unsealed]})
        return 0
    entries = count(report.entries, "entry", "entries")
    line(f"{printable(file)}: {entries}, intact and by the rules, {report.sealed:,} of them sealed before")
    line("Authenticated with the house key" if is_new else "It was authenticated before")
    for name in unsealed:
        line(f"{'taken over' if arguments.take_vault else 'dropped'} from the vault: {printable(name)}")
    return 0


def _list_unsealed(file: str, unsealed: Mapping[str, bytes], *, json: bool) -> int:
    """Tells what a person has to decide about, and changes nothing."""
    if json:
        as_json({"ok": False, "journal": file, "unsealed": [*unsealed]})
        return CHECK_FAILED
    line(f"{printable(file)}: intact and by the rules. Its vault holds what could not be checked:")
    for name in unsealed:
        line(f"  {printable(name)}")
    line("A person who could write the file could have put it there. Nothing was changed. Run it again")
    line("  with --take-vault to take all of it over, if nobody else could write the file, or")
    line("  with --drop-vault to delete it: people then need new activation codes, and takings are recounted")
    return CHECK_FAILED


def make(arguments: Namespace) -> int:
    path = Path(arguments.file)
    key = make_key(path, arguments.name, passphrase=passphrase_in(arguments.passphrase_file)).public
    if arguments.json:
        as_json({"file": arguments.file, "public": str(public_path_of(path)), **_facts(key)})
        return 0
    line(f"{printable(arguments.file)}: the key {key.name} {key.id}; keep it where only you can read it")
    line(f"{printable(str(public_path_of(path)))}: its public half, for auditors:")
    line(key.text)
    return 0


def show(arguments: Namespace) -> int:
    key = _public(arguments.file, arguments.passphrase_file)
    if arguments.json:
        as_json({"file": arguments.file, **_facts(key)})
        return 0
    line(key.text)
    line(f"name {key.name}, id {key.id}")
    return 0


def confirmed(what: str, *, sure: bool) -> None:
    """Shows what cannot be undone; goes on only with `--yes`, or with a yes typed at a terminal."""
    if sure:
        return
    if not sys.stdin.isatty():
        raise RulesError(f"this cannot be undone: {what}; add --yes if you are sure")
    sys.stderr.write(f"! This cannot be undone: {what}\nType yes to go on: ")
    sys.stderr.flush()
    if sys.stdin.readline().strip() != "yes":
        raise RulesError("expected yes; nothing was changed")


def rotate(arguments: Namespace) -> int:
    """Lets another key sign, and seals the journal with it."""
    by = _person(arguments.by)
    old = signing_key(arguments.key, arguments.passphrase_file)
    new = signing_key(arguments.new, arguments.new_passphrase_file)
    if old.public == new.public:
        raise RulesError(f"expected a new key, got the old one again: {new.name} {new.public.id} (--new)")
    what = f"{old.name} {old.public.id} can never again sign {printable(arguments.journal)}"
    with written(arguments.journal, old) as journal:
        if journal.key == old.public:  # else it is refused below
            confirmed(what, sure=arguments.yes)
        journal.rotate(old, new, at=signing_time(journal, clock()), by=by)
        text = journal.seal(new, at=signing_time(journal, clock()))
        size = journal.size
    if arguments.json:
        as_json({"journal": arguments.journal, "size": size, "checkpoint": text, **_facts(new.public)})
        return 0
    line(f"{printable(arguments.journal)}: {new.name} {new.public.id} signs from entry {size:,} on")
    line(f"Sealed over {count(size, 'entry', 'entries')}; store this on another machine:")
    line()
    line(text.removesuffix("\n"))
    return 0


def _person(name: str) -> str:
    person = name.strip()
    if not person or not person.isprintable():
        raise RulesError(f"expected the name of a person, got {printable(repr(name))} (--by)")
    return person


def _public(file: str, passphrase_file: str | None) -> PublicKey:
    """The public key in a private or public key file."""
    if _PRIVATE in read_file(file, "key file", MOST_FILE):
        return signing_key(file, passphrase_file).public
    return load_public_key(Path(file))


def _facts(key: PublicKey) -> dict[str, str]:
    return {"name": key.name, "id": key.id, "key": key.text}

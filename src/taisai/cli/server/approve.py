"""`taisai approve`: a signed list of the rulebooks that may be played for money."""

from __future__ import annotations

import os
from argparse import Namespace
from datetime import date
from pathlib import Path

from taisai.audit.backup import expect_nothing
from taisai.cli.audit.reading import read_small
from taisai.cli.journal.files import signing_key
from taisai.cli.printing import as_json, line
from taisai.journal.seals.keys import SigningKey
from taisai.rules.book import rulebook
from taisai.rules.errors import RulesError, printable
from taisai.server.runtime.rulebook_approvals import MOST_BYTES, Approval, read_approvals, written_approvals


def run(arguments: Namespace) -> int:
    """Signs the list; on standard output unless a file is named."""
    since = _day("--from", arguments.since)
    until = None if arguments.until is None else _day("--until", arguments.until)
    if until is not None and until < since:
        raise RulesError(f"expected --until {since} or later, got {until}")
    key = signing_key(arguments.key, arguments.passphrase_file)
    if arguments.output is not None:
        expect_nothing(arguments.output)
    listed = _kept(arguments.keep, key)
    for name in arguments.books:
        book = rulebook(name).check()
        listed.append(Approval(book.id, book.digest, since, until))
    text = written_approvals(dict.fromkeys(listed), key)
    if arguments.output is not None:
        _write_new(arguments.output, text)
    if arguments.json:
        facts = [
            one._asdict() | {"since": str(one.since), "until": one.until and str(one.until)} for one in listed
        ]
        as_json({"key": key.public.text, "approvals": facts, "text": text})
    elif arguments.output is None:
        line(text.removesuffix("\n"))
    else:
        line(f"{printable(arguments.output)}: {len(listed)} approved, signed by {key.name} {key.public.id}")
    return 0


def _day(option: str, text: str) -> date:
    try:
        day = date.fromisoformat(text)
    except ValueError:
        day = None
    if day is None or day.isoformat() != text:
        raise RulesError(f"expected {option} a day such as 2026-11-16, got {text!r}")
    return day


def _kept(file: str | None, key: SigningKey) -> list[Approval]:
    """What a list by the same key says already."""
    if file is None:
        return []
    try:
        return list(read_approvals(read_small(file, "a list of approvals", MOST_BYTES), key.public).listed)
    except RulesError as error:
        raise RulesError(f"{error} ({printable(file)})") from None


def _write_new(file: str, text: str) -> None:
    try:
        with Path(file).open("x", encoding="utf-8", newline="\n") as opened:
            opened.write(text)
            opened.flush()
            os.fsync(opened.fileno())
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else "no name of a file"
        raise RulesError(f"expected a new file for the list, got {printable(repr(file))}: {why}") from None

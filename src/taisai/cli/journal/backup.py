"""`taisai backup` and `taisai restore`: a journal copied while it is written, and put in place again."""

from __future__ import annotations

import dataclasses
import shlex
from argparse import Namespace

from taisai.audit.backup import back_up, check, expect_nothing
from taisai.audit.backup import restore as put_in_place
from taisai.audit.sources import JournalFile
from taisai.cli.audit.reading import count, flawed, progress
from taisai.cli.journal.files import expect_journal
from taisai.cli.printing import as_json, line
from taisai.journal.errors import DamagedError
from taisai.rules.errors import RulesError, printable


def make(arguments: Namespace) -> int:
    """Copies a journal."""
    expect_journal(arguments.journal)
    copied = back_up(arguments.journal, arguments.copy)
    if arguments.json:
        as_json({"journal": arguments.journal, "copy": arguments.copy, **copied._asdict()})
        return 0
    entries = count(copied.entries, "entry", "entries")
    of = printable(arguments.journal)
    line(f"{printable(arguments.copy)}: {entries} of {of}, each chained to the one before")
    line(f"Prove it with `taisai restore --check {printable(shlex.quote(arguments.copy))}`")
    return 0


def restore(arguments: Namespace) -> int:
    """Checks a backup, and puts it in place unless only the check is wanted; 1 where it is not whole."""
    backup, journal = arguments.backup, arguments.journal
    if arguments.check is (journal is not None):
        got = "both" if arguments.check else "neither"
        raise RulesError(f"expected either a new JOURNAL to restore to or --check, got {got}")
    if journal is not None:
        expect_nothing(journal)
    expect_journal(backup)
    source = JournalFile(backup)
    try:
        with progress(source, "checking") as told:
            report = (
                check(backup, progress=told)
                if journal is None
                else put_in_place(backup, journal, progress=told)
            )
    except DamagedError as error:
        return flawed(error, backup, json=arguments.json)
    finally:
        source.close()
    if arguments.json:
        as_json({"ok": True, "backup": backup, "journal": journal, "report": dataclasses.asdict(report)})
        return 0
    entries = count(report.entries, "entry", "entries")
    line(f"{printable(backup)}: {entries}, whole and by the rules, {report.sealed:,} of them sealed")
    if journal is not None:
        line(f"{printable(journal)}: restored")
    return 0

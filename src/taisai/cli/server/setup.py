"""`taisai init`, `approve` and `unlock`: what sets up a house, or repairs access while no server runs."""

from __future__ import annotations

import getpass
import os
import secrets
import shlex
import sys
from argparse import Namespace
from datetime import date
from pathlib import Path

from taisai.audit.backup import expect_nothing
from taisai.cli.audit.reading import read_small
from taisai.cli.journal.files import clock, passphrase_in, signing_key
from taisai.cli.printing import as_json, line
from taisai.journal.seals.keys import SigningKey
from taisai.rules.book import rulebook
from taisai.rules.errors import RulesError, printable
from taisai.server.auth.credentials import MOST_PASSWORD, weakness
from taisai.server.config import load_config
from taisai.server.runtime.rulebook_approvals import (
    MOST_BYTES,
    RulebookApproval,
    read_approvals,
    written_approvals,
)
from taisai.server.runtime.setup import (
    APPROVALS,
    APPROVALS_KEY,
    JOURNAL,
    KEY,
    NewHouse,
    SetupPlan,
    check_setup,
    set_up,
    unlock_person,
)
from taisai.server.runtime.startup_checks import opened


def init(arguments: Namespace) -> int:
    """Founds the house, and tells what was made; the second factor is shown this once."""
    folder = Path(arguments.folder)
    plan = SetupPlan(
        folder=folder,
        house=arguments.house or folder.resolve().name,
        currency=arguments.currency,
        zone=arguments.zone,
        administrator=arguments.administrator,
        passphrase_file=Path(arguments.passphrase_file) if arguments.passphrase_file else None,
    )
    check_setup(plan)
    passphrase = passphrase_in(arguments.passphrase_file)
    if arguments.password_file is None:
        password = _asked(plan.administrator)
    else:
        password = _password_in(arguments.password_file)
    made = set_up(plan, password, now=clock(), entropy=secrets.token_bytes, passphrase=passphrase)
    if arguments.json:
        as_json(
            {
                "config": str(made.config),
                "journal": made.journal,
                "key": made.key.text,
                "approvals_key": made.approvals_key.text,
                "checkpoint": made.checkpoint,
                "second_factor": made.second_factor,
            }
        )
    else:
        _tell(plan, made)
    return 0


def _tell(plan: SetupPlan, made: NewHouse) -> None:
    def at(name: str) -> str:
        return printable(str(plan.folder / name))

    line(f"{printable(str(made.config))}: every setting with its meaning; change what is not yours")
    line(f"{at(JOURNAL)}: the journal {made.journal}; {plan.administrator} is its administrator")
    line(f"{at(KEY)}: signs the journal; keep a copy in a safe. Its public half, to give away:")
    line(f"  {made.key.text}")
    line(
        f"{at(APPROVALS)}: the rulebooks of the package, approved by {at(APPROVALS_KEY)}, a key of your own;"
    )
    line("  to play under a licence, put your regulator's list and his public key in their places")
    line()
    line(f"The second factor of {plan.administrator}, shown this once; type it into an authenticator now:")
    line(f"  {made.second_factor}")
    line()
    line(f"! {made.warning}")
    line()
    line(f"Next: taisai serve --config {printable(shlex.quote(str(made.config)))}")


def _asked(person: str) -> str:
    """The password, typed twice by whoever sits there."""
    if not sys.stdin.isatty():
        raise RulesError("expected --password-file, since nobody can type here, got none")
    try:
        password = getpass.getpass(f"Password of {person}: ")
        if says := weakness(password, person):
            raise RulesError(says)
        again = getpass.getpass("The same again: ")
    except EOFError:
        raise RulesError("expected a password, got none") from None
    if again != password:
        raise RulesError("expected the same password twice, got two")
    return password


def _password_in(file: str) -> str:
    """The first line of a file."""
    try:
        with Path(file).open("rb") as opened:
            return opened.readline(4 * MOST_PASSWORD + 2).rstrip(b"\r\n").decode()
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else "no text in UTF-8"
        raise RulesError(f"expected a file with a password, got {printable(repr(file))}: {why}") from None


def approve(arguments: Namespace) -> int:
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
        listed.append(RulebookApproval(book.id, book.digest, since, until))
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


def _kept(file: str | None, key: SigningKey) -> list[RulebookApproval]:
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


def unlock(arguments: Namespace) -> int:
    """Unlocks, and tells; a journal that a server has in use is left alone."""
    config, now = load_config(Path(arguments.config)), clock()
    start, found = opened(config, now=now)
    if found is None:
        raise RulesError("; ".join(one.says for one in start.findings if not one.passed))
    try:
        done = unlock_person(config, found, arguments.person, reason=arguments.reason, now=now)
    finally:
        found.journal.close()
    if arguments.json:
        as_json({"person": done.person, "was_locked": done.was_locked, "entries": done.entries})
    elif done.was_locked:
        line(f"{printable(done.person)} may sign in again; recorded and sealed, {done.entries:,} entries")
    else:
        line(f"{printable(done.person)} is not locked; nothing was written")
    return 0

"""`taisai init`, `approve` and `unlock`: set up a house, approve rulebooks, unlock a person."""

from __future__ import annotations

import getpass
import secrets
import shlex
import sys
from argparse import Namespace
from pathlib import Path

from taisai.audit.backup import expect_nothing
from taisai.cli.files import read_file, secret_line, write_new
from taisai.cli.journals import clock, passphrase_in, signing_key
from taisai.cli.printing import as_json, line
from taisai.journal.seals.keys import SigningKey
from taisai.rules.book import editions, rulebook, rulebook_ids
from taisai.rules.errors import RulesError, printable
from taisai.server.auth.credentials import MOST_PASSWORD, weakness
from taisai.server.config import load_config
from taisai.server.runtime.rulebook_approvals import (
    MOST_BYTES,
    RulebookApproval,
    edition_comments,
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
from taisai.validation import DAY_TEXT


def init(arguments: Namespace) -> int:
    """Sets up a house and prints its files; the second factor is shown only once."""
    folder = Path(arguments.folder)
    plan = SetupPlan(
        folder=folder, house=arguments.house or folder.resolve().name, currency=arguments.currency,
        zone=arguments.zone, administrator=arguments.administrator,
        passphrase_file=Path(arguments.passphrase_file) if arguments.passphrase_file else None,
    )  # fmt: skip
    check_setup(plan)
    passphrase = passphrase_in(arguments.passphrase_file)
    if arguments.password_file is None:
        password = _typed_password(plan.administrator)
    else:
        password = secret_line(arguments.password_file, "password file", 4 * MOST_PASSWORD)
    house = set_up(plan, password, now=clock(), entropy=secrets.token_bytes, passphrase=passphrase)
    if arguments.json:
        as_json({
            "config": str(house.config), "journal": house.journal, "key": house.key.text,
            "approvals_key": house.approvals_key.text, "checkpoint": house.checkpoint,
            "second_factor": house.second_factor,
        })  # fmt: skip
    else:
        _print_house(plan, house)
    return 0


def _print_house(plan: SetupPlan, house: NewHouse) -> None:
    def at(name: str) -> str:
        return printable(str(plan.folder / name))

    line(f"{printable(str(house.config))}: every setting with its meaning; adapt it to your house")
    line(f"{at(JOURNAL)}: the journal {house.journal}; {plan.administrator} is the administrator")
    line(f"{at(KEY)}: signs the journal; keep a copy in a safe. Its public half, for auditors:")
    line(f"  {house.key.text}")
    approved = f"approved by {at(APPROVALS_KEY)}, a key of your own"
    line(f"{at(APPROVALS)}: the rulebooks of the package, {approved};")
    line("  to play under a licence, replace both with your regulator's list and public key")
    line()
    line(f"The second factor of {plan.administrator}, shown only once; enter it in an authenticator now:")
    line(f"  {house.second_factor}")
    line()
    line(f"! {house.warning}")
    line()
    line(f"Next: taisai serve --config {printable(shlex.quote(str(house.config)))}")


def _typed_password(person: str) -> str:
    """The password, typed twice at the terminal."""
    if not sys.stdin.isatty():
        raise RulesError("missing option --password-file: standard input is not a terminal")
    try:
        password = getpass.getpass(f"Password of {person}: ")
        if problem := weakness(password, person):
            raise RulesError(problem)
        again = getpass.getpass("Repeat the password: ")
    except EOFError:
        raise RulesError("no password was typed: the input ended") from None
    if again != password:
        raise RulesError("the two passwords differ")
    return password


def approve(arguments: Namespace) -> int:
    """Signs a list of approvals, and writes it to a file or to standard output."""
    since = DAY_TEXT.check(arguments.since, "--from")
    until = None if arguments.until is None else DAY_TEXT.check(arguments.until, "--until")
    if until is not None and until < since:
        raise RulesError(f"expected {since} or later, got {until} (--until)")
    key = signing_key(arguments.key, arguments.passphrase_file)
    if arguments.output is not None:
        expect_nothing(arguments.output)
    listed = _older_approvals(arguments.keep, key)
    books = {book.digest: book for name in rulebook_ids() for book in editions(name)}
    for name in arguments.books:
        book = rulebook(name).check()
        books[book.digest] = book
        listed.append(RulebookApproval(book.id, book.digest, since, until))
    known = {digest: book.edition for digest, book in books.items()}
    text = written_approvals(dict.fromkeys(listed), key, comments=edition_comments(listed, books.values()))
    if arguments.output is not None:
        write_new(arguments.output, text)
    if arguments.json:
        facts = [
            approval._asdict()
            | {"since": str(approval.since), "until": approval.until and str(approval.until)}
            | {"edition": known.get(approval.digest)}
            for approval in listed
        ]
        as_json({"key": key.public.text, "approvals": facts, "text": text})
    elif arguments.output is None:
        line(text.removesuffix("\n"))
    else:
        line(f"{printable(arguments.output)}: {len(listed)} approved, signed by {key.name} {key.public.id}")
    return 0


def _older_approvals(file: str | None, key: SigningKey) -> list[RulebookApproval]:
    if file is None:
        return []
    try:
        return list(read_approvals(read_file(file, "list of approvals", MOST_BYTES), key.public).listed)
    except RulesError as error:
        raise RulesError(f"{error} ({printable(file)})") from None


def unlock(arguments: Namespace) -> int:
    """Unlocks a person; a journal that a server uses is not changed."""
    config, now = load_config(Path(arguments.config)), clock()
    start, journal = opened(config, now=now)
    if journal is None:
        raise RulesError("; ".join(finding.text for finding in start.findings if not finding.passed))
    try:
        result = unlock_person(config, journal, arguments.person, reason=arguments.reason, now=now)
    finally:
        journal.journal.close()
    if arguments.json:
        as_json({"person": result.person, "was_locked": result.was_locked, "entries": result.entries})
    elif result.was_locked:
        line(f"{printable(result.person)} may sign in again; recorded and sealed, {result.entries:,} entries")
    else:
        line(f"{printable(result.person)} is not locked; nothing was written")
    return 0

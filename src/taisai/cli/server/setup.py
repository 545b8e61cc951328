"""`taisai init`, `approve`, `unlock`, `recover-access`: set up a house, approve rulebooks, let people in."""

from __future__ import annotations

import secrets
import shlex
from argparse import Namespace
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from taisai.audit.backup import expect_nothing
from taisai.cage.values import clock as utc
from taisai.cli.files import read_file, write_new
from taisai.cli.journals import clock, passphrase_in, signing_key
from taisai.cli.printing import as_json, line
from taisai.journal.seals.keys import SigningKey
from taisai.rules.book import editions, rulebook, rulebook_ids
from taisai.rules.errors import RulesError, printable
from taisai.server.config import Config, load_config
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
    recover_access,
    set_up,
    unlock_person,
)
from taisai.server.runtime.startup_checks import OpenedJournal, opened
from taisai.validation import DAY_TEXT


def init(arguments: Namespace) -> int:
    """Sets up a house and prints its files; the activation codes are shown only once."""
    folder = Path(arguments.folder)
    plan = SetupPlan(
        folder=folder, house=arguments.house or folder.resolve().name, currency=arguments.currency,
        zone=arguments.zone, administrator=arguments.administrator, supervisor=arguments.supervisor,
        passphrase_file=Path(arguments.passphrase_file) if arguments.passphrase_file else None,
        database=arguments.database,
    )  # fmt: skip
    check_setup(plan)
    passphrase = passphrase_in(arguments.passphrase_file)
    house = set_up(plan, now=clock(), entropy=secrets.token_bytes, passphrase=passphrase)
    if arguments.json:
        as_json({
            "config": str(house.config), "journal": house.journal, "key": house.key.text,
            "approvals_key": house.approvals_key.text, "checkpoint": house.checkpoint,
            "activations": dict(house.activations), "until": house.until,
        })  # fmt: skip
    else:
        _print_house(plan, house)
    return 0


def _print_house(plan: SetupPlan, house: NewHouse) -> None:
    def at(name: str) -> str:
        return printable(str(plan.folder / name))

    line(f"{printable(str(house.config))}: every setting with its meaning; adapt it to your house")
    people = f"{plan.administrator} is the administrator, {plan.supervisor} the shift manager"
    place = at(JOURNAL) if plan.database is None else printable(plan.database)
    line(f"{place}: the journal {house.journal}; {people}")
    line(f"{at(KEY)}: signs the journal; keep a copy in a safe. Its public half, for auditors:")
    line(f"  {house.key.text}")
    approved = f"approved by {at(APPROVALS_KEY)}, a key of your own"
    line(f"{at(APPROVALS)}: the rulebooks of the package, {approved};")
    line("  to play under a licence, replace both with your regulator's list and public key")
    line()
    line(f"Codes for a first sign-in, shown only once, valid until {utc(house.until)}. Give each person")
    line("theirs: at the page /first-sign-in they set a password and an authenticator that nobody else sees:")
    for person, code in house.activations.items():
        line(f"  {code}  {person}")
    line()
    line(f"! {house.warning}")
    line()
    line(f"Next: taisai serve --config {printable(shlex.quote(str(house.config)))}")


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


@contextmanager
def _journal_of(config: Config, now: int) -> Iterator[OpenedJournal]:
    """The journal of a house that no server uses."""
    start, journal = opened(config, now=lambda: now)
    if journal is None:
        raise RulesError("; ".join(finding.text for finding in start.findings if not finding.passed))
    try:
        yield journal
    finally:
        journal.journal.close()


def unlock(arguments: Namespace) -> int:
    """Unlocks a person; a journal that a server uses is not changed."""
    config, now = load_config(Path(arguments.config)), clock()
    with _journal_of(config, now) as journal:
        result = unlock_person(config, journal, arguments.person, reason=arguments.reason, now=now)
    if arguments.json:
        as_json({"person": result.person, "was_locked": result.was_locked, "entries": result.entries})
    elif result.was_locked:
        line(f"{printable(result.person)} may sign in again; recorded and sealed, {result.entries:,} entries")
    else:
        line(f"{printable(result.person)} is not locked; nothing was written")
    return 0


def recover(arguments: Namespace) -> int:
    """Gives a supervisor a code for a first sign-in; a journal that a server uses is not changed."""
    config, now = load_config(Path(arguments.config)), clock()
    with _journal_of(config, now) as journal:
        result = recover_access(
            config, journal, arguments.person, arguments.rank, reason=arguments.reason, now=now,
            entropy=secrets.token_bytes,
        )  # fmt: skip
    if arguments.json:
        as_json(result._asdict())
    else:
        line(
            f"{printable(result.person)} is {arguments.rank}; recorded and sealed, {result.entries:,} entries"
        )
        line(f"Code for a first sign-in at /first-sign-in, shown only once, valid until {utc(result.until)}:")
        line(f"  {result.code}")
        line("! every start and the pit show this until another supervisor acknowledges it in the office")
    return 0

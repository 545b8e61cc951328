"""`taisai init`: a house founded in a folder."""

from __future__ import annotations

import getpass
import secrets
import shlex
import sys
from argparse import Namespace
from pathlib import Path

from taisai.cli.journal.files import clock, passphrase_in
from taisai.cli.printing import as_json, line
from taisai.rules.errors import RulesError, printable
from taisai.server.auth.credentials import MOST_PASSWORD, weakness
from taisai.server.runtime.setup import (
    APPROVALS,
    APPROVALS_KEY,
    JOURNAL,
    KEY,
    Founded,
    Founding,
    check_founding,
    founded,
)


def run(arguments: Namespace) -> int:
    """Founds the house, and tells what was made; the second factor is shown this once."""
    folder = Path(arguments.folder)
    plan = Founding(
        folder=folder,
        house=arguments.house or folder.resolve().name,
        currency=arguments.currency,
        zone=arguments.zone,
        administrator=arguments.administrator,
        passphrase_file=Path(arguments.passphrase_file) if arguments.passphrase_file else None,
    )
    check_founding(plan)
    passphrase = passphrase_in(arguments.passphrase_file)
    if arguments.password_file is None:
        password = _asked(plan.administrator)
    else:
        password = _password_in(arguments.password_file)
    made = founded(plan, password, now=clock(), entropy=secrets.token_bytes, passphrase=passphrase)
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


def _tell(plan: Founding, made: Founded) -> None:
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

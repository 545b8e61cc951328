"""`taisai table pin`: what the table answers, written into playbooks for people to read and object to."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterable
from pathlib import Path

from taisai.cli.printing import line
from taisai.cli.table.play import book_of, counted, text_of
from taisai.game.playbook import Pinned, pinned, playbook
from taisai.rules import RulesError
from taisai.rules.errors import printable


def run(arguments: Namespace) -> int:
    """Pins the playbooks named, and says what was written."""
    for file, made in pin(arguments.files).items():
        if not made.written and not made.struck:
            line(f"{printable(file)}: {counted(made.lines)}, all as written")
            continue
        struck = f", {made.struck} struck out" if made.struck else ""
        line(f"{printable(file)}: {made.written} of {counted(made.lines)} written{struck}")
        for number, refusal in made.refusals:
            line(f"  {printable(file)}:{number}: refused, {printable(str(refusal), 1_000)}")
    return 0


def pin(files: Iterable[str]) -> dict[str, Pinned]:
    """File → what it pins now; an error in one leaves all as they were, for all are played first."""
    found: dict[str, Pinned] = {}
    for file in files:
        text = text_of(file)
        found[file] = pinned(text, book_of(playbook(text, file)), file)
    for file, made in found.items():
        _write(file, made.text)
    return found


def _write(file: str, text: str) -> None:
    fresh, path = text.encode(), Path(file)
    try:
        if path.read_bytes() != fresh:
            path.write_bytes(fresh)
    except OSError as error:
        raise RulesError(
            f"expected a playbook that can be written, got {printable(repr(file))}: {error.strerror}"
        ) from None

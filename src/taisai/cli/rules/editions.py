"""`taisai rules diff` with two editions of a rulebook: the changelog, and every entry that differs."""

from __future__ import annotations

from argparse import Namespace
from itertools import groupby
from typing import Any

from taisai.cli.printing import as_json, line, plain, wrapped
from taisai.rules.book import Rulebook, editions, rulebook
from taisai.rules.clauses import EditionChange
from taisai.rules.editions import differences
from taisai.rules.errors import RulesError


def compare_editions(arguments: Namespace) -> int:
    """Prints what the newer of two editions reads in another way, and why."""
    older, newer = _two(arguments.left, arguments.right)
    found = differences(older, newer)
    if arguments.json:
        facts: dict[str, Any] = {
            "older": _facts(older), "newer": _facts(newer), "changes": plain(newer.changes),
            "differences": [plain(difference) for difference in found],
        }  # fmt: skip
        as_json(facts)
        return 0
    line(f"{older.name} and {newer.name}: {len(newer.changes)} readings changed, {len(found)} entries differ")
    line(f"{older.name}: practice {older.practice}, {older.digest}")
    line(f"{newer.name}: practice {newer.practice}, {newer.digest}")
    line()
    for change in newer.changes:
        show_change(change)
    for part, group in groupby(found, key=lambda difference: difference.part):
        line()
        line(f"[{part}]")
        for difference in group:
            clauses = f" ({', '.join(difference.clauses)})" if difference.clauses else ""
            wrapped(f"{difference.key}{clauses}")
            if difference.was is not None:
                wrapped(f"  - {difference.was}")
            if difference.now is not None:
                wrapped(f"  + {difference.now}")
    return 0


def show_change(change: EditionChange) -> None:
    """Prints an entry of the changelog."""
    wrapped(f"{', '.join(change.clauses) or 'silent'}")
    wrapped(f"  was: {change.was}")
    wrapped(f"  now: {change.now}")
    wrapped(f"  because: {change.reason}")


def _facts(book: Rulebook) -> dict[str, Any]:
    return {"id": book.id, "edition": book.edition, "practice": book.practice, "digest": book.digest}


def _two(left: str, right: str | None) -> tuple[Rulebook, Rulebook]:
    """The older and the newer edition; with one name, the newest edition and the one before it."""
    if right is None:
        found = editions(left)
        if len(found) < 2:
            raise RulesError(f"expected a rulebook with two editions, or a second rulebook, got {left!r}")
        return found[1], found[0]
    one, other = rulebook(left).check(), rulebook(right).check()
    if one.id != other.id:
        expected = "two editions of one rulebook, or two layouts such as us-sic-bo/A"
        raise RulesError(f"expected {expected}, got {one.id} and {other.id}")
    return (one, other) if one.edition <= other.edition else (other, one)

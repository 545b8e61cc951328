"""`taisai rules check`: is this a rulebook, and is it what was meant?"""

from __future__ import annotations

import sys
from argparse import Namespace

from taisai.cli.printing import as_json, line
from taisai.rules import BookError, rulebook
from taisai.rules.errors import printable


def run(arguments: Namespace) -> int:
    """Prints what is wrong (exit 1), or what the rulebook contains and what it warns of."""
    try:
        book = rulebook(arguments.book).check()
    except BookError as error:
        if arguments.json:
            facts = {"file": error.file, "key": error.key, "expected": error.expected, "got": error.got}
            as_json({"ok": False, "error": facts, "warnings": []})
        else:
            sys.stderr.write(f"taisai: refused: {printable(str(error), 1_000)}\n")
        return 1
    warnings = list(book.warnings())
    if arguments.json:
        as_json({"ok": True, "rulebook": book.id, "digest": book.digest, "error": None, "warnings": warnings})
        return 0
    line(f"{book.file}: {book.title} ({book.id}) is a rulebook")
    for name, layout in book.layouts.items():
        matrix = book.matrix(name)
        line(f"  layout {name}: {len(matrix.areas)} areas by {layout.clause}, matrix {matrix.digest[:19]}…")
    line(f"  {len(book.clauses)} clauses, {len(book.interpretations)} readings, {len(book.errata)} errata")
    for warning in warnings:
        line(f"  warning: {warning}")
    return 0

"""`taisai rules list`: the rulebooks that come with the package."""

from __future__ import annotations

from argparse import Namespace

from taisai.cli.printing import as_json, show, table
from taisai.rules import Rulebook, rulebook, rulebook_ids


def run(arguments: Namespace) -> int:
    """Prints the rulebooks."""
    books = [rulebook(name) for name in rulebook_ids()]
    if arguments.json:
        as_json({"rulebooks": [_facts(book) for book in books]})
        return 0
    made = table("Rulebooks", ("id", "game", "from", "chance", "layouts (areas)"))
    for book in books:
        layouts = ", ".join(f"{name} ({areas})" for name, areas in _layouts(book))
        effective = str(book.effective)[:16] if book.effective else "–"
        made.add_row(book.id, f"{book.title}\n{book.title_zh}", effective, book.chance_rule.kind, layouts)
    show(made)
    return 0


def _layouts(book: Rulebook) -> list[tuple[str, int]]:
    return [(name, len(on.table.areas())) for name, on in book.pay_by_layout.items()]


def _facts(book: Rulebook) -> dict[str, object]:
    return {
        "id": book.id,
        "title": book.title,
        "title_zh": book.title_zh,
        "operator": book.operator,
        "version": book.version,
        "effective": book.effective.isoformat() if book.effective else None,
        "chance": book.chance_rule.kind,
        "layouts": [{"id": name, "areas": areas} for name, areas in _layouts(book)],
        "digest": book.digest,
    }

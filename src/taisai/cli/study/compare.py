"""`taisai compare`: two pay tables, area by area."""

from __future__ import annotations

from argparse import Namespace

from taisai.cli import asked
from taisai.cli.study.telling import tell
from taisai.study.compare import Side, compare


def run(arguments: Namespace) -> int:
    """Prints both."""
    offers = asked.named_once(arguments.offer, 'an offer such as "triple-1=160 to 1"')
    left = _side(arguments.left, arguments)
    right = _side(arguments.right, arguments, asked.settings(arguments), offers)
    return tell(compare(left, right), arguments)


def _side(
    text: str,
    arguments: Namespace,
    settings: dict[str, str] | None = None,
    offers: dict[str, str] | None = None,
) -> Side:
    book, layout = asked.book_and_layout(text)
    matrix = book.matrix(layout, settings=settings, offered=offers)
    return Side(matrix, asked.chance(book, arguments))

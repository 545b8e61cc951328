"""`taisai compare`: two pay tables, area by area."""

from __future__ import annotations

from argparse import Namespace

from taisai.cli import asked
from taisai.cli.study.telling import tell
from taisai.study.compare import Side, compare


def run(arguments: Namespace) -> int:
    """Prints both."""
    return tell(compare(_side(arguments.left), _side(arguments.right)), arguments)


def _side(text: str) -> Side:
    book, layout = asked.book_and_layout(text)
    return Side(book.matrix(layout), book.chance())

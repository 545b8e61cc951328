"""`taisai study resettle`: an export of bets settled anew and balanced."""

from __future__ import annotations

from argparse import Namespace

from taisai.cli import CHECK_FAILED, DONE, asked
from taisai.cli.study.progress import shown_progress
from taisai.cli.study.telling import tell
from taisai.rules import Matrix, RulesError, rulebook, rulebook_ids
from taisai.study.journal.resettle import resettle


def run(arguments: Namespace) -> int:
    """Checks every bet; exit code 1 where one did not get what was due."""
    if arguments.book is None and (arguments.settings or arguments.offer):
        raise RulesError("expected --book with --set and --offer, got no book that they are of")
    with shown_progress("bets", _bets(arguments.file)) as advance:
        found = resettle(arguments.file, _known(arguments), advance)
    tell(found, arguments)
    return DONE if found.is_right else CHECK_FAILED


def _known(arguments: Namespace) -> dict[str, Matrix]:
    """The pay tables of the package as the documents have them, and one of the operator's own."""
    books = [rulebook(name) for name in rulebook_ids()]
    found = {m.digest: m for book in books for m in (book.matrix(layout) for layout in book.pay_by_layout)}
    if arguments.book is not None:
        book, layout = asked.book_and_layout(arguments.book)
        offers = asked.named_once(arguments.offer, 'an offer such as "triple-1=160 to 1"')
        for name in [layout] if layout else book.pay_by_layout:
            own = book.matrix(name, settings=asked.settings(arguments), offered=offers)
            found[own.digest] = own
    return found


def _bets(file: str) -> int:
    from taisai.study.missing import needed

    with needed("NumPy and PyArrow", "study"):
        from taisai.study.journal.columnar import ColumnFile
    return ColumnFile(file, {}).bets

"""`taisai compare`: two pay tables, area by area.

`taisai portfolio`: bets held together, and the areas that nobody should hold.

`taisai par`: the par sheet of a layout, in a file to keep.
"""

from __future__ import annotations

import base64
from argparse import Namespace
from pathlib import Path

from taisai.cli import asked
from taisai.cli.printing import line, writing
from taisai.cli.rules.felt import drawn
from taisai.cli.study.output import tell
from taisai.rules import RulesError, rulebook
from taisai.rules.errors import printable
from taisai.study.compare import Side, compare
from taisai.study.dominance import dominance
from taisai.study.par import ParSheet, Signature, par_sheet
from taisai.study.portfolio import portfolio


def run_compare(arguments: Namespace) -> int:
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


def run_portfolio(arguments: Namespace) -> int:
    """Prints what the bets come to, or which areas of the layout are dominated."""
    book = rulebook(arguments.book)
    matrix = asked.matrix(book, arguments)
    if arguments.dominated:
        if arguments.bet or arguments.decks is not None or arguments.seen is not None:
            raise RulesError("expected --dominated alone: it is about the layout, whatever bets and shoe")
        return tell(dominance(matrix), arguments)
    return tell(portfolio(matrix, asked.chance(book, arguments), asked.bets(arguments.bet)), arguments)


def run_par(arguments: Namespace) -> int:
    """Writes the sheet, or prints it where no file is named."""
    book = rulebook(arguments.book)
    decks = asked.whole(arguments.decks, "--decks", such_as="6") if arguments.decks is not None else None
    offers = asked.named_once(arguments.offer, 'an offer such as "triple-1=160 to 1"')
    sheet = par_sheet(book, arguments.layout, settings=asked.settings(arguments), offered=offers, decks=decks)
    if arguments.key is not None:
        sheet = _signed(sheet, arguments)
    if arguments.output is None:
        return tell(sheet, arguments)
    made = _made(sheet, arguments.output, drawn(sheet.matrix, book.layout(arguments.layout)))
    with writing(arguments.output) as file:
        file.write(made)
    if arguments.json:
        return tell(sheet, arguments)
    line(f"{printable(arguments.output)}: {sheet.book.title}, layout {sheet.matrix.layout}, {sheet.digest}")
    return 0


def _made(sheet: ParSheet, output: str, felt: str) -> bytes:
    match Path(output).suffix.lower():
        case ".pdf":
            from taisai.study.par_files import as_pdf

            return as_pdf(sheet, felt)
        case ".html":
            from taisai.study.par_files import as_html

            return as_html(sheet, felt).encode()
        case _:
            raise RulesError(f"expected a file that ends with .pdf or .html, got {printable(output)!r}")


def _signed(sheet: ParSheet, arguments: Namespace) -> ParSheet:
    from taisai.cli.journal.files import signing_key

    key = signing_key(arguments.key, arguments.passphrase_file)
    signature = base64.b64encode(key.sign(sheet.digest.encode())).decode()
    return sheet.signed(Signature(key.public.text, signature))

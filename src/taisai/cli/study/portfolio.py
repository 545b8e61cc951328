"""`taisai portfolio`: bets held together, and the areas that nobody should hold."""

from __future__ import annotations

from argparse import Namespace

from taisai.cli import asked
from taisai.cli.study.telling import tell
from taisai.rules import RulesError, rulebook
from taisai.study.portfolio import dominance, portfolio


def run(arguments: Namespace) -> int:
    """Prints what the bets come to, or which areas of the layout are dominated."""
    book = rulebook(arguments.book)
    matrix = asked.matrix(book, arguments)
    if arguments.dominated:
        if arguments.bet:
            raise RulesError("expected --dominated, which is about the whole layout, or bets; got both")
        return tell(dominance(matrix), arguments)
    return tell(portfolio(matrix, asked.chance(book, arguments), asked.bets(arguments.bet)), arguments)

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
        if arguments.bet or arguments.decks is not None or arguments.seen is not None:
            raise RulesError("expected --dominated alone: it is about the layout, whatever bets and shoe")
        return tell(dominance(matrix), arguments)
    return tell(portfolio(matrix, asked.chance(book, arguments), asked.bets(arguments.bet)), arguments)

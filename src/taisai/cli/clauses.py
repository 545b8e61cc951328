"""`taisai rules clauses`: every numbered clause in our words, and where it is used."""

from __future__ import annotations

from argparse import Namespace

from taisai.cli.printing import as_json, show, table
from taisai.rules import RulesError, rulebook
from taisai.rules.clauses import About
from taisai.rules.uses import clause_uses

MOST_USES_SHOWN = 3


def run(arguments: Namespace) -> int:
    """Prints the clauses of a rulebook."""
    book = rulebook(arguments.book)
    if arguments.about is not None and arguments.about not in set(About):
        raise RulesError(f"expected --about one of {', '.join(About)}, got {arguments.about!r}")
    uses = clause_uses(book)
    texts = [text for text in book.clauses.values() if arguments.about in (None, text.about)]
    if arguments.clause is not None:
        if arguments.clause not in book.clauses:
            raise RulesError(f"expected a clause of {book.id}, got {arguments.clause!r}")
        texts = [text for text in texts if _within(text.clause, arguments.clause)]
    if arguments.json:
        as_json(
            {
                "rulebook": book.id,
                "clauses": [
                    {
                        "clause": text.clause,
                        "about": text.about,
                        "says": text.says,
                        "used": uses.get(text.clause, ()),
                    }
                    for text in texts
                ],
            }
        )
        return 0
    made = table(f"{book.id}: {len(texts)} clauses, in our words", ("clause", "about", "says", "used for"))
    for text in texts:
        made.add_row(text.clause, str(text.about), text.says, _short(uses.get(text.clause, ())))
    show(made)
    return 0


def _within(clause: str, asked: str) -> bool:
    """Whether a clause is the one asked for or a part of it: 5.13.1 of 5.13, 2(a)(7) of 2(a)."""
    return clause == asked or clause.startswith((f"{asked}.", f"{asked}("))


def _short(uses: tuple[str, ...]) -> str:
    more = f" and {len(uses) - MOST_USES_SHOWN} more" if len(uses) > MOST_USES_SHOWN else ""
    return "; ".join(uses[:MOST_USES_SHOWN]) + more

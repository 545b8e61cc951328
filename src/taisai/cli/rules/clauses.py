"""`taisai rules clauses`: every numbered clause in our words, where it is used and what holds it."""

from __future__ import annotations

from argparse import Namespace

from taisai.cli.printing import as_json, line, show, table
from taisai.rules import Rulebook, RulesError, rulebook
from taisai.rules.clause_coverage import ClauseCoverage, citations_of, coverage_of
from taisai.rules.clauses import ClauseSubject

MOST_USES_SHOWN = 3


def run(arguments: Namespace) -> int:
    """Prints the clauses of a rulebook."""
    book = rulebook(arguments.book)
    if arguments.about is not None and arguments.about not in set(ClauseSubject):
        raise RulesError(f"expected --about one of {', '.join(ClauseSubject)}, got {arguments.about!r}")
    uses, held = citations_of(book), coverage_of(book)
    texts = [text for text in book.clauses.values() if arguments.about in (None, text.about)]
    if arguments.clause is not None:
        if arguments.clause not in book.clauses:
            raise RulesError(
                f"expected a clause of {book.id}, got {arguments.clause!r}{_near(arguments.clause, book)}"
            )
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
                        "held": held[text.clause]._asdict(),
                    }
                    for text in texts
                ],
            }
        )
        return 0
    columns = ("clause", "about", "says", "used for", "held by")
    count = "1 clause" if len(texts) == 1 else f"{len(texts)} clauses"
    made = table(f"{book.id}: {count}, in our words", columns)
    for text in texts:
        used = _short(uses.get(text.clause, ()))
        made.add_row(text.clause, str(text.about), text.says, used, _first(held[text.clause]))
    if arguments.clause is not None:
        for test in dict.fromkeys(test for text in texts for test in held[text.clause].tests):
            line(test)
        line()
    show(made)
    return 0


def _near(clause: str, book: Rulebook) -> str:
    from difflib import get_close_matches

    near = get_close_matches(clause[:40], book.clauses, n=3)
    return f"; near it are {', '.join(near)}" if near else ""


def _within(clause: str, asked: str) -> bool:
    """Whether a clause is the one asked for or a part of it: 5.13.1 of 5.13, 2(a)(7) of 2(a)."""
    return clause == asked or clause.startswith((f"{asked}.", f"{asked}("))


def _short(uses: tuple[str, ...]) -> str:
    more = f" and {len(uses) - MOST_USES_SHOWN} more" if len(uses) > MOST_USES_SHOWN else ""
    return "; ".join(uses[:MOST_USES_SHOWN]) + more


def _first(held: ClauseCoverage) -> str:
    """The name of the first test and how many there are besides; else why there is none."""
    if held.why is not None:
        return held.why
    first, *others = (test.rpartition("::")[2] for test in held.tests)
    return f"{first} and {len(others)} more" if others else first

"""`taisai rules clauses` and `rules irregularities`."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Mapping
from typing import Final

from taisai.cli import values
from taisai.cli.printing import as_json, line, show, show_table, table
from taisai.cli.rules.pairs import pair_facts, show_pairs
from taisai.rules import Rulebook, RulesError, rulebook
from taisai.rules.clause_coverage import ClauseCoverage, citations_of, coverage_of
from taisai.rules.clauses import ClauseSubject
from taisai.rules.irregularities import RulingCell
from taisai.rules.vocabulary import Irregularity, Phase

MOST_USES_SHOWN: Final = 3


def list_clauses(arguments: Namespace) -> int:
    book = rulebook(arguments.book)
    if arguments.about is not None and arguments.about not in set(ClauseSubject):
        raise RulesError(f"expected one of {', '.join(ClauseSubject)}, got {arguments.about!r} (--about)")
    citations, coverage = citations_of(book), coverage_of(book)
    texts = [text for text in book.clauses.values() if arguments.about in (None, text.about)]
    if arguments.clause is not None:
        if arguments.clause not in book.clauses:
            from difflib import get_close_matches

            similar = ", ".join(get_close_matches(arguments.clause[:40], book.clauses, n=3))
            more = f"; similar clauses: {similar}" if similar else ""
            raise RulesError(f"unknown clause {arguments.clause!r} of {book.id}{more}")
        texts = [text for text in texts if _is_within(text.clause, arguments.clause)]
    if arguments.json:
        facts = [
            text._asdict() | {"used": citations.get(text.clause, ()), "held": coverage[text.clause]._asdict()}
            for text in texts
        ]
        as_json({"rulebook": book.id, "clauses": facts})
        return 0
    if arguments.clause is not None:
        for test in dict.fromkeys(test for text in texts for test in coverage[text.clause].tests):
            line(test)
        line()
    number = "1 clause" if len(texts) == 1 else f"{len(texts)} clauses"
    rows = ((*text, _uses(citations.get(text.clause, ())), _test(coverage[text.clause])) for text in texts)
    columns = ("clause", "about", "says", "used for", "tested by")
    show_table(f"{book.id}: {number}, in our words", columns, rows)
    return 0


def _is_within(clause: str, outer: str) -> bool:
    """Whether a clause is another or a part of it: 5.13.1 of 5.13, 2(a)(7) of 2(a)."""
    return clause == outer or clause.startswith((f"{outer}.", f"{outer}("))


def _uses(citations: tuple[str, ...]) -> str:
    more = f" and {len(citations) - MOST_USES_SHOWN} more" if len(citations) > MOST_USES_SHOWN else ""
    return "; ".join(citations[:MOST_USES_SHOWN]) + more


def _test(coverage: ClauseCoverage) -> str:
    """The kind and name of the first test and the number of others; else why there is none."""
    if coverage.why is not None:
        return coverage.why
    first, *others = (test.rpartition("::")[2].rpartition("/")[2] for test in coverage.tests)
    return f"{coverage.kind}: {first}" + (f" and {len(others)} more" if others else "")


def list_irregularities(arguments: Namespace) -> int:
    book = rulebook(arguments.book)
    chosen = book.chosen(values.settings(arguments))
    events = _events(arguments.event)
    if arguments.json:
        as_json(irregularity_facts(book, chosen, events))
        return 0
    rulings = book.irregularities
    title = f"{book.id}: irregularities by phase, with their rulings"
    filled = table(title, ("irregularity", "phases", "ruling", "clause"))
    for event in events:
        by_phase = {phase: rulings.ruling_for(event, phase, chosen) for phase in rulings.phases}
        rows = [(_phases(phases, cell, len(by_phase)), cell) for cell, phases in _grouped(by_phase).items()]
        if_seen = {phase: cell for (happened, phase), cell in rulings.seen.items() if happened is event}
        rows += [(", ".join(phases) + ": a die seen", cell) for cell, phases in _grouped(if_seen).items()]
        for n, (where, cell) in enumerate(rows):
            ruling = f"{cell.ruling} to {cell.to}" if cell.to else str(cell.ruling)
            ruling += f" before the {cell.witness}" if cell.witness else ""
            style = None if cell.foreseen else "dim"
            filled.add_row("" if n else str(event), where, ruling, cell.clause, style=style)
    show(filled)
    if rulings.pairs is not None:
        show_pairs(book.id, rulings.pairs)
    return 0


def _events(name: str | None) -> tuple[Irregularity, ...]:
    if name is None:
        return tuple(Irregularity)
    if name not in set(Irregularity):
        raise RulesError(f"unknown irregularity {name!r}; expected one of {', '.join(Irregularity)}")
    return (Irregularity(name),)


def irregularity_facts(
    book: Rulebook, chosen: Mapping[str, str], events: tuple[Irregularity, ...] = tuple(Irregularity)
) -> dict[str, object]:
    """Irregularities × phases under these settings, for JSON."""
    rulings, irregularities = book.irregularities, []
    for event in events:
        facts = [
            {
                "phase": phase, **_facts(rulings.ruling_for(event, phase, chosen)),
                "if_seen": _facts(rulings.seen.get((event, phase))) or None,
            }
            for phase in rulings.phases
        ]  # fmt: skip
        irregularities.append({"id": event, "rulings": facts})
    return {
        "rulebook": book.id, "phases": rulings.phases, "void": rulings.void, "later": rulings.later,
        "irregularities": irregularities, "pairs": pair_facts(rulings.pairs),
    }  # fmt: skip


def _facts(cell: RulingCell | None) -> dict[str, object]:
    if cell is None:
        return {}
    keys = ("ruling", "clause", "to", "witness", "foreseen")
    return {key: getattr(cell, key) for key in keys}


def _phases(phases: list[str], cell: RulingCell, of: int) -> str:
    if len(phases) == of:
        return "every phase"
    return "other phases" if cell.caught else ", ".join(phases)


def _grouped(by_phase: dict[Phase, RulingCell]) -> dict[RulingCell, list[str]]:
    """Ruling → its phases; the rulings that the document foresees come first."""
    groups: dict[RulingCell, list[str]] = {}
    for phase, cell in by_phase.items():
        groups.setdefault(cell, []).append(str(phase))
    return dict(sorted(groups.items(), key=lambda group: group[0].caught))

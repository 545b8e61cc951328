"""`taisai rules irregularities`: what is ruled when something goes wrong."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Mapping

from taisai.cli import asked
from taisai.cli.printing import as_json, show, table
from taisai.rules import Rulebook, RulesError, rulebook
from taisai.rules.irregularities import RulingCell
from taisai.rules.vocabulary import Irregularity, Phase


def run(arguments: Namespace) -> int:
    """Prints the whole table, every cell with its clause."""
    book = rulebook(arguments.book)
    chosen = book.chosen(asked.settings(arguments))
    events = _events(arguments.event)
    if arguments.json:
        as_json(whole_table(book, chosen, events))
        return 0
    rulings = book.irregularities
    made = table(
        f"{book.id}: what happened, in which phase, what is ruled",
        ("irregularity", "phases", "ruling", "clause"),
    )
    for event in events:
        row = {phase: rulings.ruling_for(event, phase, chosen) for phase in rulings.phases}
        rows = [(_where(phases, cell, len(row)), cell) for cell, phases in _grouped(row).items()]
        once_seen = {phase: cell for (happened, phase), cell in rulings.seen.items() if happened is event}
        rows += [(", ".join(phases) + ": a die seen", cell) for cell, phases in _grouped(once_seen).items()]
        for n, (where, cell) in enumerate(rows):
            ruling = f"{cell.ruling} to {cell.to}" if cell.to else str(cell.ruling)
            ruling += f" before the {cell.witness}" if cell.witness else ""
            dimmed = None if cell.foreseen else "dim"
            made.add_row("" if n else str(event), where, ruling, cell.clause, style=dimmed)
    show(made)
    return 0


def _events(name: str | None) -> tuple[Irregularity, ...]:
    if name is None:
        return tuple(Irregularity)
    if name not in set(Irregularity):
        raise RulesError(f"expected one of {', '.join(Irregularity)}, got {name!r}")
    return (Irregularity(name),)


def whole_table(
    book: Rulebook, chosen: Mapping[str, str], events: tuple[Irregularity, ...] = tuple(Irregularity)
) -> dict[str, object]:
    """Irregularities × phases under these settings, for machines."""
    rulings = book.irregularities
    return {
        "rulebook": book.id,
        "phases": rulings.phases,
        "void": rulings.void,
        "later": rulings.later,
        "irregularities": [
            {
                "id": event,
                "rulings": [
                    {
                        "phase": phase,
                        **facts(rulings.ruling_for(event, phase, chosen)),
                        "if_seen": facts(rulings.seen.get((event, phase))) or None,
                    }
                    for phase in rulings.phases
                ],
            }
            for event in events
        ],
    }


def facts(cell: RulingCell | None) -> dict[str, object]:
    """A cell for machines."""
    if cell is None:
        return {}
    return {
        "ruling": cell.ruling,
        "clause": cell.clause,
        "to": cell.to,
        "witness": cell.witness,
        "foreseen": cell.foreseen,
    }


def _where(phases: list[str], cell: RulingCell, of: int) -> str:
    if len(phases) == of:
        return "every phase"
    return "other phases" if cell.caught else ", ".join(phases)


def _grouped(row: dict[Phase, RulingCell]) -> dict[RulingCell, list[str]]:
    """The phases with the same ruling together, what the document foresees first."""
    groups: dict[RulingCell, list[str]] = {}
    for phase, cell in row.items():
        groups.setdefault(cell, []).append(str(phase))
    return dict(sorted(groups.items(), key=lambda group: group[0].caught))

"""`taisai rules irregularities`: what is ruled when something goes wrong."""

from __future__ import annotations

from argparse import Namespace

from taisai.cli import asked
from taisai.cli.plain import plain
from taisai.cli.printing import as_json, show, table
from taisai.rules import rulebook
from taisai.rules.irregularities import Irregularity, Ruled
from taisai.rules.procedure import Phase


def run(arguments: Namespace) -> int:
    """Prints the whole table, every cell with its clause."""
    book = rulebook(arguments.book)
    chosen = book.chosen(asked.settings(arguments))
    rulings = book.irregularities
    cells = {
        event: {phase: rulings.ruled(event, phase, chosen) for phase in rulings.phases}
        for event in Irregularity
    }
    if arguments.json:
        as_json(
            {
                "rulebook": book.id,
                "phases": rulings.phases,
                "irregularities": [
                    {
                        "id": event,
                        "rulings": [
                            {
                                "phase": phase,
                                "ruling": cell.ruling,
                                "clause": cell.clause,
                                "to": cell.to,
                                "foreseen": cell.foreseen,
                                "if_seen": plain(rulings.seen.get((event, phase))),
                            }
                            for phase, cell in row.items()
                        ],
                    }
                    for event, row in cells.items()
                ],
            }
        )
        return 0
    made = table(
        f"{book.id}: what happened, in which phase, what is ruled",
        ("irregularity", "phases", "ruling", "clause"),
    )
    for event, row in cells.items():
        rows = [(_where(phases, cell, len(row)), cell) for cell, phases in _grouped(row).items()]
        once_seen = {phase: cell for (happened, phase), cell in rulings.seen.items() if happened is event}
        rows += [(", ".join(phases) + ": a die seen", cell) for cell, phases in _grouped(once_seen).items()]
        for n, (where, cell) in enumerate(rows):
            ruling = f"{cell.ruling} to {cell.to}" if cell.to else str(cell.ruling)
            dimmed = None if cell.foreseen else "dim"
            made.add_row("" if n else str(event), where, ruling, cell.clause, style=dimmed)
    show(made)
    return 0


def _where(phases: list[str], cell: Ruled, of: int) -> str:
    if len(phases) == of:
        return "every phase"
    return ", ".join(phases) if cell.foreseen else "other phases"


def _grouped(row: dict[Phase, Ruled]) -> dict[Ruled, list[str]]:
    """The phases with the same ruling together, what the document foresees first."""
    groups: dict[Ruled, list[str]] = {}
    for phase, cell in row.items():
        groups.setdefault(cell, []).append(str(phase))
    return dict(sorted(groups.items(), key=lambda group: not group[0].foreseen))

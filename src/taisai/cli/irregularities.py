"""`taisai rules irregularities`: what is ruled when something goes wrong."""

from __future__ import annotations

from argparse import Namespace

from taisai.cli import asked
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
        for n, (cell, phases) in enumerate(_grouped(row).items()):
            where = (
                "every phase"
                if len(phases) == len(row)
                else "other phases"
                if not cell.foreseen
                else ", ".join(phases)
            )
            ruling = f"{cell.ruling} to {cell.to}" if cell.to else str(cell.ruling)
            made.add_row(
                "" if n else str(event), where, ruling, cell.clause, style=None if cell.foreseen else "dim"
            )
    show(made)
    return 0


def _grouped(row: dict[Phase, Ruled]) -> dict[Ruled, list[str]]:
    """The phases with the same ruling together, what the document foresees first."""
    groups: dict[Ruled, list[str]] = {}
    for phase, cell in row.items():
        groups.setdefault(cell, []).append(str(phase))
    return dict(sorted(groups.items(), key=lambda group: not group[0].foreseen))

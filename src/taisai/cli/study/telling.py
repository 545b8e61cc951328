"""How every command of the study answers: for people, or for machines."""

from __future__ import annotations

from argparse import Namespace

from taisai.cli.printing import as_json, line, show
from taisai.study.report import Told


def tell(result: Told, arguments: Namespace) -> int:
    """Prints a result."""
    if arguments.json:
        as_json(result.facts())
        return 0
    report = result.report()
    for sheet in report.sheets:
        show(sheet.rich())
    for note in report.notes:
        line(note)
    return 0

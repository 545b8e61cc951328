"""`taisai rules matrix`: what every area pays on every outcome."""

from __future__ import annotations

from argparse import Namespace
from fractions import Fraction

from taisai.cli import asked
from taisai.cli.printing import as_json, line
from taisai.rules import OUTCOMES, Matrix, rulebook


def run(arguments: Namespace) -> int:
    """Prints the matrix: exactly as JSON, or as a picture of who wins where."""
    matrix = asked.matrix(rulebook(arguments.book), arguments)
    if arguments.json:
        _exact(matrix)
    else:
        _picture(matrix)
    return 0


def _exact(matrix: Matrix) -> None:
    written = {net: str(Fraction(net, matrix.denominator)) for row in matrix.nets for net in row}
    as_json(
        {
            "rulebook": matrix.rulebook,
            "layout": matrix.layout,
            "digest": matrix.digest,
            "outcomes": [str(outcome) for outcome in OUTCOMES],
            "areas": [
                {
                    "id": area.id,
                    "label": area.label,
                    "nets": [written[net] for net in nets],
                    "clauses": clauses,
                }
                for area, nets, clauses in zip(matrix.labels, matrix.nets, matrix.clauses, strict=True)
            ],
        }
    )


def _picture(matrix: Matrix) -> None:
    """One column an outcome, one row an area, a dot where it wins."""
    width = max(map(len, matrix.areas))
    line(f"{matrix.rulebook}, layout {matrix.layout}, {matrix.digest}")
    for place in range(3):
        line(" " * (width + 2) + "".join(str(outcome.faces[place]) for outcome in OUTCOMES))
    for area, nets, wins in zip(matrix.areas, matrix.nets, matrix.wins, strict=True):
        cells = "".join("●" if net > 0 else "·" for net in nets)
        line(f"{area:<{width}}  {cells}  {', '.join(str(win.odds) for win in wins)}")

"""`taisai odds`: exact probability, edge and variance of every area."""

from __future__ import annotations

from argparse import Namespace
from math import sqrt

from taisai.cli import asked
from taisai.cli.printing import as_json, percent, show
from taisai.rules import Chance, Matrix, RulesError, rulebook
from taisai.study.odds import area_odds, chance_facts, chance_words
from taisai.study.report import Sheet, columns


def run(arguments: Namespace) -> int:
    """Prints the odds of a layout."""
    book = rulebook(arguments.book)
    matrix = asked.matrix(book, arguments)
    chance = asked.chance(book, arguments)
    if arguments.full or arguments.rounds is not None:
        return _in_full(matrix, chance, arguments)
    found = area_odds(matrix, chance)
    if arguments.json:
        as_json(
            {
                "rulebook": matrix.rulebook,
                "layout": matrix.layout,
                "chance": chance_facts(chance),
                "areas": [
                    {
                        "id": area.id,
                        "odds": [str(odds) for odds in area.odds],
                        "win_probability": str(area.win_probability),
                        "house_edge": str(area.house_edge),
                        "variance": str(area.variance),
                    }
                    for area in found
                ],
            }
        )
        return 0
    title = f"{matrix.rulebook}, layout {matrix.layout}, {chance_words(chance)}{asked.terms(arguments)}"
    numbers = ("wins with", "house edge", "std dev")
    rows = tuple(
        (
            area.id,
            row.label,
            ", ".join(str(odds) for odds in area.odds),
            percent(area.win_probability),
            percent(area.house_edge),
            f"{sqrt(area.variance):.3f}",
        )
        for row, area in zip(matrix.labels, found, strict=True)
    )
    show(Sheet(title, columns("area", "", "odds", *numbers, numbers=numbers), rows).rich())
    return 0


def _in_full(matrix: Matrix, chance: Chance, arguments: Namespace) -> int:
    from taisai.cli.study.output import tell
    from taisai.study.bands import MOST_ROUNDS, ROUNDS
    from taisai.study.measures import measures

    if arguments.rounds is None:
        return tell(measures(matrix, chance), arguments)
    rounds = [asked.count(text, "--rounds", most=MOST_ROUNDS) for text in arguments.rounds.split(",")]
    if len(rounds) > len(ROUNDS):
        raise RulesError(f"expected at most {len(ROUNDS)} numbers of rounds, got {len(rounds)}")
    return tell(measures(matrix, chance, rounds), arguments)

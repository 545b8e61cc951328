"""`taisai odds`: exact probability, edge and variance of every area."""

from __future__ import annotations

from argparse import Namespace
from math import sqrt
from typing import Any

from taisai.cli import asked
from taisai.cli.printing import as_json, percent, show, table
from taisai.rules import Chance, ChanceKind, Matrix, RulesError, rulebook
from taisai.study.odds import area_odds


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
    numbers = ("wins with", "house edge", "std dev")
    made = table(
        f"{matrix.rulebook}, layout {matrix.layout}, {chance_words(chance)}{asked.terms(arguments)}",
        ("area", "", "odds", *numbers),
        right=numbers,
    )
    for row, area in zip(matrix.labels, found, strict=True):
        odds = ", ".join(str(odds) for odds in area.odds)
        deviation = f"{sqrt(area.variance):.3f}"
        made.add_row(
            area.id, row.label, odds, percent(area.win_probability), percent(area.house_edge), deviation
        )
    show(made)
    return 0


def _in_full(matrix: Matrix, chance: Chance, arguments: Namespace) -> int:
    from taisai.cli.study.telling import tell
    from taisai.study.bands import MOST_ROUNDS, ROUNDS
    from taisai.study.measures import measures

    if arguments.rounds is None:
        return tell(measures(matrix, chance), arguments)
    rounds = [asked.count(text, "--rounds", most=MOST_ROUNDS) for text in arguments.rounds.split(",")]
    if len(rounds) > len(ROUNDS):
        raise RulesError(f"expected at most {len(ROUNDS)} numbers of rounds, got {len(rounds)}")
    return tell(measures(matrix, chance, rounds), arguments)


def chance_facts(chance: Chance) -> dict[str, Any]:
    """What the chances are of, for machines."""
    if chance.kind is ChanceKind.DICE:
        return {"kind": "dice", "dice": 3, "rolls": chance.total}
    faces = dict(zip("123456", chance.seen, strict=True))
    return {"kind": "cards", "decks": chance.decks, "seen": faces, "draws": chance.total}


def chance_words(chance: Chance) -> str:
    """What the chances are of, for people."""
    if chance.kind is ChanceKind.DICE:
        return "three dice"
    from taisai.study.report import counted

    seen = f", {counted(sum(chance.seen), 'card')} seen" if any(chance.seen) else ""
    return f"a shoe of {counted(chance.decks or 0, 'deck')}{seen}"

"""Advice on a rulebook: what is allowed but hardly meant. A warning, never a refusal."""

from __future__ import annotations

from collections.abc import Iterator

from taisai.rules.chance import Chance
from taisai.rules.matrix import Matrix
from taisai.rules.outcomes import MIRRORED, OUTCOMES


def advice(matrix: Matrix, chances: tuple[Chance, ...]) -> Iterator[str]:
    """Edges at or under zero, and areas whose mirror image is not offered."""
    yield from _edges(matrix, chances)
    yield from _mirrors(matrix)


def _edges(matrix: Matrix, chances: tuple[Chance, ...]) -> Iterator[str]:
    for area, row in zip(matrix.areas, matrix.nets, strict=True):
        for chance in chances:
            edge = -chance.expected(row, matrix.denominator)
            if edge <= 0:
                where = f" with {chance.decks} decks" if chance.decks else ""
                yield f"layout {matrix.layout}, {area}: the house edge is {edge}{where}, at or under zero"
                break


def _mirrors(matrix: Matrix) -> Iterator[str]:
    """Opposite faces of a die add up to seven; a layout that offers an area usually offers its mirror."""
    winning = {
        frozenset(place for win in ways for place in win.places): n for n, ways in enumerate(matrix.wins)
    }
    for places, row in winning.items():
        if frozenset(MIRRORED[place] for place in places) not in winning:
            where = f"layout {matrix.layout}, {matrix.areas[row]}"
            yield f"{where}: its mirror image {_mirrored(matrix, row)} is not offered"


def _mirrored(matrix: Matrix, row: int) -> str:
    numbers = matrix.labels[row].numbers
    totals = {OUTCOMES[place].total for win in matrix.wins[row] for place in win.places}
    if totals <= set(numbers):
        return "total " + " ".join(str(21 - number) for number in reversed(numbers))
    faces = [7 - number for number in numbers]
    return "".join(map(str, sorted(faces) if len(set(faces)) == len(faces) else faces))

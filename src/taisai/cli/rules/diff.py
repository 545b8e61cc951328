"""`taisai rules diff`: two layouts compared."""

from __future__ import annotations

from argparse import Namespace
from fractions import Fraction
from typing import NamedTuple

from taisai.cli import asked
from taisai.cli.printing import as_json, line, percent, show, table, wrapped
from taisai.rules import AreaId, Matrix
from taisai.study.odds import AreaOdds, area_odds, chance_words


class ComparedLayout(NamedTuple):
    """One of the two layouts, with the exact odds of its areas."""

    name: str
    matrix: Matrix
    odds: dict[AreaId, AreaOdds]
    chance: str

    def row(self, area: AreaId) -> tuple[Fraction, ...]:
        """The nets of an area, comparable across layouts with different denominators."""
        nets = self.matrix.nets[self.matrix.row(area)]
        return tuple(Fraction(net, self.matrix.denominator) for net in nets)

    def words(self, area: AreaId) -> list[str]:
        """The odds of an area as printed."""
        return [str(odds) for odds in self.odds[area].odds]


def run(arguments: Namespace) -> int:
    """Prints areas that only one side has, and areas that pay differently."""
    left, right = (_side(text) for text in (arguments.left, arguments.right))
    only_left = [area for area in left.odds if area not in right.odds]
    only_right = [area for area in right.odds if area not in left.odds]
    both = [area for area in left.odds if area in right.odds]
    changed = [area for area in both if left.row(area) != right.row(area)]
    if arguments.json:
        as_json(
            {
                "left": left.name,
                "right": right.name,
                "chances": [left.chance, right.chance],
                "only_left": only_left,
                "only_right": only_right,
                "same": len(both) - len(changed),
                "changed": [
                    {
                        "id": area,
                        "left": {"odds": left.words(area), "house_edge": str(left.odds[area].house_edge)},
                        "right": {"odds": right.words(area), "house_edge": str(right.odds[area].house_edge)},
                    }
                    for area in changed
                ],
            }
        )
        return 0
    line(
        f"{left.name} and {right.name}: {len(both) - len(changed)} areas pay the same, {len(changed)} differ"
    )
    if left.chance != right.chance:
        line(f"{left.chance} against {right.chance}: edges differ even where odds do not")
    for side, areas in ((left, only_left), (right, only_right)):
        if areas:
            wrapped(f"only on {side.name} ({len(areas)}): {', '.join(areas)}")
    if changed:
        made = table("", ("area", left.name, "edge", right.name, "edge "), right=("edge", "edge "))
        for area in changed:
            cells = [
                (", ".join(side.words(area)), percent(side.odds[area].house_edge)) for side in (left, right)
            ]
            made.add_row(area, *cells[0], *cells[1])
        show(made)
    return 0


def _side(text: str) -> ComparedLayout:
    book, layout = asked.book_and_layout(text)
    matrix, chance = book.matrix(layout), book.chance()
    odds = {area.id: area for area in area_odds(matrix, chance)}
    return ComparedLayout(text if layout else f"{text}/{matrix.layout}", matrix, odds, chance_words(chance))

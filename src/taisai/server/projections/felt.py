"""A layout, with everything that a page needs to draw it and a player to read it."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Final

from taisai.game import Table
from taisai.game.terms.terms import Terms, family
from taisai.protocol.views import FeltArea, FeltCell, FeltView, OddsLine, Words
from taisai.rules.areas import Area
from taisai.rules.conditions import Condition
from taisai.rules.layout import Block, Cell, Drawing, Layout
from taisai.rules.matrix import Matrix
from taisai.rules.pay import PayLine
from taisai.server.projections import texts as words
from taisai.study.odds import area_odds

MOST_DENOMINATIONS: Final = 7  # as many as a thumb can choose from
LONGEST_DENOMINATOR: Final = 10_000  # of an edge that is still worth reading as a fraction
_BOTH: Final = "both"
_TOTALS: Final = frozenset({Condition.TOTAL, Condition.TOTAL_NOT_TRIPLE})


def felt_view(table: Table, layout: str | None = None, *, with_edges: bool = False) -> FeltView:
    """A layout of the table under the settings, odds and limits in force; its own unless said."""
    name = table.book.layout_id(layout or table.layout)
    drawn, terms = table.book.layout(name), table.terms[name]
    edges = _edges(table, terms) if with_edges else {}
    drawings = {str(block.drawing) for block in drawn.blocks}
    return FeltView(
        table=table.name,
        rulebook=table.book.id,
        layout=name,
        clause=str(drawn.clause),
        terms=table.digest,
        wide=drawn.columns,
        tall=drawn.rows,
        drawn=drawings.pop() if len(drawings) == 1 else _BOTH,
        cells=tuple(_cells(drawn, terms.matrix)),
        areas=tuple(_area(table, terms, area, edges.get(area.id)) for area in terms.matrix.labels),
        denominations=denominations(table.limits.least, table.limits.most),
    )


def _cells(layout: Layout, matrix: Matrix) -> Iterator[FeltCell]:
    for block in layout.blocks:
        yield from _block(block, matrix)


def _block(block: Block, matrix: Matrix) -> Iterator[FeltCell]:
    """Rows share a block's height; cells share their row's width."""
    tall = block.tall / len(block.rows)
    for n, row in enumerate(block.rows):
        share = block.wide / sum(cell.wide for cell in row)
        x, y = float(block.column - 1), block.row - 1 + n * tall
        for cell in row:
            yield FeltCell(
                x=round(x, 4), y=round(y, 4), wide=round(share * cell.wide, 4), tall=round(tall, 4),
                block=block.id, drawing=str(Drawing(block.drawing)), area=cell.area, odds_of=cell.odds_of,
                odds=_odds_text(matrix, cell.odds_of, cell.dice) if cell.odds_of else None,
                figures=cell.figures, note=_note(cell),
            )  # fmt: skip
            x += share * cell.wide


def _note(cell: Cell) -> Words | None:
    if cell.note is not None:
        return Words(cell.note.en, cell.note.zh)
    return words.ON_DICE.get(cell.dice) if cell.dice is not None else None


def _odds_text(matrix: Matrix, area: str, dice: int | None) -> Words:
    told = [words.odds(win.odds) for win in matrix.wins[matrix.row(area)] if dice in (None, win.dice)]
    return Words(", ".join(one.en for one in told), "、".join(one.zh for one in told))


def _edges(table: Table, terms: Terms) -> dict[str, str]:
    """Area → the house edge over dice, or over a whole shoe."""
    found = area_odds(terms.matrix, table.book.chance(decks=table.shoe.decks or None))
    return {one.id: _edge_text(one.house_edge) for one in found}


def _edge_text(edge: Fraction) -> str:
    percent = f"{100 * float(edge):.2f} %"
    return f"{percent} ({edge})" if edge.denominator < LONGEST_DENOMINATOR else percent


def _area(table: Table, terms: Terms, area: Area, edge: str | None) -> FeltArea:
    matrix = terms.matrix
    row = matrix.row(area.id)
    lines = [line for line in table.book.pay_by_layout[terms.layout].table.lines if area.id in line.areas]
    return FeltArea(
        id=area.id,
        label=Words(area.label, area.label_zh),
        family=family(area.id),
        numbers=area.numbers,
        odds=tuple(OddsLine(text=words.odds(win.odds), dice=win.dice) for win in matrix.wins[row]),
        wins=_wins(table, area, lines),
        clause=str(lines[0].clause),
        says=matrix.texts[lines[0].clause].says if lines[0].clause in matrix.texts else "",
        least=terms.least[row],
        most=terms.most[row],
        step=terms.steps[row],
        edge=edge,
    )


def _wins(table: Table, area: Area, lines: list[PayLine]) -> Words:
    """When the area wins, by its winning condition and the numbers it is about."""
    condition = lines[0].winning(table.settings).condition
    said = words.CONDITIONS[condition]
    numbers, totals = list(area.numbers), condition in _TOTALS
    if totals and len(numbers) > 2 and numbers == list(range(numbers[0], numbers[-1] + 1)):
        told = words.filled(words.RANGE, a=numbers[0], b=numbers[-1])
    else:
        by = words.OR if totals else words.AND
        listed = [str(number) for number in numbers]
        told = Words(by.en.join(listed), by.zh.join(listed))
    return Words(said.en.replace("{n}", told.en), said.zh.replace("{n}", told.zh))


def denominations(least: int, most: int) -> tuple[int, ...]:
    """Chips of 1, 2 and 5 from the minimum up, none above the maximum."""
    chips: list[int] = []
    power = 1
    while power <= most and len(chips) < MOST_DENOMINATIONS:
        for figure in words.DENOMINATIONS:
            if least <= figure * power <= most and len(chips) < MOST_DENOMINATIONS:
                chips.append(figure * power)
        power *= 10
    return tuple(chips) or (least,)

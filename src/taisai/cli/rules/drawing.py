"""Draws a layout as SVG."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple
from xml.sax.saxutils import escape

from taisai.cli.printing import ON_DICE
from taisai.rules import CATALOGUE, AreaId, Layout, Matrix
from taisai.rules.areas import Area
from taisai.rules.layout import Block, Cell, Drawing

_UNIT: Final = 56
_GAP: Final = 3
_LEGEND: Final = 24
_PIPS: Final = {
    1: ((1, 1),),
    2: ((0, 0), (2, 2)),
    3: ((0, 0), (1, 1), (2, 2)),
    4: ((0, 0), (0, 2), (2, 0), (2, 2)),
    5: ((0, 0), (0, 2), (1, 1), (2, 0), (2, 2)),
    6: ((0, 0), (0, 2), (1, 0), (1, 2), (2, 0), (2, 2)),
}
_FACES: Final = ("", "ONE", "TWO", "THREE", "FOUR", "FIVE", "SIX")
_DRAWN_AS_DICE: Final = ("triple-", "double-", "pair-")
_STYLE: Final = """
  .felt { fill: #0b5d3b } .cell { fill: #0e6f47; stroke: #e9d9a6; stroke-width: 1.2 }
  .ours { stroke-dasharray: 5 3 } .blank { fill: none; stroke: #e9d9a6; stroke-opacity: .35 }
  text { fill: #fdf6df; font-family: "Noto Sans CJK SC", "Noto Sans SC", sans-serif;
         text-anchor: middle }
  .odds { fill: #e9d9a6 } .die { fill: #fdf6df } .pip { fill: #17202a } .red { fill: #c0392b }
"""


class Box(NamedTuple):
    x: float
    y: float
    wide: float
    tall: float

    @property
    def middle(self) -> float:
        """The x of a centred text."""
        return self.x + self.wide / 2

    @property
    def centre(self) -> float:
        """The y of a centred text."""
        return self.y + self.tall / 2


def draw_layout(matrix: Matrix, layout: Layout) -> str:
    """The SVG of a layout: solid cells are drawn in the document, dashed cells only by us."""
    width, height = layout.columns * _UNIT, layout.rows * _UNIT + _LEGEND
    size, box = f'width="{width}" height="{height}"', f'viewBox="0 0 {width} {height}"'
    legend = f"{matrix.rulebook}, layout {layout.id} · solid: as in the document · dashed: drawn by us"
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {box} {size}>',
        f"<title>{escape(matrix.rulebook)} layout {escape(layout.id)}</title><style>{_STYLE}</style>",
        f'<rect class="felt" {size}/>',
    ]
    for block in layout.blocks:
        parts += _block(matrix, block)
    parts.append(_text(width / 2, height - _LEGEND / 2, legend, min(13, 1.8 * width / len(legend)), "odds"))
    return "\n".join([*parts, "</svg>\n"])


def _block(matrix: Matrix, block: Block) -> Iterator[str]:
    tall = block.tall * _UNIT / len(block.rows)
    for n, row in enumerate(block.rows):
        share = block.wide * _UNIT / sum(cell.wide for cell in row)
        x, y = float((block.column - 1) * _UNIT), (block.row - 1) * _UNIT + n * tall
        for cell in row:
            yield from _cell(matrix, block.drawing, cell, Box(x, y, share * cell.wide, tall))
            x += share * cell.wide


def _cell(matrix: Matrix, drawing: Drawing, cell: Cell, box: Box) -> Iterator[str]:
    kind = "cell" if cell.area else "blank"
    ours = " ours" if drawing is Drawing.OURS else ""
    yield (
        f'<rect class="{kind}{ours}" x="{box.x + _GAP:.1f}" y="{box.y + _GAP:.1f}" rx="4"'
        f' width="{box.wide - 2 * _GAP:.1f}" height="{box.tall - 2 * _GAP:.1f}"/>'
    )
    if cell.odds_of:
        words = _text(box.middle, box.centre, _odds(matrix, cell.odds_of, cell.dice), 15, "odds")
        turned = box.wide < box.tall
        yield f'<g transform="rotate(-90 {box.middle:.1f} {box.centre:.1f})">{words}</g>' if turned else words
    elif cell.area:
        yield from _area(matrix, cell, cell.area, box)


def _odds(matrix: Matrix, area: AreaId, dice: int | None = None) -> str:
    wins = [win for win in matrix.wins[matrix.row(area)] if dice in {None, win.dice}]
    return ", ".join(str(win.odds) for win in wins) + ("" if dice is None else ON_DICE[dice])


def _area(matrix: Matrix, cell: Cell, name: AreaId, box: Box) -> Iterator[str]:
    area = matrix.labels[matrix.row(name)]
    # One figure of odds goes under the name if there is space; a strip beside shows several.
    odds = _odds(matrix, name) if len(matrix.wins[matrix.row(name)]) == 1 and box.tall > _UNIT * 0.7 else ""
    lifted = 9 if odds else 0
    if name in CATALOGUE and name.startswith(_DRAWN_AS_DICE) and not name.startswith("double-single"):
        yield from _dice(area.numbers, box, lifted)
    else:
        words = _words(area, cell.figures)
        most = 24.0 if min(box.wide, 2 * box.tall) > 3 * _UNIT else 13.0
        yield _text(box.middle, box.centre - lifted, words, min(most, 1.3 * box.wide / len(words)))
    if odds:
        below = box.centre + 14 if box.tall <= _UNIT else min(box.centre + 26, box.y + box.tall - 12)
        yield _text(box.middle, below, odds, 10, "odds")


def _dice(faces: tuple[int, ...], box: Box, lifted: float) -> Iterator[str]:
    """Draws dice side by side if the cell is wide enough, else one above the other."""
    size = 15.0
    across = box.wide > (len(faces) + 0.5) * size
    for n, face in enumerate(faces):
        shift = (n - (len(faces) - 1) / 2) * (size + 2)
        x, y = (shift, 0.0) if across else (0.0, shift)
        yield from _die(box.middle + x, box.centre - lifted + y, face, size)


def _words(area: Area, figures: str | None) -> str:
    """The text of an area: its number, its numbers as printed, or its name in both languages."""
    family = area.id.rstrip("0123456789") if area.id in CATALOGUE else ""
    if family == "total-":
        return str(area.numbers[0])
    if family == "single-":
        return _FACES[area.numbers[0]]
    if family == "four-":
        return figures or " ".join(map(str, area.numbers))
    if family in {"three-", "double-single-"}:
        return "".join(map(str, area.numbers))
    return f"{area.label.upper()} {area.label_zh}"


def _die(x: float, y: float, face: int, size: float) -> Iterator[str]:
    left, top = x - size / 2, y - size / 2
    yield f'<rect class="die" x="{left:.1f}" y="{top:.1f}" width="{size:.1f}" height="{size:.1f}" rx="2"/>'
    red = " red" if face in {1, 4} else ""  # as on the dice of the game
    for row, column in _PIPS[face]:
        place = f'cx="{left + size * (column + 1) / 4:.1f}" cy="{top + size * (row + 1) / 4:.1f}"'
        yield f'<circle class="pip{red}" {place} r="{size / 10:.1f}"/>'


def _text(x: float, y: float, words: str, size: float, kind: str = "") -> str:
    style = f' class="{kind}"' if kind else ""
    # Centred by hand: not every viewer supports baselines.
    return f'<text{style} x="{x:.1f}" y="{y + 0.35 * size:.1f}" font-size="{size:.0f}">{escape(words)}</text>'

"""Layouts: the position of each area, so that a page can draw the table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Final, NamedTuple

from taisai.rules.areas import AreaId
from taisai.rules.clauses import Clause
from taisai.rules.pay import LayoutPay
from taisai.rules.toml_reader import Section

MAX_COLUMNS: Final = 60  # cells of a wider layout would be too small to touch on a screen


class Drawing(StrEnum):
    """Who drew a block: the document, or we because its drawing is lost."""

    DOCUMENT = "document"
    OURS = "ours"


class Cell(NamedTuple):
    """A cell of a row: an area, the odds of an area, or blank. The cells of a row share its width."""

    area: AreaId | None
    odds_of: AreaId | None
    dice: int | None
    """With `odds_of`: for how many dice, if the area has different odds for one, two and three."""
    wide: int
    figures: str | None = None
    """The printed numbers of the area, such as '6 5 4 3' or '11–17'."""
    note: Label | None = None
    """The text printed below, such as 'except any triple'."""


class Label(NamedTuple):
    en: str
    zh: str


class Block(NamedTuple):
    """A rectangle of the layout with rows of cells. Rows and columns count from 1 at the top left."""

    id: str
    drawing: Drawing
    row: int
    column: int
    tall: int
    wide: int
    rows: tuple[tuple[Cell, ...], ...]


class Layout(NamedTuple):
    """A layout: a grid of blocks, and its pay table."""

    id: str
    pay_table: str
    clause: Clause
    columns: int
    rows: int
    blocks: tuple[Block, ...]

    def cells(self) -> Iterator[Cell]:
        for block in self.blocks:
            for row in block.rows:
                yield from row


def read_layouts(book: Section, pay: Mapping[str, LayoutPay]) -> dict[str, Layout]:
    """Reads the layouts of a rulebook, by id. Each shows every area of its pay table once."""
    read: dict[str, Layout] = {}
    for entry, (name, pay_on) in zip(book.tables("layout"), pay.items(), strict=True):
        priced = pay_on.table.areas()
        rows, columns = _number_pair(entry, "size")
        sections = entry.tables("block")
        blocks = tuple(_block(section, priced) for section in sections)
        layout = Layout(name, pay_on.table.id, pay_on.clause, columns, rows, blocks)
        _fits(layout, sections)
        _no_area_twice(layout, sections)
        for missing in sorted(priced - {cell.area for cell in layout.cells()}):
            raise entry.error("block", "a cell for every area of the pay table", f"no cell for {missing!r}")
        for cell in layout.cells():
            if cell.dice is not None and not _pays_on(pay_on, cell):
                got = f"{cell.odds_of!r} on {cell.dice} dice"
                raise entry.error("block", "odds of the pay table", got)
        read[name] = layout
    return read


def _block(entry: Section, priced: frozenset[AreaId]) -> Block:
    rows = tuple(
        tuple(_cell(entry, f"cells {n}, cell {m}", cell, priced) for m, cell in enumerate(row, 1))
        for n, row in enumerate(entry.rows("cells"), 1)
    )
    return Block(
        entry.text("id"),
        entry.choice("drawing", Drawing),
        *_number_pair(entry, "at"),
        *_number_pair(entry, "size"),
        rows,
    )


def _number_pair(entry: Section, key: str) -> tuple[int, int]:
    """Reads a position (row, column) or a size (rows, columns)."""
    numbers = entry.wholes(key, 1, MAX_COLUMNS)
    if len(numbers) != 2:
        got = f"{len(numbers)} ({', '.join(map(str, numbers))})"
        raise entry.error(key, "2 numbers, down and across", got)
    return numbers[0], numbers[1]


def _cell(block: Section, place: str, cell: Section | str, priced: frozenset[AreaId]) -> Cell:
    if isinstance(cell, str):
        return Cell(_priced(block, place, cell, priced) if cell else None, None, None, 1)
    wide = cell.whole("wide", 1, MAX_COLUMNS) if cell.has("wide") else 1
    area = _priced(cell, "area", cell.text("area"), priced) if cell.has("area") else None
    odds_of = _priced(cell, "odds_of", cell.text("odds_of"), priced) if cell.has("odds_of") else None
    if area and odds_of:
        raise cell.error("odds_of", "either area or odds_of", f"both ({area!r}, {odds_of!r})")
    dice = cell.whole("dice", 1, 3) if odds_of and cell.has("dice") else None
    figures = cell.text("figures") if area and cell.has("figures") else None
    note = _note(cell.table("note")) if (area or odds_of) and cell.has("note") else None
    return Cell(area, odds_of, dice, wide, figures, note)


def _note(words: Section) -> Label:
    return Label(words.text("en"), words.text("zh"))


def _priced(section: Section, key: str, name: str, priced: frozenset[AreaId]) -> AreaId:
    if name not in priced:
        raise section.error(key, "an area of the pay table of this layout", repr(name))
    return AreaId(name)


def _fits(layout: Layout, sections: tuple[Section, ...]) -> None:
    names: set[str] = set()
    taken: dict[tuple[int, int], str] = {}
    for block, section in zip(layout.blocks, sections, strict=True):
        if block.id in names:
            raise section.error("id", "an id that no other block has", repr(block.id))
        names.add(block.id)
        if block.row > layout.rows or block.column > layout.columns:
            got = f"row {block.row}, column {block.column}"
            expected = f"a position within {layout.rows} rows and {layout.columns} columns"
            raise section.error("at", expected, got)
        if block.column + block.wide - 1 > layout.columns:
            got = f"columns {block.column} to {block.column + block.wide - 1}"
            raise section.error("size", f"a block within {layout.columns} columns", got)
        if block.row + block.tall - 1 > layout.rows:
            got = f"rows {block.row} to {block.row + block.tall - 1}"
            raise section.error("size", f"a block within {layout.rows} rows", got)
        for row in range(block.row, block.row + block.tall):
            for column in range(block.column, block.column + block.wide):
                other = taken.setdefault((row, column), block.id)
                if other != block.id:
                    got = f"row {row}, column {column} of block {other!r}"
                    raise section.error("at", "a position that no other block covers", got)


def _pays_on(pay: LayoutPay, cell: Cell) -> bool:
    return any(line.wins.dice == cell.dice and cell.odds_of in line.areas for line in pay.table.lines)


def _no_area_twice(layout: Layout, sections: tuple[Section, ...]) -> None:
    drawn: set[AreaId] = set()
    for block, section in zip(layout.blocks, sections, strict=True):
        for row in block.rows:
            for cell in row:
                if cell.area in drawn:
                    raise section.error("cells", "each area once on a layout", f"{cell.area!r} twice")
                if cell.area:
                    drawn.add(cell.area)

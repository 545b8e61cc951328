"""Layouts: where the areas lie, so that a page can draw the felt."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Final, NamedTuple

from taisai.rules.areas import AreaId
from taisai.rules.clauses import Clause
from taisai.rules.pay import LayoutPay
from taisai.rules.toml_reader import Section

MAX_COLUMNS: Final = 60  # a felt wider than this could not be touched on any screen


class Drawing(StrEnum):
    """Whose drawing it is: never claim the document's for what its text does not show."""

    DOCUMENT = "document"
    OURS = "ours"


class Cell(NamedTuple):
    """One cell of a row: an area, the printed odds of an area, or blank. Cells share their row's width."""

    area: AreaId | None
    odds_of: AreaId | None
    dice: int | None
    """With `odds_of`: the odds on so many dice, of an area that has several."""
    wide: int
    figures: str | None = None
    """The area's numbers as they are printed, such as '6 5 4 3' or '11–17'."""
    note: Label | None = None
    """What is printed below, such as 'except any triple'."""


class Label(NamedTuple):
    """A few printed words, in both languages."""

    en: str
    zh: str


class Block(NamedTuple):
    """A rectangle of the felt and its rows of cells; places count from 1 at the top left."""

    id: str
    drawing: Drawing
    row: int
    column: int
    tall: int
    wide: int
    rows: tuple[tuple[Cell, ...], ...]


class Layout(NamedTuple):
    """One felt: a grid of blocks, and the pay table that holds on it."""

    id: str
    pay_table: str
    clause: Clause
    columns: int
    rows: int
    blocks: tuple[Block, ...]

    def cells(self) -> Iterator[Cell]:
        """All cells, block by block."""
        for block in self.blocks:
            for row in block.rows:
                yield from row


def read_layouts(book: Section, pay: Mapping[str, LayoutPay]) -> dict[str, Layout]:
    """The book's layouts by id; each shows every area of its pay table once."""
    read: dict[str, Layout] = {}
    for entry, (name, on) in zip(book.tables("layout"), pay.items(), strict=True):
        priced = on.table.areas()
        rows, columns = _two(entry, "size")
        sections = entry.tables("block")
        blocks = tuple(_block(section, priced) for section in sections)
        layout = Layout(name, on.table.id, on.clause, columns, rows, blocks)
        _fits(layout, sections)
        _no_area_twice(layout, sections)
        for missing in sorted(priced - {cell.area for cell in layout.cells()}):
            raise entry.error("block", "a cell for every area of the pay table", f"none for {missing!r}")
        for cell in layout.cells():
            if cell.dice is not None and not _pays_on(on, cell):
                got = f"{cell.odds_of!r} on {cell.dice} dice"
                raise entry.error("block", "odds that the pay table has", got)
        entry.accept_keys("id", "pay_table", "clause")
        entry.reject_unknown_keys()
        read[name] = layout
    return read


def _block(entry: Section, priced: frozenset[AreaId]) -> Block:
    rows = tuple(
        tuple(_cell(entry, f"cells {n}, cell {m}", cell, priced) for m, cell in enumerate(row, 1))
        for n, row in enumerate(entry.rows("cells"), 1)
    )
    block = Block(
        entry.text("id"),
        entry.choice("drawing", Drawing),
        *_two(entry, "at"),
        *_two(entry, "size"),
        rows,
    )
    entry.reject_unknown_keys()
    return block


def _two(entry: Section, key: str) -> tuple[int, int]:
    """A place as row and column, or a size as rows and columns."""
    numbers = entry.wholes(key, 1, MAX_COLUMNS)
    if len(numbers) != 2:
        raise entry.error(key, "two numbers, down and across", str(len(numbers)))
    return numbers[0], numbers[1]


def _cell(block: Section, place: str, cell: Section | str, priced: frozenset[AreaId]) -> Cell:
    if isinstance(cell, str):
        return Cell(_priced(block, place, cell, priced) if cell else None, None, None, 1)
    wide = cell.whole("wide", 1, MAX_COLUMNS) if cell.has("wide") else 1
    area = _priced(cell, "area", cell.text("area"), priced) if cell.has("area") else None
    odds_of = _priced(cell, "odds_of", cell.text("odds_of"), priced) if cell.has("odds_of") else None
    if area and odds_of:
        raise cell.error("odds_of", "either area or odds_of", "both")
    dice = cell.whole("dice", 1, 3) if odds_of and cell.has("dice") else None
    figures = cell.text("figures") if area and cell.has("figures") else None
    note = _note(cell.table("note")) if (area or odds_of) and cell.has("note") else None
    cell.reject_unknown_keys()
    return Cell(area, odds_of, dice, wide, figures, note)


def _note(words: Section) -> Label:
    label = Label(words.text("en"), words.text("zh"))
    words.reject_unknown_keys()
    return label


def _priced(section: Section, key: str, name: str, priced: frozenset[AreaId]) -> AreaId:
    if name not in priced:
        raise section.error(key, "an area of this layout's pay table", repr(name))
    return AreaId(name)


def _fits(layout: Layout, sections: tuple[Section, ...]) -> None:
    names: set[str] = set()
    taken: dict[tuple[int, int], str] = {}
    for block, section in zip(layout.blocks, sections, strict=True):
        if block.id in names:
            raise section.error("id", "each block once", f"{block.id!r} twice")
        names.add(block.id)
        if block.row > layout.rows or block.column > layout.columns:
            got = f"row {block.row}, column {block.column}"
            raise section.error("at", f"a place within {layout.rows} rows and {layout.columns} columns", got)
        if block.column + block.wide - 1 > layout.columns:
            raise section.error("size", f"a block within {layout.columns} columns", str(block.wide))
        if block.row + block.tall - 1 > layout.rows:
            raise section.error("size", f"a block within {layout.rows} rows", str(block.tall))
        for row in range(block.row, block.row + block.tall):
            for column in range(block.column, block.column + block.wide):
                other = taken.setdefault((row, column), block.id)
                if other != block.id:
                    raise section.error("at", "a free place on the felt", f"the place of {other!r}")


def _pays_on(pay: LayoutPay, cell: Cell) -> bool:
    return any(line.wins.dice == cell.dice and cell.odds_of in line.areas for line in pay.table.lines)


def _no_area_twice(layout: Layout, sections: tuple[Section, ...]) -> None:
    seen: set[AreaId] = set()
    for block, section in zip(layout.blocks, sections, strict=True):
        for row in block.rows:
            for cell in row:
                if cell.area in seen:
                    raise section.error("cells", "each area once on a layout", f"{cell.area!r} twice")
                if cell.area:
                    seen.add(cell.area)

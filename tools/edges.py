"""Writes docs/reference/house-edges.md and its picture: exact house edges on all six pay tables."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from html import escape
from pathlib import Path
from typing import Final, NamedTuple

from taisai.rules import rulebook
from taisai.study.odds import area_odds

DOCS: Final = Path(__file__).parent.parent / "docs"
PAY_TABLES: Final = (
    ("MBS v6", "mbs-sic-bo-v6", "A", "#c0392b"),
    ("RWS A", "rws-sic-bo-etg-v8", "A", "#2471a3"),
    ("RWS B", "rws-sic-bo-etg-v8", "B", "#5dade2"),
    ("RWS C", "rws-sic-bo-etg-v8", "C", "#8e44ad"),
    ("3 Card", "mbs-3-card-sic-bo", "A", "#d68910"),
    ("US", "us-sic-bo", "A", "#1e8449"),
)
HEAD: Final = """\
# House edges

The exact share of each stake that the house keeps on average, on all six pay tables. `make pictures` writes
this page from the rulebooks. The 3 Card game has a full shoe of six decks here; for another shoe use
`taisai odds mbs-3-card-sic-bo --decks 2 --seen 1,1,6`. The United States rule has its minimum odds here.

![House edges of all kinds of bet on six pay tables](../pictures/edges.svg)

"""


class Kind(NamedTuple):
    """Areas that follow one law on every pay table that has them."""

    name: str
    edges: tuple[Fraction | None, ...]


def kinds() -> list[Kind]:
    """Every kind of bet with its edge on each pay table; none where it is not offered."""
    tables = []
    for _, book_id, layout, _ in PAY_TABLES:
        book = rulebook(book_id)
        tables.append({area.id: area.house_edge for area in area_odds(book.matrix(layout), book.chance())})
    together: dict[tuple[str, tuple[Fraction | None, ...]], list[str]] = {}
    for area in dict.fromkeys(area for table in tables for area in table):
        edges = tuple(table.get(area) for table in tables)
        family = area.rstrip("0123456789").rstrip("-")
        together.setdefault((family, edges), []).append(area)
    return [Kind(_named(areas), edges) for (_, edges), areas in together.items()]


def _named(areas: list[str]) -> str:
    return ", ".join(areas) if len(areas) <= 2 else f"{areas[0]} and similar ({len(areas)})"


def page() -> str:
    """The page as it should be."""
    names = [name for name, *_ in PAY_TABLES]
    rows = [f"| bet | {' | '.join(names)} |", "|---|" + "---:|" * len(names)]
    for kind in kinds():
        cells = ["" if edge is None else f"{float(edge):.2%} ({edge})" for edge in kind.edges]
        rows.append(f"| {kind.name} | {' | '.join(cells)} |")
    return HEAD + "\n".join(rows) + "\n"


def picture() -> str:
    """A dot for every pay table on one line for every kind of bet."""
    shown = kinds()
    left, top, line, percent = 230, 60, 22, 14
    width, height = left + 50 * percent + 30, top + line * len(shown) + 20
    size = f'width="{width}" height="{height}"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" {size}>',
        "<title>House edges</title><style>text { font: 12px sans-serif; fill: #17202a }</style>",
        f'<rect {size} fill="#ffffff"/>',
    ]
    for mark in range(0, 51, 10):
        x = left + mark * percent
        parts.append(f'<line x1="{x}" x2="{x}" y1="{top - 12}" y2="{height - 14}" stroke="#d5d8dc"/>')
        parts.append(f'<text x="{x}" y="{top - 18}" text-anchor="middle">{mark} %</text>')
    for n, (name, *_, colour) in enumerate(PAY_TABLES):
        x = left + n * 110
        parts.append(
            f'<circle cx="{x}" cy="16" r="5" fill="{colour}"/><text x="{x + 10}" y="20">{name}</text>'
        )
    note = "Rings inside one another: equal edges."
    parts.append(f'<text x="{width - 20}" y="{height - 4}" text-anchor="end">{note}</text>')
    for n, kind in enumerate(shown):
        parts += _dots(kind, left, top + n * line, percent)
    return "\n".join([*parts, "</svg>\n"])


def _dots(kind: Kind, left: int, y: int, percent: int) -> Iterator[str]:
    yield f'<text x="{left - 14}" y="{y + 4}" text-anchor="end">{escape(kind.name)}</text>'
    for n, edge in enumerate(kind.edges):
        if edge is not None:
            # Equal edges lie on one another: each further ring is a little wider, so all can be seen.
            radius = 3 + 2 * sum(other == edge for other in kind.edges[:n])
            x = left + float(edge) * 100 * percent
            ink = f'fill="none" stroke="{PAY_TABLES[n][3]}" stroke-width="2"'
            yield f'<circle cx="{x:.1f}" cy="{y}" r="{radius}" {ink}/>'


if __name__ == "__main__":
    files = (DOCS / "reference" / "house-edges.md", DOCS / "pictures" / "edges.svg")
    for file, text in zip(files, (page(), picture()), strict=True):
        file.write_text(text, encoding="utf-8")
        print(file)

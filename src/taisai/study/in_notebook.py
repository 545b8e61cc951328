"""Reports as a notebook shows them."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from taisai.study.report import Report, Sheet

TABLE: Final = "border-collapse:collapse;margin:0.5em 0 1em"
CAPTION: Final = "text-align:left;font-style:italic;padding-bottom:0.3em;white-space:nowrap"
CELL: Final = "padding:0.15em 0.8em 0.15em 0;text-align:left"
FIGURE: Final = "padding:0.15em 0.8em 0.15em 0;text-align:right;font-variant-numeric:tabular-nums"


def html_of(report: Report) -> str:
    """Tables, then notes. The styles stand in the elements: a notebook keeps none that stand apart."""
    notes = [f"<p>{escape(note)}</p>" for note in report.notes]
    return "\n".join([*map(_table, report.sheets), *notes])


def _table(sheet: Sheet) -> str:
    styles = [FIGURE if column.is_number else CELL for column in sheet.columns]

    def row(kind: str, cells: tuple[str, ...]) -> str:
        made = (
            f'<{kind} style="{how}">{escape(cell)}</{kind}>' for cell, how in zip(cells, styles, strict=True)
        )
        return f"<tr>{''.join(made)}</tr>"

    head = row("th", tuple(column.name for column in sheet.columns))
    rows = "".join(row("td", cells) for cells in sheet.rows)
    caption = f'<caption style="{CAPTION}">{escape(sheet.title)}</caption>'
    return f'<table style="{TABLE}">{caption}<thead>{head}</thead><tbody>{rows}</tbody></table>'

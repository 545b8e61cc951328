"""A par sheet as one HTML file that needs nothing else."""

from __future__ import annotations

from html import escape
from typing import Final

from taisai.study.par import tables, words
from taisai.study.par.sheet import ParSheet
from taisai.study.report import Sheet

_STYLE: Final = """
:root { --ink: #1b2421; --quiet: #5c6b65; --line: #c9d3ce; --green: #0b5d3b; --pale: #eef4f0 }
* { box-sizing: border-box }
body { margin: 0 auto; max-width: 62rem; padding: 2.5rem 1.5rem 4rem; color: var(--ink); background: #fff;
       font: 15px/1.5 "Noto Sans", "Segoe UI", system-ui, "Noto Sans CJK SC", sans-serif }
header { border-bottom: 4px double var(--green); padding-bottom: .6rem; margin-bottom: 1.4rem }
h1 { margin: 0; font-size: 1.9rem; letter-spacing: .01em } header p { margin: .1rem 0 0; color: var(--quiet) }
h2 { margin: 2.2rem 0 .5rem; font-size: 1.15rem; color: var(--green) }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; font-size: .86rem }
th { text-align: left; border-bottom: 1.5px solid var(--green); padding: .3rem .5rem; vertical-align: bottom }
td { border-bottom: 1px solid var(--line); padding: .25rem .5rem; vertical-align: top }
tbody tr:nth-child(even) td { background: var(--pale) }
.number { text-align: right; white-space: nowrap }
.identity td:first-child { width: 13rem; color: var(--quiet) }
.identity td:last-child { overflow-wrap: anywhere }
figure { margin: 1.4rem 0 } figure svg { width: 100%; height: auto }
.scroll { overflow-x: auto } .quiet { color: var(--quiet) }
.signing { display: grid; grid-template-columns: repeat(3, 1fr); gap: 2rem; margin-top: 3.5rem }
.signing div { border-top: 1px solid var(--ink); padding-top: .3rem; color: var(--quiet) }
.signature { overflow-wrap: anywhere; font: .8rem/1.4 "DejaVu Sans Mono", monospace }
@media print { body { max-width: none; padding: 0; font-size: 10pt } h2 { break-after: avoid }
  tr, figure { break-inside: avoid } thead { display: table-header-group } .scroll { overflow: visible } }
"""


def as_html(sheet: ParSheet, felt: str) -> str:
    """The sheet with the layout's picture, an SVG, in it."""
    title = f"Par sheet: {sheet.book.title}, layout {sheet.matrix.layout}"
    named = f"{sheet.book.title} · {sheet.book.title_zh} · layout {sheet.matrix.layout}"
    parts = [
        '<!doctype html><html lang="en"><head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width">',
        f"<title>{escape(title)}</title><style>{_STYLE}</style></head><body>",
        f"<header><h1>Par sheet</h1><p>{escape(named)}</p></header><main>",
        '<table class="identity"><tbody>',
        *(f"<tr><td>{escape(name)}</td><td>{escape(what)}</td></tr>" for name, what in sheet.identity),
        "</tbody></table>",
        f'<figure>{felt}<figcaption class="quiet">The layout and its odds.</figcaption></figure>',
        _section(tables.every_area(sheet), words.EXACT),
        _section(tables.exact_edges(sheet)),
        f"<h2>Tolerance of the observed edge, in %</h2><p>{escape(words.BANDS)}</p>",
        *(_section(one, heading="h3") for one in tables.tolerances(sheet)),
        _section(tables.monitoring(sheet), words.MONITORING),
        _section(tables.interpretations(sheet)),
        _section(tables.errata(sheet)),
        _signing(sheet),
        "</main></body></html>\n",
    ]
    return "\n".join(part for part in parts if part)


def _section(sheet: Sheet, says: str = "", *, heading: str = "h2") -> str:
    if not sheet.rows:
        return ""
    kinds = [' class="number"' if column.is_number else "" for column in sheet.columns]
    head = "".join(
        f'<th scope="col"{kind}>{escape(column.name)}</th>'
        for column, kind in zip(sheet.columns, kinds, strict=True)
    )
    rows = "\n".join(
        "<tr>"
        + "".join(f"<td{kind}>{escape(cell)}</td>" for cell, kind in zip(row, kinds, strict=True))
        + "</tr>"
        for row in sheet.rows
    )
    told = f"<p>{escape(says)}</p>" if says else ""
    return (
        f"<{heading}>{escape(sheet.title)}</{heading}>{told}"
        f'<div class="scroll"><table><thead><tr>{head}</tr></thead><tbody>\n{rows}\n</tbody></table></div>'
    )


def _signing(sheet: ParSheet) -> str:
    people = "".join(f"<div>{who}, date</div>" for who in ("Prepared by", "Checked by", "Approved by"))
    signed = ""
    if sheet.signature is not None:
        signed = (
            f'<p class="signature">Ed25519, of the digest of this sheet<br>{escape(sheet.signature.key)}<br>'
            f"{escape(sheet.signature.signature)}</p>"
        )
    return f'<h2>Signatures</h2>{signed}<div class="signing">{people}</div>'

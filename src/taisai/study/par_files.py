"""A par sheet as an HTML file, and as an accessible PDF (PDF/UA)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from html import escape
from typing import Any, Final

from taisai import __version__
from taisai.rules.errors import RulesError
from taisai.study import needed
from taisai.study.par import (
    ParSheet,
    areas_table,
    errata_table,
    exact_table,
    interpretations_table,
    monitoring_table,
    tolerance_tables,
)
from taisai.study.report import Sheet

EXACT: Final = (
    "Ways, probabilities, edges and variances are exact: they are counted over the whole cycle. Odds are "
    "as in the pay table; an edge is the expected loss per unit staked. "
    "The volatility index is 1.645 standard deviations."
)
BANDS: Final = (
    "The observed edge of one area, staked equally each round, lies within its band in at least the stated "
    "share of samples, and beyond either end in at most half of the rest. Bands are quantiles of the "
    "distribution of the total: exact up to 1,000 rounds, then by a Fourier transform with a proven error. "
    "If the odds are too far apart for that, a band is normal; ≈ marks one whose share may be wrong by more "
    "than 5 percentage points by the Berry–Esseen bound."
)
MONITORING: Final = (
    "By chance alone, at most one check in a hundred of one area is outside its 99 % band. With many areas "
    "and checks it will happen. The dice watch corrects for repeated checks; these bands do not."
)


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
        _section(areas_table(sheet), EXACT),
        _section(exact_table(sheet)),
        f"<h2>Tolerance of the observed edge, in %</h2><p>{escape(BANDS)}</p>",
        *(_section(table, heading="h3") for table in tolerance_tables(sheet)),
        _section(monitoring_table(sheet), MONITORING),
        _section(interpretations_table(sheet)),
        _section(errata_table(sheet)),
        _html_signatures(sheet),
        "</main></body></html>\n",
    ]
    return "\n".join(part for part in parts if part)


def _section(sheet: Sheet, text: str = "", *, heading: str = "h2") -> str:
    if not sheet.rows:
        return ""
    kinds = [' class="number"' if column.is_number else "" for column in sheet.columns]
    columns = zip(sheet.columns, kinds, strict=True)
    head = "".join(f'<th scope="col"{kind}>{escape(column.name)}</th>' for column, kind in columns)
    rows = ""
    for row in sheet.rows:
        cells = (f"<td{kind}>{escape(cell)}</td>" for cell, kind in zip(row, kinds, strict=True))
        rows += f"<tr>{''.join(cells)}</tr>\n"
    paragraph = f"<p>{escape(text)}</p>" if text else ""
    return (
        f"<{heading}>{escape(sheet.title)}</{heading}>{paragraph}"
        f'<div class="scroll"><table><thead><tr>{head}</tr></thead><tbody>\n{rows}</tbody></table></div>'
    )


def _html_signatures(sheet: ParSheet) -> str:
    people = "".join(f"<div>{who}, date</div>" for who in ("Prepared by", "Checked by", "Approved by"))
    signed = ""
    if sheet.signature is not None:
        signed = (
            f'<p class="signature">Ed25519, of the digest of this sheet<br>{escape(sheet.signature.key)}<br>'
            f"{escape(sheet.signature.signature)}</p>"
        )
    return f'<h2>Signatures</h2>{signed}<div class="signing">{people}</div>'


_LOOK: Final = """
#let green = rgb("#0b5d3b")
#let quiet = rgb("#5c6b65")
#set page(paper: "a4", margin: (x: 16mm, top: 18mm, bottom: 20mm), numbering: "1 / 1",
  header: context if counter(page).get().first() > 1 {
    text(8pt, quiet)[#title-line #h(1fr) #short-digest] })
#set text(font: ("Libertinus Serif", "Noto Serif CJK SC", "Noto Sans CJK SC"), size: 10pt, lang: "en")
#set par(justify: false, leading: 0.55em)
#show heading.where(level: 1): it => block(text(22pt, weight: "bold", it.body))
#let titled(size, above, it) = block(above: above, below: 0.6em, sticky: true, text(size, green, it.body))
#show heading.where(level: 2): it => titled(12.5pt, 1.4em, it)
#show heading.where(level: 3): it => titled(10.5pt, 1em, it)
#set table(stroke: none, inset: (x: 4pt, y: 2.6pt),
  fill: (_, y) => if y > 0 and calc.even(y) { rgb("#eef4f0") })
#let ruled(columns, aligned, size, head, rows) = {
  set text(size)
  table(columns: columns, align: aligned,
    table.header(..head.map(one => table.cell(stroke: (bottom: 1pt + green), strong(one)))), ..rows.flatten())
}
"""


def as_pdf(sheet: ParSheet, felt: str) -> bytes:
    """The sheet with the layout's picture, an SVG, in it."""
    with needed("typst", "study"):
        import typst
    text = "\n".join(_source(sheet))
    files: Any = {"main.typ": text.encode(), "felt.svg": felt.encode()}
    try:
        pdf = typst.compile(files, format="pdf", pdf_standards="ua-1", timestamp=0)
    except typst.TypstError as error:
        raise RulesError(f"Typst cannot typeset the par sheet: {error}") from error
    assert isinstance(pdf, bytes)  # noqa: S101  without an output file, Typst returns the bytes
    return pdf


def _source(sheet: ParSheet) -> Iterator[str]:
    title = f"Par sheet: {sheet.book.title}, layout {sheet.matrix.layout}"
    yield f"#let title-line = {_text(title)}"
    yield f"#let short-digest = {_text(sheet.digest[:23] + '…')}"
    maker = f"taisai {__version__}"
    yield f"#set document(title: {_text(title)}, author: {_text(maker)})"
    yield _LOOK
    yield "= Par sheet"
    named = f"{sheet.book.title} · {sheet.book.title_zh} · layout {sheet.matrix.layout}"
    yield f"#text(12pt, quiet, {_text(named)})"
    yield "#line(length: 100%, stroke: 2pt + green)"
    yield _identity(sheet)
    alt = f"The layout {sheet.matrix.layout}: {len(sheet.matrix.areas)} areas with their odds"
    yield f'#figure(image("felt.svg", width: 100%, alt: {_text(alt)}))'
    yield from _table(areas_table(sheet), EXACT, size="7.8pt", wide=2)
    yield from _table(exact_table(sheet), size="8.5pt")
    yield f"== Tolerance of the observed edge, in %\n#{_text(BANDS)}"
    for table in tolerance_tables(sheet):
        yield from _table(table, size="7.8pt", level=3)
    yield from _table(monitoring_table(sheet), MONITORING, size="6.7pt")
    yield from _table(interpretations_table(sheet), size="8.5pt", wide=3, shares=("1fr", "3fr", "3fr"))
    yield from _table(errata_table(sheet), size="8.5pt", wide=4, shares=("1fr", "1.4fr", "1.4fr", "3fr"))
    yield _pdf_signatures(sheet)


def _identity(sheet: ParSheet) -> str:
    rows = ", ".join(f"text(quiet, {_text(name)}), {_text(what)}" for name, what in sheet.identity)
    return f"#[#set text(9.5pt)\n#grid(columns: (38mm, 1fr), row-gutter: 4.5pt, {rows})]"


def _table(
    sheet: Sheet, text: str = "", *, size: str, level: int = 2, wide: int = 1, shares: tuple[str, ...] = ()
) -> Iterator[str]:
    """A table; its first columns, `wide` of them, share the width that figures leave."""
    if not sheet.rows:
        return
    yield f"{'=' * level} #{_text(sheet.title)}"
    if text:
        yield f"#{_text(text)}"
    widths = shares or tuple("1fr" if at < wide else "auto" for at in range(len(sheet.columns)))
    sides = ", ".join("right" if column.is_number else "left" for column in sheet.columns)
    head = ", ".join(_text(column.name) for column in sheet.columns)
    rows = ",\n".join(f"({', '.join(map(_text, row))},)" for row in sheet.rows)
    yield f"#ruled(({', '.join(widths)},), ({sides},), {size}, ({head},), (\n{rows},))"


def _pdf_signatures(sheet: ParSheet) -> str:
    signed = ""
    if sheet.signature is not None:
        signed = (
            f"#[#set text(8pt)\n#{_text('Ed25519, of the digest of this sheet')} #linebreak() "
            f"#{_text(sheet.signature.key)} #linebreak() #{_text(sheet.signature.signature)}]"
        )
    lines = ", ".join(
        f"[#line(length: 100%) #text(9pt, quiet, {_text(who + ', date')})]"
        for who in ("Prepared by", "Checked by", "Approved by")
    )
    return f"== Signatures\n{signed}\n#v(14mm)\n#grid(columns: (1fr, 1fr, 1fr), gutter: 8mm, {lines})"


def _text(text: str) -> str:
    """A string literal of Typst, without markup."""
    quoted = json.dumps(text, ensure_ascii=False)
    return "".join(f"\\u{{{ord(char):x}}}" if ord(char) < 32 or ord(char) == 127 else char for char in quoted)

"""A par sheet as a PDF that screen readers can read too (PDF/UA), set by Typst."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final

from taisai import __version__
from taisai.rules.errors import RulesError
from taisai.study.missing import needed
from taisai.study.par import tables, words
from taisai.study.par.sheet import ParSheet
from taisai.study.report import Sheet

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
        made = typst.compile(files, format="pdf", pdf_standards="ua-1", timestamp=0)
    except typst.TypstError as error:
        raise RulesError(f"expected Typst to set the par sheet, got: {error}") from error
    assert isinstance(made, bytes)  # noqa: S101  one document without a file to write to
    return made


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
    yield from _table(tables.every_area(sheet), words.EXACT, size="7.8pt", wide=2)
    yield from _table(tables.exact_edges(sheet), size="8.5pt")
    yield f"== Tolerance of the observed edge, in %\n#{_text(words.BANDS)}"
    for one in tables.tolerances(sheet):
        yield from _table(one, size="7.8pt", level=3)
    yield from _table(tables.monitoring(sheet), words.MONITORING, size="6.7pt")
    yield from _table(tables.interpretations(sheet), size="8.5pt", wide=3, shares=("1fr", "3fr", "3fr"))
    yield from _table(tables.errata(sheet), size="8.5pt", wide=4, shares=("1fr", "1.4fr", "1.4fr", "3fr"))
    yield _signing(sheet)


def _identity(sheet: ParSheet) -> str:
    rows = ", ".join(f"text(quiet, {_text(name)}), {_text(what)}" for name, what in sheet.identity)
    return f"#[#set text(9.5pt)\n#grid(columns: (38mm, 1fr), row-gutter: 4.5pt, {rows})]"


def _table(
    sheet: Sheet, says: str = "", *, size: str, level: int = 2, wide: int = 1, shares: tuple[str, ...] = ()
) -> Iterator[str]:
    """A table; its first columns, `wide` of them, share the room that figures leave."""
    if not sheet.rows:
        return
    yield f"{'=' * level} #{_text(sheet.title)}"
    if says:
        yield f"#{_text(says)}"
    widths = shares or tuple("1fr" if at < wide else "auto" for at in range(len(sheet.columns)))
    sides = ", ".join("right" if column.is_number else "left" for column in sheet.columns)
    head = ", ".join(_text(column.name) for column in sheet.columns)
    rows = ",\n".join(f"({', '.join(map(_text, row))},)" for row in sheet.rows)
    yield f"#ruled(({', '.join(widths)},), ({sides},), {size}, ({head},), (\n{rows},))"


def _signing(sheet: ParSheet) -> str:
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


def _text(words_: str) -> str:
    """A string of Typst's, which reads nothing in it."""
    quoted = json.dumps(words_, ensure_ascii=False)
    return "".join(f"\\u{{{ord(one):x}}}" if ord(one) < 32 or ord(one) == 127 else one for one in quoted)

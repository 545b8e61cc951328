"""The content of a par sheet: its figures, its digest and its tables."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import sha256
from typing import Any, Final, NamedTuple

from taisai import __version__
from taisai.rules import Chance, Matrix, Rulebook
from taisai.rules.chance import ChanceKind
from taisai.study.bands import BAND_LEVELS, ROUNDS
from taisai.study.measures import Family, LayoutMeasures, measures, one_in
from taisai.study.report import Describable, Sheet, StudyReport, columns, counted

FORMAT: Final = 1
MONITORED: Final = (1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000)
"""Numbers of rounds after which the observed edge of a live table is checked."""


class Signature(NamedTuple):
    """A public key and its signature of the digest of the sheet."""

    key: str
    signature: str


@dataclass(frozen=True)
class ParSheet(Describable):
    """The par sheet of a layout."""

    book: Rulebook
    measures: LayoutMeasures
    settings: dict[str, str]
    signature: Signature | None = None

    @property
    def matrix(self) -> Matrix:
        return self.measures.matrix

    @property
    def chance(self) -> Chance:
        return self.measures.chance

    @property
    def families(self) -> tuple[Family, ...]:
        """Areas with the same distribution together, in the order of the rulebook."""
        return self.measures.families

    @property
    def cycle(self) -> str:
        """The number of equally likely cases, in words."""
        if self.chance.kind is ChanceKind.DICE:
            return f"{self.chance.total} rolls of three dice"
        return f"{self.chance.total:,} draws of three cards from {counted(self.chance.decks or 0, 'deck')}"

    @property
    def identity(self) -> tuple[tuple[str, str], ...]:
        """Names and digests of the game."""
        book = self.book
        effective = "" if book.effective is None else f", effective {book.effective}"
        terms = ", ".join(f"{name} = {value}" for name, value in self.settings.items())
        return (
            ("game", f"{book.title} · {book.title_zh}"),
            ("operator", book.operator),
            ("rulebook", f"{book.id}{f', version {book.version}' if book.version else ''}{effective}"),
            ("layout", f"{self.matrix.layout} (clause {self.matrix.layout_clause})"),
            ("settings", terms or "as the rulebook has them"),
            ("cycle", self.cycle),
            ("digest of the rulebook", book.digest),
            ("digest of the pay table", self.matrix.digest),
            ("digest of this sheet", self.digest),
            ("made by", f"taisai {__version__}, in whole numbers and fractions"),
        )

    @cached_property
    def digest(self) -> str:
        """The SHA-256 of all figures in canonical form; signatures sign it."""
        text = json.dumps(self._figures(), ensure_ascii=True, separators=(",", ":"), sort_keys=True)
        return "sha256:" + sha256(text.encode("ascii")).hexdigest()

    def signed(self, signature: Signature) -> ParSheet:
        return replace(self, signature=signature)

    def facts(self) -> dict[str, Any]:
        signature = None if self.signature is None else self.signature._asdict()
        return {**self._figures(), "digest": self.digest, "signature": signature}

    def _figures(self) -> dict[str, Any]:
        # No floats, and so no bands: they follow from the exact figures.
        areas = [{**area.exact_facts(), "label": area.label} for area in self.measures.areas]
        return {
            "format": FORMAT,
            "rulebook": self.book.id,
            "rulebook_digest": self.book.digest,
            "layout": self.matrix.layout,
            "matrix_digest": self.matrix.digest,
            "settings": dict(self.settings),
            "cycle": self.chance.total,
            "decks": self.chance.decks,
            "areas": areas,
            "errata": [erratum._asdict() for erratum in self.book.errata],
            "interpretations": [reading._asdict() for reading in self.book.interpretations],
        }

    def report(self) -> StudyReport:
        return StudyReport(
            (
                Sheet("Par sheet", columns("", "what"), self.identity),
                Sheet(
                    f"Every area, out of {self.chance.total:,}",
                    columns("area", "", "odds", numbers=("ways", "probability", "house edge", "std dev")),
                    tuple(
                        (
                            str(area.id),
                            area.label,
                            ", ".join(map(str, area.odds)),
                            " + ".join(f"{ways:,}" for ways in area.ways),
                            f"{float(area.win_probability):.6f}",
                            f"{100 * float(area.house_edge):.4f} %",
                            f"{area.deviation:.4f}",
                        )
                        for area in self.measures.areas
                    ),
                ),
            ),
            () if self.signature is None else (f"Signed by {self.signature.key}",),
        )


def par_sheet(
    book: Rulebook,
    layout: str | None = None,
    *,
    settings: dict[str, str] | None = None,
    offered: dict[str, str] | None = None,
    decks: int | None = None,
) -> ParSheet:
    """The par sheet of a layout.

    >>> from taisai.rules import rulebook
    >>> sheet = par_sheet(rulebook("rws-sic-bo-etg-v8"), "A")
    >>> sheet.cycle, sheet.measures["single-1"].ways, len(sheet.measures.families) < len(sheet.measures.areas)
    ('216 rolls of three dice', (75, 15, 1), True)
    """
    matrix = book.matrix(layout, settings=settings, offered=offered)
    area_measures = measures(matrix, book.chance(decks=decks), ROUNDS)
    return ParSheet(book, area_measures, {**matrix.settings, **(offered or {})})


def areas_table(sheet: ParSheet) -> Sheet:
    numbers = ("ways", "probability", "1 in", "house edge", "std dev", "skew", "volatility")
    return Sheet(
        "Every area",
        columns("area", "label", "odds", numbers=numbers),
        tuple(
            (
                str(area.id),
                area.label,
                ", ".join(map(str, area.odds)),
                " + ".join(f"{ways:,}" for ways in area.ways),
                f"{float(area.win_probability):.6f}",
                one_in(area),
                f"{100 * float(area.house_edge):.4f} %",
                f"{area.deviation:.4f}",
                f"{area.skew:.3f}",
                f"{area.volatility_index:.3f}",
            )
            for area in sheet.measures.areas
        ),
    )


def exact_table(sheet: ParSheet) -> Sheet:
    """Exact fractions, one row per distribution."""
    heads = columns("areas", numbers=("probability", "house edge", "variance"))
    families = [(family.name, family.areas[0]) for family in sheet.measures.families]
    rows = tuple((n, str(one.win_probability), str(one.house_edge), str(one.variance)) for n, one in families)
    return Sheet("Exactly", heads, rows)


def tolerance_tables(sheet: ParSheet) -> tuple[Sheet, ...]:
    """Tolerance bands of the observed edge, by level and number of rounds."""
    titles = {level: f"{float(level):.0%} of all samples, by rounds" for level in BAND_LEVELS}
    return tuple(sheet.measures.band_sheet(title, level, ROUNDS) for level, title in titles.items())


def monitoring_table(sheet: ParSheet) -> Sheet:
    """The 99 % bands at the numbers of rounds of `MONITORED`."""
    title = "Live monitoring: look into an edge outside of its 99 % band, in %"
    return sheet.measures.band_sheet(title, BAND_LEVELS[-1], MONITORED)


def errata_table(sheet: ParSheet) -> Sheet:
    """Misprints, and the text used instead."""
    rows = tuple((str(found.clause), found.printed, found.read, found.reason) for found in sheet.book.errata)
    return Sheet("Errata of the document", columns("clause", "printed", "read as", "because"), rows)


def interpretations_table(sheet: ParSheet) -> Sheet:
    """How unclear passages are understood."""
    rows = tuple(
        (", ".join(map(str, reading.clauses)), reading.reading, reading.reason)
        for reading in sheet.book.interpretations
    )
    return Sheet("Interpretations", columns("clauses", "reading", "because"), rows)

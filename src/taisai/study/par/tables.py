"""The tables of a par sheet as rows of text, for every form that it is printed in."""

from __future__ import annotations

from taisai.study.bands import LEVELS, ROUNDS
from taisai.study.measures import one_in
from taisai.study.par.sheet import MONITORED, ParSheet
from taisai.study.report import Sheet, columns


def every_area(sheet: ParSheet) -> Sheet:
    """Ways, probability, odds, edge and deviation of each area."""
    numbers = ("ways", "probability", "1 in", "house edge", "std dev", "skew", "volatility")
    return Sheet(
        "Every area",
        columns("area", "label", "odds", *numbers, numbers=numbers),
        tuple(
            (
                str(one.id),
                one.label,
                ", ".join(map(str, one.odds)),
                " + ".join(f"{ways:,}" for ways in one.ways),
                f"{float(one.win_probability):.6f}",
                one_in(one),
                f"{100 * float(one.house_edge):.4f} %",
                f"{one.deviation:.4f}",
                f"{one.skew:.3f}",
                f"{one.volatility_index:.3f}",
            )
            for one in sheet.measures.areas
        ),
    )


def exact_edges(sheet: ParSheet) -> Sheet:
    """The same as fractions, areas of one law together."""
    numbers = ("probability", "house edge", "variance")
    return Sheet(
        "Exactly",
        columns("areas", *numbers, numbers=numbers),
        tuple(
            (
                family.name,
                str(family.areas[0].win_probability),
                str(family.areas[0].house_edge),
                str(family.areas[0].variance),
            )
            for family in sheet.families
        ),
    )


def tolerances(sheet: ParSheet) -> tuple[Sheet, ...]:
    """Where the observed edge lies, by level and number of rounds."""
    return tuple(
        sheet.measures.band_sheet(f"{float(level):.0%} of all samples, by rounds", level, ROUNDS)
        for level in LEVELS
    )


def monitoring(sheet: ParSheet) -> Sheet:
    """The 99 % bands at the points where somebody who watches a live table looks."""
    title = "Live monitoring: look into an edge outside of its 99 % band, in %"
    return sheet.measures.band_sheet(title, LEVELS[-1], MONITORED)


def errata(sheet: ParSheet) -> Sheet:
    """Misprints, and what is read instead."""
    rows = tuple((str(one.clause), one.printed, one.read, one.reason) for one in sheet.book.errata)
    return Sheet("Errata of the document", columns("clause", "printed", "read as", "because"), rows)


def interpretations(sheet: ParSheet) -> Sheet:
    """Our readings where the document leaves doubt."""
    rows = tuple(
        (", ".join(map(str, one.clauses)), one.reading, one.reason) for one in sheet.book.interpretations
    )
    return Sheet("Interpretations", columns("clauses", "reading", "because"), rows)

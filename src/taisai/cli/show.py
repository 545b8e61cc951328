"""`taisai rules show`: one rulebook, whole."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path
from typing import Any, Final

from taisai.cli.plain import plain
from taisai.cli.printing import as_json, line, percent, show, table, wrapped
from taisai.rules import AreaId, Layout, Matrix, Rulebook, RulesError, rulebook
from taisai.rules.procedure import Declared, Phase
from taisai.study.odds import area_odds

MOST_NAMED: Final = 4  # areas of one pay line by name; more are shown by the first and the last


def run(arguments: Namespace) -> int:
    """Prints a rulebook, or draws one of its layouts."""
    book = rulebook(arguments.book)
    layout = book.layout(arguments.layout)
    if arguments.svg is not None:
        return _draw(book, layout, arguments.svg)
    if arguments.toml:
        line(book.text.rstrip())
        return 0
    if arguments.json:
        as_json(everything(book))
        return 0
    _heading(book)
    pay(book, book.matrix(layout.id))
    _procedure(book)
    _readings(book)
    return 0


def _draw(book: Rulebook, layout: Layout, file: str) -> int:
    from taisai.cli.felt import drawn

    try:
        Path(file).write_text(drawn(book.matrix(layout.id), layout), encoding="utf-8")
    except OSError as error:
        raise RulesError(f"expected a file that can be written, got {file!r}: {error.strerror}") from None
    line(f"{book.id} layout {layout.id} drawn in {file}")
    return 0


def everything(book: Rulebook) -> dict[str, Any]:
    """The whole book for machines."""
    return {
        "id": book.id,
        "digest": book.digest,
        "title": book.title,
        "title_zh": book.title_zh,
        "operator": book.operator,
        "version": book.version,
        "effective": plain(book.effective),
        "sources": plain(book.sources),
        "chance": plain(book.chance_rule),
        "settings": plain(tuple(book.settings.values())),
        "areas": plain(tuple(book.areas.values())),
        "pay_tables": plain(tuple(book.pay_tables.values())),
        "layouts": plain(tuple(book.layouts.values())),
        "people": plain(book.people),
        "procedure": {
            "phases": plain(book.procedure.phases),
            "steps": plain(book.procedure.steps),
            "positions": plain(book.procedure.positions),
            "recovery": [
                {"phase": phase, "declared": declared, **plain(rule)}
                for (phase, declared), rule in book.procedure.recoveries.items()
            ],
        },
        "limits": plain(book.limits),
        "equipment": plain(book.equipment),
        "interpretations": plain(book.interpretations),
        "errata": plain(book.errata),
    }


def _heading(book: Rulebook) -> None:
    line(f"{book.title} · {book.title_zh}")
    version = f", version {book.version}" if book.version else ""
    effective = f", in effect from {book.effective}" if book.effective else ""
    line(f"{book.id}: {book.operator}{version}{effective}")
    line(f"layouts {', '.join(book.layouts)}; {len(book.clauses)} clauses; {book.digest}")
    for source in book.sources:
        wrapped(f"source: {source.title}. {source.note}")
    line()


def pay(book: Rulebook, matrix: Matrix) -> None:
    """The pay table, areas with one law together, with clause and edge."""
    odds = {area.id: area for area in area_odds(matrix, book.chance())}
    made = table(
        f"Pay on layout {matrix.layout}",
        ("areas", "odds", "wins with", "house edge", "clause"),
        right=("wins with", "house edge"),
    )
    for group in book.pay_by_layout[matrix.layout].table.lines:
        first = odds[group.areas[0]]
        floor = f" (floor {group.floor})" if group.floor else ""
        dice = {None: "", 1: " on one die", 2: " on two dice", 3: " on three dice"}[group.wins.dice]
        made.add_row(
            _names(group.areas),
            f"{group.odds}{floor}{dice}",
            percent(first.win_probability),
            percent(first.house_edge),
            group.clause,
        )
    show(made)


def _names(areas: tuple[AreaId, ...]) -> str:
    return ", ".join(areas) if len(areas) <= MOST_NAMED else f"{areas[0]} … {areas[-1]} ({len(areas)})"


def _procedure(book: Rulebook) -> None:
    made = table("The order of a round", ("from", "act", "by", "to", "needs", "when", "clause"))
    for step in book.procedure.steps:
        when = f"{step.when.setting} = {step.when.value}" if step.when else ""
        made.add_row(step.start, step.act, step.by, step.end, ", ".join(step.needs), when, step.clause)
    show(made)
    made = table("After an interruption", ("the round stands at", "a die was seen", "what is done", "clause"))
    for facts in book.procedure.phases:
        for declared in (
            (Declared.SEEN, Declared.UNSEEN) if book.procedure.needs_declaration(facts.id) else (None,)
        ):
            rule = book.procedure.recovery(Phase(facts.id), declared)
            word = {None: "", Declared.SEEN: "yes, as declared", Declared.UNSEEN: "no, as declared"}[declared]
            made.add_row(facts.id, word, rule.action, rule.clause)
    show(made)


def _readings(book: Rulebook) -> None:
    if book.settings:
        made = table("Settings", ("setting", "takes", "default", "says"))
        for setting in book.settings.values():
            made.add_row(setting.id, setting.expected(), setting.default, setting.says)
        show(made)
    made = table("How the document is read", ("clauses", "reading", "because"))
    for reading in book.interpretations:
        made.add_row(", ".join(reading.clauses) or "silent", reading.reading, reading.reason)
    for erratum in book.errata:
        made.add_row(erratum.clause, f"{erratum.printed} is read as {erratum.read}", erratum.reason)
    if made.row_count:
        show(made)

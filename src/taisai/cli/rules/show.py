"""`taisai rules show`: one rulebook, whole."""

from __future__ import annotations

from argparse import Namespace
from typing import Any, Final

from taisai.cli.printing import ON_DICE, as_json, line, percent, plain, show, table, wrapped
from taisai.cli.rules import irregularities
from taisai.rules import AreaId, Layout, Matrix, Rulebook, rulebook
from taisai.rules.procedure import Declared
from taisai.study.odds import area_odds, chance_words

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
    _blocks(layout)
    _procedure(book)
    _people(book)
    _equipment(book)
    _readings(book)
    return 0


def _draw(book: Rulebook, layout: Layout, file: str) -> int:
    from taisai.cli.printing import writing
    from taisai.cli.rules.felt import drawn

    with writing(file) as out:
        out.write(drawn(book.matrix(layout.id), layout).encode())
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
            "out_of_order": [
                {"act": act, "phase": phase, "irregularity": irregularity}
                for (act, phase), irregularity in book.procedure.out_of_order.items()
            ],
            "positions": plain(book.procedure.positions),
            "recovery": [
                {"phase": phase, "declared": declared, **plain(rule)}
                for (phase, declared), rule in book.procedure.recoveries.items()
            ],
        },
        "irregularities": irregularities.whole_table(book, book.chosen()),
        "limits": plain(book.limits),
        "equipment": plain(book.equipment),
        "interpretations": plain(book.interpretations),
        "errata": plain(book.errata),
        "clauses": plain(tuple(book.clauses.values())),
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
    """The pay table line by line: the chance of the line, and the edge of an area with all its lines."""
    chance = book.chance()
    edges = {area.id: area.house_edge for area in area_odds(matrix, chance)}
    made = table(
        f"{book.id}: pay on layout {matrix.layout}, {chance_words(chance)}",
        ("areas", "odds", "wins with", "house edge", "clause"),
        right=("wins with", "house edge"),
    )
    told: set[AreaId] = set()
    for line_ in book.pay_by_layout[matrix.layout].table.lines:
        first = line_.areas[0]
        won = next(win.places for win in matrix.wins[matrix.row(first)] if win.dice == line_.wins.dice)
        floor = f" (floor {line_.floor})" if line_.floor else ""
        edge = "" if first in told else percent(edges[first])
        made.add_row(
            _names(line_.areas),
            f"{line_.odds}{floor}{ON_DICE[line_.wins.dice or 0]}",
            percent(chance.probability(won)),
            edge,
            line_.clause,
        )
        told.add(first)
    show(made)


def _names(areas: tuple[AreaId, ...]) -> str:
    return ", ".join(areas) if len(areas) <= MOST_NAMED else f"{areas[0]} … {areas[-1]} ({len(areas)})"


def _blocks(layout: Layout) -> None:
    made = table(f"Layout {layout.id}, by {layout.clause}", ("block", "areas", "drawing"))
    for block in layout.blocks:
        areas = tuple(cell.area for row in block.rows for cell in row if cell.area)
        made.add_row(block.id, _names(areas) if areas else "printed odds", block.drawing)
    show(made)


def _procedure(book: Rulebook) -> None:
    procedure = book.procedure
    made = table("The order of a round", ("from", "act", "by", "to", "needs", "when", "clause"))
    for step in procedure.steps:
        when = f"{step.when.setting} = {step.when.value}" if step.when else ""
        needs = ", ".join(
            f"{need.need}, else {need.unmet or 'refused'} ({need.clause})" for need in step.needs
        )
        made.add_row(step.start, step.act, step.by, step.end, needs, when, step.clause)
    for (act, phase), irregularity in procedure.out_of_order.items():
        made.add_row(phase, act, "", f"is {irregularity}", "", "", "")
    show(made)
    line(f"Bets count as they lie from {procedure.positions.fixed_by} on ({procedure.positions.clause}).")
    line()
    made = table("After an interruption", ("the round stands at", "dice seen", "what is done", "clause"))
    for (phase, declared), rule in procedure.recoveries.items():
        word = {None: "", Declared.SEEN: "yes, as declared", Declared.UNSEEN: "no, as declared"}[declared]
        before = f" before the {rule.witness}" if rule.witness else ""
        made.add_row(phase, word, f"{rule.action}{before}", rule.clause)
    show(made)


def _people(book: Rulebook) -> None:
    people, limits = book.people, book.limits
    made = table("People, lowest first", ("rank", "", "", "clause"))
    for rank in people.ladder:
        made.add_row(rank.id, rank.label, rank.label_zh, rank.clause)
    show(made)
    line(f"A higher position may act for a lower: {people.higher_may_act} ({people.higher_clause}).")
    if people.placing:
        line(f"Bets at a player's request: {', '.join(people.placing.by)} ({people.placing.clause}).")
    line(f"Under the minimum: {limits.under_minimum} ({limits.under_clause}).")
    line(f"Over the maximum: {limits.over_maximum} ({limits.over_clause}).")
    line()


def _equipment(book: Rulebook) -> None:
    made = table("Equipment", ("item", "", "what is asked of it", "clause"))
    for item in book.equipment:
        asked = [f"at least {item.least_tumbles} tumbles"] if item.least_tumbles else []
        asked += [f"at most {item.hours_on_table} hours on the table"] if item.hours_on_table else []
        asked += [f"in the custody of the {item.custody}"] if item.custody else []
        asked += [f"not beside {item.excludes.item} ({item.excludes.clause})"] if item.excludes else []
        asked += [f"inspected by the {one.by} before {one.before} ({one.clause})" for one in item.inspections]
        asked += [f"bets are made with {' and '.join(item.means)}"] if item.means else []
        made.add_row(item.label, item.label_zh, "; ".join(asked), item.clause)
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

"""`taisai rules list`, `rules show` and `rules check`: rulebooks, listed, shown and checked."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Iterator
from typing import Any, Final

from taisai.cli.printing import ON_DICE, as_json, line, percent, plain, show_table, wrapped
from taisai.cli.rules.clauses import irregularity_facts
from taisai.cli.rules.editions import show_change
from taisai.rules import AreaId, BookError, Layout, Matrix, Rulebook, rulebook, rulebook_ids
from taisai.rules.book import editions
from taisai.rules.errors import printable
from taisai.rules.procedure import Declared
from taisai.study.odds import area_odds, chance_words

MOST_NAMED: Final = 4  # areas of one pay line by name; of more, only the first and the last


def list_books(arguments: Namespace) -> int:
    books = [rulebook(name) for name in rulebook_ids()]
    if arguments.json:
        as_json({"rulebooks": [_listed(book) for book in books]})
        return 0
    rows = []
    for book in books:
        layouts = ", ".join(f"{name} ({areas})" for name, areas in _layouts(book))
        effective = str(book.effective)[:16] if book.effective else "–"
        found = ", ".join(str(edition.edition) for edition in editions(book.id))
        rows.append(
            (book.id, found, f"{book.title}\n{book.title_zh}", effective, book.chance_rule.kind, layouts)
        )
    show_table("Rulebooks", ("id", "editions", "game", "from", "chance", "layouts (areas)"), rows)
    return 0


def _layouts(book: Rulebook) -> list[tuple[str, int]]:
    return [(name, len(pay.table.areas())) for name, pay in book.pay_by_layout.items()]


def _listed(book: Rulebook) -> dict[str, object]:
    return {
        "id": book.id, "title": book.title, "title_zh": book.title_zh, "operator": book.operator,
        "version": book.version, "edition": book.edition, "practice": book.practice,
        "effective": book.effective.isoformat() if book.effective else None,
        "editions": [{"edition": other.edition, "digest": other.digest} for other in editions(book.id)],
        "chance": book.chance_rule.kind,
        "layouts": [{"id": name, "areas": areas} for name, areas in _layouts(book)], "digest": book.digest,
    }  # fmt: skip


def check_book(arguments: Namespace) -> int:
    """Prints the error of a rulebook (exit 1), or its contents and warnings."""
    try:
        book = rulebook(arguments.book).check()
    except BookError as error:
        if arguments.json:
            facts = {"file": error.file, "key": error.key, "expected": error.expected, "got": error.got}
            as_json({"ok": False, "error": facts, "warnings": []})
        else:
            sys.stderr.write(f"taisai: refused: {printable(str(error), 1_000)}\n")
        return 1
    warnings = list(book.warnings())
    if arguments.json:
        as_json({"ok": True, "rulebook": book.id, "digest": book.digest, "error": None, "warnings": warnings})
        return 0
    line(f"{book.file}: {book.title} ({book.id}) is a rulebook")
    for name, layout in book.layouts.items():
        matrix = book.matrix(name)
        areas = f"{len(matrix.areas)} areas (clause {layout.clause})"
        line(f"  layout {name}: {areas}, matrix {matrix.digest[:19]}…")
    interpretations = f"{len(book.interpretations)} interpretations"
    line(f"  {len(book.clauses)} clauses, {interpretations}, {len(book.errata)} errata")
    for warning in warnings:
        line(f"  warning: {warning}")
    return 0


def show_book(arguments: Namespace) -> int:
    book = rulebook(arguments.book)
    layout = book.layout(arguments.layout)
    if arguments.svg is not None:
        from taisai.cli.files import writing
        from taisai.cli.rules.drawing import draw_layout

        with writing(arguments.svg) as out:
            out.write(draw_layout(book.matrix(layout.id), layout).encode())
        line(f"{book.id} layout {layout.id} drawn in {arguments.svg}")
        return 0
    if arguments.toml:
        line(book.text.rstrip())
        return 0
    if arguments.json:
        as_json(book_facts(book))
        return 0
    _show_heading(book)
    show_pay(book, book.matrix(layout.id))
    _show_blocks(layout)
    _show_procedure(book)
    _show_people(book)
    _show_equipment(book)
    _show_interpretations(book)
    return 0


def book_facts(book: Rulebook) -> dict[str, Any]:
    procedure = book.procedure
    out_of_order = [
        {"act": act, "phase": phase, "irregularity": irregularity}
        for (act, phase), irregularity in procedure.out_of_order.items()
    ]
    recovery = [
        {"phase": phase, "declared": declared, **plain(rule)}
        for (phase, declared), rule in procedure.recoveries.items()
    ]
    facts = {
        "id": book.id, "digest": book.digest, "title": book.title, "title_zh": book.title_zh,
        "operator": book.operator, "version": book.version, "edition": book.edition,
        "practice": book.practice, "changes": book.changes, "adoption": book.adoption,
        "effective": book.effective,
        "sources": book.sources, "chance": book.chance_rule, "settings": tuple(book.settings.values()),
        "areas": tuple(book.areas.values()), "pay_tables": tuple(book.pay_tables.values()),
        "layouts": tuple(book.layouts.values()), "people": book.people,
        "procedure": {
            "phases": procedure.phases, "steps": procedure.steps, "out_of_order": out_of_order,
            "positions": procedure.positions, "recovery": recovery,
        },
        "irregularities": irregularity_facts(book, book.chosen()), "limits": book.limits,
        "equipment": book.equipment, "interpretations": book.interpretations, "errata": book.errata,
        "clauses": tuple(book.clauses.values()),
    }  # fmt: skip
    return {key: plain(value) for key, value in facts.items()}


def _show_heading(book: Rulebook) -> None:
    line(f"{book.title} · {book.title_zh}")
    version = f", version {book.version}" if book.version else ""
    version += f", our edition {book.edition}"
    effective = f", in effect from {book.effective}" if book.effective else ""
    wrapped(f"{book.id}: {book.operator}{version}{effective}")
    line(f"layouts {', '.join(book.layouts)}; {len(book.clauses)} clauses; {book.digest}")
    for source in book.sources:
        wrapped(f"source: {source.title}. {source.note}")
    line()


def show_pay(book: Rulebook, matrix: Matrix) -> None:
    """Prints the pay table: the chance of each line, and the edge of an area with all its lines."""
    chance = book.chance()
    edges = {area.id: area.house_edge for area in area_odds(matrix, chance)}

    def rows() -> Iterator[tuple[object, ...]]:
        shown: set[AreaId] = set()
        for pay_line in book.pay_by_layout[matrix.layout].table.lines:
            first, dice = pay_line.areas[0], pay_line.wins.dice
            won = next(win.places for win in matrix.wins[matrix.row(first)] if win.dice == dice)
            minimum = f" (minimum {pay_line.floor})" if pay_line.floor else ""
            odds = f"{pay_line.odds}{minimum}{ON_DICE[dice or 0]}"
            edge = "" if first in shown else percent(edges[first])
            yield _names(pay_line.areas), odds, percent(chance.probability(won)), edge, pay_line.clause
            shown.add(first)

    numbers = ("wins with", "house edge")
    title = f"{book.id}: pay on layout {matrix.layout}, {chance_words(chance)}"
    show_table(title, ("areas", "odds", *numbers, "clause"), rows(), right=numbers)


def _names(areas: tuple[AreaId, ...]) -> str:
    return ", ".join(areas) if len(areas) <= MOST_NAMED else f"{areas[0]} … {areas[-1]} ({len(areas)})"


def _show_blocks(layout: Layout) -> None:
    rows = []
    for block in layout.blocks:
        areas = tuple(cell.area for row in block.rows for cell in row if cell.area)
        rows.append((block.id, _names(areas) if areas else "printed odds", block.drawing))
    show_table(f"Layout {layout.id}, by {layout.clause}", ("block", "areas", "drawing"), rows)


def _show_procedure(book: Rulebook) -> None:
    procedure = book.procedure
    rows: list[tuple[object, ...]] = []
    for step in procedure.steps:
        when = f"{step.when.setting} = {step.when.value}" if step.when else ""
        needs = ", ".join(f"{n.need}, else {n.unmet or 'refused'} ({n.clause})" for n in step.needs)
        rows.append((step.start, step.act, step.by, step.end, needs, when, step.clause))
    for (act, phase), irregularity in procedure.out_of_order.items():
        rows.append((phase, act, "", f"is {irregularity}", "", "", ""))
    show_table("The order of a round", ("from", "act", "by", "to", "needs", "when", "clause"), rows)
    line(f"The positions of bets are fixed by {procedure.positions.fixed_by} ({procedure.positions.clause}).")
    line()
    seen = {None: "", Declared.SEEN: "yes, as declared", Declared.UNSEEN: "no, as declared"}
    rows = []
    for (phase, declared), rule in procedure.recoveries.items():
        before = f" before the {rule.witness}" if rule.witness else ""
        rows.append((phase, seen[declared], f"{rule.action}{before}", rule.clause))
    show_table("After an interruption", ("phase of the round", "dice seen", "action", "clause"), rows)


def _show_people(book: Rulebook) -> None:
    people, limits = book.people, book.limits
    rows = ((rank.id, rank.label, rank.label_zh, rank.clause) for rank in people.ladder)
    show_table("People, lowest first", ("rank", "", "", "clause"), rows)
    line(f"A higher position may act for a lower: {people.higher_may_act} ({people.higher_clause}).")
    if people.placing:
        line(f"Bets at a player's request: {', '.join(people.placing.by)} ({people.placing.clause}).")
    line(f"Under the minimum: {limits.under_minimum} ({limits.under_clause}).")
    line(f"Over the maximum: {limits.over_maximum} ({limits.over_clause}).")
    line()


def _show_equipment(book: Rulebook) -> None:
    rows = []
    for item in book.equipment:
        needs = [f"at least {item.least_tumbles} tumbles"] if item.least_tumbles else []
        needs += [f"at most {item.hours_on_table} hours on the table"] if item.hours_on_table else []
        needs += [f"in the custody of the {item.custody}"] if item.custody else []
        needs += [f"not beside {item.excludes.item} ({item.excludes.clause})"] if item.excludes else []
        needs += [
            f"inspected by the {inspection.by} before {inspection.before} ({inspection.clause})"
            for inspection in item.inspections
        ]
        needs += [f"bets are made with {' and '.join(item.means)}"] if item.means else []
        rows.append((item.label, item.label_zh, "; ".join(needs), item.clause))
    show_table("Equipment", ("item", "", "requirements", "clause"), rows)


def _show_interpretations(book: Rulebook) -> None:
    rows: list[tuple[object, ...]]
    if book.settings:
        rows = [
            (setting.id, setting.expected(), setting.default, setting.says, setting.clause or "")
            for setting in book.settings.values()
        ]
        show_table("Settings", ("setting", "takes", "default", "says", "within"), rows)
    rows = [
        (", ".join(interpretation.clauses) or "silent", interpretation.reading, interpretation.reason)
        for interpretation in book.interpretations
    ]
    rows += [
        (erratum.clause, f"{erratum.printed} is read as {erratum.read}", erratum.reason)
        for erratum in book.errata
    ]
    if rows:
        show_table("How the document is read", ("clauses", "reading", "because"), rows)
    if book.adoption is not None:
        who = f"A {book.adoption.by} or above adopts these readings, by name and date"
        wrapped(f"{who}, when a house takes the edition into use ({book.adoption.clause}).")
        line()
    for change in book.changes:
        show_change(change)

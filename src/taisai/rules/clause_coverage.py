"""For each clause of a rulebook: what cites it, and which tests cover it."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from taisai.rules.clauses import Clause
from taisai.rules.pairs import pair_clauses

if TYPE_CHECKING:
    from taisai.rules.book import Rulebook

MAP: Final = Path(__file__).with_name("clause_coverage.toml")
NOT_OURS: Final = "not a rulebook of the package"


def citations_of(book: Rulebook) -> Mapping[Clause, tuple[str, ...]]:
    """Clause → the parts of the rulebook that cite it, in the order of the rulebook."""
    citations: dict[Clause, dict[str, None]] = {}
    for clause, citation in _citations(book):
        citations.setdefault(clause, {})[citation] = None
    return {clause: tuple(texts) for clause, texts in citations.items()}


def _citations(book: Rulebook) -> Iterator[tuple[Clause, str]]:
    yield book.chance_rule.clause, f"chance: {book.chance_rule.kind}"
    for area in book.areas.values():
        yield area.loses, f"losing: {area.id}"
        yield area.loses_on_triple, f"losing: {area.id}"
        if area.wins_on_triple:
            yield area.wins_on_triple, f"winning on a triple: {area.id}"
    for table in book.pay_tables.values():
        yield table.clause, f"pay table {table.id}"
        for line in table.lines:
            for name in line.areas:
                yield line.clause, f"pay: {name} {line.odds}"
    for layout in book.layouts.values():
        yield layout.clause, f"layout {layout.id}"
    yield from _conduct(book)
    yield from _readings(book)


def _readings(book: Rulebook) -> Iterator[tuple[Clause, str]]:
    for setting in book.settings.values():
        if setting.clause is not None:
            yield setting.clause, f"bounds of the setting {setting.id}"
    if book.adoption is not None:
        yield book.adoption.clause, f"readings adopted by: {book.adoption.by}"
    for interpretation in book.interpretations:
        for clause in interpretation.clauses:
            yield clause, "reading"
    for erratum in book.errata:
        yield erratum.clause, "erratum"
    for change in book.changes:
        for clause in change.clauses:
            yield clause, f"read in another way since edition {book.edition}"


def _conduct(book: Rulebook) -> Iterator[tuple[Clause, str]]:
    for rank in book.people.ladder:
        yield rank.clause, f"rank: {rank.id}"
    yield book.people.higher_clause, "who may act for whom"
    if book.people.placing:
        yield book.people.placing.clause, "who may bet for a player"
    yield book.procedure.positions.clause, f"positions count from {book.procedure.positions.fixed_by} on"
    yield from _steps(book)
    for (phase, _), rule in book.procedure.recoveries.items():
        yield rule.clause, f"recovery in {phase}: {rule.action}"
    yield from _rulings(book)
    yield book.limits.under_clause, "under the minimum"
    yield book.limits.over_clause, "over the maximum"
    for item in book.equipment:
        yield item.clause, f"equipment: {item.id}"
        for means in item.means:
            yield item.clause, f"bets made with {means}"
        if item.excludes:
            yield item.excludes.clause, f"equipment: {item.id} not beside {item.excludes.item}"
        for inspection in item.inspections:
            yield inspection.clause, f"inspection: {item.id}"


def _steps(book: Rulebook) -> Iterator[tuple[Clause, str]]:
    for step in book.procedure.steps:
        yield step.clause, f"step: {step.act}"
        for need in step.needs:
            yield need.clause, f"step: {step.act} needs {need.need}"
    for (act, phase), clause in book.procedure.refused.items():
        yield clause, f"{act} in {phase} is refused"
    if book.record:
        yield book.record.clause, "who corrects the record"


def _rulings(book: Rulebook) -> Iterator[tuple[Clause, str]]:
    for (event, phase), ruled in book.irregularities.cells.items():
        if ruled.foreseen:
            yield ruled.clause, f"{event} in {phase}: {ruled.ruling}"
        else:
            yield ruled.clause, f"not foreseen: {ruled.ruling}"
    for (event, phase), (when, ruled) in book.irregularities.instead.items():
        yield ruled.clause, f"{event} in {phase} with {when.setting} = {when.value}: {ruled.ruling}"
    for (event, phase), ruled in book.irregularities.seen.items():
        yield ruled.clause, f"{event} in {phase}, a die seen: {ruled.ruling}"
    sights = {"open": book.irregularities.open_seen, "closed": book.irregularities.closed_seen}
    for bets, clause in sights.items():
        if clause is not None:
            yield clause, f"a die seen while bets are {bets}"
    if book.irregularities.pairs is not None:
        yield from pair_clauses(book.irregularities.pairs)
    yield book.irregularities.void, "bets of a void round are returned"
    yield book.irregularities.later, "later rounds stay as they were"


class CoverageKind(StrEnum):
    """How a test holds a clause, the strongest first."""

    PLAYED = "played"
    """A test or a playbook plays it on a table."""
    SETTLED = "settled"
    """Bets are settled by it."""
    DRAWN = "drawn"
    """It is seen on a layout."""
    READ = "read"
    """The rulebook says it; nothing is played."""


class ClauseCoverage(NamedTuple):
    """The tests that cover a clause, or why it has none."""

    tests: tuple[str, ...]
    """Each as file::name, or a playbook's file; those of the strongest kind first."""
    why: str | None
    """Why it has no test, or why none plays it though it orders something."""
    kind: CoverageKind | None = None
    """The strongest kind of its tests."""


def coverage_of(book: Rulebook) -> Mapping[Clause, ClauseCoverage]:
    """Clause → its coverage. Only the unchanged rulebooks of the package have tests."""
    entry = _map().get(book.id)
    if entry is None or entry["digest"] != book.digest:
        return dict.fromkeys(book.clauses, ClauseCoverage((), NOT_OURS))
    return {Clause(clause): _coverage(value) for clause, value in entry["clauses"].items()}


def _coverage(entry: Mapping[str, Any]) -> ClauseCoverage:
    kind = CoverageKind(entry["kind"]) if "kind" in entry else None
    return ClauseCoverage(tuple(entry.get("tests", ())), entry.get("why"), kind)


@cache
def _map() -> dict[str, Any]:
    return tomllib.loads(MAP.read_text("utf-8"))

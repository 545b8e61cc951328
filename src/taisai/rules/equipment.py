"""Equipment: what a table is played with, its counts, lives and inspections."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import NamedTuple

from taisai.rules.clauses import Clause, read_clause
from taisai.rules.people import People, read_rank
from taisai.rules.settings import Setting, SettingIs, read_setting_is
from taisai.rules.toml_reader import Section


class InspectedBefore(StrEnum):
    """When an inspection is due."""

    OPENING = "opening"
    SHIFT = "shift"


class PermittedMeans(StrEnum):
    """What a bet may be made with."""

    CREDITS = "credits"
    """Bought at a terminal and dispensed as a ticket."""
    CASH_CHIPS = "cash-chips"
    PLAQUES = "plaques"
    COLOUR_CHIPS = "colour-chips"
    """Without a value of their own until a player buys them at one."""


class Inspection(NamedTuple):
    """Who inspects an item, before what, with how many trial runs."""

    by: str
    before: InspectedBefore
    runs: int
    clause: Clause


class ExcludedItem(NamedTuple):
    """An item that must be off the table before this one may be used."""

    item: str
    clause: Clause


class EquipmentItem(NamedTuple):
    """One piece of equipment."""

    id: str
    label: str
    label_zh: str
    clause: Clause
    when: SettingIs | None
    least_tumbles: int | None
    hours_on_table: int | None
    excludes: ExcludedItem | None
    custody: str | None
    """Whose responsibility it is while on the table."""
    inspections: tuple[Inspection, ...]
    means: tuple[PermittedMeans, ...] = ()
    """What bets are made with by way of it."""


def read_equipment(
    book: Section, settings: Mapping[str, Setting], people: People, known: Mapping[Clause, object]
) -> tuple[EquipmentItem, ...]:
    """The book's equipment."""
    sections = book.tables("equipment")
    items = tuple(_item(entry, settings, people, known) for entry in sections)
    names = [item.id for item in items]
    for n, (entry, item) in enumerate(zip(sections, items, strict=True)):
        if item.id in names[:n]:
            raise entry.error("id", "each item once", f"{item.id!r} twice")
        if item.excludes and item.excludes.item not in names:
            got = repr(item.excludes.item)
            raise entry.table("excludes").error("item", f"one of {', '.join(names)}", got)
    if not any(item.means for item in items):
        raise book.error("equipment", "an item with means to bet with", "none")
    return items


def _item(
    entry: Section, settings: Mapping[str, Setting], people: People, known: Mapping[Clause, object]
) -> EquipmentItem:
    item = EquipmentItem(
        entry.text("id"),
        entry.text("en"),
        entry.text("zh"),
        read_clause(entry, "clause", known),
        read_setting_is(entry, "when", settings),
        entry.whole("least_tumbles", 1, 100) if entry.has("least_tumbles") else None,
        entry.whole("hours_on_table", 1, 10_000) if entry.has("hours_on_table") else None,
        _excludes(entry, known),
        read_rank(entry, "custody", people) if entry.has("custody") else None,
        tuple(_inspection(section, people, known) for section in entry.tables("inspection", least=0)),
        entry.each_choice("means", PermittedMeans) if entry.has("means") else (),
    )
    entry.reject_unknown_keys()
    return item


def _excludes(entry: Section, known: Mapping[Clause, object]) -> ExcludedItem | None:
    if not entry.has("excludes"):
        return None
    section = entry.table("excludes")
    excludes = ExcludedItem(section.text("item"), read_clause(section, "clause", known))
    section.reject_unknown_keys()
    return excludes


def _inspection(entry: Section, people: People, known: Mapping[Clause, object]) -> Inspection:
    inspection = Inspection(
        read_rank(entry, "by", people),
        entry.choice("before", InspectedBefore),
        entry.whole("runs", 1, 100),
        read_clause(entry, "clause", known),
    )
    entry.reject_unknown_keys()
    return inspection

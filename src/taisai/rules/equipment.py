"""Equipment of a table, who inspects it when, and the policy for bets outside the limits."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import NamedTuple

from taisai.rules.clauses import Clause
from taisai.rules.people import People, read_rank
from taisai.rules.settings import Setting, SettingIs, read_setting_is
from taisai.rules.toml_reader import Section


class InspectedBefore(StrEnum):
    """When an inspection is due."""

    OPENING = "opening"
    SHIFT = "shift"


class TumblesCounted(StrEnum):
    """How tumbles are counted against the least number."""

    EACH = "each"
    """Every activation by itself."""
    TOGETHER = "together"


class PermittedMeans(StrEnum):
    """A means of betting, such as chips."""

    CREDITS = "credits"
    """Bought at a terminal; paid out as a ticket."""
    CASH_CHIPS = "cash-chips"
    PLAQUES = "plaques"
    COLOUR_CHIPS = "colour-chips"
    """Their value is set when a player buys them."""


class Inspection(NamedTuple):
    """An inspection of an item: who makes it, when, and with how many trial runs."""

    by: str
    before: InspectedBefore
    runs: int
    clause: Clause


class ExcludedItem(NamedTuple):
    """An item that must be off the table before this one may be used."""

    item: str
    clause: Clause


class EquipmentItem(NamedTuple):
    id: str
    label: str
    label_zh: str
    clause: Clause
    when: SettingIs | None
    least_tumbles: int | None
    tumbles_add_up: bool
    """Whether the tumbles of several activations count together; if not, each must reach the least number."""
    hours_on_table: int | None
    excludes: ExcludedItem | None
    custody: str | None
    """The rank that is responsible for the item while it is on the table."""
    inspections: tuple[Inspection, ...]
    means: tuple[PermittedMeans, ...] = ()


def read_equipment(
    book: Section, settings: Mapping[str, Setting], people: People
) -> tuple[EquipmentItem, ...]:
    sections = book.tables("equipment")
    items = tuple(_item(entry, settings, people) for entry in sections)
    names = [item.id for item in items]
    for n, (entry, item) in enumerate(zip(sections, items, strict=True)):
        if item.id in names[:n]:
            raise entry.error("id", "an id that no other item has", repr(item.id))
        if item.excludes and item.excludes.item not in names:
            got = repr(item.excludes.item)
            raise entry.table("excludes").error("item", f"one of {', '.join(names)}", got)
    if not any(item.means for item in items):
        raise book.error("equipment", "at least one item with the key 'means'", "no such item")
    return items


def _item(entry: Section, settings: Mapping[str, Setting], people: People) -> EquipmentItem:
    return EquipmentItem(
        entry.text("id"),
        entry.text("en"),
        entry.text("zh"),
        entry.clause("clause"),
        read_setting_is(entry, "when", settings),
        entry.whole("least_tumbles", 1, 100) if entry.has("least_tumbles") else None,
        entry.choice("tumbles", TumblesCounted) is TumblesCounted.TOGETHER if entry.has("tumbles") else True,
        entry.whole("hours_on_table", 1, 10_000) if entry.has("hours_on_table") else None,
        _excludes(entry),
        read_rank(entry, "custody", people) if entry.has("custody") else None,
        tuple(_inspection(section, people) for section in entry.tables("inspection", least=0)),
        entry.each_choice("means", PermittedMeans) if entry.has("means") else (),
    )


def _excludes(entry: Section) -> ExcludedItem | None:
    if not entry.has("excludes"):
        return None
    section = entry.table("excludes")
    return ExcludedItem(section.text("item"), section.clause("clause"))


def _inspection(entry: Section, people: People) -> Inspection:
    return Inspection(
        read_rank(entry, "by", people),
        entry.choice("before", InspectedBefore),
        entry.whole("runs", 1, 100),
        entry.clause("clause"),
    )


class LimitPolicy(StrEnum):
    """Whether a bet outside the limits is refused, or accepted and settled in a special way."""

    REFUSE = "refuse"
    SETTLE_ONCE = "settle-once"
    SETTLE_TO_MAXIMUM = "settle-to-maximum"


class RememberedFor(StrEnum):
    """How long it is remembered that a bet under the minimum of a player was settled."""

    STAY = "stay"
    """Until the player leaves the table."""
    EVER = "ever"
    """For good, if the player is known by name; else until the player leaves the table."""


class LimitScope(StrEnum):
    """To which sum of bets the minimum and the maximum apply."""

    PLAYER_AND_AREA = "player-and-area"


class LimitRules(NamedTuple):
    """The policy for bets under the minimum and for bets over the maximum."""

    scope: LimitScope
    under_minimum: LimitPolicy
    under_clause: Clause
    over_maximum: LimitPolicy
    over_clause: Clause
    memory: str | None
    """With `settle-once`: the setting that says how long the one such round of a player is remembered."""


def read_limits(book: Section, settings: Mapping[str, Setting]) -> LimitRules:
    section = book.table("limits")
    limits = LimitRules(
        section.choice("scope", LimitScope),
        section.choice("under_minimum", LimitPolicy),
        section.clause("under_clause"),
        section.choice("over_maximum", LimitPolicy),
        section.clause("over_clause"),
        section.text("memory") if section.has("memory") else None,
    )
    if limits.under_minimum is LimitPolicy.SETTLE_TO_MAXIMUM:
        raise section.error("under_minimum", "refuse or settle-once", repr(str(limits.under_minimum)))
    if limits.over_maximum is LimitPolicy.SETTLE_ONCE:
        raise section.error("over_maximum", "refuse or settle-to-maximum", repr(str(limits.over_maximum)))
    if (limits.memory is not None) != (limits.under_minimum is LimitPolicy.SETTLE_ONCE):
        expected = f"no 'memory' with under_minimum = '{limits.under_minimum}'"
        if limits.memory is None:
            expected = "a setting that is a number, because under_minimum is 'settle-once'"
        raise section.error("memory", expected, section.quoted("memory"))
    if limits.memory:
        setting = settings.get(limits.memory)
        if setting is None or not (setting.bounds or set(setting.choices) == set(RememberedFor)):
            expected = (
                f"a setting of this rulebook with the choices {' and '.join(RememberedFor)}, or a number"
            )
            raise section.error("memory", expected, repr(limits.memory))
    return limits

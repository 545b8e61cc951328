"""Settings: interpretations and choices that a rulebook leaves to the house."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum
from itertools import product
from math import prod
from typing import Final, NamedTuple

from taisai.rules.clauses import Clause
from taisai.rules.errors import RulesError
from taisai.rules.toml_reader import Section

MAX_NUMBER: Final = 1_000_000  # of a numeric setting; a larger number is a typing mistake

MAX_COMBINATIONS: Final = 1_000  # of choices; loading a rulebook checks each of them


class RulesPart(StrEnum):
    """The part of the rules that a setting changes. Payoff settings are part of the matrix digest."""

    PAYOFF = "payoff"
    PROCEDURE = "procedure"
    IRREGULARITIES = "irregularities"
    PEOPLE = "people"
    LIMITS = "limits"
    EQUIPMENT = "equipment"


class Setting(NamedTuple):
    """A setting and its default. Its values are words, or whole numbers within bounds."""

    id: str
    changes: RulesPart
    choices: tuple[str, ...]
    bounds: tuple[int, int] | None
    default: str
    says: str
    clause: Clause | None = None
    """The clause that bounds it: no value may reach what the clause forbids."""

    def expected(self) -> str:
        """The valid values, in words."""
        if self.bounds:
            return f"a whole number from {self.bounds[0]} to {self.bounds[1]}"
        return f"one of {', '.join(self.choices)}"

    def takes(self, value: str) -> bool:
        """Whether a value is valid."""
        if self.bounds:
            return re.fullmatch("0|[1-9][0-9]{0,8}", value) is not None and (
                self.bounds[0] <= int(value) <= self.bounds[1]
            )
        return value in self.choices


class SettingIs(NamedTuple):
    """A condition that holds when a setting has this value."""

    setting: str
    value: str

    def holds(self, chosen: Mapping[str, str]) -> bool:
        return chosen[self.setting] == self.value


def read_settings(book: Section, *, with_clauses: bool = False) -> dict[str, Setting]:
    """Reads the settings; `with_clauses`: each must name the clause that bounds it."""
    read: dict[str, Setting] = {}
    for entry in book.tables("setting", least=0):
        name = entry.text("id")
        if name in read:
            raise entry.error("id", "an id that no other setting has", repr(name))
        choices, bounds = _range(entry)
        changes = entry.choice("changes", RulesPart)
        if bounds and changes is RulesPart.PAYOFF:
            expected = "choices in words for a setting that changes payoffs"
            raise entry.error("least", expected, "a number with bounds")
        clause = entry.clause("clause") if with_clauses or entry.has("clause") else None
        setting = Setting(name, changes, choices, bounds, entry.text("default"), entry.text("says"), clause)
        if not setting.takes(setting.default):
            raise entry.error("default", setting.expected(), repr(setting.default))
        read[name] = setting
        if (combinations := prod(len(other.choices) or 1 for other in read.values())) > MAX_COMBINATIONS:
            expected = f"settings with at most {MAX_COMBINATIONS} combinations of choices"
            raise entry.error("choices", expected, f"{combinations} with {name!r}")
    return read


def _range(entry: Section) -> tuple[tuple[str, ...], tuple[int, int] | None]:
    if entry.has("least") or entry.has("most"):
        least = entry.whole("least", 0, MAX_NUMBER)
        return (), (least, entry.whole("most", least, MAX_NUMBER))
    choices = entry.texts("choices")
    entry.no_repeat("choices", choices)
    if len(choices) < 2:
        raise entry.error("choices", "at least 2 choices, or least and most", str(len(choices)))
    return choices, None


def read_setting_is(section: Section, key: str, settings: Mapping[str, Setting]) -> SettingIs | None:
    """Reads an optional condition such as `when = { tumble = "before_close" }`."""
    if not section.has(key):
        return None
    entry = section.table(key)
    names = entry.keys()
    if len(names) != 1 or names[0] not in settings:
        known = ", ".join(sorted(settings)) or "it has no settings"
        got = ", ".join(names) or "an empty table"
        raise section.error(key, f"one setting of this rulebook ({known})", got)
    value = entry.text(names[0])
    if value not in settings[names[0]].choices:
        raise entry.error(names[0], f"one of {', '.join(settings[names[0]].choices)}", repr(value))
    return SettingIs(names[0], value)


def every_choice(names: Iterable[str], settings: Mapping[str, Setting]) -> Iterator[dict[str, str]]:
    """Every combination of choices of these settings; `read_settings` limits how many there are."""
    ordered = sorted(set(names))
    for values in product(*(settings[name].choices for name in ordered)):
        yield dict(zip(ordered, values, strict=True))


def choose_settings(settings: Mapping[str, Setting], given: Mapping[str, str]) -> dict[str, str]:
    """The value of every setting: the given value, or else the default."""
    for name, value in given.items():
        if name not in settings:
            known = ", ".join(sorted(settings)) or "it has no settings"
            raise RulesError(f"expected a setting of this rulebook ({known}), got {name!r}")
        if not settings[name].takes(value):
            raise RulesError(f"expected {name} to be {settings[name].expected()}, got {value!r}")
    return {name: given.get(name, setting.default) for name, setting in settings.items()}

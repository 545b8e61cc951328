"""Settings: the readings and choices that a rulebook leaves to the house."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum
from itertools import product
from math import prod
from typing import Final, NamedTuple

from taisai.rules.errors import RulesError
from taisai.rules.toml_reader import Section

MAX_NUMBER: Final = 1_000_000  # of a numeric setting; a number beyond it is a typing mistake


MAX_COMBINATIONS: Final = 1_000  # of choices: every one of them is checked when a book is read


class RulesPart(StrEnum):
    """Which part of the rules a setting changes; a payoff setting is part of the matrix digest."""

    PAYOFF = "payoff"
    PROCEDURE = "procedure"
    IRREGULARITIES = "irregularities"
    PEOPLE = "people"
    LIMITS = "limits"
    EQUIPMENT = "equipment"


class Setting(NamedTuple):
    """One choice and its default: between words, or of a whole number within bounds."""

    id: str
    changes: RulesPart
    choices: tuple[str, ...]
    bounds: tuple[int, int] | None
    default: str
    says: str

    def expected(self) -> str:
        """What it takes, in words."""
        if self.bounds:
            return f"a whole number from {self.bounds[0]} to {self.bounds[1]}"
        return f"one of {', '.join(self.choices)}"

    def takes(self, value: str) -> bool:
        """Whether a value is among the choices or within the bounds."""
        if self.bounds:
            return re.fullmatch("0|[1-9][0-9]{0,8}", value) is not None and (
                self.bounds[0] <= int(value) <= self.bounds[1]
            )
        return value in self.choices


class SettingIs(NamedTuple):
    """A condition on a setting: it holds when the setting has this value."""

    setting: str
    value: str

    def holds(self, chosen: Mapping[str, str]) -> bool:
        """Whether the chosen settings meet it."""
        return chosen[self.setting] == self.value


def read_settings(book: Section) -> dict[str, Setting]:
    """The book's settings by id."""
    read: dict[str, Setting] = {}
    for entry in book.tables("setting", least=0):
        name = entry.text("id")
        if name in read:
            raise entry.error("id", "a setting not yet declared", repr(name))
        choices, bounds = _range(entry)
        changes = entry.choice("changes", RulesPart)
        if bounds and changes is RulesPart.PAYOFF:
            raise entry.error("least", "choices in words, where a payoff changes", "a number")
        setting = Setting(name, changes, choices, bounds, entry.text("default"), entry.text("says"))
        if not setting.takes(setting.default):
            raise entry.error("default", setting.expected(), repr(setting.default))
        read[name] = setting
        entry.reject_unknown_keys()
        if prod(len(one.choices) or 1 for one in read.values()) > MAX_COMBINATIONS:
            expected = f"settings with at most {MAX_COMBINATIONS} combinations of choices"
            raise entry.error("choices", expected, "more")
    return read


def _range(entry: Section) -> tuple[tuple[str, ...], tuple[int, int] | None]:
    if entry.has("least") or entry.has("most"):
        least = entry.whole("least", 0, MAX_NUMBER)
        return (), (least, entry.whole("most", least, MAX_NUMBER))
    choices = entry.texts("choices")
    entry.no_repeat("choices", choices)
    if len(choices) < 2:
        raise entry.error("choices", "two choices or more, or least and most", str(len(choices)))
    return choices, None


def read_setting_is(section: Section, key: str, settings: Mapping[str, Setting]) -> SettingIs | None:
    """A condition such as `when = { tumble = "before_close" }`, if there is one."""
    if not section.has(key):
        return None
    entry = section.table(key)
    names = entry.keys()
    if len(names) != 1 or names[0] not in settings:
        raise section.error(
            key, f"one setting of {', '.join(sorted(settings)) or 'none'}", ", ".join(names) or "none"
        )
    value = entry.text(names[0])
    if value not in settings[names[0]].choices:
        raise entry.error(names[0], f"one of {', '.join(settings[names[0]].choices)}", repr(value))
    return SettingIs(names[0], value)


def every_choice(names: Iterable[str], settings: Mapping[str, Setting]) -> Iterator[dict[str, str]]:
    """Every combination of the choices of these settings; `read_settings` keeps them from being too many."""
    ordered = sorted(set(names))
    for values in product(*(settings[name].choices for name in ordered)):
        yield dict(zip(ordered, values, strict=True))


def choose_settings(settings: Mapping[str, Setting], given: Mapping[str, str]) -> dict[str, str]:
    """Every setting with its value: the given ones, else the defaults."""
    for name, value in given.items():
        if name not in settings:
            known = ", ".join(sorted(settings)) or "none"
            raise RulesError(f"expected a setting of this rulebook ({known}), got {name!r}")
        if not settings[name].takes(value):
            raise RulesError(f"expected {name} to be {settings[name].expected()}, got {value!r}")
    return {name: given.get(name, setting.default) for name, setting in settings.items()}

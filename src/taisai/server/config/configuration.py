"""The configuration as a whole."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from taisai.server.config.setting import ServerSetting, settings_of
from taisai.server.config.settings import (
    SECTIONS,
    AccessConfig,
    ApprovalsConfig,
    FloorConfig,
    HouseConfig,
    JournalConfig,
    ListenConfig,
    LogsConfig,
    SoftwareConfig,
    WatchConfig,
)
from taisai.server.config.tables import TABLE, TableConfig


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """Everything that casino.toml says, checked."""

    house: HouseConfig
    journal: JournalConfig
    listen: ListenConfig
    access: AccessConfig
    approvals: ApprovalsConfig
    software: SoftwareConfig
    floor: FloorConfig
    watch: WatchConfig
    logs: LogsConfig
    tables: tuple[TableConfig, ...]
    file: Path
    """Where it was read."""

    def public(self) -> dict[str, str]:
        """The settings that the journal records: nothing secret, and no paths of this machine."""
        told = {
            f"{name}.{one}": value for name in SECTIONS for one, value in _told(name, getattr(self, name))
        }
        for table in self.tables:
            told |= {f"{TABLE}.{table.name}.{one}": value for one, value in _told(TABLE, table)}
            told[f"{TABLE}.{table.name}.rulebook"] = f"{table.book.id} {table.book.digest}"
        return told


def every_setting() -> Iterator[tuple[str, ServerSetting]]:
    """Section and setting of everything that casino.toml takes."""
    for name, section in (SECTIONS | {TABLE: TableConfig}).items():
        for one in settings_of(section):
            yield name, one


def _told(name: str, section: Any) -> Iterator[tuple[str, str]]:
    """What is public of a section; an item of a table such as `groups` has a line of its own."""
    for one in settings_of(SECTIONS.get(name, TableConfig)):
        value = getattr(section, one.name)
        if value is None or not one.kind.is_public:
            continue
        if isinstance(value, dict):
            yield from ((f"{one.name}.{item}", _item(value[item])) for item in sorted(value))
        else:
            yield one.name, one.kind.told(value)


def _item(value: str | tuple[int, int]) -> str:
    return value if isinstance(value, str) else f"{value[0]} to {value[1]}"

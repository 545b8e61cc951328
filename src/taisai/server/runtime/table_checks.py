"""The checks of tables before the server starts: rulebooks, approvals of the gaming day, settings."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from typing import TYPE_CHECKING

from taisai.game.table import Table
from taisai.game.terms.opening import gaming_day
from taisai.rules.book import Rulebook
from taisai.server.config import Config, TableConfig
from taisai.server.config.settings import settings_of
from taisai.server.config.tables import TABLE, faults_of
from taisai.server.runtime.rulebook_approvals import RulebookApprovals

if TYPE_CHECKING:
    from taisai.server.runtime.startup_checks import OpenedJournal, StartupReport


def check_tables(config: Config, found: OpenedJournal, now: int, start: StartupReport) -> None:
    """Checks that every table of configuration and journal has a rulebook approved for today."""
    today = gaming_date(config, now)
    config = in_force(config, found.approvals, now)
    engine, configured = found.engine, {table.name: table for table in config.tables}
    recorded = {name: engine.table(name) for name in engine.tables()}
    for name in dict.fromkeys([*configured, *recorded]):
        table, settings = recorded.get(name), configured.get(name)
        if table is not None and not table.open:
            if settings is not None:
                start.warns("table", f"{name}: {_still_listed(config)}")
            continue
        book = table.book if table else configured[name].book
        approval = found.approvals.refusal(book, today)
        problems = [_missing(settings, config), _mismatch(settings, table), approval, _unfit(settings, table)]
        for problem in filter(None, problems):
            start.fails("table", f"{name}: {problem}")
        if not any(problems):
            start.passes("table", f"{name} by {book.id}, edition {book.edition}{_note(settings, table)}")


def _still_listed(config: Config) -> str:
    """What to do about a table that was closed at the floor: the other tables are played all the same."""
    problem = f"closed for ever, but still under [[{TABLE}]] ({config.file.name})"
    return f"{problem}; remove it there; a table in its place needs a new name"


def _missing(table: TableConfig | None, config: Config) -> str | None:
    """The problem of a table without settings: no betting clock, no terms, no source of results."""
    if table is not None:
        return None
    problem = f"open in the journal, but missing under [[{TABLE}]] ({config.file.name})"
    return f"{problem}; add it again, or close the table before you remove it"


def _mismatch(config: TableConfig | None, table: Table | None) -> str | None:
    """Why a table of the journal cannot be served, or differs from the configuration."""
    if table is None:
        return None
    if table.demonstration:
        return "the table was opened for a demonstration, not for money"
    if config is not None and not _finishes(table.book, config):
        was = f"{table.book.id} {table.book.digest}"
        return f"expected the rulebook that the table was opened with, {was}, got {config.book.digest}"
    return None


def _finishes(book: Rulebook, config: TableConfig) -> bool:
    """Whether an open table may go on by its rulebook: one that is named, or an earlier edition of it."""
    if any(edition.digest == book.digest for edition in (config.book, *config.editions)):
        return True
    return (book.id, True) == (config.book.id, book.edition < config.book.edition)


def _unfit(config: TableConfig | None, table: Table | None) -> str | None:
    """Why a new table cannot be opened by the edition of the gaming day with its settings."""
    if config is None or table is not None:
        return None
    values = {setting.name: getattr(config, setting.name) for setting in settings_of(TableConfig)}
    faults = [f"{key}: {message}" for key, message in faults_of(config.book, values)]
    return f"its settings do not fit {config.book.name}: {'; '.join(faults)}" if faults else None


def gaming_date(config: Config, now: int) -> date:
    """The gaming day of a moment at this house."""
    return date.fromisoformat(gaming_day(now, config.house.zone, config.house.day_begins))


def in_force(config: Config, approvals: RulebookApprovals, now: int) -> Config:
    """The configuration with the rulebook of each table: the newest edition approved for the gaming day.

    A table without an approved edition keeps the one it has; the checks report it.
    """
    today = gaming_date(config, now)
    tables = [
        replace(table, book=approvals.newest(table.editions, today) or table.book) for table in config.tables
    ]
    return replace(config, tables=tuple(tables))


def _note(config: TableConfig | None, table: Table | None) -> str:
    """Whether a table is new, or its terms differ from the configuration."""
    if config is None or table is None:
        return ", new"
    if config.book.digest != table.book.digest:
        return f" until it is closed; the next table opens by edition {config.book.edition}"
    wanted = (config.limits, config.offers, config.book.chosen(config.settings))
    is_same = wanted == (table.limits, table.offers, table.settings)
    return "" if is_same else ", with the terms of the journal, not of the configuration"

"""The checks after recovery: the chain, every table's rulebook, the program."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from taisai.cage import StreamError
from taisai.game.day import local_time
from taisai.game.table import Table
from taisai.journal import Journal, SigningKey
from taisai.journal.seals.merkle import Frontier, leaf_hash
from taisai.rules.errors import RulesError
from taisai.server.config import Config, TableConfig
from taisai.server.config.tables import TABLE
from taisai.server.runtime.checkpoint_copies import newest_copy
from taisai.server.runtime.checks.findings import StartUp
from taisai.server.runtime.checks.opening import Opened
from taisai.server.runtime.checks.people import too_few
from taisai.server.runtime.manifest import manifest


def proven(config: Config, found: Opened, *, now: int, program: Callable[[], str] = manifest) -> StartUp:
    """Proves the journal, the rulebooks and the program; the findings of `opened` come first."""
    start = found.start
    _check_chain(config, found, start)
    try:
        _check_tables(config, found, now, start)
        _check_people(found, start)
    except (RulesError, StreamError) as error:
        start.fails("tables", error)
    _check_program(config, program(), start)
    return start


def _check_chain(config: Config, found: Opened, start: StartUp) -> None:
    """Every entry follows the one before, and every checkpoint still holds, the copy elsewhere too."""
    journal = found.journal
    try:
        journal.prove()
        count = len(journal.store.checkpoints())
        if config.journal.checkpoints is not None:
            _expect_copy(journal, found.key, config.journal.checkpoints)
    except RulesError as error:
        start.fails("chain", error)
        return
    start.passes("chain", f"{journal.size:,} entries proved, {count:,} of its checkpoints still true")


def _expect_copy(journal: Journal, key: SigningKey, folder: Path) -> None:
    """The newest copy of a checkpoint is over entries that the journal still has."""
    copy = newest_copy(folder)
    if copy is None:
        return
    checkpoint = copy.checkpoint
    told = f"the copy of a checkpoint over {checkpoint.size:,} entries"
    if checkpoint.size > journal.size:
        raise RulesError(f"expected the entries of {told}, got {journal.size:,}: the journal was cut off")
    tree = Frontier()
    for row in journal.store.rows():
        if row.position > checkpoint.size:
            break
        tree.append(leaf_hash(row.body))
    if (checkpoint.origin, checkpoint.root) != (journal.origin, tree.root()):
        raise RulesError(f"expected the entries of {told}, got others ({checkpoint.origin})")
    if not copy.is_signed_by(key.public) and copy.text not in (
        one.text for one in journal.store.checkpoints()
    ):
        raise RulesError(f"expected {told} with a signature of ours, got another ({checkpoint.origin})")


def _check_tables(config: Config, found: Opened, now: int, start: StartUp) -> None:
    """Every table, of the configuration and of the journal, is played by a rulebook approved for today."""
    today = local_time(now, config.house.zone).date()
    keeper, wanted = found.keeper, {one.name: one for one in config.tables}
    there = {name: keeper.table(name) for name in keeper.tables()}
    for name in dict.fromkeys([*wanted, *there]):
        table, one = there.get(name), wanted.get(name)
        if table is not None and not table.open and one is None:
            continue  # closed for good
        book = table.book if table else wanted[name].book
        wrong = [_unnamed(one, config), _mismatch(one, table), found.approvals.refusal(book, today)]
        for says in filter(None, wrong):
            start.fails("table", f"{name}: {says}")
        if not any(wrong):
            start.passes("table", f"{name} by {book.id}{_words(one, table)}")


def _unnamed(table: TableConfig | None, config: Config) -> str | None:
    """Nobody would attend it: no clock, no terms, nobody to say how its dice come in."""
    if table is not None:
        return None
    says = f"expected every table that is open in the journal under [[{TABLE}]], got one without"
    return f"{says}: name it again, and close it at the floor before it is left out ({config.file.name})"


def _mismatch(config: TableConfig | None, table: Table | None) -> str | None:
    """Why a table of the journal cannot be served, or is not the one that the configuration says."""
    if table is None:
        return None
    if not table.open:
        return "expected a new name, got that of a table which was closed"
    if table.demonstration:
        return "expected a table of play for money, got one of demonstration"
    if config is not None and config.book.digest != table.book.digest:
        was = f"{table.book.id} {table.book.digest}"
        return f"expected the rulebook that it was opened with, {was}, got {config.book.digest}"
    return None


def _words(config: TableConfig | None, table: Table | None) -> str:
    """What someone who changed the configuration should know of a table."""
    if config is None or table is None:
        return ", new"
    asked = (config.limits, config.offers, config.book.chosen(config.settings))
    is_same = asked == (table.limits, table.offers, table.settings)
    return "" if is_same else ", under the terms that the journal says, not those of the configuration"


def _check_people(found: Opened, start: StartUp) -> None:
    """Enough people to unlock one another."""
    says = too_few(found.keeper.house())
    if says is not None:
        start.warns("people", says)


def _check_program(config: Config, ours: str, start: StartUp) -> None:
    wanted = config.software.manifest
    if wanted is None:
        start.passes("program", f"{ours}; [software] manifest is not set, so any program may run")
    elif wanted == ours:
        start.passes("program", f"{ours}, as [software] manifest says")
    else:
        start.fails("program", f"expected the program {wanted}, got {ours}")

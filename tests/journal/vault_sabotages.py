"""Ways to break the vault, each with the tests of the contract that must notice."""

from __future__ import annotations

from typing import Any, Final

from taisai.audit import export as exported
from taisai.journal.stores import contract, sqlite
from taisai.journal.stores.contract import StoredCheckpoint, check_secret
from taisai.journal.stores.sqlite import SqliteStore
from taisai.journal.stores.sqlite_reader import SqliteReader
from tests.journal import test_contract_vault as vault
from tests.journal.journal_sabotages import Patch, Sabotage, around, in_stores, instead, together


def _the_first_alone(real: Any, self: Any, name: str, body: bytes | None) -> None:
    if body is None or self.secret(name) is None:
        real(self, name, body)


def _never_out(real: Any, self: Any, name: str, body: bytes | None) -> None:
    if body is not None:
        real(self, name, body)


def _into_the_journal(real: Any, self: Any, name: str, body: bytes | None) -> None:
    real(self, name, body)
    self.seal(StoredCheckpoint(1, name))


def _forgotten(real: Any, self: Any) -> None:
    real(self)
    for name in self.secrets():
        self.keep_secret(name, None)


def _exported(patch: Patch) -> None:
    real = exported.lines

    def lines(source: Any, progress: Any = None) -> Any:
        yield from real(source, progress)
        yield from (row[0] for row in source.reader._reading.execute("SELECT body FROM vault"))

    patch.setattr(vault, "lines", lines)


def _not_copied(real: Any, self: SqliteReader, path: Any) -> None:
    real(self, path)
    store = SqliteStore(path)
    for name in store.secrets():
        store.keep_secret(name, None)
    store.close()


def _kept_loosely(self: SqliteStore, name: str, body: bytes | None) -> None:
    check_secret(name, body)
    self._hide()
    with self._transaction() as connection:
        connection.execute("DELETE FROM vault WHERE name = ?1", (name,))
        if body is not None:
            connection.execute("INSERT INTO vault (name, body) VALUES (?1, ?2)", (name, body))


def _kept_anyway(self: SqliteStore, name: str, body: bytes | None) -> None:
    self._writing.pragma("query_only", False)  # noqa: FBT003
    self._writing.execute("INSERT OR REPLACE INTO vault (name, body) VALUES (?1, ?2)", (name, body))


def _nothing(_real: Any, _self: Any, _name: str, _body: bytes | None) -> None:
    """As if it were kept."""


OF_THE_VAULT: Final[dict[str, Sabotage]] = {
    "nothing is kept in the vault": Sabotage(
        in_stores("keep_secret", _nothing),
        (vault.test_a_secret_outlives_the_store, vault.test_names_are_found_by_how_they_begin),
    ),
    "the first secret stays": Sabotage(
        in_stores("keep_secret", _the_first_alone),
        (vault.test_a_secret_takes_the_place_of_the_one_before,),
    ),
    "no secret is ever taken out": Sabotage(
        in_stores("keep_secret", _never_out), (vault.test_a_secret_taken_out_is_gone,)
    ),
    "names are found by a pattern": Sabotage(
        in_stores("secrets", lambda real, self, prefix="": real(self, prefix.rstrip("_%"))),
        (vault.test_names_are_found_by_how_they_begin,),
    ),
    "any secret is taken": Sabotage(
        together(
            instead(contract, "check_secret", lambda *_: None),
            instead(sqlite, "check_secret", lambda *_: None),
        ),
        (vault.test_a_secret_and_its_name_have_limits,),
        by=(UnicodeEncodeError,),
    ),
    "a secret leaves a trace among the checkpoints": Sabotage(
        in_stores("keep_secret", _into_the_journal), (vault.test_the_journal_knows_nothing_of_the_vault,)
    ),
    "secrets are forgotten with the snapshots": Sabotage(
        in_stores("forget", _forgotten), (vault.test_the_journal_knows_nothing_of_the_vault,)
    ),
    "an export ends with the vault": Sabotage(
        _exported, (vault.test_no_export_has_a_secret_and_an_audit_does_not_mind,)
    ),
    "a reader reads secrets, too": Sabotage(
        lambda patch: patch.setattr(SqliteReader, "secret", lambda *_: None, raising=False),
        (vault.test_anyone_who_only_reads_a_journal_has_no_way_to_its_vault,),
    ),
    "a backup leaves the vault behind": Sabotage(
        around(SqliteReader, "copy_to", _not_copied), (vault.test_a_backup_carries_the_vault,)
    ),
    "what is deleted is left where it lay": Sabotage(
        instead(SqliteStore, "keep_secret", _kept_loosely),
        (vault.test_a_secret_taken_out_or_replaced_is_not_left_in_the_file,),
    ),
    "whoever can read the file may": Sabotage(
        instead(SqliteStore, "_hide", lambda _: None),
        (vault.test_a_file_with_secrets_is_its_owners_alone,),
    ),
    "a secret is kept whatever the disk is like": Sabotage(
        instead(SqliteStore, "keep_secret", _kept_anyway),
        (vault.test_a_vault_that_cannot_be_written_stays_as_it_was,),
    ),
}

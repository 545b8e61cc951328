"""Whatever is broken about the journal, its contract turns red; and every test of the contract can."""

from __future__ import annotations

import inspect
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from taisai.rules.errors import RulesError
from tests.game.past_rounds import compiled_once
from tests.journal import (
    test_contract,
    test_contract_engine,
    test_contract_queue,
    test_contract_reading,
    test_contract_snapshots,
    test_contract_sqlite,
    test_contract_vault,
)
from tests.journal.contract import LOCAL_STORES, OnDisk
from tests.journal.engine_sabotages import OF_THOSE_AT_WORK
from tests.journal.journal_sabotages import OF_THE_JOURNAL, Test
from tests.journal.vault_sabotages import OF_THE_VAULT

CONTRACT = (
    test_contract,
    test_contract_reading,
    test_contract_snapshots,
    test_contract_engine,
    test_contract_queue,
    test_contract_sqlite,
    test_contract_vault,
)
SABOTAGES = OF_THE_JOURNAL | OF_THOSE_AT_WORK | OF_THE_VAULT
RED = (AssertionError, pytest.fail.Exception, RulesError)


def contract_in(module: ModuleType) -> set[str]:
    """The names of a module's tests."""
    return {name for name in vars(module) if name.startswith("test_")}


def name_of(test: Test) -> str:
    """A test's name, whatever it is asked with."""
    return test.func.__name__ if isinstance(test, partial) else test.__name__


def case_of(test: Test) -> str:
    """A test's name, and what it is asked with."""
    asked = map(str, test.keywords.values()) if isinstance(test, partial) else ()
    return " ".join([name_of(test), *map(str, asked)])


def stores_of(test: Test) -> list[str]:
    """The kinds of store that a test is for."""
    return list(LOCAL_STORES) if "make_store" in inspect.signature(test).parameters else ["sqlite"]


CASES = [
    pytest.param(name, test, store, id=f"{name}: {case_of(test)}: {store}")
    for name, sabotage in SABOTAGES.items()
    for test in sabotage.reddens
    for store in stores_of(test)
]


@pytest.mark.parametrize(("name", "test", "store"), CASES)
def test_sabotage_is_noticed(name: str, test: Test, store: str, tmp_path: Path) -> None:
    made = LOCAL_STORES[store](tmp_path)
    with pytest.MonkeyPatch.context() as patch, compiled_once():
        given: dict[str, Any] = {
            "make_store": made,
            "on_disk": made if isinstance(made, OnDisk) else None,
            "tmp_path": tmp_path,
            "monkeypatch": patch,
        }
        wanted = inspect.signature(test).parameters
        SABOTAGES[name].how(patch)
        with pytest.raises((*RED, *SABOTAGES[name].by)):
            test(**{key: value for key, value in given.items() if key in wanted})
    made.close()


def test_every_test_of_the_contract_has_a_sabotage() -> None:
    reddened = {name_of(test) for sabotage in SABOTAGES.values() for test in sabotage.reddens}
    assert set().union(*map(contract_in, CONTRACT)) == reddened

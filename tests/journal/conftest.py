"""The stores that the journal's contract is tried on."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.journal.contract import STORES, InPostgres, MakeStore, OnDisk, made_store
from tests.postgres import PostgresServer


@pytest.fixture(params=sorted(STORES))
def make_store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[MakeStore]:
    """A store of each kind."""
    made = made_store(request.param, tmp_path, request)
    yield made
    made.close()


@pytest.fixture
def on_disk(tmp_path: Path) -> Iterator[OnDisk]:
    """A store in a file."""
    made = OnDisk(tmp_path)
    yield made
    made.close()


@pytest.fixture
def in_postgres(postgres: PostgresServer) -> Iterator[InPostgres]:
    """A store in a database."""
    made = InPostgres(postgres)
    yield made
    made.close()

"""One warm process for all races of a run, and a loop as the server's own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.server.races.server_processes import Nursery


@pytest.fixture(scope="session")
def warm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Nursery]:
    """Where servers come from."""
    with Nursery(tmp_path_factory.mktemp("nursery")) as nursery:
        yield nursery


@pytest.fixture
def nursery(warm: Nursery) -> Iterator[Nursery]:
    """The same, without any server left when a test is over."""
    yield warm
    warm.clear()

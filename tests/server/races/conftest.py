"""One warm process for all races of a run, and a loop as the server's own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.server.races.server_processes import Servers


@pytest.fixture(scope="session")
def warm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Servers]:
    """Where servers come from."""
    with Servers(tmp_path_factory.mktemp("processes")) as processes:
        yield processes


@pytest.fixture
def processes(warm: Servers) -> Iterator[Servers]:
    """The same, without any server left when a test is over."""
    yield warm
    warm.clear()

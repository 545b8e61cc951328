"""How long the property tests search, and what every test starts from."""

from __future__ import annotations

import logging
import os
import signal
from collections.abc import Iterator

import pytest
import structlog
from hypothesis import settings

from tests.postgres import PostgresServer, postgres_server
from tests.tiers import LONG, count

# No deadline: the machines that run this are shared. A failure prints the blob that replays it.
settings.register_profile("quick", print_blob=True, deadline=None, max_examples=50)
settings.register_profile("long", print_blob=True, deadline=None, max_examples=count(100, 1_000))
settings.load_profile("long" if LONG else "quick")

# A shell starts what runs in its background with Ctrl-C ignored, and children inherit that. With a handler
# here, every process that a test starts has the default again.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# On CI pytest compares both sides of a failed assertion to the end, however long: with thousands of figures,
# which a sabotage brings about on purpose, it never comes to one. Here it tells as much as anywhere else.
for variable in ("CI", "BUILD_NUMBER"):
    os.environ.pop(variable, None)


@pytest.fixture(autouse=True)
def _logs_restored() -> Iterator[None]:
    """A command that runs in this process sets up logs of its own, to a stream that ends with its test."""
    config, root = structlog.get_config(), logging.getLogger()
    handlers, level = list(root.handlers), root.level
    yield
    structlog.configure(**config)
    root.handlers, root.level = handlers, level


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    """One server of databases for all tests of a worker that need one."""
    with postgres_server() as server:
        yield server

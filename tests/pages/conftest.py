"""The browser tests: one loop, one browser and one house for each worker; a page that errs fails its test."""

from __future__ import annotations

import asyncio
import inspect
import re
import shutil
from collections.abc import Generator, Iterator
from contextlib import suppress
from typing import Any

import pytest
from playwright.async_api import Browser, Error, async_playwright, expect

from tests.pages.browser import CHROMIUM, MISSING, PATIENCE, launched
from tests.pages.people import People, Profiles
from tests.pages.server_process import DEMONSTRATION, House, tables_of

TABLES = 20
"""Of each rulebook, for all tests that a worker may get."""
LONGEST = 300.0  # seconds for any one test: one that waits for ever says where
_FAILED = pytest.StashKey[bool]()
expect.set_options(timeout=PATIENCE)


@pytest.fixture(scope="session")
def runner() -> Iterator[asyncio.Runner]:
    """The loop in which a browser is spoken to; it runs only while something is asked of it."""
    with asyncio.Runner(loop_factory=asyncio.new_event_loop) as runner:
        yield runner


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """A test that is a coroutine runs in that loop."""
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    names = inspect.signature(pyfuncitem.obj).parameters
    given = {name: pyfuncitem.funcargs[name] for name in names}
    runner: asyncio.Runner = pyfuncitem._request.getfixturevalue("runner")
    runner.run(asyncio.wait_for(pyfuncitem.obj(**given), LONGEST))
    return True


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, Any, Any]:
    """Whoever tidies up after a test knows how it went."""
    report = yield
    if report.when == "call":
        item.stash[_FAILED] = report.failed
    return report


@pytest.fixture(scope="session")
def browser(runner: asyncio.Runner) -> Iterator[Browser]:
    """One chromium."""
    yield from opened_browser(runner)


@pytest.fixture(scope="session")
def profiles(browser: Browser) -> Profiles:
    """Where tabs open in it."""
    return Profiles(browser)


def opened_browser(runner: asyncio.Runner) -> Iterator[Browser]:
    """A browser for as long as it is wanted; without one on the machine, the sentence that says so."""
    path = shutil.which(CHROMIUM)
    if path is None:
        pytest.fail(MISSING, pytrace=False)
    playwright = runner.run(async_playwright().start())
    found = runner.run(launched(playwright, path))
    yield found
    runner.run(found.close())
    runner.run(playwright.stop())


@pytest.fixture(scope="session")
def house(runner: asyncio.Runner, tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    """A house with tables for everyone, whose dice are whatever is keyed: each test takes fresh ones."""
    made = House(tmp_path_factory.mktemp("house"), tables_of(TABLES))
    runner.run(made.start())
    yield made
    runner.run(made.stop())


@pytest.fixture(scope="session")
def demonstration(runner: asyncio.Runner, tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    """A house as visitors find it: four tables with a shaker each."""
    made = House(tmp_path_factory.mktemp("demonstration"), DEMONSTRATION)
    runner.run(made.start())
    yield made
    runner.run(made.stop())


@pytest.fixture
def people(
    request: pytest.FixtureRequest, runner: asyncio.Runner, profiles: Profiles, house: House
) -> Iterator[People]:
    """Whoever comes to the house; at the end no page may have erred."""
    yield from attended(People(profiles, house), request, runner)


@pytest.fixture
def visitors(
    request: pytest.FixtureRequest, runner: asyncio.Runner, profiles: Profiles, demonstration: House
) -> Iterator[People]:
    """Whoever comes to the demonstration; at the end no page may have erred."""
    yield from attended(People(profiles, demonstration), request, runner)


def attended(people: People, request: pytest.FixtureRequest, runner: asyncio.Runner) -> Iterator[People]:
    """People for one test, and what has to hold when they leave."""
    yield people
    if request.node.stash.get(_FAILED, False):
        with suppress(Error):  # a picture of what went wrong is worth having, not worth another failure
            runner.run(people.kept(re.sub(r"\W+", "-", request.node.name)))
    runner.run(people.leave())
    if people.watch.faults:
        listed = "\n".join(f"  {one}" for one in people.watch.faults)
        pytest.fail(f"expected pages that do not err, got\n{listed}\nThe floor said: {people.house.log}")

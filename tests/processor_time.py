"""A pytest plugin: the processor time of each test, children included, and the slowest tests."""

from __future__ import annotations

import json
import os
import resource
import time
from collections.abc import Generator
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import pytest

SHOWN: Final = 10
WRITTEN: Final = Path("build/processor-time.json")
_KEY: Final = "processor_seconds"
_TICKS: Final = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100
_START: Final = pytest.StashKey[float]()


def pytest_configure(config: pytest.Config) -> None:
    """Collects the figures where the reports arrive: in the controller, or in the only process."""
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(_Slowest(), "slowest-tests")


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, Any, Any]:
    """Notes the processor time before a test's fixtures are set up."""
    item.stash[_START] = used()
    return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, Any, Any]:
    """Adds the processor time of a test to its last report."""
    report = yield
    if report.when == "teardown":
        # A browser that has ended meanwhile takes its time along: less than nothing is nothing.
        report.user_properties.append((_KEY, max(0.0, used() - item.stash[_START])))
    return report


def used() -> float:
    """The processor seconds of this process, of its ended children and of those that still run."""
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    running = sum(_ticks(child) for child in _descendants(os.getpid()))
    return time.process_time() + ended.ru_utime + ended.ru_stime + running / _TICKS


def _descendants(pid: int) -> list[int]:
    """The running processes that a process has started; none where the system does not list them."""
    found: list[int] = []
    with suppress(OSError):  # the process has ended meanwhile
        for listed in Path(f"/proc/{pid}/task").glob("*/children"):
            for child in map(int, listed.read_text().split()):
                found += [child, *_descendants(child)]
    return found


def _ticks(pid: int) -> int:
    """The processor time of a process and of its ended children, in clock ticks."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0
    return sum(int(field) for field in fields[11:15])


class _Slowest:
    """The tests' processor times, as they arrive."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keeps the figure of one test."""
        for name, value in report.user_properties:
            if name == _KEY and isinstance(value, float):
                self.seconds[report.nodeid] = value

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Prints the slowest tests and stores the times of all."""
        ranked = sorted(self.seconds.items(), key=lambda pair: -pair[1])
        if not ranked:
            return
        WRITTEN.parent.mkdir(exist_ok=True)
        WRITTEN.write_text(json.dumps({name: round(value, 3) for name, value in ranked}, indent=1) + "\n")
        terminalreporter.write_sep("─", f"the {SHOWN} slowest tests, in processor seconds")
        for name, value in ranked[:SHOWN]:
            terminalreporter.write_line(f"{value:8.1f}  {name}")

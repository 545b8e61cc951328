"""Runs the stages of `make test`, or those that are named, and prints the processor time of each."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

ROOT: Final = Path(__file__).parents[1]
BUDGET: Final = 910
"""Processor seconds of all stages together, from a made environment. Nothing may raise it above 1,200."""
PYTHON: Final = sys.executable
NPM: Final = (PYTHON, "-I", "tools/pages.py", "npm", "run", "--silent")
WORKERS: Final = min(8, 3 * (os.cpu_count() or 1) // 2)
"""More than cores: browsers, disks and kills are waited for. Each worker costs some seconds of its own."""
STAGES: Final[Mapping[str, tuple[str, tuple[str, ...]]]] = {
    "types": ("mypy", (PYTHON, "-m", "mypy")),
    "pages": ("svelte-check", (*NPM, "check")),
    "components": ("vitest", (*NPM, "test")),
    "imports": ("import-linter", (str(Path(PYTHON).with_name("lint-imports")), "--no-logo")),
    "style": ("ruff", (PYTHON, "-m", "ruff", "check", ".")),
    "layout": ("ruff format", (PYTHON, "-m", "ruff", "format", "--check", ".")),
    "tests": (
        "pytest",
        (
            *(PYTHON, "-m", "pytest", "-q", "-p", "tests.processor_time"),
            *("-n", str(WORKERS), "--dist", "worksteal"),
        ),
    ),
}
"""Stage → what runs, and its command. The last one runs alone, the others two at a time."""
AT_ONCE: Final = 2
_PR_SET_CHILD_SUBREAPER: Final = 36


class Done(NamedTuple):
    """A stage that has ended."""

    name: str
    failed: bool
    processor: float
    elapsed: float


class Running:
    """A stage that runs; what it prints is kept until it ends, or shown at once."""

    def __init__(self, name: str, *, shown: bool) -> None:
        self.name = name
        self._started = time.monotonic()
        self._output = None if shown else subprocess.PIPE
        if shown:
            _say(name)
        self.process = subprocess.Popen(  # noqa: S603  the commands are those above
            STAGES[name][1], cwd=ROOT, stdout=self._output, stderr=None if shown else subprocess.STDOUT
        )

    def end(self) -> Done:
        """Waits for the end, and for whatever the stage has left behind."""
        printed = None
        if self.process.stdout is not None:
            with self.process.stdout as output:
                printed = output.read()
        _, status, used = os.wait4(self.process.pid, 0)
        self.process.returncode = os.waitstatus_to_exitcode(status)
        if printed is not None:
            _say(self.name)
            sys.stdout.buffer.write(printed)
            sys.stdout.flush()
        return Done(
            self.name,
            self.process.returncode != 0,
            used.ru_utime + used.ru_stime,
            time.monotonic() - self._started,
        )


def _say(name: str) -> None:
    print(f"── {STAGES[name][0]}", flush=True)


def run(names: Sequence[str]) -> list[Done]:
    """Runs stages: the checks two at a time, then the tests."""
    ended: list[Done] = []
    waiting = [name for name in names if name != "tests"]
    running: list[Running] = []
    while waiting or running:
        while waiting and len(running) < AT_ONCE:
            running.append(Running(waiting.pop(0), shown=False))
        ended.append(running.pop(0).end())
    if "tests" in names and not any(done.failed for done in ended):
        ended.append(Running("tests", shown=True).end())
    return ended


def adopt_orphans() -> None:
    """Makes this process the parent of processes that their own parent leaves, so that their time counts."""
    with suppress(OSError, AttributeError):  # Linux alone has it
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def orphans_time() -> float:
    """The processor time of ended processes that this one has adopted, such as those of a browser."""
    spent = 0.0
    with suppress(ChildProcessError):
        while True:
            pid, _, used = os.wait4(-1, os.WNOHANG)
            if pid == 0:
                break
            spent += used.ru_utime + used.ru_stime
    return spent


def main(names: Sequence[str]) -> int:
    """Runs the stages, prints their processor times, and returns the exit code."""
    unknown = [name for name in names if name not in STAGES]
    if unknown:
        print(f"unknown stage {unknown[0]!r}: expected one of {', '.join(STAGES)}", file=sys.stderr)
        return 2
    is_everything = not names
    adopt_orphans()
    ended = run(names or tuple(STAGES))
    left = orphans_time()
    failed = [STAGES[done.name][0] for done in ended if done.failed]
    if is_everything or failed:
        _report(ended, left, with_budget=is_everything)
    print(f"── failed: {', '.join(failed)}" if failed else "── passed: " + _listed(ended), flush=True)
    return 1 if failed else 0


def _listed(ended: Sequence[Done]) -> str:
    return ", ".join(STAGES[done.name][0] for done in ended)


def _report(ended: Sequence[Done], left: float, *, with_budget: bool) -> None:
    print("── processor seconds (user and system, children included)")
    for done in ended:
        print(f"{done.processor:8.1f}  {STAGES[done.name][0]} ({done.elapsed:.0f} s on the clock)")
    if left >= 0.1:
        print(f"{left:8.1f}  processes that outlived their stage, such as a browser's")
    total = sum(done.processor for done in ended) + left
    print(f"{total:8.1f}  in all" + (f"; the budget is {BUDGET}" if with_budget else ""))
    if with_budget and total > BUDGET:
        print(
            f"WARNING: {total - BUDGET:.0f} processor seconds over the budget of {BUDGET} (tools/stages.py)"
        )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

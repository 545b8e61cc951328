"""The command from a cold start, in processor time: `taisai odds --json` against `python -c pass`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from bench.harness import Bench, Line, Target

BOOK, LAYOUT = "rws-sic-bo-etg-v8", "B"
ODDS = (str(Path(sys.executable).with_name("taisai")), "odds", BOOK, "--layout", LAYOUT, "--json")
PASS = (sys.executable, "-c", "pass")
IMPORT = (sys.executable, "-c", "import json, tomllib, fractions")


def run(*, quick: bool) -> Iterator[Line]:
    """Children one after the other in turns, each by the processor time that the system counted for it."""
    told = json.loads(subprocess.run(ODDS, check=True, capture_output=True, text=True).stdout)
    assert (told["rulebook"], told["layout"], len(told["areas"])) == (BOOK, LAYOUT, 104)
    times: dict[str, list[float]] = {"odds": [], "pass": [], "import": []}
    for _ in range(9 if quick else 41):
        for name, command in (("odds", ODDS), ("pass", PASS), ("import", IMPORT)):
            times[name].append(_processor_seconds(command))
    bench = Bench("taisai odds --json from a cold start, processor time", times)
    yield bench.line(
        "taisai odds --json / python -c pass", of="odds", over="pass", target=Target(6, at_most=True)
    )
    yield bench.line("bare limit: importing json, tomllib, fractions / pass", of="import", over="pass")


def _processor_seconds(command: tuple[str, ...]) -> float:
    nowhere = [(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)]
    child = os.posix_spawn(command[0], command, os.environ, file_actions=nowhere)
    _, status, used = os.wait4(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0
    return used.ru_utime + used.ru_stime

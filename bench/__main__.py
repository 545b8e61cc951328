"""python -m bench [--quick] [--json] [NAME ...]: exits with 1 where a target is missed."""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.table import Table

from bench.harness import Line

BENCHES: Final = (
    "pay_table",
    "settlement",
    "few_bets",
    "house_total",
    "one_bet",
    "whole_round",
    "registering",
    "lone_bet",
    "settling_durably",
    "starting",
    "auditing",
    "cold_start",
    "server.load",
    "terminal_page",
    "study.totals",
    "study.compositions",
    "study.ruin",
    "study.mix_rounds",
    "study.martingale",
    "study.shoe_rounds",
    "study.dice_lab",
    "study.resettling",
)
Runner = Callable[..., Iterator[Line]]


def main() -> int:
    """Runs the benches that were named, or all."""
    parser = argparse.ArgumentParser(prog="python -m bench", description="Speed against the alternatives.")
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help=f"of {', '.join(BENCHES)}; all without a name"
    )
    parser.add_argument("--quick", action="store_true", help="fewer turns: a look, not a verdict")
    parser.add_argument("--json", action="store_true", help="print JSON")
    asked = parser.parse_args()
    if unknown := set(asked.names) - set(BENCHES):
        parser.error(f"expected names of {', '.join(BENCHES)}, got {', '.join(sorted(unknown))}")
    lines: list[Line] = []
    for name in asked.names or BENCHES:
        print(f"{name} …", file=sys.stderr)
        runner: Runner = import_module(f"bench.{name}").run
        lines += runner(quick=asked.quick)
    if asked.json:
        print(
            json.dumps(
                {"machine": machine(), "quick": asked.quick, "lines": [_as_json(line) for line in lines]}
            )
        )
    else:
        _print(lines, quick=asked.quick)
    return 0 if all(line.met for line in lines) else 1


def machine() -> dict[str, str | int | None]:
    """What it ran on."""
    facts: dict[str, str | int | None] = {
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "cores": os.cpu_count(),
        "processor": _processor(),
    }
    for package in ("numpy", "numba", "icepool", "apsw", "python-flint", "duckdb", "pyarrow"):
        try:
            facts[package] = version(package)
        except PackageNotFoundError:
            facts[package] = None
    return facts


def _processor() -> str:
    try:
        facts = Path("/proc/cpuinfo").read_text("utf-8").splitlines()
    except OSError:
        return platform.processor()
    return next((fact.split(":", 1)[1].strip() for fact in facts if fact.startswith("model name")), "")


def _as_json(line: Line) -> dict[str, object]:
    return {
        "bench": line.bench,
        "what": line.what,
        "ratio": line.ratio,
        "middle_half": [line.low, line.high],
        "target": str(line.target) if line.target else None,
        "met": line.met if line.target else None,
    }


def _print(lines: list[Line], *, quick: bool) -> None:
    console = Console(width=None if sys.stdout.isatty() else 120)
    table = Table(title="Ratios, measured in turns: median, and the middle half of the turns")
    for heading in ("what", "measured", "from", "to", "target", ""):
        table.add_column(heading, justify="left" if heading in ("what", "") else "right")
    bench = None
    for line in lines:
        if line.bench != bench:
            bench = line.bench
            table.add_section()
            table.add_row(f"[bold]{bench}[/bold]")
        verdict = "" if line.target is None else "PASS" if line.met else "[bold red]FAIL[/bold red]"
        unit = line.target.unit if line.target else "×"
        figures = (
            f"{number:.3g}{unit}" if number < 1000 else f"{number:.0f}{unit}"
            for number in (line.ratio, line.low, line.high)
        )
        table.add_row(f"  {line.what}", *figures, str(line.target or ""), verdict)
    console.print(table)
    console.print(", ".join(f"{name} {fact or '–'}" for name, fact in machine().items()))
    missed = sum(not line.met for line in lines)
    console.print(
        f"{missed} of {sum(bool(line.target) for line in lines)} targets missed"
        + (" (quick)" if quick else "")
    )


if __name__ == "__main__":
    sys.exit(main())

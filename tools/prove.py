"""The long tier of the tests, part by part: python -m tools.prove --help.

Each part is a pytest run with `TAISAI_PROVE` set: all mutants and sabotages, and far more seeds, kills, power
losses and examples than `make test` takes. A part that has passed on the same files, with the same length and
seed, is skipped, so an interrupted run goes on where it stopped. The results are in build/prove.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from hashlib import blake2b
from pathlib import Path
from typing import Final
from xml.etree import ElementTree as ET

import msgspec

from tools.stages import ROOT, WORKERS

FOLDER: Final = ROOT / "build" / "prove"
MARKED: Final = {
    "simulation": "whole evenings in virtual time, each drawn from a number",
    "power-loss": "the power fails at any moment of a write",
    "kills": "the process is killed at any moment",
    "disk-faults": "any call of the disk fails",
    "tampering": "any byte of a journal, a proof or an export is changed",
    "sabotage": "anything in a rulebook is altered, and a test notices",
    "mutants": "a rulebook with anything wrong in it is refused",
    "pages": "every page in every size and language, every irregularity in every phase",
}
"""The parts that tests name themselves, with `pytestmark = pytest.mark.part(name="…")`."""
BESIDE: Final = "documents"
"""The part with the examples in docstrings, in the README and in the docs."""
NO_TESTS: Final = 5  # the exit code of pytest where nothing was selected


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """What became of one part."""

    part: str
    passed: bool
    date: str
    commit: str
    """The commit, and a digest of what differs from it."""
    seed: int | None
    """None: each test has its own default."""
    length: float
    tests: int
    failed: int
    skipped: int
    seconds: float


def parts() -> dict[str, tuple[str, ...]]:
    """Part → what pytest is given: marked parts, then one for each folder of tests, then the documents."""
    folders = sorted(path.name for path in (ROOT / "tests").iterdir() if any(path.glob("**/test_*.py")))
    beside = [str(path.relative_to(ROOT)) for path in sorted((ROOT / "tests").glob("test_*.py"))]
    marked = {name: ("tests", "-m", f'part(name="{name}")') for name in MARKED}
    others = {f"tests/{name}": (f"tests/{name}", "-m", "not part") for name in folders}
    return {**marked, **others, BESIDE: ("src", "docs", "README.md", *beside)}


def commit() -> str:
    """The commit, with a digest of whatever has been changed since."""
    head, changes = (_git("rev-parse", "--short=12", "HEAD"), _git("diff", "HEAD"))
    if not head:
        return "no commit"
    return head + (f"+{blake2b(changes.encode(), digest_size=4).hexdigest()}" if changes else "")


def _git(*words: str) -> str:
    done = subprocess.run(["git", *words], cwd=ROOT, check=False, capture_output=True, text=True)  # noqa: S603, S607
    return done.stdout.strip() if done.returncode == 0 else ""


def _file(part: str) -> Path:
    return FOLDER / f"{part.replace('/', '-')}.json"


def known(part: str) -> Result | None:
    """The last result of a part."""
    try:
        return msgspec.json.decode(_file(part).read_bytes(), type=Result)
    except (OSError, msgspec.MsgspecError):
        return None


def prove(part: str, words: Sequence[str], at: str, *, seed: int | None, length: float) -> Result:
    """Runs one part and keeps its result."""
    listed = _file(part).with_suffix(".xml")
    listed.unlink(missing_ok=True)
    started = time.monotonic()
    command = [
        *(sys.executable, "-m", "pytest", "-q", "-p", "tests.processor_time", "-n", str(WORKERS)),
        *("--dist", "worksteal", "-o", "junit_family=xunit2", f"--junitxml={listed}"),
        f"--hypothesis-seed={seed or 0}",
        *words,
    ]
    env = {**os.environ, "TAISAI_PROVE": f"{length:g}"} | ({} if seed is None else {"TAISAI_SEED": str(seed)})
    code = subprocess.run(command, cwd=ROOT, env=env, check=False).returncode  # noqa: S603
    counted = _counts(listed)
    result = Result(
        part=part, passed=code == 0 or (code == NO_TESTS and part not in MARKED),
        date=datetime.now(UTC).isoformat(timespec="seconds"),
        commit=at, seed=seed, length=length, tests=counted["tests"],
        failed=counted["failures"] + counted["errors"], skipped=counted["skipped"],
        seconds=round(time.monotonic() - started, 1),
    )  # fmt: skip
    _file(part).write_bytes(msgspec.json.format(msgspec.json.encode(result)) + b"\n")
    return result


def _counts(listed: Path) -> Mapping[str, int]:
    """What pytest counted; nothing where it did not come to the end."""
    names = ("tests", "failures", "errors", "skipped")
    if not listed.exists():
        return dict.fromkeys(names, 0)
    suites = list(ET.parse(listed).getroot().iter("testsuite"))  # noqa: S314  pytest has just written it
    return {name: sum(int(suite.get(name, "0")) for suite in suites) for name in names}


def report(results: Iterable[Result], at: str) -> str:
    """The results as a page."""
    lines = [
        "# The long tests",
        "",
        f"Commit {at}, {datetime.now(UTC):%Y-%m-%d %H:%M} UTC.",
        "",
        "| part | result | tests | failed | skipped | seconds | length | seed | commit | date |",
        "|---|---|---:|---:|---:|---:|---:|---:|---|---|",
    ]
    for one in results:
        outcome = "passed" if one.passed else "**failed**"
        lines.append(
            f"| {one.part} | {outcome} | {one.tests} | {one.failed} | {one.skipped} | {one.seconds:.0f}"
            f" | {one.length:g} | {'default' if one.seed is None else one.seed} | {one.commit} | {one.date} |"
        )
    return "\n".join(lines) + "\n"


def _asked(words: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m tools.prove", description="The long tests, part by part."
    )
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"default: all of {', '.join(parts())}")
    parser.add_argument(
        "--length", type=float, default=1.0, help="a factor: 10 searches ten times as long (default: 1)"
    )
    parser.add_argument(
        "--seed", type=int, default=None, help="the seed of all searches (default: that of each test)"
    )
    parser.add_argument("--again", action="store_true", help="run parts that have already passed, too")
    asked = parser.parse_args(words)
    if unknown := [name for name in asked.parts if name not in parts()]:
        parser.error(f"unknown part {unknown[0]!r}: expected some of {', '.join(parts())}")
    if asked.length <= 0:
        parser.error(f"expected a length above 0, got {asked.length:g}")
    return asked


def main(words: Sequence[str] | None = None) -> int:
    """Proves what is asked for; 1 where something failed, 130 where it was interrupted."""
    asked, at, every = _asked(words), commit(), parts()
    FOLDER.mkdir(parents=True, exist_ok=True)
    wanted = asked.parts or list(every)
    try:
        for part in wanted:
            last = known(part)
            asked_for = (at, asked.seed, asked.length)
            is_same = last is not None and (last.commit, last.seed, last.length) == asked_for
            if last is not None and last.passed and is_same and not asked.again:
                print(f"── {part}: passed at {last.date}", flush=True)
                continue
            print(f"── {part}{f': {MARKED[part]}' if part in MARKED else ''}", flush=True)
            prove(part, every[part], at, seed=asked.seed, length=asked.length)
    except KeyboardInterrupt:
        print("interrupted: the same command goes on where this one stopped", file=sys.stderr)
        return 130
    finally:
        results = [result for part in every if (result := known(part)) is not None]
        (FOLDER / "report.md").write_text(report(results, at), "utf-8")
        print(f"── report: {(FOLDER / 'report.md').relative_to(ROOT)}", flush=True)
    failed = [result.part for result in results if result.part in wanted and not result.passed]
    print(f"── failed: {', '.join(failed)}" if failed else f"── passed: {len(wanted)} parts", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

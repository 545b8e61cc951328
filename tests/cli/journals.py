"""Journals as a user has them: made by the command, with their keys, and what a user may take for one."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from taisai.cli import main
from tests.cli.conftest import Ran, Taisai

ROOT: Final = Path(__file__).parents[2]
STORY: Final = str(ROOT / "cases" / "playbooks" / "rws-plain-round.round")
NOBODY: Final = 65_534


def play(taisai: Taisai, journal: str = "evening.db", *more: str, story: str = STORY) -> Ran:
    """A playbook played into a journal."""
    ran = taisai("table", "play", story, "--journal", journal, *more)
    assert (ran.code, ran.err) == (0, ""), ran
    return ran


def one_clear_line(ran: Ran) -> bool:
    """Refused in one line, with nothing on standard output."""
    lines = ran.err.splitlines()
    return (ran.code, ran.out, len(lines)) == (2, "", 1) and ran.err.startswith("taisai: ")


def process(*words: str, most: int | None = None) -> subprocess.CompletedProcess[str]:
    """The command as its own process; `most` is how large a file it may write."""

    def limit() -> None:
        import resource

        assert most is not None
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))

    return subprocess.run(
        [sys.executable, "-m", "taisai", *words],
        capture_output=True,
        encoding="utf-8",
        timeout=60,
        check=False,
        preexec_fn=limit if most is not None else None,
    )


def as_nobody(folder: Path, *words: str) -> Ran:
    """The command by someone who is not root, to whom permissions apply; it must have run here before."""
    if sys.platform == "win32":
        pytest.skip("needs users as POSIX has them")
    out, err = folder / "out", folder / "err"
    for path in (out, err):
        path.touch()
        path.chmod(0o666)
    child = os.fork()
    if not child:
        code = 99
        try:
            if os.geteuid() == 0:
                os.setgid(NOBODY)
                os.setuid(NOBODY)
            sys.stdout, sys.stderr = out.open("w", encoding="utf-8"), err.open("w", encoding="utf-8")
            code = main(words)
            sys.stdout.flush()
            sys.stderr.flush()
        finally:
            os._exit(code)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return Ran(code, out.read_text("utf-8"), err.read_text("utf-8"))


def impostors(folder: Path, journal: Path) -> dict[str, str]:
    """Files that are no journal, or no longer one: what it is → where."""
    text, other, empty = folder / "notes.txt", folder / "other.db", folder / "empty.db"
    text.write_text("what the dealer said\n" * 10, encoding="utf-8")
    with sqlite3.connect(other) as connection:
        connection.execute("CREATE TABLE chip (colour TEXT)")
    connection.close()
    empty.touch()
    (folder / "folder").mkdir()
    raw = journal.read_bytes()
    for name, cut in (("head", 3_000), ("half", len(raw) // 2)):
        (folder / f"{name}.db").write_bytes(raw[:cut])
    return {
        "text": str(text),
        "another SQLite file": str(other),
        "empty": str(empty),
        "directory": str(folder / "folder"),
        "no file": str(folder / "no-such.db"),
        "no folder": str(folder / "no-such" / "x.db"),
        "no name": "",
        "name with a null": "a\0b",
        "long name": "a" * 300,
        "cut in the first page": str(folder / "head.db"),
        "cut in half": str(folder / "half.db"),
    }

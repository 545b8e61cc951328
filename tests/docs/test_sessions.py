"""Every console session in README and docs is run, and must print what the page says."""

from __future__ import annotations

import doctest
import io
import os
import re
import shlex
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import NamedTuple

import pytest

from taisai.cli import main

ROOT = Path(__file__).parents[2]
PAGES = sorted([ROOT / "README.md", *ROOT.glob("docs/**/*.md")])
_PLAIN = re.compile(r"taisai (?P<words>[^|&;<>$`*]+?)(?: > (?P<file>[\w./-]+))?")
"""A command without anything for a shell to do but to put its output into a file."""
_BLOCK = re.compile(r"^```console\n(.*?)^```$", re.DOTALL | re.MULTILINE)


class Session(NamedTuple):
    """The commands of one block, each with what it should print."""

    page: str
    number: int
    commands: tuple[tuple[str, str], ...]


def sessions(page: str, text: str) -> list[Session]:
    """The console blocks of a page."""
    found = []
    for number, block in enumerate(_BLOCK.findall(text), 1):
        parts = re.split(r"^\$ (.*)\n", block, flags=re.MULTILINE)
        if parts[0].strip():
            raise ValueError(f"{page}, console block {number}: expected '$ command' first, got {parts[0]!r}")
        found.append(Session(page, number, tuple(zip(parts[1::2], parts[2::2], strict=True))))
    return found


def differs(expected: str, got: str) -> bool:
    """Whether the output is not what the page says; '...' stands for anything."""

    def trimmed(text: str) -> str:
        return "\n".join(line.rstrip() for line in text.strip().splitlines()) + "\n"

    return not doctest.OutputChecker().check_output(trimmed(expected), trimmed(got), doctest.ELLIPSIS)


def _run(command: str) -> str:
    """What a command prints. A plain one of ours runs in this process, since a new one starts slowly."""
    plain = _PLAIN.fullmatch(command)
    if plain is None:
        return _run_by_shell(command)
    written = io.BytesIO()
    with (
        io.TextIOWrapper(written, "utf-8", write_through=True) as terminal,
        redirect_stdout(terminal),
        redirect_stderr(terminal),
    ):
        main(shlex.split(plain["words"]))
        printed = written.getvalue()
    if plain["file"] is None:
        return printed.decode("utf-8")
    (ROOT / plain["file"]).write_bytes(printed)
    return ""


def _run_by_shell(command: str) -> str:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["sh", "-c", command],
        cwd=ROOT,
        env={**os.environ, "PATH": path, "PYTHONIOENCODING": "utf-8"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        timeout=60,
        check=False,
    )
    return done.stdout


TOLD = {
    str(page.relative_to(ROOT)): found
    for page in PAGES
    if (found := sessions(page.name, page.read_text("utf-8")))
}


@pytest.mark.parametrize("page", TOLD)
def test_the_sessions_of_a_page_print_what_it_says(page: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """One after the other: a later one may need what an earlier one made."""
    monkeypatch.chdir(ROOT)
    for session in TOLD[page]:
        for command, expected in session.commands:
            got = _run(command)
            assert not differs(expected, got), f"$ {command}\n--- expected\n{expected}--- got\n{got}"


def test_the_pages_have_sessions() -> None:
    assert {page.name for page in PAGES if sessions(page.name, page.read_text("utf-8"))} >= {
        "README.md",
        "first-rulebook.md",
    }


def test_a_command_in_this_process_prints_what_a_process_of_its_own_prints(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(ROOT)
    for dice in ("2,2,2", "7"):
        command = f"taisai settle us-sic-bo --dice {dice} --bet small=100"
        assert _PLAIN.fullmatch(command)
        assert _run(command) == _run_by_shell(command)


def test_sabotage_a_wrong_figure_is_noticed() -> None:
    (session,) = sessions("page.md", "```console\n$ echo 1250\n1251\n```\n")
    ((command, expected),) = session.commands
    assert differs(expected, _run(command))

"""The page on security names tests that exist, for every kind of attacker."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "explanation" / "security.md"
TEST = re.compile(r"`(tests/[\w/]+\.py)::(test_\w+)`")
ATTACKERS = {
    "A player", "A stranger in the network", "A dealer", "A supervisor", "A cashier", "An administrator",
    "A thief of the file", "A malicious page",
}  # fmt: skip


@cache
def named_in(file: Path) -> frozenset[str]:
    """The tests of a module; none of a file that is not there."""
    if not file.is_file():
        return frozenset()
    nodes = ast.parse(file.read_text("utf-8")).body
    return frozenset(node.name for node in nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))


def missing(text: str) -> list[str]:
    """The tests that a text names and that do not exist."""
    return [f"{file}::{name}" for file, name in TEST.findall(text) if name not in named_in(ROOT / file)]


def test_every_test_on_the_page_exists() -> None:
    assert missing(PAGE.read_text("utf-8")) == []


def test_every_attacker_has_rows_and_every_row_a_test() -> None:
    parts = re.split(r"^## ", PAGE.read_text("utf-8"), flags=re.MULTILINE)
    rows = {
        part.partition("\n")[0]: re.findall(r"^\| (?!what |---)(.*) \|$", part, re.MULTILINE)
        for part in parts
    }
    assert {title for title, found in rows.items() if len(found) >= 3} == ATTACKERS
    assert [row for found in rows.values() for row in found if not TEST.search(row)] == []


def test_sabotage_a_test_that_is_gone_is_found() -> None:
    text = "`tests/docs/test_security_page.py::test_gone` `tests/docs/none.py::test_gone`"
    assert len(missing(text)) == 2

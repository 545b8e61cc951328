"""The pages for developers name files and functions: each of them exists, and the glossary has the words."""

from __future__ import annotations

import ast
import re
import tomllib
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "taisai"
PAGES = ("README.md", "CONTRIBUTING.md", "docs/explanation/architecture.md", "docs/explanation/pages.md")
_CODE = re.compile(r"`([^`\n]+)`")
_PATH = re.compile(
    r"(?P<path>[\w.*-]+(?:/[\w.*-]+)*(?:/|\.(?:py|ts|svelte|toml|md|json|jsonl|txt|html|css)))(?::(?P<name>[\w.]+))?"
)
MADE = ("build/", "frontend/node_modules/")
"""Folders that are made and not kept."""
WORDS = (
    *("Act", "Area", "Bet", "Illuminated", "Irregularity", "Layout", "Odds", "Outcome", "Phase", "Referral"),
    *("Result", "Round", "Ruling", "Stake", "Void", "Won", "Cage", "Claim", "Credits", "Dealer", "Device"),
    *("Display", "Drop", "Dual control", "Exposure", "Float", "Game Console", "Gaming day", "House"),
    *("House edge", "Limits", "Player Terminal", "Purse", "Seat", "Ticket", "Transfer", "Clause", "Erratum"),
    *(
        "Interpretation",
        "Payoff matrix",
        "Procedure",
        "Rulebook",
        "Approval",
        "Audit",
        "Checkpoint",
        "Command",
    ),
    *(
        "Demonstration",
        "Dispatcher",
        "Engine",
        "Entry",
        "Epoch",
        "Event",
        "Feed",
        "Handler",
        "Journal",
        "Ledger",
    ),
    *("Par sheet", "Permission", "Playbook", "Principal", "Projection", "Recovery", "Refusal", "Snapshot"),
    *("Store", "Stream", "View"),
)


def named(text: str) -> list[tuple[str, str]]:
    """The paths in code marks on a page, each with the name in it that the page gives, if any."""
    matches = (
        _PATH.fullmatch(code)
        for code in _CODE.findall(re.sub(r"^```.*?^```$", "", text, flags=re.DOTALL | re.MULTILINE))
    )
    return [(match["path"], match["name"] or "") for match in matches if match]


@cache
def names_in(file: Path) -> frozenset[str]:
    """Functions, classes, methods and constants of a module; a method as Class.method."""
    names: set[str] = set()
    for node in ast.parse(file.read_text("utf-8")).body:
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                names.add(name)
            case ast.ClassDef(name=name, body=body):
                names |= {
                    name,
                    *(
                        f"{name}.{part.name}"
                        for part in body
                        if isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef)
                    ),
                }
            case ast.Assign(targets=targets):
                names |= {target.id for target in targets if isinstance(target, ast.Name)}
            case ast.AnnAssign(target=ast.Name(id=name)):
                names.add(name)
            case _:
                pass
    return frozenset(names)


def missing(text: str) -> list[str]:
    """What a page names and the repository does not have. Paths begin at its root or in the package."""
    problems = []
    for path, name in named(text):
        if path.startswith(MADE):
            continue
        files = [file for base in (ROOT, PACKAGE) for file in base.glob(path.rstrip("/"))]
        if not files or (path.endswith("/") and not all(file.is_dir() for file in files)):
            problems.append(path)
        elif name and not any(name in names_in(file) for file in files):
            problems.append(f"{path}:{name}")
    return problems


@pytest.mark.parametrize("page", PAGES)
def test_every_file_and_function_that_a_page_names_exists(page: str) -> None:
    assert missing((ROOT / page).read_text("utf-8")) == []


def test_the_pages_name_files() -> None:
    counts = [len(named((ROOT / page).read_text("utf-8"))) for page in PAGES[1:3]]
    assert min(counts) > 40


def test_sabotage_a_file_or_a_function_that_is_gone_is_noticed() -> None:
    text = "`game/play.py:decide` `game/none.py` `game/play.py:none` `server/none/` `taisai odds`"
    assert missing(text) == ["game/none.py", "game/play.py:none", "server/none/"]


@pytest.mark.parametrize("word", WORDS)
def test_the_glossary_explains(word: str) -> None:
    text = (ROOT / "docs/explanation/glossary.md").read_text("utf-8")
    assert re.search(rf"^- .*\*\*{re.escape(word)}\*\*", text, re.MULTILINE)


def test_the_architecture_shows_every_package_and_every_layer() -> None:
    text = (ROOT / "docs/explanation/architecture.md").read_text("utf-8")
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"][
        "contracts"
    ]
    layers = [re.findall(r"\w+", layer) for layer in contracts[0]["layers"] if not layer.startswith("(")]
    shown = re.findall(r"^│ ([a-z· ]+?) *│", text, re.MULTILINE)
    assert [re.findall(r"\w+", line) for line in shown] == layers
    packages = {file.parent.name for file in PACKAGE.glob("*/__init__.py")}
    assert packages | {"validation"} == {name for layer in layers for name in layer}


def test_the_readme_is_short() -> None:
    assert len((ROOT / "README.md").read_text("utf-8").split()) <= 900

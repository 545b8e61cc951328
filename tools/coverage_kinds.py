"""How a test holds a clause: it plays it, settles bets by it, looks at a drawing, or only reads it."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from taisai.rules.clause_coverage import CoverageKind

_PLAYING: Final = ("tests.game.", "tests.server.", "tests.pages.")
"""Modules of helpers that play: a test that uses one of their names plays."""
_NO_PLAY: Final = frozenset({"tests.game.snapshots", "tests.server.clocks"})
_SETTLING: Final = ("tests.clauses.winning", "tests.oracle", "taisai.game.rounds.settlement")
_SETTLES: Final = frozenset({"matrix", "pays", "wins", "loses", "verdict", "unit", "settled"})
"""Names of queries on the pay table."""
_DRAWN: Final = frozenset({"layout", "layouts", "drawing", "blocks", "drawn"})


def kinds_in(path: Path) -> Mapping[str, CoverageKind]:
    """Test → its kind, by what it uses itself and through the other functions of its module."""
    tree = ast.parse(path.read_text("utf-8"))
    origin = dict(_imports(tree))
    functions = {
        node.name: node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }
    uses = {name: frozenset(_names(node)) for name, node in functions.items()}
    constants = {
        target.id: frozenset(_names(node.value))
        for node in tree.body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    uses |= constants
    tests = (name for name in functions if name.startswith("test_"))
    return {name: _kind(_reached(name, uses), origin) for name in tests}


def _kind(names: frozenset[str], origin: Mapping[str, str]) -> CoverageKind:
    modules = {origin[name] for name in names if name in origin}
    if any(module.startswith(_PLAYING) and module not in _NO_PLAY for module in modules):
        return CoverageKind.PLAYED
    if any(module.startswith(_SETTLING) for module in modules) or names & _SETTLES:
        return CoverageKind.SETTLED
    return CoverageKind.DRAWN if names & _DRAWN else CoverageKind.READ


def _imports(tree: ast.Module) -> Iterator[tuple[str, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module is not None:
            for alias in node.names:
                yield alias.asname or alias.name, node.module


def _names(node: ast.AST) -> Iterator[str]:
    """Whatever a piece of code names: variables, attributes, and fixtures among its arguments."""
    for part in ast.walk(node):
        if isinstance(part, ast.Name):
            yield part.id
        elif isinstance(part, ast.Attribute):
            yield part.attr
        elif isinstance(part, ast.arg):
            yield part.arg


def _reached(name: str, uses: Mapping[str, frozenset[str]]) -> frozenset[str]:
    """All names that are used, also by the functions and constants of the module that are used."""
    reached: set[str] = set()
    waiting = [name]
    while waiting:
        for used in uses.get(waiting.pop(), frozenset()):
            if used not in reached:
                reached.add(used)
                waiting.append(used)
    return frozenset(reached)

"""Calls through which data becomes code, a command or a connection: the modules that make them are listed."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.project.tree import SRC

DYNAMIC = {"eval", "exec", "compile", "__import__"}
"""Built-in functions that run text as code."""
DESERIALIZERS = {
    "pickle",
    "marshal",
    "shelve",
    "dill",
    "cloudpickle",
    "yaml",
    "xml",
    "lxml",
    "xmlrpc",
    "plistlib",
}
"""Modules that make objects of any kind from bytes, or read XML."""
PROCESSES = {"subprocess", "pty", "popen2", "multiprocessing"}
SYSTEM = {"system", "popen", "execv", "execve", "execvp", "spawnl", "spawnv", "posix_spawn", "startfile"}
"""Functions of `os` that run programs."""
OUTGOING = {
    "http.client", "urllib.request", "httpx", "requests", "ftplib", "smtplib", "imaplib", "poplib",
    "telnetlib", "ldap3", "websockets.asyncio.client", "websockets.sync.client", "aiohttp",
}  # fmt: skip
CONNECTS = {"create_connection", "open_connection", "sock_connect", "connect_ex", "open_unix_connection"}

ALLOWED = {
    "dynamic": {
        "game/snapshot_codec.py",  # functions from the names and fields of our own classes
    },
    "deserializers": {
        "cli/rules/drawing.py",  # escapes text for SVG; nothing is parsed
    },
    "processes": {
        "cli/study/dice.py",  # writes under a name of its own process
    },
    "outgoing": {
        "cli/server/status.py",  # asks the server whose address was typed
        "client/connection.py",  # the library for clients
        "client/office.py",
        "study/simulation/workers.py",  # the Dask cluster of a simulation, whose address was typed
        "witness/client.py",  # the witnesses of casino.toml
    },
}
"""What → the modules that use it, and why."""


parsed = cache(ast.parse)


def imported(tree: ast.Module) -> Iterator[str]:
    """The modules that a module imports, also inside functions."""
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                yield from (name.name for name in names)
            case ast.ImportFrom(module=str(module), names=names):
                yield module
                yield from (f"{module}.{name.name}" for name in names)
            case _:
                pass


def uses(text: str) -> set[str]:
    """Which of these kinds of calls a module has."""
    tree = parsed(text)
    kinds = set()
    for name in imported(tree):
        top = name.partition(".")[0]
        kinds |= {"deserializers"} if top in DESERIALIZERS else set()
        kinds |= {"processes"} if top in PROCESSES else set()
        kinds |= (
            {"outgoing"}
            if any(name == known or name.startswith(f"{known}.") for known in OUTGOING)
            else set()
        )
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Name(id=name)) if name in DYNAMIC:
                kinds.add("dynamic")
            case ast.Attribute(value=ast.Name(id="os"), attr=name) if name in SYSTEM:
                kinds.add("processes")
            case ast.Attribute(attr=name) if name in CONNECTS:
                kinds.add("outgoing")
            case _:
                pass
    return kinds


@cache
def users() -> dict[str, set[str]]:
    """Kind → the modules that use something of it."""
    found: dict[str, set[str]] = {kind: set() for kind in ALLOWED}
    for path in SRC.rglob("*.py"):
        for kind in uses(path.read_text("utf-8")):
            found[kind].add(path.relative_to(SRC).as_posix())
    return found


@pytest.mark.parametrize("kind", ALLOWED)
def test_only_the_modules_of_the_list_do_it(kind: str) -> None:
    assert users()[kind] == ALLOWED[kind]


def sql_made_of_text(text: str) -> list[str]:
    """Statements that a module puts together where it executes them; a PRAGMA takes no parameters."""
    made = []
    for node in ast.walk(parsed(text)):
        match node:
            case ast.Call(func=ast.Attribute(attr="execute" | "executemany"), args=[sql, *_]):
                is_constant = isinstance(sql, ast.Constant | ast.Name | ast.Attribute)
                if not (is_constant or ast.unparse(sql).startswith("f'PRAGMA")):
                    made.append(ast.unparse(sql))
            case _:
                pass
    return made


def test_no_statement_of_sql_is_made_of_values() -> None:
    texts = {path.relative_to(SRC).as_posix(): path.read_text("utf-8") for path in SRC.rglob("*.py")}
    users_of_sql = {name: text for name, text in texts.items() if "apsw" in text}
    assert len(users_of_sql) > 3
    found = {name: made for name, text in users_of_sql.items() if (made := sql_made_of_text(text))}
    assert found == {"cli/tour.py": ["str(sql)"]}, "the tour changes a copy, by a statement that it prints"


def test_sabotage_a_statement_that_is_made_of_values_is_seen() -> None:
    assert (
        len(sql_made_of_text("c.execute(f'SELECT * FROM {x}')\nc.execute('a' + b)\nc.execute('a', b)")) == 2
    )


def unescaped_patterns(text: str) -> list[str]:
    """Patterns that a module makes of text which is neither escaped nor a constant of its own."""
    found = []
    for node in ast.walk(parsed(text)):
        match node:
            case ast.Call(
                func=ast.Attribute(value=ast.Name(id="re")), args=[ast.JoinedStr(values=parts) as made, *_]
            ):
                values = [ast.unparse(part.value) for part in parts if isinstance(part, ast.FormattedValue)]
                if [value for value in values if not (value.startswith("re.escape(") or value.isupper())]:
                    found.append(ast.unparse(made))
            case ast.Call(func=ast.Attribute(value=ast.Name(id="re"), attr=name), args=[pattern, *_]):
                is_constant = isinstance(pattern, ast.Constant) or ast.unparse(pattern).isupper()
                if name != "escape" and not is_constant:
                    found.append(ast.unparse(pattern))
            case _:
                pass
    return found


def test_no_pattern_is_made_of_text_that_is_not_escaped() -> None:
    texts = {path.relative_to(SRC).as_posix(): path.read_text("utf-8") for path in SRC.rglob("*.py")}
    found = {name: made for name, text in texts.items() if (made := unescaped_patterns(text))}
    assert found == {"validation.py": ["pattern"]}, "it makes kinds of values, from constants"


def test_sabotage_a_pattern_of_text_is_seen() -> None:
    assert (
        len(unescaped_patterns("re.match(f'{x}!', y)\nre.sub(x, '', y)\nre.match(f'{re.escape(x)}', y)")) == 2
    )


def test_no_page_makes_html_or_code_of_text() -> None:
    sources = [
        *Path(SRC.parents[1], "frontend", "src").rglob("*.ts"),
        *Path(SRC.parents[1], "frontend", "src").rglob("*.svelte"),
    ]
    words = (
        "{@html", "innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function",
        "srcdoc", "postMessage", 'addEventListener("message"', "document.cookie", "javascript:",
        "__proto__", "jsonp",
    )  # fmt: skip
    assert len(sources) > 100
    texts = {path.name: path.read_text("utf-8") for path in sources}
    assert {(name, word) for name, text in texts.items() for word in words if word in text} == set()


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("eval(said)", "dynamic"),
        ("def read(x):\n    import pickle\n    return pickle.loads(x)", "deserializers"),
        ("from xml.etree import ElementTree", "deserializers"),
        ("import subprocess as s", "processes"),
        ("import os\nos.system(said)", "processes"),
        ("from urllib import request", "outgoing"),
        ("import socket\nsocket.create_connection(at)", "outgoing"),
        ("import asyncio\nasyncio.open_connection('a', 1)", "outgoing"),
    ],
)
def test_sabotage_a_call_is_seen(text: str, kind: str) -> None:
    assert kind in uses(text)

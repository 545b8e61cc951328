"""casino.toml as `taisai init` writes it: every setting, its meaning, what it takes and its default."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping
from typing import Any, Final

from taisai.server.config.setting import ServerSetting, settings_of
from taisai.server.config.settings import SECTIONS
from taisai.server.config.tables import TABLE, TableConfig

WIDTH: Final = 100
HEAD: Final = """\
# The settings of one house, read by `taisai serve --config casino.toml`.
# Nothing secret belongs in here: keys and passphrases have files of their own, passwords the journal's vault.
# Paths start from the folder of this file. Money is in minor units: 500 is 5.00.
"""


def written(given: Mapping[str, Mapping[str, object]], tables: list[Mapping[str, object]]) -> str:
    """The file with these values in it, and every other setting at its default."""
    parts = [HEAD]
    for name, section in SECTIONS.items():
        parts.append("\n".join(_section(f"[{name}]", section, given.get(name, {}))))
    parts += ["\n".join(_section(f"[[{TABLE}]]", TableConfig, one)) for one in tables]
    return "\n".join(parts) + "\n"


def _section(head: str, section: type[Any], given: Mapping[str, object]) -> Iterator[str]:
    assert section.__doc__ is not None  # noqa: S101  every section says what it is
    yield f"# ── {section.__doc__}"
    yield head
    for one in settings_of(section):
        yield from _setting(one, given.get(one.name))
        yield ""


def _setting(one: ServerSetting, value: object) -> Iterator[str]:
    takes = f"{one.says} Takes {one.kind.expected}."
    yield from textwrap.wrap(
        takes, WIDTH, initial_indent="# ", subsequent_indent="# ", break_on_hyphens=False
    )
    if value is not None:
        yield f"{one.name} = {toml(value)}"
    elif one.default is None or (one.default in ([], {}) and one.example is not None):
        yield f"# {one.name} = {toml(one.example)}"
    else:
        yield f"{one.name} = {toml(one.default)}"


def toml(value: object) -> str:
    """A value as TOML writes it."""
    match value:
        case bool():
            return str(value).lower()
        case int() | float():
            return repr(value)
        case str():
            return quoted(value)
        case list():
            return f"[{', '.join(map(toml, value))}]"
        case dict():
            items = ", ".join(f"{name} = {toml(one)}" for name, one in value.items())
            return f"{{ {items} }}" if items else "{}"
        case _:
            raise TypeError(f"expected a value that casino.toml can hold, got {value!r}")


def quoted(text: str) -> str:
    """A text as TOML quotes it."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'

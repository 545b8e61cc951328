"""Writes casino.toml: every setting with its meaning, its kind and its default."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from taisai.server.config.settings import SECTIONS, WITNESS, ServerSetting, WitnessConfig, settings_of
from taisai.server.config.tables import TABLE, TableConfig

WIDTH: Final = 100
HEAD: Final = """\
# The settings of one house, read by `taisai serve --config casino.toml`.
# Write no secrets here: keys and passphrases have files of their own; the journal keeps password hashes.
# Paths start from the folder of this file. Money is in minor units: 500 is 5.00.
"""


def written(given: Mapping[str, Mapping[str, object]], tables: list[Mapping[str, object]]) -> str:
    """The text of a casino.toml with these values, and every other setting at its default."""
    parts = [HEAD]
    for name, section in SECTIONS.items():
        parts.append("\n".join(_section(f"[{name}]", section, given.get(name, {}))))
    parts.append("\n".join(_commented(_section(f"[[{WITNESS}]]", WitnessConfig, {}))))
    parts += ["\n".join(_section(f"[[{TABLE}]]", TableConfig, values)) for values in tables]
    return "\n".join(parts) + "\n"


def _commented(lines: Iterable[str]) -> Iterator[str]:
    """A section that is there only when somebody uncomments it."""
    return (f"# {line}" if line and not line.startswith("#") else line for line in lines)


def _section(head: str, section: type[Any], given: Mapping[str, object]) -> Iterator[str]:
    assert section.__doc__ is not None  # noqa: S101  every section has one
    yield f"# ── {section.__doc__}"
    yield head
    for setting in settings_of(section):
        lines = _setting(setting, given.get(setting.name))
        yield from _commented(lines) if setting.instead in given else lines
        yield ""


def _setting(setting: ServerSetting, value: object) -> Iterator[str]:
    takes = f"{setting.says} Takes {setting.kind.expected}."
    yield from textwrap.wrap(
        takes, WIDTH, initial_indent="# ", subsequent_indent="# ", break_on_hyphens=False
    )
    if value is not None:
        yield f"{setting.name} = {toml(value)}"
    elif setting.default is None or (setting.default in ([], {}) and setting.example is not None):
        yield f"# {setting.name} = {toml(setting.example)}"
    else:
        yield f"{setting.name} = {toml(setting.default)}"


def toml(value: object) -> str:
    match value:
        case bool():
            return str(value).lower()
        case int() | float():
            return repr(value)
        case str():
            escaped = value.replace("\\", "\\\\").replace('"', '\\"')
            return f'"{escaped}"'
        case list():
            return f"[{', '.join(map(toml, value))}]"
        case dict():
            items = ", ".join(f"{name} = {toml(item)}" for name, item in value.items())
            return f"{{ {items} }}" if items else "{}"
        case _:
            raise TypeError(f"expected a value of TOML, got {value!r}")

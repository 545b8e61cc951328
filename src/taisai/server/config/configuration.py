"""casino.toml as a whole: read with every fault reported at once, and written by `taisai init`."""

from __future__ import annotations

import textwrap
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from taisai.cage.values import MOST_SETTING, MOST_SETTINGS
from taisai.game.vocabulary import MOST_ID, folded
from taisai.rules.book import Rulebook
from taisai.rules.errors import MAX_EXPECTED, RulesError, printable
from taisai.rules.toml_reader import quoted_value
from taisai.server.config.kinds import UnexpectedError
from taisai.server.config.settings import (
    SECTIONS,
    AccessConfig,
    ApprovalsConfig,
    FloorConfig,
    HouseConfig,
    JournalConfig,
    ListenConfig,
    LogsConfig,
    ServerSetting,
    SoftwareConfig,
    WatchConfig,
    is_loopback,
    settings_of,
)
from taisai.server.config.tables import MOST_TABLES, TABLE, TableConfig, book_of, faults_of, perhaps


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """Everything that casino.toml says, checked."""

    house: HouseConfig
    journal: JournalConfig
    listen: ListenConfig
    access: AccessConfig
    approvals: ApprovalsConfig
    software: SoftwareConfig
    floor: FloorConfig
    watch: WatchConfig
    logs: LogsConfig
    tables: tuple[TableConfig, ...]
    file: Path
    """Where it was read."""

    def public(self) -> dict[str, str]:
        """The settings that the journal records: nothing secret, and no paths of this machine."""
        told = {
            f"{name}.{one}": value for name in SECTIONS for one, value in _told(name, getattr(self, name))
        }
        for table in self.tables:
            told |= {f"{TABLE}.{table.name}.{one}": value for one, value in _told(TABLE, table)}
            told[f"{TABLE}.{table.name}.rulebook"] = f"{table.book.id} {table.book.digest}"
        return told


def every_setting() -> Iterator[tuple[str, ServerSetting]]:
    """Section and setting of everything that casino.toml takes."""
    for name, section in (SECTIONS | {TABLE: TableConfig}).items():
        for one in settings_of(section):
            yield name, one


def _told(name: str, section: Any) -> Iterator[tuple[str, str]]:
    """What is public of a section; an item of a table such as `groups` has a line of its own."""
    for one in settings_of(SECTIONS.get(name, TableConfig)):
        value = getattr(section, one.name)
        if value is None or not one.kind.is_public:
            continue
        if isinstance(value, dict):
            yield from ((f"{one.name}.{item}", _item(value[item])) for item in sorted(value))
        else:
            yield one.name, one.kind.told(value)


def _item(value: str | tuple[int, int]) -> str:
    return value if isinstance(value, str) else f"{value[0]} to {value[1]}"


MOST_BYTES: Final = 1 << 20  # of casino.toml; one with two hundred tables has a tenth of it
MOST_FAULTS: Final = 100  # that are told; whoever has more has taken another file for this one
_EVERY_ADDRESS: Final = ("0.0.0.0", "::")  # noqa: S104  compared with, not listened at
_WHOLE_FILE: Final = "the whole file"


class ConfigError(RulesError):
    """A configuration that cannot be used; `faults` has one line for each reason."""

    def __init__(self, faults: Iterable[str]) -> None:
        self.faults = tuple(faults)
        super().__init__("\n".join(self.faults))


def load_config(path: str | Path) -> Config:
    """The configuration in a file, or a ConfigError that tells all of its faults."""
    path = Path(path)
    try:
        with path.open("rb") as opened:
            content = opened.read(MOST_BYTES + 1)
    except (OSError, ValueError) as error:  # a ValueError: no file can be named so
        why = error.strerror if isinstance(error, OSError) else "no name of a file"
        told = f"expected a configuration, got {printable(repr(str(path)))}: {why}; `taisai init` writes one"
        raise ConfigError([told]) from None
    if len(content) > MOST_BYTES:
        raise ConfigError([_fault(path, _WHOLE_FILE, f"expected at most {MOST_BYTES} bytes, got more")])
    try:
        data = tomllib.loads(content.decode("utf-8-sig"))
    except RecursionError:
        raise ConfigError([_fault(path, _WHOLE_FILE, "expected TOML, got it nested too deeply")]) from None
    except ValueError as error:  # also bytes that are no UTF-8, and a number of thousands of digits
        raise ConfigError([_fault(path, _WHOLE_FILE, f"expected TOML in UTF-8, got {error}")]) from None
    return read_config(data, path)


def read_config(data: Mapping[str, Any], file: Path) -> Config:
    """The configuration in what was read as TOML; `file` is where, and paths start from its folder."""
    reading = _Reading(data, file)
    config = reading.config()
    if config is not None:
        reading.check_recorded(config.public())
    if config is None or reading.faults:
        raise ConfigError(reading.faults[:MOST_FAULTS])
    return config


class _Reading:
    """One reading of a file, with the faults found so far."""

    def __init__(self, data: Mapping[str, Any], file: Path) -> None:
        self._data = data
        self._file = file
        self._books: dict[str, Rulebook] = {}
        self.faults: list[str] = []

    def config(self) -> Config | None:
        """The configuration; nothing where there are faults."""
        known = [*SECTIONS, TABLE]
        for name in self._data:
            if name not in known:
                self._unknown(name, name, known, "sections")
        read = {name: self._section(name, section) for name, section in SECTIONS.items()}
        self._check_listen(read["listen"])
        tables = self._tables()
        if self.faults:
            return None
        made = {name: section(**read[name]) for name, section in SECTIONS.items()}
        return Config(**made, tables=tuple(TableConfig(**one) for one in tables), file=self._file)

    def check_recorded(self, told: Mapping[str, str]) -> None:
        """The journal takes so many settings, each so long."""
        if len(told) > MOST_SETTINGS:
            says = f"expected at most {MOST_SETTINGS} settings for the journal to record, got {len(told)}"
            self._add(_WHOLE_FILE, says)
        for key, value in told.items():
            if len(value) > MOST_SETTING:
                self._add(key, f"expected at most {MOST_SETTING} characters, got {len(value)}")
            if len(key) > MOST_ID:
                self._add(key, f"expected at most {MOST_ID} characters as the whole name, got {len(key)}")

    def _section(self, name: str, section: type[Any]) -> dict[str, Any]:
        given = self._data.get(name, {})
        if not isinstance(given, dict):
            self._add(name, f"expected a table [{name}], got {quoted_value(given)}")
            given = {}
        return self._values(name, section, given)

    def _values(self, place: str, section: type[Any], given: Mapping[str, Any]) -> dict[str, Any]:
        """The settings of a section that could be read, defaults included."""
        listed = {one.name: one for one in settings_of(section)}
        for name in given:
            if name not in listed:
                self._unknown(f"{place}.{name}", name, listed, "settings")
        values: dict[str, Any] = {}
        for name, one in listed.items():
            raw = given.get(name, one.default)
            try:
                if raw is not None:
                    values[name] = one.kind.read(raw, self._file.parent)
                elif one.required:
                    self._add(f"{place}.{name}", f"expected {one.kind.expected}, got nothing")
                else:
                    values[name] = None
            except UnexpectedError as error:
                self._add(f"{place}.{name}", str(error))
        return values

    def _check_listen(self, listen: Mapping[str, Any]) -> None:
        certificate, key = listen.get("tls_certificate"), listen.get("tls_key")
        has_both = {"tls_certificate", "tls_key"} <= listen.keys()
        if has_both and (certificate is None) != (key is None):
            missing, there = ("key", "certificate") if key is None else ("certificate", "key")
            self._add(f"listen.tls_{missing}", f"expected tls_{missing} beside tls_{there}, got nothing")
        host, proxy = listen.get("host"), listen.get("behind_proxy")
        if host is None or proxy is None or not has_both:
            return
        if not (is_loopback(host) or proxy or certificate or key):
            why = "or behind_proxy = true where a proxy keeps the TLS"
            says = f"expected tls_certificate and tls_key where others can connect, {why}"
            self._add("listen.host", f"{says}, got {host!r} without")
        if (proxy or host in _EVERY_ADDRESS) and listen.get("origins") == ():
            where = "behind a proxy" if proxy else f"at {host}"
            says = f"expected the addresses under which browsers reach the floor, since it listens {where}"
            self._add("listen.origins", f"{says}, got an empty list")

    def _tables(self) -> list[dict[str, Any]]:
        given = self._data.get(TABLE, [])
        if not isinstance(given, list) or len(given) > MOST_TABLES:
            got = f"{len(given)}" if isinstance(given, list) else quoted_value(given)
            self._add(TABLE, f"expected at most {MOST_TABLES} tables, each after [[{TABLE}]], got {got}")
            return []
        names: dict[str, str] = {}
        return [self._table(f"{TABLE}[{number}]", one, names) for number, one in enumerate(given, 1)]

    def _table(self, place: str, given: object, names: dict[str, str]) -> dict[str, Any]:
        if not isinstance(given, dict):
            self._add(place, f"expected a table after [[{TABLE}]], got {quoted_value(given)}")
            return {}
        values = self._values(place, TableConfig, given)
        if name := values.get("name"):
            if folded(name) in names:
                first = names[folded(name)]
                self._add(f"{place}.name", f"expected each name once, got {name!r}, which {first} has")
            names.setdefault(folded(name), place)
        if "rulebook" in values:
            try:
                values["book"] = book_of(values, self._books)
            except RulesError as error:
                self._add(f"{place}.rulebook", str(error))
            else:
                for key, says in faults_of(values["book"], values):
                    self._add(f"{place}.{key}", says)
        return values

    def _unknown(self, place: str, name: str, known: Iterable[str], what: str) -> None:
        names = list(known)
        says = f"expected one of the {what} {', '.join(names)}, got the unknown {name!r}"
        self._add(place, f"{says}{perhaps(name, names)}")

    def _add(self, key: str, says: str) -> None:
        self.faults.append(_fault(self._file, key, says))


def _fault(file: Path, key: str, says: str) -> str:
    return f"{printable(says, MAX_EXPECTED)} ({printable(file.name)}, {printable(key)})"


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

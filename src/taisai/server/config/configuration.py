"""casino.toml as a whole: read with every fault reported at once, and written by `taisai init`."""

from __future__ import annotations

import datetime
import os
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from taisai.cage.values import MOST_SETTING, MOST_SETTINGS
from taisai.game.vocabulary import MOST_ID, folded
from taisai.rules.book import Rulebook
from taisai.rules.errors import MAX_EXPECTED, RulesError, printable
from taisai.server.config.kinds import PathKind, RulebookKind
from taisai.server.config.settings import (
    MOST_WITNESSES,
    SECTIONS,
    WITNESS,
    AccessConfig,
    AlarmsConfig,
    ApprovalsConfig,
    CageConfig,
    FloorConfig,
    HouseConfig,
    JournalConfig,
    ListenConfig,
    LogsConfig,
    ServerSetting,
    SoftwareConfig,
    WatchConfig,
    WitnessConfig,
    is_loopback,
    settings_of,
)
from taisai.server.config.tables import (
    MOST_TABLES,
    TABLE,
    TableConfig,
    editions_of,
    faults_of,
    fitting,
    suggestion,
)
from taisai.validation import InvalidValueError, quoted


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """The checked settings of casino.toml."""

    house: HouseConfig
    journal: JournalConfig
    listen: ListenConfig
    access: AccessConfig
    approvals: ApprovalsConfig
    software: SoftwareConfig
    floor: FloorConfig
    cage: CageConfig
    watch: WatchConfig
    alarms: AlarmsConfig
    logs: LogsConfig
    tables: tuple[TableConfig, ...]
    witnesses: tuple[WitnessConfig, ...] = ()
    file: Path

    def public(self) -> dict[str, str]:
        """The settings that the journal records: no secrets, and no paths of this machine."""
        recorded = {
            f"{name}.{key}": value
            for name, section in SECTIONS.items()
            for key, value in _recorded(section, getattr(self, name))
        }
        for table in self.tables:
            place = f"{TABLE}.{table.name}"
            recorded |= {f"{place}.{key}": value for key, value in _recorded(TableConfig, table)}
            recorded[f"{place}.rulebook"] = f"{table.book.id} {table.book.digest}"
        for number, witness in enumerate(self.witnesses, 1):
            place = f"{WITNESS}.{number}"
            recorded |= {f"{place}.{key}": value for key, value in _recorded(WitnessConfig, witness)}
            if witness.file is not None:
                recorded[f"{place}.file"] = _digest_of_path(witness.file)
        if self.journal.checkpoints is not None:
            recorded["journal.checkpoints"] = _digest_of_path(self.journal.checkpoints)
        if self.journal.database is not None:
            recorded["journal.database"] = _digest_of(self.journal.database)
        recorded["listen.tls"] = _as_recorded(self.listen.tls_key is not None)
        return recorded


def _digest_of_path(path: Path) -> str:
    """What shows that a path is another one, and not which it is."""
    return _digest_of(os.path.realpath(path))


def _digest_of(place: str) -> str:
    return sha256(place.encode()).hexdigest()[:16]


def every_setting() -> Iterator[tuple[str, ServerSetting]]:
    """Section and setting of everything that casino.toml takes."""
    for name, section in (SECTIONS | {WITNESS: WitnessConfig, TABLE: TableConfig}).items():
        for setting in settings_of(section):
            yield name, setting


def _recorded(section: type[Any], values: object) -> Iterator[tuple[str, str]]:
    """The public settings of a section; each item of a table such as `groups` is one."""
    for setting in settings_of(section):
        value = getattr(values, setting.name)
        if value is None or not setting.is_public:
            continue
        if isinstance(value, dict):
            yield from ((f"{setting.name}.{item}", _as_recorded(value[item])) for item in sorted(value))
        else:
            yield setting.name, _as_recorded(value)


def _as_recorded(value: object) -> str:
    match value:
        case bool():
            return str(value).lower()
        case datetime.time():
            return value.strftime("%H:%M")
        case (int() as least, int() as most):
            return f"{least} to {most}"
        case tuple():
            return ", ".join(value)
        case _:
            return str(value)


MOST_BYTES: Final = 1 << 20  # of casino.toml; a file with two hundred tables has a tenth of it
MOST_FAULTS: Final = 100  # that are reported; a file with more is probably not a casino.toml
_EVERY_ADDRESS: Final = ("0.0.0.0", "::")  # noqa: S104  compared with, not listened on
_PLURALS: Final = {TABLE: "tables", WITNESS: "witnesses"}
_WHOLE_FILE: Final = "the whole file"


class ConfigError(RulesError):
    """An invalid configuration; `faults` has one line for each fault."""

    def __init__(self, faults: Iterable[str]) -> None:
        self.faults = tuple(faults)
        super().__init__("\n".join(self.faults))


def load_config(path: str | Path) -> Config:
    """The configuration in a file; a ConfigError lists all of its faults."""
    path = Path(path)
    try:
        with path.open("rb") as opened:
            content = opened.read(MOST_BYTES + 1)
    except (OSError, ValueError) as error:  # a ValueError: the path is not valid
        why = error.strerror if isinstance(error, OSError) else "not a file name"
        message = f"cannot read the configuration {quoted(str(path))}: {why}; `taisai init` writes one"
        raise ConfigError([message]) from None
    if len(content) > MOST_BYTES:
        raise ConfigError(
            [_fault(path, _WHOLE_FILE, f"the file is too large: expected at most {MOST_BYTES} bytes")]
        )
    try:
        data = tomllib.loads(content.decode("utf-8-sig"))
    except RecursionError:
        raise ConfigError([_fault(path, _WHOLE_FILE, "invalid TOML: nested too deeply")]) from None
    except ValueError as error:  # also invalid UTF-8, and a number of thousands of digits
        raise ConfigError([_fault(path, _WHOLE_FILE, f"invalid TOML: {error}")]) from None
    return read_config(data, path)


def read_config(data: Mapping[str, Any], file: Path) -> Config:
    """The configuration in parsed TOML; paths start from the folder of `file`."""
    reading = _Reading(data, file)
    config = reading.config()
    if config is not None:
        reading.check_recorded(config.public())
    if config is None or reading.faults:
        raise ConfigError(reading.faults[:MOST_FAULTS])
    return config


class _Reading:
    """Reads one file and collects its faults."""

    def __init__(self, data: Mapping[str, Any], file: Path) -> None:
        self._data = data
        self._file = file
        self._books: dict[str, tuple[Rulebook, ...]] = {}
        self.faults: list[str] = []

    def config(self) -> Config | None:
        """The configuration; None if there are faults."""
        known = [*SECTIONS, WITNESS, TABLE]
        for name in self._data:
            if name not in known:
                self._unknown(name, name, known, "sections")
        read = {name: self._section(name, section) for name, section in SECTIONS.items()}
        self._check_listen(read["listen"])
        self._check_alarms(read["alarms"])
        witnesses = self._items(WITNESS, MOST_WITNESSES, self._witness)
        tables = self._tables()
        if self.faults:
            return None
        sections = {name: section(**read[name]) for name, section in SECTIONS.items()}
        return Config(
            **sections,
            witnesses=tuple(WitnessConfig(**values) for values in witnesses),
            tables=tuple(TableConfig(**values) for values in tables),
            file=self._file,
        )

    def check_recorded(self, recorded: Mapping[str, str]) -> None:
        """Checks the number and the length of the settings that the journal records."""
        if len(recorded) > MOST_SETTINGS:
            message = (
                f"expected at most {MOST_SETTINGS} settings to record in the journal, got {len(recorded)}"
            )
            self._add(_WHOLE_FILE, message)
        for key, value in recorded.items():
            if len(value) > MOST_SETTING:
                self._add(key, f"expected at most {MOST_SETTING} characters, got {len(value)}")
            if len(key) > MOST_ID:
                self._add(key, f"expected at most {MOST_ID} characters in the full name, got {len(key)}")

    def _section(self, name: str, section: type[Any]) -> dict[str, Any]:
        given = self._data.get(name, {})
        if not isinstance(given, dict):
            self._add(name, f"expected a table [{name}], got {quoted(given)}")
            given = {}
        return self._values(name, section, given)

    def _values(self, place: str, section: type[Any], given: Mapping[str, Any]) -> dict[str, Any]:
        settings = {setting.name: setting for setting in settings_of(section)}
        for name in given:
            if name not in settings:
                self._unknown(f"{place}.{name}", name, settings, "settings")
        values: dict[str, Any] = {}
        for name, setting in settings.items():
            raw, kind = given.get(name, setting.default), setting.kind
            if setting.instead in given:
                raw = None
            if raw is None and not setting.required:
                values[name] = None
                continue
            if isinstance(kind, PathKind | RulebookKind):
                kind = kind.within(self._file.parent)
            try:
                values[name] = kind.check(raw)
            except InvalidValueError as error:
                self._add(f"{place}.{name}", str(error))
        for name, setting in settings.items():
            if name in given and values.get(setting.instead) is not None:
                self._add(f"{place}.{name}", f"expected either {name} or {setting.instead}, got both")
        return values

    def _check_listen(self, listen: Mapping[str, Any]) -> None:
        certificate, key = listen.get("tls_certificate"), listen.get("tls_key")
        has_both = {"tls_certificate", "tls_key"} <= listen.keys()
        if has_both and (certificate is None) != (key is None):
            missing, given = ("key", "certificate") if key is None else ("certificate", "key")
            self._add(f"listen.tls_{missing}", f"missing tls_{missing}: tls_{given} needs it")
        host, proxy = listen.get("host"), listen.get("behind_proxy")
        if host is None or proxy is None or not has_both:
            return
        if not (is_loopback(host) or certificate or key):
            expected = "tls_certificate and tls_key for an address that other machines can reach"
            proxied = "or 127.0.0.1 behind a proxy on this machine"
            self._add("listen.host", f"expected {expected}, {proxied}, got {host!r} without TLS")
        plain = [origin for origin in listen.get("origins") or () if _is_plain(origin)]
        if plain:
            self._add("listen.origins", f"expected https:// for other machines, got {plain[0]!r}")
        if (proxy or host in _EVERY_ADDRESS) and listen.get("origins") == ():
            where = "behind a proxy" if proxy else f"on {host}"
            expected = f"the addresses that browsers use, because the server listens {where}"
            self._add("listen.origins", f"expected {expected}, got an empty list")

    def _check_alarms(self, alarms: Mapping[str, Any]) -> None:
        low, full = alarms.get("disk_low_mb"), alarms.get("disk_full_mb")
        if low is not None and full is not None and full > low:
            self._add("alarms.disk_full_mb", f"expected at most disk_low_mb, which is {low}, got {full}")

    def _tables(self) -> list[dict[str, Any]]:
        names: dict[str, str] = {}
        return self._items(TABLE, MOST_TABLES, lambda place, given: self._table(place, given, names))

    def _items(
        self, name: str, most: int, read: Callable[[str, Mapping[str, Any]], dict[str, Any]]
    ) -> list[dict[str, Any]]:
        """The items of a list such as [[table]]."""
        given = self._data.get(name, [])
        if not isinstance(given, list) or len(given) > most:
            got = f"{len(given)}" if isinstance(given, list) else quoted(given)
            self._add(name, f"expected at most {most} {_PLURALS[name]}, each after [[{name}]], got {got}")
            return []
        items = []
        for number, item in enumerate(given, 1):
            place = f"{name}[{number}]"
            if isinstance(item, dict):
                items.append(read(place, item))
            else:
                self._add(place, f"expected a table after [[{name}]], got {quoted(item)}")
        return items

    def _witness(self, place: str, given: Mapping[str, Any]) -> dict[str, Any]:
        values = self._values(place, WitnessConfig, given)
        if (values.get("url") is None) is (values.get("file") is None):
            has = "both" if values.get("file") is not None else "neither"
            if {"url", "file"} <= values.keys():  # else a fault of the value is reported
                self._add(place, f"expected either url or file, got {has}")
        elif values.get("url") is not None and "key" in values and values["key"] is None:
            self._add(
                f"{place}.key", "expected the public key of the witness at url, but the section has no key"
            )
        return values

    def _table(self, place: str, given: Mapping[str, Any], names: dict[str, str]) -> dict[str, Any]:
        values = self._values(place, TableConfig, given)
        if name := values.get("name"):
            if folded(name) in names:
                first = names[folded(name)]
                self._add(f"{place}.name", f"expected each name once, got {name!r}, which {first} has")
            names.setdefault(folded(name), place)
        if "rulebook" in values:
            try:
                values["editions"] = editions_of(values, self._books)
            except RulesError as error:
                self._add(f"{place}.rulebook", str(error))
            else:
                values["book"] = fitting(values["editions"], values)
                for key, message in faults_of(values["book"], values):
                    self._add(f"{place}.{key}", message)
        return values

    def _unknown(self, place: str, name: str, known: Iterable[str], what: str) -> None:
        names = list(known)
        message = f"unknown {name!r}: expected one of the {what} {', '.join(names)}"
        self._add(place, f"{message}{suggestion(name, names)}")

    def _add(self, key: str, message: str) -> None:
        self.faults.append(_fault(self._file, key, message))


def _is_plain(origin: str) -> bool:
    """Whether pages at an origin reach other machines without TLS."""
    return origin.startswith("http://") and not is_loopback(urlsplit(origin).hostname or "")


def _fault(file: Path, key: str, message: str) -> str:
    return f"{printable(message, MAX_EXPECTED)} ({printable(file.name)}, {printable(key)})"

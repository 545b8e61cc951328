"""The kinds of values that settings of casino.toml take, beside those of `taisai.validation`."""

from __future__ import annotations

import datetime
import ipaddress
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Final
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo

from msgspec import Meta, convert

from taisai.game.vocabulary import MOST_ID, is_name
from taisai.journal.errors import JournalError
from taisai.journal.seals.keys import KeysError, WitnessKey
from taisai.journal.stores.database_urls import database_journal, is_database, without_password
from taisai.validation import InvalidValueError, ValueKind, passing, quoted, text

MOST_PATH: Final = 1_000  # characters of a path; systems take some thousand
MOST_ENTRIES: Final = 200  # of a list, or of a table such as `groups`; the largest layout has 104 areas
_LABEL: Final = r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
_HOST: Final = re.compile(rf"{_LABEL}(?:\.{_LABEL}){{0,9}}")
_ORIGIN: Final = re.compile(
    rf"(?:https?)://(?:{_LABEL}(?:\.{_LABEL}){{0,9}}|\[[0-9a-f:.]{{2,45}}\])(?::[1-9][0-9]{{0,4}})?"
)

CURRENCY: Final = text("a currency of three capital letters, such as 'SGD'", r"[A-Z]{3}")
TABLE_NAME: Final = text(
    "a table name of 1 to 24 letters, digits, dots, hyphens or underscores, such as 'SB1'",
    r"[A-Za-z0-9][A-Za-z0-9._-]{0,23}",
)
DIGEST: Final = text("'sha256:' and 64 hexadecimal digits in lower case", r"sha256:[0-9a-f]{64}")
LAYOUT: Final = text("the id of a layout of the rulebook, such as 'A'", r"[A-Za-z0-9-]{1,40}")


def _zone(value: Any) -> ZoneInfo:
    if type(value) is not str or not 0 < len(value) <= MOST_ID or not value.isascii():
        raise ValueError
    try:
        return ZoneInfo(value)
    except (OSError, KeyError):  # a folder of zones; an unknown zone
        raise ValueError from None


ZONE: Final = ValueKind("a time zone such as 'Asia/Singapore'", _zone)


def _time(value: Any) -> datetime.time:
    match = re.fullmatch(r"([01][0-9]|2[0-3]):([0-5][0-9])", value)
    if match is None:
        raise ValueError
    return datetime.time(int(match[1]), int(match[2]))


TIME: Final = ValueKind("a time of day such as '06:00'", _time)


def is_address(host: str) -> bool:
    """Whether a host is an IP address, not a name."""
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def _is_host(value: object) -> bool:
    """An address or a name; four numbers with dots that are no address are a typing mistake."""
    if not isinstance(value, str):
        return False
    is_host_name = _HOST.fullmatch(value) is not None and not value.rpartition(".")[2].isdigit()
    return is_address(value) or is_host_name


HOST: Final[ValueKind[str]] = passing("an IP address or a host name, such as '127.0.0.1'", _is_host)


def _witness_url(value: Any) -> str:
    parts = urlsplit(value) if type(value) is str and len(value) <= MOST_PATH and value.isascii() else None
    if parts is None or not value.isprintable() or parts.query or parts.fragment or "@" in parts.netloc:
        raise ValueError
    host = parts.hostname or ""
    is_here = host == "localhost" or (is_address(host) and ipaddress.ip_address(host).is_loopback)
    if not _is_host(host) or not (parts.scheme == "https" or (parts.scheme == "http" and is_here)):
        raise ValueError
    if parts.port == 0:
        raise ValueError
    return str(value)


def _witness_key(value: Any) -> str:
    if type(value) is not str:
        raise ValueError
    try:
        return WitnessKey.parse(value).text
    except KeysError as error:
        raise ValueError from error


def _database(value: Any) -> str:
    if type(value) is not str or not is_database(value) or len(value) > MOST_PATH or not value.isprintable():
        raise ValueError
    if without_password(value) != value:
        raise InvalidValueError("a URL without a password, which belongs in a passfile (~/.pgpass)", "one")
    try:
        database_journal(value)
    except JournalError as error:
        raise ValueError from error
    return value


DATABASE: Final = ValueKind(
    "the URL of a PostgreSQL database, '#' and the name of the journal, such as 'postgresql:///taisai#house'",
    _database,
)
WITNESS_URL: Final = ValueKind(
    "an address such as 'https://witness.example/taisai'; http only of this machine (127.0.0.1, localhost)",
    _witness_url,
)
WITNESS_KEY: Final = ValueKind(
    "the public key of a witness, such as 'witness.example/w1+c8b74c6c+BNzF…'", _witness_key
)


def _each_once(expected: str, is_valid: Callable[[str], object], least: int) -> ValueKind[tuple[str, ...]]:
    """A list of texts; repetitions are dropped."""
    type_ = Annotated[list[str], Meta(min_length=least, max_length=MOST_ENTRIES)]

    def parse(value: object) -> tuple[str, ...]:
        for item in value if isinstance(value, list) and len(value) <= MOST_ENTRIES else ():
            if not isinstance(item, str) or not is_valid(item):
                raise InvalidValueError(expected, quoted(item))
        return tuple(dict.fromkeys(convert(value, type_)))

    return ValueKind(expected, parse)


ORIGINS: Final = _each_once(
    "a list of addresses such as 'https://floor.example', without path or capital letters",
    lambda origin: _ORIGIN.fullmatch(origin) and origin == origin.lower(),
    least=0,
)


def _is_network(value: str) -> bool:
    """An address or a network, but not the network of all addresses."""
    try:
        return ipaddress.ip_network(value).prefixlen > 0
    except ValueError:
        return False


NETWORKS: Final = _each_once(
    "a list of IP addresses or networks such as '10.0.0.7' or '10.0.0.0/28'", _is_network, least=1
)


def _is_path(value: object) -> bool:
    return type(value) is str and 0 < len(value) <= MOST_PATH and value.isprintable()


class PathKind(ValueKind[Path]):
    """A file or a folder. A relative path starts from the folder of casino.toml."""

    def __init__(
        self, what: str, *, exists: bool, is_quoted: bool = True, folder: Path | None = None
    ) -> None:
        """`is_quoted` is false where somebody might write a secret in place of its file."""
        self._what, self._exists, self._is_quoted, self._folder = what, exists, is_quoted, folder
        super().__init__(f"{what} that exists" if exists else what, self._path)

    def within(self, folder: Path) -> PathKind:
        """The same kind, with relative paths from a folder."""
        return PathKind(self._what, exists=self._exists, is_quoted=self._is_quoted, folder=folder)

    def _path(self, value: Any) -> Path:
        if not _is_path(value):
            raise InvalidValueError(f"the path of {self.expected}", self._shown(value))
        path: Path = (self._folder or Path()) / value
        if self._exists and not os.path.isfile(path):  # noqa: PTH113  a name that is too long is no file either
            found = "not a file:" if os.path.exists(path) else "no file"  # noqa: PTH110
            raise InvalidValueError(self.expected, f"{found} {self._shown(value)}")
        return path

    def _shown(self, value: object) -> str:
        return quoted(value) if self._is_quoted else "of the given name"


class RulebookKind(ValueKind[str]):
    """A rulebook's id, or a TOML file by its path; read with the table that it belongs to."""

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder or Path()
        super().__init__("a rulebook's id (`taisai rules list`), or the path of a TOML file", self._name)

    def within(self, folder: Path) -> RulebookKind:
        return RulebookKind(folder)

    def _name(self, value: Any) -> str:
        if not _is_path(value):
            raise ValueError
        return str(self._folder / value) if value.endswith(".toml") else value


def words_table(expected: str) -> ValueKind[dict[str, str]]:
    """A table of name → word, such as the settings of a rulebook; a whole number counts as a word."""

    def parse(value: object) -> dict[str, str]:
        table: dict[str, object] = convert(value, Annotated[dict[str, Any], Meta(max_length=MOST_ENTRIES)])
        for name, word in table.items():
            if type(word) not in (str, int) or not is_name(str(word)):
                raise InvalidValueError(expected, f"{name} = {quoted(word)}")
        return {name: str(word) for name, word in table.items()}

    return ValueKind(expected, parse)


def _pairs(value: Any) -> dict[str, tuple[int, int]]:
    for name, pair in value.items() if isinstance(value, dict) and len(value) <= MOST_ENTRIES else ():
        if type(pair) is not list or [type(bound) for bound in pair] != [int, int]:
            raise InvalidValueError(PAIRS.expected, f"{name} = {quoted(pair)}")
    type_ = Annotated[dict[str, tuple[int, int]], Meta(max_length=MOST_ENTRIES)]
    pairs: dict[str, tuple[int, int]] = convert(value, type_)
    return pairs


PAIRS: Final = ValueKind("a table of least and most, such as { triple = [100, 5000] }", _pairs)

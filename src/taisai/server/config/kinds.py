"""Kinds of settings: what each takes from the file, what it says it expects, how it is told."""

from __future__ import annotations

import datetime
import ipaddress
import os
import re
from abc import ABC, abstractmethod
from enum import StrEnum
from pathlib import Path
from typing import Final, Generic, TypeVar
from zoneinfo import ZoneInfo

from taisai.game.vocabulary import MOST_ID, is_name
from taisai.rules.toml_reader import quoted_value

T = TypeVar("T")
Word = TypeVar("Word", bound=StrEnum)

MOST_PATH: Final = 1_000  # characters of a path; systems take some thousand
MOST_ENTRIES: Final = 200  # of a list, or of a table such as `groups`; the largest layout has 104 areas
_CURRENCY: Final = re.compile(r"[A-Z]{3}")
_TIME: Final = re.compile(r"([01][0-9]|2[0-3]):([0-5][0-9])")
_TABLE: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,23}")
_DIGEST: Final = re.compile(r"sha256:[0-9a-f]{64}")
_LABEL: Final = r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
_HOST: Final = re.compile(rf"{_LABEL}(?:\.{_LABEL}){{0,9}}")
_ORIGIN: Final = re.compile(
    rf"(?:https?)://(?:{_LABEL}(?:\.{_LABEL}){{0,9}}|\[[0-9a-f:.]{{2,45}}\])(?::[1-9][0-9]{{0,4}})?"
)


class UnexpectedError(ValueError):
    """A value of another kind: what was expected, and what was got instead."""

    def __init__(self, expected: str, got: str) -> None:
        self.expected, self.got = expected, got
        super().__init__(f"expected {expected}, got {got}")


class SettingKind(ABC, Generic[T]):
    """What a setting takes."""

    expected: str
    """What it takes, in words."""
    is_public = True
    """Whether its value may be recorded in the journal: a path says how a machine is set up, so it is not."""

    @abstractmethod
    def read(self, value: object, folder: Path) -> T:
        """The value behind what stands in the file; `folder` is where the file lies."""

    def told(self, value: T) -> str:
        """The value as the journal records it."""
        return str(value)

    def unexpected(self, value: object) -> UnexpectedError:
        """The fault of a value that is not of this kind."""
        return UnexpectedError(self.expected, quoted_value(value))


class TextKind(SettingKind[str]):
    """A text of a certain form."""

    def __init__(self, expected: str, pattern: re.Pattern[str]) -> None:
        self.expected, self._pattern = expected, pattern

    def read(self, value: object, folder: Path) -> str:  # noqa: ARG002
        """The text, if it has the form."""
        if type(value) is str and self._pattern.fullmatch(value):
            return value
        raise self.unexpected(value)


CURRENCY: Final = TextKind("a currency of three capital letters, such as 'SGD'", _CURRENCY)
TABLE_NAME: Final = TextKind(
    "a table's name of 1 to 24 letters, digits, dots, hyphens or underscores, such as 'SB1'", _TABLE
)
DIGEST: Final = TextKind("'sha256:' and 64 hexadecimal digits in small letters", _DIGEST)
LAYOUT: Final = TextKind("the id of a layout of the rulebook, such as 'A'", re.compile(r"[A-Za-z0-9-]{1,40}"))


class NameKind(SettingKind[str]):
    """What something is called."""

    expected = f"a name of 1 to {MOST_ID} printable characters, no blank at either end"

    def read(self, value: object, folder: Path) -> str:  # noqa: ARG002
        """The name."""
        if isinstance(value, str) and is_name(value):
            return value
        raise self.unexpected(value)


class ZoneKind(SettingKind[ZoneInfo]):
    """A time zone by its IANA name."""

    expected = "a time zone such as 'Asia/Singapore'"

    def read(self, value: object, folder: Path) -> ZoneInfo:  # noqa: ARG002
        """The zone, if the data on zones have it."""
        if type(value) is str and 0 < len(value) <= MOST_ID and value.isascii():
            try:
                return ZoneInfo(value)
            except (ValueError, OSError, KeyError):  # no zone, a folder of zones, no name of a file
                pass
        raise self.unexpected(value)


class TimeKind(SettingKind[datetime.time]):
    """A time of the day, to the minute."""

    expected = "a time of the day such as '06:00'"

    def read(self, value: object, folder: Path) -> datetime.time:  # noqa: ARG002
        """The time."""
        match = _TIME.fullmatch(value) if isinstance(value, str) else None
        if match is None:
            raise self.unexpected(value)
        return datetime.time(int(match[1]), int(match[2]))

    def told(self, value: datetime.time) -> str:
        """The time as a clock shows it."""
        return value.strftime("%H:%M")


class WholeKind(SettingKind[int]):
    """A whole number within bounds."""

    def __init__(self, least: int, most: int, unit: str = "") -> None:
        self.least, self.most = least, most
        self.expected = f"a whole number{unit and ' of ' + unit} from {least} to {most}"

    def read(self, value: object, folder: Path) -> int:  # noqa: ARG002
        """The number."""
        if type(value) is int and self.least <= value <= self.most:
            return value
        raise self.unexpected(value)


class ShareKind(SettingKind[float]):
    """A number above zero, up to a bound."""

    def __init__(self, least: float, most: float) -> None:
        self._least, self._most = least, most
        self.expected = f"a number from {least} to {most}"

    def read(self, value: object, folder: Path) -> float:  # noqa: ARG002
        """The number; neither infinity nor NaN is within the bounds."""
        if type(value) in (int, float) and self._least <= value <= self._most:  # type: ignore[operator]
            return float(value)  # type: ignore[arg-type]
        raise self.unexpected(value)


class FlagKind(SettingKind[bool]):
    """True or false."""

    expected = "true or false"

    def read(self, value: object, folder: Path) -> bool:  # noqa: ARG002
        """The flag."""
        if type(value) is bool:
            return value
        raise self.unexpected(value)

    def told(self, value: bool) -> str:  # noqa: FBT001
        """As TOML spells it."""
        return str(value).lower()


class ChoiceKind(SettingKind[Word]):
    """One of a closed list of words."""

    def __init__(self, words: type[Word]) -> None:
        self._words = words
        self.expected = f"one of {', '.join(repr(str(word)) for word in words)}"

    def read(self, value: object, folder: Path) -> Word:  # noqa: ARG002
        """The word."""
        if type(value) is str and value in set(self._words):
            return self._words(value)
        raise self.unexpected(value)


class HostKind(SettingKind[str]):
    """An address of this machine to listen at."""

    expected = "an IP address or a host's name, such as '127.0.0.1'"

    def read(self, value: object, folder: Path) -> str:  # noqa: ARG002
        """The host."""
        if isinstance(value, str) and (is_address(value) or _is_host_name(value)):
            return value
        raise self.unexpected(value)


class OriginsKind(SettingKind[tuple[str, ...]]):
    """The addresses of pages that may talk to the floor, as browsers write them."""

    expected = "a list of addresses such as 'https://floor.example', no path and no capital letters"

    def read(self, value: object, folder: Path) -> tuple[str, ...]:  # noqa: ARG002
        """The addresses, each once."""
        if type(value) is not list or len(value) > MOST_ENTRIES:
            raise self.unexpected(value)
        for one in value:
            if type(one) is not str or not _ORIGIN.fullmatch(one) or one != one.lower():
                raise UnexpectedError(self.expected, quoted_value(one))
        return tuple(dict.fromkeys(value))

    def told(self, value: tuple[str, ...]) -> str:
        """One after the other."""
        return ", ".join(value)


class AddressesKind(SettingKind[tuple[str, ...]]):
    """Machines by their addresses, one by one or by networks."""

    expected = "a list of IP addresses or networks such as '10.0.0.7' or '10.0.0.0/28'"

    def read(self, value: object, folder: Path) -> tuple[str, ...]:  # noqa: ARG002
        """The addresses, each once; at least one, and never every one there is."""
        if type(value) is not list or not 0 < len(value) <= MOST_ENTRIES:
            raise self.unexpected(value)
        for one in value:
            if type(one) is not str or not _is_network(one):
                raise UnexpectedError(self.expected, quoted_value(one))
        return tuple(dict.fromkeys(value))

    def told(self, value: tuple[str, ...]) -> str:
        """One after the other."""
        return ", ".join(value)


class PathKind(SettingKind[Path]):
    """A file or a folder; a relative path is one from where the configuration lies."""

    is_public = False

    def __init__(self, what: str, *, exists: bool, quoted: bool = True) -> None:
        """`quoted` is false where a secret might stand by mistake in place of its file."""
        self._exists, self._quoted = exists, quoted
        self.expected = f"{what} that is there" if exists else what

    def read(self, value: object, folder: Path) -> Path:
        """The path, made whole; where something must be there, it is."""
        if type(value) is not str or not 0 < len(value) <= MOST_PATH or not value.isprintable():
            raise UnexpectedError(f"the path of {self.expected}", self._shown(value))
        path = folder / value
        if self._exists and not os.path.isfile(path):  # noqa: PTH113  a name that is too long is no file either
            got = "something else" if os.path.exists(path) else "no file"  # noqa: PTH110
            raise UnexpectedError(self.expected, f"{got} {self._shown(value)}")
        return path

    def _shown(self, value: object) -> str:
        return quoted_value(value) if self._quoted else "of the name given"


class RulebookKind(SettingKind[str]):
    """A rulebook's id, or a TOML file; read with the table that it belongs to."""

    expected = "a rulebook's id (`taisai rules list`), or the path of a TOML file"

    def read(self, value: object, folder: Path) -> str:
        """What can be asked of the rules: an id as it is, a file by its whole path."""
        if type(value) is not str or not 0 < len(value) <= MOST_PATH or not value.isprintable():
            raise self.unexpected(value)
        return str(folder / value) if value.endswith(".toml") else value


class WordsKind(SettingKind[dict[str, str]]):
    """A table of words, such as the settings of a rulebook."""

    def __init__(self, expected: str) -> None:
        self.expected = expected

    def read(self, value: object, folder: Path) -> dict[str, str]:  # noqa: ARG002
        """Name → word; a whole number is taken for the word that it is written as."""
        if type(value) is not dict or len(value) > MOST_ENTRIES:
            raise self.unexpected(value)
        for name, word in value.items():
            if not is_name(str(word)) or type(word) not in (str, int):
                raise UnexpectedError(self.expected, f"{name} = {quoted_value(word)}")
        return {name: str(word) for name, word in value.items()}


class PairsKind(SettingKind[dict[str, tuple[int, int]]]):
    """A table of least and most, such as the limits of groups of areas."""

    expected = "a table of least and most, such as { triple = [100, 5000] }"

    def read(self, value: object, folder: Path) -> dict[str, tuple[int, int]]:  # noqa: ARG002
        """Name → (least, most); whether they make sense is for the limits to say."""
        if type(value) is not dict or len(value) > MOST_ENTRIES:
            raise self.unexpected(value)
        for name, pair in value.items():
            if type(pair) is not list or [type(one) for one in pair] != [int, int]:
                raise UnexpectedError(self.expected, f"{name} = {quoted_value(pair)}")
        return {name: (pair[0], pair[1]) for name, pair in value.items()}


def is_address(host: str) -> bool:
    """Whether a host is given by its number."""
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def _is_network(value: str) -> bool:
    """An address or a network as it is usually written; not all addresses, which would be anybody's."""
    try:
        return ipaddress.ip_network(value).prefixlen > 0
    except ValueError:
        return False


def _is_host_name(value: str) -> bool:
    """A name; four numbers with dots that are no address are a typing mistake, not a name."""
    return _HOST.fullmatch(value) is not None and not value.rpartition(".")[2].isdigit()

"""Entries as bytes and back: one canonical form, whose bytes are hashed, chained, signed and exported."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final, Union

import msgspec
from msgspec import Struct

from taisai.cage.messages import HOUSE_COMMANDS, HOUSE_EVENTS, HouseCommand, HouseEvent
from taisai.game.commands import COMMANDS, Command
from taisai.game.events import EVENTS, Event
from taisai.journal.errors import DamagedError
from taisai.journal.records import RECORDS
from taisai.journal.records import STREAM as JOURNAL
from taisai.rules.errors import printable

FORMAT: Final = 1
"""The version of the format in which entries are written now; older ones are still read."""
MOST_BYTES: Final = 1 << 21  # of one entry: a rulebook of 256 KiB, every character of it escaped
NOTHING_BEFORE: Final = "0" * 64
"""What the first entry has in place of a predecessor's hash."""
HOUSE: Final = "house"
"""The stream of the House."""
_TABLE: Final = "table:"

Place = tuple[int, str, int]
"""Position, stream and version."""
AnyEvent = Event | HouseEvent
AnyCommand = Command | HouseCommand
if TYPE_CHECKING:
    _OneEvent = AnyEvent
    _OneCommand = AnyCommand
else:  # by their tags one decoder knows them all
    _OneEvent = Union[(*EVENTS, *HOUSE_EVENTS, *RECORDS)]
    _OneCommand = Union[(*COMMANDS, *HOUSE_COMMANDS)]

Older = Mapping[int, Mapping[str, Callable[[dict[str, Any]], dict[str, Any]]]]
"""Version → kind of event or command → the same as the next version writes it."""

_OWN, _HOUSE, _PLAY = JOURNAL, HOUSE, _TABLE
_BELONGS: Final[Mapping[Any, str]] = (
    dict.fromkeys(RECORDS, _OWN)
    | dict.fromkeys((*HOUSE_EVENTS, *HOUSE_COMMANDS), _HOUSE)
    | dict.fromkeys((*EVENTS, *COMMANDS), _PLAY)
)
_UNLIKE_AN_ENTRY: Final = (ValueError, LookupError, TypeError, AttributeError)
"""What is met on the way through data that is not made as an entry is."""


class Entry(Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """One line of the journal."""

    position: int
    """Its place in the journal, from 1."""
    previous: str
    """The hash of the entry before it."""
    stream: str
    version: int
    """Its place in its stream, from 1."""
    more: int
    """How many entries of the same decision follow."""
    v: int
    """The version of the format."""
    event: _OneEvent
    asked: _OneCommand | None = None
    """The command that was decided, on the first entry of its decision."""


class _Happened(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, gc=False):
    """The same with the command left as it is written."""

    position: int
    previous: str
    stream: str
    version: int
    more: int
    v: int
    event: _OneEvent
    asked: msgspec.Raw = msgspec.Raw(b"null")


def stream_of(table: str) -> str:
    """The stream of a table."""
    return _TABLE + table


def table_of(stream: str) -> str | None:
    """The table whose stream it is, if it is one."""
    return stream.removeprefix(_TABLE) if stream.startswith(_TABLE) else None


class Codec:
    """Writes entries in one version of the format and reads that one and all before it."""

    def __init__(self, version: int = FORMAT, older: Older | None = None) -> None:
        self.version = version
        self._older: Older = older or {}
        self._encode = msgspec.json.Encoder(order="sorted").encode
        self._decode = msgspec.json.Decoder(Entry).decode
        self._decode_event = msgspec.json.Decoder(_Happened).decode

    def encode(self, entry: Entry) -> bytes:
        """The canonical bytes."""
        return self._encode(entry)

    def decode(self, body: bytes, position: int) -> Entry:
        """The entry, whatever version it was written in; `position` is where it was found."""
        try:
            entry = self._decode(body)
            if entry.v != self.version:
                entry = self._from_older(body, position)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            entry = self._from_older(body, position, error)
        kind = _BELONGS[type(entry.event)]
        if not _belongs(kind, entry.stream) or (entry.asked and kind != _BELONGS[type(entry.asked)]):
            what = printable(entry.stream)
            raise DamagedError(
                position, f"expected an event and a command of the stream {what!r}, got others"
            )
        return entry

    def decode_event(self, body: bytes, position: int) -> tuple[Place, AnyEvent]:
        """What happened, without the command that it came of: most of what a start has to read."""
        try:
            entry: _Happened | Entry = self._decode_event(body)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            entry = self.decode(body, position)
        if entry.v != self.version or not _belongs(_BELONGS[type(entry.event)], entry.stream):
            entry = self.decode(body, position)
        return (entry.position, entry.stream, entry.version), entry.event

    def _from_older(self, body: bytes, position: int, why: Exception | None = None) -> Entry:
        try:
            plain = msgspec.json.decode(body)
            version = plain["v"]
            if type(version) is int and 1 <= version < self.version:
                for step in range(version, self.version):
                    for part in ("event", "asked"):
                        if part in plain:
                            changed = self._older.get(step, {}).get(_kind(plain[part]))
                            plain[part] = changed(plain[part]) if changed else plain[part]
                return msgspec.convert(plain, Entry)
        except (msgspec.DecodeError, RecursionError, *_UNLIKE_AN_ENTRY) as error:
            raise DamagedError(position, f"expected an entry, got something else: {_told(error)}") from None
        if version != self.version:
            expected = f"an entry of format {self.version} or older"
            raise DamagedError(position, f"expected {expected}, got format {printable(str(version))}")
        raise DamagedError(position, f"expected an event that Taisai knows, got another: {_told(why)}")

    def is_canonical(self, entry: Entry, body: bytes) -> bool:
        """Whether the bytes are the one way to write the entry."""
        if entry.v == self.version:
            return self._encode(entry) == body
        plain = json.loads(body)
        return json.dumps(plain, ensure_ascii=False, separators=(",", ":"), sort_keys=True).encode() == body


def _kind(message: Mapping[str, Any]) -> str:
    return str(message.get("event") or message.get("command"))


def _belongs(kind: str, stream: str) -> bool:
    return stream.startswith(_TABLE) if kind == _PLAY else stream == kind


def _told(error: Exception | None) -> str:
    return printable(str(error) or type(error).__name__)

"""Entries of a journal and their bytes.

Each entry has one canonical form in JSON. Its bytes are what is hashed, chained, signed and exported.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Final, Union

import msgspec
from msgspec import UNSET, Struct, UnsetType

from taisai.cage.messages import HOUSE_COMMANDS, HOUSE_EVENTS, HouseCommand, HouseEvent
from taisai.game.commands import COMMANDS, Command
from taisai.game.events import EVENTS, Event
from taisai.journal.errors import DamagedError
from taisai.rules.clauses import Clause
from taisai.rules.errors import printable

FORMAT: Final = 2
"""The version of the format that is written. Older versions can be read. Release 1.0 closes version 2."""
MOST_BYTES: Final = 1 << 21  # of one entry: a rulebook of 256 KiB with every character escaped
NOTHING_BEFORE: Final = "0" * 64
"""The previous hash of the first entry."""
HOUSE_STREAM: Final = "house"
"""The stream of the House."""
_TABLE: Final = "table:"

JOURNAL_STREAM: Final = "journal"
"""The journal's own stream: which journal it is, its keys, its rulebooks."""
JOURNAL_CLAUSE: Final = Clause("house:journal")


class JournalOpened(Event, frozen=True, kw_only=True, tag="journal-opened"):
    """The first entry of a journal."""

    journal: str
    """The journal's id, which is unique."""
    key: str
    """The public key that verifies its checkpoints."""
    demonstration: bool
    """Whether it is a demonstration. `taisai serve` refuses such a journal."""
    program: str
    secret: str | UnsetType = UNSET
    """The storage secret, wrapped by the house key, in base64; absent where it was opened without the key."""


class RulebookStored(Event, frozen=True, kw_only=True, tag="rulebook-stored"):
    """The full text of a rulebook that tables refer to by its digest."""

    id: str
    digest: str
    text: str


class KeyIntroduced(Event, frozen=True, kw_only=True, tag="key-introduced"):
    """The next key to sign checkpoints, signed by the key before it."""

    key: str
    signature: str
    secret: str | UnsetType = UNSET
    """The storage secret, wrapped by the new key; absent where the journal has none."""


class StorageSecretSealed(Event, frozen=True, kw_only=True, tag="storage-secret-sealed"):
    """The storage secret of a journal that was opened without one, wrapped by the house key."""

    since: ClassVar[int] = 2
    secret: str


RECORDS: Final = (JournalOpened, RulebookStored, KeyIntroduced, StorageSecretSealed)

Place = tuple[int, str, int]
"""Position, stream and version."""
AnyEvent = Event | HouseEvent
AnyCommand = Command | HouseCommand
if TYPE_CHECKING:
    _OneEvent = AnyEvent
    _OneCommand = AnyCommand
else:  # one decoder tells them apart by their tags
    _OneEvent = Union[(*EVENTS, *HOUSE_EVENTS, *RECORDS)]
    _OneCommand = Union[(*COMMANDS, *HOUSE_COMMANDS)]

ADDED_FIELDS: Final[Mapping[str, frozenset[str]]] = {
    "begin-day": frozenset({"calendar", "second"}),
    "buy-credits": frozenset({"alone", "second"}),
    "close-withdrawal": frozenset({"others_stay"}),
    "credits-bought": frozenset({"second"}),
    "day-begun": frozenset({"second"}),
    "dismiss-person": frozenset({"second"}),
    "irregularity-ruled": frozenset({"item", "unsuitable"}),
    "journal-opened": frozenset({"secret"}),
    "key-introduced": frozenset({"secret"}),
    "load-shoe": frozenset({"backs"}),
    "note-failure": frozenset({"counts"}),
    "person-dismissed": frozenset({"second"}),
    "redeem-ticket": frozenset({"second"}),
    "sell-ticket": frozenset({"second"}),
    "shoe-loaded": frozenset({"backs"}),
    "sign-in-failed": frozenset({"counts"}),
    "ticket-redeemed": frozenset({"second"}),
    "ticket-sold": frozenset({"second"}),
    "withdrawal-closed": frozenset({"others_stay", "seen"}),
}
"""Tag of a kind of format 1 → the fields that it has since format 2, each with a default."""

Migrations = Mapping[int, Mapping[str, Callable[[dict[str, Any]], dict[str, Any]]]]
"""Version → tag → a function that rewrites the event or command for the next version."""

_STREAM_OF: Final[Mapping[Any, str]] = (
    dict.fromkeys(RECORDS, JOURNAL_STREAM)
    | dict.fromkeys((*HOUSE_EVENTS, *HOUSE_COMMANDS), HOUSE_STREAM)
    | dict.fromkeys((*EVENTS, *COMMANDS), _TABLE)
)
"""Type of event or command → its stream, or the prefix of the tables' streams."""
_NOT_AN_ENTRY: Final = (ValueError, LookupError, TypeError, AttributeError)
"""Errors of reading JSON that does not have the structure of an entry."""


class Entry(Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """One event in the journal, with its place and the hash of the entry before it."""

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
    """The command that caused it, on the first entry of a decision."""


class _EventEntry(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, gc=False):
    """An entry whose command is not decoded."""

    position: int
    previous: str
    stream: str
    version: int
    more: int
    v: int
    event: _OneEvent
    asked: msgspec.Raw = msgspec.Raw(b"null")


def stream_of(table: str) -> str:
    """The name of a table's stream."""
    return _TABLE + table


def table_of(stream: str) -> str | None:
    """The table of a stream; None for another kind of stream."""
    return stream.removeprefix(_TABLE) if stream.startswith(_TABLE) else None


class Codec:
    """Writes entries in one version of the format. Reads that version and all older ones."""

    def __init__(self, version: int = FORMAT, migrations: Migrations | None = None) -> None:
        self.version = version
        self._migrations: Migrations = migrations or {}
        self._direct = range(max(self._migrations, default=0) + 1, version + 1)
        """The versions that are read as they stand, without a migration."""
        self.encode: Callable[[Entry], bytes] = msgspec.json.Encoder(order="sorted").encode
        """The canonical bytes of an entry."""
        self._decode = msgspec.json.Decoder(Entry).decode
        self._decode_event = msgspec.json.Decoder(_EventEntry).decode

    def decode(self, body: bytes, position: int) -> Entry:
        """The entry in any version of the format; `position` is for the error."""
        try:
            entry = self._decode(body)
            if entry.v not in self._direct:
                entry = self._from_older(body, position)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            entry = self._from_older(body, position, error)
        kind = _STREAM_OF[type(entry.event)]
        if not _belongs(kind, entry.stream) or (entry.asked and kind != _STREAM_OF[type(entry.asked)]):
            messages = " and ".join(_tag(message) for message in (entry.event, entry.asked) if message)
            raise DamagedError(position, f"{messages} in the wrong stream {printable(repr(entry.stream))}")
        if entry.v < FORMAT:
            for message in (entry.event, entry.asked):
                _check_age(message, entry.v, position)
        return entry

    def decode_event(self, body: bytes, position: int) -> tuple[Place, AnyEvent]:
        """The place and the event of an entry, without its command: all that a start needs to read."""
        try:
            entry: _EventEntry | Entry = self._decode_event(body)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            entry = self.decode(body, position)
        if entry.v != FORMAT or not _belongs(_STREAM_OF[type(entry.event)], entry.stream):
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
                            changed = self._migrations.get(step, {}).get(_kind(plain[part]))
                            plain[part] = changed(plain[part]) if changed else plain[part]
                return msgspec.convert(plain, Entry)
        except (msgspec.DecodeError, RecursionError, *_NOT_AN_ENTRY) as error:
            raise DamagedError(position, f"not an entry: {_text(error)}") from None
        if version != self.version:
            expected = f"expected format {self.version} or older"
            raise DamagedError(position, f"unknown format: {expected}, got {printable(repr(version))}")
        raise DamagedError(position, f"invalid entry: {_text(why)}")

    def is_canonical(self, entry: Entry, body: bytes) -> bool:
        """Whether the bytes are the canonical form of the entry."""
        if entry.v in self._direct:
            return self.encode(entry) == body
        plain = json.loads(body)
        return json.dumps(plain, ensure_ascii=False, separators=(",", ":"), sort_keys=True).encode() == body


def _check_age(message: Any, version: int, position: int) -> None:
    """Refuses a kind or a field that is newer than the version of its entry."""
    if message is None:
        return
    if message.since > version:
        expected = f"expected kinds of format {version}"
        raise DamagedError(position, f"{expected}, got {_tag(message)} of format {message.since}")
    added = ADDED_FIELDS.get(str(message.__struct_config__.tag), ())
    fields = msgspec.structs.fields(message) if added else ()
    for name, default in ((field.name, field.default) for field in fields if field.name in added):
        if getattr(message, name) != default:
            expected = f"expected fields of format {version} in {_tag(message)}"
            raise DamagedError(position, f"{expected}, got {name!r} of format {FORMAT}")


def _kind(message: Mapping[str, Any]) -> str:
    return str(message.get("event") or message.get("command"))


def _tag(message: Struct) -> str:
    return repr(message.__struct_config__.tag)


def _belongs(kind: str, stream: str) -> bool:
    return stream.startswith(_TABLE) if kind == _TABLE else stream == kind


def _text(error: Exception | None) -> str:
    return printable(str(error) or type(error).__name__)

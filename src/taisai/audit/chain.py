"""The chain: positions, hashes, decisions, tree, keys and checkpoints, checked entry by entry."""

from __future__ import annotations

import binascii
import json
import re
from base64 import b64decode, b64encode
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Final, NamedTuple

from taisai.audit.sources import Body, End
from taisai.journal.codec import (
    JOURNAL_STREAM,
    MOST_BYTES,
    NOTHING_BEFORE,
    Codec,
    Entry,
    JournalOpened,
    KeyIntroduced,
)
from taisai.journal.errors import DamagedError
from taisai.journal.journal import IDS
from taisai.journal.seals.checkpoints import (
    CheckpointError,
    SignedCheckpoint,
    origin_of,
    read_signed,
    rotation_text,
)
from taisai.journal.seals.cosignatures import cosigned_at
from taisai.journal.seals.keys import KeysError, PublicKey, WitnessKey
from taisai.journal.seals.merkle import Frontier, leaf_hash
from taisai.journal.stores.contract import StoredCheckpoint
from taisai.rules.errors import printable

MOST_MORE: Final = 1_000_000  # entries of one decision: all rounds of a table void, each with what follows
_LONG_NUMBER: Final = re.compile(rb"[0-9]{20}")


class Signer(NamedTuple):
    since: int
    key: PublicKey


class Seal(NamedTuple):
    """The latest checkpoint of a key: its size, its time, and the key."""

    size: int
    at: int
    key: PublicKey


@dataclass(frozen=True, slots=True)
class Cosigned:
    """The latest checkpoint that a witness cosigned: its size, and when."""

    witness: str
    """The public key of the witness."""
    size: int
    at: int
    """Seconds since 1970, by the witness's clock."""


class Chain:
    """Checks the form of a journal, entry by entry."""

    def __init__(self, codec: Codec | None = None, witnesses: Sequence[WitnessKey] = ()) -> None:
        """`witnesses`: keys whose cosignatures are verified; those of others do not matter."""
        self.codec = codec or Codec()
        self.tree = Frontier()
        self.versions: dict[str, int] = {}
        self.opened: JournalOpened | None = None
        self.signers: list[Signer] = []
        self.seals: list[Seal] = []
        """The latest valid checkpoint of each key."""
        self.cosigned: dict[str, Cosigned] = {}
        """Public key of a witness → the latest checkpoint that it cosigned."""
        self.checkpoints = 0
        self._witnesses = witnesses
        self._previous = NOTHING_BEFORE
        self._more = 0
        self._stream = ""
        self._format = 0

    @property
    def size(self) -> int:
        return self.tree.size

    @property
    def is_whole(self) -> bool:
        """Whether the last decision is complete."""
        return not self._more

    def take(self, piece: Body) -> Entry:
        body, row = piece
        position = self.tree.size + 1
        if len(body) > MOST_BYTES:
            raise DamagedError(position, f"expected an entry of at most {MOST_BYTES} bytes, got {len(body)}")
        if _LONG_NUMBER.search(body):
            _check_integers(body, position)
        entry = self.codec.decode(body, position)
        if not self.codec.is_canonical(entry, body):
            raise DamagedError(position, "the entry is not in canonical JSON")
        self._check_place(entry, position)
        if row is not None and (entry.position, entry.stream, entry.version) != row[:3]:
            got = f"position {row.position}, version {row.version} of {row.stream}"
            expected = f"position {entry.position}, version {entry.version} of {entry.stream}"
            raise DamagedError(position, f"expected the file to keep the entry at {expected}, got {got}")
        leaf = leaf_hash(body)
        self.tree.append(leaf)
        self._previous = leaf.hex()
        if entry.stream == JOURNAL_STREAM or position == 1:
            self._learn(entry)
        return entry

    def _check_place(self, entry: Entry, position: int) -> None:
        if entry.position != position:
            raise DamagedError(position, f"expected position {position}, got {entry.position}")
        if entry.v < self._format:
            expected = f"expected format {self._format}, as in the entry before it, or newer"
            raise DamagedError(position, f"{expected}, got {entry.v}")
        self._format = entry.v
        if entry.previous != self._previous:
            raise DamagedError(
                position,
                f"expected the entry before it to have the hash {entry.previous[:16]!r}…, got "
                f"{self._previous[:16]!r}…: this entry or the one before was altered, removed or inserted",
            )
        stream = entry.stream
        version = self.versions.get(stream, 0) + 1
        if entry.version != version:
            raise DamagedError(position, f"expected version {version} of {stream}, got {entry.version}")
        self.versions[stream] = version
        if self._more:
            if (entry.more, stream) != (self._more - 1, self._stream) or entry.asked is not None:
                expected = f"{self._more} more entries of the decision in {self._stream}"
                raise DamagedError(position, f"expected {expected}, got an entry of a new decision")
        elif (entry.asked is None) != (stream == JOURNAL_STREAM):
            if stream == JOURNAL_STREAM:
                raise DamagedError(position, f"a command in the stream {JOURNAL_STREAM}, which has none")
            raise DamagedError(position, "the command that was decided is missing")
        if not 0 <= entry.more <= MOST_MORE:
            raise DamagedError(position, f"expected at most {MOST_MORE} entries to follow, got {entry.more}")
        self._more, self._stream = entry.more, stream

    def _learn(self, entry: Entry) -> None:
        """Takes the journal's opening and its new keys."""
        event, position = entry.event, entry.position
        if isinstance(event, JournalOpened) is not (position == 1):
            expected = "the opening of the journal" if position == 1 else "one opening of the journal"
            raise DamagedError(position, f"expected {expected}, got {type(event).__name__}")
        if isinstance(event, JournalOpened):
            if not IDS.fullmatch(event.journal):
                raise DamagedError(position, f"expected a journal's id, got {printable(repr(event.journal))}")
            self.opened = event
            self.signers.append(Signer(position, _key(event.key, position)))
        elif isinstance(event, KeyIntroduced):
            key = _key(event.key, position)
            message = rotation_text(self.origin, position, entry.previous, event.key)
            if not self.signers[-1].key.verify(_base64(event.signature), message):
                problem = f"no valid signature of {self.signers[-1].key.name} introduces the key {key.name}"
                raise DamagedError(position, problem)
            self.signers.append(Signer(position, key))

    @property
    def origin(self) -> str:
        """The name of the journal in checkpoints."""
        return origin_of(self.opened.journal) if self.opened else ""

    def check(self, kept: StoredCheckpoint) -> None:
        """Checks a checkpoint of the file, which comes after its last entry."""
        size = self.size
        try:
            signed = read_signed(kept.text)
        except CheckpointError as error:
            raise DamagedError(size, f"the checkpoint is invalid: {error}") from None
        if not signed.checkpoint.size == kept.size == size:
            over = signed.checkpoint.size
            why = ": the journal was cut" if over > size else ""
            raise DamagedError(size, f"expected a checkpoint over {size} entries, got one over {over}{why}")
        self.check_signed(signed)
        self.checkpoints += 1
        self._seal(signed)

    def hold(self, signed: SignedCheckpoint) -> None:
        """Checks a checkpoint that was kept elsewhere, over as many entries as were taken."""
        self.check_signed(signed)
        self._seal(signed)

    def _seal(self, signed: SignedCheckpoint) -> None:
        if self.seals and self.seals[-1].key == self.signers[-1].key:
            self.seals.pop()
        self.seals.append(Seal(self.size, signed.checkpoint.at, self.signers[-1].key))

    def check_signed(self, signed: SignedCheckpoint) -> None:
        """Checks the journal, signature and root of a checkpoint over as many entries as were taken."""
        size, checkpoint = self.size, signed.checkpoint
        if checkpoint.origin != self.origin:
            problem = f"expected a checkpoint of {self.origin}, got one of {printable(checkpoint.origin)}"
            raise DamagedError(size, problem)
        if not self.signers:
            raise DamagedError(size, "a checkpoint comes before the opening of the journal")
        if not signed.is_signed_by(self.signers[-1].key):
            name = self.signers[-1].key.name
            raise DamagedError(size, f"the checkpoint has no valid signature of {name}")
        if checkpoint.root != self.tree.root():
            raise wrong_root(checkpoint.root, self.tree)
        for key in self._witnesses:
            at = cosigned_at(checkpoint.body, signed.signatures, key)
            if at is not None:
                self.cosigned[key.text] = Cosigned(key.text, size, at)
            elif any((note.name, note.id) == (key.name, key.id) for note in signed.signatures):
                raise DamagedError(size, f"the cosignature of {key.name} under the checkpoint is forged")

    def end(self, end: End) -> None:
        """Checks the last line of an export."""
        if (end.size, end.root) != (self.size, self.tree.root().hex()):
            expected = f"{end.size} entries with the root {printable(end.root)[:16]}…"
            got = f"{self.size} and {self.tree.root().hex()[:16]}…"
            raise DamagedError(self.size, f"expected {expected}, got {got}")


def wrong_root(signed: bytes, tree: Frontier) -> DamagedError:
    """The error if the root over all entries so far is not the signed one."""
    return DamagedError(
        tree.size,
        f"expected the root {signed.hex()[:16]}… that was signed over {tree.size} entries, got "
        f"{tree.root().hex()[:16]}…: an entry up to here is not what was signed",
    )


def _check_integers(body: bytes, position: int) -> None:
    """Refuses an integer beyond 64 bits, which programs read differently; digits in a text are allowed."""
    beyond: list[str] = []

    def integer(digits: str) -> int:
        if len(digits) > 20 or not -(2**63) <= int(digits) < 2**64:
            beyond.append(digits[:30])
        return 0

    with suppress(ValueError, RecursionError):  # the codec reports what is not JSON
        json.loads(body, parse_int=integer)
    if beyond:
        raise DamagedError(position, f"expected integers of 64 bits, got {beyond[0]}")


def _key(text: str, position: int) -> PublicKey:
    try:
        key = PublicKey.parse(text)
        if key.text == text:
            return key
        raise KeysError(f"expected {key.text}, got {printable(text)}")  # noqa: TRY301
    except KeysError as error:
        raise DamagedError(position, f"the verifier key is invalid: {error}") from None


def _base64(text: str) -> bytes:
    try:
        data = b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return b""
    return data if b64encode(data).decode() == text else b""

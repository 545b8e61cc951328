"""The chain: positions, hashes, decisions, tree, keys and checkpoints, checked entry by entry."""

from __future__ import annotations

import binascii
import json
import re
from base64 import b64decode, b64encode
from contextlib import suppress
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
from taisai.journal.journal import IDS, origin_of, rotation_text
from taisai.journal.seals.checkpoints import CheckpointError, SignedCheckpoint, read_signed
from taisai.journal.seals.keys import KeysError, PublicKey
from taisai.journal.seals.merkle import Frontier, leaf_hash
from taisai.journal.stores.contract import StoredCheckpoint
from taisai.rules.errors import printable

MOST_MORE: Final = 1_000_000  # entries of one decision: all rounds of a table void, each with what follows
_LONG_NUMBER: Final = re.compile(rb"[0-9]{20}")


class Signer(NamedTuple):
    """A key, and from which entry on it signs."""

    since: int
    key: PublicKey


class Seal(NamedTuple):
    """Up to where someone stands by a journal, since when, and who."""

    size: int
    at: int
    key: PublicKey


class Chain:
    """What can be said of a journal's form after so many entries."""

    def __init__(self, codec: Codec | None = None) -> None:
        self.codec = codec or Codec()
        self.tree = Frontier()
        self.versions: dict[str, int] = {}
        self.opened: JournalOpened | None = None
        self.signers: list[Signer] = []
        self.seals: list[Seal] = []
        """Of each key the latest checkpoint that holds."""
        self.checkpoints = 0
        self._previous = NOTHING_BEFORE
        self._more = 0
        self._stream = ""

    @property
    def size(self) -> int:
        """How many entries were taken."""
        return self.tree.size

    @property
    def is_whole(self) -> bool:
        """Whether the last decision is there to its end."""
        return not self._more

    def take(self, piece: Body) -> Entry:
        """The next entry, if it is what can only come next."""
        body, row = piece
        position = self.tree.size + 1
        if len(body) > MOST_BYTES:
            raise DamagedError(position, f"expected an entry of at most {MOST_BYTES} bytes, got {len(body)}")
        if _LONG_NUMBER.search(body):
            _check_integers(body, position)
        entry = self.codec.decode(body, position)
        if not self.codec.is_canonical(entry, body):
            raise DamagedError(position, "expected an entry in canonical JSON, got another spelling of it")
        self._check_place(entry, position)
        if row is not None and (entry.position, entry.stream, entry.version) != row[:3]:
            got = f"position {row.position}, version {row.version} of {row.stream}"
            raise DamagedError(position, f"expected the file to keep it where it belongs, got {got}")
        leaf = leaf_hash(body)
        self.tree.append(leaf)
        self._previous = leaf.hex()
        if entry.stream == JOURNAL_STREAM or position == 1:
            self._learn(entry)
        return entry

    def _check_place(self, entry: Entry, position: int) -> None:
        if entry.position != position:
            raise DamagedError(position, f"expected position {position}, got {entry.position}")
        if entry.previous != self._previous:
            raise DamagedError(
                position,
                f"expected it to follow an entry with the hash {entry.previous[:16]!r}…, got "
                f"{self._previous[:16]!r}…: this entry or the one before was altered, dropped or put in",
            )
        stream = entry.stream
        version = self.versions.get(stream, 0) + 1
        if entry.version != version:
            raise DamagedError(position, f"expected version {version} of {stream}, got {entry.version}")
        self.versions[stream] = version
        if self._more:
            if (entry.more, stream) != (self._more - 1, self._stream) or entry.asked is not None:
                expected = f"{self._more} more of the decision before, in {self._stream}"
                raise DamagedError(position, f"expected {expected}, got another decision")
        elif (entry.asked is None) != (stream == JOURNAL_STREAM):
            expected = "no command" if stream == JOURNAL_STREAM else "the command that was decided"
            raise DamagedError(position, f"expected {expected}, got {'one' if entry.asked else 'none'}")
        if not 0 <= entry.more <= MOST_MORE:
            raise DamagedError(position, f"expected at most {MOST_MORE} entries to follow, got {entry.more}")
        self._more, self._stream = entry.more, stream

    def _learn(self, entry: Entry) -> None:
        """What the journal's own entries say of it."""
        event, position = entry.event, entry.position
        if isinstance(event, JournalOpened) is not (position == 1):
            expected = "the opening of the journal" if position == 1 else "a journal that is opened once"
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
                expected = f"the key {key.name} to be vouched for by {self.signers[-1].key.name}"
                raise DamagedError(position, f"expected {expected}, got a signature that is not its")
            self.signers.append(Signer(position, key))

    @property
    def origin(self) -> str:
        """What checkpoints call the journal."""
        return origin_of(self.opened.journal) if self.opened else ""

    def check(self, kept: StoredCheckpoint) -> None:
        """A checkpoint that stands after the entry it ends with."""
        size = self.size
        try:
            signed = read_signed(kept.text)
        except CheckpointError as error:
            raise DamagedError(size, f"expected a checkpoint, got something else: {error}") from None
        if not signed.checkpoint.size == kept.size == size:
            over = signed.checkpoint.size
            why = ": the journal was cut" if over > size else ""
            raise DamagedError(size, f"expected a checkpoint over {size} entries, got one over {over}{why}")
        self.check_signed(signed)
        self.checkpoints += 1
        self._seal(signed)

    def hold(self, signed: SignedCheckpoint) -> None:
        """A checkpoint that was kept elsewhere, over as many entries as were taken."""
        self.check_signed(signed)
        self._seal(signed)

    def _seal(self, signed: SignedCheckpoint) -> None:
        if self.seals and self.seals[-1].key == self.signers[-1].key:
            self.seals.pop()
        self.seals.append(Seal(self.size, signed.checkpoint.at, self.signers[-1].key))

    def check_signed(self, signed: SignedCheckpoint) -> None:
        """A checkpoint over as many entries as were taken, from this journal or from elsewhere."""
        size, checkpoint = self.size, signed.checkpoint
        if checkpoint.origin != self.origin:
            says = f"expected a checkpoint of {self.origin}, got one of {printable(checkpoint.origin)}"
            raise DamagedError(size, says)
        if not self.signers or not signed.is_signed_by(self.signers[-1].key):
            name = self.signers[-1].key.name if self.signers else "nobody"
            raise DamagedError(size, f"expected a checkpoint signed by {name}, got another or a forged one")
        if checkpoint.root != self.tree.root():
            raise DamagedError(
                size,
                f"expected the root {checkpoint.root.hex()[:16]}… that was signed over {size} entries, got "
                f"{self.tree.root().hex()[:16]}…: something up to here is not what was signed",
            )

    def end(self, end: End) -> None:
        """What an export says at its end."""
        if (end.size, end.root) != (self.size, self.tree.root().hex()):
            got = f"{self.size} and {self.tree.root().hex()[:16]}…"
            raise DamagedError(
                self.size, f"expected {end.size} entries with the root {printable(end.root)[:16]}…, got {got}"
            )


def _check_integers(body: bytes, position: int) -> None:
    """Refuses an integer that not every reader takes for the same; digits in a text are no integer."""
    beyond: list[str] = []

    def integer(digits: str) -> int:
        if len(digits) > 20 or not -(2**63) <= int(digits) < 2**64:
            beyond.append(digits[:30])
        return 0

    with suppress(ValueError, RecursionError):  # what is no JSON at all is told by whoever decodes it
        json.loads(body, parse_int=integer)
    if beyond:
        raise DamagedError(position, f"expected integers of 64 bits, got {beyond[0]}")


def _key(text: str, position: int) -> PublicKey:
    try:
        key = PublicKey.parse(text)
        if key.text == text:
            return key
        raise KeysError("expected the one spelling of a verifier key, got another")  # noqa: TRY301
    except KeysError as error:
        raise DamagedError(position, f"expected a verifier key, got something else: {error}") from None


def _base64(text: str) -> bytes:
    try:
        found = b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return b""
    return found if b64encode(found).decode() == text else b""

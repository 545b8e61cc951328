"""Checkpoints: the size and root hash of the log at a time, signed, as a short text.

The form is c2sp.org/tlog-checkpoint, a signed note with the time as its one extension line.

>>> from taisai.journal.seals.keys import SigningKey
>>> from taisai.journal.seals.merkle import EMPTY_ROOT
>>> key = SigningKey.new("taisai.example/SB1", seed=bytes(32))
>>> text = signed(Checkpoint(origin="taisai.example/SB1", size=0, root=EMPTY_ROOT, at=1_763_244_000_000), key)
>>> print(text, end="")
taisai.example/SB1
0
47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=
time 1763244000000
<BLANKLINE>
— taisai.example/SB1 ...
>>> read_signed(text).is_signed_by(key.public)
True
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from taisai.journal.errors import JournalError
from taisai.journal.seals.keys import PublicKey, SigningKey, is_key_name
from taisai.journal.seals.merkle import EMPTY_ROOT, HASH_BYTES, MOST_LEAVES
from taisai.rules.errors import printable

MOST_BYTES: Final = 1_000_000  # of a signed checkpoint; sixteen of the largest known signatures need 80,000
MOST_SIGNATURES: Final = 16  # the number that every reader of signed notes must support
MOST_TIME: Final = 10**19 - 1  # milliseconds since 1970; of 19 digits, as sizes are
ID_BYTES: Final = 4
_BODY_LINES: Final = 4
_HEAD_LINES: Final = 3  # of any log: origin, size, root
_DECIMAL: Final = re.compile(r"0|[1-9][0-9]{0,18}")
_SIGNATURE: Final = re.compile(r"— ([^ ]+) ([A-Za-z0-9+/]+={0,2})")


class CheckpointError(JournalError):
    """An invalid checkpoint; the text names the line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint:
    """The size of a log at a time, and the root hash of its tree."""

    origin: str
    size: int
    root: bytes
    at: int

    def __post_init__(self) -> None:
        if not is_key_name(self.origin):
            expected = "an origin: printable, at most 100 characters, no space, no '+'"
            raise _unexpected(expected, self.origin, 1)
        if type(self.size) is not int or not 0 <= self.size <= MOST_LEAVES:
            raise _unexpected(f"a size from 0 to {MOST_LEAVES}", self.size, 2)
        if type(self.root) is not bytes or len(self.root) != HASH_BYTES:
            raise _unexpected(f"a root of {HASH_BYTES} bytes", self.root, 3)
        if self.size == 0 and self.root != EMPTY_ROOT:
            raise _unexpected("the root of the empty tree, since the size is 0", self.root, 3)
        if type(self.at) is not int or not 0 <= self.at <= MOST_TIME:
            raise _unexpected(f"a time from 0 to {MOST_TIME}", self.at, 4)

    @property
    def body(self) -> str:
        """The text that is signed."""
        return f"{self.origin}\n{self.size}\n{_encoded(self.root)}\ntime {self.at}\n"


class NoteSignature(NamedTuple):
    """One signature under a checkpoint: name and id of the key, and the bytes."""

    name: str
    id: str
    signature: bytes

    @property
    def line(self) -> str:
        """The signature as a line under the text."""
        return f"— {self.name} {_encoded(bytes.fromhex(self.id) + self.signature)}\n"


@dataclass(frozen=True, slots=True)
class SignedCheckpoint:
    """A checkpoint and all its signatures, also those of unknown keys."""

    checkpoint: Checkpoint
    signatures: tuple[NoteSignature, ...] = field(repr=False)

    @property
    def text(self) -> str:
        """The signed checkpoint as it was read."""
        return self.checkpoint.body + "\n" + "".join(signature.line for signature in self.signatures)

    def is_signed_by(self, public: PublicKey) -> bool:
        """Whether the key signed it. Signatures of other keys, such as those of witnesses, do not matter."""
        return is_signed(self.checkpoint.body, self.signatures, public)


def is_signed(body: str, signatures: Iterable[NoteSignature], public: PublicKey) -> bool:
    """Whether a key signed a text: it has a signature with the key's name and id, and all such are valid."""
    own = [note.signature for note in signatures if (note.name, note.id) == (public.name, public.id)]
    message = body.encode()
    return bool(own) and all(public.verify(signature, message) for signature in own)


def signed(checkpoint: Checkpoint, key: SigningKey) -> str:
    """The text of a checkpoint with the signature of a key."""
    body = checkpoint.body
    signature = NoteSignature(key.name, key.public.id, key.sign(body.encode()))
    return f"{body}\n{signature.line}"


def read_signed(text: str | bytes) -> SignedCheckpoint:
    """The checkpoint in a text of the canonical form. Its signatures are not verified here."""
    lines = _lines(text)
    if len(lines) >= _BODY_LINES and not lines[_BODY_LINES - 1].startswith("time "):
        raise _unexpected("'time' and milliseconds since 1970", lines[_BODY_LINES - 1], 4)
    under = len(lines) - _BODY_LINES - 1
    if under < 1:
        raise CheckpointError(f"expected four lines, an empty one and a signature, got {len(lines)} lines")
    if under > MOST_SIGNATURES:
        raise CheckpointError(f"expected at most {MOST_SIGNATURES} lines of signatures, got {under}")
    origin, size, root, time, blank, *signatures = lines
    if blank:
        raise _unexpected("an empty line between text and signatures", blank, 5)
    at = _decimal(time.removeprefix("time "), 4)
    checkpoint = Checkpoint(origin=origin, size=_decimal(size, 2), root=_decoded(root, 3), at=at)
    read = (read_signature(line, number) for number, line in enumerate(signatures, _BODY_LINES + 2))
    return SignedCheckpoint(checkpoint, tuple(read))


class SignedHead(NamedTuple):
    """Size and root hash of any log, with or without lines of its own, as a witness reads them."""

    origin: str
    size: int
    root: bytes
    body: str
    """The text that is signed."""
    signatures: tuple[NoteSignature, ...]


def read_head(text: str | bytes) -> SignedHead:
    """The checkpoint of any log (c2sp.org/tlog-checkpoint). Its signatures are not verified here."""
    lines = _lines(text)
    end = lines.index("") if "" in lines else len(lines)
    body, signatures = lines[:end], lines[end + 1 :]
    if len(body) < _HEAD_LINES or not signatures:
        got = f"{len(body)} and {len(signatures)}"
        raise CheckpointError(f"expected {_HEAD_LINES} lines or more, an empty one and signatures, got {got}")
    if len(signatures) > MOST_SIGNATURES:
        raise CheckpointError(
            f"expected at most {MOST_SIGNATURES} lines of signatures, got {len(signatures)}"
        )
    head = Checkpoint(origin=body[0], size=_decimal(body[1], 2), root=_decoded(body[2], 3), at=0)
    read = (read_signature(line, number) for number, line in enumerate(signatures, end + 2))
    return SignedHead(head.origin, head.size, head.root, "\n".join(body) + "\n", tuple(read))


def _lines(text: str | bytes) -> list[str]:
    try:
        data = text.encode() if isinstance(text, str) else text
        if len(data) > MOST_BYTES:
            raise CheckpointError(f"expected a checkpoint of at most {MOST_BYTES} bytes, got {len(data)}")
        decoded = data.decode()
    except UnicodeError as error:
        raise CheckpointError(f"the checkpoint is not UTF-8: {error}") from error
    # `splitlines` would also split at other characters.
    *lines, rest = decoded.split("\n")
    if rest:
        raise _unexpected("a newline at the end", rest, len(lines) + 1)
    return lines


def _decimal(text: str, line: int) -> int:
    if not _DECIMAL.fullmatch(text):
        raise _unexpected("a decimal number of at most 19 digits, no leading zero", text, line)
    return int(text)


def read_signature(text: str, line: int) -> NoteSignature:
    match = _SIGNATURE.fullmatch(text)
    if match is None or not is_key_name(match[1]):
        raise _unexpected("a signature like '— name AbCd…'", text, line)
    blob = _decoded(match[2], line)
    if len(blob) <= ID_BYTES:
        raise _unexpected(f"a key id of {ID_BYTES} bytes and a signature", text, line)
    return NoteSignature(match[1], blob[:ID_BYTES].hex(), blob[ID_BYTES:])


def _encoded(data: bytes) -> str:
    return base64.b64encode(data).decode()


def _decoded(text: str, line: int) -> bytes:
    """The bytes of canonical base64, whose unused last bits are zero."""
    try:
        data = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError) as error:
        raise _unexpected("base64", text, line) from error
    if _encoded(data) != text:
        raise _unexpected(f"base64 in its canonical form, {_encoded(data)[-8:]!r} at the end", text, line)
    return data


def _unexpected(expected: str, got: object, line: int) -> CheckpointError:
    return CheckpointError(f"expected {expected}, got {printable(repr(got))} (line {line})")


# The journals of Taisai


def origin_of(journal: str) -> str:
    """The name of a journal in its checkpoints."""
    return f"taisai/{journal}"


def rotation_text(origin: str, position: int, previous: str, key: str) -> bytes:
    """The text that the old key signs to introduce a new one: the journal, the place and the new key."""
    return f"taisai key rotation\n{origin}\n{position}\n{previous}\n{key}\n".encode()

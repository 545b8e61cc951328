"""The request of c2sp.org/tlog-witness: `add-checkpoint`, its bytes and its bounds.

>>> from taisai.journal.seals.checkpoints import Checkpoint, signed
>>> from taisai.journal.seals.keys import SigningKey
>>> from taisai.journal.seals.merkle import EMPTY_ROOT
>>> key = SigningKey.new("lotus-2026", seed=bytes(32))
>>> note = signed(Checkpoint(origin="taisai/SB1", size=0, root=EMPTY_ROOT, at=1_763_244_000_000), key)
>>> request = read_request(written_request(0, [], note))
>>> request.old, request.proof, request.head.origin
(0, (), 'taisai/SB1')
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from taisai.journal.seals.checkpoints import CheckpointError, SignedHead, read_head
from taisai.journal.seals.merkle import HASH_BYTES, MOST_LEAVES
from taisai.rules.errors import printable
from taisai.witness.errors import WitnessError

PATH: Final = "/add-checkpoint"
SIZE_TYPE: Final = "text/x.tlog.size"
"""The media type of the size that a witness has seen."""
MOST_PROOF: Final = 63  # lines; the most that the protocol allows
MOST_REQUEST: Final = 100_000  # bytes: the largest proof, and sixteen of the largest known signatures
MOST_ANSWER: Final = 100_000  # bytes: sixteen of the largest known signatures
_OLD: Final = re.compile(r"old (0|[1-9][0-9]{0,18})")


class AddCheckpoint(NamedTuple):
    """A request: a checkpoint, and the proof that it continues the one of the old size."""

    old: int
    proof: tuple[bytes, ...]
    head: SignedHead
    text: str


def written_request(old: int, proof: Sequence[bytes], text: str) -> bytes:
    lines = [f"old {old}", *(base64.b64encode(each).decode() for each in proof), "", text]
    return "\n".join(lines).encode()


def read_request(body: bytes) -> AddCheckpoint:
    """The request in a body; WitnessError says what is wrong with it."""
    try:
        beginning, blank, text = body.decode().partition("\n\n")
    except UnicodeDecodeError as error:
        raise WitnessError(f"expected UTF-8, got {error}") from None
    first, *lines = beginning.split("\n")
    match = _OLD.fullmatch(first)
    if match is None or int(match[1]) > MOST_LEAVES:
        raise WitnessError(f"expected 'old' and a size from 0 to {MOST_LEAVES}, got {printable(repr(first))}")
    if not blank:
        raise WitnessError("expected an empty line and a checkpoint after the proof, got neither")
    if len(lines) > MOST_PROOF:
        raise WitnessError(f"expected at most {MOST_PROOF} lines of proof, got {len(lines)}")
    try:
        head = read_head(text)
    except CheckpointError as error:
        raise WitnessError(f"invalid checkpoint: {error}") from None
    proof = tuple(_hash(line, number) for number, line in enumerate(lines, 2))
    return AddCheckpoint(int(match[1]), proof, head, text)


def _hash(line: str, number: int) -> bytes:
    try:
        data = base64.b64decode(line, validate=True)
    except (binascii.Error, ValueError):
        data = b""
    if len(data) != HASH_BYTES or base64.b64encode(data).decode() != line:
        got = printable(repr(line))
        raise WitnessError(f"expected a hash of {HASH_BYTES} bytes in base64, got {got} (line {number})")
    return data

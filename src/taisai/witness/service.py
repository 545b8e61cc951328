"""What a witness does with a request: it cosigns a checkpoint that continues what it has seen, or refuses."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

import structlog

from taisai.journal.seals.checkpoints import is_signed
from taisai.journal.seals.cosignatures import cosigned
from taisai.journal.seals.keys import KeysError, PublicKey, SigningKey, is_key_name
from taisai.journal.seals.merkle import EMPTY_ROOT, check_consistency
from taisai.rules.errors import printable
from taisai.witness.errors import WitnessError
from taisai.witness.memory import SeenCheckpoints
from taisai.witness.protocol import SIZE_TYPE, AddCheckpoint, read_request

MOST_LOGS: Final = 1_000  # of one witness: every house of a large operator
MOST_LOGS_FILE: Final = 1 << 20  # bytes of the list of logs
PLAIN: Final = "text/plain; charset=utf-8"
_log = structlog.get_logger(__name__)


class WitnessReply(NamedTuple):
    """The answer to a request over HTTP."""

    status: int
    text: str
    kind: str = PLAIN


class WitnessService:
    """A witness: its key, the logs that it knows, and its memory. One thread at a time uses it."""

    def __init__(
        self,
        key: SigningKey,
        logs: Mapping[str, Sequence[PublicKey]],
        seen: SeenCheckpoints,
        *,
        seconds: Callable[[], int],
    ) -> None:
        """`logs`: origin → the keys that may sign it; `seconds` since 1970."""
        self.key = key
        self.logs = logs
        self.seen = seen
        self._seconds = seconds

    def add(self, body: bytes) -> WitnessReply:
        """Answers `add-checkpoint`. What it cosigns is durable before it answers."""
        try:
            request = read_request(body)
        except WitnessError as error:
            return WitnessReply(400, f"{error}\n")
        head = request.head
        keys = self.logs.get(head.origin)
        if keys is None:
            return WitnessReply(404, f"unknown log {head.origin}\n")
        if not any(is_signed(head.body, head.signatures, key) for key in keys):
            return WitnessReply(403, f"no valid signature of a known key of {head.origin}\n")
        if request.old > head.size:
            problem = f"expected an old size of at most {head.size}, that of the checkpoint"
            return WitnessReply(400, f"{problem}, got {request.old}\n")
        return self._refusal(request) or self._cosigned(request)

    def _refusal(self, request: AddCheckpoint) -> WitnessReply | None:
        """Why a checkpoint does not continue what was seen."""
        head, seen = request.head, self.seen.head(request.head.origin)
        size, root = (0, EMPTY_ROOT) if seen is None else (seen.size, seen.root)
        if request.old != size:
            return WitnessReply(409, f"{size}\n", SIZE_TYPE)
        if head.size == size and head.root != root:
            self._warn(request)
            return WitnessReply(409, f"{size}\n", SIZE_TYPE)
        proof = request.proof
        if not check_consistency(
            old_size=size, old_root=root, new_size=head.size, new_root=head.root, proof=proof
        ):
            self._warn(request)
            return WitnessReply(422, f"the proof does not lead from {size} entries to {head.size}\n")
        return None

    def _cosigned(self, request: AddCheckpoint) -> WitnessReply:
        head, seen = request.head, self.seen.head(request.head.origin)
        if seen is None or seen.size != head.size:
            try:
                self.seen.add(request.text)
            except WitnessError as error:
                _log.error("a checkpoint could not be remembered", error=str(error))
                return WitnessReply(500, "the witness cannot write its memory\n")
        return WitnessReply(200, cosigned(head.body, self.key, at=self._seconds()).line)

    def _warn(self, request: AddCheckpoint) -> None:
        """Logs a signed checkpoint that is evidence against its log."""
        _log.warning("a checkpoint contradicts what was seen", origin=request.head.origin, text=request.text)


def read_logs(path: Path) -> dict[str, list[PublicKey]]:
    """The logs in a file: a line each with origin and verifier key; a log may have several keys."""
    try:
        with path.open("rb") as opened:
            content = opened.read(MOST_LOGS_FILE + 1)
        lines = content.decode().splitlines()
    except OSError as error:
        raise WitnessError(f"cannot read the list of logs: {error.strerror} ({path})") from None
    except UnicodeDecodeError as error:
        raise WitnessError(f"the list of logs is not UTF-8: {error} ({path})") from None
    if len(content) > MOST_LOGS_FILE:
        raise WitnessError(f"expected a list of logs of at most {MOST_LOGS_FILE} bytes ({path})")
    logs: dict[str, list[PublicKey]] = {}
    for number, line in enumerate(lines, 1):
        if not line.strip() or line.startswith("#"):
            continue
        origin, _, key = line.strip().partition(" ")
        if not is_key_name(origin):
            got = f"{printable(repr(origin))} ({path}, line {number})"
            raise WitnessError(f"expected an origin such as 'taisai/lotus-1', got {got}")
        try:
            logs.setdefault(origin, []).append(PublicKey.parse(key.strip()))
        except KeysError as error:
            raise WitnessError(f"{error} ({path}, line {number})") from None
    if len(logs) > MOST_LOGS:
        raise WitnessError(f"expected at most {MOST_LOGS} logs, got {len(logs)} ({path})")
    return logs

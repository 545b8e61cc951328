"""Witnesses as the server of a house uses them: another host over HTTP, or a file on another mount."""

from __future__ import annotations

import http.client
import socket
import ssl
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple, Protocol
from urllib.parse import urlsplit

from taisai.journal.seals.checkpoints import CheckpointError, NoteSignature, read_head, read_signature
from taisai.journal.seals.cosignatures import cosigned_at
from taisai.journal.seals.keys import WitnessKey
from taisai.journal.seals.merkle import EMPTY_ROOT, check_consistency
from taisai.rules.errors import printable
from taisai.witness.errors import (
    SecondHistoryError,
    SilentWitnessError,
    WitnessedSizeError,
    WitnessError,
)
from taisai.witness.memory import SeenCheckpoints
from taisai.witness.protocol import MOST_ANSWER, PATH, written_request

PATIENCE: Final = 3.0  # seconds for an answer: ten times what a witness on another continent takes


class Witness(Protocol):
    """Remembers the latest checkpoint. Its methods wait for network or disk."""

    name: str

    def add(self, text: str, old: int, proof: Sequence[bytes]) -> NoteSignature | None:
        """Submits a checkpoint that continues the old size; returns the cosignature, if it makes any.

        SilentWitnessError, WitnessedSizeError or SecondHistoryError if it was not seen.
        """

    def abort(self) -> None:
        """Ends an answer that takes too long, from another thread."""

    def close(self) -> None: ...


class HttpAnswer(NamedTuple):
    """The answer of a server."""

    status: int
    body: bytes


class HttpWitness:
    """A witness on another host (c2sp.org/tlog-witness)."""

    def __init__(
        self, url: str, key: WitnessKey, *, patience: float = PATIENCE, trust: Path | None = None
    ) -> None:
        """`trust`: the certificates to trust in place of the system's."""
        self.name = key.name
        self.key = key
        self._patience = patience
        self._parts = urlsplit(url)
        self._trust = trust
        self._connection: http.client.HTTPConnection | None = None

    def add(self, text: str, old: int, proof: Sequence[bytes]) -> NoteSignature:
        answer = self._post(written_request(old, proof, text))
        if answer.status == http.client.OK:
            return self._cosignature(text, answer.body)
        size = read_head(text).size
        if answer.status == http.client.CONFLICT:
            seen = self._size(answer.body)
            if seen == old:  # of the same size: the root differs
                problem = f"the witness {self.name} has seen other entries up to {size}"
                raise SecondHistoryError(problem)
            raise WitnessedSizeError(seen, f"the witness {self.name} has seen {seen:,} entries, not {old:,}")
        if answer.status == http.client.UNPROCESSABLE_ENTITY:
            problem = f"the witness {self.name} has seen other entries up to {old:,}"
            raise SecondHistoryError(problem)
        said = printable(repr(answer.body[:200].decode(errors="replace").strip()))
        raise SilentWitnessError(f"the witness {self.name} answered {answer.status}: {said}")

    def _cosignature(self, text: str, body: bytes) -> NoteSignature:
        """The valid cosignature in an answer; lines of other keys are ignored."""
        try:
            lines = body.decode().removesuffix("\n").split("\n")
            notes = [read_signature(line, number) for number, line in enumerate(lines, 1)]
        except (UnicodeDecodeError, CheckpointError) as error:
            raise SilentWitnessError(f"the witness {self.name} gave no cosignature: {error}") from None
        if cosigned_at(read_head(text).body, notes, self.key) is None:
            problem = f"no valid cosignature of {self.name} {self.key.id}"
            raise SilentWitnessError(f"expected the key of casino.toml to cosign, got {problem}")
        return next(note for note in notes if (note.name, note.id) == (self.key.name, self.key.id))

    def _size(self, body: bytes) -> int:
        text = body.removesuffix(b"\n").decode(errors="replace")
        if not (text.isascii() and text.isdigit() and len(text) < 20):
            problem = f"expected the size that it has seen, got {printable(repr(text[:40]))}"
            raise SilentWitnessError(f"the witness {self.name} gave no size: {problem}")
        return int(text)

    def _post(self, body: bytes) -> HttpAnswer:
        """Posts over the connection that is open, and over a new one if that was closed meanwhile."""
        is_kept = self._connection is not None
        try:
            return self._asked(body)
        except (OSError, http.client.HTTPException, ValueError) as error:
            self.close()
            if not is_kept or isinstance(error, TimeoutError):
                raise self._silent(error) from None
        try:
            return self._asked(body)
        except (OSError, http.client.HTTPException, ValueError) as error:
            self.close()
            raise self._silent(error) from None

    def _asked(self, body: bytes) -> HttpAnswer:
        if self._connection is None:
            self._connection = self._connected()
        path = self._parts.path.rstrip("/") + PATH
        self._connection.request("POST", path, body, {"Content-Type": "text/plain; charset=utf-8"})
        response = self._connection.getresponse()
        content = response.read(MOST_ANSWER + 1)
        if len(content) > MOST_ANSWER:
            raise ValueError(f"an answer of more than {MOST_ANSWER} bytes")
        return HttpAnswer(response.status, content)

    def _connected(self) -> http.client.HTTPConnection:
        host, port = self._parts.hostname or "", self._parts.port
        if self._parts.scheme == "http":
            return http.client.HTTPConnection(host, port, timeout=self._patience)
        context = ssl.create_default_context(cafile=None if self._trust is None else str(self._trust))
        return http.client.HTTPSConnection(host, port, timeout=self._patience, context=context)

    def _silent(self, error: Exception) -> SilentWitnessError:
        why = printable(str(error) or type(error).__name__)
        return SilentWitnessError(f"the witness {self.name} cannot be reached: {why}")

    def abort(self) -> None:
        connection = self._connection
        if connection is not None and connection.sock is not None:
            with suppress(OSError):  # it has ended meanwhile
                connection.sock.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


class FileWitness:
    """A witness that is a file on another mount. It checks proofs and signs nothing."""

    def __init__(self, path: Path) -> None:
        self.name = path.name
        self._path = path
        self._seen: SeenCheckpoints | None = None

    def add(self, text: str, old: int, proof: Sequence[bytes]) -> None:
        try:
            if self._seen is None:
                self._seen = SeenCheckpoints(self._path)
            self._seen.file.stat()  # fails when its mount is gone, although the open file can be written
            contradiction = self._add(self._seen, text, old, proof)
        except (WitnessError, CheckpointError, OSError) as error:
            self.close()  # the next time the file is read again
            why = f"{error.strerror} ({self._path})" if isinstance(error, OSError) else error
            raise SilentWitnessError(f"the witness {self.name} cannot be used: {why}") from None
        if contradiction is not None:
            raise contradiction

    def _add(self, seen: SeenCheckpoints, text: str, old: int, proof: Sequence[bytes]) -> WitnessError | None:
        """Remembers a checkpoint; or why it does not continue what was seen."""
        head = read_head(text)
        last = seen.head(head.origin)
        size, root = (0, EMPTY_ROOT) if last is None else (last.size, last.root)
        if old != size:
            return WitnessedSizeError(size, f"the witness {self.name} has seen {size:,} entries, not {old:,}")
        if not check_consistency(
            old_size=size, old_root=root, new_size=head.size, new_root=head.root, proof=proof
        ):
            return SecondHistoryError(f"the witness {self.name} has seen other entries up to {size:,}")
        if head.size > size:
            seen.add(text)
        return None

    def abort(self) -> None:
        """Does nothing: a disk cannot be asked to stop."""

    def close(self) -> None:
        if self._seen is not None:
            self._seen.close()
            self._seen = None

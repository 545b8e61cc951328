"""A log with signed checkpoints of every size, a witness of it, and a server for the witness."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Final

from taisai.journal.seals.checkpoints import Checkpoint, signed
from taisai.journal.seals.cosignatures import witness_key
from taisai.journal.seals.keys import PublicKey, SigningKey
from taisai.journal.seals.merkle import EMPTY_ROOT, consistency_proof, leaf_hash, root_of
from taisai.witness.memory import SeenCheckpoints
from taisai.witness.protocol import written_request
from taisai.witness.server import WitnessServer, listening_at
from taisai.witness.service import WitnessReply, WitnessService

ORIGIN: Final = "taisai/lotus-1"
LOG_KEY: Final = SigningKey.new("lotus-2026", seed=bytes(range(32)))
OTHER_KEY: Final = SigningKey.new("lotus-2026", seed=bytes(range(1, 33)))
KEY: Final = SigningKey.new("witness.example/w1", seed=bytes(range(2, 34)))
PUBLIC: Final = witness_key(KEY)
NOW: Final = 1_794_800_000


def leaves(count_: int, what: str = "entry") -> list[bytes]:
    return [leaf_hash(f"{what} {number}".encode()) for number in range(count_)]


def note(of: Sequence[bytes], key: SigningKey = LOG_KEY, origin: str = ORIGIN) -> str:
    """The signed checkpoint over some leaves."""
    root = root_of(of) if of else EMPTY_ROOT
    return signed(Checkpoint(origin=origin, size=len(of), root=root, at=NOW * 1_000), key)


def request(old: int, of: Sequence[bytes], key: SigningKey = LOG_KEY, origin: str = ORIGIN) -> bytes:
    """The request that proves growth from an old size to all of the leaves."""
    return written_request(old, consistency_proof(of, old, len(of)), note(of, key, origin))


def service(
    folder: Path, key: SigningKey = KEY, logs: dict[str, list[PublicKey]] | None = None, most: int = 1 << 20
) -> WitnessService:
    """A witness over the memory in a folder, which is made if it is new."""
    seconds = count(NOW)
    if not (folder / "seen").exists():
        SeenCheckpoints.make(folder / "seen")
    seen = SeenCheckpoints(folder / "seen", most=most)
    return WitnessService(key, logs or {ORIGIN: [LOG_KEY.public]}, seen, seconds=lambda: next(seconds))


def sent(to: WitnessService, old: int, of: Sequence[bytes]) -> WitnessReply:
    return to.add(request(old, of))


@contextmanager
def serving(witness: WitnessService, port: int = 0, tls: tuple[Path, Path] | None = None) -> Iterator[str]:
    """The witness at an address of this machine."""
    at = listening_at("127.0.0.1", port)
    server = WitnessServer(witness, steady=time.monotonic, tls=tls)
    running = threading.Thread(target=lambda: asyncio.run(server.serve(sockets=[at])), daemon=True)
    running.start()
    try:
        yield f"{'https' if tls else 'http'}://127.0.0.1:{at.getsockname()[1]}"
    finally:
        server.should_exit = server.force_exit = True
        running.join(10)
        at.close()
        assert not running.is_alive()

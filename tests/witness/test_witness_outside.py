"""The witness against another implementation of the protocol: aics-witness, on PyPI, which shares no code.

Its feeder feeds our witness, and our client asks its witness. Its metadata ask for Python 3.12, and 3.11 runs
it: `tools/setup` installs it from requirements/witness.txt, or says that it could not.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from taisai.journal.seals.checkpoints import read_head
from taisai.journal.seals.cosignatures import cosigned_at
from taisai.journal.seals.keys import WitnessKey
from taisai.journal.seals.merkle import consistency_proof
from taisai.witness.client import HttpWitness
from taisai.witness.errors import SecondHistoryError, WitnessedSizeError
from tests.witness.logs import LOG_KEY, ORIGIN, PUBLIC, leaves, note, service, serving

theirs = pytest.importorskip("aics_witness", reason="tools/setup could not install it")
tlog = pytest.importorskip("aics_tlog")

NINE = leaves(9)
SECOND = leaves(9, "forged")


@contextmanager
def their_witness(folder: Path) -> Iterator[tuple[str, WitnessKey]]:
    """Their witness, which knows our log."""
    key = Ed25519PrivateKey.from_private_bytes(bytes(range(7, 39)))
    log = theirs.LogConfig(ORIGIN, (tlog.parse_vkey(LOG_KEY.public.text),), extension_lines=True)
    store = theirs.WitnessStore(folder / "state.db", create=True)
    server = theirs.make_server(theirs.Witness("their.example/w", key, store, [log]))
    running = threading.Thread(target=server.serve_forever, daemon=True)
    running.start()
    try:
        host, port = server.server_address[:2]
        public = WitnessKey("their.example/w", key.public_key().public_bytes_raw())
        assert tlog.parse_vkey(public.text).name == "their.example/w", "they read our form of the key"
        yield f"http://{host}:{port}", public
    finally:
        server.shutdown()
        server.server_close()
        running.join(10)
        store.close()


def add(witness: HttpWitness, old: int, of: list[bytes]) -> Any:
    return witness.add(note(of), old, consistency_proof(of, old, len(of)))


def test_their_witness_cosigns_our_checkpoints_and_refuses_a_second_history(tmp_path: Path) -> None:
    with their_witness(tmp_path) as (url, public), closing(HttpWitness(url, public)) as witness:
        for old, new in ((0, 3), (3, 4), (4, 8), (8, 8), (8, 9)):
            line = add(witness, old, NINE[:new])
            at = cosigned_at(read_head(note(NINE[:new])).body, [line], public)
            assert at is not None
            assert abs(at - time.time()) < 60
        with pytest.raises(WitnessedSizeError) as caught:
            add(witness, 3, NINE)
        assert caught.value.size == 9
        for size in (9, 10):
            with pytest.raises(SecondHistoryError):
                add(witness, 9, [*SECOND, *SECOND[: size - 9]])


def test_their_feeder_feeds_our_witness_and_verifies_what_it_cosigns(tmp_path: Path) -> None:
    witness = service(tmp_path)
    witness._seconds = lambda: int(time.time())
    with serving(witness) as url, theirs.WitnessClient(url, PUBLIC.text, max_attempts=1) as feeder:
        for size in (1, 4, 7, 9):
            text, of = note(NINE[:size]), NINE[:size]
            lines = feeder.submit(text, lambda old, new, of=of: consistency_proof(of, old, new))
            merged = tlog.parse_note(theirs.merge_cosignatures(text, lines))
            log, ours = tlog.parse_vkey(LOG_KEY.public.text), tlog.parse_vkey(PUBLIC.text)
            verified = tlog.verify_checkpoint(merged, log, [ours], quorum=1)
            assert verified.ok, verified
        with pytest.raises(theirs.FeederError):
            feeder.submit(note(SECOND), lambda old, new: consistency_proof(SECOND, old, new))
        assert feeder.submit(note(NINE), lambda _old, _new: [])

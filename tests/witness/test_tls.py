"""TLS of the servers: versions and ciphers that are recommended, and no others."""

from __future__ import annotations

import ssl
from contextlib import suppress
from pathlib import Path

import pytest

from taisai.listening import tls
from tests.witness.test_witness_client import certificate


def handshake(server: ssl.SSLContext, client: ssl.SSLContext) -> tuple[str | None, str]:
    """The version and the cipher that both agree on."""
    to_client, to_server = ssl.MemoryBIO(), ssl.MemoryBIO()
    ours = server.wrap_bio(to_server, to_client, server_side=True)
    theirs = client.wrap_bio(to_client, to_server)
    for _ in range(3):
        for side in (theirs, ours):
            with suppress(ssl.SSLWantReadError):
                side.do_handshake()
    cipher = theirs.cipher()
    assert cipher is not None
    return theirs.version(), cipher[0]


@pytest.fixture
def server(tmp_path: Path) -> ssl.SSLContext:
    """A context as uvicorn makes it, and we change it."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*certificate(tmp_path, "127.0.0.1"))
    hardened = tls.hardened(context)
    assert hardened is not None
    return hardened


def client(ciphers: str = "ALL:@SECLEVEL=0") -> ssl.SSLContext:
    """A client that takes nearly everything."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    context.set_ciphers(ciphers)
    return context


def test_the_newest_version_is_preferred(server: ssl.SSLContext) -> None:
    version, cipher = handshake(server, client())
    assert version == "TLSv1.3"
    assert cipher == "TLS_AES_256_GCM_SHA384"


def test_of_tls_1_2_the_strongest_cipher_is_chosen_whatever_the_client_prefers(
    server: ssl.SSLContext,
) -> None:
    for wanted in ("ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-ECDSA-AES256-GCM-SHA384", "ALL:@SECLEVEL=0"):
        theirs = client(wanted)
        theirs.maximum_version = ssl.TLSVersion.TLSv1_2
        assert handshake(server, theirs) == ("TLSv1.2", "ECDHE-ECDSA-AES256-GCM-SHA384")


@pytest.mark.filterwarnings("ignore:.*TLSv1.* is deprecated:DeprecationWarning")
def test_nothing_older_is_spoken(server: ssl.SSLContext) -> None:
    theirs = client()
    theirs.minimum_version, theirs.maximum_version = ssl.TLSVersion.TLSv1, ssl.TLSVersion.TLSv1_1
    with pytest.raises(ssl.SSLError, match=r"(?i)protocol"):
        handshake(server, theirs)


@pytest.mark.parametrize("weak", ["ECDHE-ECDSA-AES256-SHA384", "ECDHE-ECDSA-AES128-SHA", "AES256-GCM-SHA384"])
def test_no_cipher_block_chaining_and_no_key_without_forward_secrecy(
    server: ssl.SSLContext, weak: str
) -> None:
    theirs = client(f"{weak}:@SECLEVEL=0")
    theirs.maximum_version = ssl.TLSVersion.TLSv1_2
    with pytest.raises(ssl.SSLError, match=r"(?i)handshake|cipher"):
        handshake(server, theirs)


def test_the_list_has_nothing_else(server: ssl.SSLContext) -> None:
    names = [cipher["name"] for cipher in server.get_ciphers()]
    assert names
    assert [name for name in names if not ("GCM" in name or "CHACHA20" in name)] == []
    assert [name for name in names if not name.startswith(("TLS_", "ECDHE-"))] == []


def test_sabotage_a_context_of_the_machines_defaults_speaks_more(tmp_path: Path) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*certificate(tmp_path, "127.0.0.1"))
    context.set_ciphers("ALL:@SECLEVEL=0")
    theirs = client("ECDHE-ECDSA-AES256-SHA384:@SECLEVEL=0")
    theirs.maximum_version = ssl.TLSVersion.TLSv1_2
    assert handshake(context, theirs) == ("TLSv1.2", "ECDHE-ECDSA-AES256-SHA384")


def test_without_tls_there_is_nothing_to_change() -> None:
    assert tls.hardened(None) is None

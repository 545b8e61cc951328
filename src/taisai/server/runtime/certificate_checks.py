"""Whether browsers will believe the server's certificate: the handshake of one, tried at the start."""

from __future__ import annotations

import ssl
from collections.abc import Callable
from contextlib import suppress
from urllib.parse import urlsplit

from taisai.rules.errors import printable
from taisai.server.config import Config
from taisai.server.runtime.startup_checks import StartupReport


def check_certificate(
    config: Config,
    start: StartupReport,
    *,
    trusting: Callable[[], ssl.SSLContext] = ssl.create_default_context,
) -> None:
    """Warns if a browser that trusts what this machine trusts would refuse a page of the house.

    Where a proxy does the TLS, browsers see the proxy's certificate.
    """
    certificate, key = config.listen.tls_certificate, config.listen.tls_key
    if certificate is None or key is None or config.listen.behind_proxy:
        return
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    try:
        context.load_cert_chain(certificate, key)
    except OSError as error:  # also what is no certificate, or not of this key
        why = error.strerror or str(error)
        start.fails("certificate", f"cannot use {certificate.name} with {key.name}: {why}")
        return
    hosts = sorted({urlsplit(origin).hostname or "" for origin in config.listen.allowed_origins})
    for host in hosts:
        problem = refusal(context, trusting(), host)
        if problem is None:
            start.passes("certificate", f"{certificate.name} is trusted for {host}")
        else:
            advice = "install its authority on every device, or use one of a public authority"
            start.warns(
                "certificate", f"browsers may refuse {certificate.name} for {host}: {problem}; {advice}"
            )


def refusal(ours: ssl.SSLContext, theirs: ssl.SSLContext, host: str) -> str | None:
    """Why a client that asks for a host refuses the certificate of a server; None if it does not."""
    to_client, to_server = ssl.MemoryBIO(), ssl.MemoryBIO()
    server = ours.wrap_bio(to_server, to_client, server_side=True)
    client = theirs.wrap_bio(to_client, to_server, server_hostname=host)
    try:
        for _ in range(3):
            for side in (client, server):
                with suppress(ssl.SSLWantReadError):
                    side.do_handshake()
    except ssl.SSLCertVerificationError as error:
        return printable(error.verify_message, 200)
    return None

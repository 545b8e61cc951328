"""TLS as every server of Taisai speaks it: versions and ciphers, whatever the machine's defaults are."""

from __future__ import annotations

import ssl
from typing import Final

OLDEST: Final = ssl.TLSVersion.TLSv1_2
"""TLS 1.3 is preferred; older terminals may speak 1.2."""
CIPHERS: Final = "ECDHE+AESGCM:ECDHE+CHACHA20:@STRENGTH"
"""Of TLS 1.2: authenticated encryption with forward secrecy, the strongest first. TLS 1.3 has no others."""


def hardened(context: ssl.SSLContext | None) -> ssl.SSLContext | None:
    """The context of a server, with these versions and ciphers; None where a proxy does the TLS."""
    if context is not None:
        context.minimum_version = OLDEST
        context.set_ciphers(CIPHERS)
        context.options |= ssl.OP_CIPHER_SERVER_PREFERENCE | ssl.OP_NO_COMPRESSION | ssl.OP_NO_RENEGOTIATION
    return context

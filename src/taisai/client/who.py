"""Who a client says it is: nobody, someone with a session, or a device with its own key."""

from __future__ import annotations

from typing import Final, NamedTuple

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from taisai.protocol.message import WIRE
from taisai.protocol.requests import AskHello

_SAYS: Final = b"taisai device 1\n"


class Visitor(NamedTuple):
    """Nobody in particular."""


class Staff(NamedTuple):
    """A person, by the token of his session."""

    token: str

    def __repr__(self) -> str:  # never the token
        return "<Staff>"


class Device(NamedTuple):
    """A terminal, a display or a shaker, by its name and its private key."""

    name: str
    key: Ed25519PrivateKey

    @classmethod
    def of(cls, name: str, seed: bytes) -> Device:
        """A device whose key is made from 32 bytes that nobody else has."""
        return cls(name, Ed25519PrivateKey.from_private_bytes(seed))

    @property
    def public(self) -> str:
        """The key that it is enrolled with, in hexadecimal."""
        return self.key.public_key().public_bytes_raw().hex()

    def __repr__(self) -> str:  # never the key
        return f"<Device {self.name!r}>"


Who = Visitor | Staff | Device


def hello(id_: str, who: Who, nonce: str) -> AskHello:
    """The first ask, which answers the floor's challenge."""
    if isinstance(who, Staff):
        return AskHello(id=id_, wire=WIRE, token=who.token)
    if isinstance(who, Device):
        text = _SAYS + who.name.encode() + b"\n" + bytes.fromhex(nonce)
        return AskHello(id=id_, wire=WIRE, device=who.name, signature=who.key.sign(text).hex())
    return AskHello(id=id_, wire=WIRE)

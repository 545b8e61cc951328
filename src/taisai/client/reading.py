"""Reading what the floor tells: a list of tells a message."""

from __future__ import annotations

from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, Final

import msgspec

from taisai.client.connection import Connection
from taisai.protocol.message import Tell
from taisai.protocol.replies import TELLS

if TYPE_CHECKING:
    AnyTell = Tell
else:
    AnyTell = reduce(or_, TELLS)

_decode: Final = msgspec.json.Decoder(list[AnyTell]).decode


def read(text: str) -> list[Tell]:
    """The tells of a message."""
    return _decode(text)


async def next_tells(connection: Connection) -> list[Tell]:
    """The tells of the next message that has any."""
    while True:
        told = read(await connection.receive())
        if told:
            return told

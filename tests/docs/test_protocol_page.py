"""Every message has an example that the program itself reads and writes, and every field of it a meaning."""

from __future__ import annotations

from functools import reduce
from operator import or_
from typing import Any

import msgspec
import pytest
from msgspec import Struct

from taisai.protocol.commands import AT_HOUSE, AT_TABLE, BY_TAG
from taisai.protocol.replies import SERVER_MESSAGES
from taisai.protocol.requests import REQUESTS
from taisai.server.connections.sockets import decode_request
from tools import protocol
from tools.messages import MEANINGS, MESSAGES, meaning, said

decode_message = msgspec.json.Decoder(reduce(or_, SERVER_MESSAGES), strict=True).decode
KINDS = {
    "requests": [protocol.tag_of(kind) for kind in REQUESTS],
    "commands": list(BY_TAG),
    "messages": [protocol.tag_of(kind) for kind in SERVER_MESSAGES],
}
SENT = [line for file in ("requests", "commands") for line in protocol.examples(file).values()]
FILLED_IN = ("at", "by", "second")
"""Fields of commands that are not sent."""


def kept(given: Any, read: Any) -> bool:
    """Whether whatever was given is what was read; what was read may have more."""
    if isinstance(given, dict) and isinstance(read, dict):
        return all(name in read and kept(value, read[name]) for name, value in given.items())
    if isinstance(given, list) and isinstance(read, list):
        return len(given) == len(read) and all(map(kept, given, read))
    return bool(given == read)


def fields(kind: type[Struct]) -> list[str]:
    """The fields of a message that are sent and are about something."""
    left_out = FILLED_IN if kind in (*AT_TABLE, *AT_HOUSE) else ("id",) if kind in REQUESTS else ()
    return [name for name in kind.__struct_fields__ if name not in left_out]


@pytest.mark.parametrize("file", KINDS)
def test_there_is_an_example_of_every_kind_and_of_no_other(file: str) -> None:
    assert list(protocol.examples(file)) == KINDS[file]
    lines = (protocol.EXAMPLES / f"{file}.jsonl").read_text("utf-8").splitlines()
    assert len(lines) == len(KINDS[file]), "expected one line a kind"


@pytest.mark.parametrize("line", SENT, ids=lambda line: str(line)[:60])
def test_a_request_is_read_as_the_server_reads_it_and_nothing_of_it_is_lost(line: str) -> None:
    ask = decode_request(line)
    assert kept(msgspec.json.decode(line), msgspec.json.decode(msgspec.json.encode(ask)))
    assert decode_request(msgspec.json.encode(ask)) == ask


@pytest.mark.parametrize("line", protocol.examples("messages").values(), ids=lambda line: str(line)[:40])
def test_a_message_is_what_the_server_would_write(line: str) -> None:
    assert msgspec.json.encode(decode_message(line)).decode() == line


def test_every_field_of_every_message_has_a_meaning() -> None:
    assert [
        (kind.__name__, name) for kind in MESSAGES for name in fields(kind) if not meaning(kind, name)
    ] == []


def test_no_meaning_is_there_that_nothing_needs() -> None:
    needed = {name for kind in MESSAGES for name in fields(kind) if name not in said(kind)}
    assert set(MEANINGS) == needed


# Sabotages


@pytest.mark.parametrize(
    "line",
    [
        '{"type":"undo","id":"7","table":"SB1","seat":"7","why":"a field that is none"}',
        '{"type":"undo","id":"7","table":"SB1"}',
        '{"type":"sell-ticket","id":"18","amount":50000.0}',
        '{"type":"do","id":"20","table":"SB1","do":{"command":"perform","act":"cheat"}}',
    ],
)
def test_sabotage_an_example_that_the_server_would_refuse_is_noticed(line: str) -> None:
    with pytest.raises(msgspec.DecodeError):
        decode_request(line)


def test_sabotage_an_example_with_other_bytes_is_noticed() -> None:
    line = '{"type":"done","to":"1","again":false}'
    assert msgspec.json.encode(decode_message(line)).decode() != line


def test_sabotage_a_lost_field_is_noticed() -> None:
    assert not kept({"do": {"faces": [1, 2]}}, {"do": {"faces": [1, 3]}, "id": "1"})
    assert not kept({"a": 1}, {})

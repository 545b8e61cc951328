"""The socket's published schema is true: the server takes what it takes, and refuses what it refuses."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from functools import cache
from typing import Any, Final

import jsonschema_rs
import msgspec
import pytest

from taisai.protocol import replies
from taisai.protocol.commands import AT_HOUSE, AT_TABLE, BY_TAG, tag_of
from taisai.protocol.message import Request, ServerMessage
from taisai.protocol.replies import SERVER_MESSAGES, socket_schema
from taisai.protocol.requests import REQUESTS
from taisai.server.connections.sockets import decode_request
from tests.server import access_matrix as matrix
from tests.server.virtual_server import tells_schema

OTHERS: Final[tuple[Any, ...]] = (
    None, True, 0, -1, 1, 2**53, 2**70, 1.5, 1.0, "", "x", "x" * 64, "x" * 65, [], {}, [1], [1, 2, 3],
    {"a": 1},
)  # fmt: skip
"""What is put in the place of every part of an ask."""


@cache
def asks_schema() -> Any:
    """What the published schema says of asks."""
    published = socket_schema()
    return jsonschema_rs.validator_for({"$defs": published["$defs"], **published["properties"]["requests"]})


def whole(kind: type[msgspec.Struct]) -> dict[str, Any]:
    """A message with every field that it can have."""
    fields = {
        field.name: matrix._value(field.name, field.type) for field in msgspec.structs.fields(kind)
    }  # fmt: skip
    return {str(kind.__struct_config__.tag_field): kind.__struct_config__.tag, **fields}


def samples() -> Iterator[dict[str, Any]]:
    """Every ask and every command, with all of its fields."""
    for kind in REQUESTS:
        if kind.__name__ != "DoRequest":
            yield whole(kind) | {"id": "a"}
    for command in BY_TAG.values():
        yield {"type": "do", "id": "a", "table": "T1", "approval": None, "do": whole(command)}


def altered(ask: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The same ask with each part left out, in another place, of another kind."""
    for path in _paths(ask):
        for other in OTHERS:
            yield _with(ask, path, lambda parent, key, other=other: parent.__setitem__(key, other))
        yield _with(ask, path, lambda parent, key: parent.pop(key))
    for path in _objects(ask):
        yield _with(ask, (*path, "more"), lambda parent, key: parent.__setitem__(key, 1))


def _paths(part: Any, before: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    inner = part.items() if isinstance(part, dict) else enumerate(part) if isinstance(part, list) else ()
    for key, value in inner:
        yield (*before, key)
        yield from _paths(value, (*before, key))


def _objects(ask: dict[str, Any]) -> Iterator[tuple[Any, ...]]:
    yield ()
    if "do" in ask:
        yield ("do",)


def _with(ask: dict[str, Any], path: tuple[Any, ...], change: Any) -> dict[str, Any]:
    made = copy.deepcopy(ask)
    parent: Any = made
    for key in path[:-1]:
        parent = parent[key]
    change(parent, path[-1])
    return made


def takes(ask: object) -> bool:
    """Whether the server can read it."""
    try:
        decode_request(json.dumps(ask))
    except msgspec.DecodeError:
        return False
    return True


def has_whole_float(part: Any) -> bool:
    """Whether 1.0 stands where 1 may be meant, of which the schema warns."""
    if isinstance(part, dict):
        return any(map(has_whole_float, part.values()))
    return (
        any(map(has_whole_float, part))
        if isinstance(part, list)
        else isinstance(part, float) and part == int(part)
    )


def disagreements() -> list[str]:
    """Asks about which schema and server are not of one mind."""
    return [
        json.dumps(ask)[:200]
        for sample in samples()
        for ask in (sample, *altered(sample))
        if asks_schema().is_valid(ask) != takes(ask) and not has_whole_float(ask)
    ]


def leaves(kind: type[msgspec.Struct]) -> list[type[msgspec.Struct]]:
    """The kinds of message that come from a base and are none themselves."""
    inner = kind.__subclasses__()
    return [leaf for one in inner for leaf in leaves(one)] if inner else [kind]


def test_the_schema_has_every_message_and_each_in_its_direction() -> None:
    published = socket_schema()
    named = {
        way: {one["$ref"].rpartition("/")[2] for one in options}
        for way, options in (
            ("requests", published["properties"]["requests"]["anyOf"]),
            ("messages", published["properties"]["messages"]["items"]["anyOf"]),
        )
    }
    assert (
        named["requests"]
        == {kind.__name__ for kind in REQUESTS}
        == {kind.__name__ for kind in leaves(Request)}
    )
    assert (
        named["messages"]
        == {kind.__name__ for kind in SERVER_MESSAGES}
        == {kind.__name__ for kind in leaves(ServerMessage)}
    )
    assert all(name.endswith("Request") for name in named["requests"])
    assert all(name.endswith(("Reply", "Notice")) for name in named["messages"])


def test_every_sample_is_taken_by_schema_and_server() -> None:
    count = 0
    for sample in samples():
        asks_schema().validate(sample)
        decode_request(json.dumps(sample))
        count += 1
    assert count == len(REQUESTS) - 1 + len(AT_TABLE) + len(AT_HOUSE)


def test_schema_and_server_are_of_one_mind_about_every_ask_that_is_altered_somewhere() -> None:
    assert disagreements() == []


def test_the_one_thing_that_json_schema_cannot_say_is_said_in_words() -> None:
    ask = {"type": "sell-ticket", "id": "a", "amount": 1.0}
    assert asks_schema().is_valid(ask)
    assert not takes(ask)
    assert "1.0 is refused where 1 is expected" in socket_schema()["$comment"]


def test_sabotage_a_schema_that_is_laxer_than_the_server_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    published = copy.deepcopy(socket_schema())
    published["$defs"]["SellTicketRequest"]["properties"]["amount"].pop("minimum")
    lax = jsonschema_rs.validator_for({"$defs": published["$defs"], **published["properties"]["requests"]})
    monkeypatch.setitem(globals(), "asks_schema", lambda: lax)
    found = disagreements()
    assert found
    assert all("sell-ticket" in one for one in found)


def test_sabotage_a_server_that_is_laxer_than_the_schema_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    lax = msgspec.json.Decoder(Any).decode
    monkeypatch.setitem(globals(), "decode_request", lax)
    assert len(disagreements()) > 1_000


def test_sabotage_a_tell_that_the_schema_does_not_have_is_seen() -> None:
    right = json.loads(
        msgspec.json.encode([replies.DoneReply(to="a"), replies.EndNotice(why="idle", message="m")])
    )
    assert tells_schema().is_valid(right)
    for wrong in ([{"type": "done"}], [{"type": "gone", "to": "a"}], right[0], [{**right[0], "to": 7}]):
        assert not tells_schema().is_valid(wrong)


def test_a_command_goes_to_the_server_without_who_and_when() -> None:
    for tag, kind in BY_TAG.items():
        names = {field.name for field in msgspec.structs.fields(kind)}
        assert not names & {"at", "by", "second"}
        assert tag_of(msgspec.convert(whole(kind), kind)) == tag

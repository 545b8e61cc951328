"""Writes docs/reference/protocol.md from the message types, with the examples of cases/protocol/."""

from __future__ import annotations

import enum
from collections.abc import Iterator
from functools import cache
from inspect import getdoc
from pathlib import Path
from typing import Any, Final, get_args

import msgspec
from msgspec import Struct

from taisai.protocol.commands import AT_HOUSE, AT_TABLE, BY_TAG, NEEDS_SECOND
from taisai.protocol.message import MOST_ID, MOST_MESSAGE, PROTOCOL_VERSION, TYPE, Reply
from taisai.protocol.replies import SERVER_MESSAGES, RefusedReply
from taisai.protocol.requests import REQUESTS
from taisai.protocol.views import CHANGES, VIEWS
from tools.messages import default, meaning, typed

ROOT: Final = Path(__file__).parent.parent
PAGE: Final = ROOT / "docs" / "reference" / "protocol.md"
EXAMPLES: Final = ROOT / "cases" / "protocol"
HEAD: Final = f"""\
# The protocol

`make pictures` writes this page from the message types. The examples are in `cases/protocol/`; a test reads
every one of them with the program's own reader. Version {PROTOCOL_VERSION}. Every server publishes the same
as JSON Schema: `GET /schema/socket.json`, and the HTTP endpoints: `GET /schema/openapi.json`. How a server
behaves: [the server](server.md). Who may send what: [permissions](permissions.md).

A connection is a WebSocket at `/socket`. A client sends **requests**, one JSON object in each text message of
at most {MOST_MESSAGE // 1024} KiB. The server sends **replies** and **notices**, a JSON list of them in each
text message. The key `type` names the kind of message. The server answers every request exactly once while
the connection lasts: with a reply or a snapshot whose `to` is the request's `id`. It refuses
requests with fields that are not listed, and `1.0` where an integer is expected. Money is in whole minor
units, time in milliseconds since 1970 in UTC, odds are text such as `8.5 to 1`. A client may leave out a
field that has a default, and the server leaves out fields that have their default value. A client should
ignore fields that it does not know.
"""
_REQUESTS: Final = f"""
## Requests

Every request has an `id`, a string of 1 to {MOST_ID} characters. The client chooses it, and the reply
repeats it.
"""
_COMMANDS: Final = """
## Commands

The field `do` of the request `do`. The server fills in the actor, the time and the second person. Commands
marked ² may need a second person, whose approval comes with the request.
"""
_SERVER_MESSAGES: Final = """
## Server messages

The server first sends a challenge, then replies and the changes of feeds, and at last the reason why it
closes the connection.
"""
_VIEWS: Final = """
## Views

What feeds show. A `snapshot` has the whole view, a `change` those fields that are different, each with its
whole new value. One field changes in parts: of a seat's `bets` a change has `cleared` (remove all), `gone`
(remove these ids) and `placed` (add these), applied in this order.
"""
_PARTS: Final = """
## Parts

The objects inside messages and views.
"""
_WORDS: Final = """
## Words

The values of fields that have one of a few words.
"""


def page() -> str:
    """The page as it should be."""
    return "".join([HEAD, *_requests(), *_commands(), *_messages(), *_views(), *_words()])


# Its sections


def _requests() -> Iterator[str]:
    yield _REQUESTS
    for kind in REQUESTS:
        tag = tag_of(kind)
        yield f"\n### request `{tag}`\n\n{getdoc(kind)}\n{_fields(kind)}{_example('requests', tag)}"


def _commands() -> Iterator[str]:
    yield _COMMANDS
    for kind in (*AT_TABLE, *AT_HOUSE):
        tag = tag_of(kind)
        mark = " ²" if tag in NEEDS_SECOND else ""
        where = " A command of the House: without a table." if kind in AT_HOUSE else ""
        yield f"\n### do `{tag}`{mark}\n\n{getdoc(kind)}{where}\n"
        yield f"{_fields(BY_TAG[tag], kind)}{_example('commands', tag)}"


def _messages() -> Iterator[str]:
    yield _SERVER_MESSAGES
    for kind in SERVER_MESSAGES:
        tag = tag_of(kind)
        yield f"\n### {_direction(kind)} `{tag}`\n\n{getdoc(kind)}\n{_fields(kind)}"
        yield _example("messages", tag)


def _direction(kind: type[Struct]) -> str:
    return "reply" if issubclass(kind, Reply | RefusedReply) else "notice"


def _views() -> Iterator[str]:
    yield _VIEWS
    for kind in VIEWS:
        yield f'\n### {kind.__name__}\n\n{getdoc(kind)} `"of":"{tag_of(kind)}"`\n{_fields(kind)}'
    yield _PARTS
    for one in parts():
        yield f"\n### {one.__name__}\n\n{getdoc(one)}\n{_fields(one)}"


def _words() -> Iterator[str]:
    yield _WORDS
    for kind in _reached():
        if issubclass(kind, enum.Enum):
            says = " · ".join(f"`{one.value}`" for one in kind)
            yield f"\n### {kind.__name__} (words)\n\n{getdoc(kind)} {says}\n"


def _fields(kind: type[Struct], says: type[Struct] | None = None) -> str:
    """The table of a struct's fields; `says` is where their meaning stands, if elsewhere."""
    rows = [
        f"| `{one.name}` | {typed(one.type)} | {default(one)} | {meaning(says or kind, one.name)} |\n"
        for one in msgspec.structs.fields(kind)
        if not (one.name == "id" and kind in REQUESTS)
    ]
    head = "| field | type | default | meaning |\n|---|---|---|---|\n"
    return f"\n{head}{''.join(rows)}" if rows else ""


def _example(file: str, tag: str) -> str:
    return f"\n```json\n{examples(file)[tag]}\n```\n"


# What there is


def tag_of(kind: type[Struct]) -> str:
    """The `type` of a message, or the tag of a view or command."""
    return str(kind.__struct_config__.tag)


@cache
def examples(file: str) -> dict[str, str]:
    """Tag → its example, a line of a file in cases/protocol/."""
    lines = (EXAMPLES / f"{file}.jsonl").read_text("utf-8").splitlines()
    found: dict[str, str] = {}
    for line in lines:
        read: dict[str, Any] = msgspec.json.decode(line)
        found[read["do"]["command"] if file == "commands" else read[TYPE]] = line
    return found


def parts() -> list[type[Struct]]:
    """Every struct of which messages and views are made, and that is none itself."""
    known = {*REQUESTS, *SERVER_MESSAGES, *BY_TAG.values(), *VIEWS, *CHANGES.values()}
    return [one for one in _reached() if issubclass(one, Struct) and one not in known]


@cache
def _reached() -> tuple[Any, ...]:
    """Every struct and every list of words that a message can contain, by name."""
    found: dict[Any, None] = {}
    waiting: list[Any] = [*REQUESTS, *SERVER_MESSAGES, *BY_TAG.values()]
    while waiting:
        kind = waiting.pop()
        if kind not in found:
            found[kind] = None
            if issubclass(kind, Struct):
                waiting += [inner for one in msgspec.structs.fields(kind) for inner in _within(one.type)]
    return tuple(sorted(found, key=lambda one: str(one.__name__)))


def _within(kind: Any) -> Iterator[Any]:
    if isinstance(kind, type) and issubclass(kind, Struct | enum.Enum):
        yield kind
    for inner in get_args(kind):
        yield from _within(inner)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    print(PAGE)

"""Writes docs/wire.md out of the messages themselves, and their examples out of cases/wire/."""

from __future__ import annotations

import enum
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, Final, get_args

import msgspec
from msgspec import Struct

from taisai.protocol.commands import AT_HOUSE, AT_TABLE, BY_TAG, NEEDS_SECOND
from taisai.protocol.message import MOST_ID, MOST_MESSAGE, WIRE
from taisai.protocol.replies import TELLS
from taisai.protocol.requests import ASKS
from taisai.protocol.views import CHANGES, VIEWS
from tools.messages import default, meaning, typed

ROOT: Final = Path(__file__).parent.parent
PAGE: Final = ROOT / "docs" / "wire.md"
EXAMPLES: Final = ROOT / "cases" / "wire"
HEAD: Final = f"""\
# The wire

Made by `make pictures` from the messages themselves; the examples are in `cases/wire/`, and a test sends
every one of them through the program's own reader. Version {WIRE}. The same as JSON Schema: `GET
/schema/socket.json` of any floor; the endpoints beside the socket: `GET /schema/openapi.json`. How a floor
behaves: [the floor](floor.md). Who may ask what: [access](access.md).

A connection is a WebSocket at `/socket`. A client sends **asks**, one JSON object to a text message, at
most {MOST_MESSAGE // 1024} KiB; the floor sends **tells**, a JSON list of them to a message. The key `ask`
or `tell` says which one it is. Every ask is answered exactly once while the connection lasts, by a tell
whose `re` is the ask's own id. Fields that are not listed are refused, and so is `1.0` where an integer is
meant. Money is whole minor units, time milliseconds since 1970 in UTC, odds are text such as `8.5 to 1`. A
field with a default may be left out, and a tell leaves out those of its own; a client should pass over
fields that it does not know.
"""
_ASKS: Final = f"""
## Asks

Every ask has an `id`, a string of 1 to {MOST_ID} characters: the client's own, which the answer repeats.
"""
_COMMANDS: Final = """
## Commands

Inside the ask `do`. Who, when and the second person are the floor's to fill in. Those with ² may need a
second person, whose approval comes with the ask.
"""
_TELLS: Final = """
## Tells

What the floor says: first a challenge, then answers and whatever feeds bring, and at last why it ends.
"""
_VIEWS: Final = """
## Views

What feeds show. A `snapshot` has all of a view, a `change` those fields of it that are different, each
whole. One field changes bit by bit: of a seat's `bets` a change says `cleared` (all go), `gone` (these ids
go) and `placed` (these come), in this order.
"""
_PARTS: Final = """
## Parts

Of which messages and views are made.
"""
_WORDS: Final = """
## Words

What a field of these types may say.
"""


def page() -> str:
    """The page as it should be."""
    return "".join([HEAD, *_asks(), *_commands(), *_tells(), *_views(), *_words()])


# Its sections


def _asks() -> Iterator[str]:
    yield _ASKS
    for kind in ASKS:
        tag = tag_of(kind)
        yield f"\n### ask `{tag}`\n\n{kind.__doc__}\n{_fields(kind)}{_example('asks', tag)}"


def _commands() -> Iterator[str]:
    yield _COMMANDS
    for kind in (*AT_TABLE, *AT_HOUSE):
        tag = tag_of(kind)
        mark = " ²" if tag in NEEDS_SECOND else ""
        where = " Asked of the House: without a table." if kind in AT_HOUSE else ""
        yield f"\n### do `{tag}`{mark}\n\n{kind.__doc__}{where}\n"
        yield f"{_fields(BY_TAG[tag], kind)}{_example('commands', tag)}"


def _tells() -> Iterator[str]:
    yield _TELLS
    for kind in TELLS:
        tag = tag_of(kind)
        yield f"\n### tell `{tag}`\n\n{kind.__doc__}\n{_fields(kind)}{_example('tells', tag)}"


def _views() -> Iterator[str]:
    yield _VIEWS
    for kind in VIEWS:
        yield f'\n### {kind.__name__}\n\n{kind.__doc__} `"of":"{tag_of(kind)}"`\n{_fields(kind)}'
    yield _PARTS
    for one in parts():
        yield f"\n### {one.__name__}\n\n{one.__doc__}\n{_fields(one)}"


def _words() -> Iterator[str]:
    yield _WORDS
    for kind in _reached():
        if issubclass(kind, enum.Enum):
            says = " · ".join(f"`{one.value}`" for one in kind)
            yield f"\n### {kind.__name__} (words)\n\n{kind.__doc__} {says}\n"


def _fields(kind: type[Struct], says: type[Struct] | None = None) -> str:
    """The table of a struct's fields; `says` is where their meaning stands, if elsewhere."""
    rows = [
        f"| `{one.name}` | {typed(one.type)} | {default(one)} | {meaning(says or kind, one.name)} |\n"
        for one in msgspec.structs.fields(kind)
        if not (one.name == "id" and kind in ASKS)
    ]
    head = "| field | type | unless said | meaning |\n|---|---|---|---|\n"
    return f"\n{head}{''.join(rows)}" if rows else ""


def _example(file: str, tag: str) -> str:
    return f"\n```json\n{examples(file)[tag]}\n```\n"


# What there is


def tag_of(kind: type[Struct]) -> str:
    """What a message is called on the wire."""
    return str(kind.__struct_config__.tag)


@cache
def examples(file: str) -> dict[str, str]:
    """Tag → its example, a line of a file in cases/wire/."""
    lines = (EXAMPLES / f"{file}.jsonl").read_text("utf-8").splitlines()
    found: dict[str, str] = {}
    for line in lines:
        read: dict[str, Any] = msgspec.json.decode(line)
        found[read["do"]["command"] if file == "commands" else read[file.removesuffix("s")]] = line
    return found


def parts() -> list[type[Struct]]:
    """Every struct of which messages and views are made, and that is none itself."""
    known = {*ASKS, *TELLS, *BY_TAG.values(), *VIEWS, *CHANGES.values()}
    return [one for one in _reached() if issubclass(one, Struct) and one not in known]


@cache
def _reached() -> tuple[Any, ...]:
    """Every struct and every list of words that a message can contain, by name."""
    found: dict[Any, None] = {}
    waiting: list[Any] = [*ASKS, *TELLS, *BY_TAG.values()]
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

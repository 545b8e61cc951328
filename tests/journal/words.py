"""Every word that a journal may contain, taken from the types and constants of today.

`python -m tests.journal.words > cases/journals/format-2-words.json` writes those added since format 1.
"""

from __future__ import annotations

import ast
import json
import sys
from collections.abc import Iterable, Iterator, Mapping
from enum import Enum
from pathlib import Path
from typing import Any, Final

import msgspec
from msgspec import NODEFAULT, UNSET, inspect

import taisai
from taisai.cage.messages import HOUSE_COMMANDS, HOUSE_EVENTS, NoteOverride
from taisai.game.commands import COMMANDS
from taisai.game.events import EVENTS
from taisai.game.messages import tag_of
from taisai.game.money.ledger import Account
from taisai.game.terms.terms import EVEN_MONEY, family
from taisai.game.vocabulary import SYSTEM
from taisai.journal.codec import (
    FORMAT,
    HOUSE_STREAM,
    JOURNAL_STREAM,
    NOTHING_BEFORE,
    RECORDS,
    Entry,
    stream_of,
)
from taisai.rules import rulebook, rulebook_ids
from taisai.rules.clauses import HOUSE_PROCEDURES as CLAUSES
from taisai.server.auth.verification import SignInFailure
from taisai.server.config.configuration import every_setting

FOLDER: Final = Path(__file__).parents[2] / "cases" / "journals"
FROZEN: Final = FOLDER / "format-1-words.json"
"""The words of format 1, as released. Never edited."""
WORDS: Final = FOLDER / "format-2-words.json"
"""The words added since. Format 2 stays open until release 1.0, which freezes it."""
TEXTS: Final = {
    "irregularity-ruled": {"detail": ["by [a-z-]+", r"found \d+ of \d+ cards"]},
    "referred": {
        "referral": [r"r\d+"],
        "detail": [r"whether \d+ earlier round\(s\) of these decks stand", "stopped when [a-z-]+"],
    },
    "settlement-witnessed": {"reason": ["interrupted", "equipment-failure"]},
    "table-shut": {"reason": ["interrupted", "equipment-failure"]},
    "claim-settled": {"claim": [r"c\d+"]},
}
"""Tag → field → regular expressions of what the engine itself writes there, beside the words of a command."""
Kind = type[msgspec.Struct]
_ORDERED: Final = ("/items", "/parts-of-an-entry")
"""Lists whose order is part of the format."""


def words(
    events: Iterable[Kind] = (*EVENTS, *HOUSE_EVENTS, *RECORDS),
    commands: Iterable[Kind] = (*COMMANDS, *HOUSE_COMMANDS),
) -> dict[str, Any]:
    """All words, as plain JSON."""
    return {
        "format": FORMAT,
        "streams": [JOURNAL_STREAM, HOUSE_STREAM, stream_of("<table>")],
        "nothing-before": NOTHING_BEFORE,
        "entry": _message(Entry, without=("event", "asked")),
        "parts-of-an-entry": list(Entry.__struct_fields__),
        "events": {tag_of(kind): _message(kind) for kind in events},
        "commands": {tag_of(kind): _message(kind) for kind in commands},
        "actors": sorted(SYSTEM),
        "accounts": {account.value: "held" if account.held else "owed" for account in Account},
        "house-clauses": sorted(CLAUSES),
        "causes-of-failed-sign-ins": sorted(cause.value for cause in SignInFailure),
        "overrides": sorted(set(_overrides())),
        "settings": sorted(_settings()),
        "groups-of-areas": sorted({EVEN_MONEY, *_families()}),
        "texts": TEXTS,
    }


def printed(value: Mapping[str, Any]) -> str:
    """The words with a line for each message, so that a change of one is a change of a line."""
    parts = []
    for key, part in value.items():
        if key in ("events", "commands"):
            lines = ",\n".join(f"    {_line(tag)}: {_line(part[tag])}" for tag in sorted(part))
            parts.append(f"  {_line(key)}: {{\n{lines}\n  }}")
        else:
            parts.append(f"  {_line(key)}: {_line(part)}")
    return "{\n" + ",\n".join(parts) + "\n}\n"


def added(frozen: Any, today: Any) -> Any:
    """What today's words have beyond the frozen ones, in the same places."""
    if isinstance(frozen, dict) and isinstance(today, dict):
        return {
            key: added(frozen[key], part) if key in frozen else part
            for key, part in today.items()
            if key not in frozen or frozen[key] != part
        }
    if isinstance(frozen, list) and isinstance(today, list):
        return [part for part in today if part not in frozen]
    return today


def merged(frozen: Any, more: Any) -> Any:
    """The frozen words together with those added since."""
    if isinstance(frozen, dict) and isinstance(more, dict):
        both = {key: merged(part, more[key]) if key in more else part for key, part in frozen.items()}
        return both | {key: part for key, part in more.items() if key not in frozen}
    if isinstance(frozen, list) and isinstance(more, list):
        return [*frozen, *more]
    return more


def differences(frozen: Any, today: Any, path: str = "") -> Iterator[str]:
    """Every place where two sets of words differ."""
    if isinstance(frozen, dict) and isinstance(today, dict):
        for key in sorted(frozen.keys() | today.keys()):
            where = f"{path}/{key}"
            if key not in today:
                yield f"{where}: frozen, and gone today"
            elif key not in frozen:
                yield f"{where}: new today, and not in {WORDS.name}"
            else:
                yield from differences(frozen[key], today[key], where)
    elif frozen != today and not _is_same_choice(frozen, today, path):
        yield f"{path}: frozen as {_line(frozen)}, today {_line(today)}"


def _is_same_choice(frozen: Any, today: Any, path: str) -> bool:
    """Whether two lists name the same words in another order, where the order means nothing."""
    if not (isinstance(frozen, list) and isinstance(today, list)) or path.endswith(_ORDERED):
        return False
    return sorted(map(_line, frozen)) == sorted(map(_line, today))


def _line(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _message(kind: Kind, *, without: tuple[str, ...] = ()) -> dict[str, Any]:
    fields = {
        field.encode_name: _field(field)
        for field in msgspec.structs.fields(kind)
        if field.name not in without
    }
    return {"leaves-out-defaults": kind.__struct_config__.omit_defaults, "fields": fields}


def _field(field: msgspec.structs.FieldInfo) -> Any:
    shape = _shape(inspect.type_info(field.type))
    if field.required:
        return shape
    if field.default is UNSET:
        return {"type": shape, "default": "absent"}
    default = field.default if field.default is not NODEFAULT else field.default_factory()
    return {"type": shape, "default": json.loads(msgspec.json.encode(default))}


def _shape(kind: inspect.Type) -> Any:
    shape: Any
    match kind:
        case inspect.EnumType():
            shape = {"one-of": sorted(_plain(value) for value in kind.cls)}
        case inspect.LiteralType():
            shape = {"one-of": sorted(map(_plain, kind.values))}
        case inspect.UnionType():
            shape = {"either": sorted(map(_shape, kind.types), key=_line)}
        case inspect.VarTupleType() | inspect.ListType():
            shape = {"list-of": _shape(kind.item_type)}
        case inspect.TupleType():
            shape = {"items": [_shape(item) for item in kind.item_types]}
        case inspect.DictType():
            shape = {"keys": _shape(kind.key_type), "values": _shape(kind.value_type)}
        case inspect.StructType():
            shape = _message(kind.cls) | {"as": "list" if kind.array_like else "object"}
        case inspect.IntType() | inspect.StrType() | inspect.BoolType() | inspect.NoneType():
            shape = type(kind).__name__.removesuffix("Type").lower()
        case _:
            raise TypeError(f"expected a type that a journal contains, got {kind}")
    return shape


def _plain(value: Any) -> str:
    return str(value.value if isinstance(value, Enum) else value)


def _settings() -> Iterator[str]:
    for section, setting in every_setting():
        if setting.is_public:
            yield f"{section}.{setting.name}" if section != "table" else f"table.<table>.{setting.name}"
    yield "table.<table>.rulebook"


def _families() -> Iterator[str]:
    for name in rulebook_ids():
        yield from (family(str(area)) for area in rulebook(name).areas)


def _overrides() -> Iterator[str]:
    """What an override may be about: the word stands where the server notes one."""
    for path in Path(taisai.__file__).parent.rglob("*.py"):
        text = path.read_text("utf-8")
        if f"{NoteOverride.__name__}(" not in text:
            continue
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Call) and ast.unparse(node.func).endswith(NoteOverride.__name__):
                yield from (ast.literal_eval(word.value) for word in node.keywords if word.arg == "what")


if __name__ == "__main__":
    sys.stdout.write(printed(added(json.loads(FROZEN.read_text("utf-8")), words())))

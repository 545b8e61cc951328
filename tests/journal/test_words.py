"""The words of format 1 are frozen: today's program uses each of them, with those added in format 2.

A word that is gone or changed makes old journals unreadable. `python -m tests.journal.words` prints the
words added since format 1, as `cases/journals/format-2-words.json` has them.
"""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec
import pytest

from taisai.cage.messages import HOUSE_COMMANDS, HOUSE_EVENTS
from taisai.game.commands import COMMANDS
from taisai.game.events import EVENTS, BetMoved
from taisai.game.messages import Message, tag_of
from taisai.game.money.ledger import Account
from taisai.journal.codec import ADDED_FIELDS, RECORDS
from tests.journal import words
from tests.journal.words import FROZEN, WORDS, added, differences, merged

ROOT = Path(__file__).parents[2]
FORMAT_1: dict[str, Any] = json.loads(FROZEN.read_text("utf-8"))
ADDED: dict[str, Any] = json.loads(WORDS.read_text("utf-8"))
ALL: dict[str, Any] = merged(FORMAT_1, ADDED)
DIGEST_OF_FORMAT_1 = "17d8667c7e42680274017289fcea79aebfa0b3eeafee3ee7e5f3cb4ec288f6fe"


def test_the_words_of_format_1_are_as_they_were_released() -> None:
    assert sha256(FROZEN.read_bytes()).hexdigest() == DIGEST_OF_FORMAT_1
    assert (len(FORMAT_1["events"]), len(FORMAT_1["commands"])) == (97, 73)


def test_the_words_of_both_formats_are_those_of_today() -> None:
    assert list(differences(ALL, words.words())) == []


def test_the_added_words_are_as_they_are_printed() -> None:
    assert words.printed(added(FORMAT_1, words.words())) == WORDS.read_text("utf-8")


@pytest.mark.parametrize("part", ["events", "commands"])
def test_every_added_kind_names_its_format_and_no_other_kind_does(part: str) -> None:
    events: tuple[type[Message], ...] = (*EVENTS, *HOUSE_EVENTS, *RECORDS)
    kinds = events if part == "events" else (*COMMANDS, *HOUSE_COMMANDS)
    newer = {tag_of(kind) for kind in kinds if kind.since == 2}
    assert newer == ADDED[part].keys() - FORMAT_1[part].keys()


def test_every_field_added_to_a_kind_of_format_1_is_known_to_the_codec() -> None:
    """A new field has a default, so that old bytes stay, and it may not stand in an entry of format 1."""
    fields: dict[str, set[str]] = {}
    for part in ("events", "commands"):
        for tag in ADDED[part].keys() & FORMAT_1[part].keys():
            frozen, more = FORMAT_1[part][tag]["fields"], ADDED[part][tag].get("fields", {})
            new = more.keys() - frozen.keys()
            assert all("default" in more[name] for name in new), tag
            if new:
                fields[tag] = set(new)
    assert fields == {tag: set(names) for tag, names in ADDED_FIELDS.items()}


def test_the_description_of_the_format_names_every_added_kind() -> None:
    text = (ROOT / "docs" / "reference" / "journal-format.md").read_text("utf-8")
    section = text.partition("## Versions of the format")[2].partition("\n## ")[0]
    tags = [tag for part in ("events", "commands") for tag in ADDED[part].keys() - FORMAT_1[part].keys()]
    assert [tag for tag in tags if f"`{tag}`" not in section] == []


def renamed_field(**fields: Any) -> type[msgspec.Struct]:
    """A stand-in for `bet-moved` with other fields."""
    return msgspec.defstruct("BetMoved", list(fields.items()), tag_field="event", tag="bet-moved")


BET_MOVED: dict[str, Any] = {field.name: field.type for field in msgspec.structs.fields(BetMoved)}


@pytest.mark.parametrize(
    ("fields", "found"),
    [
        (BET_MOVED, []),
        (
            {name.replace("second", "other"): kind for name, kind in BET_MOVED.items()},
            ["/other: new today, and not in format-2-words.json", "/second: frozen, and gone today"],
        ),
        (BET_MOVED | {"area": int}, ['/area: frozen as "str", today "int"']),
        (BET_MOVED | {"again": bool}, ["/again: new today, and not in format-2-words.json"]),
    ],
)
def test_sabotage_another_shape_of_an_event_is_found(fields: dict[str, Any], found: list[str]) -> None:
    kinds = tuple(EVENTS[: EVENTS.index(BetMoved)]) + tuple(EVENTS[EVENTS.index(BetMoved) + 1 :])
    today = words.words(events=(*kinds, renamed_field(**fields)))
    where = "/events/bet-moved/fields"
    assert [line for line in differences(ALL, today) if line.startswith("/events/bet-moved")] == [
        where + line for line in found
    ]


@pytest.mark.parametrize(
    ("name", "value", "found"),
    [
        ("SYSTEM", frozenset({"clock"}), "/actors"),
        ("Account", [Account.CAGE], "/accounts/capital: frozen, and gone today"),
        ("CLAUSES", {"house:void": ""}, "/house-clauses"),
        ("HOUSE_STREAM", "casino", "/streams"),
    ],
)
def test_sabotage_other_constants_are_found(
    name: str, value: Any, found: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(words, name, value)
    assert any(line.startswith(found) for line in differences(ALL, words.words()))

"""The words of format 1 are frozen: today's program uses each of them with the same shape.

A word that is gone or changed makes old journals unreadable. A new word is added to the file by hand,
beside the old ones; `python -m tests.journal.words` prints the words of today.
"""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from taisai.game.events import EVENTS, BetMoved
from taisai.game.money.ledger import Account
from tests.journal import words
from tests.journal.words import WORDS, differences

FROZEN: dict[str, Any] = json.loads(WORDS.read_text("utf-8"))


def test_the_words_of_format_1_are_those_of_today() -> None:
    assert list(differences(FROZEN, words.words())) == []


def test_all_kinds_are_frozen() -> None:
    assert (len(FROZEN["events"]), len(FROZEN["commands"])) == (97, 73)


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
            ["/other: new today, and not in format-1-words.json", "/second: frozen, and gone today"],
        ),
        (BET_MOVED | {"area": int}, ['/area: frozen as "str", today "int"']),
        (BET_MOVED | {"again": bool}, ["/again: new today, and not in format-1-words.json"]),
    ],
)
def test_sabotage_another_shape_of_an_event_is_found(fields: dict[str, Any], found: list[str]) -> None:
    kinds = tuple(EVENTS[: EVENTS.index(BetMoved)]) + tuple(EVENTS[EVENTS.index(BetMoved) + 1 :])
    today = words.words(events=(*kinds, renamed_field(**fields)))
    where = "/events/bet-moved/fields"
    assert [line for line in differences(FROZEN, today) if line.startswith("/events/bet-moved")] == [
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
    assert any(line.startswith(found) for line in differences(FROZEN, words.words()))

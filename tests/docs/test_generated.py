"""What is made from the program is as the program makes it; what lists its words lists all of them."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from pathlib import Path

import pytest

from taisai.rules.chance import ChanceKind
from taisai.rules.clauses import HOUSE_PROCEDURES, ClauseSubject
from taisai.rules.equipment import InspectedBefore, LimitPolicy, LimitScope, PermittedMeans
from taisai.rules.irregularities import Ruling
from taisai.rules.layout import Drawing
from taisai.rules.pay import Condition
from taisai.rules.people import HigherMayAct
from taisai.rules.procedure import Declared, Recovery
from taisai.rules.settings import RulesPart
from taisai.rules.vocabulary import Act, Irregularity, Need, Phase
from taisai.server.auth import permissions
from tools import access, edges, protocol
from tools.commands import page
from tools.pictures import pictures

DOCS = Path(__file__).parents[2] / "docs"
WORDS: tuple[type[StrEnum], ...] = (
    ClauseSubject,
    Act,
    ChanceKind,
    RulesPart,
    Condition,
    Declared,
    Drawing,
    HigherMayAct,
    InspectedBefore,
    Irregularity,
    LimitPolicy,
    LimitScope,
    PermittedMeans,
    Need,
    Phase,
    Recovery,
    Ruling,
)


def test_the_commands_page_is_the_commands_help() -> None:
    assert (DOCS / "reference" / "commands.md").read_text("utf-8") == page(), "run make pictures"


def test_the_pictures_are_the_rulebooks_layouts() -> None:
    drawn = {file.name: file.read_text("utf-8") for file in (DOCS / "pictures").glob("*.svg")}
    assert drawn == pictures() | {"edges.svg": edges.picture()}, "run make pictures"


def test_the_page_of_edges_is_the_rulebooks() -> None:
    assert (DOCS / "reference" / "house-edges.md").read_text("utf-8") == edges.page(), "run make pictures"


def test_the_page_of_access_is_the_one_table() -> None:
    assert (DOCS / "reference" / "permissions.md").read_text("utf-8") == access.page(), "run make pictures"


def test_the_page_of_the_wire_is_the_messages() -> None:
    assert (DOCS / "reference" / "protocol.md").read_text("utf-8") == protocol.page(), "run make pictures"


@pytest.mark.parametrize("page_of", [access.page, protocol.page], ids=["access", "protocol"])
def test_sabotage_what_is_made_of_another_table_is_another_page(
    monkeypatch: pytest.MonkeyPatch, page_of: Callable[[], str]
) -> None:
    before = page_of()
    monkeypatch.setitem(permissions.REQUESTS, "reading", permissions.REQUESTS["hello"])
    monkeypatch.setattr(protocol, "NEEDS_SECOND", frozenset())
    assert page_of() != before


@pytest.mark.parametrize("words", WORDS, ids=lambda words: words.__name__)
def test_the_format_page_lists_every_word(words: type[StrEnum]) -> None:
    text = (DOCS / "reference" / "rulebook-format.md").read_text("utf-8")
    assert [word for word in words if f"`{word}`" not in text and f'"{word}"' not in text] == []


def test_the_house_procedures_are_listed_as_they_are() -> None:
    text = (DOCS / "reference" / "house-procedures.md").read_text("utf-8")
    rows = dict(
        line.strip("|").replace("`", "").split("|")
        for line in text.splitlines()
        if line.startswith("| `house:")
    )
    assert {name.strip(): says.strip() for name, says in rows.items()} == dict(HOUSE_PROCEDURES)

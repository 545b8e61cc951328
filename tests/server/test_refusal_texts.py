"""Every refusal that a page's user can meet has words in every language, and money in it is told as money."""

from __future__ import annotations

import ast
import json
import re
from functools import cache
from pathlib import Path
from typing import Any, Final

import pytest

import taisai.server
from taisai.game import play
from taisai.game.refusals import Reason, Refusal
from taisai.server.auth.sign_in_refusals import SignInRefusalReason
from taisai.server.projections.record_offers import CORRECT_RECORD_EARLIER
from taisai.server.projections.texts import (
    ACTS,
    COMMANDS,
    CORRECT,
    CORRECT_EARLIER,
    INSTEAD,
    IRREGULARITIES,
)
from tests.game.machine import SETUPS
from tests.server.projections.played_tables import states

_FLOOR: Final = Path(taisai.server.__path__[0])
_WORDS: Final = Path(__file__).parents[2] / "frontend/src/i18n"
_FILES: Final = sorted(_WORDS.glob("*.json"))
_ID: Final = re.compile(r"[a-z]+(-[a-z]+)*")
_AMOUNT: Final = re.compile(r"\b[1-9][0-9]{2,}\b")
WITH_SUMS: Final = frozenset(
    {
        Reason.CREDITS_SHORT, Reason.OVER_MAXIMUM, Reason.UNDER_MINIMUM, Reason.EXPOSURE, Reason.FLOAT_SHORT,
        Reason.WINNINGS_NOT_WHOLE,
    }
)  # fmt: skip
"""Reasons of money: where the message has an amount, the refusal tells it as data."""


@cache
def said_by_the_server() -> frozenset[str]:
    """The reasons that the server gives by itself, as its source has them."""
    found: set[str] = set()
    for file in _FLOOR.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") in {"refused", "RefusedReply"}:
                second = node.args[1:2]
                second += [one.value for one in node.keywords if one.arg == "reason"]
                found |= {one.value for one in second if isinstance(one, ast.Constant)}  # type: ignore[misc]
            elif isinstance(node, ast.Dict):
                pairs = zip(node.keys, node.values, strict=True)
                found |= {v.value for k, v in pairs if _is_reason(k) and isinstance(v, ast.Constant)}  # type: ignore[misc]
    return frozenset(found)


def _is_reason(key: ast.expr | None) -> bool:
    return isinstance(key, ast.Constant) and key.value == "reason"


def reasons() -> set[str]:
    """Every reason of a refusal."""
    return {*map(str, Reason), *map(str, SignInRefusalReason), *said_by_the_server(), "fault"}


def unsaid(words: dict[str, Any]) -> set[str]:
    """The reasons that a language has no words for."""
    return reasons() - set(words["refused"])


def _words(file: Path) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads(file.read_text("utf-8"))
    return loaded


def test_the_server_gives_reasons_of_its_own() -> None:
    assert {
        "not-known",
        "too-often",
        "signed-out",
        "bad-message",
        "origin",
        "protocol",
    } <= said_by_the_server()
    assert all(_ID.fullmatch(one) for one in reasons())


@pytest.mark.parametrize("file", _FILES, ids=lambda file: file.stem)
def test_every_reason_has_words(file: Path) -> None:
    assert unsaid(_words(file)) == set()


def test_a_reason_without_words_is_found() -> None:
    words = _words(_FILES[0])
    del words["refused"]["late"]
    assert unsaid(words) == {"late"}


def test_no_words_are_for_a_reason_or_clause_that_is_not_there() -> None:
    sources = "\n".join(file.read_text("utf-8") for file in _FLOOR.parent.rglob("*.py"))
    for key in _words(_FILES[0])["refused"]:
        reason, _, clause = key.removesuffix(":sums").partition("@")
        assert reason in reasons(), key
        assert not clause or f'"{clause}"' in sources, key


def test_nobody_is_shown_of_minor_units() -> None:
    for file in _FILES:
        for key, text in _words(file)["refused"].items():
            assert not _AMOUNT.search(text), (file.stem, key)
            assert ("{0}" in text or "{1}" in text) == key.endswith(":sums"), (file.stem, key)


@pytest.mark.parametrize("setup", SETUPS, ids=lambda setup: setup.name)
def test_refusals_of_money_tell_their_sums_as_data(setup: Any) -> None:
    told: list[Refusal] = []
    kept = play.decide

    def decide(table: Any, command: Any) -> Any:
        answer = kept(table, command)
        if isinstance(answer, Refusal):
            told.append(answer)
        return answer

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(play, "decide", decide)
        for _ in states(setup, 1):
            pass
    for one in told:
        if one.reason in WITH_SUMS and len(_AMOUNT.findall(one.message)) == 2:
            assert len(one.sums) == 2, one
            assert all(str(amount) in one.message for amount in one.sums), one


# A refusal that points to another act names it as the pages do

_NAMED: Final = re.compile("“([^”]+)”")


def named_acts(language: str) -> set[str]:
    """What texts of refusals name in quotation marks: in the pages' words, and in messages of the program."""
    texts = list(_words(_WORDS / f"{language}.json")["refused"].values())
    texts += [getattr(words, language) for words in INSTEAD.values()]
    if language == "en":
        texts += [
            node.value
            for package in ("game", "cage", "server/handlers")
            for file in (_FLOOR.parent / package).rglob("*.py")
            for node in ast.walk(ast.parse(file.read_text("utf-8")))
            if isinstance(node, ast.Constant) and isinstance(node.value, str)
        ]
    return {act for text in texts for act in _NAMED.findall(text)}


@pytest.mark.parametrize("language", ["en", "zh"])
def test_an_act_that_a_refusal_names_is_called_so_on_the_pages(language: str) -> None:
    labels = {
        *ACTS.values(),
        *COMMANDS.values(),
        *IRREGULARITIES.values(),
        CORRECT,
        CORRECT_EARLIER,
        CORRECT_RECORD_EARLIER,
    }
    known = {getattr(label, language) for label in labels}
    known.add(_words(_WORDS / f"{language}.json")["office"]["adopt"])
    found = named_acts(language)
    assert found >= {
        getattr(COMMANDS["enter-settlement"], language),
        getattr(COMMANDS["confirm-report"], language),
    }
    assert found - known == set()

"""Texts of the program, its pages and its documentation use plain words: no phrase of the list below."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

import pytest

from tests.project.tree import ROOT, SRC, project_files

PHRASES = {
    r"unless said": "say what the default is",
    r"[Gg]ot (?:another|none|more|others|nobody|nothing|something else)\b": "say what it got",
    r"\b[Gg]ot an error\b": "say what failed",
    r"(?<!-)\b(?:[Hh]e|[Hh]is|[Hh]im|[Hh]imself)\b": "say they, their, them",
    r"\b[Ww]hoever\b": "name the person",
    r"\b(?:is|are|was|were) told\b": "say what the program shows, sends or writes",
    r"\breckon": "say compute or calculate",
    r"\banew\b": "say again",
    r"\bby and by\b": "say when",
    r"\bnought\b": "say 0",
}
"""Phrase → what to write instead."""
PLACES = ("src", "docs", "frontend/src", "tools", "README.md", "CONTRIBUTING.md", "Makefile")
SUFFIXES = {".py", ".toml", ".md", ".ts", ".svelte", ".json", ""}
RULEBOOKS = SRC / "rules" / "books"
"""The approved documents keep their own words."""
MADE = {"docs/explanation/counting-cards.json", "src/taisai/rules/clause_coverage.toml"}


def texts() -> Iterable[tuple[str, str]]:
    """Path and text of every file that a reader may see."""
    for path in project_files():
        name = path.relative_to(ROOT).as_posix()
        is_ours = name not in MADE and not path.is_relative_to(RULEBOOKS)
        if path.suffix in SUFFIXES and name.startswith(PLACES) and is_ours:
            yield name, path.read_text("utf-8")


def occurrences(files: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    """Phrase → the lines that have it, with their place."""
    whole = re.compile("|".join(f"({phrase})" for phrase in PHRASES))
    phrases, lines = list(PHRASES), defaultdict(list)
    for name, text in files:
        for match in whole.finditer(text):
            number = text.count("\n", 0, match.start()) + 1
            phrase = phrases[(match.lastindex or 1) - 1]
            lines[phrase].append(f"{name}:{number}: {match[0]} ({PHRASES[phrase]})")
    return lines


def test_no_text_has_a_phrase_of_the_list() -> None:
    assert occurrences(texts()) == {}


@pytest.mark.parametrize(
    "text",
    [
        "the layout of the table unless said",
        'raise KeysError("expected a key, got none")',
        "expected 3 dice, got more",
        '"""A player withdraws all of his bets."""',
        "Whoever holds the key signs.",
        "the Dealer is told so",
        "the edge is reckoned again",
        "settled anew",
    ],
)
def test_sabotage_a_phrase_is_found(text: str) -> None:
    assert occurrences([("page.md", text)])


def test_the_documents_of_the_rules_and_the_changelog_keep_their_words() -> None:
    names = [Path(name) for name, _ in texts()]
    assert len(names) > 300
    assert not [name for name in names if "books" in name.parts or name.name == "CHANGELOG.md"]

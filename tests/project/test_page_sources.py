"""The pages' own sources: nothing from elsewhere, nothing that could run a text, and no rule of the game."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

SOURCES = Path(__file__).parents[2] / "frontend"
FILES = {
    str(path.relative_to(SOURCES)): path.read_text("utf-8")
    for kind in ("svelte", "ts", "html", "css")
    for path in sorted([*SOURCES.glob(f"*.{kind}"), *SOURCES.glob(f"src/**/*.{kind}")])
    if not path.name.endswith(".config.ts")
}
MOST_LINES = 300
NEVER = {
    "runs a text": r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|\{@html",
    "comes from elsewhere": r"https?://(?!www\.w3\.org/)|//cdn\.",
    "odds of its own": r"\b\d+(\.\d+)? to 1\b(?!')",
    "inline style or script": r"<[a-z][^>{]*\sstyle=[\"']|\son[a-z]+=\"",
    "other words": r"\bwager|\bpayout",
}
GENERATED = "src/connection/messages.ts"


def faults(text: str) -> list[str]:
    """What a page's source may not have."""
    return [what for what, pattern in NEVER.items() if re.search(pattern, text)]


def test_there_are_ten_pages() -> None:
    pages = {name for name in FILES if name.endswith(".html")}
    assert len(pages) == 12, pages


@pytest.mark.parametrize("name", [name for name in FILES if name != GENERATED])
def test_a_source_has_nothing_that_it_may_not(name: str) -> None:
    assert faults(FILES[name]) == []
    assert FILES[name].count("\n") <= MOST_LINES


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("element.innerHTML = text", "runs a text"),
        ("{@html words}", "runs a text"),
        ('import x from "https://cdn.example/x.js"', "comes from elsewhere"),
        ("const odds = '62 to 1 '", "odds of its own"),
        ('<p style="color: red">', "inline style or script"),
        ('<button onclick="go()">', "inline style or script"),
        ("const payout = 1", "other words"),
    ],
)
def test_sabotage_each_fault_is_found(text: str, what: str) -> None:
    assert what in faults(text)

"""Every link between our own pages leads to a page that is there, and to a heading of it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("cases/**/*.md")])
_LINK = re.compile(r"\]\((?!https?://)([^)#\s]*)(?:#([^)\s]*))?\)")


def headings(text: str) -> set[str]:
    """The headings of a page as links name them."""
    told = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w -]", "", one).strip().lower().replace(" ", "-") for one in told}


def dead(page: Path, text: str) -> list[str]:
    """The links of a page that lead nowhere."""
    found = []
    for name, heading in _LINK.findall(text):
        there = page.parent / name if name else page
        if not there.exists():
            found.append(name)
        elif heading and heading not in headings(text if there == page else there.read_text("utf-8")):
            found.append(f"{name}#{heading}")
    return found


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_no_link_leads_nowhere(page: Path) -> None:
    assert dead(page, page.read_text("utf-8")) == []


@pytest.mark.parametrize("page", sorted((ROOT / "docs").glob("*.md")), ids=lambda page: page.name)
def test_every_page_is_found_from_the_readme(page: Path) -> None:
    assert f"(docs/{page.name})" in (ROOT / "README.md").read_text("utf-8")


def test_sabotage_a_link_to_nowhere_is_noticed() -> None:
    there, nowhere = (
        "[a](#here) [b](docs/floor.md#limits)",
        "[c](docs/none.md) [d](#there) [e](docs/floor.md#none)",
    )
    assert dead(ROOT / "README.md", f"# Here\n\n{there} {nowhere}\n") == [
        "docs/none.md",
        "#there",
        "docs/floor.md#none",
    ]

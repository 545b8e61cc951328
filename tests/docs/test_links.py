"""Every link between our own pages leads to a page that is there, and to a heading of it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("cases/**/*.md")])
_LINK = re.compile(r"\]\((?!https?://)([^)#\s]*)(?:#([^)\s]*))?\)")


def headings(text: str) -> set[str]:
    """The headings of a page as links name them."""
    titles = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w -]", "", title).strip().lower().replace(" ", "-") for title in titles}


def dead(page: Path, text: str) -> list[str]:
    """The links of a page that lead nowhere."""
    links = []
    for name, heading in _LINK.findall(text):
        target = page.parent / name if name else page
        if not target.exists():
            links.append(name)
        elif heading and heading not in headings(text if target == page else target.read_text("utf-8")):
            links.append(f"{name}#{heading}")
    return links


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_no_link_leads_nowhere(page: Path) -> None:
    assert dead(page, page.read_text("utf-8")) == []


def linked(text: str) -> set[Path]:
    """The pages to which the index of the documentation links."""
    return {(DOCS / name).resolve() for name, _ in _LINK.findall(text)}


def test_the_index_links_every_page() -> None:
    unlinked = (
        set(DOCS.glob("**/*.md")) - linked((DOCS / "index.md").read_text("utf-8")) - {DOCS / "index.md"}
    )
    assert sorted(str(page.relative_to(DOCS)) for page in unlinked) == []


def test_the_readme_links_the_index() -> None:
    assert "(docs/index.md)" in (ROOT / "README.md").read_text("utf-8")


def test_sabotage_a_page_that_the_index_leaves_out_is_noticed() -> None:
    index = (DOCS / "index.md").read_text("utf-8")
    assert DOCS / "how-to" / "audit.md" not in linked(index.replace("(how-to/audit.md)", "(how-to/none.md)"))


def test_sabotage_a_link_to_nowhere_is_noticed() -> None:
    there, nowhere = (
        "[a](#here) [b](docs/reference/server.md#limits)",
        "[c](docs/none.md) [d](#there) [e](docs/reference/server.md#none)",
    )
    assert dead(ROOT / "README.md", f"# Here\n\n{there} {nowhere}\n") == [
        "docs/none.md",
        "#there",
        "docs/reference/server.md#none",
    ]

"""The pages as `npm run build` made them. They are read once, at the start."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

FOLDER: Final = Path(__file__).parent / "built"
"""`npm run build` writes the pages here; a wheel contains them here."""
DIGEST: Final = "pages.txt"
"""The build writes this file last. Without it the pages are incomplete."""
PAGES: Final = {
    "/": "index.html",
    "/terminal": "terminal.html",
    "/console": "console.html",
    "/display": "display.html",
    "/recorder": "recorder.html",
    "/round": "round.html",
    "/pit": "pit.html",
    "/cage": "cage.html",
    "/school": "school.html",
    "/office": "office.html",
}
"""Path → file of the page."""


class BuiltPages(NamedTuple):
    """The pages and their assets, by file name."""

    digest: str = ""
    """The digest of the sources; empty if nothing is built."""
    pages: Mapping[str, bytes] = {}
    assets: Mapping[str, bytes] = {}
    """Scripts, styles and pictures. A name changes with the content."""


NO_PAGES: Final = BuiltPages()


def read_built(folder: Path) -> BuiltPages:
    """The pages in a folder; none if the build is incomplete."""
    digest = folder / DIGEST
    if not digest.is_file():
        return NO_PAGES
    return BuiltPages(
        digest=digest.read_text("ascii").strip(),
        pages={path.name: path.read_bytes() for path in sorted(folder.glob("*.html"))},
        assets={path.name: path.read_bytes() for path in sorted((folder / "assets").glob("*.*"))},
    )


@cache
def our_pages() -> BuiltPages:
    """The pages of this program."""
    return read_built(FOLDER)

"""The pages as they were built: read once, and kept."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

FOLDER: Final = Path(__file__).parent / "built"
"""Where `npm run build` puts the pages, and where a wheel has them."""
DIGEST: Final = "pages.txt"
"""It is written last, so that pages without it are pages half built."""
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
"""Path → the page that is shown there."""


class BuiltPages(NamedTuple):
    """The pages and what belongs to them, by file name."""

    digest: str = ""
    """Of the sources that they were made from; empty where nothing is built."""
    pages: Mapping[str, bytes] = {}
    assets: Mapping[str, bytes] = {}
    """Their names change with what is in them."""


NO_PAGES: Final = BuiltPages()


def read_built(folder: Path) -> BuiltPages:
    """What is built in a folder; nothing where a build was not finished."""
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

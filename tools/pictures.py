"""Draws the felts that the documentation shows, into docs/pictures."""

from __future__ import annotations

from pathlib import Path

from taisai.cli.rules.drawing import draw_layout
from taisai.rules import rulebook, rulebook_ids

PICTURES = Path(__file__).parent.parent / "docs" / "pictures"


def pictures() -> dict[str, str]:
    """File name → SVG, for every layout of every rulebook."""
    return {
        f"{name}-{layout.id}.svg": draw_layout(book.matrix(layout.id), layout)
        for name in rulebook_ids()
        for book in (rulebook(name),)
        for layout in book.layouts.values()
    }


if __name__ == "__main__":
    PICTURES.mkdir(exist_ok=True)
    for file, svg in pictures().items():
        (PICTURES / file).write_text(svg, encoding="utf-8")
        print(PICTURES / file)

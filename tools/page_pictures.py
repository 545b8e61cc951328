"""Puts the README's pictures of the pages where it shows them: what the browser tests have just seen."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[1]
SEEN: Final = ROOT / "build" / "pages"
SHOWN: Final = ROOT / "docs" / "pictures" / "pages"
PICTURES: Final = {
    "terminal.png": "terminal-rws-lit.png",
    "console.png": "console-mbs-look.png",
    "display.png": "display-mbs-lit.png",
    "lobby.png": "index.png",
    "recorder.png": "recorder.png",
    "school.png": "school.png",
}
"""What is shown → what a test keeps it as."""


def main() -> int:
    """Copies them, or says which were not seen."""
    missing = [name for name in PICTURES.values() if not (SEEN / name).is_file()]
    if missing:
        says = f"missing in {SEEN}: {', '.join(missing)}; run the tests of tests/pages"
        print(says, file=sys.stderr)
        return 1
    SHOWN.mkdir(parents=True, exist_ok=True)
    for name, seen in PICTURES.items():
        shutil.copyfile(SEEN / seen, SHOWN / name)
        print(SHOWN / name)
    return 0


if __name__ == "__main__":
    sys.exit(main())

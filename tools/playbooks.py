"""Writes into every playbook what the table answers now: `python -m tools.playbooks`.

For authors; `taisai table pin FILE` does the same to the files named. What changes is a change of conduct,
and is reviewed by people before it is kept.
"""

from __future__ import annotations

import sys
from pathlib import Path

from taisai.cli import main as taisai

ROOT = Path(__file__).parent.parent
PLAYBOOKS, DEMO = ROOT / "cases" / "playbooks", ROOT / "src" / "taisai" / "cli" / "tour.round"


def main(words: list[str]) -> int:
    """Pins the playbooks named, or all."""
    return taisai(["table", "pin", *(words or map(str, [*sorted(PLAYBOOKS.glob("*.round")), DEMO]))])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""Writes into every playbook what the table answers now: `python -m tools.playbooks [FILE …]`.

For authors. What changes is a change of conduct, and is reviewed by people before it is kept.
"""

from __future__ import annotations

import sys
from pathlib import Path

from taisai.game.playbook import playbook, rewritten
from taisai.rules import RulesError, rulebook

ROOT = Path(__file__).parent.parent
PLAYBOOKS, DEMO = ROOT / "cases" / "playbooks", ROOT / "src" / "taisai" / "cli" / "demo.round"


def main(names: list[str]) -> int:
    """Rewrites the playbooks named, or all, and says which changed."""
    failed = 0
    for path in map(Path, names) if names else [*sorted(PLAYBOOKS.glob("*.round")), DEMO]:
        text = path.read_text("utf-8")
        try:
            fresh = rewritten(text, rulebook(playbook(text, path.name).book), path.name)
        except RulesError as error:
            print(error, file=sys.stderr)
            failed = 1
            continue
        if fresh != text:
            path.write_text(fresh, encoding="utf-8")
            print(path.name)
    return failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

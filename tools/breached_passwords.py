"""Writes the set of breached passwords that nobody may choose: `python -m tools.breached_passwords LIST`.

LIST has one password in each line, for example the million most frequent ones of the ten million that Mark
Burnett published (10_million_password_list_top_1M.txt of SecLists). The set has a digest of each that is long
enough to be chosen here, never the password itself.
"""

from __future__ import annotations

import sys
from pathlib import Path

from taisai.server.auth.password_rules import BREACHED_FILE, LEAST_PASSWORD, breach_digest


def breached_set(lines: list[str]) -> bytes:
    """The digests of the passwords that are long enough, sorted."""
    return b"".join(sorted({breach_digest(line) for line in lines if len(line) >= LEAST_PASSWORD}))


def main() -> int:
    lines = Path(sys.argv[1]).read_text("utf-8", "replace").splitlines()
    BREACHED_FILE.write_bytes(breached_set(lines))
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Plays the evening of a seed again and tells it: `python -m tests.server.sim 17`."""

from __future__ import annotations

import argparse
import logging
from collections.abc import Sequence
from hashlib import sha256

import structlog

from taisai.journal import journal
from tests.game.past_rounds import compiled_once
from tests.journal.evening_journal import read_once
from tests.server.sim.evening import played


def main(arguments: Sequence[str] | None = None) -> None:
    """The evening's log, and what is wrong with it; or the digest of its journal alone."""
    parser = argparse.ArgumentParser(prog="python -m tests.server.sim", description=__doc__)
    parser.add_argument("seed", type=int)
    parser.add_argument("--digest", action="store_true", help="only the digest of its journal")
    asked = parser.parse_args(arguments)
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    journal.rulebook_from = read_once  # type: ignore[attr-defined]
    with compiled_once():
        one = played(asked.seed)
    if asked.digest:
        print(sha256(b"\n".join(row.body for row in one.rows)).hexdigest())  # noqa: T201
        return
    for line in (*one.log, *(f"WRONG: {line}" for line in one.wrong)):
        print(line)  # noqa: T201
    print(f"{one.book}, {len(one.rows)} entries, {one.crashes} crashes, {one.lines} connections")  # noqa: T201


if __name__ == "__main__":
    main()

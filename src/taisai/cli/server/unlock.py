"""`taisai unlock`: someone may sign in again, by the house's key, while nothing runs."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

from taisai.cli.journal.files import clock
from taisai.cli.printing import as_json, line
from taisai.rules.errors import RulesError, printable
from taisai.server.config import load_config
from taisai.server.runtime.setup import unlocked
from taisai.server.runtime.startup_checks import opened


def run(arguments: Namespace) -> int:
    """Unlocks, and tells; a journal that a server has in use is left alone."""
    config, now = load_config(Path(arguments.config)), clock()
    start, found = opened(config, now=now)
    if found is None:
        raise RulesError("; ".join(one.says for one in start.findings if not one.passed))
    try:
        done = unlocked(config, found, arguments.person, reason=arguments.reason, now=now)
    finally:
        found.journal.close()
    if arguments.json:
        as_json({"person": done.person, "was_locked": done.was_locked, "entries": done.entries})
    elif done.was_locked:
        line(f"{printable(done.person)} may sign in again; recorded and sealed, {done.entries:,} entries")
    else:
        line(f"{printable(done.person)} is not locked; nothing was written")
    return 0

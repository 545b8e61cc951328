"""Kill -9 at every stop of a playbook, and at its end: the table answers as the playbook pins it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

import pytest

from taisai.game.playbook import playbook
from tests.game.playbooks import PLAYBOOKS, READINGS
from tests.server.races.killed_play import KilledPlay
from tests.server.races.server_processes import Servers
from tests.tiers import sampled

pytestmark = pytest.mark.part(name="kills")

ROWS: Final = (
    "mbs-3-11-a-corrected-record-and-a-stop",
    "mbs-3-2-the-call-and-a-stop",
    "mbs-5-10-one-time-only-and-a-stop",
    "mbs-5-13-1-the-option-and-a-stop",
    "mbs-5-2-a-die-seen-and-a-stop",
    "mbs-5-3-a-report-that-waits-and-a-stop",
    "rws-5-1-1-stopped-with-a-die-seen",
    "three-card-5-1-power-failure-with-a-card-seen",
    "us-1-dice-over-24-hours-and-a-stop",
    "us-5-c-dice-in-view-and-a-stop",
    "us-6-a-no-roll-and-a-stop",
)
"""Playbooks in which the system stops where clauses meet: always killed."""
_NOT_KILLED: Final = re.compile(r"stopped-for|> (?!recovery)[^:]*: recover$", re.MULTILINE)
"""A fail-over that nobody felt is no kill, and no person can order a recovery over a connection."""
EVERY: Final = PLAYBOOKS | READINGS
OTHERS: Final = [
    name
    for name, text in sorted(EVERY.items())
    if name not in ROWS and "> recovery: recover" in text and not _NOT_KILLED.search(text)
]


def wrongs(processes: Servers, folder: Path, name: str, sabotage: str | None = None) -> list[str]:
    """Everything that a killed server answers otherwise than the playbook pins."""
    play = KilledPlay(processes, folder, playbook(EVERY[name], name), sabotage)
    play.play()
    return play.wrongs


@pytest.mark.parametrize("name", [*ROWS, *sampled("killed playbooks", OTHERS, 2)])
def test_after_every_kill_the_document_is_followed(processes: Servers, tmp_path: Path, name: str) -> None:
    assert wrongs(processes, tmp_path, name) == []


def test_sabotage_a_server_that_asks_no_rule_after_a_kill_is_found(
    processes: Servers, tmp_path: Path
) -> None:
    found = wrongs(processes, tmp_path, "us-6-b-a-no-roll-after-a-stop", "careless")
    assert any("table-shut" in wrong for wrong in found), found

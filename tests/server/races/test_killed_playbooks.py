"""Kill -9 at every stop of a playbook, and at its end: the table answers as the playbook pins it."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from taisai.game.playbook import playbook
from tests.game.playbooks import PLAYBOOKS
from tests.server.races.killed_play import KilledPlay
from tests.server.races.server_processes import Servers
from tests.tiers import sampled

pytestmark = pytest.mark.part(name="kills")

STOPPED: Final = (
    "mbs-3-11-a-corrected-record-and-a-stop",
    "mbs-3-2-the-call-and-a-stop",
    "mbs-5-10-one-time-only-and-a-stop",
    "mbs-5-13-1-a-die-seen-ends-the-option",
    "mbs-5-13-1-the-option-and-a-stop",
    "mbs-5-2-a-die-seen-and-a-stop",
    "mbs-5-2-power-failure-with-a-die-seen",
    "mbs-5-3-a-report-that-waits-and-a-stop",
    "mbs-by-hand",
    "rws-5-1-1-stopped-with-a-die-seen",
    "rws-5-1-a-report-that-waits-and-a-stop",
    "three-card-5-1-power-failure-with-a-card-seen",
    "us-1-dice-over-24-hours-and-a-stop",
    "us-5-c-dice-in-view-and-a-stop",
    "us-6-a-no-roll-and-a-stop",
    "us-6-b-a-no-roll-after-a-stop",
    "us-by-hand",
)
"""Playbooks in which the system stops where clauses meet."""


def wrongs(processes: Servers, folder: Path, name: str, sabotage: str | None = None) -> list[str]:
    """Everything that a killed server answers otherwise than the playbook pins."""
    play = KilledPlay(processes, folder, playbook(PLAYBOOKS[name], name), sabotage)
    play.play()
    return play.wrongs


@pytest.mark.parametrize("name", sampled("killed playbooks", STOPPED, 6))
def test_after_every_kill_the_document_is_followed(processes: Servers, tmp_path: Path, name: str) -> None:
    assert wrongs(processes, tmp_path, name) == []


def test_sabotage_a_server_that_asks_no_rule_after_a_kill_is_found(
    processes: Servers, tmp_path: Path
) -> None:
    found = wrongs(processes, tmp_path, "us-6-b-a-no-roll-after-a-stop", "careless")
    assert any("table-shut" in wrong for wrong in found), found

"""Bets race the close over real sockets: none is late, none is lost, every one is answered."""

from __future__ import annotations

from pathlib import Path

import pytest
import uvloop

from tests.server.races.bet_storm import stormed, wrongs
from tests.server.races.server_processes import Servers
from tests.tiers import count

BETS = count(40_000, 100_000)
SOME = 15_000  # bets in which a server that is broken must show


def test_bets_race_the_close(processes: Servers, tmp_path: Path) -> None:
    storm, journal = uvloop.run(stormed(processes, tmp_path, bets=BETS))
    assert list(wrongs(storm, journal)) == []
    assert list(journal.kept()) == []
    assert storm.sent == BETS
    refused = BETS - len(journal.bets)
    assert len(journal.bets) > BETS // 20, "expected the storm to begin before the close"
    assert refused > BETS // 20, "expected the storm to go on after the close"
    assert len(storm.after_close) > BETS // 100, (
        "expected terminals to try though they had heard of the close"
    )


@pytest.mark.parametrize(
    ("sabotage", "says"),
    [
        ("lenient", ["no bet after the close", "no bet sent after its terminal heard of the close"]),
        ("patient", ["a close that waits for nobody"]),
        ("early", ["every registered bet in the journal"]),
    ],
)
def test_sabotage_a_server_that_loses_the_race_is_found(
    processes: Servers, tmp_path: Path, sabotage: str, says: list[str]
) -> None:
    storm, journal = uvloop.run(stormed(processes, tmp_path, bets=SOME, sabotage=sabotage))
    found = list(wrongs(storm, journal))
    assert [any(f"expected {one}" in wrong for wrong in found) for one in says] == [True] * len(says), found

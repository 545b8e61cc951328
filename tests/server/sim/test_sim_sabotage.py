"""The test of the simulation: whatever is broken on purpose turns one of the first evenings red."""

from __future__ import annotations

from typing import Final

import pytest

from tests.server.sim.evening import played
from tests.server.sim.sabotages import SABOTAGES

FIRST: Final = 50
"""Evenings among which each has to show."""


@pytest.mark.parametrize("name", SABOTAGES)
def test_sabotage_shows(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    sabotage = SABOTAGES[name]
    change = sabotage.break_(monkeypatch)
    for seed in range(FIRST):
        try:
            wrong = "\n".join(played(seed, change=change).wrong)
        except Exception as error:  # noqa: BLE001  a server that is broken may also fall over
            wrong = str(error)
        if sabotage.shows in wrong:
            return
    pytest.fail(f"expected {name} to show in one of the first {FIRST} evenings, got none that says so")

"""Whatever is reported, who only takes the next step that the console marks ends the round."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from taisai.game import Refusal, decide
from taisai.game import commands as c
from taisai.game.commands import Command
from taisai.game.table import Table
from taisai.protocol.views import Offer
from taisai.rules.vocabulary import Irregularity
from taisai.server.projections import offers as projection
from taisai.server.projections.offers import offers
from tests.game.machine import NOON, SETUPS, Setup
from tests.server.projections.filled_offers import command_of, filled
from tests.server.projections.played_tables import seated
from tests.tiers import count, drawn

STEPS = 14  # of a round, from its first to the last act that a table waits for
PATIENCE = 60


def next_step(table: Table, random: Random) -> Command | None:
    """The command of the offer that is marked, by someone who may give it; None where none is marked."""
    offer = next((offer for offer in offers(table, NOON) if offer.main), None)
    return None if offer is None else given(table, offer, random)


def given(table: Table, offer: Offer, random: Random) -> Command:
    able = [name for name, one in table.people.items() if one.position in offer.by] or ["clock"]
    refusals: list[object] = []
    for name in able:
        fields = filled(table, offer, name, random)
        if fields is not None:
            command = command_of(offer, fields, at=NOON, by=name)
            answer = decide(table, command)
            if not isinstance(answer, Refusal):
                return command
            refusals.append(answer)
    raise AssertionError(f"nobody can do what is marked: {offer}: {refusals}")


def stuck(setup: Setup, steps: int, event: Irregularity, **told: Any) -> str | None:
    """Why the round does not end after the report; None if it ends, or if the report is refused."""
    quick, random = seated(setup), Random(5)
    for _ in range(steps):
        command = next_step(quick.table, random)
        assert command is not None
        quick.ask(command)
    report = c.ReportIrregularity(at=NOON, by="dan", event=event, **told)
    phase, before = quick.table.phase, quick.table.round
    if before is None or isinstance(quick.ask(report), Refusal):
        return None
    for _ in range(PATIENCE):
        round_ = quick.table.round
        if round_ is None or round_.number > before.number or quick.table.shut:
            return None
        command = next_step(quick.table, random)
        if command is None:
            return f"{event} {told} at {phase}: no next step is marked at {quick.table.phase}"
        assert not isinstance(quick.ask(command), Refusal)
    return f"{event} {told} at {phase}: the round does not end"


CASES = [
    (steps, event, told)
    for steps in range(STEPS)
    for event in Irregularity
    for told in ({}, {"seen": True}, {"item": "dice"})
]


@pytest.mark.parametrize("setup", SETUPS, ids=lambda setup: setup.name)
def test_whatever_is_reported_the_next_steps_alone_end_the_round(setup: Setup) -> None:
    cases = drawn(f"next steps {setup.name}").sample(CASES, count(12, 250, len(CASES)))
    found = [why for steps, event, told in cases if (why := stuck(setup, steps, event, **told))]
    assert found == [], "\n".join(found)


def test_unclear_chips_that_nobody_decided_are_the_next_step_before_the_settlement(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    mbs = next(setup for setup in SETUPS if setup.name == "mbs")
    places = [steps for steps in range(STEPS) if stuck(mbs, steps, Irregularity.CHIPS_UNCLEAR) is None]
    assert places == list(range(STEPS))
    monkeypatch.setattr(projection, "_undecided", lambda *_: None)
    assert any(stuck(mbs, steps, Irregularity.CHIPS_UNCLEAR) for steps in range(STEPS))

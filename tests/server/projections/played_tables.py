"""Tables of every kind, played at by seeds: every state that they pass, to be looked at."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import NamedTuple

from taisai.game import Refusal, Table, play
from taisai.game import commands as c
from taisai.game import events as e
from tests.game.machine import SETUPS, Setup, Watched, opened
from tests.game.seeded_player import STEPS, Hand
from tests.tiers import count

SEEDS = range(count(1, 5))
STEPS_EACH = 100


class Quick(Watched):
    """A table that is played at and not watched: others do that."""

    latest: tuple[e.Event, ...] = ()

    def ask(self, command: c.Command) -> tuple[e.Event, ...] | Refusal:
        """Decides and does it."""
        answer = play.decide(self.table, command)
        self.latest = () if isinstance(answer, Refusal) else answer
        self.asked.append(command)
        for event in self.latest:
            play.evolve(self.table, event)
            self.events.append(event)
        return answer


class State(NamedTuple):
    """A table after something happened to it."""

    setup: Setup
    table: Table
    now: int
    latest: tuple[e.Event, ...]
    events: list[e.Event]

    def __str__(self) -> str:
        return f"{self.setup.name} after {len(self.events)} events, {self.table.phase}"


def seated(setup: Setup) -> Quick:
    """A table of a kind, open, staffed and with players."""
    ready, quick = opened(setup), Quick(setup)
    quick.table, quick.events = ready.table, ready.events
    return quick


def states(setup: Setup, seed: int, steps: int = STEPS_EACH) -> Iterator[State]:
    """Every state of an evening; look at each before the next is asked for."""
    quick = seated(setup)
    hand, random = Hand(quick), Random(f"{setup.name} {seed}")
    for _ in range(steps):
        hand.step(random.choice(STEPS), random.getrandbits(32))
        if quick.latest:
            yield State(setup, quick.table, hand.clock, quick.latest, quick.events)
            quick.latest = ()


def every_state(steps: int = STEPS_EACH) -> Iterator[State]:
    """The states of evenings at tables of every kind."""
    for setup in SETUPS:
        for seed in SEEDS:
            yield from states(setup, seed, steps)

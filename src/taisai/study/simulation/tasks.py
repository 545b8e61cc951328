"""Tasks: stretches of rounds, of sessions or of shoes that run anywhere and bring the same digits."""

from __future__ import annotations

from typing import Final, NamedTuple

from taisai.study.simulation.classes import Classes
from taisai.study.simulation.lanes import CHUNK
from taisai.study.simulation.sessions import Figures, Plan
from taisai.study.simulation.shoes import Betting, Dealt, Shoe
from taisai.study.simulation.walk import Walk

SLICE: Final = 2**24
"""Rounds of one session that are played before anybody else is heard."""
Key = tuple[int, int, int, int]


def _has_numba() -> bool:
    from taisai.bulk.kernels import loads_numba

    return loads_numba()


class Walked(NamedTuple):
    """A stretch of rounds, walked; in units."""

    rounds: int
    walk: Walk
    further: None = None


class WalkTask(NamedTuple):
    """So many whole chunks of rounds from the first on, then the rest of a chunk."""

    key: Key
    classes: Classes
    first: int
    chunks: int
    rest: int

    def run(self) -> Walked:
        """Walks them."""
        if _has_numba():
            from taisai.study.simulation.mix_compiled import walked
        else:
            from taisai.study.simulation.mix_plain import walked
        walk = walked(self.key, self.classes, self.first, self.chunks, self.rest)
        return Walked(self.chunks * CHUNK + self.rest, walk)


class Sat(NamedTuple):
    """Some sessions, as far as they have come."""

    rounds: int
    figures: Figures
    further: SessionsTask | None


class SessionsTask(NamedTuple):
    """Sessions from the first on, or where they were left."""

    key: Key
    plan: Plan
    first: int
    many: int
    figures: Figures | None = None

    def run(self) -> Sat:
        """Plays at most a slice of each."""
        if _has_numba():
            from taisai.study.simulation.sessions_compiled import advanced
        else:
            from taisai.study.simulation.sessions_plain import advanced
        figures = self.figures.copied() if self.figures else Figures.begun(self.plan, self.first, self.many)
        advanced(self.key, self.plan, figures, SLICE)
        further = self._replace(figures=figures) if figures.playing else None
        return Sat(figures.rounds, figures, further)


class ShoesDealt(NamedTuple):
    """Some shoes, dealt."""

    rounds: int
    dealt: Dealt
    further: None = None


class ShoesTask(NamedTuple):
    """So many shoes from the first on, so many rounds from each."""

    key: Key
    shoe: Shoe
    betting: Betting
    first: int
    shoes: int
    rounds: int

    def run(self) -> ShoesDealt:
        """Deals them."""
        if _has_numba():
            from taisai.study.simulation.shoes_compiled import dealt
        else:
            from taisai.study.simulation.shoes_plain import dealt
        found = dealt(
            self.key, self.shoe, self.betting, first=self.first, shoes=self.shoes, rounds=self.rounds
        )
        return ShoesDealt(found.rounds, found)

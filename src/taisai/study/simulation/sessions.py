"""Sessions: a bankroll, a mix and a staking system, round after round until money or time runs out."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final, NamedTuple

from taisai.rules.errors import RulesError
from taisai.study.simulation.draws import Classes
from taisai.study.staking import START, System

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

PLAYING: Final = 0
PLAYED_OUT: Final = 1
RUINED: Final = 2
REACHED: Final = 3
ENDS: Final = {PLAYING: "cut short", PLAYED_OUT: "played out", RUINED: "ruined", REACHED: "target reached"}
"""How a session ends, in words."""
ENDLESS: Final = 2**61
"""The bankroll of a player who has none to lose, and the target of one who has none to reach."""
MOST_SESSIONS: Final = 10_000_000
"""Whose ends are all kept, at 64 bytes each."""
_KINDS: Final = 7


class SessionPlan(NamedTuple):
    """What every session of a simulation plays."""

    classes: Classes
    system: System
    staked: int
    """By the unit of the system, in minor units."""
    least: int
    """The least multiple that the table takes."""
    bankroll: int
    target: int
    rounds: int
    """At most, of one session."""

    def jumps(self) -> list[int]:
        """[class × states + state] the state that follows."""
        return [
            self.system.following(state, value)
            for value in self.classes.values
            for state in range(len(self.system.multiples))
        ]

    def checked(self) -> SessionPlan:
        """The plan, if it can be played within 64 bits and its bankroll covers a first round."""
        needed = self.least * self.staked
        if self.bankroll < needed:
            raise RulesError(
                f"expected a bankroll of at least {needed:,}, the first stake, got {self.bankroll:,}"
            )
        if self.target <= self.bankroll:
            raise RulesError(
                f"expected a target above the bankroll of {self.bankroll:,}, got {self.target:,}"
            )
        swing = max(self.system.multiples) * max(map(abs, self.classes.values)) * self.classes.unit
        if swing * self.rounds + min(self.bankroll, ENDLESS) >= 2**62:
            raise RulesError(
                f"expected at most {(2**62 - self.bankroll) // swing:,} rounds in a session that may win or "
                f"lose {swing:,} in a round, got {self.rounds:,}"
            )
        return self


@dataclass(slots=True)
class Figures:
    """Where some sessions stand, in arrays; a kernel plays them on."""

    first: int
    """The number of the first of them, which names its stream."""
    count: int
    whole: npt.NDArray[np.int64]
    """Bankroll, state, rounds, units staked, highest, drawdown, how it ended."""
    squares: npt.NDArray[np.float64]
    """The sum of the squares of the units staked, round by round."""
    words: npt.NDArray[np.uint32] = field(repr=False)
    """The streams; empty until the first draw."""

    @staticmethod
    def begun(plan: SessionPlan, first: int, count: int) -> Figures:
        """All at the start."""
        import numpy as np

        whole = np.zeros((_KINDS, count), dtype=np.int64)
        whole[0] = whole[4] = plan.bankroll
        whole[1] = START
        return Figures(first, count, whole, np.zeros(count), np.empty((4, 0), dtype=np.uint32))

    def copied(self) -> Figures:
        """The same, to be played on; these stay where they are."""
        return replace(self, whole=self.whole.copy(), squares=self.squares.copy(), words=self.words.copy())

    @property
    def playing(self) -> bool:
        """Whether any has not ended."""
        return not self.whole[6].all()

    @property
    def rounds(self) -> int:
        """Played in all."""
        return int(self.whole[2].sum())

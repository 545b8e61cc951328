"""A mix: bets placed together, round after round, and what each outcome brings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from functools import cached_property
from typing import Final

from taisai.rules.areas import AreaId
from taisai.rules.chance import Chance
from taisai.rules.errors import RulesError
from taisai.rules.matrix import Matrix
from taisai.rules.outcomes import OUTCOMES
from taisai.rules.settlement import Bet, BetRefusal
from taisai.study.law import Law


class Mix:
    """Bets of one player, or of a whole table: a stake in whole minor units on each of some areas.

    >>> from taisai.rules import rulebook
    >>> book = rulebook("rws-sic-bo-etg-v8")
    >>> mix = Mix.of(book.matrix("A"), {"small": 100, "triple-1": 10})
    >>> mix.staked, mix.best, mix.worst, mix.edge(book.chance())
    (110, 1850, -110, Fraction(10, 297))
    """

    def __init__(self, matrix: Matrix, stakes: Mapping[AreaId, int], nets: tuple[int, ...]) -> None:
        self.matrix: Final = matrix
        self.stakes: Final = dict(stakes)
        self.nets: Final = nets
        """[outcome] what the bets come to, in minor units."""
        self.staked: Final = sum(self.stakes.values())

    @staticmethod
    def of(matrix: Matrix, bets: Mapping[str, int] | Iterable[Bet]) -> Mix:
        """The mix of these bets; several on one area count as one. RulesError where one cannot be taken."""
        given = (
            [Bet.on(area, stake) for area, stake in bets.items()] if isinstance(bets, Mapping) else list(bets)
        )
        if not given:
            raise RulesError("expected at least one bet, such as small=100, got none")
        nets = [0] * len(OUTCOMES)
        stakes: dict[AreaId, int] = {}
        for place, bet in enumerate(given, 1):
            refused = matrix.refusal(bet)
            if isinstance(refused, BetRefusal):
                raise RulesError(f"{refused} (bet {place} of {len(given)})")
            stakes[bet.area] = stakes.get(bet.area, 0) + bet.stake
            row = matrix.nets[matrix.row(bet.area)]
            for outcome, net in enumerate(row):
                nets[outcome] += bet.stake * net
        return Mix(matrix, stakes, tuple(net // matrix.denominator for net in nets))

    def __repr__(self) -> str:
        return f"Mix.of({self.matrix!r}, {self.stakes!r})"

    @property
    def best(self) -> int:
        """What the best outcome brings."""
        return max(self.nets)

    @property
    def worst(self) -> int:
        """What the worst outcome brings."""
        return min(self.nets)

    @cached_property
    def values(self) -> tuple[int, ...]:
        """Every net that some outcome brings, ascending."""
        return tuple(sorted(set(self.nets)))

    def law(self, chance: Chance) -> Law:
        """The exact distribution of what one round brings."""
        return Law.of(zip(self.nets, chance.weights, strict=True))

    def edge(self, chance: Chance) -> Fraction:
        """What the house keeps of each unit staked, in the mean."""
        return -self.law(chance).mean / self.staked

"""Terms: how a player stakes, with what money, under which limits of the table."""

from __future__ import annotations

from typing import Final, NamedTuple

from taisai.rules.errors import RulesError
from taisai.study.mix import Mix
from taisai.study.simulation.strategies import Staking, named
from taisai.study.staking import GREATEST_MULTIPLE, Multiples, allowed

MOST_MONEY: Final = 2**53 - 1


class Terms(NamedTuple):
    """How a player stakes, with what money, under which limits of the table."""

    strategy: Staking = "flat"
    bankroll: int | None = None
    """None: he can lose any sum."""
    target: int | None = None
    """The money with which he leaves."""
    minimum: int | None = None
    maximum: int | None = None
    """Of the table, for each area."""

    def checked(self) -> Terms:
        """The terms, if their money and their strategy can be; a count by its name is taken as such."""
        for what, money in (("bankroll", self.bankroll), ("target", self.target)):
            if money is not None and not 1 <= money <= MOST_MONEY:
                raise RulesError(f"expected a {what} from 1 to 2^53 - 1, got {money}")
        return self._replace(strategy=named(self.strategy)) if isinstance(self.strategy, str) else self

    @property
    def is_endless(self) -> bool:
        """Whether nothing but the number of rounds ends it."""
        return self.bankroll is None and self.target is None

    def multiples(self, mix: Mix) -> Multiples:
        """What the table takes of this mix."""
        greatest = GREATEST_MULTIPLE
        if self.bankroll is not None and self.target is not None:
            # No more than he ever has: the machines of the exact chances of ruin are cut at the same place.
            greatest = max(1, (self.target - 1) // mix.staked)
        return allowed(mix, minimum=self.minimum, maximum=self.maximum, greatest=greatest)


FLAT: Final = Terms()

"""Strategies: how often the bets are staked in the next round, by what was remembered or what is left.

Terms: how a player stakes, with what money, under which limits of the table.
"""

from __future__ import annotations

import re
from collections.abc import Hashable
from typing import Any, Final, NamedTuple, Protocol

from taisai.rules.errors import RulesError
from taisai.study.odds import Mix
from taisai.study.staking import GREATEST_MULTIPLE, Multiples, System, SystemName, allowed, system

MOST_MEMORIES: Final = 65_536
"""States of a strategy: beyond it the machine would no longer fit a processor's cache."""
COUNT: Final = "count"
NAMES: Final = (*SystemName, COUNT)
_COUNTING: Final = re.compile(rf"{COUNT}(?::([0-9]{{1,6}}))?", re.ASCII)


class Strategy(Protocol):
    """A way to stake that remembers something of the rounds so far; what it remembers can be hashed.

    Whatever memories can be reached become the states of a machine, so a strategy of your own runs as quickly
    as those that come with the package.
    """

    @property
    def name(self) -> str:
        """What it is called."""

    @property
    def start(self) -> Hashable:
        """What it remembers before the first round."""

    def multiple(self, memory: Any, /) -> int:
        """How many times the bets are staked next."""

    def after(self, memory: Any, way: int, /) -> Hashable:
        """What it remembers after a round won (1), lost (-1) or level (0)."""


class Counting(NamedTuple):
    """Each bet is made so many times while the cards left favour it, exactly, and so many times otherwise."""

    waiting: int = 0
    favoured: int = 1

    @property
    def name(self) -> str:
        """What it is called."""
        return f"{COUNT}:{self.favoured}" if self.waiting else COUNT


Staking = str | Strategy | Counting


def machine(strategy: Strategy, multiples: Multiples) -> System:
    """The machine of a strategy: every memory it can come to is a state.

    >>> class ReversedMartingale:
    ...     name, start = "reversed", 1
    ...
    ...     def multiple(self, memory):
    ...         return memory
    ...
    ...     def after(self, memory, way):
    ...         return min(2 * memory, 8) if way > 0 else 1
    >>> machine(ReversedMartingale(), Multiples(1, 100))
    System(name='reversed', multiples=(1, 2, 4, 8), won=(1, 2, 3, 3), level=(0, 0, 0, 0), lost=(0, 0, 0, 0))
    """
    known: dict[Hashable, int] = {strategy.start: 0}
    memories: list[Hashable] = [strategy.start]
    wanted: list[int] = []
    following: dict[int, list[int]] = {1: [], 0: [], -1: []}
    for memory in memories:  # grows as it is read
        multiple = strategy.multiple(memory)
        if type(multiple) is not int or multiple < 1:
            raise RulesError(f"expected a whole multiple of 1 or more from {strategy.name}, got {multiple!r}")
        wanted.append(min(max(multiple, multiples.least), multiples.most))
        for way, states in following.items():
            then = strategy.after(memory, way)
            if then not in known:
                if len(memories) == MOST_MEMORIES:
                    raise RulesError(
                        f"expected at most {MOST_MEMORIES:,} memories of {strategy.name}, got more"
                    )
                known[then] = len(memories)
                memories.append(then)
            states.append(known[then])
    return System(
        strategy.name, tuple(wanted), tuple(following[1]), tuple(following[0]), tuple(following[-1])
    )


def named(text: str) -> str | Counting:
    """A strategy by its name; count:8 stakes one unit while waiting and eight when the cards favour it."""
    if match := _COUNTING.fullmatch(text):
        if match[1] is None:
            return Counting()
        spread = int(match[1])
        if not 2 <= spread <= GREATEST_MULTIPLE:
            raise RulesError(
                f"expected a spread from 2 to {GREATEST_MULTIPLE:,}, such as count:8, got {text!r}"
            )
        return Counting(1, spread)
    if text not in tuple(SystemName):
        raise RulesError(f"expected a strategy of {', '.join(NAMES)}, got {text!r}")
    return text


def system_of(strategy: str | Strategy, multiples: Multiples) -> System:
    """The machine of a system by name, or of a strategy of one's own."""
    return system(strategy, multiples) if isinstance(strategy, str) else machine(strategy, multiples)


MOST_MONEY: Final = 2**53 - 1


class SessionTerms(NamedTuple):
    """How a player stakes, with what money, under which limits of the table."""

    strategy: Staking = "flat"
    bankroll: int | None = None
    """None: the player can lose any sum."""
    target: int | None = None
    """The money with which the player leaves."""
    minimum: int | None = None
    maximum: int | None = None
    """Of the table, for each area."""

    def checked(self) -> SessionTerms:
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
            # No more than the player ever has; the exact chances of ruin stop at the same multiple.
            greatest = max(1, (self.target - 1) // mix.staked)
        return allowed(mix, minimum=self.minimum, maximum=self.maximum, greatest=greatest)


FLAT: Final = SessionTerms()

"""Staking systems: finite automata that choose the multiple of the bets in the next round.

A player has a mix of bets, the unit, and stakes whole multiples of it. The state of the automaton gives the
multiple; a win, a loss or a level round gives the next state. Three limits apply, to exact figures and to
simulations alike:

- The table minimum and maximum apply to each area. A multiple is raised or lowered until every area is within
  them; the next state is the same as without limits.
- A multiple that the bankroll does not cover is lowered to the greatest that it covers.
- A player who cannot cover the least multiple is ruined and leaves.

Martingale doubles after a loss, up to the maximum, until it wins. Paroli doubles after a win and starts again
after a loss or the third win in a row. D'Alembert adds one after a loss and subtracts one after a win.
Labouchère stakes the sum of the first and the last number of a list, removes both after a win and appends the
stake after a loss. An empty list starts again; so does a list that would have more than eight numbers or
stake more than fifty units or the table maximum.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable
from enum import StrEnum
from typing import Any, Final, NamedTuple, Protocol

from taisai.rules.errors import RulesError
from taisai.study.odds import Mix

START: Final = 0  # the initial state of every system
GREATEST_MULTIPLE: Final = 100_000  # the greatest multiple of any system
PAROLI_WINS: Final = 3
LINE: Final[tuple[int, ...]] = (1, 2, 3, 4)  # the initial list of Labouchère
LONGEST_LINE: Final = 8  # the most numbers of a list; without a limit there would be infinitely many states
MOST_ON_LINE: Final = 50  # the greatest stake of a list, for the same reason


class SystemName(StrEnum):
    FLAT = "flat"
    MARTINGALE = "martingale"
    PAROLI = "paroli"
    DALEMBERT = "dalembert"
    LABOUCHERE = "labouchere"


class Multiples(NamedTuple):
    """The least and the greatest multiple of the bets."""

    least: int
    most: int


class System(NamedTuple):
    """A staking system: [state] → the multiple, and the next state after a win, a level round or a loss.

    >>> system("martingale", Multiples(1, 20))
    System(name=..., multiples=(1, 2, 4, 8, 16, 20), won=(0, ...), level=(0, ...), lost=(1, 2, 3, 4, 5, 5))
    """

    name: str
    multiples: tuple[int, ...]
    """Within the table limits; a small bankroll lowers them further."""
    won: tuple[int, ...]
    level: tuple[int, ...]
    lost: tuple[int, ...]

    def after(self, net: int) -> tuple[int, ...]:
        """[state] → the state after a round with this net."""
        return self.won if net > 0 else self.lost if net < 0 else self.level


def allowed(mix: Mix, *, minimum: int | None, maximum: int | None, greatest: int) -> Multiples:
    """The multiples of a mix within the table limits for each area, and at most `greatest`.

    >>> from taisai.rules import rulebook
    >>> mix = Mix.of(rulebook("rws-sic-bo-etg-v8").matrix("A"), {"small": 100, "triple-1": 10})
    >>> allowed(mix, minimum=20, maximum=5_000, greatest=1_000)
    Multiples(least=2, most=50)
    """
    for limit, what in ((minimum, "minimum"), (maximum, "maximum")):
        if limit is not None and limit < 1:
            raise RulesError(f"expected a table {what} of 1 or more, got {limit}")
    lowest, highest = min(mix.stakes.values()), max(mix.stakes.values())
    least = -(-minimum // lowest) if minimum is not None else 1
    most = min(greatest, GREATEST_MULTIPLE)
    if maximum is not None:
        most = min(most, maximum // highest)
        if maximum // highest < least:
            raise RulesError(
                f"no multiple of the bets is within the table limits: minimum {minimum or 1}, "
                f"maximum {maximum}, stakes from {lowest} to {highest}"
            )
    return Multiples(least, max(least, most))


def system(name: str, multiples: Multiples) -> System:
    """A built-in system, within these multiples.

    >>> system("paroli", Multiples(1, 100)).multiples, system("flat", Multiples(3, 100)).multiples
    ((1, 2, 4), (3,))
    """
    if name not in tuple(SystemName):
        raise RulesError(f"unknown staking system {name!r}: expected one of {', '.join(SystemName)}")
    wanted, won, lost = _MACHINES[SystemName(name)](multiples.most)
    least, most = multiples
    kept = tuple(min(max(multiple, least), most) for multiple in wanted)
    return System(str(name), kept, tuple(won), tuple(range(len(kept))), tuple(lost))


_Machine = tuple[list[int], list[int], list[int]]
"""[state] the multiple, the state after a win, the state after a loss."""


def _flat(_most: int) -> _Machine:
    return [1], [0], [0]


def _martingale(most: int) -> _Machine:
    last = (most - 1).bit_length()  # the first power of two at or above the maximum
    states = range(last + 1)
    return [2**state for state in states], [START for _ in states], [min(state + 1, last) for state in states]


def _paroli(_most: int) -> _Machine:
    states = range(PAROLI_WINS)
    return [2**s for s in states], [(s + 1) % PAROLI_WINS for s in states], [START for _ in states]


def _dalembert(most: int) -> _Machine:
    states = range(most)
    return [s + 1 for s in states], [max(s - 1, 0) for s in states], [min(s + 1, most - 1) for s in states]


def _labouchere(most: int) -> _Machine:
    most = min(most, MOST_ON_LINE)
    known = {LINE: START}
    lines = [LINE]
    wanted, won, lost = [], [], []

    def number(line: tuple[int, ...]) -> int:
        if line not in known:
            known[line] = len(lines)
            lines.append(line)
        return known[line]

    for line in lines:  # grows during the loop
        stake = min(_line_stake(line), most)
        wanted.append(stake)
        won.append(number(line[1:-1] or LINE))
        longer = (*line, stake)
        given_up = len(longer) > LONGEST_LINE or _line_stake(longer) > most
        lost.append(number(LINE if given_up else longer))
    return wanted, won, lost


def _line_stake(line: tuple[int, ...]) -> int:
    return line[0] + line[-1] if len(line) > 1 else line[0]


_MACHINES: Final[dict[SystemName, Callable[[int], _Machine]]] = {
    SystemName.FLAT: _flat,
    SystemName.MARTINGALE: _martingale,
    SystemName.PAROLI: _paroli,
    SystemName.DALEMBERT: _dalembert,
    SystemName.LABOUCHERE: _labouchere,
}


MOST_MEMORIES: Final = 65_536
"""The most states of a strategy; more would not fit into the cache of a processor."""
COUNT: Final = "count"
NAMES: Final = (*SystemName, COUNT)
_COUNTING: Final = re.compile(rf"{COUNT}(?::([0-9]{{1,6}}))?", re.ASCII)


class Strategy(Protocol):
    """A staking strategy of your own. Its memory of the rounds so far must be hashable.

    Each reachable memory becomes a state of a `System`, so it runs as fast as the built-in systems.
    """

    @property
    def name(self) -> str:
        """Its name in reports."""

    @property
    def start(self) -> Hashable:
        """The memory before the first round."""

    def multiple(self, memory: Any, /) -> int:
        """The multiple in the next round."""

    def after(self, memory: Any, way: int, /) -> Hashable:
        """The memory after a win (1), a loss (-1) or a level round (0)."""


class Counting(NamedTuple):
    """Two multiples for each bet: `favoured` while its exact expected value is above 0, else `waiting`."""

    waiting: int = 0
    favoured: int = 1

    @property
    def name(self) -> str:
        """The name on the command line."""
        return f"{COUNT}:{self.favoured}" if self.waiting else COUNT


Staking = str | Strategy | Counting


def machine(strategy: Strategy, multiples: Multiples) -> System:
    """The system of a strategy: every reachable memory is a state.

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
    for memory in memories:  # grows during the loop
        multiple = strategy.multiple(memory)
        if type(multiple) is not int or multiple < 1:
            raise RulesError(f"expected a whole multiple of 1 or more from {strategy.name}, got {multiple!r}")
        wanted.append(min(max(multiple, multiples.least), multiples.most))
        for way, states in following.items():
            then = strategy.after(memory, way)
            if then not in known:
                if len(memories) == MOST_MEMORIES:
                    raise RulesError(f"the strategy {strategy.name} has more than {MOST_MEMORIES:,} states")
                known[then] = len(memories)
                memories.append(then)
            states.append(known[then])
    won, level, lost = map(tuple, following.values())
    return System(strategy.name, tuple(wanted), won, level, lost)


def named(text: str) -> str | Counting:
    """A strategy by its name. count:8 stakes 1 unit, and 8 if the cards favour the bet."""
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
        raise RulesError(f"unknown strategy {text!r}: expected one of {', '.join(NAMES)}")
    return text


def system_of(strategy: str | Strategy, multiples: Multiples) -> System:
    """The system with a name, or the system of a strategy of your own."""
    return system(strategy, multiples) if isinstance(strategy, str) else machine(strategy, multiples)


MOST_MONEY: Final = 2**53 - 1


class SessionTerms(NamedTuple):
    """Strategy, money and table limits of a session."""

    strategy: Staking = "flat"
    bankroll: int | None = None
    """None: unlimited."""
    target: int | None = None
    """The bankroll at which the player leaves."""
    minimum: int | None = None
    maximum: int | None = None
    """The table limits for each area."""

    def checked(self) -> SessionTerms:
        """The terms with the strategy resolved by name. Raises an error if they are invalid."""
        for what, money in (("bankroll", self.bankroll), ("target", self.target)):
            if money is not None and not 1 <= money <= MOST_MONEY:
                raise RulesError(f"expected a {what} from 1 to 2^53 - 1, got {money}")
        return self._replace(strategy=named(self.strategy)) if isinstance(self.strategy, str) else self

    @property
    def is_endless(self) -> bool:
        """Whether only the number of rounds ends a session."""
        return self.bankroll is None and self.target is None

    def multiples(self, mix: Mix) -> Multiples:
        """The multiples of a mix that the table accepts."""
        greatest = GREATEST_MULTIPLE
        if self.bankroll is not None and self.target is not None:
            # No more than the player can ever have; the exact figures use the same limit.
            greatest = max(1, (self.target - 1) // mix.staked)
        return allowed(mix, minimum=self.minimum, maximum=self.maximum, greatest=greatest)


FLAT: Final = SessionTerms()

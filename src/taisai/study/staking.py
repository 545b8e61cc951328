"""Staking systems: finite machines that say how many times the bets are staked in the next round.

A player has a mix of bets, the unit, and stakes whole multiples of it. The machine's state says which
multiple is wanted; whether the round won, lost or came out level says which state is next. Three limits cut
in, here and everywhere that plays these machines:

- The table's minimum and maximum hold for each area. A multiple that would leave an area under the minimum
  is raised to the least that does not, one that would bring an area beyond the maximum is cut to the greatest
  that does not, and the machine goes on as if it had been staked as wanted.
- A multiple that the bankroll does not cover is cut to the greatest that it does.
- A player who cannot cover the least multiple that the table takes is ruined and leaves.

Martingale doubles after a loss and, once at the maximum, stays there until it wins. Paroli doubles after a
win and starts again after the third in a row, or a loss. D'Alembert adds one after a loss and takes one off
after a win. Labouchère stakes the sum of the first and the last number of a line, strikes both after a win
and appends what was staked after a loss; a line that is used up starts again, and a line that would grow
beyond eight numbers, or ask for more than fifty units or more than the table takes, is given up.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable
from enum import StrEnum
from typing import Any, Final, NamedTuple, Protocol

from taisai.rules.errors import RulesError
from taisai.study.odds import Mix

START: Final = 0
"""The state that every machine starts in."""
GREATEST_MULTIPLE: Final = 100_000
"""The greatest multiple of the unit that any system stakes, whatever the table would take."""
PAROLI_WINS: Final = 3
LINE: Final[tuple[int, ...]] = (1, 2, 3, 4)
"""The line that Labouchère starts with."""
LONGEST_LINE: Final = 8
"""A line of more numbers is given up: without an end there would be more lines than any machine holds."""
MOST_ON_LINE: Final = 50
"""A line that asks for more units than this is given up, for the same reason."""


class SystemName(StrEnum):
    """The systems there are."""

    FLAT = "flat"
    MARTINGALE = "martingale"
    PAROLI = "paroli"
    DALEMBERT = "dalembert"
    LABOUCHERE = "labouchere"


class Multiples(NamedTuple):
    """How many times a mix may be staked at once."""

    least: int
    most: int


class System(NamedTuple):
    """A machine: [state] → the multiple staked, and the state that follows on each way a round can end.

    >>> system("martingale", Multiples(1, 20))
    System(name=..., multiples=(1, 2, 4, 8, 16, 20), won=(0, ...), level=(0, ...), lost=(1, 2, 3, 4, 5, 5))
    """

    name: str
    multiples: tuple[int, ...]
    """Within what the table takes; the bankroll may cut it further."""
    won: tuple[int, ...]
    level: tuple[int, ...]
    lost: tuple[int, ...]

    def after(self, net: int) -> tuple[int, ...]:
        """[state] → the state after a round with this net."""
        return self.won if net > 0 else self.lost if net < 0 else self.level


def allowed(mix: Mix, *, minimum: int | None, maximum: int | None, greatest: int) -> Multiples:
    """How many times a mix may be staked under a table's limits for each area, and never beyond `greatest`.

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
                f"expected table limits that some multiple of the bets keeps to, got minimum {minimum or 1} "
                f"and maximum {maximum} for stakes from {lowest} to {highest}"
            )
    return Multiples(least, max(least, most))


def system(name: str, multiples: Multiples) -> System:
    """The machine of a system whose stakes keep to these multiples of the unit.

    >>> system("paroli", Multiples(1, 100)).multiples, system("flat", Multiples(3, 100)).multiples
    ((1, 2, 4), (3,))
    """
    if name not in tuple(SystemName):
        raise RulesError(f"expected a system of {', '.join(SystemName)}, got {name!r}")
    wanted, won, lost = _MACHINES[SystemName(name)](multiples.most)
    least, most = multiples
    kept = tuple(min(max(multiple, least), most) for multiple in wanted)
    return System(str(name), kept, tuple(won), tuple(range(len(kept))), tuple(lost))


_Machine = tuple[list[int], list[int], list[int]]
"""[state] the multiple wanted, the state after a win, the state after a loss."""


def _flat(_most: int) -> _Machine:
    return [1], [0], [0]


def _martingale(most: int) -> _Machine:
    last = (most - 1).bit_length()  # the first power of two that is not below the most
    states = range(last + 1)
    return [2**state for state in states], [START for _ in states], [min(state + 1, last) for state in states]


def _paroli(_most: int) -> _Machine:
    states = range(PAROLI_WINS)
    return (
        [2**state for state in states],
        [(state + 1) % PAROLI_WINS for state in states],
        [START for _ in states],
    )


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

    for line in lines:  # grows as it is read
        stake = min(_asked(line), most)
        wanted.append(stake)
        won.append(number(line[1:-1] or LINE))
        longer = (*line, stake)
        given_up = len(longer) > LONGEST_LINE or _asked(longer) > most
        lost.append(number(LINE if given_up else longer))
    return wanted, won, lost


def _asked(line: tuple[int, ...]) -> int:
    return line[0] + line[-1] if len(line) > 1 else line[0]


_MACHINES: Final[dict[SystemName, Callable[[int], _Machine]]] = {
    SystemName.FLAT: _flat,
    SystemName.MARTINGALE: _martingale,
    SystemName.PAROLI: _paroli,
    SystemName.DALEMBERT: _dalembert,
    SystemName.LABOUCHERE: _labouchere,
}


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

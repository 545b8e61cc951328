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

from collections.abc import Callable
from enum import StrEnum
from typing import Final, NamedTuple

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

    def following(self, state: int, net: int) -> int:
        """The state after a round that brought so much."""
        return (self.won if net > 0 else self.lost if net < 0 else self.level)[state]


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

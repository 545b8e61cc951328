"""Players who follow a system as a person would, with a line on paper: the machines must stake the same."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import NamedTuple


class Player(NamedTuple):
    """What a player remembers, how much that makes the next stake, and how a round changes it."""

    start: tuple[int, ...]
    stake: Callable[[tuple[int, ...]], int]
    after: Callable[[tuple[int, ...], int, int], tuple[int, ...]]
    """What is remembered, what the round brought, the most units taken → what is remembered next."""


def _doubling(*, wins: bool) -> Callable[[tuple[int, ...], int, int], tuple[int, ...]]:
    def after(memory: tuple[int, ...], net: int, most: int) -> tuple[int, ...]:
        if net == 0:
            return memory
        doubled = (memory[0] * 2,)
        if wins:
            return doubled if net > 0 and memory[0] < 4 else (1,)
        return (1,) if net > 0 else memory if memory[0] >= most else doubled

    return after


def _steps(memory: tuple[int, ...], net: int, most: int) -> tuple[int, ...]:
    moved = memory[0] - (net > 0) + (net < 0)
    return (min(max(moved, 1), most),)


def _line(memory: tuple[int, ...], net: int, most: int) -> tuple[int, ...]:
    most = min(most, 50)
    if net == 0:
        return memory
    if net > 0:
        return memory[1:-1] if len(memory) > 2 else (1, 2, 3, 4)
    line = [*memory, min(_ends_of_line(memory), most)]
    if len(line) > 8 or line[0] + line[-1] > most:
        return (1, 2, 3, 4)
    return tuple(line)


def _ends_of_line(memory: tuple[int, ...]) -> int:
    return memory[0] if len(memory) == 1 else memory[0] + memory[-1]


def _first(memory: tuple[int, ...]) -> int:
    return memory[0]


PLAYERS = {
    "flat": Player((1,), _first, lambda memory, _net, _most: memory),
    "martingale": Player((1,), _first, _doubling(wins=False)),
    "paroli": Player((1,), _first, _doubling(wins=True)),
    "dalembert": Player((1,), _first, _steps),
    "labouchere": Player((1, 2, 3, 4), lambda memory: min(_ends_of_line(memory), 50), _line),
}


class Fate(NamedTuple):
    """What became of everybody, in fractions."""

    ruined: dict[int, Fraction]
    reached: dict[int, Fraction]
    playing: dict[int, Fraction]
    rounds: Fraction
    staked: Fraction


def played_out(
    name: str,
    nets: list[tuple[int, Fraction]],
    *,
    unit: int,
    bankroll: int,
    target: int,
    rounds: int,
    least: int,
    most: int,
) -> Fate:
    """Every way that so many rounds can go, one player at a time, in fractions."""
    player = PLAYERS[name]
    alive = {(player.start, bankroll): Fraction(1)}
    ruined: dict[int, Fraction] = {}
    reached: dict[int, Fraction] = {}
    mean_rounds = mean_staked = Fraction(0)
    for _ in range(rounds):
        following: dict[tuple[tuple[int, ...], int], Fraction] = {}
        for (memory, purse), share in alive.items():
            if purse < least * unit:
                ruined[purse] = ruined.get(purse, Fraction(0)) + share
                continue
            times = min(max(player.stake(memory), least), most, purse // unit)
            mean_rounds += share
            mean_staked += share * times * unit
            for net, chance in nets:
                left = purse + times * net
                if left >= target or left < least * unit:
                    ends = reached if left >= target else ruined
                    ends[left] = ends.get(left, Fraction(0)) + share * chance
                    continue
                key = player.after(memory, net, most), left
                following[key] = following.get(key, Fraction(0)) + share * chance
        alive = following
    playing: dict[int, Fraction] = {}
    for (_, purse), share in alive.items():
        playing[purse] = playing.get(purse, Fraction(0)) + share
    return Fate(ruined, reached, playing, mean_rounds, mean_staked)

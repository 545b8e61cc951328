"""The machines against players with a memory, and their limits."""

from __future__ import annotations

from random import Random

import pytest

from taisai.rules import RulesError, rulebook
from taisai.study.odds import Mix
from taisai.study.staking import GREATEST_MULTIPLE, START, Multiples, SystemName, allowed, system
from tests.study.session.players import PLAYERS


@pytest.mark.parametrize("name", list(SystemName))
@pytest.mark.parametrize("multiples", [Multiples(1, 1), Multiples(1, 3), Multiples(2, 20), Multiples(1, 100)])
def test_a_machine_stakes_what_the_player_would(name: str, multiples: Multiples) -> None:
    machine, player, draw = system(name, multiples), PLAYERS[name], Random(7)
    state, memory = START, player.start
    for _ in range(3_000):
        expected = min(max(player.stake(memory), multiples.least), multiples.most)
        assert machine.multiples[state] == expected
        net = draw.choice((-1, -1, 0, 1))
        state, memory = machine.after(net)[state], player.after(memory, net, multiples.most)


def test_a_losing_martingale_doubles_up_to_the_maximum_and_stays() -> None:
    machine = system("martingale", Multiples(1, 50))
    state, staked = START, []
    for _ in range(8):
        staked.append(machine.multiples[state])
        state = machine.after(-100)[state]
    assert staked == [1, 2, 4, 8, 16, 32, 50, 50]
    assert machine.after(100)[state] == START
    assert machine.after(0)[state] == state


@pytest.mark.parametrize("name", list(SystemName))
def test_every_state_is_one_of_the_machine(name: str) -> None:
    machine = system(name, Multiples(1, 64))
    states = range(len(machine.multiples))
    for following in (machine.won, machine.level, machine.lost):
        assert len(following) == len(states)
        assert set(following) <= set(states)
    assert len(states) < 50_000


def test_limits_hold_for_every_area() -> None:
    mix = Mix.of(rulebook("rws-sic-bo-etg-v8").matrix("A"), {"small": 100, "triple-1": 10})
    assert allowed(mix, minimum=None, maximum=None, greatest=7) == (1, 7)
    assert allowed(mix, minimum=11, maximum=None, greatest=7) == (2, 7)
    assert allowed(mix, minimum=10, maximum=250, greatest=7) == (1, 2)
    assert allowed(mix, minimum=None, maximum=None, greatest=10**9) == (1, GREATEST_MULTIPLE)
    assert allowed(mix, minimum=90, maximum=None, greatest=3) == (9, 9)
    with pytest.raises(RulesError, match="minimum 30, maximum 299, stakes from 10 to 100"):
        allowed(mix, minimum=30, maximum=299, greatest=7)


def test_an_unknown_system_is_named() -> None:
    with pytest.raises(RulesError, match="expected one of flat, martingale, paroli, dalembert, labouchere"):
        system("Martingale", Multiples(1, 10))

"""Shoes: cards dealt without replacement to a penetration, shuffled, and dealt again."""

from __future__ import annotations

from fractions import Fraction
from math import comb, gcd, sqrt
from typing import Final, NamedTuple

from taisai.rules.errors import RulesError
from taisai.rules.matrix import Matrix
from taisai.rules.outcomes import DICE, FACES, Outcome
from taisai.study.odds import Mix
from taisai.study.shoe.composition import rounds_dealt
from taisai.study.simulation.draws import Walk

SIX: Final = len(FACES)
ROLLS: Final = tuple(Outcome.of(a, b, c).index for a in FACES for b in FACES for c in FACES)
"""[36 × first + 6 × second + third card, from 0] the place among the 56 outcomes."""
MOST_CARDS: Final = 65_535
"""In a shoe: a draw is cut into cards by products of 16 bits."""


class SimulatedShoe(NamedTuple):
    """What is dealt and when it is shuffled."""

    each: int
    """Cards of each face in a full shoe."""
    rounds: int
    """Dealt before the next shuffle."""

    @staticmethod
    def of(cards_per_face: int, decks: int, penetration: Fraction | None) -> SimulatedShoe:
        """A shoe of so many decks, dealt to a share of its cards; without one, shuffled after every round."""
        each = cards_per_face * decks
        if SIX * each > MOST_CARDS:
            raise RulesError(f"expected a shoe of at most {MOST_CARDS:,} cards, got {SIX * each:,}")
        if penetration is None:
            return SimulatedShoe(each, 1)
        return SimulatedShoe(each, rounds_dealt(SIX * each, penetration))


class Betting(NamedTuple):
    """Bets that are made or not, each by itself, as the cards left in the shoe have it."""

    nets: tuple[tuple[int, ...], ...]
    """[bet][outcome] in units."""
    stakes: tuple[int, ...]
    """[bet] in units."""
    unit: int
    waiting: int
    """How many times a bet is made when the cards left do not favour it."""
    favoured: int
    """How many times when they do: its expectation is above 0, exactly."""

    @staticmethod
    def of(mix: Mix, *, waiting: int = 1, favoured: int = 1) -> Betting:
        """Flat where both are 1: then the whole mix is one bet."""
        matrix: Matrix = mix.matrix
        if waiting == favoured:
            nets: tuple[tuple[int, ...], ...] = (tuple(net * waiting for net in mix.nets),)
            stakes: tuple[int, ...] = (mix.staked * waiting,)
            waiting = favoured = 1
        else:
            nets = tuple(
                tuple(stake * net // matrix.denominator for net in matrix.nets[matrix.row(area)])
                for area, stake in mix.stakes.items()
            )
            stakes = tuple(mix.stakes.values())
        unit = gcd(*stakes, *(net for row in nets for net in row))
        return Betting(
            tuple(tuple(net // unit for net in row) for row in nets),
            tuple(stake // unit for stake in stakes),
            unit,
            waiting,
            favoured,
        )

    @property
    def greatest(self) -> int:
        """The most that a round can stake, win or lose, in units."""
        most = max(self.waiting, self.favoured)
        return most * sum(
            max(stake, *map(abs, row)) for row, stake in zip(self.nets, self.stakes, strict=True)
        )


class Dealt(NamedTuple):
    """What so many shoes came to, in units; sums over shoes for the spread of a shoe."""

    shoes: int = 0
    rounds: int = 0
    staked: int = 0
    walk: Walk = Walk()
    net_squared: int = 0
    net_by_staked: int = 0
    staked_squared: int = 0

    def then(self, other: Dealt) -> Dealt:
        """These shoes and those after them, as one."""
        return Dealt(
            self.shoes + other.shoes,
            self.rounds + other.rounds,
            self.staked + other.staked,
            self.walk.then(other.walk),
            self.net_squared + other.net_squared,
            self.net_by_staked + other.net_by_staked,
            self.staked_squared + other.staked_squared,
        )

    def standard_error(self) -> float | None:
        """Of the net for each unit staked, from how shoes differ; None where there are fewer than two."""
        if self.shoes < 2 or not self.staked:
            return None
        share = Fraction(self.walk.net, self.staked)
        spread = self.net_squared - 2 * share * self.net_by_staked + share * share * self.staked_squared
        return sqrt(spread * self.shoes / (self.shoes - 1)) / self.staked


def most_shoes(shoe: SimulatedShoe, betting: Betting) -> int:
    """How many shoes one call may deal so that every sum fits 64 bits; refuses where not one does."""
    swing = shoe.rounds * betting.greatest
    most = 2**62 // (swing * swing)
    weight = comb(SIX * shoe.each, DICE) * betting.greatest
    if most < 1 or weight >= 2**62:
        raise RulesError(
            f"expected bets that win or lose less in one shoe of {shoe.rounds} rounds, "
            f"got up to {swing * betting.unit:,}"
        )
    return most

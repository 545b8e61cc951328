"""One more round dealt, over all ways to have dealt those before it, compiled. Import it only with numba.

The cards dealt are told by how many of each group of faces they are; the last group has what the others
leave. An array keeps a figure for each, three places in from every edge, so that three can be taken off.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from taisai.bulk.kernels import compiled
from taisai.rules.outcomes import DICE

Reals = npt.NDArray[Any]
Wholes = npt.NDArray[Any]


class DealtShoe(NamedTuple):
    """What does not change while a shoe is dealt."""

    held: Wholes
    """[group] its cards in the full shoe; there are five groups, some perhaps empty."""
    tags: Wholes
    """[group] the tag of its cards."""
    ways: Reals
    """[group][n] in how many ways n of its cards can be taken."""
    taken: Reals
    """[k][n] in how many ways k of n cards can be taken."""
    hands: Wholes
    """[hand][group] three cards, by group."""
    sums: Wholes
    """[hand] what they add to the count."""
    parts: Reals
    """[part][high or low][hand] factors whose products, over the parts, make up a product of two nets."""
    nets: Reals
    """[net or its square][high or low][hand] the mean."""
    least: float
    """A way to have dealt that is less probable is left out."""


class DealtRound(NamedTuple):
    """One round of it."""

    dealt: int
    """Cards, when it is over."""
    deals: float
    """In how many ways so many can be taken."""
    bets: Reals
    """[high or low][count] 1 where there is a bet before it, else 0; the count 0 is in the middle."""
    before: Reals
    """[part][cards of each group but the last] the part's sum over the rounds before, in the mean."""
    after: Reals
    """The same with this round."""


@compiled
def deal(shoe: DealtShoe, played: DealtRound, first: int) -> Reals:
    """Fills `after` where so many cards of the first group are dealt, and sums up what the round adds.

    The sums are of each part times what there was before, then of the net, then of its square.
    """
    parts, most = shoe.parts.shape[0], shoe.held[3] + 1
    sums, met, weights = np.zeros(parts + 2), np.zeros((parts + 2, most)), np.zeros((3, most))
    played.after[:, first + DICE] = 0.0
    for second in range(shoe.held[1] + 1):
        for third in range(shoe.held[2] + 1):
            rest = played.dealt - first - second - third
            ways = shoe.ways[0, first] * shoe.ways[1, second] * shoe.ways[2, third] / played.deals
            start, end = _probable(shoe, ways, rest)
            if start < end:
                met[:] = 0.0
                _last_round(shoe, played, (first, second, third, rest), (start, end), (met, weights))
                for n in range(end - start):
                    share = ways * shoe.ways[3, start + n] * shoe.ways[4, rest - start - n]
                    for figure in range(parts + 2):
                        sums[figure] += share * met[figure, n]
    return sums


@compiled
def _probable(shoe: DealtShoe, ways: float, rest: int) -> tuple[int, int]:
    """From how many cards of the fourth group to how many they are probable enough, the end not included."""
    start, end = max(0, rest - shoe.held[4]), min(shoe.held[3], rest) + 1
    while start < end and ways * shoe.ways[3, start] * shoe.ways[4, rest - start] < shoe.least:
        start += 1
    while start < end and ways * shoe.ways[3, end - 1] * shoe.ways[4, rest - end + 1] < shoe.least:
        end -= 1
    return start, end


@compiled
def _last_round(
    shoe: DealtShoe,
    played: DealtRound,
    cards: tuple[int, int, int, int],
    span: tuple[int, int],
    room: tuple[Reals, Reals],
) -> None:
    """Every hand that the last three of these cards may have been, in every order alike."""
    first, second, third, rest = cards
    start, end = span
    met, (chance, high, low) = room[0], (room[1][0], room[1][1], room[1][2])
    parts, size, step = shoe.parts.shape[0], end - start, shoe.tags[3] - shoe.tags[4]
    count = first * shoe.tags[0] + second * shoe.tags[1] + third * shoe.tags[2]
    count += start * shoe.tags[3] + (rest - start) * shoe.tags[4] + played.bets.shape[1] // 2
    orders = shoe.taken[DICE, played.dealt]
    for hand in range(len(shoe.hands)):
        a, b, c = shoe.hands[hand, 0], shoe.hands[hand, 1], shoe.hands[hand, 2]
        if a > first or b > second or c > third:
            continue
        some = shoe.taken[a, first] * shoe.taken[b, second] * shoe.taken[c, third] / orders
        fourth, last = shoe.taken[shoe.hands[hand, 3]], shoe.taken[shoe.hands[hand, 4]]
        was = count - shoe.sums[hand]
        for n in range(size):
            chance[n] = some * fourth[start + n] * last[rest - start - n]
            high[n] = chance[n] * played.bets[0, was + n * step]
            low[n] = chance[n] * played.bets[1, was + n * step]
        for part in range(parts):
            old = played.before[part, first + DICE - a, second + DICE - b, third + DICE - c]
            old = old[start + DICE - shoe.hands[hand, 3] :]
            new = played.after[part, first + DICE, second + DICE, third + DICE, start + DICE :]
            up, down, product = shoe.parts[part, 0, hand], shoe.parts[part, 1, hand], met[part]
            for n in range(size):
                now = high[n] * up + low[n] * down
                new[n] += chance[n] * old[n] + now
                product[n] += old[n] * now
        for power in range(2):
            up, down, net = shoe.nets[power, 0, hand], shoe.nets[power, 1, hand], met[parts + power]
            for n in range(size):
                net[n] += high[n] * up + low[n] * down

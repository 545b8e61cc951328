"""The exact variance of the net of a whole shoe, played with a count.

The rounds of a shoe are not independent, so the variance needs the expected product of the nets of every two
rounds. The bets depend only on the count, and the count on how many cards of each tag have been dealt. Given
those numbers, cards of one tag are exchangeable. So for two hands, described by tags, the expected product of
the nets is a constant: a symmetric matrix of hands by hands. By its eigenvectors (four if two faces share a
tag) it is a sum of a few products of a factor of each hand. The sums of these factors are carried forward,
round by round, over all numbers of cards of each tag.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import combinations_with_replacement
from math import comb, prod, sqrt
from typing import TYPE_CHECKING, Final, NamedTuple

from taisai.rules.errors import RulesError
from taisai.rules.matrix import Matrix
from taisai.rules.outcomes import DICE, OUTCOMES
from taisai.study import MissingError, needed
from taisai.study.shoe.composition import chance_left
from taisai.study.shoe.counting import MOST_CARDS, called, whole_tags
from taisai.study.shoe.odds import Reals, threads
from taisai.study.shoe.perfect import Progress

with needed("NumPy", "study"):
    import numpy as np

    from taisai.bulk.kernels import loads_numba

if TYPE_CHECKING:  # it needs numba
    from taisai.study.shoe.compiled import DealtShoe

GROUPS: Final = 5  # the most different tags: with six, two decks would take minutes and six decks days
MOST_CELLS: Final = 64_000_000  # the most figures, 0.5 GB; six decks with five different tags have 59 million
LEAST: Final = 1e-18  # less probable states are left out
NOISE: Final = 1e-13  # eigenvalues below this share of the greatest are rounding errors of 0
ROUNDED: Final = 2.0**-53  # the relative rounding error of a double
FEW: Final = 300  # a bound of the number of roundings in a single net, probability or matrix entry


class VarianceParts(NamedTuple):
    """The matrix of expected products of the nets of two hands, as a sum of products."""

    factors: Reals  # [part]
    vectors: Reals  # [part][high or low][hand]
    off: float  # the error bound of each entry
    terms: float  # a bound of the sum of the absolute terms of an entry


@dataclass(frozen=True, slots=True)
class ShoeVariance:
    """Mean and variance of the net of one shoe."""

    rounds: int
    mean: float
    """The expected net of the shoe, in units."""
    variance: float
    error: float
    """The error bound of the variance: omitted states and all roundings."""

    @property
    def deviation(self) -> float:
        """The standard deviation of 100 rounds, over as many shoes as they need."""
        return 10 * float((self.variance / self.rounds) ** 0.5)

    @property
    def until_equal(self) -> float | None:
        """The rounds at which the expected net equals one standard deviation; None if it is not positive."""
        return self.variance * self.rounds / self.mean**2 if self.mean > 0 else None


def shoe_variance(
    matrix: Matrix,
    left: Sequence[int],
    tags: Sequence[int],
    bet: tuple[str, str | None, Fraction],
    rounds: int,
    *,
    deck: int = 48,
    progress: Progress | None = None,
) -> ShoeVariance:
    """Mean and variance of these rounds of a shoe; `bet` is the area, its mirror and the threshold.

    It raises an error if it would take too long: without numba, with six different tags, or too many cards.

    >>> from taisai.rules import rulebook
    >>> matrix = rulebook("mbs-3-card-sic-bo").matrix()
    >>> found = shoe_variance(matrix, (16,) * 6, (-2, -1, 0, 0, 1, 2), ("small", "big", Fraction(1)), 16)
    >>> round(found.deviation, 3), round(found.until_equal)
    (7.627, 364)
    """
    left, tags = tuple(left), whole_tags(tags)
    _check(left, tags, rounds)
    area, mirror, at = bet
    parts, shoe = _shoe(matrix, left, tags, (matrix.row(area), matrix.row(mirror or area)))
    factors = parts.factors
    cells = 2 * factors.size * prod(int(count) + DICE + 1 for count in shoe.held[:4])
    if cells > MOST_CELLS:
        raise RulesError(
            f"expected at most {MOST_CELLS} figures to keep for a deviation, got {cells} "
            f"({sum(left)} cards with {len(set(tags))} different tags)"
        )
    from taisai.study.shoe.compiled import DealtRound, deal

    cards = sum(left)
    far = sum(abs(tag) * count for tag, count in zip(tags, left, strict=True)) + DICE * max(map(abs, tags))
    counts = np.arange(-far, far + 1)
    before, after = (np.zeros((factors.size, *(shoe.held[:4] + DICE + 1))) for _ in range(2))
    mean = square = 0.0
    for k in range(rounds):
        bets = np.array(called(counts, cards - DICE * k, deck, at, mirrored=mirror is not None), dtype=float)
        dealt = DICE * (k + 1)
        now = DealtRound(dealt, float(comb(cards, dealt)), bets, before, after)
        some = range(min(int(shoe.held[0]), dealt) + 1)
        sums = np.sum(list(threads().map(partial(deal, shoe, now), some)), axis=0)
        mean += sums[-2]
        square += sums[-1] + 2 * float(factors @ sums[:-2])
        before, after = after, before
        if progress:
            progress(k + 1, rounds)
    variance = max(0.0, float(square - mean * mean))
    return ShoeVariance(rounds, float(mean), variance, _error(parts, shoe, rounds, abs(float(mean))))


def _check(left: tuple[int, ...], tags: tuple[int, ...], rounds: int) -> None:
    """Raises an error for an invalid shoe or number of rounds, or if it would take too long."""
    chance_left(left)
    cards = sum(left)
    if cards > MOST_CARDS:
        raise RulesError(f"expected at most {MOST_CARDS} cards for a deviation, got {cards}")
    if type(rounds) is not int or not 1 <= rounds <= cards // DICE:
        raise RulesError(f"expected 1 to {cards // DICE} rounds from {cards} cards, got {rounds!r}")
    if len(set(tags)) > GROUPS:
        raise RulesError(
            f"expected at most {GROUPS} different tags for a deviation, got {len(set(tags))}: {tags}"
        )
    if not loads_numba():
        raise MissingError(
            "a deviation needs numba, which is not installed: "
            "run pip install 'taisai[study]', or make study in a clone"
        )


def _error(parts: VarianceParts, shoe: DealtShoe, rounds: int, mean: float) -> float:
    """The error bound of the variance.

    It is a sum of products of doubles: probabilities along a path, and two factors of nets or one square.
    """
    states, pairs = prod(int(count) + 1 for count in shoe.held[:4]), rounds * (rounds - 1)
    square = float(shoe.nets[1].max())  # by Cauchy–Schwarz also a bound of the expected product
    # The additions along a path, over the states of one thread, and over threads and rounds.
    summed = states // (int(shoe.held[0]) + 1) + int(shoe.held[0]) + rounds + parts.factors.size
    share = ROUNDED * (rounds * (len(shoe.hands) + 8) + summed + FEW)
    # A product is lost if the state after its rounds, or one in between, was left out.
    lost = states * LEAST
    squares = square * rounds * (lost + share)
    products = pairs * (parts.off + parts.terms * share + square * lost * (rounds + 4) / 3)
    off = sqrt(square) * rounds * (lost + share)  # the mean
    return 1.01 * (squares + products + 2 * mean * off + off * off)  # errors of second order: far below 1 %


def _shoe(
    matrix: Matrix, left: tuple[int, ...], tags: tuple[int, ...], rows: tuple[int, int]
) -> tuple[VarianceParts, DealtShoe]:
    """The factors of the products of nets, and the shoe with its largest group last."""
    from taisai.study.shoe.compiled import DealtShoe

    cards = {tag: sum(n for n, of in zip(left, tags, strict=True) if of == tag) for tag in set(tags)}
    groups = sorted(cards, key=lambda tag: (cards[tag], tag))
    places = [groups.index(tag) + GROUPS - len(groups) for tag in tags]
    held = np.array([0] * (GROUPS - len(groups)) + [cards[tag] for tag in groups])
    values = np.array([0] * (GROUPS - len(groups)) + groups)
    hands: list[tuple[int, ...]] = list(combinations_with_replacement(sorted(set(places)), DICE))
    of = [hands.index(tuple(sorted(places[face - 1] for face in outcome.faces))) for outcome in OUTCOMES]
    nets = np.array([matrix.nets[row] for row in rows]) / matrix.denominator
    parts = _parts(left, of, nets, len(hands))
    chances = np.array(chance_left(left).weights, dtype=float)
    whole = np.bincount(of, chances, len(hands))
    mean = [
        [
            np.divide(np.bincount(of, chances * row_nets, len(hands)), whole, out=whole * 0, where=whole > 0)
            for row_nets in some
        ]
        for some in (nets, nets * nets)
    ]
    by_group = np.array([[hand.count(group) for group in range(GROUPS)] for hand in hands])
    ways = np.array([[float(comb(int(count), n)) for n in range(int(held.max()) + 1)] for count in held])
    taken = np.array([[float(comb(n, k)) for n in range(sum(left) + 1)] for k in range(DICE + 1)])
    sums = by_group @ values
    return parts, DealtShoe(held, values, ways, taken, by_group, sums, parts.vectors, np.array(mean), LEAST)


def _parts(left: tuple[int, ...], of: list[int], nets: Reals, hands: int) -> VarianceParts:
    """The matrix by its few eigenvectors with eigenvalues that are not 0."""
    faces = np.array([[outcome.faces.count(face) for face in range(1, 7)] for outcome in OUTCOMES])
    ways = np.array(
        [[[float(comb(n, i) * comb(max(0, n - i), j)) for j in range(4)] for i in range(4)] for n in left]
    )
    both = ways[np.arange(6), faces[:, None, :], faces[None, :, :]].prod(axis=2)
    is_hand = np.zeros((hands, len(OUTCOMES)))
    is_hand[of, np.arange(len(OUTCOMES))] = 1
    weighted = np.concatenate([is_hand * net for net in nets])
    weights = np.tile(is_hand @ both @ is_hand.T, (2, 2))
    table = np.divide(weighted @ both @ weighted.T, weights, out=np.zeros_like(weights), where=weights > 0)
    table = (table + table.T) / 2
    values, vectors = np.linalg.eigh(table)
    kept = abs(values) > NOISE * abs(values).max()
    values, vectors = values[kept], vectors[:, kept]
    terms = float((abs(vectors) * abs(values) @ abs(vectors).T).max())
    # Compared with the matrix itself, so that the bound does not depend on the eigenvalue solver.
    off = float(abs(table - vectors * values @ vectors.T).max())
    off += ROUNDED * (FEW * float((nets * nets).max()) + (values.size + 3) * terms)
    return VarianceParts(values, np.ascontiguousarray(vectors.T.reshape(-1, 2, hands)), off, terms)

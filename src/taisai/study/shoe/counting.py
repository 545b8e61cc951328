"""Card counting: linear counts, and their exact expected gain.

The gain of a count comes from a generating function, not from sampling. All orders of the cards are equally
likely, so the count after 3k cards, given the next three, is the count of 3k cards from the shoe without
those three. Its distribution is given by the coefficients of the product of (1 + x·z^tag) over the other
cards, where x counts cards and z adds tags.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import comb
from typing import Any, Final

from taisai.rules.areas import AreaId
from taisai.rules.errors import RulesError
from taisai.rules.matrix import Matrix
from taisai.rules.outcomes import DICE, FACES, OUTCOMES
from taisai.study import needed
from taisai.study.shoe.composition import Removal, chance_left

with needed("NumPy", "study"):
    import numpy as np
    import numpy.typing as npt

Reals = npt.NDArray[Any]

MOST_TAG: Final = 4  # the greatest tag of a count for people; 9**6 combinations are tried


@dataclass(frozen=True, slots=True)
class Count:
    """A running count: the sum of the tags of all cards seen. A high count favours the area."""

    area: AreaId
    tags: tuple[int, ...]
    """[face] the number to add."""
    correlation: float
    """The correlation of the tags with the effects of removal; 1 is optimal for a linear count."""


def linear_count(effects: Removal, area: str, most_tag: int = 3) -> Count:
    """The whole tags up to `most_tag` with the greatest correlation with the effects of removal.

    Balanced tags, whose sum over the full shoe is 0, are preferred; others only if no balanced tags
    correlate.

    >>> from taisai.rules import rulebook
    >>> from taisai.study.shoe.composition import removal
    >>> effects = removal(rulebook("mbs-3-card-sic-bo").matrix(), (48,) * 6)
    >>> linear_count(effects, "small", most_tag=2)
    Count(area='small', tags=(-2, -1, 0, 0, 1, 2), correlation=0.977...)
    """
    if not 1 <= most_tag <= MOST_TAG:
        raise RulesError(f"expected a greatest tag of 1 to {MOST_TAG}, got {most_tag}")
    effect = effects.of(area)
    gains = np.array([-float(change) for change in effect.changes])
    if not gains.any():
        raise RulesError(f"no card changes the house edge of {area}: it cannot be counted")
    steps = np.arange(-most_tag, most_tag + 1)
    every = np.stack(np.meshgrid(*[steps] * len(FACES), indexing="ij"), axis=-1).reshape(-1, len(FACES))
    held = np.array(effects.left)
    balanced = every[every @ held == 0]
    for tags in (balanced, every):
        correlations = _correlations(tags, gains, held)
        if (most := correlations.max()) > 0:
            equal = tags[correlations > most - 1e-9]  # of equal ones, the simplest
            order = sorted(equal.tolist(), key=lambda candidate: (sum(map(abs, candidate)), candidate))
            return Count(effect.area, tuple(order[0]), min(1.0, float(most)))
    raise RulesError(f"no tags up to {most_tag} correlate with the effects of removal on {area}")


def _correlations(tags: Any, gains: Any, held: Any) -> Any:
    """[tags] the correlation with the effects of removal, over the cards of the shoe."""
    share = held / held.sum()
    off = tags - (tags @ share)[:, None]
    wide = gains - gains @ share
    squares = (off * off) @ share * ((wide * wide) @ share)
    return np.divide((off * wide) @ share, np.sqrt(squares), out=np.zeros(len(tags)), where=squares > 0)


MOST_CARDS: Final = 1_000  # with more cards, coefficients would exceed the range of a float64
MOST_CELLS: Final = 3_000_000  # cards times counts; figures of every area for each of them take 0.5 GB
ERROR: Final = 1e-10
"""A bound of the error of a round's gain, in units: all terms are positive, each rounded a few hundred times
by 2**-53, and subtraction amplifies relative errors by at most 63."""


@dataclass(frozen=True, slots=True)
class CountedRound:
    """One round of the shoe, played with a count."""

    round: int
    bet: float
    """The probability of a bet."""
    gain: float
    """The expected net in units, rounds without a bet included."""


@dataclass(frozen=True, slots=True)
class Counted:
    """The distribution of the count, and the expected net of each area, before every round."""

    matrix: Matrix
    left: tuple[int, ...]
    deck: int
    """The cards of one deck, for the true count (per deck left)."""
    tags: tuple[int, ...]
    lowest: int
    """The least possible count."""
    chances: Reals
    """[round][count - lowest] the probability of the count."""
    expected: Reals
    """[area][round][count - lowest] the expected net of one unit, times the probability of the count."""

    def by_index(self, areas: Sequence[str] = ()) -> tuple[CountedRound, ...]:
        """Each round bets on the best of these areas for the count (default: all areas)."""
        rows = [self.matrix.row(area) for area in areas] or list(range(len(self.matrix.areas)))
        best = self.expected[rows].max(axis=0)
        # A gain of the size of a rounding error counts as none.
        good = best > 1e-13 * self.chances
        return tuple(
            CountedRound(k + 1, float(self.chances[k][good[k]].sum()), float(best[k][good[k]].sum()))
            for k in range(len(self.chances))
        )

    def by_threshold(self, area: str, mirror: str | None, at: Fraction) -> tuple[CountedRound, ...]:
        """Bets on the area if the count per deck left reaches a threshold, on its mirror at minus that."""
        counts = np.arange(self.chances.shape[1]) + self.lowest
        played = []
        for k in range(len(self.chances)):
            unseen = sum(self.left) - DICE * k
            high, low = called(counts, unseen, self.deck, at, mirrored=mirror is not None)
            gain = self.expected[self.matrix.row(area), k][high].sum()
            if mirror:
                gain += self.expected[self.matrix.row(mirror), k][low].sum()
            played.append(CountedRound(k + 1, float(self.chances[k][high | low].sum()), float(gain)))
        return tuple(played)


def called(counts: Reals, unseen: int, deck: int, at: Fraction, *, mirrored: bool) -> tuple[Reals, Reals]:
    """For which counts to bet on the area, and for which on its mirror, with this many cards unseen."""
    true = counts * deck * at.denominator  # count / (unseen / deck) ≥ at, without a division
    high = true >= at.numerator * unseen
    low = (true <= -at.numerator * unseen) & ~high
    return high, low & mirrored


def counted(matrix: Matrix, left: Sequence[int], tags: Sequence[int], *, deck: int = 48) -> Counted:
    """The exact figures of a count for a shoe with these cards of each face.

    >>> from taisai.rules import rulebook
    >>> play = counted(rulebook("mbs-3-card-sic-bo").matrix(), (16,) * 6, (-2, -1, 0, 0, 1, 2))
    >>> dealt = play.by_threshold("small", "big", Fraction(1))[:16]
    >>> round(100 * sum(played.gain for played in dealt) / 16, 4)  # units in 100 rounds, half the shoe dealt
    3.9984
    """
    left, tags = tuple(left), whole_tags(tags)
    chance = chance_left(left)
    cards = sum(left)
    low = sum(min(0, tag) * count for tag, count in zip(tags, left, strict=True))
    high = sum(max(0, tag) * count for tag, count in zip(tags, left, strict=True))
    width = high - low + 1
    if cards > MOST_CARDS or cards * width > MOST_CELLS:
        raise RulesError(
            f"expected at most {MOST_CARDS} cards, and {MOST_CELLS} cards times counts, "
            f"got {cards} and {cards * width}"
        )
    kept = [max(0, count - DICE) for count in left]
    base = np.zeros((cards + 1, width))
    base[0, -low] = 1.0
    for count, tag in zip(kept, tags, strict=True):
        base = _times(base, [(n, n * tag, float(comb(count, n))) for n in range(count + 1)])
    rounds = cards // DICE
    dealt = [DICE * k for k in range(rounds)]
    ways = np.array([float(comb(cards - DICE, n)) for n in dealt])[:, None] * float(chance.total)
    columns: dict[tuple[int, ...], dict[tuple[int, int], float]] = {}
    for outcome, weight in zip(OUTCOMES, chance.weights, strict=True):
        if weight:
            column = columns.setdefault(tuple(row[outcome.index] for row in matrix.nets), {})
            for key, times in _rest(left, kept, tags, outcome.faces).items():
                column[key] = column.get(key, 0.0) + float(weight * times)
    chances = np.zeros((rounds, width))
    expected = np.zeros((len(matrix.areas), rounds, width))
    for nets, terms in columns.items():
        shares = _times(base, [(n, t, times) for (n, t), times in terms.items()])[dealt] / ways
        chances += shares
        for row, net in enumerate(nets):
            expected[row] += shares * (net / matrix.denominator)
    return Counted(matrix, left, deck, tags, low, chances, expected)


def whole_tags(tags: Sequence[int]) -> tuple[int, ...]:
    """Checks six whole tags, one for each face."""
    if len(tags) != len(FACES) or not all(type(tag) is int and abs(tag) <= 9 for tag in tags):
        raise RulesError(f"expected six whole tags from -9 to 9, one for each face, got {tuple(tags)}")
    return tuple(tags)


def _times(base: Reals, terms: Sequence[tuple[int, int, float]]) -> Reals:
    """A polynomial in x and z times the sum of these terms. Terms outside the array are 0."""
    product = np.zeros_like(base)
    rows, width = base.shape
    for cards, tag, times in terms:
        into = slice(max(0, tag), width + min(0, tag))
        out_of = slice(max(0, -tag), width + min(0, -tag))
        product[cards:, into] += base[: rows - cards, out_of] * times
    return product


def _rest(
    left: Sequence[int], kept: Sequence[int], tags: Sequence[int], faces: Sequence[int]
) -> dict[tuple[int, int], int]:
    """(cards, sum of tags) → the ways to see them among the cards that neither the outcome nor `kept` has."""
    ways = {(0, 0): 1}
    for place, (count, keep, tag) in enumerate(zip(left, kept, tags, strict=True)):
        more = count - keep - faces.count(place + 1)
        after: dict[tuple[int, int], int] = {}
        for (cards, total), times in ways.items():
            for n in range(more + 1):
                key = cards + n, total + n * tag
                after[key] = after.get(key, 0) + times * comb(more, n)
        ways = after
    return ways


def best_threshold(
    play: Counted, area: str, mirror: str | None, rounds: int, *, most: int = 40
) -> tuple[Fraction, tuple[CountedRound, ...]]:
    """The threshold in halves up to `most`, per deck left, with the greatest gain over these rounds."""
    halves = [Fraction(n, 2) for n in range(1, 2 * most + 1)]
    choices = {at: play.by_threshold(area, mirror, at) for at in halves}
    best = max(choices, key=lambda at: round(sum(played.gain for played in choices[at][:rounds]), 12))
    return best, choices[best]

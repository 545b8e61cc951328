"""The oracle: every order of the cards of a small shoe, with nothing of ours but the matrix."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import cache
from itertools import combinations, permutations

from taisai.rules import Matrix, Outcome, rulebook

MATRIX = rulebook("mbs-3-card-sic-bo").matrix()


def cards(left: Sequence[int]) -> list[int]:
    """The faces of the cards, one by one."""
    return [face for face, count in enumerate(left, 1) for _ in range(count)]


@cache
def edges(matrix: Matrix, left: tuple[int, ...]) -> tuple[Fraction, ...]:
    """[area] what the house keeps of a unit, over all ways to take three of the cards."""
    deals = [Outcome.of(*deal) for deal in combinations(cards(left), 3)]
    return tuple(
        -sum((matrix.net(area, o) for o in deals), Fraction(0)) / len(deals) for area in matrix.areas
    )


def shoes(left: Sequence[int], dealt: int) -> Iterator[tuple[tuple[int, ...], Fraction]]:
    """What may be left after so many cards, with its probability, by taking every set of that many cards."""
    all_cards = cards(left)
    gone = Counter(tuple(all_cards[n] for n in some) for some in combinations(range(len(all_cards)), dealt))
    for some, times in gone.items():
        after = tuple(count - some.count(face) for face, count in enumerate(left, 1))
        yield after, Fraction(times, gone.total())


def perfect(matrix: Matrix, left: Sequence[int]) -> list[tuple[Fraction, Fraction]]:
    """[round] the probability of a bet worth making and what the best brings."""
    rounds = []
    for dealt in range(0, sum(left) - 2, 3):
        bet = gain = Fraction(0)
        for after, chance in shoes(left, dealt):
            best = -min(edges(matrix, after))
            if best > 0:
                bet, gain = bet + chance, gain + chance * best
        rounds.append((bet, gain))
    return rounds


def by_count(
    matrix: Matrix, left: Sequence[int], tags: Sequence[int]
) -> list[dict[int, tuple[Fraction, list[Fraction]]]]:
    """[round] count → its probability, and [area] what a unit brings times that probability."""
    rounds = []
    for dealt in range(0, sum(left) - 2, 3):
        found: dict[int, tuple[Fraction, list[Fraction]]] = defaultdict(
            lambda: (Fraction(0), [Fraction(0)] * len(matrix.areas))
        )
        for after, chance in shoes(left, dealt):
            count = sum(tag * (was - now) for tag, was, now in zip(tags, left, after, strict=True))
            before, nets = found[count]
            worth = [net - chance * edge for net, edge in zip(nets, edges(matrix, after), strict=True)]
            found[count] = before + chance, worth
        rounds.append(dict(found))
    return rounds


def positions(matrix: Matrix, left: Sequence[int], *, burnt: int = 0) -> list[list[Fraction]]:
    """[round][area] the edge over every order of the shoe, the first cards burnt."""
    orders = list(permutations(cards(left)))
    made = []
    for start in range(burnt, sum(left) - 2, 3):
        shown = Counter(order[start : start + 3] for order in orders)
        nets = [
            sum((matrix.net(area, Outcome.of(*deal)) * times for deal, times in shown.items()), Fraction(0))
            for area in matrix.areas
        ]
        made.append([-net / len(orders) for net in nets])
    return made


def moments(
    matrix: Matrix, left: tuple[int, ...], rounds: int, called: Callable[[tuple[int, ...]], str | None]
) -> tuple[Fraction, Fraction]:
    """The mean of what so many rounds bring together, and of its square, betting as the cards left say."""

    @cache
    def ahead(now: tuple[int, ...], more: int) -> tuple[Fraction, Fraction]:
        if not more:
            return Fraction(0), Fraction(0)
        hands = Counter(combinations(cards(now), 3))
        area, mean, square = called(now), Fraction(0), Fraction(0)
        for hand, times in hands.items():
            net = matrix.net(area, Outcome.of(*hand)) if area else Fraction(0)
            after = tuple(count - hand.count(face) for face, count in enumerate(now, 1))
            then, squared = ahead(after, more - 1)
            mean += times * (net + then)
            square += times * (net * net + 2 * net * then + squared)
        return mean / hands.total(), square / hands.total()

    return ahead(left, rounds)

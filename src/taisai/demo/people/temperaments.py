"""Temperaments: how virtual players bet, who see a felt, its limits, and how their last round went."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from random import Random
from typing import Final, NamedTuple

from taisai.protocol.views import FeltArea, FeltView, LastRound

Stakes = dict[str, int]
"""Area → stake."""


class Sight(NamedTuple):
    """What a player goes by."""

    felt: FeltView
    credits: int
    last: LastRound | None
    before: Stakes
    """What he laid in the round before."""
    random: Random

    def areas(self, *families: str) -> list[FeltArea]:
        """The areas of some families that this layout has; all of them where it has none of those."""
        found = [one for one in self.felt.areas if one.family in families]
        return found or list(self.felt.areas)

    def some(self, *families: str) -> FeltArea:
        """One of them."""
        return self.random.choice(self.areas(*families))


def stake_on(area: FeltArea, wanted: int) -> int:
    """The stake that the area takes and that comes nearest to what is wanted, from below."""
    step = max(1, area.step)
    least = -(-area.least // step) * step
    return max(least, min(wanted, area.most) // step * step)


def _steady(sight: Sight) -> Stakes:
    """The same small stake on an even chance, round after round."""
    area = sight.some("even-money")
    return {area.id: stake_on(area, area.least)}


def _doubling(sight: Sight) -> Stakes:
    """Twice the stake after a loss, from the bottom again after a win; the maximum ends it, as always."""
    lost = sight.last is not None and sight.last.returned < sight.last.staked
    if lost and len(sight.before) == 1:
        name, stake = next(iter(sight.before.items()))
        area = next((one for one in sight.felt.areas if one.id == name), None)
        if area is not None and 2 * stake <= area.most:
            return {name: stake_on(area, 2 * stake)}
    area = sight.some("even-money")
    return {area.id: stake_on(area, 2 * area.least)}


def _triples(sight: Sight) -> Stakes:
    """A little on triples, always: one day."""
    chosen = [sight.some("triple", "any-triple") for _ in range(2)]
    return {one.id: stake_on(one, 2 * one.least) for one in chosen}


def _scattered(sight: Sight) -> Stakes:
    """Chips all over the felt."""
    areas = sight.random.sample(list(sight.felt.areas), k=min(5, len(sight.felt.areas)))
    return {one.id: stake_on(one, one.least * sight.random.choice((1, 1, 2))) for one in areas}


def _totals(sight: Sight) -> Stakes:
    """Favourite totals."""
    areas = sight.areas("total")
    chosen = sight.random.sample(areas, k=min(3, len(areas)))
    return {one.id: stake_on(one, one.least) for one in chosen}


def _numbers(sight: Sight) -> Stakes:
    """A lucky number, and what goes with it."""
    lucky = sight.random.randint(1, 6)
    areas = [one for one in sight.areas("single", "double", "pair", "total") if lucky in one.numbers]
    chosen = sight.random.sample(areas or list(sight.felt.areas), k=min(3, len(areas) or 1))
    return {one.id: stake_on(one, one.least) for one in chosen}


def _high(sight: Sight) -> Stakes:
    """Much, on an even chance, with some of it on the side."""
    main, side = sight.some("even-money"), sight.some("double", "total")
    return {main.id: stake_on(main, main.most // 10), side.id: stake_on(side, side.most // 10)}


class Temperament(NamedTuple):
    """How someone plays."""

    name: str
    bets: Callable[[Sight], Stakes]
    late: float
    """Where in the time for bets he comes to the table: 0 at once, 1 at the last moment."""
    plays: float = 0.9
    """The chance that he bets in a round at all."""
    undoes: float = 0.0
    repeats: float = 0.0
    """The chance that he takes the bets of the round before."""
    doubles: float = 0.0
    calls: float = 0.0
    """The chance that he calls the attendant."""
    cashes: float = 0.0
    """The chance that he takes a ticket after a round, looks around, and comes back with it."""


STEADY: Final = Temperament("small and steady", _steady, late=0.3, plays=0.98, repeats=0.4, cashes=0.01)
DOUBLING: Final = Temperament("doubles after a loss", _doubling, late=0.4, cashes=0.01)
DREAMER: Final = Temperament("dreams of triples", _triples, late=0.5, repeats=0.5)
LAST_SECOND: Final = Temperament("at the last second", _totals, late=0.93, plays=0.85, undoes=0.1)
TOURIST: Final = Temperament(
    "a tourist", _scattered, late=0.5, plays=0.7, undoes=0.25, calls=0.06, cashes=0.03
)
LUCKY: Final = Temperament("has a lucky number", _numbers, late=0.35, repeats=0.3, doubles=0.1)
HIGH: Final = Temperament("plays high", _high, late=0.6, plays=0.6, doubles=0.15, cashes=0.02)

OF: Final[Mapping[str, Temperament]] = {
    "Bo": STEADY, "Dolores": DREAMER, "Teng": HIGH,
    "Marta": DOUBLING, "Ingrid": LAST_SECOND, "Wei": LUCKY,
    "Kofi": STEADY, "Yuki": TOURIST, "Paolo": DOUBLING,
    "Earl": TOURIST, "June": LUCKY, "Hank": LAST_SECOND,
}  # fmt: skip
"""Player → temperament."""

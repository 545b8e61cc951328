"""Effects of removal: what one card gone from the shoe does to the house edge of every area, exactly."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

from taisai.rules.areas import AreaId
from taisai.rules.errors import RulesError
from taisai.rules.matrix import Matrix
from taisai.rules.outcomes import DICE, FACES
from taisai.study.odds import area_odds
from taisai.study.report import Report, Sheet, Told, columns
from taisai.study.shoe.odds import chance_left

MOST_TAG: Final = 4
"""A person who can add more than 4 a card needs no count from us; 9**6 tags are tried."""


@dataclass(frozen=True, slots=True)
class Effect:
    """What removing one card of each face does to an area's house edge."""

    area: AreaId
    edge: Fraction
    """Before any card is gone."""
    changes: tuple[Fraction, ...]
    """[face] the edge afterwards less the edge before; below 0 the player gains by the removal."""


@dataclass(frozen=True)
class Removal(Told):
    """The effects of removal on all areas of a layout."""

    matrix: Matrix
    left: tuple[int, ...]
    effects: tuple[Effect, ...]

    def of(self, area: str) -> Effect:
        """The effects on one area."""
        return self.effects[self.matrix.row(area)]

    def report(self) -> Report:
        """A row an area, a column a face."""
        faces = [f"−{face}" for face in FACES]
        rows = tuple(
            (effect.area, f"{float(effect.edge):.3%}", *(f"{float(c) * 100:+.3f}" for c in effect.changes))
            for effect in self.effects
        )
        head = columns("area", "house edge", *faces, numbers=("house edge", *faces))
        words = f"{_words(self.left)}; one card gone changes the edge by so many points"
        return Report((Sheet(f"{self.matrix.rulebook}, layout {self.matrix.layout}, {words}", head, rows),))

    def facts(self) -> dict[str, Any]:
        """All exact."""
        return {
            "rulebook": self.matrix.rulebook,
            "layout": self.matrix.layout,
            "left": list(self.left),
            "areas": [
                {"id": e.area, "house_edge": str(e.edge), "changes": [str(change) for change in e.changes]}
                for e in self.effects
            ],
        }


def _words(left: Sequence[int]) -> str:
    return f"{sum(left)} cards left ({', '.join(map(str, left))})"


def removal(matrix: Matrix, left: Sequence[int]) -> Removal:
    """The effects of removing one card from a shoe with so many cards of each face left.

    >>> from taisai.rules import rulebook
    >>> effects = removal(rulebook("mbs-3-card-sic-bo").matrix(), (48,) * 6)
    >>> [f"{float(change):+.4%}" for change in effects.of("small").changes]
    ['+0.6728%', '+0.4364%', '+0.1471%', '-0.1471%', '-0.4364%', '-0.6728%']
    """
    left = tuple(left)
    before = area_odds(matrix, chance_left(left))
    if min(left) < 1 or sum(left) <= DICE:
        raise RulesError(f"expected a card of every face and four in all to remove one, got {left}")
    after = []
    for face in range(len(FACES)):
        gone = [count - (place == face) for place, count in enumerate(left)]
        after.append(area_odds(matrix, chance_left(gone)))
    effects = (
        Effect(odds.id, odds.house_edge, tuple(then[row].house_edge - odds.house_edge for then in after))
        for row, odds in enumerate(before)
    )
    return Removal(matrix, left, tuple(effects))


@dataclass(frozen=True, slots=True)
class Count:
    """A count that a person can keep: add the tag of every card that is seen; high is good for the area."""

    area: AreaId
    tags: tuple[int, ...]
    """[face] what to add."""
    correlation: float
    """Of the tags with the effects of removal: 1 would be as good as any count of one number can be."""


def linear_count(effects: Removal, area: str, most_tag: int = 3) -> Count:
    """The whole tags up to `most_tag` that follow the effects of removal on an area best.

    Of all tags that a full shoe adds up to 0, so that the count of a fair shoe stays about 0; where no such
    tags follow at all, of all tags.

    >>> from taisai.rules import rulebook
    >>> effects = removal(rulebook("mbs-3-card-sic-bo").matrix(), (48,) * 6)
    >>> linear_count(effects, "small", most_tag=2)
    Count(area='small', tags=(-2, -1, 0, 0, 1, 2), correlation=0.977...)
    """
    import numpy as np

    if not 1 <= most_tag <= MOST_TAG:
        raise RulesError(f"expected a greatest tag of 1 to {MOST_TAG}, got {most_tag}")
    effect = effects.of(area)
    gains = np.array([-float(change) for change in effect.changes])
    if not gains.any():
        raise RulesError(f"expected an area that some card matters to, got {area}")
    steps = np.arange(-most_tag, most_tag + 1)
    every = np.stack(np.meshgrid(*[steps] * len(FACES), indexing="ij"), axis=-1).reshape(-1, len(FACES))
    held = np.array(effects.left)
    balanced = every[every @ held == 0]
    for tags in (balanced, every):
        found = _correlations(tags, gains, held)
        if (most := found.max()) > 0:
            alike = tags[found > most - 1e-9]  # the simplest among equals
            order = sorted(alike.tolist(), key=lambda some: (sum(map(abs, some)), some))
            return Count(effect.area, tuple(order[0]), min(1.0, float(most)))
    raise RulesError(f"expected an area that some tags follow, got {area}")


def _correlations(tags: Any, gains: Any, held: Any) -> Any:
    """[tags] with the effects, over the cards of the shoe."""
    import numpy as np

    share = held / held.sum()
    off = tags - (tags @ share)[:, None]
    wide = gains - gains @ share
    squares = (off * off) @ share * ((wide * wide) @ share)
    return np.divide((off * wide) @ share, np.sqrt(squares), out=np.zeros(len(tags)), where=squares > 0)

"""The payoff matrix: area × 56 outcomes → net per unit and clause. All about pay is a look-up in it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, NamedTuple

from taisai.rules.areas import Area, AreaId
from taisai.rules.clauses import HOUSE_PROCEDURES, Clause, ClauseText
from taisai.rules.errors import RulesError
from taisai.rules.outcomes import DICE, FACES, Outcome
from taisai.rules.pay import Odds

if TYPE_CHECKING:  # a question about odds settles nothing
    from taisai.rules.settlement import Bet, BetRefusal, Settlement

DIGEST_FORMAT: Final = 1

PlacePicker = Callable[[tuple[int, ...]], tuple[int, ...]]
"""Picks what lies at an area's winning places out of 56."""


class WinningWay(NamedTuple):
    """One way in which an area wins: at these odds, on the outcomes at these places."""

    odds: Odds
    net: int
    """Won per unit staked, in 1/denominator."""
    places: tuple[int, ...]
    dice: int | None
    """On how many dice, where the area has odds for one, two and three."""


class AreaReturns(NamedTuple):
    """What comes back of a bet on an area, in the form that sums over all outcomes want it."""

    area: AreaId
    odds: tuple[Odds, ...]
    ways: tuple[tuple[int, PlacePicker], ...]
    """Returned per unit staked, in 1/denominator, and the places where."""


class Established(NamedTuple):
    """The areas whose fate the dice known so far have decided."""

    won: tuple[AreaId, ...]
    lost: tuple[AreaId, ...]

    def __bool__(self) -> bool:
        return bool(self.won or self.lost)


class Explanation(NamedTuple):
    """Why a cell of the matrix is what it is."""

    area: AreaId
    label: str
    outcome: Outcome
    net: Fraction
    odds: Odds | None
    clause: Clause
    says: str

    def __str__(self) -> str:
        verdict = f"wins {self.odds}" if self.odds else "loses"
        return (
            f"{self.label} {verdict} on {' '.join(map(str, self.outcome.faces))} ({self.clause}: {self.says})"
        )


class Matrix:
    """What every area of a layout pays on every outcome, exactly, and by which clause."""

    def __init__(
        self,
        *,
        rulebook: str,
        layout: str,
        layout_clause: Clause,
        settings: Mapping[str, str],
        labels: tuple[Area, ...],
        denominator: int,
        nets: tuple[tuple[int, ...], ...],
        clauses: tuple[tuple[Clause, ...], ...],
        wins: tuple[tuple[WinningWay, ...], ...],
        returns: tuple[AreaReturns, ...],
        texts: Mapping[Clause, ClauseText],
    ) -> None:
        self.rulebook: Final = rulebook
        self.layout: Final = layout
        self.layout_clause: Final = layout_clause
        self.settings: Final = MappingProxyType(dict(settings))
        """The settings that change a payoff."""
        self.labels: Final = labels
        self.denominator: Final = denominator
        """The least common denominator of all nets."""
        self.nets: Final = nets
        """[area][outcome] in 1/denominator; a loser is minus the denominator."""
        self.clauses: Final = clauses
        self.wins: Final = wins
        """[area] → the ways it wins."""
        self.returns: Final = returns
        self.texts: Final = texts

    def __repr__(self) -> str:
        return f"rulebook({self.rulebook!r}).matrix({self.layout!r})"

    @cached_property
    def areas(self) -> tuple[AreaId, ...]:
        """The ids of the areas, in the rulebook's order."""
        return tuple(area.id for area in self.labels)

    @cached_property
    def rows(self) -> Mapping[AreaId, int]:
        """Area id → its row."""
        return {area: row for row, area in enumerate(self.areas)}

    @cached_property
    def digest(self) -> str:
        """The SHA-256 of a canonical form with every figure, clause and setting that makes a payoff."""
        from hashlib import sha256  # a tenth of a cold start, and most commands need no digest

        form = {
            "format": DIGEST_FORMAT,
            "rulebook": self.rulebook,
            "layout": self.layout,
            "settings": dict(self.settings),
            "denominator": self.denominator,
            "areas": [[a, n, c] for a, n, c in zip(self.areas, self.nets, self.clauses, strict=True)],
        }
        text = json.dumps(form, ensure_ascii=True, separators=(",", ":"), sort_keys=True)
        return "sha256:" + sha256(text.encode("ascii")).hexdigest()

    def row(self, area: str) -> int:
        """The row of an area, which must be on the layout."""
        row = self.rows.get(AreaId(area))
        if row is None:
            raise RulesError(f"expected an area of {self.rulebook} layout {self.layout}, got {area!r}")
        return row

    def net(self, area: str, outcome: Outcome) -> Fraction:
        """The net per unit staked: the odds for a winner, -1 for a loser."""
        return Fraction(self.nets[self.row(area)][outcome.index], self.denominator)

    def illuminated(self, outcome: Outcome) -> tuple[AreaId, ...]:
        """The winning areas."""
        place = outcome.index
        return tuple(area for area, row in zip(self.areas, self.nets, strict=True) if row[place] > 0)

    def established(self, known: Sequence[int]) -> Established:
        """Which areas have conclusively won or lost when these dice are known."""
        left = DICE - len(known)
        if left < 0:
            raise RulesError(f"expected at most three known dice, got {len(known)}")
        places = _completions(tuple(known), left)
        won, lost = [], []
        for area, row in zip(self.areas, self.nets, strict=True):
            winning = [row[place] > 0 for place in places]
            if all(winning):
                won.append(area)
            elif not any(winning):
                lost.append(area)
        return Established(tuple(won), tuple(lost))

    def explain(self, area: str, outcome: Outcome) -> Explanation:
        """What the area gets on the outcome, and the clause that says so."""
        row, place = self.row(area), outcome.index
        odds = next((win.odds for win in self.wins[row] if place in win.places), None)
        clause = self.clauses[row][place]
        says = self.texts[clause].says if clause in self.texts else HOUSE_PROCEDURES[clause]
        return Explanation(
            self.areas[row], self.labels[row].label, outcome, self.net(area, outcome), odds, clause, says
        )

    def refusal(self, bet: Bet) -> BetRefusal | None:
        """Why a bet cannot be taken on this layout, if it cannot."""
        from taisai.rules.settlement import bet_refusal

        return bet_refusal(self, bet)

    def settle(self, outcome: Outcome, bets: Iterable[Bet]) -> Settlement | BetRefusal:
        """What each bet gets; or why not all of the bets can be taken, and then none is settled."""
        from taisai.rules.settlement import settle_bets

        return settle_bets(self, outcome, bets)


def _completions(known: tuple[int, ...], left: int) -> tuple[int, ...]:
    if not left:
        return (Outcome.of(*known).index,)
    return tuple({place for face in FACES for place in _completions((*known, face), left - 1)})

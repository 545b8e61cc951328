"""The payoff matrix: for each area and each of the 56 outcomes, the net per unit staked and the clause."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from math import lcm
from operator import itemgetter
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, NamedTuple

from taisai.rules.areas import Area, AreaId
from taisai.rules.clauses import HOUSE_PROCEDURES, Clause, ClauseText
from taisai.rules.errors import RulesError
from taisai.rules.outcomes import DICE, FACES, OUTCOMES, Outcome
from taisai.rules.pay import Condition, LayoutPay, Odds, PayLine, PayTable, winning_places

if TYPE_CHECKING:
    from taisai.rules.settlement import Bet, BetRefusal, Settlement

DIGEST_FORMAT: Final = 1

PlacePicker = Callable[[tuple[int, ...]], tuple[int, ...]]
"""Picks the values at the winning places of an area out of 56 values."""


class WinningWay(NamedTuple):
    """Odds of an area, and the outcomes that pay them."""

    odds: Odds
    net: int
    """Won per unit staked, in 1/denominator."""
    places: tuple[int, ...]
    dice: int | None
    """For how many dice, if the area has different odds for one, two and three."""


class AreaReturns(NamedTuple):
    """What a bet on an area returns, in a form that makes sums over all outcomes fast."""

    area: AreaId
    odds: tuple[Odds, ...]
    ways: tuple[tuple[int, PlacePicker], ...]
    """Returned per unit staked, in 1/denominator, and a picker of the outcomes that return it."""


class Established(NamedTuple):
    """The areas that the known dice have already decided."""

    won: tuple[AreaId, ...]
    lost: tuple[AreaId, ...]

    def __bool__(self) -> bool:
        return bool(self.won or self.lost)


class Explanation(NamedTuple):
    """A cell of the matrix with its reason."""

    area: AreaId
    label: str
    outcome: Outcome
    net: Fraction
    odds: Odds | None
    clause: Clause
    says: str

    def __str__(self) -> str:
        verdict = f"wins {self.odds}" if self.odds else "loses"
        faces = " ".join(map(str, self.outcome.faces))
        return f"{self.label} {verdict} on {faces} ({self.clause}: {self.says})"


class Matrix:
    """What each area of a layout pays on each outcome, exactly, and the clause for it."""

    def __init__(
        self,
        *,
        rulebook: str,
        layout: str,
        pay: LayoutPay,
        areas: Mapping[AreaId, Area],
        texts: Mapping[Clause, ClauseText],
        settings: Mapping[str, str],
        offered: Mapping[AreaId, Odds],
    ) -> None:
        """`settings` are those that change a payoff; `offered` are the odds of the house."""
        lines = _lines_by_area(pay.table, offered)
        self.rulebook: Final = rulebook
        self.layout: Final = layout
        self.layout_clause: Final = pay.clause
        self.settings: Final = MappingProxyType(dict(sorted(settings.items())))
        self.texts: Final = texts
        self.labels: Final = tuple(area for area in areas.values() if area.id in lines)
        self.denominator: Final = lcm(*(odds.net.denominator for pays in lines.values() for _, odds in pays))
        """The least common denominator of all nets."""
        compiled = [_compiled(area, lines[area.id], settings, self.denominator) for area in self.labels]
        self.nets: Final = tuple([nets for nets, _, _ in compiled])
        """[area][outcome] in 1/denominator; minus the denominator where the area loses."""
        self.clauses: Final = tuple([clauses for _, clauses, _ in compiled])
        self.wins: Final = tuple([wins for _, _, wins in compiled])
        wins = zip(self.areas, self.wins, strict=True)
        self.returns: Final = tuple([_returns(area, ways, self.denominator) for area, ways in wins])

    def __repr__(self) -> str:
        return f"rulebook({self.rulebook!r}).matrix({self.layout!r})"

    @cached_property
    def areas(self) -> tuple[AreaId, ...]:
        """The ids of the areas, in the rulebook's order."""
        return tuple(area.id for area in self.labels)

    @cached_property
    def rows(self) -> Mapping[AreaId, int]:
        return {area: row for row, area in enumerate(self.areas)}

    @cached_property
    def digest(self) -> str:
        """The SHA-256 of the figures, clauses and payoff settings in canonical form."""
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
        """The row of an area. Raises an error if the layout does not have the area."""
        row = self.rows.get(AreaId(area))
        if row is None:
            raise RulesError(f"unknown area {area!r} on {self.rulebook} layout {self.layout}")
        return row

    def net(self, area: str, outcome: Outcome) -> Fraction:
        """The net per unit staked: the odds for a winner, -1 for a loser."""
        return Fraction(self.nets[self.row(area)][outcome.index], self.denominator)

    def illuminated(self, outcome: Outcome) -> tuple[AreaId, ...]:
        """The areas that win on an outcome."""
        place = outcome.index
        return tuple(area for area, row in zip(self.areas, self.nets, strict=True) if row[place] > 0)

    def established(self, known: Sequence[int]) -> Established:
        """The areas that have certainly won or lost when these dice are known."""
        left = DICE - len(known)
        if left < 0:
            got = f"{len(known)} ({', '.join(map(str, known))})"
            raise RulesError(f"expected at most {DICE} known dice, got {got}")
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
        """The net of an area on an outcome, with the clause and its text."""
        row, place = self.row(area), outcome.index
        odds = next((win.odds for win in self.wins[row] if place in win.places), None)
        clause = self.clauses[row][place]
        text = self.texts[clause].says if clause in self.texts else HOUSE_PROCEDURES[clause]
        return Explanation(
            self.areas[row], self.labels[row].label, outcome, self.net(area, outcome), odds, clause, text
        )

    def refusal(self, bet: Bet) -> BetRefusal | None:
        """Why this layout refuses a bet; None if it accepts the bet."""
        from taisai.rules.settlement import bet_refusal

        return bet_refusal(self, bet)

    def settle(self, outcome: Outcome, bets: Iterable[Bet]) -> Settlement | BetRefusal:
        """Settles all bets, or none: a refusal if any bet is invalid."""
        from taisai.rules.settlement import settle_bets

        return settle_bets(self, outcome, bets)


def _completions(known: tuple[int, ...], left: int) -> tuple[int, ...]:
    if not left:
        return (Outcome.of(*known).index,)
    return tuple({place for face in FACES for place in _completions((*known, face), left - 1)})


_TRIPLES: Final = winning_places(Condition.ANY_TRIPLE, ())


def _compiled(
    area: Area, lines: Iterable[tuple[PayLine, Odds]], settings: Mapping[str, str], denominator: int
) -> tuple[tuple[int, ...], tuple[Clause, ...], tuple[WinningWay, ...]]:
    """The nets, the clauses and the winning ways of an area."""
    nets = [-denominator] * len(OUTCOMES)
    clauses = [area.loses] * len(OUTCOMES)
    for place in _TRIPLES:
        clauses[place] = area.loses_on_triple
    ways = []
    for line, odds in lines:
        way = line.winning(settings)
        places = winning_places(way.condition, area.numbers, way.dice)
        net = odds.net.numerator * (denominator // odds.net.denominator)
        for place in places:
            nets[place] = net
            clauses[place] = line.clause
        ways.append(WinningWay(odds, net, places, way.dice))
    if area.wins_on_triple:
        for place in _TRIPLES:
            if nets[place] > 0:
                clauses[place] = area.wins_on_triple
    return tuple(nets), tuple(clauses), tuple(ways)


def _lines_by_area(
    table: PayTable, offered: Mapping[AreaId, Odds]
) -> dict[AreaId, list[tuple[PayLine, Odds]]]:
    lines: dict[AreaId, list[tuple[PayLine, Odds]]] = {}
    for line in table.lines:
        for area in line.areas:
            lines.setdefault(area, []).append((line, line.odds))
    for area, odds in offered.items():
        if area not in lines:
            raise RulesError(f"expected an offer on an area of pay table {table.id}, got {area!r}")
        floored = [n for n, (line, _) in enumerate(lines[area]) if line.floor] or [0]
        if len(floored) > 1:
            raise RulesError(f"expected 1 pay line with a floor for an offer on {area}, got {len(floored)}")
        line, _ = lines[area][floored[0]]
        lines[area][floored[0]] = (line, line.offered(odds))
    return lines


def _returns(area: AreaId, wins: tuple[WinningWay, ...], denominator: int) -> AreaReturns:
    ways = tuple([(win.net + denominator, _picker(win.places)) for win in wins])
    return AreaReturns(area, tuple([win.odds for win in wins]), ways)


def _picker(places: tuple[int, ...]) -> PlacePicker:
    """An itemgetter that always returns a tuple, also for a single place."""
    return itemgetter(*places) if len(places) > 1 else itemgetter(slice(places[0], places[0] + 1))

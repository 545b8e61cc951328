"""Compiles the pay lines of a layout to its payoff matrix."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import lcm
from operator import itemgetter
from typing import Final

from taisai.rules.areas import Area, AreaId
from taisai.rules.clauses import Clause, ClauseText
from taisai.rules.conditions import Condition, winning_places
from taisai.rules.errors import RulesError
from taisai.rules.matrix import AreaReturns, Matrix, PlacePicker, WinningWay
from taisai.rules.outcomes import OUTCOMES
from taisai.rules.pay import Odds, PayLine, PayTable

_TRIPLES: Final = winning_places(Condition.ANY_TRIPLE, ())


def compile_matrix(
    *,
    rulebook: str,
    layout: str,
    layout_clause: Clause,
    areas: Mapping[AreaId, Area],
    table: PayTable,
    texts: Mapping[Clause, ClauseText],
    settings: Mapping[str, str],
    payoff_settings: Iterable[str],
    offered: Mapping[AreaId, Odds],
) -> Matrix:
    """The payoff matrix of a layout with these settings and offered odds."""
    lines = _lines_by_area(table, offered)
    labels = tuple(area for area in areas.values() if area.id in lines)
    denominator = lcm(*(odds.net.denominator for pays in lines.values() for _, odds in pays))
    nets, clauses, wins = [], [], []
    for area in labels:
        row = [-denominator] * len(OUTCOMES)
        cited = [area.loses] * len(OUTCOMES)
        for place in _TRIPLES:
            cited[place] = area.loses_on_triple
        ways = []
        for line, odds in lines[area.id]:
            way = line.winning(settings)
            places = winning_places(way.condition, area.numbers, way.dice)
            net = odds.net.numerator * (denominator // odds.net.denominator)
            for place in places:
                row[place] = net
                cited[place] = line.clause
            ways.append(WinningWay(odds, net, places, way.dice))
        if area.wins_on_triple:
            for place in _TRIPLES:
                if row[place] > 0:
                    cited[place] = area.wins_on_triple
        nets.append(tuple(row))
        clauses.append(tuple(cited))
        wins.append(tuple(ways))
    return Matrix(
        rulebook=rulebook,
        layout=layout,
        layout_clause=layout_clause,
        settings={name: settings[name] for name in sorted(payoff_settings)},
        labels=labels,
        denominator=denominator,
        nets=tuple(nets),
        clauses=tuple(clauses),
        wins=tuple(wins),
        returns=tuple(_returns(area.id, ways, denominator) for area, ways in zip(labels, wins, strict=True)),
        texts=texts,
    )


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

"""A whole pay table to exact probability, edge and variance: ours against icepool's way."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction

import icepool

from bench.harness import Bench, Line, Target, in_turns
from taisai.rules import AreaId, Matrix, Odds, rulebook
from taisai.study.odds import AreaOdds, area_odds

BOOK, LAYOUT = "rws-sic-bo-etg-v8", "B"

Exact = int | Fraction
Roll = tuple[int, ...]
Law = tuple[str, Fraction, Fraction, Fraction]
"""Area, win probability, house edge, variance."""
Pays = Callable[[Roll], Exact]


def run(*, quick: bool) -> Iterator[Line]:
    """From a ready matrix, and from the conditions on."""
    book = rulebook(BOOK)
    matrix, chance = book.matrix(LAYOUT), book.chance()
    rows = [[_exact(net, matrix.denominator) for net in row] for row in matrix.nets]
    predicates = [(area, _pays(area, matrix)) for area in matrix.areas]
    whole = area_odds(matrix, chance)
    laws = [(one.id, one.win_probability, one.house_edge, one.variance) for one in whole]
    assert laws == icepool_by_die(matrix.areas, rows)
    assert laws == icepool_by_map(matrix.areas, rows)
    assert laws == icepool_from_conditions(predicates)
    numbers, shared = _numbers(whole), _shared(whole)
    assert whole == built_apart(numbers) == built_shared(*shared)

    times = in_turns(
        {
            "ours": lambda: area_odds(matrix, chance),
            "icepool, a Die of each row": lambda: icepool_by_die(matrix.areas, rows),
            "icepool, the roll mapped": lambda: icepool_by_map(matrix.areas, rows),
            "building": lambda: built_apart(numbers),
            "building, shared": lambda: built_shared(*shared),
        },
        turns=9 if quick else 41,
    )
    bench = Bench(f"pay table, {len(matrix.areas)} areas, from a ready matrix", times)
    for way in ("icepool, a Die of each row", "icepool, the roll mapped"):
        yield bench.line(f"{way} / ours", of=way, over="ours", target=Target(100))
    most = Target(2, at_most=True)
    yield bench.line("ours / building the results alone", of="ours", over="building", target=most)
    yield bench.line(
        "ours / the same, equal fractions built once", of="ours", over="building, shared", target=most
    )

    times = in_turns(
        {
            "ours": lambda: area_odds(book.matrix(LAYOUT), book.chance()),
            "icepool": lambda: icepool_from_conditions(predicates),
            "odds alone": lambda: area_odds(matrix, chance),
        },
        turns=9 if quick else 41,
    )
    bench = Bench(f"pay table, {len(matrix.areas)} areas, from the conditions", times)
    yield bench.line("icepool / ours", of="icepool", over="ours", target=Target(15))
    yield bench.line("bare limit: ours / ours from a ready matrix", of="ours", over="odds alone")


# ── icepool's way ────────────────────────────────────────────────────────────────────────────────────


def icepool_by_die(areas: Sequence[str], rows: Sequence[Sequence[Exact]]) -> list[Law]:
    """From a ready matrix: each row as a die that is weighted like the roll."""
    ways = icepool.d6.pool(3).expand().quantities()
    return [_law(area, icepool.Die(row, times=ways)) for area, row in zip(areas, rows, strict=True)]


def icepool_by_map(areas: Sequence[str], rows: Sequence[Sequence[Exact]]) -> list[Law]:
    """From a ready matrix: the roll, mapped to each row."""
    roll = icepool.d6.pool(3).expand()
    return [
        _law(area, roll.map(dict(zip(roll, row, strict=True)), star=False))
        for area, row in zip(areas, rows, strict=True)
    ]


def icepool_from_conditions(predicates: Sequence[tuple[str, Pays]]) -> list[Law]:
    """From the conditions: the roll, mapped to what each area then pays."""
    roll = icepool.d6.pool(3).expand()
    return [_law(area, roll.map(pays, star=False)) for area, pays in predicates]


def _law(area: str, net: icepool.Die) -> Law:
    return area, net.probability(">", 0), -net.mean(), net.variance()


def _exact(net: int, denominator: int) -> Exact:
    exact = Fraction(net, denominator)
    return int(exact) if exact.denominator == 1 else exact


# ── the conditions as one writes them for icepool: a function of the roll ────────────────────────────


def _pays(area: AreaId, matrix: Matrix) -> Pays:
    """What a bet wins or loses on a roll, the odds taken from the matrix."""
    odds = [_exact(win.net, matrix.denominator) for win in matrix.wins[matrix.row(area)]]
    wins = _wins(area)
    return lambda roll: odds[times - 1] if (times := int(wins(roll))) else -1


def _wins(area: str) -> Callable[[Roll], int]:
    """How an area wins on a roll: 1 if it does, and for a single number on how many dice."""
    if area in _BY_NAME:
        return _BY_NAME[area]
    kind, _, text = area.rpartition("-")
    faces = tuple(sorted(map(int, text)))
    first, last = faces[0], faces[-1]
    total = int(text)
    among = frozenset(faces)
    return {
        "triple": lambda roll: roll == faces * 3,
        "double": lambda roll: roll.count(first) >= 2,
        "total": lambda roll: sum(roll) == total,
        "single": lambda roll: roll.count(first),
        "pair": lambda roll: first in roll and last in roll,
        "three": lambda roll: roll == faces,
        "double-single": lambda roll: roll == faces,
        "four": lambda roll: len(set(roll)) == 3 and among.issuperset(roll),
    }[kind]


_BY_NAME: dict[str, Callable[[Roll], int]] = {
    "small": lambda roll: 4 <= sum(roll) <= 10 and len(set(roll)) > 1,
    "big": lambda roll: 11 <= sum(roll) <= 17 and len(set(roll)) > 1,
    "odd": lambda roll: sum(roll) % 2 == 1 and len(set(roll)) > 1,
    "even": lambda roll: sum(roll) % 2 == 0 and len(set(roll)) > 1,
    "any-triple": lambda roll: len(set(roll)) == 1,
}


# ── the bare limit: building the results, every number known ─────────────────────────────────────────

Numbers = tuple[AreaId, tuple[Odds, ...], int, int, int, int, int, int]


def built_apart(numbers: Sequence[Numbers]) -> tuple[AreaOdds, ...]:
    """Each record with three fractions of its own."""
    return tuple(
        [
            AreaOdds(area, odds, Fraction(a, b), Fraction(c, d), Fraction(e, f))
            for area, odds, a, b, c, d, e, f in numbers
        ]
    )


def built_shared(
    laws: Sequence[tuple[int, int, int, int, int, int]],
    records: Sequence[tuple[AreaId, tuple[Odds, ...], int]],
) -> tuple[AreaOdds, ...]:
    """Each record, but equal fractions made once."""
    made = [(Fraction(a, b), Fraction(c, d), Fraction(e, f)) for a, b, c, d, e, f in laws]
    return tuple([AreaOdds(area, odds, *made[law]) for area, odds, law in records])


def _numbers(whole: Sequence[AreaOdds]) -> list[Numbers]:
    return [
        (
            one.id,
            one.odds,
            *one.win_probability.as_integer_ratio(),
            *one.house_edge.as_integer_ratio(),
            *one.variance.as_integer_ratio(),
        )
        for one in whole
    ]


def _shared(
    whole: Sequence[AreaOdds],
) -> tuple[list[tuple[int, int, int, int, int, int]], list[tuple[AreaId, tuple[Odds, ...], int]]]:
    numbers = _numbers(whole)
    laws = list(dict.fromkeys(one[2:] for one in numbers))
    return laws, [(one[0], one[1], laws.index(one[2:])) for one in numbers]

"""Any command with anything in it that its types allow."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum
from random import Random
from typing import Any, Final, NamedTuple, get_args, get_origin, get_type_hints

from taisai.game import commands as c
from taisai.game.by_hand.messages import BetByHand
from taisai.game.table import Table
from taisai.game.terms.messages import Limits
from taisai.game.vocabulary import Means, Subject, Treatment
from taisai.rules.procedure import Declared
from taisai.rules.vocabulary import Act, Irregularity

HUGE: Final = (0, -1, 1, 7, 2**31, 2**53 - 1, 2**53, 2**62)
JUNK: Final = (
    "",
    " ",
    "x" * 65,
    "nobody",
    "T1",
    "é",
    "a\nb",
    "clock",
    "cage",
    "recovery",
    "chip-reader",
    "shaker",
)
AREAS: Final = (
    "small", "big", "odd", "even", "any-triple", "triple-1", "double-2", "total-4", "total-8", "total-10",
    "single-3", "pair-12", "three-126", "double-single-113", "four-1234",
)  # fmt: skip


class Sight(NamedTuple):
    """What is drawn from."""

    table: Table
    clock: int
    new_id: Callable[[], str]
    rng: Random


Draw = Callable[[Sight], Any]


def anything(table: Table, clock: int, new_id: Callable[[], str], rng: Random) -> c.Command:
    """A command of any kind."""
    seen = Sight(table, clock, new_id, rng)
    kind = rng.choice(c.COMMANDS)
    fields: dict[str, Any] = {}
    for name in kind.__struct_fields__:
        fields[name] = _FIELDS[name](seen) if name in _FIELDS else _typed(seen, _HINTS[kind][name])
    if kind is c.DecideReferral:
        fields["bets"] = {slip.id: rng.choice((None, slip.area)) for slip in fields["bets"]}
    if kind is c.EnterRound:
        fields["bets"] = _bets_by_hand(seen)
    if kind in _ONLY_SOME_ROUNDS and rng.random() < 0.5:
        fields["round"] = None
    if kind is c.ShowLayout:
        fields["layout"] = fields["layout"] or "A"
    if kind is c.BuyColour:
        fields["colour"] = fields["colour"] or ""
    return kind(**fields)


def _typed(seen: Sight, hint: Any) -> Any:
    """Anything of a type."""
    if get_origin(hint) is tuple:
        return tuple(_typed(seen, get_args(hint)[0]) for _ in range(seen.rng.randint(0, 2)))
    if get_origin(hint) in (dict, Mapping):
        name, value = get_args(hint)
        return {_typed(seen, name): _typed(seen, value) for _ in range(seen.rng.randint(0, 2))}
    part = seen.rng.choice(get_args(hint) or (hint,))
    if part is type(None):
        return None
    if isinstance(part, type) and issubclass(part, Enum):
        return seen.rng.choice(list(part))
    if part is bool:
        return seen.rng.random() < 0.5
    return seen.rng.choice(HUGE) if part is int else _word(seen)


def _word(seen: Sight) -> str:
    rng, table = seen.rng, seen.table
    pools: tuple[list[str], ...] = (
        list(JUNK),
        list(table.people),
        list(table.seats),
        list(table.equipment.items),
        list(table.transfers),
        ["A", "B", "C", "2026-12-30", "red", "t2", "dealer"],
    )
    return rng.choice(rng.choice(pools) or [""])


def _slips(seen: Sight) -> tuple[c.Slip, ...]:
    """Slips, known and unknown, with any stake."""
    rng, round_ = seen.rng, seen.table.round
    known = list(round_.bets) if round_ else []
    ids = (*known[:2], seen.new_id(), seen.new_id(), "", "x" * 65)
    areas = (*AREAS, "nowhere", "total-3", "")
    return tuple(
        c.Slip(rng.choice(ids), rng.choice(areas), rng.choice((100, 201, *HUGE)))
        for _ in range(rng.choice((0, 1, 2, 3)))
    )


def _bets_by_hand(seen: Sight) -> tuple[BetByHand, ...]:
    """Bets of a round played by hand, of seats known and unknown, with any stake."""
    rng, seats = seen.rng, (*list(seen.table.seats)[:2], "nobody", "")
    return tuple(
        BetByHand(
            rng.choice(seats), rng.choice(list(Means)), rng.choice((*AREAS, "nowhere", "total-3", "")),
            rng.choice((100, 201, *HUGE)),
        )
        for _ in range(rng.choice((0, 1, 2, 3)))
    )  # fmt: skip


def _rounds(seen: Sight) -> int:
    return seen.rng.choice((*HUGE, len(seen.table.rounds), len(seen.table.rounds) + 1))


def _maybe(one: Draw) -> Draw:
    return lambda seen: one(seen) if seen.rng.random() < 0.7 else None


def _of(*choices: Any) -> Draw:
    return lambda seen: seen.rng.choice(choices)


def _or_word(*choices: str) -> Draw:
    return lambda seen: seen.rng.choice((*choices, _word(seen)))


_FACES = _of((1, 2, 3), (), (0, 1, 2), (1, 1, 1), (1, 2), (7, 7, 7), (1, 2, 3, 4))
_LIMITS = _of(
    Limits(least=100, most=5_000), Limits(least=0, most=1), Limits(least=1, most=2**53),
    Limits(least=1, most=10, groups={"triple": (2, 1)}), Limits(least=1, most=9, groups={"nothing": (1, 2)}),
    Limits(least=100, most=200, exposure=-1),
)  # fmt: skip
_FIELDS: Final[dict[str, Draw]] = {
    "at": lambda seen: seen.rng.choice((seen.clock, seen.clock, 0, -1)),
    "by": _or_word("dan", "sue", "t2"),
    "round": _rounds,
    "bets": _slips,
    "ids": lambda seen: tuple(_word(seen) for _ in range(seen.rng.randint(0, 2))),
    "second": _maybe(_or_word("vic", "dan")),
    "terminal": _maybe(_or_word("t1", "t5")),
    "layout": _maybe(_of(*"ABCZ")),
    "colour": _maybe(_word),
    "marker": _maybe(_of(*HUGE)),
    "limits": _LIMITS,
    "settings": _of({}, {"tumble": "never"}, {"shaker": "manual"}),
    "offers": _of(
        {}, {"small": "1 to 1"}, {"nowhere": "9 to 1"}, {"double-1": "8:1"}, {"triple-1": "151 to 1"},
        {"double-1": "8.001 to 1"},
    ),
    "decks": _of(*HUGE, 2, 6),
    "tumbles": _of(*HUGE, 3),
    "through": _maybe(_rounds),
    "backs": _of((), ("red lattice", "blue lattice"), ("red",), ("",)),
    "report": _or_word("h1", "h2"),
    "found": _of((), (16,) * 6, (0,) * 6, (-1,) * 6, (16,) * 5),
    "faces": _FACES,
    "entered": _FACES,
    "lit": _of((), ("small",), ("nowhere", "")),
    "means": _of(*Means),
    "paid_with": _of(*Means),
    "subject": _of(*Subject),
    "treatment": _of(*Treatment),
    "declared": _of(*Declared),
    "act": _of(*Act),
    "event": _of(*Irregularity),
    "reason": _of("", "why not", "x" * 501),
    "detail": _of("", "why not", "x" * 501),
}  # fmt: skip
_HINTS: Final = {kind: get_type_hints(kind) for kind in c.COMMANDS}
_ONLY_SOME_ROUNDS: Final = frozenset({c.ReportIrregularity, c.CallAttendant, c.DecideReferral})

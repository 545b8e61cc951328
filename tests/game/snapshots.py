"""A table as plain data: whatever can be observed of it, and nothing that is shared with it."""

from __future__ import annotations

import json
from array import array
from typing import Any

from msgspec import Struct, to_builtins

from taisai.game.equipment.items import Equipment, Shoe
from taisai.game.money.ledger import Ledger
from taisai.game.rounds.round import PastRounds, Round
from taisai.game.table import Purse, Seat, Table
from taisai.game.terms.messages import Limits
from taisai.game.terms.terms import InForce, Terms
from taisai.rules.outcomes import Outcome
from tests.game.copying import deeply_copied

THE_BOOK = frozenset({"book", "procedure", "irregularities", "ranks", "means"})
"""What a table has of its rulebook: it is frozen, and one for all tables."""
_STATE = tuple(name for name in Table.__slots__ if name not in THE_BOOK)
_SLOTTED = (Round, Ledger, Equipment, Shoe)


def snapshot(table: Table) -> dict[str, Any]:
    """Everything observable of a table; equal where two tables are."""
    return {name: plain(getattr(table, name)) for name in _STATE}


def copied(table: Table) -> Table:
    """Another table in the same state, which shares with the first only what never changes."""
    shared: list[Any] = [getattr(table, name) for name in THE_BOOK]
    shared += [table.equipment.items, table.shoe.rule]
    shared += [terms for layouts in table.in_force.values() for terms in layouts.values()]
    return deeply_copied(table, shared)


def plain(thing: Any) -> Any:  # noqa: C901, PLR0911  one kind of thing after the other
    """One thing as nested tuples, dictionaries and numbers."""
    if isinstance(thing, Limits):
        return to_builtins(thing)
    if thing is None or isinstance(thing, str | int | Struct | Outcome):
        return thing  # none of them can change
    if isinstance(thing, Terms):
        return (thing.layout, thing.unit, *map(tuple, (thing.least, thing.most, thing.greatest, thing.steps)))
    if isinstance(thing, Seat):
        return _seat(thing)
    if isinstance(thing, Purse):
        return (thing.index, thing.seat.name, thing.means, thing.credits, thing.at_risk, thing.payable)
    if isinstance(thing, dict | InForce):
        return {key: plain(value) for key, value in thing.items()}
    if isinstance(thing, set | frozenset):
        return frozenset(thing)
    if isinstance(thing, array):
        return tuple(thing)
    if isinstance(thing, list | tuple | PastRounds):
        return tuple(map(plain, thing))
    if isinstance(thing, _SLOTTED):
        return {name: plain(getattr(thing, name)) for name in type(thing).__slots__ if name not in _RULES}
    raise TypeError(f"expected something that a table is made of, got {thing!r}")


_RULES = frozenset({"items", "rule"})


def _seat(seat: Seat) -> dict[str, Any]:
    seen = {name: plain(getattr(seat, name)) for name in Seat.__slots__ if name != "terms"}
    # The terms themselves stand under the table's; here only whether they are still those in force.
    return seen | {"terms": None if seat.terms is None else (seat.terms.layout, seat.terms.unit)}


def written(round_: Round) -> bytes:
    """A round byte for byte."""
    return json.dumps(_jsonable(plain(round_)), sort_keys=True).encode()


def _jsonable(thing: Any) -> Any:
    if isinstance(thing, dict):
        return [[_jsonable(key), _jsonable(value)] for key, value in sorted(thing.items(), key=repr)]
    if isinstance(thing, frozenset):
        return sorted(map(repr, thing))
    if isinstance(thing, tuple):
        return [_jsonable(one) for one in thing]
    if isinstance(thing, Struct):
        return to_builtins(thing)
    return str(thing) if isinstance(thing, Outcome) else thing

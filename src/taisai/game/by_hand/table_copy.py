"""A copy of a table, on which a decider follows the events of one command before it returns them."""

from __future__ import annotations

from array import array
from copy import copy

from taisai.game.money.ledger import Ledger
from taisai.game.rounds.round import PastRounds, Round
from taisai.game.table import Purse, Table


def copied(table: Table) -> Table:
    """A table that changes alone, in all that the events of a round change."""
    other = copy(table)
    other.ledger = Ledger(dict(table.ledger.balances))
    for name in ("credits", "at_risk", "payable", "nets"):
        setattr(other, name, array("q", getattr(table, name)))
    for name in ("holds", "claims", "tolerated", "freed", "referrals", "reports"):
        setattr(other, name, dict(getattr(table, name)))
    other.seats = {name: copy(seat) for name, seat in table.seats.items()}
    other.purses = []
    for seat in other.seats.values():
        seat.purses, seat.purse = {}, None
    for index, purse in enumerate(table.purses):
        seat = other.seats[purse.seat.name]
        own = seat.purses[purse.means] = Purse(seat, purse.means, other.columns, index)
        other.purses.append(own)
    other.waived, other.shoe = list(table.waived), copy(table.shoe)
    other.shoe.seen = list(table.shoe.seen)
    other.rounds = PastRounds(len(table.rounds), lambda number: table.rounds[number - 1])
    other.round = _copied_round(table.round) if table.round is not None else None
    return other


def _copied_round(round_: Round) -> Round:
    other = copy(round_)
    other.acts, other.gone, other.sessions = set(round_.acts), set(round_.gone), dict(round_.sessions)
    return other

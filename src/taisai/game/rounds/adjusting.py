"""Adjusting: what a correction puts back, purse by purse, and what becomes a claim since it cannot."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from taisai.game.money.ledger import Account, Entry
from taisai.game.rounds.round import Round
from taisai.game.seating.seats import Purse
from taisai.game.table import Claim, Table
from taisai.game.vocabulary import Means
from taisai.rules.clauses import Clause
from taisai.rules.settlement import GREATEST_SUM


class Adjustment(NamedTuple):
    """What a purse gets or gives when a settlement is undone or done again."""

    purse: Purse
    offset: int
    """Set against open claims the other way: on the player where positive, of the player where negative."""
    forgone: int
    """Set against claims on the player that were given up: he has had the money."""
    credits: int
    """Added to the purse, or taken from it where negative."""
    claim: int
    """Owed to the player beyond that, or by him where negative."""


def adjustments(
    table: Table, round_: Round, due: dict[int, int], spent: dict[int, int] | None = None
) -> list[Adjustment]:
    """What each purse gets or gives, where `due` is what it should have got of a round that was paid.

    `spent` remembers, over several rounds at once, what earlier ones already took from a purse.
    """
    assert round_.settled is not None
    spent = {} if spent is None else spent
    spent_claims: dict[str, int] = {}
    found = []
    got = round_.settled.by_purse
    for lane in sorted({*due, *(lane for lane, amount in enumerate(got) if amount)}):
        purse = table.purses[lane]
        change = due.get(lane, 0) - (got[lane] if lane < len(got) else 0)
        reachable = (
            table.open
            and purse.means is not Means.CASH_CHIPS
            and purse.seat.taken
            and purse.seat.session == round_.sessions.get(purse.seat.name)
        )
        offset = _against(table.claims.values(), round_, purse, change, spent_claims)
        forgone = _against(table.waived, round_, purse, change - offset, spent_claims)
        rest = change - offset - forgone
        put = 0
        if reachable:
            put = max(rest, -(purse.credits + spent.get(lane, 0)))
            spent[lane] = spent.get(lane, 0) + put
        if change:
            found.append(Adjustment(purse, offset, forgone, put, rest - put))
    return found


def _against(claims: Iterable[Claim], round_: Round, purse: Purse, change: int, spent: dict[str, int]) -> int:
    """How much of a change meets claims of the same round and player that run the other way."""
    found = 0
    seat = purse.seat.name
    mine = (round_.number, seat, round_.sessions.get(seat), change < 0)
    for claim in claims:
        if change and (claim.round, claim.seat, claim.session, claim.of_player) == mine:
            met = min(abs(change) - found, claim.amount - spent.get(claim.id, 0))
            spent[claim.id] = spent.get(claim.id, 0) + met
            found += met
    return found if change > 0 else -found


def _take_off_claims(table: Table, round_: Round, change: Adjustment) -> None:
    """Claims that a change met are smaller by it, or gone."""
    _reduce(table.claims, round_, change.purse, change.offset)
    waived = {claim.id: claim for claim in table.waived}
    _reduce(waived, round_, change.purse, change.forgone)
    table.waived = list(waived.values())


def _reduce(claims: dict[str, Claim], round_: Round, purse: Purse, change: int) -> None:
    left, seat = abs(change), purse.seat.name
    mine = (round_.number, seat, round_.sessions.get(seat), change < 0)
    for claim in list(claims.values()):
        if left and (claim.round, claim.seat, claim.session, claim.of_player) == mine:
            met = min(left, claim.amount)
            left -= met
            if met == claim.amount:
                del claims[claim.id]
            else:
                claims[claim.id] = claim._replace(amount=claim.amount - met)


def owed(changes: list[Adjustment]) -> tuple[int, int]:
    """What becomes a claim of players, and what a claim on them."""
    to_players = sum(change.claim for change in changes if change.claim > 0)
    by_players = -sum(change.claim for change in changes if change.claim < 0)
    return to_players, by_players


def adjust(
    table: Table, round_: Round, changes: list[Adjustment], entries: list[Entry], clause: Clause
) -> None:
    """Books the changes together with what they change for the house."""
    put = sum(change.credits for change in changes)
    to_players, by_players = owed(changes)
    met_on = sum(change.offset for change in changes if change.offset > 0)
    met_of = -sum(change.offset for change in changes if change.offset < 0)
    entries += [
        Entry(Account.CREDITS, put, clause),
        Entry(Account.CLAIMS_OF_PLAYERS, to_players - met_of, clause),
        Entry(Account.CLAIMS_ON_PLAYERS, by_players - met_on, clause),
        Entry(Account.HOUSE_LOST, -sum(change.forgone for change in changes), clause),
    ]
    table.ledger.post(*(entry for entry in entries if entry.amount))
    for change in changes:
        change.purse.credits += change.credits
        _take_off_claims(table, round_, change)
        if change.claim:
            seat, amount = change.purse.seat.name, abs(change.claim)
            session = round_.sessions[seat]
            made = Claim(next_claim(table), round_.number, seat, session, amount, of_player=change.claim > 0)
            table.claims[made.id] = made


def next_claim(table: Table) -> str:
    """An id that no claim of the table had before."""
    table.claims_made += 1
    return f"c{table.claims_made}"


def claim_excess(table: Table, round_: Round, clause: Clause) -> None:
    """What a purse cannot hold beyond the greatest sum is owed to its player."""
    for purse in table.purses:
        excess = purse.credits - GREATEST_SUM
        if excess > 0:
            seat = purse.seat
            claim = Claim(next_claim(table), round_.number, seat.name, seat.session, excess, of_player=True)
            table.claims[claim.id] = claim
            purse.credits -= excess
            table.ledger.move(Account.CREDITS, Account.CLAIMS_OF_PLAYERS, excess, clause)

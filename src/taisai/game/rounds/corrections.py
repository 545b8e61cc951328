"""Corrections: voids rounds and corrects results, also of finished rounds, under dual control."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import NamedTuple

from taisai.game.checks import refused, shown, two_people
from taisai.game.irregularities.messages import ReferralEnded
from taisai.game.messages import Event, Events, Faces
from taisai.game.money.ledger import Account, LedgerEntry
from taisai.game.refusals import Reason, Refusal
from taisai.game.rounds.messages import ResultCorrected, RoundResettled, RoundVoided, VoidDeferred
from taisai.game.rounds.round import Round
from taisai.game.rounds.settlement import due_again, stakes_by_purse
from taisai.game.table import Claim, Purse, Table
from taisai.game.terms.messages import TableShut
from taisai.game.vocabulary import Hold, Means
from taisai.rules.clauses import Clause
from taisai.rules.errors import RulesError
from taisai.rules.outcomes import Outcome
from taisai.rules.settlement import GREATEST_SUM
from taisai.rules.vocabulary import Phase


class CorrectionOrder(NamedTuple):
    """An order to void or correct rounds: when, by whom, with which second person, by which clause."""

    at: int
    by: str
    second: str | None
    clause: Clause
    alone: bool = False
    """Whether the document names the one person who decides, so that no second person is asked."""


def voided(
    table: Table, order: CorrectionOrder, first: int, last: int, *, by_itself: bool = False
) -> Events | Refusal:
    """Voids a range of rounds; those that are void already stay void.

    Moving settled money takes two people, unless the system does it by itself after a stop.
    """
    current = table.round
    newest = len(table.rounds) + (current is not None)
    if not 1 <= first <= last <= newest:
        message = f"expected rounds from 1 to {newest}, got {first} to {last}"
        return refused(Reason.WRONG_ROUND, order.clause, message)
    reaches_current = current is not None and last == current.number
    spent: dict[int, int] = {}
    void: list[RoundVoided] = [
        _voided(table, order, round_, spent)
        for round_ in chain(table.rounds[first - 1 : last], [current] if reaches_current else [])
        if round_ is not None and not round_.voided
    ]
    if not void:
        return refused(Reason.RULED_OUT, order.clause, f"rounds {first} to {last} are void already")
    takes_two = not by_itself and not order.alone and (len(void) > 1 or void[0].settled)
    if takes_two and (refusal := two_people(table, order.by, order.second)):
        return refusal
    if reaches_current and Hold.SETTLEMENT in table.holds:
        number, second = table.current.number, order.second
        deferred = VoidDeferred(
            at=order.at, by=order.by, clause=order.clause, round=number, second=second
        )  # what was handed over by hand is entered first
        earlier = [event for event in void if event.round != number]
        return (*_with_questions_ended(table, order, earlier), deferred)
    shut = shut_now(table, order.at, order.by) if reaches_current else ()
    return (*_with_questions_ended(table, order, void), *shut)


def _with_questions_ended(table: Table, order: CorrectionOrder, void: list[RoundVoided]) -> Iterator[Event]:
    """The void rounds, each with the end of what was asked about its bets."""
    for event in void:
        yield event
        yield from questions_ended(table, order.at, order.by, order.clause, event.round)


def questions_ended(table: Table, at: int, by: str, clause: Clause, number: int) -> Events:
    """Ends the referrals of a round of which nothing is left to decide, because every bet has gone back."""
    pairs = table.irregularities.pairs
    over = pairs.ends_with_void if pairs is not None else ()
    return tuple(
        ReferralEnded(at=at, by=by, clause=clause, referral=referral.id)
        for referral in table.referrals.values()
        if referral.decided_by is None and referral.round == number and referral.subject in over
    )


def shut_now(table: Table, at: int, by: str) -> Events:
    """Shuts the table at the end of its round, if that was ordered."""
    if table.shut_after is None:
        return ()
    return (TableShut(at=at, by=by, clause=table.witnessed_by, reason=table.shut_after),)


def _voided(table: Table, order: CorrectionOrder, round_: Round, spent: dict[int, int]) -> RoundVoided:
    to_players = by_players = 0
    settled = round_.settled is not None
    stakes = stakes_by_purse(table, round_)
    if settled and not unpaid(table, round_):
        to_players, by_players = owed(adjustments(table, round_, stakes, spent))
    return RoundVoided(
        at=order.at, by=order.by, clause=order.clause, round=round_.number,
        staked=round_.staked, settled=settled, owed_to_players=to_players, owed_by_players=by_players,
        later=_later(table, round_), second=order.second,
    )  # fmt: skip


def _decks_hold(table: Table, round_: Round, outcome: Outcome) -> bool:
    """Whether the shoe can have shown an outcome; after a later shuffle that cannot be known."""
    shoe = table.shoe
    if not shoe.used or round_.result is None or round_.shuffle != shoe.shuffles:
        return True
    return shoe.can_hold(outcome.faces, instead_of=round_.result.faces)


def _later(table: Table, round_: Round) -> Clause | None:
    newest = len(table.rounds) + (table.round is not None)
    return table.irregularities.later if round_.number < newest else None


def unpaid(table: Table, round_: Round) -> bool:
    """Whether a settlement is recorded and not yet paid."""
    return round_ is table.round and round_.settled is not None and round_.phase is not Phase.PAID


def corrected(table: Table, order: CorrectionOrder, round_: Round, faces: Faces) -> Events | Refusal:
    """Replaces a result by what the dice or cards showed."""
    clause = order.clause
    try:
        outcome = Outcome.of(*faces)
    except RulesError as error:
        return Refusal(Reason.BAD_VALUE, clause, f"the faces are no outcome: {error}")
    if round_.voided or round_.result is None:
        problem = "is void" if round_.voided else "has no result yet"
        return refused(Reason.RULED_OUT, clause, f"round {round_.number} {problem}")
    if not _decks_hold(table, round_, outcome):
        message = f"the decks do not have the cards {shown(outcome.faces)}"
        return refused(Reason.BAD_VALUE, table.shoe.rule.clause, message)
    if outcome is round_.result:
        return refused(Reason.BAD_VALUE, clause, f"round {round_.number} already has the result {outcome}")
    if not order.alone and (refusal := two_people(table, order.by, order.second)):
        return refusal
    if round_.settled is None:
        faces = tuple(outcome.faces)
        return (ResultCorrected(at=order.at, by=order.by, clause=clause, faces=faces, second=order.second),)
    return (resettled(table, order, round_, outcome, is_unpaid=unpaid(table, round_)),)


def resettled(
    table: Table, order: CorrectionOrder, round_: Round, outcome: Outcome, *, is_unpaid: bool
) -> RoundResettled:
    """The record of a settlement that is done again by an outcome, and by what lay on the layout."""
    assert round_.result is not None
    again, due = due_again(table, round_, outcome)
    to_players = by_players = 0
    if not is_unpaid:
        to_players, by_players = owed(adjustments(table, round_, after_restaking(round_, due)))
    return RoundResettled(
        at=order.at, by=order.by, clause=order.clause, round=round_.number,
        entered=tuple(round_.result.faces), faces=tuple(outcome.faces), staked=again.staked,
        collected=again.collected, won=again.won, stakes_back=again.stakes_back, owed_to_players=to_players,
        owed_by_players=by_players, later=_later(table, round_), second=order.second,
    )  # fmt: skip


def after_restaking(round_: Round, due: dict[int, int]) -> dict[int, int]:
    """What each purse gets less what a correction of the record added to its stakes.

    Cash chips of another player lay there all along: what was paid for them went to the wrong one. A losing
    cash chip was collected as it lay: nobody owes it.
    """
    restaked, passed_on = round_.restaked, round_.passed_on
    return {
        index: due.get(index, 0) - restaked.get(index, 0) + passed_on.get(index, 0)
        for index in {**due, **restaked}
    }


class Adjustment(NamedTuple):
    """What a purse gets or gives back when a settlement is undone or repeated."""

    purse: Purse
    offset: int
    """Set against open claims: against claims on the player if positive, of the player if negative."""
    forgone: int
    """Set against waived claims on the player, who has kept that money."""
    credits: int
    """Added to the purse, or taken from it if negative."""
    claim: int
    """Owed to the player beyond that, or by the player if negative."""


def adjustments(
    table: Table, round_: Round, due: dict[int, int], spent: dict[int, int] | None = None
) -> list[Adjustment]:
    """What each purse gets or gives back; `due` is what it should have got from a round that was paid.

    `spent` remembers, over several rounds at once, what earlier ones already took from a purse.
    """
    assert round_.settled is not None
    spent = {} if spent is None else spent
    spent_claims: dict[str, int] = {}
    changes = []
    got = round_.settled.by_purse
    for index in sorted({*due, *(index for index, amount in enumerate(got) if amount)}):
        purse = table.purses[index]
        change = due.get(index, 0) - (got[index] if index < len(got) else 0)
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
            put = max(rest, -(purse.credits + spent.get(index, 0)))
            spent[index] = spent.get(index, 0) + put
        if change:
            changes.append(Adjustment(purse, offset, forgone, put, rest - put))
    return changes


def _against(claims: Iterable[Claim], round_: Round, purse: Purse, change: int, spent: dict[str, int]) -> int:
    """How much of a change is set against opposite claims of the same round and player."""
    total = 0
    seat = purse.seat.name
    mine = (round_.number, seat, round_.sessions.get(seat), change < 0)
    for claim in claims:
        if change and (claim.round, claim.seat, claim.session, claim.of_player) == mine:
            met = min(abs(change) - total, claim.amount - spent.get(claim.id, 0))
            spent[claim.id] = spent.get(claim.id, 0) + met
            total += met
    return total if change > 0 else -total


def _take_off_claims(table: Table, round_: Round, change: Adjustment) -> None:
    """Reduces or removes the claims that a change was set against."""
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
    """(new claims of players, new claims on players)."""
    to_players = sum(change.claim for change in changes if change.claim > 0)
    by_players = -sum(change.claim for change in changes if change.claim < 0)
    return to_players, by_players


def adjust(
    table: Table, round_: Round, changes: list[Adjustment], entries: list[LedgerEntry], clause: Clause
) -> None:
    """Books the changes for the purses together with those for the house."""
    put = sum(change.credits for change in changes)
    to_players, by_players = owed(changes)
    met_on = sum(change.offset for change in changes if change.offset > 0)
    met_of = -sum(change.offset for change in changes if change.offset < 0)
    entries += [
        LedgerEntry(Account.CREDITS, put, clause),
        LedgerEntry(Account.CLAIMS_OF_PLAYERS, to_players - met_of, clause),
        LedgerEntry(Account.CLAIMS_ON_PLAYERS, by_players - met_on, clause),
        LedgerEntry(Account.HOUSE_LOST, -sum(change.forgone for change in changes), clause),
    ]
    table.ledger.post(*entries)
    for change in changes:
        change.purse.credits += change.credits
        _take_off_claims(table, round_, change)
        if change.claim:
            seat, amount = change.purse.seat.name, abs(change.claim)
            session = round_.sessions[seat]
            claim = Claim(next_claim(table), round_.number, seat, session, amount, of_player=change.claim > 0)
            table.claims[claim.id] = claim


def next_claim(table: Table) -> str:
    """An id that no claim of the table had before."""
    table.claims_made += 1
    return f"c{table.claims_made}"


def claim_excess(table: Table, round_: Round, clause: Clause) -> None:
    """Turns what a purse has above the greatest sum into a claim of its player."""
    for purse in table.purses:
        excess = purse.credits - GREATEST_SUM
        if excess > 0:
            seat = purse.seat
            claim = Claim(next_claim(table), round_.number, seat.name, seat.session, excess, of_player=True)
            table.claims[claim.id] = claim
            purse.credits -= excess
            table.ledger.move(Account.CREDITS, Account.CLAIMS_OF_PLAYERS, excess, clause)

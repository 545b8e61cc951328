"""Entering what was done by hand: the settlement of the current round, or a whole round that is over."""

from __future__ import annotations

from typing import Final

from msgspec.structs import replace

from taisai.game.betting import stakes
from taisai.game.betting.messages import BetRegistered, Slip
from taisai.game.betting.placing import beyond_exposure, lying_on, means_refusal, not_a_bet
from taisai.game.by_hand import handed_over, messages
from taisai.game.by_hand.handed_over import changes, due_by_purse
from taisai.game.by_hand.table_copy import copied
from taisai.game.checks import (
    at_table,
    bad_faces,
    bad_text,
    between_rounds,
    no_seat,
    refused,
    shown,
    two_people,
)
from taisai.game.irregularities import consequences, referrals
from taisai.game.messages import Event, Events
from taisai.game.money.ledger import Account
from taisai.game.refusals import Reason, Refusal
from taisai.game.rounds import corrections, effects
from taisai.game.rounds import messages as rounds
from taisai.game.rounds.round import Round
from taisai.game.rounds.settlement import house_side, stakes_by_purse, tray_needs
from taisai.game.table import MOST_IN_BATCH, MOST_ROUNDS, Deciders, Effects, Table
from taisai.game.vocabulary import Hold, Means, Subject
from taisai.rules.clauses import Clause
from taisai.rules.equipment import LimitPolicy
from taisai.rules.settlement import GREATEST_SUM
from taisai.rules.vocabulary import Act, Irregularity, Phase

BY_HAND: Final = Clause("house:by-hand")


class _Entry:
    """The events of one entry, each followed on a copy of the table before the next one is made."""

    def __init__(self, table: Table, command: messages.EnterSettlement | messages.EnterRound) -> None:
        self.table = copied(table)
        self.table.limits = replace(table.limits, exposure=None)  # what was played is not refused for it
        self.at, self.by = command.at, command.by
        assert command.second is not None
        self.second = command.second
        self.returned, self.evidence, self.reason = command.returned, command.evidence, command.reason
        self.events: list[Event] = []

    def add(self, *events: Event) -> None:
        for event in events:
            _FOLLOWED[type(event)](self.table, event)
            self.events.append(event)


# Deciders


def enter_settlement(table: Table, command: messages.EnterSettlement) -> Events | Refusal:
    """The current round was settled by hand: what was handed back is entered, and the round ends."""
    if refusal := _not_two(table, command):
        return refusal
    if Hold.SETTLEMENT not in table.holds:
        return refused(Reason.OUT_OF_ORDER, BY_HAND, "no settlement by hand was declared in this round")
    for hold, clause in table.holds.items():
        if hold is not Hold.SETTLEMENT:
            return refused(Reason.ON_HOLD, clause, f"the round waits for a {hold}, which comes first")
    entry = _Entry(table, command)
    entry.table.holds.clear()
    witness, witness_clause = table.current.witness, table.witnessed_by
    refusal = _concluded(entry, void=table.current.void_by, witnessed=command.witnessed)
    if refusal:
        return refusal
    if witness is not None and not command.witnessed:
        entry.add(
            *consequences.referred(
                entry.table, command.at, command.by, witness_clause, subject=Subject.INTERRUPTION,
                number=table.current.number, to=witness, holds=False,
                detail=f"settled by hand without a {witness} present",
            )
        )  # fmt: skip
    return tuple(entry.events)


def enter_round(table: Table, command: messages.EnterRound) -> Events | Refusal:
    """A round that was played by hand is entered between rounds, and gets the next number."""
    if table.practice == 1 or table.book.record is None:
        message = "rounds are played by hand at a live table only, not at this one"
        return refused(Reason.RULED_OUT, BY_HAND, message)
    refusal = _not_two(table, command) or between_rounds(table, BY_HAND) or _bad_round(table, command)
    if refusal:
        return refusal
    entry, number = _Entry(table, command), len(table.rounds) + 1
    at, by = command.at, command.by
    clause_of = table.clause_of
    entry.add(
        rounds.BetsOpened(
            at=at, by=by, clause=clause_of(Act.OPEN_BETS), round=number, phase=Phase.OPEN, day=table.day,
            terms=table.digest,
        ),
        messages.RoundEntered(
            at=at, by=by, clause=BY_HAND, round=number, void=command.void, faces=command.faces,
            evidence=command.evidence, reason=command.reason, second=entry.second,
        ),
    )  # fmt: skip
    for place, bet in enumerate(command.bets, 1):
        if refusal := _bet(entry, bet, f"h{number}.{place}"):
            return refusal
    _refer_outside_limits(entry)
    entry.add(rounds.BetsClosed(at=at, by=by, clause=clause_of(Act.CLOSE_BETS), phase=Phase.CLOSED))
    if command.faces and table.shoe.used:
        dealt = clause_of(Act.DEAL_CARDS)
        entry.add(rounds.CardsDealt(at=at, by=by, clause=dealt, phase=Phase.REVEALED))
    if command.faces:
        entered = clause_of(Act.ENTER_RESULT)
        entry.add(
            rounds.ResultEntered(at=at, by=by, clause=entered, phase=Phase.ENTERED, faces=command.faces)
        )
    refusal = _concluded(entry, void=BY_HAND if command.void else None, witnessed=True)
    return refusal or tuple(entry.events)


def _not_two(table: Table, command: messages.EnterSettlement | messages.EnterRound) -> Refusal | None:
    """Why an entry is not accepted: it takes two people, evidence and a reason."""
    refusal = at_table(table, command.by) or two_people(table, command.by, command.second, clause=BY_HAND)
    refusal = refusal or bad_text("evidence", command.evidence.strip(), least=1)
    refusal = refusal or bad_text("a reason", command.reason.strip(), least=1)
    if refusal:
        return refusal
    for name, amount in command.returned.items():
        seat = table.seats.get(name)
        if seat is None or not seat.taken:
            return no_seat(table, name)
        if type(amount) is not int or not 0 <= amount <= GREATEST_SUM:
            message = f"expected an amount from 0 to 2^53 - 1 for seat {name}, got {amount!r}"
            return refused(Reason.BAD_VALUE, BY_HAND, message)
    return None


def _bad_round(table: Table, command: messages.EnterRound) -> Refusal | None:
    if len(table.rounds) >= MOST_ROUNDS:
        message = f"the table has had {MOST_ROUNDS} rounds, the greatest number"
        return refused(Reason.TOO_MANY, "house:most", message)
    if len(command.bets) > MOST_IN_BATCH:
        message = f"expected at most {MOST_IN_BATCH} bets, got {len(command.bets)}"
        return refused(Reason.TOO_MANY, "house:most", message)
    if not command.faces and not command.void:
        message = "expected what the dice or cards showed, or that the round was void, got neither"
        return refused(Reason.BAD_VALUE, BY_HAND, message)
    if not command.faces:
        return None
    shoe = table.shoe
    refusal = bad_faces(command.faces)
    if refusal is None and shoe.used and (shoe.short or not shoe.can_hold(command.faces)):
        message = f"the decks do not have the cards {shown(command.faces)}: “Shuffle the shoe” first"
        return refused(Reason.BAD_VALUE, shoe.rule.clause, message)
    return refusal


# A round, step by step


def _bet(entry: _Entry, bet: messages.BetByHand, name: str) -> Refusal | None:
    """Registers a bet as it lay; a limit does not refuse what was played."""
    table, round_ = entry.table, entry.table.current
    seat = table.seats.get(bet.seat)
    if seat is None or not seat.taken:
        return no_seat(table, bet.seat)
    slip = Slip(name, bet.area, bet.stake)
    if refusal := means_refusal(table, bet.means, seat.name, seat.colour_value):
        return refusal
    terms = seat.terms
    assert terms is not None
    row = terms.rows.get(bet.area, -1)
    is_stake = type(bet.stake) is int and row >= 0 and 0 < bet.stake <= terms.greatest[row]
    if not is_stake or bet.stake % terms.steps[row]:
        return not_a_bet(terms, slip)
    own = seat.purses.get(bet.means)
    has = own.credits if own is not None else 0
    if bet.means is Means.COLOUR_CHIPS and (has < bet.stake or bet.stake % seat.colour_value):
        message = f"expected a stake in whole chips of {seat.colour_value}, at most {has}, got {bet.stake}"
        return refused(Reason.CREDITS_SHORT, "house:colour-chips", message, sums=(bet.stake, has))
    if round_.staked + bet.stake > GREATEST_SUM or beyond_exposure(table, round_, terms, [(row, bet.stake)]):
        message = "the stakes or returns of the round would exceed 2^53 - 1"
        return refused(Reason.BEYOND_GREATEST_SUM, "house:greatest-sum", message)
    entry.add(
        BetRegistered(
            at=entry.at, by=entry.by, clause=table.bet_clause, round=round_.number, id=name, seat=bet.seat,
            means=bet.means, layout=seat.layout, area=bet.area, stake=bet.stake,
        )
    )  # fmt: skip
    return None


def _refer_outside_limits(entry: _Entry) -> None:
    """Refers stakes outside the limits where the document would have had them refused."""
    table, round_ = entry.table, entry.table.current
    limits = table.book.limits
    for name, area in dict.fromkeys((bet.seat, bet.area) for bet in round_.bets.values()):
        seat = table.seats[name]
        terms = seat.terms
        assert terms is not None
        row = terms.rows[area]
        lying = lying_on(round_, seat, terms, row)
        is_over = lying > terms.most[row]
        policy = limits.over_maximum if is_over else limits.under_minimum
        if terms.least[row] <= lying <= terms.most[row] or policy is not LimitPolicy.REFUSE:
            continue
        subject = Irregularity.OVER_MAXIMUM if is_over else Irregularity.UNDER_MINIMUM
        ruled = table.irregularities.ruling_for(subject, Phase.BETWEEN, table.settings)
        entry.add(
            *consequences.referred(
                table, entry.at, entry.by, ruled.clause, subject=subject, number=round_.number,
                to=ruled.to or table.ranks.second, holds=False, seat=name,
                detail=f"played by hand with {lying} on {area}",
            )
        )  # fmt: skip


def _concluded(entry: _Entry, *, void: Clause | None, witnessed: bool) -> Refusal | None:
    """Settles the round or voids it, enters what was handed back, and ends it."""
    table, round_ = entry.table, entry.table.current
    at, by, second = entry.at, entry.by, entry.second
    is_witnessed = witnessed or round_.witness is None
    if void is not None:
        order = corrections.CorrectionOrder(at, by, second, void)
        events = corrections.voided(table, order, round_.number, round_.number, by_itself=True)
        if isinstance(events, Refusal):
            return events
        shut = [event for event in events if not isinstance(event, rounds.RoundVoided)]
        cash = sum(
            stake
            for index, stake in stakes_by_purse(table, round_).items()
            if table.purses[index].means is Means.CASH_CHIPS
        )
        if refusal := _tray_refusal(table, cash):
            return refusal
        entry.add(*(event for event in events if isinstance(event, rounds.RoundVoided)))
    else:
        shut = list(corrections.shut_now(table, at, by))
        if refusal := _settled(entry, second if round_.witness and witnessed else None):
            return refusal
    if refusal := _handed_over(entry, round_, is_witnessed=is_witnessed):
        return refusal
    if void is None:
        ends = table.procedure.recovery(Phase.SETTLED).clause
        entry.add(rounds.RoundConcluded(at=at, by=by, clause=ends, round=round_.number))
    entry.events += shut
    return None


def _settled(entry: _Entry, witness: str | None) -> Refusal | None:
    """The settlement by the matrix: collected and paid as far as it is not recorded already."""
    table, round_ = entry.table, entry.table.current
    at, by, clause_of = entry.at, entry.by, entry.table.clause_of
    known = [phase.id for phase in table.procedure.phases]
    if round_.settled is None:
        assert round_.result is not None
        totals = house_side(table, round_, round_.result)._asdict()
        settled = rounds.RoundSettled(
            at=at, by=by, clause=clause_of(Act.SETTLE), phase=Phase.SETTLED, terms=round_.terms,
            faces=tuple(round_.result.faces), second=witness, **totals,
        )  # fmt: skip
        entry.add(settled)
    assert round_.settled is not None
    if refusal := _tray_refusal(table, tray_needs(table)):
        return refusal
    apart = Phase.COLLECTED in known
    if round_.phase is Phase.SETTLED:
        collect = clause_of(Act.COLLECT if apart else Act.COLLECT_AND_PAY)
        entry.add(
            rounds.LosersCollected(
                at=at, by=by, clause=collect, phase=Phase.COLLECTED if apart else Phase.SETTLED,
                collected=round_.settled.collected, second=witness,
            )
        )  # fmt: skip
    pay = clause_of(Act.PAY if apart else Act.COLLECT_AND_PAY)
    paid = round_.settled.won + round_.settled.stakes_back
    entry.add(rounds.WinnersPaid(at=at, by=by, clause=pay, phase=Phase.PAID, paid=paid, second=witness))
    return None


def _handed_over(entry: _Entry, round_: Round, *, is_witnessed: bool) -> Refusal | None:
    """Enters what was handed back by hand beside what was due."""
    table = entry.table
    due: dict[str, int] = {}
    for index, amount in due_by_purse(table, round_).items():
        name = table.purses[index].seat.name
        due[name] = due.get(name, 0) + amount
    returned = {name: entry.returned.get(name, 0) for name in sorted({*due, *entry.returned})}
    due = {name: due.get(name, 0) for name in returned}
    short = [due[name] - amount for name, amount in returned.items()]
    entered = messages.SettlementEntered(
        at=entry.at, by=entry.by, clause=BY_HAND, round=round_.number, returned=returned, due=due,
        owed_to_players=sum(max(0, amount) for amount in short),
        owed_by_players=sum(max(0, -amount) for amount in short), witnessed=is_witnessed,
        evidence=entry.evidence, reason=entry.reason, second=entry.second,
    )  # fmt: skip
    handed = changes(table, entered)
    cash = sum(change.amount for change in handed if change.purse is None)
    if refusal := _tray_refusal(table, cash):
        return refusal
    for change in handed:
        if change.purse is not None and change.purse.credits + change.amount > GREATEST_SUM:
            message = f"the balance of seat {change.seat} would exceed 2^53 - 1"
            return refused(Reason.BEYOND_GREATEST_SUM, "house:greatest-sum", message)
    entry.add(entered)
    return None


def _tray_refusal(table: Table, amount: int) -> Refusal | None:
    has = table.ledger.balances[Account.CHIPS]
    if amount <= has:
        return None
    message = f"not enough chips in the tray: {amount} needed, {has} available; record the fill first"
    return refused(Reason.FLOAT_SHORT, "house:float", message, sums=(amount, has))


def on_round_entered(table: Table, _event: messages.RoundEntered) -> None:
    table.current.by_hand = True


DECIDERS: Final[Deciders] = {messages.EnterSettlement: enter_settlement, messages.EnterRound: enter_round}

EFFECTS: Final[Effects] = {messages.RoundEntered: on_round_entered}

_FOLLOWED: Final[Effects] = {
    **stakes.EFFECTS,
    **effects.EFFECTS,
    **referrals.EFFECTS,
    **handed_over.EFFECTS,
    **EFFECTS,
}
"""The effects of the events of an entry."""

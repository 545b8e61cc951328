"""Referrals: questions that wait for someone of a rank, what is decided, and what follows from it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

from taisai.game.betting.messages import BetMoved, BetReturned
from taisai.game.betting.stakes import cannot_lie, over_maximum, take_off
from taisai.game.checks import at_least, at_table, bad_text, no_seat, refused, two_people
from taisai.game.irregularities import consequences
from taisai.game.irregularities.messages import (
    CallAttendant,
    DecideReferral,
    ReferralDecided,
    ReferralEnded,
    Referred,
)
from taisai.game.messages import Event, Events
from taisai.game.refusals import Reason, Refusal
from taisai.game.rounds import corrections
from taisai.game.rounds.messages import SettlementUndone
from taisai.game.rounds.round import Round
from taisai.game.table import MOST_CALLS, MOST_DECIDED, Deciders, Effects, Referral, Table
from taisai.game.terms.messages import TableShut
from taisai.game.vocabulary import Hold, Subject, Treatment
from taisai.rules.clauses import Clause
from taisai.rules.irregularities import Ruling
from taisai.rules.vocabulary import Act, Irregularity, Phase, Visibility

CALL: Final = Clause("house:player-call")
REFERRAL: Final = Clause("house:referral")
_ANSWERS: Final = frozenset({Treatment.CONTINUE, Treatment.STANDS})


class ReferralDecision(NamedTuple):
    """A decision on a referral, and the order for voids and corrections that follows from it."""

    order: corrections.CorrectionOrder
    command: DecideReferral
    referral: Referral


def call(table: Table, command: CallAttendant) -> Events | Refusal:
    """A player's call or dispute, made at a terminal or through a person at the table."""
    seat = table.seats.get(command.seat)
    if seat is None or not seat.taken:
        return no_seat(table, command.seat)
    refusal = at_table(table, command.by) if command.by != seat.terminal else None
    refusal = refusal or bad_text("a detail", command.detail)
    if refusal:
        return refusal
    if command.subject is Subject.INTERRUPTION:
        return refused(Reason.BAD_VALUE, CALL, f"expected a call or a dispute, got {command.subject}")
    newest = len(table.rounds) + (table.round is not None)
    if command.subject is Subject.DISPUTE and not (command.round and 1 <= command.round <= newest):
        got = "none" if command.round is None else command.round
        message = f"expected the number of the disputed round, from 1 to {newest}, got {got}"
        return refused(Reason.WRONG_ROUND, CALL, message)
    if refusal := consequences.too_many_referrals(table):
        return refusal
    waiting = [referral for referral in open_referrals(table) if referral.seat == seat.name]
    if len(waiting) >= MOST_CALLS:
        message = f"seat {seat.name} has {MOST_CALLS} open calls, the greatest number"
        return refused(Reason.TOO_MANY, CALL, message)
    return consequences.referred(
        table, command.at, command.by, CALL, subject=command.subject, number=command.round,
        to=table.ranks.second, holds=False, detail=command.detail, seat=seat.name,
    )  # fmt: skip


def decide_referral(table: Table, command: DecideReferral) -> Events | Refusal:
    """A person of the rank decides a referral, with a reason and its effect."""
    if absent := at_table(table, command.by):
        return absent
    referral = table.referrals.get(command.referral)
    if referral is None or referral.decided_by is not None:
        message = f"no referral {command.referral!r}"
        if referral is not None:
            message = f"{referral.decided_by} has decided referral {referral.id} already"
        return refused(Reason.BAD_VALUE, REFERRAL, message)
    rank, clause = _who_decides(table, referral, command.treatment)
    refusal = at_least(table, command.by, rank, clause) or _decided_later(table, referral, clause)
    refusal = refusal or bad_text("a reason", command.reason, least=1)
    # When the outcome is visible, a decision that changes what a bet gets takes two people.
    takes_two = command.treatment not in _ANSWERS and table.phase.visibility is Visibility.SHOWN
    takes_two = takes_two and not _names_the_decider(table, clause)
    if refusal is None and (takes_two or command.second is not None):
        refusal = two_people(table, command.by, command.second)
    if refusal:
        return refusal
    alone = command.second is None and _names_the_decider(table, clause)
    order = corrections.CorrectionOrder(command.at, command.by, command.second, clause, alone)
    case = ReferralDecision(order, command, referral)
    follows = _FOLLOWS[command.treatment](table, case)
    if isinstance(follows, Refusal):
        return follows
    decided = ReferralDecided(
        at=command.at, by=command.by, clause=clause, referral=referral.id,
        treatment=command.treatment, reason=command.reason, second=command.second,
    )  # fmt: skip
    return (decided, *(event for event in follows if not _ends(event, referral)))


def _ends(event: Event, referral: Referral) -> bool:
    """Whether an event ends the referral that is being decided."""
    return isinstance(event, ReferralEnded) and event.referral == referral.id


def _who_decides(table: Table, referral: Referral, treatment: Treatment) -> tuple[str, Clause]:
    """The rank that decides, and the clause.

    More than an answer to a player, or a ruling on chips, is decided by the rank for unforeseen cases.
    """
    chips = referral.subject is Irregularity.CHIPS_UNCLEAR
    if treatment in _ANSWERS or (chips and treatment is Treatment.TREAT_BETS):
        return referral.to, referral.clause
    if referral.clause != CALL and not chips:
        return referral.to, referral.clause
    ruled = table.irregularities.ruling_for(Irregularity.OTHER, table.phase, table.settings)
    return ruled.to or referral.to, ruled.clause


def _decided_later(table: Table, referral: Referral, clause: Clause) -> Refusal | None:
    """Why unclear chips of the round in play are not decided yet: their clause begins with the uncovering."""
    round_ = table.round
    ruled = table.irregularities.ruling_for(Irregularity.CHIPS_UNCLEAR, table.phase, table.settings)
    is_kept = referral.subject is Irregularity.CHIPS_UNCLEAR and ruled.foreseen
    is_current = round_ is not None and referral.round == round_.number
    if table.practice == 1 or not is_kept or not is_current or clause != referral.clause:
        return None
    if table.phase.visibility is Visibility.SHOWN:
        return None
    message = f"referral {referral.id} on unclear chips is decided once the dice are uncovered"
    return refused(Reason.OUT_OF_ORDER, clause, message)


def _names_the_decider(table: Table, clause: Clause) -> bool:
    """Whether the document itself says who decides, so that no second person is asked."""
    return table.practice > 1 and not clause.startswith("house:")


def _nothing(_table: Table, _case: ReferralDecision) -> Events:
    return ()


def _not_current(table: Table, case: ReferralDecision) -> Refusal | None:
    if table.round is None or case.referral.round not in (None, table.round.number):
        about = f"round {case.referral.round}" if case.referral.round else "no round"
        message = f"{case.command.treatment} needs a referral about the current round, got one about {about}"
        return refused(Reason.RULED_OUT, REFERRAL, message)
    return None


def _void(table: Table, case: ReferralDecision) -> Events | Refusal:
    if refusal := _not_current(table, case):
        return refusal
    return corrections.voided(table, case.order, table.current.number, table.current.number)


def _void_rounds(table: Table, case: ReferralDecision) -> Events | Refusal:
    first = case.command.round or case.referral.round
    if first is None:
        return refused(Reason.BAD_VALUE, REFERRAL, "the number of the first round to void is missing")
    return corrections.voided(table, _order_to_void(table, case), first, case.command.through or first)


def _order_to_void(table: Table, case: ReferralDecision) -> corrections.CorrectionOrder:
    """The order to void rounds: by the clause that voids all affected rounds, where that was referred."""
    subject = case.referral.subject
    if table.practice == 1 or isinstance(subject, Subject):
        return case.order
    ruled = table.irregularities.ruling_for(subject, Phase.BETWEEN, table.settings)
    return case.order._replace(clause=ruled.clause) if ruled.ruling is Ruling.VOID_AFFECTED else case.order


def _settle_by_outcome(table: Table, case: ReferralDecision) -> Events | Refusal:
    number = case.command.round or case.referral.round
    round_ = table.round if table.round and table.round.number == number else table.past(number or 0)
    if round_ is None:
        return refused(Reason.WRONG_ROUND, REFERRAL, f"there is no round {number} to settle by its outcome")
    return corrections.corrected(table, case.order, round_, case.command.faces)


def _re_open(table: Table, case: ReferralDecision) -> Events | Refusal:
    if refusal := _not_current(table, case):
        return refusal
    round_ = table.current
    if round_.settled and not _is_no_roll(table, case):
        return refused(Reason.RULED_OUT, REFERRAL, f"round {round_.number} is settled already")
    others = [hold for hold in table.holds if hold is not Hold.REFERRAL]
    if others:
        message = f"the round waits for a {others[0]}, which comes first"
        return refused(Reason.ON_HOLD, table.holds[others[0]], message)
    undone = (_undone(table, case),) if round_.settled else ()
    return (*undone, *consequences.reopened(table, case.order.at, case.order.by, case.order.clause))


def _is_no_roll(table: Table, case: ReferralDecision) -> bool:
    """Whether the question is a No Roll that can still be called: it undoes a settlement."""
    if not isinstance(case.referral.subject, Irregularity):
        return False
    ruled = table.irregularities.ruling_for(case.referral.subject, table.phase, table.settings)
    return table.practice > 1 and ruled.ruling is Ruling.NO_ROLL


def _undone(table: Table, case: ReferralDecision) -> SettlementUndone:
    """The settlement is undone: the round stands where it stood before."""
    settle = next(step for step in table.procedure.steps if step.act is Act.SETTLE)
    return SettlementUndone(
        at=case.order.at, by=case.order.by, clause=case.order.clause, round=table.current.number,
        phase=settle.start, second=case.order.second,
    )  # fmt: skip


def _treat_bets(table: Table, case: ReferralDecision) -> Events | Refusal:
    if refusal := _not_current(table, case) or _not_movable(table, case):
        return refusal
    round_ = table.current
    at, by, clause = case.order.at, case.order.by, case.order.clause
    events: list[Event] = []
    if round_.settled:
        if not case.order.alone and (refusal := two_people(table, by, case.order.second)):
            return refusal
        if round_.phase is not Phase.SETTLED:
            message = f"the bets are off the layout (phase {round_.phase})"
            return refused(Reason.RULED_OUT, REFERRAL, message)
        events.append(_undone(table, case))
    if not case.command.bets:
        return refused(Reason.BAD_VALUE, REFERRAL, "no bets are given to treat")
    brought = _brought(round_, case.command.bets)
    for name, area in case.command.bets.items():
        bet = round_.bets.get(name)
        if bet is None or name in round_.gone:
            return refused(Reason.UNKNOWN_BET, REFERRAL, f"no bet {name!r} stands in this round")
        if area is None:
            events.append(BetReturned(at=at, by=by, clause=clause, round=round_.number, id=name))
            continue
        refusal = cannot_lie(table, round_, bet, area)
        refusal = refusal or over_maximum(table, bet, area, brought[bet.seat, area])
        if refusal:
            return refusal
        moved = BetMoved(
            at=at, by=by, clause=clause, round=round_.number, id=name, area=area, second=case.order.second
        )
        events.append(moved)
    return tuple(events)


def _not_movable(table: Table, case: ReferralDecision) -> Refusal | None:
    """Why no bet is moved: bets count where they lay at the close, except recorded chips that lie unclear."""
    positions = table.procedure.positions
    unclear = case.referral.subject is Irregularity.CHIPS_UNCLEAR and table.book.record is not None
    moves = any(area is not None for area in case.command.bets.values())
    if table.practice == 1 or unclear or not moves or table.phase.bets_open:
        return None
    message = "bets cannot be moved after the close, by a decision either"
    return refused(Reason.LATE, positions.clause, message)


def _brought(round_: Round, bets: dict[str, str | None]) -> dict[tuple[str, str], int]:
    """(seat, area) → how much more is on it after all bets are treated; negative if less."""
    brought: dict[tuple[str, str], int] = {}
    for name, area in bets.items():
        bet = round_.bets.get(name)
        if bet is not None:
            brought[bet.seat, bet.area] = brought.get((bet.seat, bet.area), 0) - bet.stake
            if area is not None:
                brought[bet.seat, area] = brought.get((bet.seat, area), 0) + bet.stake
    return brought


def _shut(table: Table, case: ReferralDecision) -> Events | Refusal:
    events: Events = ()
    if table.round is not None and _not_current(table, case) is None:
        void = corrections.voided(table, case.order, table.round.number, table.round.number)
        if isinstance(void, Refusal):
            return void
        events = void
    shut = TableShut(at=case.order.at, by=case.order.by, clause=case.order.clause, reason=case.command.reason)
    return (*events, shut)


_FOLLOWS: Final[dict[Treatment, Callable[[Table, ReferralDecision], Events | Refusal]]] = {
    Treatment.CONTINUE: _nothing,
    Treatment.STANDS: _nothing,
    Treatment.VOID: _void,
    Treatment.VOID_ROUNDS: _void_rounds,
    Treatment.SETTLE_BY_OUTCOME: _settle_by_outcome,
    Treatment.RE_OPEN: _re_open,
    Treatment.TREAT_BETS: _treat_bets,
    Treatment.SHUT: _shut,
}


def on_referred(table: Table, event: Referred) -> None:
    """A referral is open; the round waits if the referral holds it."""
    table.referrals_made += 1
    own = event.subject in set(Subject)
    subject = Subject(event.subject) if own else Irregularity(event.subject)
    table.referrals[event.referral] = Referral(
        event.referral, subject, event.round, event.to, event.clause, event.holds, event.seat,
        detail=event.detail,
    )  # fmt: skip
    if event.holds:
        table.holds[Hold.REFERRAL] = event.clause


def on_decided(table: Table, event: ReferralDecided) -> None:
    """A referral is decided; the round continues unless another referral holds it."""
    _end(table, event)
    others = [referral for referral in open_referrals(table) if referral.holds]
    if others:
        table.holds[Hold.REFERRAL] = others[0].clause
    else:
        table.holds.pop(Hold.REFERRAL, None)


def on_ended(table: Table, event: ReferralEnded) -> None:
    """A clause has decided what the referral was about."""
    _end(table, event, holds=False)


def _end(table: Table, event: ReferralDecided | ReferralEnded, *, holds: bool | None = None) -> None:
    """A referral is over. It leaves the state when many later ones are over too."""
    referral = table.referrals.pop(event.referral)
    holds = referral.holds if holds is None else holds
    table.referrals[event.referral] = referral._replace(decided_by=event.by, holds=holds)
    decided = [name for name, other in table.referrals.items() if other.decided_by is not None]
    for name in decided[:-MOST_DECIDED]:
        del table.referrals[name]


def open_referrals(table: Table) -> list[Referral]:
    """The referrals that wait for a decision."""
    return [referral for referral in table.referrals.values() if referral.decided_by is None]


def on_returned(table: Table, event: BetReturned) -> None:
    take_off(table, table.current, table.current.bets[event.id], event.clause)


DECIDERS: Final[Deciders] = {CallAttendant: call, DecideReferral: decide_referral}

EFFECTS: Final[Effects] = {
    BetReturned: on_returned,
    Referred: on_referred,
    ReferralDecided: on_decided,
    ReferralEnded: on_ended,
}

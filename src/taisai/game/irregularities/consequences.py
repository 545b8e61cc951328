"""What follows from the ruling on an irregularity: void, No Roll, option, referral, shut."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

from taisai.game.checks import on_hold, refused, two_people
from taisai.game.equipment.items import DICE_ITEM
from taisai.game.irregularities.messages import (
    ReferralEnded,
    Referred,
    SettlementWitnessed,
    WithdrawalClosed,
    WithdrawalOffered,
)
from taisai.game.messages import Events, Faces
from taisai.game.refusals import Reason, Refusal
from taisai.game.rounds import corrections
from taisai.game.rounds.messages import BetsReopened, DiceUncovered, SettlementUndone
from taisai.game.rounds.round import Round
from taisai.game.table import MOST_REFERRALS, MOST_REFERRED, Table
from taisai.game.terms.messages import TableShut
from taisai.game.vocabulary import Hold, Subject
from taisai.rules.clauses import Clause
from taisai.rules.irregularities import DEVICE, VOIDS, Ruling, RulingCell
from taisai.rules.pairs import PairCell, Prevails
from taisai.rules.vocabulary import Act, Irregularity, Phase, Visibility

_DEVICE_FAILS: Final = frozenset({Irregularity.EQUIPMENT_FAILURE, Irregularity.POWER_FAILURE})
"""Irregularities that can be the failure of the device that lights the winning areas."""
NO_ROLL: Final = Clause("house:no-roll")


class IrregularityCase(NamedTuple):
    """An irregularity and all that its ruling depends on."""

    at: int
    by: str
    event: Irregularity
    round: Round | None
    phase: Phase
    ruled: RulingCell
    seen: bool = False
    through: int | None = None
    faces: Faces = ()
    item: str | None = None
    detail: str = ""
    second: str | None = None
    unsuitable: str | None = None
    """Who was named as the second person and cannot be."""
    says_seen: bool = False
    """Whether the report itself says that a die was seen, and not another one of its round."""
    pair: PairCell | None = None
    """How it meets what stands in its round."""

    @property
    def order(self) -> corrections.CorrectionOrder:
        """The order to void or correct rounds by the ruling."""
        return corrections.CorrectionOrder(self.at, self.by, self.second, self.ruled.clause)


def consequences(table: Table, case: IrregularityCase) -> Events | Refusal:
    """What follows from the ruling on a case."""
    overruled = case.pair is not None and case.pair.prevails is Prevails.FIRST
    effect = None if overruled else _EFFECTS.get(case.ruled.ruling)
    follows = effect(table, case) if effect else ()
    if isinstance(follows, Refusal) or table.practice == 1:
        return follows
    return (*follows, *_ended_option(table, case), *_shut_by_pair(table, case))


def _ended_option(table: Table, case: IrregularityCase) -> Events:
    """An option to withdraw ends when a die is seen after the close."""
    clause = table.irregularities.closed_seen
    seen = case.seen or case.ruled.ruling is Ruling.RESET_AND_ENTER  # the cover was lifted
    if not seen or case.phase.bets_open or clause is None or Hold.WITHDRAWAL not in table.holds:
        return ()
    if case.ruled.ruling in VOIDS:
        return ()  # the round is over
    return (WithdrawalClosed(at=case.at, by=case.by, clause=clause, seen=True),)


def _shut_by_pair(table: Table, case: IrregularityCase) -> Events:
    """Shuts the table, and ends a referral of the device, where two irregularities together order it.

    A referral of other equipment stays open.
    """
    round_, pair = case.round, case.pair
    if pair is None or not pair.shuts or round_ is None:
        return ()
    of_others = {report.event for report in round_.irregularities if report.item not in (None, DEVICE)}
    ended = tuple(
        ReferralEnded(at=case.at, by=case.by, clause=pair.clause, referral=referral.id)
        for referral in table.referrals.values()
        if referral.decided_by is None
        and referral.round == round_.number
        and referral.subject in _DEVICE_FAILS - of_others
    )
    if table.shut_after is not None or table.shut is not None:
        return ended  # the void has shut the table
    return (*ended, TableShut(at=case.at, by=case.by, clause=pair.clause, reason=pair.reason))


def _void(table: Table, case: IrregularityCase) -> Events | Refusal:
    if case.round is None:
        return ()
    if case.round.voided and table.practice > 1:
        return _earlier_rounds(table, case)  # no bet is returned twice
    if refusal := _alone(table, case):
        return refusal
    void = corrections.voided(table, case.order, case.round.number, case.round.number)
    if isinstance(void, Refusal):
        return void
    return (*void, *_earlier_rounds(table, case))


def _earlier_rounds(table: Table, case: IrregularityCase) -> Events:
    """After a wrong count of cards, refers whether earlier rounds of the same decks stand."""
    if case.event is not Irregularity.CARD_COUNT_WRONG or case.round is None or not table.shoe.rounds:
        return ()
    ruled = table.irregularities.ruling_for(case.event, Phase.BETWEEN, table.settings)
    earlier = table.shoe.rounds - (Act.DEAL_CARDS in case.round.acts)
    if ruled.ruling is not Ruling.REFER or ruled.to is None or earlier <= 0:
        return ()
    return referred(
        table, case.at, case.by, ruled.clause, subject=case.event, number=None, to=ruled.to, holds=False,
        detail=f"whether {earlier} earlier round(s) of these decks stand",
    )  # fmt: skip


def _void_affected(table: Table, case: IrregularityCase) -> Events | Refusal:
    if table.practice > 1:
        return _void_named(table, case)
    if case.round is None:
        return ()  # no round is named as affected
    first = case.round.number
    last = case.through or first
    over = table.rounds[first - 1 : last]
    if len(over) == last - first + 1 and all(round_.voided for round_ in over):
        return ()  # they are void already; only the failure is recorded
    return _alone(table, case) or corrections.voided(table, case.order, first, last)


def _void_named(table: Table, case: IrregularityCase) -> Events | Refusal:
    """Voids the round in hand; which earlier rounds were affected is named by the rank that decides it."""
    ruled = table.irregularities.ruling_for(Irregularity.OTHER, case.phase, table.settings)
    current = table.round.number if table.round else None
    if case.round is None:
        return _which_earlier(table, case, ruled)
    first = case.round.number
    last = case.through or first
    newest = current or len(table.rounds)
    if not first <= last <= newest:
        message = f"expected rounds from {first} to {newest}, got {first} to {last}"
        return refused(Reason.WRONG_ROUND, case.ruled.clause, message)
    if ruled.to is not None and not ruled.clause.startswith("house:") and _decides(table, case, ruled.to):
        over = (table.rounds.glance(number) for number in range(first, min(last, len(table.rounds)) + 1))
        if last != current and all(round_.voided for round_ in over):
            return ()  # they are void already; only the failure is recorded
        return corrections.voided(table, case.order._replace(alone=True), first, last)
    if last != current:
        return _refer_affected(table, case, ruled, first, last)
    void = _alone(table, case._replace(round=table.round)) or corrections.voided(
        table, case.order, last, last
    )
    if isinstance(void, Refusal):
        return void
    named = _refer_affected(table, case, ruled, first, last - 1) if first < last else None
    return (*void, *(_which_earlier(table, case, ruled) if named is None else named))


def _which_earlier(table: Table, case: IrregularityCase, ruled: RulingCell) -> Events:
    """Refers which earlier rounds were affected, if any was played with the same dice."""
    dice = table.equipment.placed.get(DICE_ITEM)
    for number in range(len(table.rounds), 0, -1):
        round_ = table.rounds.glance(number)
        if dice is None or round_.opened_at < dice.since:
            break
        if not round_.voided:
            return _refer_affected(table, case, ruled, None, number)
    return ()


def _refer_affected(
    table: Table, case: IrregularityCase, ruled: RulingCell, first: int | None, last: int
) -> Events:
    """Refers whether earlier rounds were affected, unless that is referred already."""
    about = "which earlier rounds were affected"
    if first is not None:
        about = (
            f"whether round {first} was affected"
            if first == last
            else f"whether rounds {first} to {last} were affected"
        )
    waits = any(
        referral.decided_by is None and referral.subject is case.event and referral.detail == about
        for referral in table.referrals.values()
    )
    if waits or ruled.to is None:
        return ()
    return referred(
        table, case.at, case.by, ruled.clause, subject=case.event, number=first, to=ruled.to, holds=False,
        detail=about,
    )  # fmt: skip


def _decides(table: Table, case: IrregularityCase, rank: str) -> bool:
    """Whether one of the people of a case has a rank."""
    people = (table.people.get(name) for name in (case.by, case.second or ""))
    return any(person is not None and table.ranks.at_least(person.position, rank) for person in people)


def _no_roll(table: Table, case: IrregularityCase) -> Events | Refusal:
    if case.round is None or case.round is not table.round:
        return ()
    is_paid = table.current.settled is not None and not corrections.unpaid(table, table.current)
    if Hold.SETTLEMENT in table.holds or (is_paid and table.practice > 1):
        return _to_unforeseen(table, case)  # settled by hand, or paid: nothing can be put back
    if table.practice > 1:
        return _alone(table, case) or _put_back(table, case)
    refusal = on_hold(table) or _alone(table, case)
    return refusal or reopened(table, case.at, case.by, case.ruled.clause)


def _to_unforeseen(table: Table, case: IrregularityCase) -> Events:
    """Refers a case to the rank for what is unforeseen; the round does not wait for it."""
    ruled = table.irregularities.ruling_for(Irregularity.OTHER, case.phase, table.settings)
    return referred(
        table, case.at, case.by, ruled.clause, subject=case.event, number=table.current.number,
        to=ruled.to or table.ranks.second, holds=False, detail=case.detail,
    )  # fmt: skip


def _put_back(table: Table, case: IrregularityCase) -> Events:
    """Bets stay and open again; losers that were collected already are put back."""
    undone: Events = ()
    if table.current.settled is not None:
        settle = next(step for step in table.procedure.steps if step.act is Act.SETTLE)
        undone = (
            SettlementUndone(
                at=case.at, by=case.by, clause=case.ruled.clause, round=table.current.number,
                phase=settle.start, second=case.second,
            ),
        )  # fmt: skip
    return (*undone, *reopened(table, case.at, case.by, NO_ROLL))


def _alone(table: Table, case: IrregularityCase) -> Refusal | None:
    """Why one person alone may not undo an entered result."""
    if case.round is None or case.round.result is None:
        return None
    return two_people(table, case.by, case.second)


def reopened(table: Table, at: int, by: str, clause: Clause) -> Events:
    """Bets stay and open again."""
    opening = next(step for step in table.procedure.steps if step.act is Act.OPEN_BETS)
    return (BetsReopened(at=at, by=by, clause=clause, round=table.current.number, phase=opening.end),)


def offered_withdrawal(table: Table, at: int, by: str, clause: Clause) -> Events:
    """Offers the option to withdraw, if there are bets."""
    if not table.current.staked or Hold.WITHDRAWAL in table.holds:
        return ()
    return (WithdrawalOffered(at=at, by=by, clause=clause, round=table.current.number),)


def _withdraw_option(table: Table, case: IrregularityCase) -> Events | Refusal:
    if case.round is None or case.round is not table.round:
        return ()
    return offered_withdrawal(table, case.at, case.by, case.ruled.clause)


def _settle_by_outcome(table: Table, case: IrregularityCase) -> Events | Refusal:
    if case.event is not Irregularity.WRONG_RESULT:
        return ()
    if case.round is None:
        message = "the number of the wrongly settled round is missing"
        return refused(Reason.BAD_VALUE, case.ruled.clause, message)
    if table.practice > 1 and case.round.voided:
        return ()  # a void round has no result to correct; the report is recorded
    return corrections.corrected(table, case.order, case.round, case.faces)


def _settle_then_shut(table: Table, case: IrregularityCase) -> Events | Refusal:
    if table.practice > 1 and case.round is not None and case.round.voided:
        return _shut_without_settling(table, case)
    if case.round is None or case.round is not table.round:
        return ()
    if table.practice > 1 and case.round.witness is not None:
        return ()  # ordered already
    return witnessed(case.at, case.by, case.ruled.clause, case.ruled.witness, case.detail or case.event)


def _shut_without_settling(table: Table, case: IrregularityCase) -> Events:
    """The round was void before the device failed: nothing is settled, and the table is shut."""
    newest = case.round is not None and case.round.number == len(table.rounds) and table.round is None
    if not newest or table.shut is not None:
        return ()
    reason = case.detail or case.event
    return (TableShut(at=case.at, by=case.by, clause=case.ruled.clause, reason=reason),)


def witnessed(at: int, by: str, clause: Clause, witness: str | None, reason: str) -> Events:
    """The settlement takes a witness, and the table is shut after it."""
    assert witness is not None
    return (SettlementWitnessed(at=at, by=by, clause=clause, witness=witness, reason=reason),)


def _reset_and_enter(table: Table, case: IrregularityCase) -> Events | Refusal:
    if case.round is None or case.round is not table.round or case.phase.visibility is Visibility.SHOWN:
        return ()
    uncover = next(step for step in table.procedure.steps if step.act is Act.UNCOVER)
    return (on_hold(table) if table.practice == 1 else None) or (
        DiceUncovered(at=case.at, by=case.by, clause=case.ruled.clause, phase=uncover.end),
    )


def _refer(table: Table, case: IrregularityCase) -> Events | Refusal:
    assert case.ruled.to is not None
    holds = case.round is not None and case.round is table.round
    if table.practice > 1 and case.event is Irregularity.CHIPS_UNCLEAR:
        holds = holds and case.phase.visibility is Visibility.SHOWN  # decided after the uncovering
    number = case.round.number if case.round else None
    if table.practice > 1 and (
        _is_open_already(table, case, number, holds=holds) or too_many_referrals(table) is not None
    ):
        return ()  # the report is recorded, and the question that is open decides on it
    return referred(
        table, case.at, case.by, case.ruled.clause, subject=case.event, number=number, to=case.ruled.to,
        holds=holds, detail=case.detail,
    )  # fmt: skip


def _is_open_already(table: Table, case: IrregularityCase, number: int | None, *, holds: bool) -> bool:
    """Whether the same question is open, or as many of its round as are open at once."""
    waiting = [
        referral
        for referral in table.referrals.values()
        if referral.decided_by is None
        and (referral.round, referral.holds) == (number, holds)
        and isinstance(referral.subject, Irregularity)
    ]
    if len(waiting) >= MOST_REFERRED:
        return True
    question = (case.event, case.ruled.to, case.detail)
    is_same_item = case.item is None and case.round is None
    for report in case.round.irregularities if case.round is not None else ():
        is_same_item |= (report.event, report.item, report.ruling) == (case.event, case.item, Ruling.REFER)
    return is_same_item and any((one.subject, one.to, one.detail) == question for one in waiting)


def too_many_referrals(table: Table) -> Refusal | None:
    """Why nobody may refer another question: too many wait for a decision."""
    waiting = sum(referral.decided_by is None for referral in table.referrals.values())
    if waiting < MOST_REFERRALS:
        return None
    message = f"the table has {waiting} open questions, the greatest number: decide some of them first"
    return refused(Reason.TOO_MANY, "house:most", message)


def referred(
    table: Table,
    at: int,
    by: str,
    clause: Clause,
    *,
    subject: Irregularity | Subject,
    number: int | None,
    to: str,
    holds: bool,
    detail: str,
    seat: str | None = None,
) -> Events:
    """Refers a question to a rank; no document foresees it if the clause is the house's own, except calls."""
    outside = clause.startswith("house:") and subject not in (Subject.CALL, Subject.DISPUTE)
    return (
        Referred(
            at=at, by=by, clause=clause, referral=f"r{table.referrals_made + 1}", subject=subject,
            round=number, to=to, holds=holds, outside=outside, detail=detail, seat=seat,
        ),
    )  # fmt: skip


_EFFECTS: Final[dict[Ruling, Callable[[Table, IrregularityCase], Events | Refusal]]] = {
    Ruling.VOID: _void,
    Ruling.VOID_AFFECTED: _void_affected,
    Ruling.NO_ROLL: _no_roll,
    Ruling.WITHDRAW_OPTION: _withdraw_option,
    Ruling.SETTLE_BY_OUTCOME: _settle_by_outcome,
    Ruling.SETTLE_THEN_SHUT: _settle_then_shut,
    Ruling.RESET_AND_ENTER: _reset_and_enter,
    Ruling.REFER: _refer,
}
"""Other rulings have no effect of their own: the round continues, or a bet or settlement stays as it is."""

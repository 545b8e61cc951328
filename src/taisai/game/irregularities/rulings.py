"""What went wrong: the rulebook's ruling in this phase, and what follows from it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

from msgspec import UNSET

from taisai.game.checks import at_table, bad_text, listed, on_hold, refused, two_people
from taisai.game.equipment.items import CARDS_ITEM, DEVICE, DICE_ITEM, DISPLAY, SHAKER_ITEM, TERMINAL
from taisai.game.equipment.messages import CountCards, ItemFailed
from taisai.game.irregularities.messages import (
    IrregularityRuled,
    ReferralEnded,
    Referred,
    ReportConfirmed,
    ReportHeld,
    ReportIrregularity,
    SettlementWitnessed,
    WithdrawalClosed,
    WithdrawalOffered,
)
from taisai.game.messages import Events, Faces
from taisai.game.refusals import Reason, Refusal
from taisai.game.rounds import corrections
from taisai.game.rounds.messages import BetsReopened, DiceUncovered, Perform, SettlementUndone
from taisai.game.rounds.round import Round
from taisai.game.table import Deciders, Effects, Table
from taisai.game.terms.messages import TableShut
from taisai.game.vocabulary import Hold, Subject
from taisai.rules.clauses import Clause
from taisai.rules.irregularities import Ruling, RulingCell
from taisai.rules.vocabulary import Act, Irregularity, Phase, Visibility

_FAILS: Final = {
    Irregularity.DIE_DAMAGED: DICE_ITEM,
    Irregularity.DOME_OR_DICE_BROKEN: DICE_ITEM,
    Irregularity.AUTOMATED_SHAKER_FAILURE: SHAKER_ITEM,
    Irregularity.FOREIGN_CARD: CARDS_ITEM,
    Irregularity.CARD_COUNT_WRONG: CARDS_ITEM,
}
"""Irregularity → the item that is out of order after it."""
_SHOWING: Final = {TERMINAL: Irregularity.TERMINALS_DOWN, DISPLAY: Irregularity.DISPLAY_WRONG}
"""Item → the irregularity that its failure is, however it is reported."""
_ONLY_SHOWS: Final = frozenset({Irregularity.TERMINALS_DOWN, Irregularity.DISPLAY_WRONG})
"""Failures after which rounds still open: a terminal, or a display that only informs."""
DECLARATION: Final = Clause("house:declaration")
CONFIRMATION: Final = Clause("house:confirmation")
NO_ROLL: Final = Clause("house:no-roll")
_SIGHTS: Final = frozenset({Irregularity.EXPOSED_EARLY, Irregularity.EXPOSED_LATE})
"""Irregularities that are themselves the sight of a concealed die or card."""
_VOIDS: Final = frozenset({Ruling.VOID, Ruling.VOID_AFFECTED})


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

    @property
    def order(self) -> corrections.CorrectionOrder:
        """The order to void or correct rounds by the ruling."""
        return corrections.CorrectionOrder(self.at, self.by, self.second, self.ruled.clause)


def report(table: Table, command: ReportIrregularity) -> Events | Refusal:
    """A person at the table reports an irregularity."""
    refusal = at_table(table, command.by) or bad_text("a detail", command.detail)
    if refusal is None and command.second is not None:
        refusal = two_people(table, command.by, command.second, rank=table.ranks.ladder[0].id)
    if refusal:
        return refusal
    round_ = table.round
    if command.round is not None and (round_ is None or round_.number != command.round):
        round_ = table.past(command.round)
        if round_ is None:
            message = f"expected a round from 1 to {len(table.rounds)}, got {command.round}"
            return refused(Reason.WRONG_ROUND, "house:order", message)
    phase = round_.phase if round_ is not None else Phase.BETWEEN
    if round_ is not None and round_ is table.round and Hold.SETTLEMENT in table.holds:
        phase = Phase.PAID  # it was settled by hand: what is reported now is found after the payment
    if command.item is not None and command.item not in table.equipment.placed:
        message = f"no item {command.item!r} on the table; items: {listed(table.equipment.placed)}"
        return refused(Reason.BAD_VALUE, "house:equipment", message)
    if table.practice > 1:
        return _reported(table, command, round_, phase)
    by_sight = (command.event, phase) in table.irregularities.seen
    if by_sight and (refusal := two_people(table, command.by, command.second, clause=DECLARATION)):
        return refusal
    declared = command.seen and by_sight
    seen = phase.visibility is Visibility.CONCEALED and (declared or (round_ is not None and round_.seen))
    ruled = _ruling(table, command, phase, seen=seen)
    case = IrregularityCase(
        command.at, command.by, command.event, round_, phase, ruled, seen, command.through, command.faces,
        command.item, command.detail, command.second,
    )  # fmt: skip
    return _ruled(table, case)


def _reported(
    table: Table, command: ReportIrregularity, round_: Round | None, phase: Phase
) -> Events | Refusal:
    """Records a report, which is never refused for want of a second person, and what follows from it."""
    is_current = round_ is not None and round_ is table.round
    case = IrregularityCase(
        command.at, command.by, command.event, round_, phase,
        table.irregularities.ruling_for(command.event, phase, table.settings), through=command.through,
        faces=command.faces, item=command.item, detail=command.detail, second=command.second,
    )  # fmt: skip
    has_sight = table.irregularities.open_seen is not None
    if is_current and round_ is not None and has_sight and phase.visibility is not Visibility.SHOWN:
        case = case._replace(seen=command.seen or round_.seen or command.event in _SIGHTS)
    case = case._replace(ruled=ruling_of(table, case))
    by_sight = (command.event, phase) in table.irregularities.seen and not phase.bets_open
    may_be_seen = case.seen or phase.visibility is Visibility.CONCEALED
    is_known = round_ is not None and round_.seen and not table.reports
    refers = case.ruled.ruling is Ruling.REFER  # the document names who decides
    if by_sight and may_be_seen and command.second is None and not (is_known or refers):
        return (ruling_record(table, case), *_failing(table, case), *held(table, case))
    ruled = _ruled(table, case)
    return ruled if isinstance(ruled, Refusal) else (*_confirmed_by(table, case), *ruled)


def _confirmed_by(table: Table, case: IrregularityCase) -> Events:
    """Two people report what waits for a second person: it is confirmed."""
    number = case.round.number if case.round else None
    if case.second is None or two_people(table, case.by, case.second):
        return ()
    return tuple(
        ReportConfirmed(at=case.at, by=case.second, clause=CONFIRMATION, report=waiting.id)
        for waiting in table.reports.values()
        if (waiting.irregularity, waiting.round, waiting.faces) == (case.event, number, case.faces)
        and waiting.by != case.second
    )


def ruling_of(table: Table, case: IrregularityCase) -> RulingCell:
    """The ruling on a case: by its irregularity, by what was seen, by what else went wrong in the round."""
    irregularities, phase = table.irregularities, case.phase
    ruled = _of_item(table, _SHOWING.get(case.item or "", case.event), case.item, phase, seen=case.seen)
    round_ = case.round
    if round_ is None or round_ is not table.round or ruled.ruling in _VOIDS:
        return ruled
    if case.seen and phase.bets_open and irregularities.open_seen is not None:
        return RulingCell(Ruling.VOID, irregularities.open_seen)
    for pair in irregularities.pairs:
        other = pair.beside(case.event)
        if other in round_.irregularities and _are_meant(case, round_):
            return RulingCell(pair.ruling, pair.clause)
    return ruled


def _are_meant(case: IrregularityCase, round_: Round) -> bool:
    """Whether a failure of equipment in a pair is one of the device that lights the winning areas."""
    if case.event is Irregularity.EQUIPMENT_FAILURE:
        return case.item in (None, DEVICE)
    return round_.devices_down


def _of_item(table: Table, event: Irregularity, item: str | None, phase: Phase, *, seen: bool) -> RulingCell:
    ruled = table.irregularities.ruling_for(event, phase, table.settings, seen=seen)
    if ruled.ruling is Ruling.SETTLE_THEN_SHUT and item not in (None, DEVICE):
        # The clause is about the device that lights the areas. For other equipment the document is silent.
        return table.irregularities.ruling_for(Irregularity.OTHER, phase, table.settings)
    return ruled


def held(table: Table, case: IrregularityCase) -> Events:
    """A report by one person waits for a second person."""
    return (
        ReportHeld(
            at=case.at, by=case.by, clause=CONFIRMATION, report=f"h{table.reports_held + 1}",
            irregularity=case.event, round=case.round.number if case.round else None, through=case.through,
            seen=case.seen, faces=case.faces, item=case.item, detail=case.detail,
        ),
    )  # fmt: skip


def _ruling(table: Table, command: ReportIrregularity, phase: Phase, *, seen: bool) -> RulingCell:
    event = _SHOWING.get(command.item or "", command.event)
    return _of_item(table, event, command.item, phase, seen=seen)


def by_act(table: Table, command: Perform, event: Irregularity) -> Events | Refusal:
    """Rules an act that the document treats as an irregularity."""
    ruled = table.irregularities.ruling_for(event, table.phase, table.settings)
    if ruled.ruling is Ruling.REFUSE:
        return refused(Reason.RULED_OUT, ruled.clause, f"{command.act} is refused: it would be {event}")
    dealer, second = table.ranks.ladder[0].id, command.second
    if second is not None and (refusal := two_people(table, command.by, second, rank=dealer)):
        return refusal
    case = IrregularityCase(
        command.at, command.by, event, table.round, table.phase, ruled, faces=command.faces,
        detail=f"by {command.act}", second=command.second,
    )  # fmt: skip
    if table.practice > 1:
        case = case._replace(ruled=ruling_of(table, case))
    return _ruled(table, case)


def found_by_check(
    table: Table, command: CountCards, event: Irregularity, *, detail: str
) -> Events | Refusal:
    """Rules an irregularity that a check at the table found."""
    if command.second is not None and (refusal := two_people(table, command.by, command.second)):
        return refusal
    ruled = table.irregularities.ruling_for(event, table.phase, table.settings)
    case = IrregularityCase(
        command.at, command.by, event, table.round, table.phase, ruled, detail=detail, second=command.second
    )
    return _ruled(table, case)


def _ruled(table: Table, case: IrregularityCase) -> Events | Refusal:
    follows = consequences(table, case)
    if isinstance(follows, Refusal):
        wants_second = follows.reason is Reason.SECOND_PERSON and case.second is None
        if table.practice == 1 or not wants_second:
            return follows
        follows = held(table, case)
    return (ruling_record(table, case), *_failing(table, case), *follows)


def consequences(table: Table, case: IrregularityCase) -> Events | Refusal:
    """What follows from the ruling on a case."""
    effect = _EFFECTS.get(case.ruled.ruling)
    follows = effect(table, case) if effect else ()
    if isinstance(follows, Refusal) or table.practice == 1:
        return follows
    return (*follows, *_ended_option(table, case), *_shut_by_pair(table, case))


def _ended_option(table: Table, case: IrregularityCase) -> Events:
    """An option to withdraw ends when a die is seen after the close."""
    clause = table.irregularities.closed_seen
    if not case.seen or case.phase.bets_open or clause is None or Hold.WITHDRAWAL not in table.holds:
        return ()
    return (WithdrawalClosed(at=case.at, by=case.by, clause=clause, seen=True),)


def _shut_by_pair(table: Table, case: IrregularityCase) -> Events:
    """Shuts the table, and ends a referral of the device, where two irregularities together order it."""
    round_ = case.round
    pair = next(
        (
            pair
            for pair in table.irregularities.pairs
            if round_ is not None and pair.shuts and pair.beside(case.event) in round_.irregularities
        ),
        None,
    )
    if pair is None or round_ is None or round_ is not table.round or case.ruled.clause != pair.clause:
        return ()
    ended = tuple(
        ReferralEnded(at=case.at, by=case.by, clause=pair.clause, referral=referral.id)
        for referral in table.referrals.values()
        if referral.decided_by is None
        and referral.round == round_.number
        and referral.subject is Irregularity.EQUIPMENT_FAILURE
    )
    if table.shut_after is not None:
        return ended  # the void has shut the table
    return (*ended, TableShut(at=case.at, by=case.by, clause=pair.clause, reason=pair.reason))


def ruling_record(table: Table, case: IrregularityCase) -> IrregularityRuled:
    """The event that records an irregularity and its ruling."""
    return IrregularityRuled(
        at=case.at, by=case.by, clause=case.ruled.clause, irregularity=case.event,
        round=case.round.number if case.round else None, phase=case.phase, ruling=case.ruled.ruling,
        foreseen=case.ruled.foreseen, seen=case.seen, detail=case.detail, second=case.second,
        item=UNSET if table.practice == 1 or case.item is None else case.item,
    )  # fmt: skip


def _failing(table: Table, case: IrregularityCase) -> Events:
    item = case.item or _FAILS.get(case.event)
    is_pair = case.event is Irregularity.EQUIPMENT_FAILURE and case.ruled.ruling in _VOIDS
    if item is None and (case.ruled.ruling is Ruling.SETTLE_THEN_SHUT or is_pair):
        item = DEVICE
    if case.event in _ONLY_SHOWS or item in _SHOWING:
        return ()
    placed = table.equipment.placed.get(item) if item else None
    if item is None or placed is None or not placed.working:
        return ()
    if case.round is not None and placed.since > case.round.opened_at:
        return ()  # the round was played with an earlier item
    return (ItemFailed(at=case.at, by=case.by, clause=case.ruled.clause, item=item),)


# What follows


def _void(table: Table, case: IrregularityCase) -> Events | Refusal:
    if case.round is None or (case.round.voided and table.practice > 1):
        return ()  # recorded; no bet is returned twice
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
    if Hold.SETTLEMENT in table.holds:
        return _to_unforeseen(table, case)  # it was settled by hand: nothing can be put back
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
    if case.round is None or case.round is not table.round:
        return ()
    if table.practice > 1 and case.round.witness is not None:
        return ()  # ordered already
    return witnessed(case.at, case.by, case.ruled.clause, case.ruled.witness, case.detail or case.event)


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
    return referred(
        table, case.at, case.by, case.ruled.clause, subject=case.event, number=number, to=case.ruled.to,
        holds=holds, detail=case.detail,
    )  # fmt: skip


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
            at=at, by=by, clause=clause, referral=f"r{len(table.referrals) + 1}", subject=subject,
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


def on_ruled(table: Table, event: IrregularityRuled) -> None:
    """The ruling's effects are events of their own; here the round remembers that a die was seen."""
    if event.seen and table.round is not None and table.round.number == event.round:
        table.round.seen = True
    if table.practice > 1 and table.round is not None and table.round.number == event.round:
        table.round.irregularities.add(event.irregularity)
        is_failure = event.irregularity is Irregularity.EQUIPMENT_FAILURE
        if event.ruling is Ruling.SETTLE_THEN_SHUT or (is_failure and event.item in (UNSET, DEVICE)):
            table.round.irregularities.add(Irregularity.EQUIPMENT_FAILURE)
            table.round.devices_down = True
    if event.irregularity is Irregularity.SHOE_SHORT:
        table.shoe.fresh = True  # to be shuffled before it is dealt from again


def on_witnessed(table: Table, event: SettlementWitnessed) -> None:
    """The settlement takes a witness, and the table is shut after it."""
    table.current.witness = event.witness
    table.shut_after = event.reason
    table.witnessed_by = event.clause


DECIDERS: Final[Deciders] = {ReportIrregularity: report}

EFFECTS: Final[Effects] = {IrregularityRuled: on_ruled, SettlementWitnessed: on_witnessed}

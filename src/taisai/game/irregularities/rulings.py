"""What went wrong: the rulebook's ruling in this phase, and what follows from it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

from taisai.game.checks import at_table, bad_text, listed, on_hold, refused, two_people
from taisai.game.equipment.items import CARDS_ITEM, DEVICE, DICE_ITEM, DISPLAY, SHAKER_ITEM, TERMINAL
from taisai.game.equipment.messages import CountCards, ItemFailed
from taisai.game.irregularities.messages import (
    IrregularityRuled,
    Referred,
    ReportIrregularity,
    SettlementWitnessed,
    WithdrawalOffered,
)
from taisai.game.messages import Events, Faces
from taisai.game.refusals import Reason, Refusal
from taisai.game.rounds import corrections
from taisai.game.rounds.messages import BetsReopened, DiceUncovered, Perform
from taisai.game.rounds.round import Round
from taisai.game.table import Deciders, Effects, Table
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
    if command.item is not None and command.item not in table.equipment.placed:
        message = f"no item {command.item!r} on the table; items: {listed(table.equipment.placed)}"
        return refused(Reason.BAD_VALUE, "house:equipment", message)
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


def _ruling(table: Table, command: ReportIrregularity, phase: Phase, *, seen: bool) -> RulingCell:
    event = _SHOWING.get(command.item or "", command.event)
    ruled = table.irregularities.ruling_for(event, phase, table.settings, seen=seen)
    if ruled.ruling is Ruling.SETTLE_THEN_SHUT and command.item not in (None, DEVICE):
        # The clause is about the device that lights the areas. For other equipment the document is silent.
        return table.irregularities.ruling_for(Irregularity.OTHER, phase, table.settings)
    return ruled


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
    effect = _EFFECTS.get(case.ruled.ruling)
    follows = effect(table, case) if effect else ()
    if isinstance(follows, Refusal):
        return follows
    return (ruling_record(case), *_failing(table, case), *follows)


def ruling_record(case: IrregularityCase) -> IrregularityRuled:
    """The event that records an irregularity and its ruling."""
    return IrregularityRuled(
        at=case.at, by=case.by, clause=case.ruled.clause, irregularity=case.event,
        round=case.round.number if case.round else None, phase=case.phase, ruling=case.ruled.ruling,
        foreseen=case.ruled.foreseen, seen=case.seen, detail=case.detail, second=case.second,
    )  # fmt: skip


def _failing(table: Table, case: IrregularityCase) -> Events:
    item = case.item or _FAILS.get(case.event)
    if item is None and case.ruled.ruling is Ruling.SETTLE_THEN_SHUT:
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
    if case.round is None:
        return ()
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
    if case.round is None:
        return ()  # no round is named as affected
    first = case.round.number
    last = case.through or first
    over = table.rounds[first - 1 : last]
    if len(over) == last - first + 1 and all(round_.voided for round_ in over):
        return ()  # they are void already; only the failure is recorded
    return _alone(table, case) or corrections.voided(table, case.order, first, last)


def _no_roll(table: Table, case: IrregularityCase) -> Events | Refusal:
    if case.round is None or case.round is not table.round:
        return ()
    refusal = on_hold(table) or _alone(table, case)
    return refusal or reopened(table, case.at, case.by, case.ruled.clause)


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
    return corrections.corrected(table, case.order, case.round, case.faces)


def _settle_then_shut(table: Table, case: IrregularityCase) -> Events | Refusal:
    if case.round is None or case.round is not table.round:
        return ()
    return witnessed(case.at, case.by, case.ruled.clause, case.ruled.witness, case.detail or case.event)


def witnessed(at: int, by: str, clause: Clause, witness: str | None, reason: str) -> Events:
    """The settlement takes a witness, and the table is shut after it."""
    assert witness is not None
    return (SettlementWitnessed(at=at, by=by, clause=clause, witness=witness, reason=reason),)


def _reset_and_enter(table: Table, case: IrregularityCase) -> Events | Refusal:
    if case.round is None or case.round is not table.round or case.phase.visibility is Visibility.SHOWN:
        return ()
    uncover = next(step for step in table.procedure.steps if step.act is Act.UNCOVER)
    return on_hold(table) or (
        DiceUncovered(at=case.at, by=case.by, clause=case.ruled.clause, phase=uncover.end),
    )


def _refer(table: Table, case: IrregularityCase) -> Events | Refusal:
    assert case.ruled.to is not None
    holds = case.round is not None and case.round is table.round
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
    if event.irregularity is Irregularity.SHOE_SHORT:
        table.shoe.fresh = True  # to be shuffled before it is dealt from again


def on_witnessed(table: Table, event: SettlementWitnessed) -> None:
    """The settlement takes a witness, and the table is shut after it."""
    table.current.witness = event.witness
    table.shut_after = event.reason
    table.witnessed_by = event.clause


DECIDERS: Final[Deciders] = {ReportIrregularity: report}

EFFECTS: Final[Effects] = {IrregularityRuled: on_ruled, SettlementWitnessed: on_witnessed}

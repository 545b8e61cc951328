"""What went wrong: the rulebook's ruling in this phase, and what follows from it."""

from __future__ import annotations

from typing import Final

from msgspec import UNSET

from taisai.game.checks import at_table, bad_name, bad_text, listed, refused, two_people
from taisai.game.equipment.items import CARDS_ITEM, DEVICE, DICE_ITEM, SHAKER_ITEM, TERMINAL
from taisai.game.equipment.messages import CountCards, ItemFailed
from taisai.game.irregularities.consequences import IrregularityCase, consequences
from taisai.game.irregularities.messages import (
    IrregularityRuled,
    ReportConfirmed,
    ReportHeld,
    ReportIrregularity,
    SettlementWitnessed,
)
from taisai.game.irregularities.standing import pair_of
from taisai.game.messages import Events
from taisai.game.refusals import Reason, Refusal
from taisai.game.rounds.messages import Perform
from taisai.game.rounds.round import ReportedIrregularity, Round
from taisai.game.table import MOST_HELD, Deciders, Effects, Table
from taisai.game.vocabulary import Hold
from taisai.rules.clauses import Clause
from taisai.rules.irregularities import SHOWING, VOIDS, Ruling
from taisai.rules.pairs import Prevails, RuledEvent
from taisai.rules.vocabulary import Irregularity, Phase, Visibility

_FAILS: Final = {
    Irregularity.DIE_DAMAGED: DICE_ITEM,
    Irregularity.DOME_OR_DICE_BROKEN: DICE_ITEM,
    Irregularity.AUTOMATED_SHAKER_FAILURE: SHAKER_ITEM,
    Irregularity.FOREIGN_CARD: CARDS_ITEM,
    Irregularity.CARD_COUNT_WRONG: CARDS_ITEM,
}
"""Irregularity → the item that is out of order after it."""
_ONLY_SHOWS: Final = frozenset({Irregularity.TERMINALS_DOWN, Irregularity.DISPLAY_WRONG})
"""Failures after which rounds still open: a terminal, or a display that only informs."""
_LISTED: Final = 10  # terminals in a message
DECLARATION: Final = Clause("house:declaration")
CONFIRMATION: Final = Clause("house:confirmation")


def report(table: Table, command: ReportIrregularity) -> Events | Refusal:
    """A person at the table reports an irregularity."""
    refusal = at_table(table, command.by) or bad_text("a detail", command.detail)
    if refusal is None and command.second is not None and table.practice == 1:
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
    is_terminal = table.practice > 1 and command.item in table.terminals
    if command.item is not None and command.item not in table.equipment.placed and not is_terminal:
        items = [*table.equipment.placed, *(sorted(table.terminals)[:_LISTED] if table.practice > 1 else ())]
        message = f"no item {command.item!r} on the table; items: {listed(items)}"
        return refused(Reason.BAD_VALUE, "house:equipment", message)
    if table.practice > 1:
        bad = None if command.second is None else bad_name("the second person", command.second)
        return bad or _reported(table, command, round_, phase)
    by_sight = (command.event, phase) in table.irregularities.seen
    if by_sight and (refusal := two_people(table, command.by, command.second, clause=DECLARATION)):
        return refusal
    declared = command.seen and by_sight
    seen = phase.visibility is Visibility.CONCEALED and (declared or (round_ is not None and round_.seen))
    ruled = table.irregularities.ruled(command.event, phase, table.settings, seen=seen, item=command.item)
    case = IrregularityCase(
        command.at, command.by, command.event, round_, phase, ruled, seen, command.through, command.faces,
        command.item, command.detail, command.second,
    )  # fmt: skip
    return _ruled(table, case)


def _reported(
    table: Table, command: ReportIrregularity, round_: Round | None, phase: Phase
) -> Events | Refusal:
    """Records a report, which is never refused for want of a second person, and what follows from it."""
    rules, seen = table.irregularities, False
    event = rules.event_about(command.event, _kind_of_item(table, command.item))
    if round_ is not None and (round_ is table.round or round_.voided):
        before = _seen_before(table, round_)
        seen = rules.sees(event, round_.voided_in or phase, seen=command.seen or before)
    case = judged(
        table,
        IrregularityCase(
            command.at, command.by, event, round_, phase,
            rules.ruling_for(event, phase, table.settings), seen, command.through, command.faces,
            command.item, command.detail, command.second,
        ),
    )  # fmt: skip
    says_seen = seen and rules.sees(event, case.phase, seen=command.seen)
    case = _with_second(table, case)._replace(says_seen=says_seen)
    if _says_seen(table, case, phase):
        return _waits(table, case)
    ruled = _ruled(table, case)
    return ruled if isinstance(ruled, Refusal) else (*_confirmed_by(table, case), *ruled)


def _seen_before(table: Table, round_: Round) -> bool:
    """Whether it is a fact that a die was seen; a void round has had the consequence of what voided it."""
    if not round_.voided:
        return round_.seen
    rules, settings = table.irregularities, table.settings
    return any(
        report.seen
        and report.waits is None
        and rules.ruled(report.event, report.phase, settings, seen=True, item=report.item).ruling not in VOIDS
        for report in round_.irregularities
    )


def _kind_of_item(table: Table, item: str | None) -> str | None:
    """What a reported item is: a terminal of the table goes by its own id."""
    return TERMINAL if item not in table.equipment.items and item in table.terminals else item


def _says_seen(table: Table, case: IrregularityCase, phase: Phase) -> bool:
    """Whether one person alone says that a die is on view, and what follows depends on that."""
    by_sight = (case.event, phase) in table.irregularities.seen and not phase.bets_open
    is_known = case.round is not None and case.round.seen and not table.reports
    refers = case.ruled.ruling is Ruling.REFER  # the document names who decides
    alone = two_people(table, case.by, case.second) is not None
    return by_sight and case.seen and alone and not (is_known or refers)


def _with_second(table: Table, case: IrregularityCase) -> IrregularityCase:
    """The case; a second person who cannot be one is recorded as such, and one person reports."""
    if table.practice == 1 or case.second is None:
        return case
    if two_people(table, case.by, case.second, rank=table.ranks.ladder[0].id) is None:
        return case
    return case._replace(second=None, unsuitable=case.second)


def _waits(table: Table, case: IrregularityCase) -> Events | Refusal:
    """The record of a report that waits for a second person, who is not the one that it names."""
    if refusal := _waits_already(table, case):
        return refusal
    case = case._replace(second=None, unsuitable=case.unsuitable or case.second)
    return (ruling_record(table, case), *_failing(table, case), *held(table, case))


def _waits_already(table: Table, case: IrregularityCase) -> Refusal | None:
    """Why a report is not held: the same one by the same person waits, or too many of theirs do."""
    waiting = [report for report in table.reports.values() if report.by == case.by]
    number = case.round.number if case.round else None
    content = (case.event, number, case.through, case.says_seen, case.faces, case.item, case.detail)
    for report in waiting:
        if report.content == content:
            message = f"report {report.id} says the same and waits: a second person confirms or contests it"
            return refused(Reason.TOO_MANY, CONFIRMATION, message)
    if len(waiting) >= MOST_HELD:
        message = (
            f"{case.by} has {MOST_HELD} reports that wait, the greatest number: a second person comes first"
        )
        return refused(Reason.TOO_MANY, CONFIRMATION, message)
    return None


def _confirmed_by(table: Table, case: IrregularityCase) -> Events:
    """Two people report what waits for a second person: it is confirmed."""
    number = case.round.number if case.round else None
    if case.second is None or two_people(table, case.by, case.second):
        return ()
    return tuple(
        ReportConfirmed(
            at=case.at, by=case.by if waiting.by == case.second else case.second, clause=CONFIRMATION,
            report=waiting.id,
        )
        for waiting in table.reports.values()
        if (waiting.irregularity, waiting.round, waiting.faces) == (case.event, number, case.faces)
    )  # fmt: skip


def judged(table: Table, case: IrregularityCase) -> IrregularityCase:
    """The case with its ruling: by its irregularity, by what was seen, by what stands in its round."""
    phase = (case.round.voided_in if case.round else None) or case.phase  # a void round stays where it was
    own = table.irregularities.ruled(case.event, phase, table.settings, seen=case.seen, item=case.item)
    if table.practice == 1:
        return case._replace(ruled=own)
    pair = pair_of(table, case.round, RuledEvent(case.event, phase, own, case.item, case.seen))
    ruled = pair.rulings[0] if pair and pair.prevails in (Prevails.FIRST, Prevails.TOGETHER) else own
    return case._replace(phase=phase, ruled=ruled, pair=pair)


def held(table: Table, case: IrregularityCase) -> Events:
    """A report by one person waits for a second person."""
    return (
        ReportHeld(
            at=case.at, by=case.by, clause=CONFIRMATION, report=f"h{table.reports_held + 1}",
            irregularity=case.event, round=case.round.number if case.round else None, through=case.through,
            seen=case.says_seen, faces=case.faces, item=case.item, detail=case.detail,
        ),
    )  # fmt: skip


def by_act(table: Table, command: Perform, event: Irregularity) -> Events | Refusal:
    """Rules an act that the document treats as an irregularity."""
    ruled = table.irregularities.ruling_for(event, table.phase, table.settings)
    if ruled.ruling is Ruling.REFUSE:
        return refused(Reason.RULED_OUT, ruled.clause, f"{command.act} is refused: it would be {event}")
    dealer, second = table.ranks.ladder[0].id, command.second
    refusal = two_people(table, command.by, second, rank=dealer) if second is not None else None
    if refusal and table.practice == 1:
        return refusal
    case = IrregularityCase(
        command.at, command.by, event, table.round, table.phase, ruled, faces=command.faces,
        detail=f"by {command.act}", second=command.second,
    )  # fmt: skip
    return _ruled(table, judged(table, _with_second(table, case)))


def found_by_check(
    table: Table, command: CountCards, event: Irregularity, *, detail: str
) -> Events | Refusal:
    """Rules an irregularity that a check at the table found."""
    refusal = two_people(table, command.by, command.second) if command.second is not None else None
    if refusal and table.practice == 1:
        return refusal
    ruled = table.irregularities.ruling_for(event, table.phase, table.settings)
    case = IrregularityCase(
        command.at, command.by, event, table.round, table.phase, ruled, detail=detail, second=command.second
    )
    return _ruled(table, judged(table, _with_second(table, case)))


def _ruled(table: Table, case: IrregularityCase) -> Events | Refusal:
    follows = consequences(table, case)
    if isinstance(follows, Refusal):
        wants_second = follows.reason is Reason.SECOND_PERSON and table.practice > 1
        return _waits(table, case) if wants_second else follows
    return (ruling_record(table, case), *_failing(table, case), *follows)


def ruling_record(table: Table, case: IrregularityCase) -> IrregularityRuled:
    """The event that records an irregularity and its ruling."""
    return IrregularityRuled(
        at=case.at, by=case.by, clause=case.ruled.clause, irregularity=case.event,
        round=case.round.number if case.round else None, phase=case.phase, ruling=case.ruled.ruling,
        foreseen=case.ruled.foreseen, seen=case.seen, detail=case.detail, second=case.second,
        item=UNSET if table.practice == 1 or case.item is None else case.item,
        unsuitable=case.unsuitable or UNSET,
    )  # fmt: skip


def _failing(table: Table, case: IrregularityCase) -> Events:
    item = case.item or _FAILS.get(case.event)
    is_pair = case.event is Irregularity.EQUIPMENT_FAILURE and case.ruled.ruling in VOIDS
    if item is None and (case.ruled.ruling is Ruling.SETTLE_THEN_SHUT or is_pair):
        item = DEVICE
    if case.event in _ONLY_SHOWS or item in SHOWING:
        return ()
    placed = table.equipment.placed.get(item) if item else None
    if item is None or placed is None or not placed.working:
        return ()
    if case.round is not None and placed.since > case.round.opened_at:
        return ()  # the round was played with an earlier item
    return (ItemFailed(at=case.at, by=case.by, clause=case.ruled.clause, item=item),)


def on_ruled(table: Table, event: IrregularityRuled) -> None:
    """The ruling's effects are events of their own; here the round remembers that a die was seen."""
    if event.seen and table.round is not None and table.round.number == event.round:
        table.round.seen = True
    if table.practice > 1 and event.round is not None:
        _remember(table, event)
    if event.irregularity is Irregularity.SHOE_SHORT:
        table.shoe.fresh = True  # to be shuffled before it is dealt from again


def _remember(table: Table, event: IrregularityRuled) -> None:
    """The round remembers what was reported of it."""
    assert event.round is not None
    item = None if event.item is UNSET else event.item
    what, phase, seen = event.irregularity, event.phase, event.seen
    own = table.irregularities.ruled(what, phase, table.settings, seen=seen, item=item)
    to = own.to if event.ruling is Ruling.REFER else None
    report = ReportedIrregularity(what, phase, event.ruling, event.clause, to, item, seen)
    reports = table.to_change(event.round).irregularities
    if reports.count(report) > 1:  # the first and the latest of the same are enough
        del reports[len(reports) - 1 - reports[::-1].index(report)]
    reports.append(report)


def on_witnessed(table: Table, event: SettlementWitnessed) -> None:
    """The settlement takes a witness, and the table is shut after it."""
    table.current.witness = event.witness
    table.shut_after = event.reason
    table.witnessed_by = event.clause


DECIDERS: Final[Deciders] = {ReportIrregularity: report}

EFFECTS: Final[Effects] = {IrregularityRuled: on_ruled, SettlementWitnessed: on_witnessed}

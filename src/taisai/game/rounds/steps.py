"""The steps of a round, in the rulebook's own order, and what must be true before each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from taisai.game.checks import bad_faces, may_act, not_open, on_hold, refused, shown, two_people
from taisai.game.irregularities import rulings
from taisai.game.messages import Event, Events
from taisai.game.money.ledger import Account
from taisai.game.refusals import Reason, Refusal
from taisai.game.rounds import messages
from taisai.game.rounds.corrections import shut_now
from taisai.game.rounds.messages import Perform
from taisai.game.rounds.settlement import house_side, tray_needs
from taisai.game.table import MOST_ROUNDS, MOST_TUMBLES, SHUT, Deciders, Table
from taisai.game.vocabulary import SYSTEM
from taisai.rules.clauses import Clause
from taisai.rules.equipment import InspectedBefore
from taisai.rules.procedure import CLOCK, OutOfOrder, Step, StepNeed
from taisai.rules.vocabulary import Act, Irregularity, Need, Visibility

WITNESSED: Final = frozenset({Act.SETTLE, Act.COLLECT, Act.PAY, Act.COLLECT_AND_PAY})


def perform(table: Table, command: Perform) -> Events | Refusal:
    """An act of the round: a step, an irregularity, or refused with the clause."""
    if not table.open:
        return not_open(table)
    step = table.procedure.resolve(command.act, table.phase, table.settings)
    if refusal := _position_refusal(table, command, step) or on_hold(table):
        return refusal
    if table.shut is not None and table.round is None:
        clause = table.shut_by if table.practice > 1 else SHUT
        return refused(Reason.TABLE_SHUT, clause, f"the table is shut: {table.shut}")
    if isinstance(step, OutOfOrder):
        if step.irregularity is None:
            acts = [step.act for step in table.procedure.steps_from(table.phase, table.settings)]
            message = f"expected {' or '.join(acts)} in phase {table.phase}, got {command.act}"
            return refused(Reason.OUT_OF_ORDER, step.clause, message)
        return _done_wrongly(table, command, step.irregularity)
    if refusal := _witness_missing(table, command) or _bad_figures(command, step):
        return refusal
    for need in step.needs:
        if not _is_met(table, command, need.need):
            if need.unmet is not None:
                return _done_wrongly(table, command, need.unmet)
            return _unmet(table, command, need)
    return _MAKES[command.act](table, command, step)


def _position_refusal(table: Table, command: Perform, step: Step | OutOfOrder) -> Refusal | None:
    position = step.by if isinstance(step, Step) else _position_of(table, command.act)
    if position == CLOCK:
        if command.by != CLOCK:
            clause = table.clause_of(command.act)
            message = f"only the betting clock may do this, not {command.by}"
            return refused(Reason.NOT_PERMITTED, clause, message)
        return None
    if command.by in SYSTEM:
        clause = table.clause_of(command.act)
        return refused(Reason.NOT_PERMITTED, clause, f"only the {position} may do this, not {command.by}")
    return may_act(table, command.by, position, table.clause_of(command.act))


def _position_of(table: Table, act: Act) -> str:
    steps = [step for step in table.procedure.steps if step.act is act]
    return steps[0].by if steps else table.ranks.ladder[0].id


def _witness_missing(table: Table, command: Perform) -> Refusal | None:
    if table.round is None or table.round.witness is None or command.act not in WITNESSED:
        return None
    rank, clause = table.round.witness, table.witnessed_by
    return two_people(table, command.by, command.second, rank=rank, clause=clause)


def _witness(table: Table, command: Perform) -> str | None:
    """The witness of the settlement, if one is required."""
    return command.second if table.round is not None and table.round.witness is not None else None


def _bad_figures(command: Perform, step: Step) -> Refusal | None:
    if command.act is Act.TUMBLE and not 0 <= command.tumbles <= MOST_TUMBLES:
        message = f"expected 0 to {MOST_TUMBLES} tumbles, got {command.tumbles}"
        return refused(Reason.BAD_VALUE, "house:most", message)
    cocked = not command.flat and any(need.need is Need.DICE_FLAT for need in step.needs)
    if command.act is Act.ENTER_RESULT and not cocked:
        return bad_faces(command.faces)
    return None


def _done_wrongly(table: Table, command: Perform, event: Irregularity) -> Events | Refusal:
    """The act was done, and the document rules it an irregularity."""
    at, by, clause, phase = command.at, command.by, table.clause_of(command.act), table.phase
    done: Events = ()
    if command.act is Act.TUMBLE:
        done = (messages.DiceTumbled(at=at, by=by, clause=clause, phase=phase, tumbles=command.tumbles),)
    elif command.act is Act.DEAL_CARDS:
        done = (messages.CardsDealt(at=at, by=by, clause=clause, phase=phase),)
    ruled = rulings.by_act(table, command, event)
    return ruled if isinstance(ruled, Refusal) else (*done, *ruled)


# The acts


def _not_in_order(table: Table) -> Refusal | None:
    """Why no round can open: an item is missing or out of order."""
    item = table.equipment.failed(table.settings)
    if item is None:
        return None
    if item in table.equipment.placed:
        message = f"{item} is out of order: “Mark as repaired” or “Remove from the table” first"
    else:
        message = f"{item} is not on the table: “Place on the table” first"
    return refused(Reason.UNMET_NEED, "house:equipment", message)


def _open(table: Table, command: Perform, step: Step) -> Events | Refusal:
    if refusal := _not_in_order(table):
        return refusal
    # A custom rulebook may not require it.
    if table.shoe.used and (unready := table.shoe.unready(table.settings)):
        return refused(Reason.UNMET_NEED, "house:shoe", f"{unready} ({table.shoe.left} cards left)")
    if len(table.rounds) >= MOST_ROUNDS:
        message = (
            f"the table has had {len(table.rounds)} rounds, the greatest number: close it and open a new one"
        )
        return refused(Reason.TOO_MANY, "house:most", message)
    number = len(table.rounds) + 1
    return _event(messages.BetsOpened, command, step, round=number, day=table.day, terms=table.digest)


def _event(kind: Callable[..., Event], command: Perform, step: Step, **fields: object) -> Events:
    """The event of a step; `fields` are those that not every step has."""
    return (kind(at=command.at, by=command.by, clause=step.clause, phase=step.end, **fields),)


def _plain(kind: Callable[..., Event]) -> Callable[[Table, Perform, Step], Events]:
    """An act whose event has no other fields."""
    return lambda _table, command, step: _event(kind, command, step)


def _tumble(_table: Table, command: Perform, step: Step) -> Events:
    return _event(messages.DiceTumbled, command, step, tumbles=command.tumbles)


def _deal(table: Table, command: Perform, step: Step) -> Events | Refusal:
    """Deals three cards; if the shoe has fewer, the document rules."""
    if table.shoe.short:
        return rulings.by_act(table, command, Irregularity.SHOE_SHORT)
    return _event(messages.CardsDealt, command, step)


def _enter(table: Table, command: Perform, step: Step) -> Events | Refusal:
    if table.shoe.used and not table.shoe.can_hold(command.faces):
        message = f"the decks do not have the cards {shown(command.faces)} any more"
        return refused(Reason.BAD_VALUE, table.shoe.rule.clause, message)
    return _event(messages.ResultEntered, command, step, faces=command.faces)


def _settle(table: Table, command: Perform, step: Step) -> Events | Refusal:
    round_ = table.current
    if table.practice > 1 and (waiting := _unclear_chips(table)):
        return waiting
    assert round_.result is not None
    totals = house_side(table, round_, round_.result)._asdict()
    faces, second = tuple(round_.result.faces), _witness(table, command)
    return _event(
        messages.RoundSettled, command, step, faces=faces, terms=round_.terms, second=second, **totals
    )


def _unclear_chips(table: Table) -> Refusal | None:
    """Why the round is not settled yet: chips that lay unclearly before the uncovering are not decided."""
    for referral in table.referrals.values():
        is_open = referral.decided_by is None and referral.round == table.current.number
        if is_open and referral.subject is Irregularity.CHIPS_UNCLEAR:
            message = f"referral {referral.id} on unclear chips is not decided, and comes first"
            return refused(Reason.ON_HOLD, referral.clause, message)
    return None


def _collect(table: Table, command: Perform, step: Step) -> Events:
    assert table.current.settled is not None
    collected, second = table.current.settled.collected, _witness(table, command)
    return _event(messages.LosersCollected, command, step, collected=collected, second=second)


def _pay(table: Table, command: Perform, step: Step) -> Events | Refusal:
    assert table.current.settled is not None
    needs, has = tray_needs(table), table.ledger.balances[Account.CHIPS]
    if needs > has:
        message = f"not enough chips in the tray: {needs} needed, {has} available"
        return refused(Reason.FLOAT_SHORT, "house:float", message, sums=(needs, has))
    paid = table.current.settled.won + table.current.settled.stakes_back
    return _event(messages.WinnersPaid, command, step, paid=paid, second=_witness(table, command))


def _collect_and_pay(table: Table, command: Perform, step: Step) -> Events | Refusal:
    paid = _pay(table, command, step)
    if isinstance(paid, Refusal):
        return paid
    return (*_collect(table, command, step._replace(end=step.start)), *paid)


def _conclude(table: Table, command: Perform, step: Step) -> Events:
    at, by, clause = command.at, command.by, step.clause
    concluded = messages.RoundConcluded(at=at, by=by, clause=clause, round=table.current.number)
    if step.act is not Act.CLEAR_LIGHTS:
        return (concluded, *shut_now(table, at, by))
    return (messages.LightsCleared(at=at, by=by, clause=clause), concluded, *shut_now(table, at, by))


_MAKES: Final[dict[Act, Callable[[Table, Perform, Step], Events | Refusal]]] = {
    Act.OPEN_BETS: _open,
    Act.TUMBLE: _tumble,
    Act.ACTIVATE_SHAKER: _plain(messages.ShakerActivated),
    Act.CLOSE_BETS: _plain(messages.BetsClosed),
    Act.PRESS_DEAL: _plain(messages.DealPressed),
    Act.UNCOVER: _plain(messages.DiceUncovered),
    Act.DEAL_CARDS: _deal,
    Act.ENTER_RESULT: _enter,
    Act.SETTLE: _settle,
    Act.COLLECT: _collect,
    Act.PAY: _pay,
    Act.COLLECT_AND_PAY: _collect_and_pay,
    Act.CLEAR_LIGHTS: _conclude,
    Act.CONCLUDE: _conclude,
}


def _is_met(table: Table, command: Perform, need: Need) -> bool:
    """Whether a need is met, the act itself included."""
    settings, equipment = table.settings, table.equipment
    match need:
        case Need.TABLE_INSPECTED:
            return not equipment.due(InspectedBefore.OPENING, settings)
        case Need.SHIFT_INSPECTED:
            return not equipment.due(InspectedBefore.SHIFT, settings)
        case Need.DICE_WITHIN_LIFE:
            return equipment.outlived(max(command.at, table.latest), settings) is None
        case Need.SHOE_CAN_COMPLETE:
            return table.shoe.unready(settings) is None
        case Need.ENOUGH_TUMBLES:
            tumbled = table.round.tumbles if table.round else 0
            if command.act is Act.TUMBLE:
                tumbled = command.tumbles + (tumbled if equipment.tumbles_add_up(settings) else 0)
            return tumbled >= equipment.least_tumbles(settings)
        case Need.DICE_FLAT:
            return command.flat
        case Need.OUTCOME_OPEN:
            return table.round is None or not table.round.seen


def _unmet(table: Table, command: Perform, need: StepNeed) -> Refusal:
    """Why an act is refused whose need is not met."""
    settings, equipment = table.settings, table.equipment
    clause, message = need.clause, f"{need.need} is required"
    if need.need in (Need.TABLE_INSPECTED, Need.SHIFT_INSPECTED):
        before = InspectedBefore.OPENING if need.need is Need.TABLE_INSPECTED else InspectedBefore.SHIFT
        item, inspection = equipment.due(before, settings)[0]
        clause = inspection.clause
        message = f"{item.id} is not inspected: the {inspection.by} must inspect it before {before}"
    elif need.need is Need.DICE_WITHIN_LIFE:
        outlived = equipment.outlived(max(command.at, table.latest), settings)
        assert outlived is not None
        hours = outlived.hours_on_table
        is_shaken = table.phase.visibility is Visibility.CONCEALED
        if is_shaken and table.practice > 1:  # in mid-shake they are replaced
            is_shaken = table.current.tumbles >= equipment.least_tumbles(settings)
        act = "report “The dice are on the table for too long”" if is_shaken else "“Remove from the table”"
        message = f"{outlived.id} may be on the table for at most {hours} hours: {act} first"
        if outlived.id not in equipment.placed:
            message = f"{outlived.id} is not on the table: “Place on the table” first"
    elif need.need is Need.SHOE_CAN_COMPLETE:
        message = f"{table.shoe.unready(settings)} ({table.shoe.left} cards left)"
        clause = need.clause if table.shoe.short and table.shoe.decks else Clause("house:shoe")
    elif need.need is Need.ENOUGH_TUMBLES:
        least, done = equipment.least_tumbles(settings), table.round.tumbles if table.round else 0
        message = f"expected at least {least} tumbles, got {done}"
    elif need.need is Need.OUTCOME_OPEN:
        message = "a die of this round was seen, so its outcome stands: uncover the dice"
    return refused(Reason.UNMET_NEED, clause, message)


DECIDERS: Final[Deciders] = {Perform: perform}

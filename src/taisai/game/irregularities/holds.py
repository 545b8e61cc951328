"""What follows a stop: what the rules order, and the declaration that a round waits for."""

from __future__ import annotations

from typing import Final

from taisai.game.checks import bad_faces, may_act, refused, shown, two_people
from taisai.game.irregularities import consequences, messages
from taisai.game.messages import Event, Events
from taisai.game.refusals import Reason, Refusal
from taisai.game.rounds import corrections
from taisai.game.rounds.messages import VoidDeferred
from taisai.game.rounds.round import ReportedIrregularity
from taisai.game.table import MOST_TUMBLES, Deciders, Effects, Table
from taisai.game.vocabulary import RECOVERY, Hold, Subject
from taisai.rules.clauses import Clause
from taisai.rules.irregularities import Ruling
from taisai.rules.outcomes import DICE, Outcome
from taisai.rules.procedure import Declared, Recovery, RecoveryRule
from taisai.rules.vocabulary import Act, Irregularity, Phase, Visibility

DECLARATION = Clause("house:declaration")
BY_HAND = Clause("house:by-hand")
GRACE = "fail_over_grace"


def recover_now(table: Table, command: messages.Recover) -> Events | Refusal:
    """Decides what the rules order after a stop, or that a declaration is needed first."""
    if command.by != RECOVERY:
        message = f"only the system may do this, not {command.by}"
        return refused(Reason.NOT_PERMITTED, "house:recovery", message)
    grace = 1000 * int(table.settings.get(GRACE, "0"))
    if not table.open or (command.stopped_for is not None and command.stopped_for <= grace):
        return ()
    declared = Declared.SEEN if _was_seen(table) else None
    if Hold.SETTLEMENT in table.holds:
        rule = RecoveryRule(Recovery.CONCLUDE, table.holds[Hold.SETTLEMENT])
    elif _asks_what_happened(table):
        rule = RecoveryRule(Recovery.DECLARE, DECLARATION)
    else:
        rule = table.procedure.recovery(table.phase, declared)
    return _follows(table, command.at, command.by, rule, phase=table.phase)


def _was_seen(table: Table) -> bool:
    """Whether it is a fact that a die was seen; a report by one person makes it one when it is confirmed."""
    if table.round is None or not table.round.seen:
        return False
    return not any(report.seen and report.round == table.round.number for report in table.reports.values())


def _asks_what_happened(table: Table) -> bool:
    """Whether people declare what happened unrecorded: at a live table, with a round in hand."""
    return table.practice > 1 and table.book.record is not None and table.round is not None


def _follows(
    table: Table, at: int, by: str, rule: RecoveryRule, *, phase: Phase, second: str | None = None
) -> Events | Refusal:
    clause = rule.clause
    stopped = messages.Interrupted(
        at=at, by=by, clause=clause, phase=phase, action=rule.action, witness=rule.witness
    )
    follows: Events | Refusal = ()  # after a second stop, everything has followed already
    if rule.action is Recovery.VOID:
        number, order = table.current.number, corrections.CorrectionOrder(at, by, second, clause)
        follows = corrections.voided(table, order, number, number, by_itself=True)
    elif rule.action is Recovery.WITHDRAW_OPTION:
        follows = consequences.offered_withdrawal(table, at, by, clause)
    elif rule.action is Recovery.SETTLE_THEN_SHUT and table.shut_after is None:
        follows = consequences.witnessed(at, by, clause, rule.witness, "interrupted")
    elif rule.action is Recovery.LOCK_AND_REFER and not _locked(table):
        ruled = table.irregularities.ruling_for(Irregularity.OTHER, table.phase, table.settings)
        follows = consequences.referred(
            table, at, by, clause, subject=Subject.INTERRUPTION, number=table.current.number,
            to=ruled.to or table.ranks.second, holds=True, detail=f"stopped when {phase}",
        )  # fmt: skip
    return follows if isinstance(follows, Refusal) else (stopped, *follows)


def _locked(table: Table) -> bool:
    return any(
        referral.holds and referral.decided_by is None and referral.subject is Subject.INTERRUPTION
        for referral in table.referrals.values()
    )


def declare(table: Table, command: messages.Declare) -> Events | Refusal:
    """The Dealer and a supervisor declare whether a die was seen, and what the rules order follows."""
    dealer = table.ranks.ladder[0].id
    refusal = may_act(table, command.by, dealer, DECLARATION)
    refusal = refusal or two_people(table, command.by, command.second, clause=DECLARATION)
    if refusal:
        return refusal
    if Hold.DECLARATION not in table.holds:
        return refused(Reason.OUT_OF_ORDER, DECLARATION, "no stop requires a declaration")
    if _was_seen(table) and command.declared is Declared.UNSEEN:
        message = "two people have declared that a die was seen, got unseen"
        return refused(Reason.DIFFERENT_CONTENT, DECLARATION, message)
    assert command.second is not None
    if table.practice > 1 and table.book.record is not None:
        seen = command.declared is Declared.SEEN
        nothing_else = messages.DeclareUnrecorded(
            at=command.at, by=command.by, seen=seen, early=seen and table.phase.bets_open,
            second=command.second,
        )  # fmt: skip
        return _declared(table, nothing_else)
    rule = table.procedure.recovery(table.phase, command.declared)
    declared = messages.SightDeclared(
        at=command.at, by=command.by, clause=rule.clause, declared=command.declared, second=command.second
    )
    follows = _follows(table, command.at, command.by, rule, phase=table.phase, second=command.second)
    return follows if isinstance(follows, Refusal) else (declared, *follows)


def declare_unrecorded(table: Table, command: messages.DeclareUnrecorded) -> Events | Refusal:
    """The Dealer and a supervisor declare what happened while nothing was recorded."""
    dealer = table.ranks.ladder[0].id
    refusal = may_act(table, command.by, dealer, DECLARATION)
    refusal = refusal or two_people(table, command.by, command.second, clause=DECLARATION)
    if refusal:
        return refusal
    if Hold.DECLARATION not in table.holds or not _asks_what_happened(table):
        return refused(Reason.OUT_OF_ORDER, DECLARATION, "no stop requires this declaration")
    if not 0 <= command.tumbles <= MOST_TUMBLES:
        message = f"expected 0 to {MOST_TUMBLES} tumbles, got {command.tumbles}"
        return refused(Reason.BAD_VALUE, "house:most", message)
    if command.faces and (bad := bad_faces(command.faces)):
        return bad
    if refusal := _bad_declaration(table, command):
        return refusal
    return _declared(table, command)


def _bad_declaration(table: Table, command: messages.DeclareUnrecorded) -> Refusal | None:
    """Why a declaration contradicts itself or the record."""
    round_, shoe = table.current, table.shoe
    if command.settled and not (command.faces or round_.result):
        message = "faces are missing: a round settled by hand needs what the dice or cards showed"
        return refused(Reason.BAD_VALUE, DECLARATION, message)
    if command.settled and round_.phase is Phase.PAID:
        return refused(Reason.DIFFERENT_CONTENT, DECLARATION, "the payment is recorded, got settled by hand")
    is_hidden = round_.phase.visibility is not Visibility.SHOWN
    if is_hidden and _was_seen(table) and not (command.seen or command.early or command.faces):
        message = "a die was recorded as seen, got unseen"
        return refused(Reason.DIFFERENT_CONTENT, DECLARATION, message)
    if command.faces and round_.settled is not None and Outcome.of(*command.faces) is not round_.result:
        message = (
            f"the round is settled on {round_.result}, got {shown(command.faces)}: declare without faces, "
            "then “Correct the result”"
        )
        return refused(Reason.DIFFERENT_CONTENT, DECLARATION, message)
    if command.faces and shoe.used:
        were = tuple(round_.result.faces) if round_.result is not None else ()
        is_dealt = Act.DEAL_CARDS in round_.acts
        if not shoe.can_hold(command.faces, instead_of=were) or (shoe.short and not is_dealt):
            message = f"the decks do not have the cards {shown(command.faces)}"
            return refused(Reason.BAD_VALUE, shoe.rule.clause, message)
    return None


def _declared(table: Table, command: messages.DeclareUnrecorded) -> Events | Refusal:
    assert command.second is not None
    round_, phase = table.current, _stands_at(table, command)
    called = command.called or not table.phase.bets_open
    seen = command.seen or command.early or _was_seen(table) or bool(command.faces)
    early = seen and (command.early or not called)
    rule = _rule_at(table, command, phase, seen=seen, early=early)
    declared = messages.UnrecordedDeclared(
        at=command.at, by=command.by, clause=rule.clause, round=round_.number, phase=phase, called=called,
        tumbles=command.tumbles, seen=seen, early=early, faces=command.faces, settled=command.settled,
        second=command.second,
    )  # fmt: skip
    follows = _follows(table, command.at, command.by, rule, phase=phase, second=command.second)
    if isinstance(follows, Refusal):
        return follows
    after = _found_after_payment(table, command, early=early) if command.settled else ()
    return (declared, *follows, *_option_over(table, command, rule, seen=seen and called), *after)


def _found_after_payment(table: Table, command: messages.DeclareUnrecorded, *, early: bool) -> Events:
    """What follows where a round that was settled by hand should not have been settled."""
    number, events = table.current.number, list[Event]()
    faults = {Irregularity.TOO_FEW_TUMBLES: _too_few(table, command), Irregularity.EXPOSED_EARLY: early}
    for subject in (name for name, is_declared in faults.items() if is_declared):
        ruled = table.irregularities.ruling_for(subject, Phase.PAID, table.settings)
        at, by, clause = command.at, command.by, ruled.clause
        if ruled.ruling is Ruling.VOID:
            events.append(VoidDeferred(at=at, by=by, clause=clause, round=number, second=command.second))
        elif ruled.ruling is Ruling.REFER and not events:
            events += consequences.referred(
                table, at, by, clause, subject=subject, number=number, to=ruled.to or table.ranks.second,
                holds=False, detail="declared after the round was settled by hand",
            )  # fmt: skip
    return tuple(events)


def _option_over(
    table: Table, command: messages.DeclareUnrecorded, rule: RecoveryRule, *, seen: bool
) -> Events:
    """An option to withdraw that was open at the stop ends when a die was seen after the close."""
    over = seen and rule.action in (Recovery.CONTINUE, Recovery.CONCLUDE, Recovery.SETTLE_THEN_SHUT)
    if not over or Hold.WITHDRAWAL not in table.holds:
        return ()
    return (messages.WithdrawalClosed(at=command.at, by=command.by, clause=rule.clause, seen=True),)


def _rule_at(
    table: Table, command: messages.DeclareUnrecorded, phase: Phase, *, seen: bool, early: bool
) -> RecoveryRule:
    """What the rules order, with what was declared."""
    irregularities, settings = table.irregularities, table.settings
    declared = Declared.SEEN if seen else Declared.UNSEEN
    if table.phase.settlement_recorded:
        return table.procedure.recovery(table.phase, declared)
    if command.settled:
        # A table that must be shut after the settlement is shut however it was made.
        rule = table.procedure.recovery(Phase.ENTERED, declared)
        return rule if rule.action is Recovery.SETTLE_THEN_SHUT else table.procedure.recovery(Phase.SETTLED)
    if _too_few(table, command):
        ruled = irregularities.ruling_for(Irregularity.TOO_FEW_TUMBLES, table.phase, settings)
        if ruled.ruling is Ruling.VOID:
            return RecoveryRule(Recovery.VOID, ruled.clause)
        if phase.visibility is Visibility.SHOWN:
            unforeseen = irregularities.ruling_for(Irregularity.OTHER, table.phase, settings)
            return RecoveryRule(Recovery.LOCK_AND_REFER, unforeseen.clause)
    if early and irregularities.open_seen is not None:
        return RecoveryRule(Recovery.VOID, irregularities.open_seen)
    return table.procedure.recovery(phase, declared)


def _too_few(table: Table, command: messages.DeclareUnrecorded) -> bool:
    """Whether the dice were tumbled, and less often than the document orders."""
    if not command.tumbles or _activation(table) is not None:
        return False
    earlier = table.current.tumbles if table.equipment.tumbles_add_up(table.settings) else 0
    return earlier + command.tumbles < table.equipment.least_tumbles(table.settings)


def _activation(table: Table) -> Phase | None:
    """The phase after an automated shaker tossed the dice, where the table uses one."""
    steps = table.procedure.steps_from(Phase.CLOSED, table.settings)
    return next((step.end for step in steps if step.act is Act.ACTIVATE_SHAKER), None)


def _stands_at(table: Table, command: messages.DeclareUnrecorded) -> Phase:
    """The phase of the round, by what was recorded and what was declared."""
    phase = table.phase
    called = command.called or not phase.bets_open
    was_tossed = command.seen and _activation(table) is None  # dice of an automated shaker always lie in view
    tumbled = command.tumbles > 0 or was_tossed or phase.visibility is Visibility.CONCEALED
    if phase.settlement_recorded:
        stands = phase
    elif command.settled or (command.faces and called):
        stands = Phase.ENTERED
    elif phase.visibility is Visibility.SHOWN or (called and phase is Phase.DEAL_PRESSED):
        stands = phase
    elif tumbled:
        stands = (_activation(table) or Phase.CLOSED_TUMBLED) if called else Phase.OPEN_TUMBLED
    else:
        stands = Phase.CLOSED if called else Phase.OPEN
    known = [name.id for name in table.procedure.phases]
    return stands if stands in known else Phase.CLOSED if called else Phase.OPEN


def on_interrupted(table: Table, event: messages.Interrupted) -> None:
    if event.action is Recovery.DECLARE:
        table.holds[Hold.DECLARATION] = event.clause
    elif event.action is Recovery.SETTLE_THEN_SHUT and table.practice > 1:
        failure = ReportedIrregularity(
            Irregularity.EQUIPMENT_FAILURE, event.phase, Ruling.SETTLE_THEN_SHUT, event.clause
        )
        table.current.irregularities.append(failure)


def on_declared(table: Table, event: messages.SightDeclared) -> None:
    table.holds.pop(Hold.DECLARATION)
    round_ = table.current
    round_.seen = event.declared is Declared.SEEN
    if table.practice > 1 and round_.seen and round_.phase is Phase.CLOSED:
        round_.phase = Phase.CLOSED_TUMBLED  # only tumbled dice establish an outcome
        round_.acts.add(Act.TUMBLE)


def on_unrecorded(table: Table, event: messages.UnrecordedDeclared) -> None:
    """The round stands where record and declaration together put it."""
    table.holds.pop(Hold.DECLARATION)
    round_ = table.current
    if event.called:
        round_.acts.add(Act.CLOSE_BETS)
    if event.tumbles:
        round_.tumbles += event.tumbles
        round_.acts.add(Act.TUMBLE)
    if event.faces and round_.settled is None:
        outcome = Outcome.of(*event.faces)
        if table.shoe.used:
            if Act.DEAL_CARDS not in round_.acts:
                table.shoe.deal()
                round_.dealt, round_.shuffle = round_.dealt + DICE, table.shoe.shuffles
            if round_.result is not None:
                table.shoe.unshow(round_.result.faces)
            table.shoe.show(outcome.faces)
        uncovered = Act.DEAL_CARDS if table.shoe.used else Act.UNCOVER
        round_.acts |= {uncovered, Act.ENTER_RESULT}
        round_.result = outcome
    round_.phase, round_.seen = event.phase, event.seen
    if event.settled:
        round_.by_hand, table.holds[Hold.SETTLEMENT] = True, BY_HAND


DECIDERS: Final[Deciders] = {
    messages.DeclareUnrecorded: declare_unrecorded,
    messages.Recover: recover_now,
    messages.Declare: declare,
}

EFFECTS: Final[Effects] = {
    messages.UnrecordedDeclared: on_unrecorded,
    messages.Interrupted: on_interrupted,
    messages.SightDeclared: on_declared,
}

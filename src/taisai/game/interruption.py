"""A stop of the system, the declaration whether a die was seen, and the option to withdraw."""

from __future__ import annotations

from taisai.game import irregular, voiding
from taisai.game.authority import at_table, may_act, no_seat, refused, two_people
from taisai.game.commands import ChooseWithdrawal, CloseWithdrawal, Declare, Recover
from taisai.game.events import (
    Event,
    Interrupted,
    RoundConcluded,
    SightDeclared,
    WithdrawalChosen,
    WithdrawalClosed,
)
from taisai.game.laying import take_off
from taisai.game.refusals import Reason, Refusal
from taisai.game.table import Held, Table
from taisai.game.words import RECOVERY, Hold, Subject
from taisai.rules.clauses import Clause
from taisai.rules.irregularities import Ruled, Ruling
from taisai.rules.procedure import Declared, Recovery, RecoveryRule
from taisai.rules.round import Irregularity

Events = tuple[Event, ...]
DECLARATION = Clause("house:declaration")
GRACE = "fail_over_grace"


def recover_now(table: Table, command: Recover) -> Events | Refusal:
    """What the rules order after a stop, as far as it can be known without a declaration."""
    if command.by != RECOVERY:
        return refused(Reason.NOT_HIS_TO_DO, "house:recovery", "the system itself", command.by)
    if not table.open or _in_grace(table, command.stopped_for):
        return ()
    declared = Declared.SEEN if table.round is not None and table.round.seen else None
    rule = table.procedure.recovery(table.phase, declared)
    if table.held is not None and rule.action is not Recovery.VOID:
        return ()  # what the round waits for is still open
    return _follows(table, command.at, command.by, rule, None)


def _in_grace(table: Table, stopped_for: int | None) -> bool:
    return stopped_for is not None and stopped_for <= 1000 * int(table.settings.get(GRACE, "0"))


class _Stop:
    """A stop, in the form in which voids are ordered."""

    def __init__(self, at: int, by: str, second: str | None, clause: Clause) -> None:
        self.at, self.by, self.second = at, by, second
        self.ruled = Ruled(Ruling.VOID, clause)


def _follows(table: Table, at: int, by: str, rule: RecoveryRule, second: str | None) -> Events | Refusal:
    clause = rule.clause
    stopped = Interrupted(
        at=at, by=by, clause=clause, phase=table.phase, action=rule.action, witness=rule.witness
    )
    follows: Events | Refusal = ()
    if rule.action is Recovery.VOID:
        assert table.round is not None
        number = table.round.number
        follows = voiding.voided(table, _Stop(at, by, second, clause), number, number, by_itself=True)
    elif rule.action is Recovery.WITHDRAW_OPTION:
        follows = irregular.offered(table, at, by, clause)
    elif rule.action is Recovery.SETTLE_THEN_SHUT:
        follows = irregular.witnessed(at, by, clause, rule.witness, "interrupted")
    elif rule.action is Recovery.LOCK_AND_REFER:
        ruled = table.irregularities.ruled(Irregularity.OTHER, table.phase, table.settings)
        assert table.round is not None
        follows = irregular.referred(
            table, at, by, clause, subject=Subject.INTERRUPTION, number=table.round.number,
            to=ruled.to or table.ranks.second, holds=True, outside=clause.startswith("house:"),
            detail=f"stopped when {table.phase}",
        )  # fmt: skip
    return follows if isinstance(follows, Refusal) else (stopped, *follows)


def declare(table: Table, command: Declare) -> Events | Refusal:
    """Dealer and supervisor say whether a die was seen; the rules say what follows."""
    dealer = table.ranks.ladder[0].id
    wrong = may_act(table, command.by, dealer, DECLARATION)
    wrong = wrong or two_people(table, command.by, command.second, clause=DECLARATION)
    if wrong:
        return wrong
    if table.held is None or table.held.hold is not Hold.DECLARATION:
        return refused(Reason.OUT_OF_ORDER, DECLARATION, "a stop that asks for a declaration", "none")
    assert command.second is not None
    rule = table.procedure.recovery(table.phase, command.declared)
    declared = SightDeclared(
        at=command.at, by=command.by, clause=rule.clause, declared=command.declared, second=command.second
    )
    follows = _follows(table, command.at, command.by, rule, command.second)
    return follows if isinstance(follows, Refusal) else (declared, *follows)


# The option to withdraw


def choose(table: Table, command: ChooseWithdrawal) -> Events | Refusal:
    """A player withdraws all of his bets, or none."""
    seat = table.seats.get(command.seat)
    if seat is None or not seat.taken:
        return no_seat(table, command.seat)
    wrong = at_table(table, command.by) if command.by != seat.terminal else None
    if wrong:
        return wrong
    if table.held is None or table.held.hold is not Hold.WITHDRAWAL or table.round is None:
        clause = _late_withdrawal(table)
        return refused(Reason.OUT_OF_ORDER, clause, "an open option to withdraw", "none")
    chosen = table.round.choices.get(seat.name)
    if chosen == command.withdraw:
        return ()
    if chosen or seat.name not in table.round.seats():
        got = "bets that are withdrawn" if chosen else "none"
        return refused(Reason.UNKNOWN_BET, table.held.clause, f"bets of seat {seat.name} on the layout", got)
    return (
        WithdrawalChosen(
            at=command.at, by=command.by, clause=table.held.clause, seat=seat.name, withdraw=command.withdraw
        ),
    )


def _late_withdrawal(table: Table) -> Clause:
    return table.irregularities.ruled(Irregularity.LATE_WITHDRAWAL, table.phase, table.settings).clause


def close_withdrawal(table: Table, command: CloseWithdrawal) -> Events | Refusal:
    """The Dealer closes the option; where all withdrew, the round ends without a result."""
    held = table.held
    clause = held.clause if held else Clause("house:order")
    wrong = may_act(table, command.by, table.ranks.ladder[0].id, clause)
    if wrong:
        return wrong
    if held is None or held.hold is not Hold.WITHDRAWAL or table.round is None:
        return refused(Reason.OUT_OF_ORDER, clause, "an open option to withdraw", "none")
    made: list[Event] = [WithdrawalClosed(at=command.at, by=command.by, clause=clause)]
    if not table.round.staked:
        ended = RoundConcluded(at=command.at, by=command.by, clause=clause, round=table.round.number)
        made.append(ended)
    return tuple(made)


# Evolving


def on_interrupted(table: Table, event: Interrupted) -> None:
    """The round waits for a declaration where it asks for one."""
    if event.action is Recovery.DECLARE:
        table.held = Held(Hold.DECLARATION, event.clause)


def on_declared(table: Table, event: SightDeclared) -> None:
    """It is known whether a die was seen."""
    assert table.round is not None
    table.held = None
    table.round.seen = event.declared is Declared.SEEN


def on_chosen(table: Table, event: WithdrawalChosen) -> None:
    """All bets of a player go back, or stay."""
    round_ = table.round
    assert round_ is not None
    round_.choices[event.seat] = event.withdraw
    if event.withdraw:
        for bet in round_.live():
            if bet.seat == event.seat:
                take_off(table, round_, bet, event.clause)


def on_withdrawal_closed(table: Table, _event: WithdrawalClosed) -> None:
    """The round goes on where it stood."""
    table.held = None

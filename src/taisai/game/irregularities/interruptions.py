"""A stop of the system, and the declaration whether a die was seen."""

from __future__ import annotations

from typing import Final

from taisai.game.checks import may_act, refused, two_people
from taisai.game.irregularities import rulings, withdrawals
from taisai.game.irregularities.messages import Declare, Interrupted, Recover, SightDeclared
from taisai.game.messages import Event
from taisai.game.refusals import Reason, Refusal
from taisai.game.rounds import corrections
from taisai.game.table import Deciders, Effects, Table
from taisai.game.vocabulary import RECOVERY, Hold, Subject
from taisai.rules.clauses import Clause
from taisai.rules.irregularities import Ruling, RulingCell
from taisai.rules.procedure import Declared, Recovery, RecoveryRule
from taisai.rules.vocabulary import Irregularity

Events = tuple[Event, ...]
DECLARATION = Clause("house:declaration")
GRACE = "fail_over_grace"


def recover_now(table: Table, command: Recover) -> Events | Refusal:
    """What the rules order after a stop, as far as it can be known without a declaration."""
    if command.by != RECOVERY:
        return refused(Reason.NOT_PERMITTED, "house:recovery", "the system itself", command.by)
    if not table.open or _in_grace(table, command.stopped_for):
        return ()
    declared = Declared.SEEN if table.round is not None and table.round.seen else None
    rule = table.procedure.recovery(table.phase, declared)
    return _follows(table, command.at, command.by, rule, None)


def _in_grace(table: Table, stopped_for: int | None) -> bool:
    return stopped_for is not None and stopped_for <= 1000 * int(table.settings.get(GRACE, "0"))


class _Stop:
    """A stop, in the form in which voids are ordered."""

    def __init__(self, at: int, by: str, second: str | None, clause: Clause) -> None:
        self.at, self.by, self.second = at, by, second
        self.ruled = RulingCell(Ruling.VOID, clause)


def _follows(table: Table, at: int, by: str, rule: RecoveryRule, second: str | None) -> Events | Refusal:
    clause = rule.clause
    stopped = Interrupted(
        at=at, by=by, clause=clause, phase=table.phase, action=rule.action, witness=rule.witness
    )
    follows: Events | Refusal = ()  # where what follows stands already, as after a second stop, nothing more
    if rule.action is Recovery.VOID:
        assert table.round is not None
        number = table.round.number
        follows = corrections.voided(table, _Stop(at, by, second, clause), number, number, by_itself=True)
    elif rule.action is Recovery.WITHDRAW_OPTION:
        follows = withdrawals.offered(table, at, by, clause)
    elif rule.action is Recovery.SETTLE_THEN_SHUT and table.shut_after is None:
        follows = rulings.witnessed(at, by, clause, rule.witness, "interrupted")
    elif rule.action is Recovery.LOCK_AND_REFER and not _locked(table):
        ruled = table.irregularities.ruling_for(Irregularity.OTHER, table.phase, table.settings)
        assert table.round is not None
        follows = rulings.referred(
            table, at, by, clause, subject=Subject.INTERRUPTION, number=table.round.number,
            to=ruled.to or table.ranks.second, holds=True, outside=clause.startswith("house:"),
            detail=f"stopped when {table.phase}",
        )  # fmt: skip
    return follows if isinstance(follows, Refusal) else (stopped, *follows)


def _locked(table: Table) -> bool:
    return any(
        one.holds and one.decided_by is None and one.subject is Subject.INTERRUPTION
        for one in table.referrals.values()
    )


def declare(table: Table, command: Declare) -> Events | Refusal:
    """Dealer and supervisor say whether a die was seen; the rules say what follows."""
    dealer = table.ranks.ladder[0].id
    wrong = may_act(table, command.by, dealer, DECLARATION)
    wrong = wrong or two_people(table, command.by, command.second, clause=DECLARATION)
    if wrong:
        return wrong
    if Hold.DECLARATION not in table.holds:
        return refused(Reason.OUT_OF_ORDER, DECLARATION, "a stop that asks for a declaration", "none")
    if table.round is not None and table.round.seen and command.declared is Declared.UNSEEN:
        return refused(
            Reason.DIFFERENT_CONTENT, DECLARATION, "what two people declared before: seen", "unseen"
        )
    assert command.second is not None
    rule = table.procedure.recovery(table.phase, command.declared)
    declared = SightDeclared(
        at=command.at, by=command.by, clause=rule.clause, declared=command.declared, second=command.second
    )
    follows = _follows(table, command.at, command.by, rule, command.second)
    return follows if isinstance(follows, Refusal) else (declared, *follows)


# Evolving


def on_interrupted(table: Table, event: Interrupted) -> None:
    """The round waits for a declaration where it asks for one."""
    if event.action is Recovery.DECLARE:
        table.holds[Hold.DECLARATION] = event.clause


def on_declared(table: Table, event: SightDeclared) -> None:
    """It is known whether a die was seen."""
    assert table.round is not None
    table.holds.pop(Hold.DECLARATION)
    table.round.seen = event.declared is Declared.SEEN


DECIDERS: Final[Deciders] = {
    Recover: recover_now,
    Declare: declare,
}

EFFECTS: Final[Effects] = {
    Interrupted: on_interrupted,
    SightDeclared: on_declared,
}

"""The option to withdraw all bets: each player's choice, and its end."""

from __future__ import annotations

from typing import Final

from taisai.game.betting.stakes import take_off
from taisai.game.checks import at_table, listed, may_act, no_seat, refused
from taisai.game.irregularities import messages
from taisai.game.messages import Event, Events
from taisai.game.refusals import Reason, Refusal
from taisai.game.rounds.corrections import questions_ended, shut_now
from taisai.game.rounds.messages import RoundConcluded
from taisai.game.table import Deciders, Effects, Table
from taisai.game.vocabulary import Hold
from taisai.rules.clauses import Clause
from taisai.rules.irregularities import Ruling
from taisai.rules.vocabulary import Irregularity


def choose(table: Table, command: messages.ChooseWithdrawal) -> Events | Refusal:
    """A player withdraws all of their bets, or none."""
    seat = table.seats.get(command.seat)
    if seat is None or not seat.taken:
        return no_seat(table, command.seat)
    refusal = at_table(table, command.by) if command.by != seat.terminal else None
    if refusal:
        return refusal
    clause = table.holds.get(Hold.WITHDRAWAL)
    if clause is None or table.round is None:
        return refused(Reason.OUT_OF_ORDER, _no_option(table), "no option to withdraw is open")
    chosen = table.round.choices.get(seat.name)
    if chosen == command.withdraw:
        return ()
    if refusal := _comes_first(table):
        return refusal
    if chosen or seat.name not in table.round.seats():
        problem = "has withdrawn its bets already" if chosen else "has no bets in this round"
        return refused(Reason.UNKNOWN_BET, clause, f"seat {seat.name} {problem}")
    return (
        messages.WithdrawalChosen(
            at=command.at, by=command.by, clause=clause, seat=seat.name, withdraw=command.withdraw
        ),
    )


def _comes_first(table: Table) -> Refusal | None:
    """Why the option waits: whether a die was seen, which would end it, is not settled yet."""
    if table.practice == 1:
        return None
    says_seen = any(report.seen and report.round == table.current.number for report in table.reports.values())
    for hold, waits in ((Hold.DECLARATION, True), (Hold.CONFIRMATION, says_seen)):
        if waits and hold in table.holds:
            message = f"the round waits for a {hold}, which comes first"
            return refused(Reason.ON_HOLD, table.holds[hold], message)
    if table.current.seen and (clause := table.irregularities.closed_seen) is not None:
        return refused(Reason.ON_HOLD, clause, "a report that a die was seen is not decided yet")
    return None


def _no_option(table: Table) -> Clause:
    """The clause by which bets stay, if the document has one for this phase."""
    ruled = table.irregularities.ruling_for(Irregularity.LATE_WITHDRAWAL, table.phase, table.settings)
    return ruled.clause if ruled.ruling is Ruling.STAYS_LIVE else Clause("house:order")


def close_withdrawal(table: Table, command: messages.CloseWithdrawal) -> Events | Refusal:
    """The Dealer closes the option; if all players withdrew, the round ends without a result."""
    clause = table.holds.get(Hold.WITHDRAWAL, Clause("house:order"))
    if refusal := may_act(table, command.by, table.ranks.ladder[0].id, clause):
        return refusal
    if Hold.WITHDRAWAL not in table.holds or table.round is None:
        return refused(Reason.OUT_OF_ORDER, clause, "no option to withdraw is open")
    refusal = _comes_first(table) or (_not_asked(table, command, clause) if table.practice > 1 else None)
    if refusal:
        return refusal
    stay = table.practice > 1 and command.others_stay
    events: list[Event] = [
        messages.WithdrawalClosed(at=command.at, by=command.by, clause=clause, others_stay=stay)
    ]
    if not table.round.staked:
        ended = RoundConcluded(at=command.at, by=command.by, clause=clause, round=table.round.number)
        over = questions_ended(table, command.at, command.by, clause, table.round.number)
        events += [ended, *over, *shut_now(table, command.at, command.by)]
    return tuple(events)


def _not_asked(table: Table, command: messages.CloseWithdrawal, clause: Clause) -> Refusal | None:
    """Why the option stays open: some players were not asked."""
    unasked = [seat for seat in table.current.seats() if seat not in table.current.choices]
    if not unasked or command.others_stay:
        return None
    message = (
        f"no choice is recorded for seats {listed(unasked)}: “Record a player's choice to withdraw” first, "
        "or say that all others were asked and stay"
    )
    return refused(Reason.UNMET_NEED, clause, message)


def on_offered(table: Table, event: messages.WithdrawalOffered) -> None:
    table.current.choices = {}
    table.holds[Hold.WITHDRAWAL] = event.clause


def on_chosen(table: Table, event: messages.WithdrawalChosen) -> None:
    """All bets of a player go back, or stay."""
    round_ = table.current
    round_.choices[event.seat] = event.withdraw
    if event.withdraw:
        if table.practice > 1:
            round_.withdrawn.add(table.seats[event.seat].memory_key)
        for bet in round_.live():
            if bet.seat == event.seat:
                take_off(table, round_, bet, event.clause)


def on_withdrawal_closed(table: Table, _event: messages.WithdrawalClosed) -> None:
    table.holds.pop(Hold.WITHDRAWAL)


DECIDERS: Final[Deciders] = {
    messages.ChooseWithdrawal: choose,
    messages.CloseWithdrawal: close_withdrawal,
}

EFFECTS: Final[Effects] = {
    messages.WithdrawalOffered: on_offered,
    messages.WithdrawalChosen: on_chosen,
    messages.WithdrawalClosed: on_withdrawal_closed,
}

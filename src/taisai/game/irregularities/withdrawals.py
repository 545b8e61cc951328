"""The option to withdraw: each player takes all of his bets back, or none, until the Dealer closes it."""

from __future__ import annotations

from typing import Final

from taisai.game.betting.stakes import take_off
from taisai.game.checks import at_table, may_act, no_seat, refused
from taisai.game.irregularities.messages import (
    ChooseWithdrawal,
    CloseWithdrawal,
    WithdrawalChosen,
    WithdrawalClosed,
    WithdrawalOffered,
)
from taisai.game.messages import Event
from taisai.game.refusals import Reason, Refusal
from taisai.game.rounds.corrections import shut_now
from taisai.game.rounds.messages import RoundConcluded
from taisai.game.table import Deciders, Effects, Table
from taisai.game.vocabulary import Hold
from taisai.rules.clauses import Clause
from taisai.rules.irregularities import Ruling
from taisai.rules.vocabulary import Irregularity

Events = tuple[Event, ...]


def offered(table: Table, at: int, by: str, clause: Clause) -> Events:
    """The option, where there is something to withdraw."""
    assert table.round is not None
    if not table.round.staked or Hold.WITHDRAWAL in table.holds:
        return ()
    return (WithdrawalOffered(at=at, by=by, clause=clause, round=table.round.number),)


def choose(table: Table, command: ChooseWithdrawal) -> Events | Refusal:
    """A player withdraws all of his bets, or none."""
    seat = table.seats.get(command.seat)
    if seat is None or not seat.taken:
        return no_seat(table, command.seat)
    wrong = at_table(table, command.by) if command.by != seat.terminal else None
    if wrong:
        return wrong
    clause = table.holds.get(Hold.WITHDRAWAL)
    if clause is None or table.round is None:
        return refused(Reason.OUT_OF_ORDER, _no_option(table), "an open option to withdraw", "none")
    chosen = table.round.choices.get(seat.name)
    if chosen == command.withdraw:
        return ()
    if chosen or seat.name not in table.round.seats():
        got = "bets that are withdrawn" if chosen else "none"
        return refused(Reason.UNKNOWN_BET, clause, f"bets of seat {seat.name} on the layout", got)
    return (
        WithdrawalChosen(
            at=command.at, by=command.by, clause=clause, seat=seat.name, withdraw=command.withdraw
        ),
    )


def _no_option(table: Table) -> Clause:
    """The clause by which bets stay, where the document has one in this phase."""
    ruled = table.irregularities.ruling_for(Irregularity.LATE_WITHDRAWAL, table.phase, table.settings)
    return ruled.clause if ruled.ruling is Ruling.STAYS_LIVE else Clause("house:order")


def close_withdrawal(table: Table, command: CloseWithdrawal) -> Events | Refusal:
    """The Dealer closes the option; where all withdrew, the round ends without a result."""
    clause = table.holds.get(Hold.WITHDRAWAL, Clause("house:order"))
    wrong = may_act(table, command.by, table.ranks.ladder[0].id, clause)
    if wrong:
        return wrong
    if Hold.WITHDRAWAL not in table.holds or table.round is None:
        return refused(Reason.OUT_OF_ORDER, clause, "an open option to withdraw", "none")
    made: list[Event] = [WithdrawalClosed(at=command.at, by=command.by, clause=clause)]
    if not table.round.staked:
        ended = RoundConcluded(at=command.at, by=command.by, clause=clause, round=table.round.number)
        made += [ended, *shut_now(table, command.at, command.by)]
    return tuple(made)


# Evolving


def on_offered(table: Table, event: WithdrawalOffered) -> None:
    """The round waits for the players."""
    assert table.round is not None
    table.round.choices = {}
    table.holds[Hold.WITHDRAWAL] = event.clause


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
    table.holds.pop(Hold.WITHDRAWAL)


DECIDERS: Final[Deciders] = {
    ChooseWithdrawal: choose,
    CloseWithdrawal: close_withdrawal,
}

EFFECTS: Final[Effects] = {
    WithdrawalOffered: on_offered,
    WithdrawalChosen: on_chosen,
    WithdrawalClosed: on_withdrawal_closed,
}

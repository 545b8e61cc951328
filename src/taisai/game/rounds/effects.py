"""How the events of a round change the table: its steps, its settlement, and corrections of it."""

from __future__ import annotations

from array import array
from collections.abc import Callable
from typing import Any, Final

from taisai.game.betting.stakes import hand_back, note_seated, purse_of
from taisai.game.money import packed_sums
from taisai.game.money.ledger import Account, LedgerEntry, UnbalancedError
from taisai.game.money.packed_sums import Column
from taisai.game.rounds import messages
from taisai.game.rounds.corrections import adjust, adjustments, after_restaking, claim_excess, owed, unpaid
from taisai.game.rounds.round import Round, RoundSettlement
from taisai.game.rounds.settlement import (
    _CASH,
    _settlement,
    due_again,
    kept_out,
    kept_out_by,
    remember_tolerance,
    stakes_by_purse,
    tray_needs,
)
from taisai.game.table import MOST_TOLERATED, Effects, Table
from taisai.rules.clauses import Clause
from taisai.rules.outcomes import DICE, Outcome
from taisai.rules.settlement import GREATEST_SUM
from taisai.rules.vocabulary import Act, Phase


def _check(what: str, expected: object, got: object) -> None:
    if expected != got:
        raise UnbalancedError(f"expected the {what} {expected} that the record carries, got {got}")


def _nothing(table: Table) -> Column:
    return array("q", bytes(packed_sums.BYTES * len(table.purses)))


def on_opened(table: Table, event: messages.BetsOpened) -> None:
    table.round = Round(event.round, event.phase, event.day, event.terms, event.at)
    table.round.acts.add(Act.OPEN_BETS)
    for seat in table.seats.values() if table.book.record is not None else ():
        if seat.taken:
            note_seated(table, seat)


def on_reopened(table: Table, event: messages.BetsReopened) -> None:
    """The bets stay, everything else begins again."""
    round_ = table.current
    round_.phase, round_.tumbles, round_.result = event.phase, 0, None
    round_.acts = {Act.OPEN_BETS}
    round_.seen = False
    round_.shakes += 1
    round_.stay, round_.stay_by = set(round_.bets), event.clause


def _goes_on(act: Act) -> Callable[[Table, Any], None]:
    """The effect of an act that only brings the round to its next phase."""

    def effect(table: Table, event: Any) -> None:
        table.current.phase = event.phase
        table.current.acts.add(act)

    return effect


def on_tumbled(table: Table, event: messages.DiceTumbled) -> None:
    round_ = table.current
    round_.tumbles += event.tumbles
    round_.phase = event.phase
    round_.acts.add(Act.TUMBLE)
    _shaken_afresh(round_)


def on_activated(table: Table, event: messages.ShakerActivated) -> None:
    """The automated shaker tosses the dice."""
    table.current.phase = event.phase
    table.current.acts.add(Act.ACTIVATE_SHAKER)
    _shaken_afresh(table.current)


def _shaken_afresh(round_: Round) -> None:
    """A No Roll, and what it decided, was about the dice as they lay before this shake."""
    round_.forget_no_roll()


def on_dealt(table: Table, event: messages.CardsDealt) -> None:
    """Three cards are out of the shoe."""
    table.shoe.deal()
    round_ = table.current
    round_.dealt += DICE
    round_.shuffle = table.shoe.shuffles
    round_.phase = event.phase
    round_.acts.add(Act.DEAL_CARDS)


def on_entered(table: Table, event: messages.ResultEntered) -> None:
    round_ = table.current
    round_.phase = event.phase
    round_.result = Outcome.of(*event.faces)
    round_.acts.add(Act.ENTER_RESULT)
    if table.shoe.used:
        table.shoe.show(event.faces)


def on_corrected(table: Table, event: messages.ResultCorrected) -> None:
    """The result is what the dice or cards show."""
    round_ = table.current
    if table.shoe.used and round_.result is not None:
        table.shoe.unshow(round_.result.faces)
        table.shoe.show(event.faces)
    round_.result = Outcome.of(*event.faces)


def on_lights_cleared(_table: Table, _event: messages.LightsCleared) -> None:
    """The round ends with it."""


def on_concluded(table: Table, _event: messages.RoundConcluded) -> None:
    close_round(table)


def on_settled(table: Table, event: messages.RoundSettled) -> None:
    """What was at risk is the house's, or payable."""
    round_ = table.current
    for name in round_.seated if _CASH in table.means else ():
        purse_of(table, table.seats[name], _CASH)  # a correction of the record may find a chip of theirs
    kept, tolerated = kept_out(table, round_) if round_.outside else ({}, set())
    outcome = Outcome.of(*event.faces)
    settled = _settlement(table, round_, kept, outcome)
    _check("totals", (event.staked, event.collected, event.won, event.stakes_back), settled[:4])
    round_.kept_out, round_.tolerated = kept, tolerated
    for name in sorted(tolerated):
        table.tolerated[name] = table.tolerated.get(name, 0) + 1
    while len(table.tolerated) > MOST_TOLERATED:
        del table.tolerated[next(iter(table.tolerated))]
    clause = event.clause
    table.ledger.post(
        LedgerEntry(Account.AT_RISK, -settled.staked, clause),
        LedgerEntry(Account.HOUSE_WON, settled.collected, clause),
        LedgerEntry(Account.HOUSE_LOST, settled.won, clause),
        LedgerEntry(Account.PAYABLE, settled.won + settled.stakes_back - sum(kept.values()), clause),
        *(LedgerEntry(Account.PAYABLE, sum_, by) for by, sum_ in kept_out_by(table, round_, kept).items()),
    )
    # Players with bets are still on their seats: no one leaves with bets in the current round.
    table.nets[:] = packed_sums.changed(table.nets, settled.by_purse, table.at_risk)
    table.at_risk[:] = _nothing(table)
    table.payable[:] = settled.by_purse
    round_.settled, round_.result, round_.phase = settled, outcome, event.phase


def _count(
    table: Table, round_: Round, stakes: dict[int, int], settled: RoundSettlement, *, sign: int = 1
) -> None:
    """Counts another settlement for the players who still sit there, or one no longer; who left has left."""
    for index, stake in stakes.items():
        purse = table.purses[index]
        got = settled.by_purse[index] if index < len(settled.by_purse) else 0
        if round_.sessions[purse.seat.name] == purse.seat.session:
            purse.net += sign * (got - stake)


def on_paid(table: Table, event: messages.WinnersPaid) -> None:
    """What was payable is the players' again: as credits, as colour chips, or out of the tray."""
    round_ = table.current
    from_tray, payable = tray_needs(table), table.payable
    paid = packed_sums.weighed([(payable, 1)])
    _check("sum paid", event.paid, packed_sums.total(paid, len(payable)))
    if from_tray:
        for purse in table.purses:
            if purse.means is _CASH:
                payable[purse.index] = 0
        paid = packed_sums.weighed([(payable, 1)])
    table.credits[:] = packed_sums.unpacked(packed_sums.weighed([(table.credits, 1)]) + paid, len(payable))
    payable[:] = _nothing(table)
    table.ledger.move(Account.PAYABLE, Account.CREDITS, event.paid - from_tray, event.clause)
    table.ledger.withdraw(Account.CHIPS, Account.PAYABLE, from_tray, event.clause)
    if table.ledger.balances[Account.CREDITS] > GREATEST_SUM:  # else no purse can be beyond it
        claim_excess(table, round_, event.clause)
    round_.phase = event.phase


def on_voided(table: Table, event: messages.RoundVoided) -> None:
    """Every stake goes back; a settlement is undone."""
    round_ = table.to_change(event.round)
    clause, stakes = table.irregularities.void, stakes_by_purse(table, round_)
    if round_.settled is not None:
        _count(table, round_, stakes, round_.settled, sign=-1)
    if round_.settled is None:
        for index, stake in stakes.items():
            table.at_risk[index] -= stake
            hand_back(table, table.purses[index], Account.AT_RISK, stake, clause)
    elif round_ is table.round and round_.phase is not Phase.PAID:
        _unsettle(table, round_, clause)
    else:
        changes = adjustments(table, round_, stakes)
        _check("claims", (event.owed_to_players, event.owed_by_players), owed(changes))
        entries = [
            LedgerEntry(Account.HOUSE_WON, -round_.settled.collected, clause),
            LedgerEntry(Account.HOUSE_LOST, -round_.settled.won, clause),
        ]
        adjust(table, round_, changes, entries, clause)
    _check("stakes", event.staked, round_.staked)
    forget_tolerance(table, round_)
    for report in [held for held in table.reports.values() if (held.through or held.round) == event.round]:
        del table.reports[report.id]  # the round is void: there is nothing left to confirm
    round_.settled, round_.result, round_.voided = None, None, True
    if round_ is table.round:
        if table.practice > 1:
            round_.voided_in = round_.phase
        close_round(table)


def _unsettle(table: Table, round_: Round, clause: Clause) -> None:
    """A settlement that is not yet paid: what was payable is a stake again, and goes back."""
    assert round_.settled is not None
    _take_from_payable(table, round_.settled, clause)
    for index, stake in stakes_by_purse(table, round_).items():
        hand_back(table, table.purses[index], Account.AT_RISK, stake, clause)


def _take_from_payable(table: Table, settled: RoundSettlement, clause: Clause) -> None:
    table.ledger.post(
        LedgerEntry(Account.PAYABLE, -(settled.won + settled.stakes_back), clause),
        LedgerEntry(Account.HOUSE_WON, -settled.collected, clause),
        LedgerEntry(Account.HOUSE_LOST, -settled.won, clause),
        LedgerEntry(Account.AT_RISK, settled.staked, clause),
    )
    table.payable[:] = _nothing(table)


def forget_tolerance(table: Table, round_: Round) -> None:
    """A bet that goes back was not settled after all, so it does not count against its player."""
    was, round_.tolerated = round_.tolerated, set()
    if table.practice > 1:
        remember_tolerance(table, round_, was)
        return
    for name in was if round_.day == table.day else ():
        if table.tolerated.get(name, 0):
            table.tolerated[name] -= 1


def on_undone(table: Table, event: messages.SettlementUndone) -> None:
    """A settlement that is not yet paid is undone: the stakes are at risk again."""
    round_ = table.current
    assert round_.settled is not None
    stakes = stakes_by_purse(table, round_)
    _count(table, round_, stakes, round_.settled, sign=-1)
    _take_from_payable(table, round_.settled, event.clause)
    for index, stake in stakes.items():
        table.at_risk[index] = stake
    forget_tolerance(table, round_)
    round_.settled, round_.phase, round_.kept_out = None, event.phase, {}


def on_resettled(table: Table, event: messages.RoundResettled) -> None:
    """The difference between two settlements is booked; later rounds are not touched."""
    round_ = table.to_change(event.round)
    assert round_.settled is not None
    outcome = Outcome.of(*event.faces)
    again, due = due_again(table, round_, outcome)
    _check("totals", (event.staked, event.collected, event.won, event.stakes_back), again[:4])
    clause, was = event.clause, round_.settled
    entries = [
        LedgerEntry(Account.HOUSE_WON, again.collected - was.collected, clause),
        LedgerEntry(Account.HOUSE_LOST, again.won - was.won, clause),
    ]
    if unpaid(table, round_):
        difference = again.won + again.stakes_back - was.won - was.stakes_back
        entries.append(LedgerEntry(Account.PAYABLE, difference, clause))
        table.ledger.post(*entries, *_restake(table, round_, clause))
        table.payable[:] = again.by_purse
    else:
        changes = adjustments(table, round_, after_restaking(round_, due))
        _check("claims", (event.owed_to_players, event.owed_by_players), owed(changes))
        collected = sum(round_.passed_on.values())  # more or less of it than was recorded
        entries.append(LedgerEntry(Account.CHIPS, collected, clause))
        adjust(table, round_, changes, entries, clause)
    if round_.shuffle and round_.shuffle == table.shoe.shuffles:
        assert round_.result is not None
        table.shoe.unshow(round_.result.faces)
        table.shoe.show(outcome.faces)
    stakes, restaked = stakes_by_purse(table, round_), round_.restaked
    before = {index: stakes.get(index, 0) - restaked.get(index, 0) for index in {**stakes, **restaked}}
    _count(table, round_, before, was, sign=-1)
    _count(table, round_, stakes, again)
    round_.settled, round_.result, round_.restaked = again, outcome, {}
    round_.passed_on = {}


def _restake(table: Table, round_: Round, clause: Clause) -> list[LedgerEntry]:
    """Stakes that a correction of the record adds or removes, before the payment."""
    chips = credits_ = 0
    for index, change in round_.restaked.items():
        purse = table.purses[index]
        if purse.means is _CASH:
            chips += change
        else:
            purse.credits -= change
            credits_ += change
    return [LedgerEntry(Account.CHIPS, chips, clause), LedgerEntry(Account.CREDITS, -credits_, clause)]


def on_void_deferred(table: Table, event: messages.VoidDeferred) -> None:
    table.current.void_by = event.clause


def close_round(table: Table) -> None:
    """The current round is over and joins the others; its columns can be made again from its bets."""
    round_ = table.current
    table.shoe.end_round(table.settings, dealt=round_.dealt)
    round_.phase = Phase.BETWEEN
    round_.columns, round_.totals = {}, {}
    round_.returned = round_.bound = 0
    table.rounds.append(round_)
    table.round = None
    table.holds.clear()
    for name, referral in table.referrals.items():
        if referral.holds:  # the question stays open, but there is no round left to wait for it
            table.referrals[name] = referral._replace(holds=False)


EFFECTS: Final[Effects] = {
    messages.BetsOpened: on_opened,
    messages.BetsReopened: on_reopened,
    messages.BetsClosed: _goes_on(Act.CLOSE_BETS),
    messages.DiceTumbled: on_tumbled,
    messages.ShakerActivated: on_activated,
    messages.DealPressed: _goes_on(Act.PRESS_DEAL),
    messages.DiceUncovered: _goes_on(Act.UNCOVER),
    messages.CardsDealt: on_dealt,
    messages.ResultEntered: on_entered,
    messages.ResultCorrected: on_corrected,
    messages.RoundSettled: on_settled,
    messages.LosersCollected: _goes_on(Act.COLLECT),
    messages.WinnersPaid: on_paid,
    messages.LightsCleared: on_lights_cleared,
    messages.RoundConcluded: on_concluded,
    messages.RoundVoided: on_voided,
    messages.VoidDeferred: on_void_deferred,
    messages.SettlementUndone: on_undone,
    messages.RoundResettled: on_resettled,
}

"""How a correction of the record changes a round: its bets, what is at risk, and what the limits keep out."""

from __future__ import annotations

from copy import copy
from typing import Final, NamedTuple

from taisai.game.betting.messages import BetRegistered, RecordCorrected, RecordedBet
from taisai.game.betting.stakes import hand_back, lay, purse_of
from taisai.game.money.ledger import Account
from taisai.game.rounds.round import Round
from taisai.game.rounds.settlement import columns_of, kept_out, remember_tolerance
from taisai.game.table import Effects, Purse, Table
from taisai.game.vocabulary import Means
from taisai.rules.clauses import Clause
from taisai.rules.equipment import LimitPolicy


class RecordEdit(NamedTuple):
    """A bet before and after a correction, and the part of it that becomes a bet of its own."""

    before: RecordedBet | None
    after: RecordedBet | None
    part: RecordedBet | None = None

    @property
    def raises(self) -> bool:
        """Whether more lies on an area after it."""
        was = self.before.stake if self.before is not None else 0
        return self.after is not None and self.after.stake > was

    def stakes(self) -> list[tuple[RecordedBet, int]]:
        """Each bet that it concerns, with the stake that goes (negative) or comes."""
        gone = [(self.before, -self.before.stake)] if self.before is not None else []
        return gone + [(bet, bet.stake) for bet in (self.after, self.part) if bet is not None]


def restaked_by_purse(table: Table, edit: RecordEdit) -> dict[int, int]:
    """Purse → by how much its stakes change."""
    changes: dict[int, int] = {}
    for bet, stake in edit.stakes():
        index = table.seats[bet.seat].purses[bet.means.purse].index
        changes[index] = changes.get(index, 0) + stake
    return {index: change for index, change in changes.items() if change}


def lost_cash(table: Table, round_: Round) -> dict[int, int]:
    """Purse → cash chips that lay on losing areas of a settled round, as far as the limits let them play."""
    lost: dict[int, int] = {}
    assert round_.result is not None
    for layout, rows in columns_of(table, round_).items():
        terms = table.in_force[round_.terms][layout]
        for row, column in enumerate(rows):
            if column is None or terms.returns[row][round_.result.index]:
                continue
            for purse in table.purses:
                if purse.means is Means.CASH_CHIPS and purse.index < len(column) and column[purse.index]:
                    kept = round_.kept_out.get((layout, row, purse.index), 0)
                    lost[purse.index] = lost.get(purse.index, 0) + column[purse.index] - kept
    return lost


def passed_on_by_purse(
    table: Table, edit: RecordEdit, before: dict[int, int], after: dict[int, int]
) -> dict[int, int]:
    """Purse → cash chips that nobody owes, because they were laid and collected as they lay.

    Another player's were theirs all along; a losing stake was collected as it was, whatever the record said.
    """
    seats = {bet.seat for bet in (edit.before, edit.after, edit.part) if bet is not None}
    if len(seats) == 1:
        changed = restaked_by_purse(table, edit)
        return {index: after.get(index, 0) - before.get(index, 0) for index in changed}
    changes: dict[int, int] = {}
    was = edit.before
    for bet in (edit.after, edit.part):
        if was is None or bet is None or bet.seat == was.seat or bet.means.purse is not Means.CASH_CHIPS:
            continue
        for seat, stake in ((was.seat, -bet.stake), (bet.seat, bet.stake)):
            index = table.seats[seat].purses[bet.means.purse].index
            changes[index] = changes.get(index, 0) + stake
    return changes


def restated(table: Table, round_: Round, event: RecordCorrected) -> Round:
    """A copy of the round with the corrected record; the round itself does not change."""
    trial = copy(round_)
    trial.bets, trial.gone = dict(round_.bets), set(round_.gone)
    trial.sessions, trial.laid_on = dict(round_.sessions), dict(round_.laid_on)
    edit = RecordEdit(event.before, event.after, event.part)
    trial.columns, trial.totals = {}, {}
    trial.staked += sum(stake for _, stake in edit.stakes())
    _rewrite(trial, event)
    if round_.settled is not None:
        _limit_again(table, trial)
        trial.restaked = restaked_by_purse(table, edit)
        trial.passed_on = passed_on_by_purse(table, edit, lost_cash(table, round_), lost_cash(table, trial))
    return trial


def _rewrite(round_: Round, event: RecordCorrected) -> None:
    """Changes the bets of a round, and nothing else."""
    edit = RecordEdit(event.before, event.after, event.part)
    for bet, stake in edit.stakes():
        if stake > 0:
            round_.sessions[bet.seat] = round_.seated[bet.seat].session
    if edit.before is not None and edit.after is None:
        round_.gone.add(edit.before.id)
    for corrected in (edit.after, edit.part):
        if corrected is None:
            continue
        known = round_.bets.get(corrected.id)
        if known is not None and known.area != corrected.area:
            round_.laid_on.setdefault(known.id, known.area)
        values = (corrected.seat, corrected.means, corrected.layout, corrected.area, corrected.stake)
        seat, means, layout, area, stake = values
        round_.bets[corrected.id] = BetRegistered(
            at=known.at if known else event.at, by=known.by if known else event.by,
            clause=known.clause if known else event.clause, round=round_.number, id=corrected.id, seat=seat,
            means=means, layout=layout, area=area, stake=stake,
            at_request=known.at_request if known else False,
        )  # fmt: skip


def _limit_again(table: Table, round_: Round) -> None:
    """Applies the limits to the stakes of a settled round as they are recorded now."""
    round_.outside = set()
    if table.book.limits.over_maximum is LimitPolicy.REFUSE:
        return
    sums: dict[tuple[str, str, int], int] = {}
    in_force = table.in_force[round_.terms]
    for bet in round_.live():
        cell = (bet.seat, bet.layout, in_force[bet.layout].rows[bet.area])
        sums[cell] = sums.get(cell, 0) + bet.stake
    round_.outside = {
        (seat, layout, row) for (seat, layout, row), lying in sums.items()
        if lying < in_force[layout].least[row] or lying > in_force[layout].most[row]
    }  # fmt: skip
    round_.kept_out, round_.tolerated = kept_out(table, round_)


def on_record_corrected(table: Table, event: RecordCorrected) -> None:
    """The record says what lay there; stakes that are still at risk change at once."""
    round_ = table.to_change(event.round)
    edit = RecordEdit(event.before, event.after, event.part)
    for bet, _ in edit.stakes():
        purse_of(table, table.seats[bet.seat], bet.means)
    changes = restaked_by_purse(table, edit)
    lost = lost_cash(table, round_) if round_.settled is not None else {}
    if round_ is table.round:
        for bet, stake in edit.stakes():
            purse = table.seats[bet.seat].purses[bet.means.purse]
            lay(table, round_, purse, _bet_of(event, bet), stake)
    else:
        round_.staked += sum(stake for _, stake in edit.stakes())
    _rewrite(round_, event)
    if round_.settled is None:
        for index, change in changes.items():
            _move_stake(table, table.purses[index], change, event.clause)
        return
    was = set(round_.tolerated)
    _limit_again(table, round_)
    remember_tolerance(table, round_, was)
    round_.restaked = changes
    round_.passed_on = passed_on_by_purse(table, edit, lost, lost_cash(table, round_))


def _bet_of(event: RecordCorrected, bet: RecordedBet) -> BetRegistered:
    return BetRegistered(
        at=event.at, by=event.by, clause=event.clause, round=event.round, id=bet.id, seat=bet.seat,
        means=bet.means, layout=bet.layout, area=bet.area, stake=bet.stake,
    )  # fmt: skip


def _move_stake(table: Table, purse: Purse, change: int, clause: Clause) -> None:
    """More or less of a player's chips is at risk."""
    table.at_risk[purse.index] += change
    if change < 0:
        hand_back(table, purse, Account.AT_RISK, -change, clause)
    elif purse.means is Means.CASH_CHIPS:
        table.ledger.move(Account.CHIPS, Account.AT_RISK, change, clause)
    else:
        purse.credits -= change
        table.ledger.move(Account.CREDITS, Account.AT_RISK, change, clause)


EFFECTS: Final[Effects] = {RecordCorrected: on_record_corrected}

"""Stakes on the layout: what bets change, and bets that are taken back before the close or moved."""

from __future__ import annotations

from array import array
from typing import Final

from msgspec.structs import replace

from taisai.game.betting.messages import BetMoved, BetRegistered, BetTakenBack, MoveBet, Slip, TakeBack
from taisai.game.betting.placing import (
    RETRIES,
    beyond_exposure,
    lying_on,
    not_a_bet,
    outside_limits,
    recent,
    too_late,
)
from taisai.game.checks import at_table, no_seat, on_hold, refused, two_people
from taisai.game.messages import Events
from taisai.game.money import packed_sums
from taisai.game.money.ledger import Account
from taisai.game.refusals import Reason, Refusal
from taisai.game.rounds.round import Round, SeatedPlayer
from taisai.game.table import Deciders, Effects, Purse, Seat, Table
from taisai.game.terms.terms import GUARDS, ONES, Terms
from taisai.game.vocabulary import CHIP_READER, Means
from taisai.rules.clauses import Clause
from taisai.rules.equipment import LimitPolicy
from taisai.rules.irregularities import Ruling
from taisai.rules.outcomes import OUTCOMES
from taisai.rules.settlement import GREATEST_SUM
from taisai.rules.vocabulary import Act, Irregularity

_CASH, _REFUSE = Means.CASH_CHIPS, LimitPolicy.REFUSE
_CHIPS, _CREDITS, _AT_RISK = Account.CHIPS, Account.CREDITS, Account.AT_RISK


def on_registered(table: Table, event: BetRegistered) -> None:
    """The stake is at risk, on its area."""
    round_ = table.round
    assert round_ is not None
    seat = table.seats[event.seat]
    means = event.means
    purse = seat.purses.get(means)
    if purse is None:
        purse = purse_of(table, seat, means)
    stake, clause = event.stake, event.clause
    if purse.means is _CASH:
        table.ledger.move(_CHIPS, _AT_RISK, stake, clause)
    else:
        table.credits[purse.index] -= stake
        table.ledger.move(_CREDITS, _AT_RISK, stake, clause)
    table.at_risk[purse.index] += stake
    round_.bets[event.id] = event
    round_.sessions[event.seat] = seat.session
    lay(table, round_, purse, event, stake)


def purse_of(table: Table, seat: Seat, means: Means) -> Purse:
    """The purse of a seat for what a bet is made with; made where there is none yet."""
    kind = means.purse
    if kind not in seat.purses:
        purse = Purse(seat, kind, table.columns, len(table.purses))
        for column in table.columns:
            column.append(0)
        table.purses.append(purse)
        seat.purses[kind] = purse
    return seat.purses[kind]


def note_seated(table: Table, seat: Seat) -> None:
    """The round remembers who sits there while bets are open, so that its record can be corrected later."""
    round_ = table.round
    if round_ is not None and round_.phase.bets_open and table.book.record is not None:
        round_.seated[seat.name] = SeatedPlayer(seat.session, seat.player, seat.memory_key, seat.colour_value)


def lay(table: Table, round_: Round, purse: Purse, bet: BetRegistered, stake: int) -> None:
    """Puts a stake on its area, or takes it off where it is negative."""
    layout = bet.layout
    terms = table.terms[layout]
    row = terms.rows[bet.area]
    columns = round_.columns.get(layout)
    if columns is None:
        columns = round_.columns[layout] = [None] * len(terms.least)
        round_.totals[layout] = [0] * len(terms.least)
    column = columns[row]
    index = purse.index
    if column is None:
        column = columns[row] = array("q", bytes(8 * len(table.purses)))
    elif len(column) <= index:
        column.extend([0] * (len(table.purses) - len(column)))
    column[index] += stake
    round_.totals[layout][row] += stake
    round_.staked += stake
    if table.book.limits.over_maximum is _REFUSE:
        round_.returned += stake * terms.packed_returns[row]
        round_.bound += stake * terms.best[row]
        round_.counted += stake
    else:
        _note_limits(round_, purse.seat, terms, row, stake)


def _note_limits(round_: Round, seat: Seat, terms: Terms, row: int, stake: int) -> None:
    """Notes a stake outside the limits, and the part of it that is at risk."""
    column = round_.columns[terms.layout][row]
    assert column is not None
    lying = sum(column[purse.index] for purse in seat.purses.values() if purse.index < len(column))
    most = terms.most[row]
    counted = min(lying, most) - min(lying - stake, most)
    round_.returned += counted * terms.packed_returns[row]
    round_.bound += counted * terms.best[row]
    round_.counted += counted
    cell = (seat.name, terms.layout, row)
    if 0 < lying < terms.least[row] or lying > most:
        round_.outside.add(cell)
    else:
        round_.outside.discard(cell)


def take_off(table: Table, round_: Round, bet: BetRegistered, clause: Clause) -> None:
    """A bet leaves the layout, and its stake goes back where it came from."""
    seat = table.seats[bet.seat]
    purse = purse_of(table, seat, bet.means)
    lay(table, round_, purse, bet, -bet.stake)
    round_.gone.add(bet.id)
    table.at_risk[purse.index] -= bet.stake
    hand_back(table, purse, Account.AT_RISK, bet.stake, clause)


def hand_back(table: Table, purse: Purse, source: Account, amount: int, clause: Clause) -> None:
    """Money owed to a player goes to their credits or colour chips, or leaves the tray as cash chips."""
    if purse.means is Means.CASH_CHIPS:
        table.ledger.withdraw(Account.CHIPS, source, amount, clause)
    else:
        purse.credits += amount
        table.ledger.move(source, Account.CREDITS, amount, clause)


def on_taken_back(table: Table, event: BetTakenBack) -> None:
    take_off(table, table.current, table.current.bets[event.id], event.clause)


def on_moved(table: Table, event: BetMoved) -> None:
    round_ = table.round
    assert round_ is not None
    bet = round_.bets[event.id]
    seat = table.seats[bet.seat]
    purse = purse_of(table, seat, bet.means)
    lay(table, round_, purse, bet, -bet.stake)
    moved = replace(bet, area=event.area)
    round_.bets[event.id] = moved
    round_.laid_on.setdefault(event.id, bet.area)
    lay(table, round_, purse, moved, moved.stake)


# Taking back and moving


def take_back(table: Table, command: TakeBack) -> Events | Refusal:  # noqa: C901  the refusals, by rank
    """Takes bets back before the close; after it they stay live."""
    seat = table.seats.get(command.seat)
    if seat is None or not seat.taken:
        return no_seat(table, command.seat)
    if command.by not in (seat.terminal, CHIP_READER) and (refusal := at_table(table, command.by)):
        return refusal
    round_ = table.round
    if round_ is None or round_.number != command.round:
        past = recent(table, command.round)
        if past is not None and all(name in past.gone for name in command.ids):
            return ()
        return too_late(table, command.round)
    ids = [name for name in dict.fromkeys(command.ids) if name not in round_.gone]
    if not ids and command.ids:
        return ()
    if table.holds:
        return too_late(table, command.round)
    if not round_.phase.bets_open:
        ruled = table.irregularities.ruling_for(Irregularity.LATE_WITHDRAWAL, round_.phase, table.settings)
        stays = ", and the bet stays live" if ruled.ruling is Ruling.STAYS_LIVE else ""
        return refused(Reason.LATE, ruled.clause, f"bets are closed (phase {round_.phase}){stays}")
    if round_.seen:
        return too_late(table, command.round)
    for name in ids or ("none",):
        if name not in round_.bets or round_.bets[name].seat != seat.name:
            refusal = refused(Reason.UNKNOWN_BET, RETRIES, f"seat {seat.name} has no bet {name!r}")
            return refusal._replace(bet=name)
    refusal = _stays(round_, ids) if table.practice == 1 else None
    refusal = refusal or _left_under_minimum(table, round_, seat, ids)
    refusal = refusal or _exposes(table, round_, ids)
    return refusal or tuple(
        BetTakenBack(
            at=command.at, by=command.by, clause=table.clause_of(Act.CLOSE_BETS), round=round_.number, id=name
        )
        for name in ids
    )


def _stays(round_: Round, ids: list[str]) -> Refusal | None:
    """Why bets cannot be taken back that were on the layout when the bets opened again."""
    if round_.stay_by is None or round_.stay.isdisjoint(ids):
        return None
    message = "the bet stays: it was on the layout before the bets opened again"
    return refused(Reason.RULED_OUT, round_.stay_by, message)


def _exposes(table: Table, round_: Round, ids: list[str]) -> Refusal | None:
    """Why bets cannot be taken back: without them, the house could lose too much."""
    exposure = table.limits.exposure
    if exposure is None:
        return None
    gone: dict[tuple[str, str, int], int] = {}
    left, counted = round_.returned, round_.counted
    for name in ids:
        bet = round_.bets[name]
        terms = table.terms[bet.layout]
        row = terms.rows[bet.area]
        cell = (bet.seat, bet.layout, row)
        lying = lying_on(round_, table.seats[bet.seat], terms, row) - gone.get(cell, 0)
        playing = min(lying, terms.most[row]) - min(lying - bet.stake, terms.most[row])
        gone[cell] = gone.get(cell, 0) + bet.stake
        left -= playing * terms.packed_returns[row]
        counted -= playing
    unit = next(iter(table.terms.values())).unit
    worst = max(packed_sums.unpacked(left, len(OUTCOMES))) // unit - counted
    if worst <= exposure:
        return None
    message = f"without the bet the house could lose {worst} on one outcome, at most {exposure} is allowed"
    return refused(Reason.EXPOSURE, "house:exposure", message, sums=(exposure, worst))


def _left_under_minimum(table: Table, round_: Round, seat: Seat, ids: list[str]) -> Refusal | None:
    if table.book.limits.under_minimum is not LimitPolicy.REFUSE:
        return None
    going: dict[tuple[str, str], int] = {}
    for name in ids:
        bet = round_.bets[name]
        going[bet.layout, bet.area] = going.get((bet.layout, bet.area), 0) + bet.stake
    for name in ids:
        bet = round_.bets[name]
        terms = table.terms[bet.layout]
        least = terms.least[terms.rows[bet.area]]
        rest = lying_on(round_, seat, terms, terms.rows[bet.area]) - going[bet.layout, bet.area]
        if 0 < rest < least:
            message = f"{rest} would be left on {bet.area}: expected 0 or at least {least}"
            clause = table.book.limits.under_clause
            refusal = refused(Reason.UNDER_MINIMUM, clause, message, sums=(least, rest))
            return refusal._replace(bet=name)
    return None


def move(table: Table, command: MoveBet) -> Events | Refusal:
    """Moves a recorded bet to the area on which its chips are; after the close this takes two people."""
    refusal = at_table(table, command.by) if command.by != CHIP_READER or not table.open else None
    if refusal:
        return refusal
    round_, positions = table.round, table.procedure.positions
    if round_ is None or round_.number != command.round:
        return too_late(table, command.round)
    bet = round_.bets.get(command.id)
    if bet is not None and bet.means is Means.CREDITS:
        message = f"only chips on the layout can be moved: bet {bet.id} is of {bet.means}"
        return refused(Reason.NOT_PERMITTED, "house:terminals", message)
    if bet is not None and bet.area == command.area:
        return ()
    refusal = on_hold(table) or (too_late(table, command.round) if round_.seen else None)
    if refusal is None and table.practice > 1 and not round_.phase.bets_open:
        refusal = too_late(table, command.round)
    if refusal is None and positions.fixed_by in round_.acts:
        refusal = refused(Reason.LATE, positions.clause, f"bets cannot be moved after {positions.fixed_by}")
    if refusal:
        return refusal
    if bet is None or command.id in round_.gone:
        return refused(Reason.UNKNOWN_BET, RETRIES, f"no bet {command.id!r} stands in this round")
    refusal = None if round_.phase.bets_open else two_people(table, command.by, command.second)
    refusal = refusal or cannot_lie(table, round_, bet, command.area)
    refusal = refusal or _outside_if_moved(table, bet, command.area)
    refusal = refusal or _left_under_minimum(table, round_, table.seats[bet.seat], [bet.id])
    if refusal:
        return refusal
    second = None if round_.phase.bets_open else command.second
    return (
        BetMoved(
            at=command.at, by=command.by, clause=positions.clause, round=round_.number, id=bet.id,
            area=command.area, second=second,
        ),
    )  # fmt: skip


def cannot_lie(table: Table, round_: Round, bet: BetRegistered, area: str) -> Refusal | None:
    """Why a bet cannot count on another area: the stake does not fit, or a sum would be too great."""
    terms = table.terms[bet.layout]
    row = terms.rows.get(area, -1)
    if row < 0 or bet.stake > terms.greatest[row] or bet.stake % terms.steps[row]:
        return not_a_bet(terms, Slip(bet.id, area, bet.stake))
    returned = round_.returned + bet.stake * terms.packed_returns[row]
    if packed_sums.none_above(returned, GREATEST_SUM * terms.unit, ONES, GUARDS):
        return None
    most = max(packed_sums.unpacked(returned, len(OUTCOMES))) // terms.unit
    message = f"expected returns of at most 2^53 - 1, got {most}"
    return refused(Reason.BEYOND_GREATEST_SUM, "house:greatest-sum", message)


def over_maximum(table: Table, bet: BetRegistered, area: str, brought: int) -> Refusal | None:
    """Why a player cannot have so much on an area, if the document refuses such bets."""
    terms = table.terms[bet.layout]
    row = terms.rows[area]
    total = lying_on(table.current, table.seats[bet.seat], terms, row) + brought
    if total <= terms.most[row]:
        return None
    return outside_limits(table, terms, row, Slip(bet.id, area, bet.stake), total)


def _outside_if_moved(table: Table, bet: BetRegistered, area: str) -> Refusal | None:
    """Why a bet on another area would break the limits, if the document refuses such bets."""
    terms, seat = table.terms[bet.layout], table.seats[bet.seat]
    row = terms.rows[area]
    total = lying_on(table.current, seat, terms, row) + bet.stake
    slip = Slip(bet.id, area, bet.stake)
    if not terms.least[row] <= total <= terms.most[row]:
        outside = outside_limits(table, terms, row, slip, total)
        if outside is not None:
            return outside
    counted = min(total, terms.most[row]) - min(total - bet.stake, terms.most[row])
    old = terms.rows[bet.area]
    lying = lying_on(table.current, seat, terms, old)
    leaving = min(lying, terms.most[old]) - min(lying - bet.stake, terms.most[old])
    return beyond_exposure(table, table.current, terms, [(row, counted), (old, -leaving)])


DECIDERS: Final[Deciders] = {TakeBack: take_back, MoveBet: move}

EFFECTS: Final[Effects] = {BetRegistered: on_registered, BetTakenBack: on_taken_back, BetMoved: on_moved}

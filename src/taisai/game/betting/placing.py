"""Placing bets at a terminal, and recording chips on the layout. This path must be fast."""

from __future__ import annotations

from typing import Final

from taisai.game.betting.messages import BetRegistered, PlaceBets, RecordBets, Slip
from taisai.game.checks import at_table, may_act, no_seat, not_open, refused
from taisai.game.messages import Event, Events
from taisai.game.money import packed_sums
from taisai.game.refusals import Reason, Refusal, first
from taisai.game.rounds.round import Round
from taisai.game.table import MOST_BETS, MOST_IN_BATCH, Deciders, Seat, Table
from taisai.game.terms.terms import GUARDS, ONES, Terms
from taisai.game.vocabulary import CHIP_READER, MOST_ID, Means
from taisai.rules.clauses import Clause
from taisai.rules.equipment import LimitPolicy
from taisai.rules.outcomes import OUTCOMES
from taisai.rules.settlement import GREATEST_SUM, Bet
from taisai.rules.vocabulary import Act, Irregularity, Phase

RETRIES: Final = Clause("house:retries")
RETRIED_WITHIN: Final = 10  # rounds, which stay in memory; a later retry is refused
CREDITS: Final = Clause("house:credits")
_OPEN, _OPEN_TUMBLED = Phase.OPEN, Phase.OPEN_TUMBLED
_CREDITS, _COLOUR = Means.CREDITS, Means.COLOUR_CHIPS


def place(table: Table, command: PlaceBets) -> Events | Refusal:
    """Places the bets of a terminal."""
    seat = table.seats.get(command.seat)
    if seat is None or not seat.taken:
        return no_seat(table, command.seat)
    if seat.purse is None or command.by != seat.terminal:
        message = (
            f"only the terminal of seat {seat.name} ({seat.terminal or 'none'}) may bet, not {command.by}"
        )
        return refused(Reason.NOT_PERMITTED, "house:terminals", message)
    means = command.means or _CREDITS
    if means is not _CREDITS and (refusal := _colour_refusal(seat, command)):
        return refusal
    return _registered(table, command, seat, means, command.bets, at_request=False)


def _colour_refusal(seat: Seat, command: PlaceBets) -> Refusal | None:
    """Why a terminal cannot bet with these chips: it has credits and its own colour only."""
    clause = "house:colour-chips"
    if command.means is not _COLOUR or not seat.colour_value:
        message = f"seat {seat.name} has no {command.means}: expected credits or colour chips that it bought"
        return refused(Reason.WRONG_MEANS, clause, message)
    for slip in command.bets:
        if type(slip.stake) is int and slip.stake % seat.colour_value:
            message = f"expected a stake in whole chips of {seat.colour_value}, got {slip.stake}"
            return about(slip, Reason.BAD_VALUE, Clause(clause), message)
    return None


def record(table: Table, command: RecordBets) -> Events | Refusal:
    """Staff or a chip reader record the chips on the layout."""
    seat = _seat_of(table, command)
    if isinstance(seat, Refusal):
        return seat
    refusal = at_table(table, command.by) if command.by != CHIP_READER else None
    if refusal is None and command.at_request:
        refusal = _may_place_for_player(table, command.by)
    if refusal:
        return refusal
    slips = _in_money(command, seat)
    answer = _registered(table, command, seat, command.means, slips, at_request=command.at_request)
    if isinstance(answer, Refusal) and answer.reason.rank < Reason.WRONG_MEANS.rank:
        return answer
    return means_refusal(table, command.means, seat.name, seat.colour_value) or answer


def _seat_of(table: Table, command: RecordBets) -> Seat | Refusal:
    """The seat of a command, given by its name, by its colour, or by both."""
    name = command.seat if command.colour is None else table.colours.get(command.colour)
    seat = table.seats.get(name) if name is not None else None
    if seat is None or not seat.taken or command.seat not in (None, seat.name):
        return no_seat(table, f"{command.seat or 'none'} with colour {command.colour or 'none'}")
    return seat


def _in_money(command: PlaceBets | RecordBets, seat: Seat) -> tuple[Slip, ...]:
    """The bets with their stakes in money: stakes of colour chips come as a number of pieces."""
    if isinstance(command, PlaceBets) or command.means is not Means.COLOUR_CHIPS:
        return command.bets
    return tuple(Slip(slip.id, slip.area, slip.stake * seat.colour_value) for slip in command.bets)


def means_refusal(table: Table, means: Means, seat: str, colour_value: int) -> Refusal | None:
    """Why chips of this kind are not accepted."""
    if means is Means.CREDITS:
        message = f"expected chips on the layout, got {means}: a terminal places those itself"
        return refused(Reason.WRONG_MEANS, "house:terminals", message)
    if means not in table.means:
        clause = table.means.get(Means.CASH_CHIPS) or next(iter(table.means.values()))
        message = f"expected {' or '.join(table.means)}, got {means}"
        return refused(Reason.WRONG_MEANS, clause, message)
    if means is Means.COLOUR_CHIPS and not colour_value:
        message = f"seat {seat} has bought no colour chips"
        return refused(Reason.WRONG_MEANS, "house:colour-chips", message)
    return None


def _may_place_for_player(table: Table, by: str) -> Refusal | None:
    placing = table.ranks.placing
    if placing is None:
        message = f"players place their own bets at this table: {by} may not place one for a player"
        return refused(Reason.NOT_PERMITTED, "house:outside-the-rules", message)
    refusal: Refusal | None = None
    for position in placing.by:
        refusal = may_act(table, by, position, placing.clause)
        if refusal is None:
            return None
    return refusal


def _registered(  # noqa: C901  every bet passes here
    table: Table,
    command: PlaceBets | RecordBets,
    seat: Seat,
    means: Means,
    slips: tuple[Slip, ...],
    *,
    at_request: bool,
) -> Events | Refusal:
    round_ = table.round
    if round_ is None or round_.number != command.round:
        return _again(table, recent(table, command.round), command, seat, means)
    known = round_.bets
    for slip in slips:
        if slip.id in known:
            return _again(table, round_, command, seat, means)
    phase = round_.phase
    if (phase is not _OPEN and phase is not _OPEN_TUMBLED) or table.holds or round_.seen:
        return too_late(table, command.round)
    if round_.withdrawn and seat.memory_key in round_.withdrawn:
        return withdrew(table, round_, seat)
    for slip in slips:
        if not 0 < len(slip.id) <= MOST_ID:
            message = f"expected an id of 1 to {MOST_ID} characters, got {len(slip.id)}"
            return about(slip, Reason.BAD_VALUE, RETRIES, message)
    if len(slips) > 1 and len({slip.id for slip in slips}) < len(slips):
        return refused(Reason.BAD_VALUE, RETRIES, "two bets of the batch have the same id")
    if not 0 < len(slips) <= MOST_IN_BATCH or len(known) + len(slips) > MOST_BETS:
        most = f"1 to {MOST_IN_BATCH} bets at once and {MOST_BETS} in a round"
        message = f"expected {most}, got {len(slips)} after {len(known)} in the round"
        return refused(Reason.TOO_MANY, "house:most", message)
    refusal = _refusal(table, round_, seat, means, slips)
    if refusal is not None:
        return refusal
    at, by, number, name, layout = command.at, command.by, round_.number, seat.name, seat.layout
    placing = table.ranks.placing
    clause = placing.clause if at_request and placing else table.bet_clause
    events: list[Event] = []
    for slip in slips:
        events.append(  # noqa: PERF401  a comprehension would cost every bet a call
            BetRegistered(
                at=at, by=by, clause=clause, round=number, id=slip.id, seat=name, means=means,
                layout=layout, area=slip.area, stake=slip.stake, at_request=at_request,
            )
        )  # fmt: skip
    return tuple(events)


def withdrew(table: Table, round_: Round, seat: Seat) -> Refusal:
    """Why a player who withdrew after an interruption does not bet again in the round."""
    ruled = table.irregularities.ruling_for(Irregularity.POWER_FAILURE, Phase.OPEN, table.settings)
    message = f"the player of seat {seat.name} withdrew all bets and is out of round {round_.number}"
    return refused(Reason.RULED_OUT, ruled.clause, message)


def _again(
    table: Table, known: Round | None, command: PlaceBets | RecordBets, seat: Seat, means: Means
) -> Events | Refusal:
    """Answers a batch of which some ids are known: a retry, or a refusal."""
    slips = _in_money(command, seat)
    taken = [slip for slip in slips if known is not None and slip.id in known.bets]
    if known is None or not taken:
        return too_late(table, command.round)
    for slip in taken:
        bet = known.bets[slip.id]
        area = known.laid_on.get(slip.id, bet.area)
        if (bet.seat, bet.means, area, bet.stake) != (seat.name, means, slip.area, slip.stake):
            known_as = f"as {area} {bet.stake}" if bet.seat == seat.name else "at another seat"
            message = f"bet {slip.id} was registered {known_as}, got {slip.area} {slip.stake}"
            return about(slip, Reason.DIFFERENT_CONTENT, RETRIES, message)
    if len(taken) < len(slips):
        fresh = next(slip for slip in slips if slip.id not in known.bets)
        message = (
            f"bet {taken[0].id} of the batch is registered, bet {fresh.id} is not: repeat the same batch"
        )
        return about(fresh, Reason.DIFFERENT_CONTENT, RETRIES, message)
    return ()


def recent(table: Table, number: int) -> Round | None:
    """A finished round, if a retry may still refer to it: older rounds would have to be loaded."""
    return table.glance(number) if number > len(table.rounds) - RETRIED_WITHIN else None


def too_late(table: Table, number: int) -> Refusal:
    """Why bets are not accepted now: no round, another round, after the close, or on hold."""
    opens = table.clause_of(Act.OPEN_BETS)
    if not table.open:
        return not_open(table)
    if table.round is None:
        return refused(Reason.OUT_OF_ORDER, opens, "bets are not open: no round has begun")
    if number != table.round.number:
        message = f"expected a bet in round {table.round.number}, got one in round {number}"
        return refused(Reason.WRONG_ROUND, RETRIES, message)
    if table.held:
        message = f"the round waits for a {table.held.hold}, which comes first"
        return refused(Reason.ON_HOLD, table.held.clause, message)
    if table.round.phase.bets_open and table.round.seen:
        ruled = table.irregularities.ruling_for(Irregularity.EXPOSED_EARLY, table.round.phase, table.settings)
        return refused(Reason.LATE, ruled.clause, "a die was seen: no bet is accepted after that")
    ruled = table.irregularities.ruling_for(Irregularity.LATE_BET, table.round.phase, table.settings)
    return refused(Reason.LATE, ruled.clause, f"bets are closed (phase {table.round.phase})")


def _refusal(  # noqa: C901, PLR0912  every bet passes here: one loop, and no calls in it
    table: Table, round_: Round, seat: Seat, means: Means, slips: tuple[Slip, ...]
) -> Refusal | None:
    """Why a batch is refused, if it is: looks at each bet in turn."""
    terms = seat.terms
    assert terms is not None
    refusals: list[Refusal] = []
    columns = round_.columns.get(terms.layout)
    wanted, playing, bound = 0, 0, round_.bound
    rows, steps, greatest, least, most = terms.rows, terms.steps, terms.greatest, terms.least, terms.most
    laid: list[tuple[int, int]] = []
    """(row, how much is within the limits) of the bets looked at so far."""
    together: dict[int, int] | None = {} if len(slips) > 1 else None
    """Row → what they add up to, where there are several."""
    for slip in slips:
        stake = slip.stake
        row = rows.get(slip.area, -1)
        if row < 0 or type(stake) is not int or not 0 < stake <= greatest[row] or stake % steps[row]:
            refusals.append(not_a_bet(terms, slip))
            continue
        lying = 0
        column = columns[row] if columns is not None else None
        if column is not None:
            for purse in seat.purses.values():
                if purse.index < len(column):
                    lying += column[purse.index]
        if together is not None:
            lying += together.get(row, 0)
        total, counted = lying + stake, stake
        if total > most[row] or total < least[row]:
            outside = outside_limits(table, terms, row, slip, total)
            if outside is not None:
                refusals.append(outside)
                continue
            counted = min(total, most[row]) - min(lying, most[row])
        wanted += stake
        playing += counted
        bound += counted * terms.best[row]
        laid.append((row, counted))
        if together is not None:
            together[row] = together.get(row, 0) + stake
    if refusals:
        return first(refusals)
    if round_.staked + wanted > GREATEST_SUM:
        message = f"expected stakes of at most 2^53 - 1 in a round, got {round_.staked + wanted}"
        return refused(Reason.BEYOND_GREATEST_SUM, "house:greatest-sum", message)
    if means is _CREDITS or means is _COLOUR:  # cash chips lie there already
        own = seat.purses.get(means)
        has = table.credits[own.index] if own is not None else 0
        if has < wanted:
            return credits_short(means, wanted, has)
    ceiling, exposure = GREATEST_SUM, table.limits.exposure
    if exposure is not None and (bearable := exposure + round_.counted + playing) < GREATEST_SUM:
        ceiling = bearable
    if bound <= ceiling * terms.unit:
        return None
    return beyond_exposure(table, round_, terms, laid)


def credits_short(means: Means, wanted: int, has: int) -> Refusal:
    """Why the player cannot pay for the bets."""
    clause = CREDITS if means is _CREDITS else Clause("house:colour-chips")
    message = f"not enough credits: {wanted} needed, {has} available"
    return refused(Reason.CREDITS_SHORT, clause, message, sums=(wanted, has))


def beyond_exposure(table: Table, round_: Round, terms: Terms, laid: list[tuple[int, int]]) -> Refusal | None:
    """Why the house cannot accept stakes on these rows: the loss on some outcome would be too great."""
    returned = round_.returned + sum(counted * terms.packed_returns[row] for row, counted in laid)
    counted = round_.counted + sum(counted for _, counted in laid)
    exposure = table.limits.exposure
    ceiling = GREATEST_SUM if exposure is None else min(GREATEST_SUM, exposure + counted)
    if packed_sums.none_above(returned, ceiling * terms.unit, ONES, GUARDS):
        return None
    most = max(packed_sums.unpacked(returned, len(OUTCOMES))) // terms.unit
    if exposure is None:
        message = f"expected returns of at most 2^53 - 1, got {most}"
        return refused(Reason.BEYOND_GREATEST_SUM, "house:greatest-sum", message)
    worst = most - counted
    message = f"the house could lose {worst} on one outcome, at most {exposure} is allowed"
    return refused(Reason.EXPOSURE, "house:exposure", message, sums=(exposure, worst))


def outside_limits(table: Table, terms: Terms, row: int, slip: Slip, total: int) -> Refusal | None:
    """Why a stake outside the limits is refused, unless the document has it settled."""
    limits = table.book.limits
    if total > terms.most[row]:
        if limits.over_maximum is not LimitPolicy.REFUSE:
            return None
        message = f"over the maximum on {slip.area}: at most {terms.most[row]} per player, got {total}"
        return about(slip, Reason.OVER_MAXIMUM, limits.over_clause, message, (terms.most[row], total))
    if limits.under_minimum is not LimitPolicy.REFUSE:
        return None
    message = f"under the minimum on {slip.area}: at least {terms.least[row]} per player, got {total}"
    return about(slip, Reason.UNDER_MINIMUM, limits.under_clause, message, (terms.least[row], total))


def about(slip: Slip, reason: Reason, clause: Clause, message: str, sums: tuple[int, ...] = ()) -> Refusal:
    """A refusal of one bet of a batch."""
    return refused(reason, clause, message, sums=sums)._replace(bet=slip.id)


def not_a_bet(terms: Terms, slip: Slip) -> Refusal:
    """Why the payoff matrix does not accept a bet."""
    problem = terms.matrix.refusal(Bet.on(slip.area, slip.stake))
    if problem is None:
        most = terms.greatest[terms.rows[slip.area]]
        message = f"expected a stake on {slip.area} of at most {most}, got {slip.stake}"
        return about(slip, Reason.BEYOND_GREATEST_SUM, Clause("house:greatest-sum"), message)
    refusal = Refusal(Reason(problem.reason), problem.clause, problem.message, slip.id)
    if refusal.reason is Reason.WINNINGS_NOT_WHOLE:
        return refusal._replace(sums=(terms.steps[terms.rows[slip.area]], slip.stake))
    return refusal


def lying_on(round_: Round, seat: Seat, terms: Terms, row: int) -> int:
    """What a player has on an area, in credits and chips together."""
    columns = round_.columns.get(terms.layout)
    column = columns[row] if columns else None
    if column is None:
        return 0
    return sum(column[purse.index] for purse in seat.purses.values() if purse.index < len(column))


def exposures(table: Table) -> list[int]:
    """What the house would lose on each of the 56 outcomes; negative if it would win."""
    round_ = table.round
    if round_ is None:
        return [0] * len(OUTCOMES)
    unit = next(iter(table.terms.values())).unit
    return [
        amount // unit - round_.counted for amount in packed_sums.unpacked(round_.returned, len(OUTCOMES))
    ]


DECIDERS: Final[Deciders] = {PlaceBets: place, RecordBets: record}

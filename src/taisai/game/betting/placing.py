"""Bets: placed by a terminal, or recorded as chips lie. The quickest path of the house."""

from __future__ import annotations

from typing import Final

from taisai.game.betting.messages import BetRegistered, PlaceBets, RecordBets, Slip
from taisai.game.checks import at_table, may_act, no_seat, refused
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
RETRIED_WITHIN: Final = 10  # rounds, which stay in memory: whoever comes later looks at what became of it
CREDITS: Final = Clause("house:credits")
_OPEN, _OPEN_TUMBLED = Phase.OPEN, Phase.OPEN_TUMBLED
_CREDITS, _COLOUR = Means.CREDITS, Means.COLOUR_CHIPS


def place(table: Table, command: PlaceBets) -> Events | Refusal:
    """A terminal's bets."""
    seat = table.seats.get(command.seat)
    if seat is None or not seat.taken:
        return no_seat(table, command.seat)
    if seat.purse is None or command.by != seat.terminal:
        expected = f"the terminal of seat {seat.name} ({seat.terminal or 'none'})"
        return refused(Reason.NOT_PERMITTED, "house:terminals", expected, command.by)
    means = command.means or _CREDITS
    if means is not _CREDITS and (wrong := _not_his_colour(seat, command)):
        return wrong
    return _registered(table, command, seat, means, command.bets, at_request=False)


def _not_his_colour(seat: Seat, command: PlaceBets) -> Refusal | None:
    """Why a terminal cannot lay these chips: its own colour is all that it has beside credits."""
    clause = "house:colour-chips"
    if command.means is not _COLOUR or not seat.colour_value:
        return refused(
            Reason.WRONG_MEANS, clause, "credits, or colour chips that the seat bought", command.means
        )
    for slip in command.bets:
        if type(slip.stake) is int and slip.stake % seat.colour_value:
            expected = f"a stake in whole chips of {seat.colour_value}"
            return about(slip, Reason.BAD_VALUE, Clause(clause), expected, slip.stake)
    return None


def record(table: Table, command: RecordBets) -> Events | Refusal:
    """Chips as they lie, recorded by staff or a chip reader."""
    seat = _seat_of(table, command)
    if isinstance(seat, Refusal):
        return seat
    wrong = at_table(table, command.by) if command.by != CHIP_READER else None
    if wrong is None and command.at_request:
        wrong = _may_place_for_player(table, command.by)
    if wrong:
        return wrong
    slips = _in_money(command, seat)
    made = _registered(table, command, seat, command.means, slips, at_request=command.at_request)
    if isinstance(made, Refusal) and made.reason.rank < Reason.WRONG_MEANS.rank:
        return made
    return _wrong_means(table, command, seat) or made


def _seat_of(table: Table, command: RecordBets) -> Seat | Refusal:
    """The seat that is named, by itself or by the colour it plays; where both are, they are one."""
    name = command.seat if command.colour is None else table.colours.get(command.colour)
    seat = table.seats.get(name) if name is not None else None
    if seat is None or not seat.taken or command.seat not in (None, seat.name):
        got = f"{command.seat or 'no seat'}, {command.colour or 'no colour'}"
        return no_seat(table, got, "a seat or colour that is taken")
    return seat


def _in_money(command: PlaceBets | RecordBets, seat: Seat) -> tuple[Slip, ...]:
    """The bets with their stakes in money, where they came in pieces of the player's own value."""
    if isinstance(command, PlaceBets) or command.means is not Means.COLOUR_CHIPS:
        return command.bets
    return tuple(Slip(one.id, one.area, one.stake * seat.colour_value) for one in command.bets)


def _wrong_means(table: Table, command: RecordBets, seat: Seat) -> Refusal | None:
    """Why chips of this kind are no bet here."""
    if command.means is Means.CREDITS:
        return refused(Reason.WRONG_MEANS, "house:terminals", "chips that lie on a layout", command.means)
    if command.means not in table.means:
        clause = table.means.get(Means.CASH_CHIPS) or next(iter(table.means.values()))
        expected = f"bets with {', '.join(table.means)}"
        return refused(Reason.WRONG_MEANS, clause, expected, command.means)
    if command.means is Means.COLOUR_CHIPS and not seat.colour_value:
        expected = "colour chips that the seat bought"
        return refused(Reason.WRONG_MEANS, "house:colour-chips", expected, "none")
    return None


def _may_place_for_player(table: Table, by: str) -> Refusal | None:
    placing = table.ranks.placing
    if placing is None:
        return refused(Reason.NOT_PERMITTED, "house:outside-the-rules", "players to place their own bets", by)
    wrong: Refusal | None = None
    for position in placing.by:
        wrong = may_act(table, by, position, placing.clause)
        if wrong is None:
            return None
    return wrong


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
    for slip in slips:
        if not 0 < len(slip.id) <= MOST_ID:
            expected = f"an id of 1 to {MOST_ID} characters"
            return about(slip, Reason.BAD_VALUE, RETRIES, expected, len(slip.id))
    if len(slips) > 1 and len({slip.id for slip in slips}) < len(slips):
        return refused(Reason.BAD_VALUE, RETRIES, "an id of its own for every bet", "one twice")
    if not 0 < len(slips) <= MOST_IN_BATCH or len(known) + len(slips) > MOST_BETS:
        expected = f"1 to {MOST_IN_BATCH} bets at once and {MOST_BETS} in a round"
        return refused(Reason.TOO_MANY, "house:most", expected, len(slips))
    wrong = _refusal(table, round_, seat, means, slips)
    if wrong is not None:
        return wrong
    at, by, number, name, layout = command.at, command.by, round_.number, seat.name, seat.layout
    placing = table.ranks.placing
    clause = placing.clause if at_request and placing else table.bet_clause
    made: list[Event] = []
    for slip in slips:
        made.append(  # noqa: PERF401  a comprehension would cost every bet a call
            BetRegistered(
                at=at, by=by, clause=clause, round=number, id=slip.id, seat=name, means=means,
                layout=layout, area=slip.area, stake=slip.stake, at_request=at_request,
            )
        )  # fmt: skip
    return tuple(made)


def _again(
    table: Table, known: Round | None, command: PlaceBets | RecordBets, seat: Seat, means: Means
) -> Events | Refusal:
    """A batch of which something is known already: a retry, or ids that are taken."""
    slips = _in_money(command, seat)
    taken = [slip for slip in slips if known is not None and slip.id in known.bets]
    if known is None or not taken:
        return too_late(table, command.round)
    for slip in taken:
        bet = known.bets[slip.id]
        area = known.laid_on.get(slip.id, bet.area)
        if (bet.seat, bet.means, area, bet.stake) != (seat.name, means, slip.area, slip.stake):
            was = f"({bet.seat}, {area}, {bet.stake})" if bet.seat == seat.name else "at another seat"
            expected = f"bet {slip.id} as it was registered {was}"
            got = f"{seat.name}, {slip.area}, {slip.stake}"
            return about(slip, Reason.DIFFERENT_CONTENT, RETRIES, expected, got)
    if len(taken) < len(slips):
        fresh = next(slip for slip in slips if slip.id not in known.bets)
        expected = f"the whole batch of {taken[0].id} again, or none of it"
        return about(fresh, Reason.DIFFERENT_CONTENT, RETRIES, expected, f"{fresh.id} with it")
    return ()


def recent(table: Table, number: int) -> Round | None:
    """A round that is over, if a retry may still ask for it: one of long ago would have to be loaded."""
    return table.glance(number) if number > len(table.rounds) - RETRIED_WITHIN else None


def too_late(table: Table, number: int) -> Refusal:
    """Why bets are not taken now: no round, another round, the close, or something that is open."""
    opens = table.clause_of(Act.OPEN_BETS)
    if not table.open:
        return refused(Reason.TABLE_NOT_OPEN, "house:table", "a table that is open", "one that is not")
    if table.round is None:
        return refused(Reason.OUT_OF_ORDER, opens, "bets to be open", "no round in hand")
    if number != table.round.number:
        return refused(Reason.WRONG_ROUND, RETRIES, f"a bet in round {table.round.number}", f"round {number}")
    if table.held:
        return refused(
            Reason.ON_HOLD, table.held.clause, f"the {table.held.hold} to be over first", "it is open"
        )
    if table.round.phase.bets_open and table.round.seen:
        ruled = table.irregularities.ruling_for(Irregularity.EXPOSED_EARLY, table.round.phase, table.settings)
        return refused(Reason.LATE, ruled.clause, "a bet before any die is seen", "one after it")
    ruled = table.irregularities.ruling_for(Irregularity.LATE_BET, table.round.phase, table.settings)
    return refused(Reason.LATE, ruled.clause, "a bet before the close", f"one when {table.round.phase}")


def _refusal(  # noqa: C901, PLR0912  every bet passes here: one loop, and no calls in it
    table: Table, round_: Round, seat: Seat, means: Means, slips: tuple[Slip, ...]
) -> Refusal | None:
    """Why a batch cannot be taken, looking at every bet of it in turn."""
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
        expected, got = "stakes of at most 2^53 - 1 in a round", "more"
        return refused(Reason.BEYOND_GREATEST_SUM, "house:greatest-sum", expected, got)
    if means is _CREDITS or means is _COLOUR:  # cash chips lie there already
        own = seat.purses.get(means)
        has = table.credits[own.index] if own is not None else 0
        if has < wanted:
            return _credits_short(means, wanted, has)
    ceiling, exposure = GREATEST_SUM, table.limits.exposure
    if exposure is not None and (bearable := exposure + round_.counted + playing) < GREATEST_SUM:
        ceiling = bearable
    if bound <= ceiling * terms.unit:
        return None
    return beyond_exposure(table, round_, terms, laid)


def _credits_short(means: Means, wanted: int, has: int) -> Refusal:
    """Why the player cannot carry the bets."""
    clause = CREDITS if means is _CREDITS else Clause("house:colour-chips")
    return refused(Reason.CREDITS_SHORT, clause, f"credits of {wanted}", has, sums=(wanted, has))


def beyond_exposure(table: Table, round_: Round, terms: Terms, laid: list[tuple[int, int]]) -> Refusal | None:
    """Why the house cannot carry stakes on these rows, outcome by outcome."""
    returned = round_.returned + sum(counted * terms.packed_returns[row] for row, counted in laid)
    counted = round_.counted + sum(counted for _, counted in laid)
    exposure = table.limits.exposure
    ceiling = GREATEST_SUM if exposure is None else min(GREATEST_SUM, exposure + counted)
    if packed_sums.none_above(returned, ceiling * terms.unit, ONES, GUARDS):
        return None
    if exposure is None:
        clause = Clause("house:greatest-sum")
        return refused(Reason.BEYOND_GREATEST_SUM, clause, "returns of at most 2^53 - 1", "more")
    worst = max(packed_sums.unpacked(returned, len(OUTCOMES))) // terms.unit - counted
    expected = f"an exposure of at most {exposure}"
    return refused(Reason.EXPOSURE, "house:exposure", expected, worst, sums=(exposure, worst))


def outside_limits(table: Table, terms: Terms, row: int, slip: Slip, total: int) -> Refusal | None:
    """Why a stake outside the limits is refused, where the document does not have it settled."""
    limits = table.book.limits
    if total > terms.most[row]:
        if limits.over_maximum is not LimitPolicy.REFUSE:
            return None
        expected = f"at most {terms.most[row]} of one player on {slip.area}"
        return about(slip, Reason.OVER_MAXIMUM, limits.over_clause, expected, total)._replace(
            sums=(terms.most[row], total)
        )
    if limits.under_minimum is not LimitPolicy.REFUSE:
        return None
    expected = f"at least {terms.least[row]} of one player on {slip.area}"
    return about(slip, Reason.UNDER_MINIMUM, limits.under_clause, expected, total)._replace(
        sums=(terms.least[row], total)
    )


def about(slip: Slip, reason: Reason, clause: Clause, expected: str, got: object) -> Refusal:
    """A refusal that concerns one bet of a batch."""
    return refused(reason, clause, expected, got)._replace(bet=slip.id)


def not_a_bet(terms: Terms, slip: Slip) -> Refusal:
    """Why the matrix does not take it, in its own words."""
    wrong = terms.matrix.refusal(Bet.on(slip.area, slip.stake))
    if wrong is None:
        row = terms.rows[slip.area]
        expected = f"a stake on {slip.area} of at most {terms.greatest[row]}"
        return about(slip, Reason.BEYOND_GREATEST_SUM, Clause("house:greatest-sum"), expected, slip.stake)
    refusal = Refusal(Reason(wrong.reason), wrong.clause, wrong.message, slip.id)
    if refusal.reason is Reason.WINNINGS_NOT_WHOLE:
        return refusal._replace(sums=(terms.steps[terms.rows[slip.area]], slip.stake))
    return refusal


def lying_on(round_: Round, seat: Seat, terms: Terms, row: int) -> int:
    """What a player has on an area, whatever it is made of."""
    columns = round_.columns.get(terms.layout)
    column = columns[row] if columns else None
    if column is None:
        return 0
    return sum(column[purse.index] for purse in seat.purses.values() if purse.index < len(column))


def exposures(table: Table) -> list[int]:
    """What the house would lose on each of the 56 outcomes; negative where it would win."""
    round_ = table.round
    if round_ is None:
        return [0] * len(OUTCOMES)
    unit = next(iter(table.terms.values())).unit
    return [
        amount // unit - round_.counted for amount in packed_sums.unpacked(round_.returned, len(OUTCOMES))
    ]


DECIDERS: Final[Deciders] = {
    PlaceBets: place,
    RecordBets: record,
}

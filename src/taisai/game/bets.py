"""Bets: placed by a terminal, recorded as chips lie, taken back, moved. The quickest path of the house."""

from __future__ import annotations

from typing import Final

from taisai.game import lanes
from taisai.game.authority import at_table, may_act, no_seat, refused
from taisai.game.commands import MoveBet, PlaceBets, RecordBets, Slip, TakeBack
from taisai.game.events import BetMoved, BetRegistered, BetTakenBack, Event
from taisai.game.refusals import Reason, Refusal, first
from taisai.game.round import Round
from taisai.game.seats import Seat
from taisai.game.table import MOST_BETS, MOST_ID, MOST_IN_BATCH, Table
from taisai.game.terms import GUARDS, ONES, Terms
from taisai.game.words import CHIP_READER, Means
from taisai.rules.clauses import Clause
from taisai.rules.limits import LimitPolicy
from taisai.rules.outcomes import OUTCOMES
from taisai.rules.round import Act, Irregularity, Phase
from taisai.rules.settlement import GREATEST_SUM, Bet

RETRIES: Final = Clause("house:retries")
CREDITS: Final = Clause("house:credits")
Events = tuple[Event, ...]
_OPEN, _OPEN_TUMBLED = Phase.OPEN, Phase.OPEN_TUMBLED
_CREDITS, _COLOUR = Means.CREDITS, Means.COLOUR_CHIPS


def place(table: Table, command: PlaceBets) -> Events | Refusal:
    """A terminal's bets."""
    seat = table.seats.get(command.seat)
    if seat is None or not seat.taken:
        return no_seat(table, command.seat)
    if seat.purse is None or command.by != seat.terminal:
        expected = f"the terminal of seat {seat.name} ({seat.terminal or 'none'})"
        return refused(Reason.NOT_HIS_TO_DO, "house:terminals", expected, command.by)
    return _registered(table, command, seat, _CREDITS, command.bets, at_request=False)


def record(table: Table, command: RecordBets) -> Events | Refusal:
    """Chips as they lie, recorded by staff or a chip reader."""
    wrong = _may_record(table, command)
    if wrong:
        return wrong
    name = table.colours.get(command.colour) if command.colour is not None else command.seat
    seat = table.seats.get(name) if name is not None else None
    if seat is None or not seat.taken:
        got = command.colour if command.colour is not None else command.seat
        return no_seat(table, got, "a seat or colour that is taken")
    if command.means is Means.COLOUR_CHIPS and not seat.colour_value:
        expected = "colour chips that the seat bought"
        return refused(Reason.WRONG_MEANS, "house:colour-chips", expected, "none")
    slips = _in_money(command, seat)
    return _registered(table, command, seat, command.means, slips, at_request=command.at_request)


def _in_money(command: PlaceBets | RecordBets, seat: Seat) -> tuple[Slip, ...]:
    """The bets with their stakes in money, where they came in pieces of the player's own value."""
    if isinstance(command, PlaceBets) or command.means is not Means.COLOUR_CHIPS:
        return command.bets
    return tuple(Slip(one.id, one.area, one.stake * seat.colour_value) for one in command.bets)


def _may_record(table: Table, command: RecordBets) -> Refusal | None:
    if command.by == CHIP_READER:
        wrong = None if table.open else at_table(table, command.by)
    else:
        wrong = at_table(table, command.by)
    if wrong:
        return wrong
    if command.means is Means.CREDITS or command.means not in table.means:
        clause = table.means.get(Means.CASH_CHIPS) or next(iter(table.means.values()))
        expected = f"bets with {', '.join(one for one in table.means)}"
        if command.means is Means.CREDITS:
            return refused(Reason.WRONG_MEANS, "house:terminals", "chips that lie on a layout", command.means)
        return refused(Reason.WRONG_MEANS, clause, expected, command.means)
    if command.at_request:
        return _may_place_for_player(table, command.by)
    return None


def _may_place_for_player(table: Table, by: str) -> Refusal | None:
    placing = table.ranks.placing
    if placing is None:
        return refused(Reason.NOT_HIS_TO_DO, "house:outside-the-rules", "players to place their own bets", by)
    wrong: Refusal | None = None
    for position in placing.by:
        wrong = may_act(table, by, position, placing.clause)
        if wrong is None:
            return None
    return wrong


def _registered(
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
        return _again(table, table.past(command.round), command, seat, means)
    known = round_.bets
    for slip in slips:
        if slip.id in known:
            return _again(table, round_, command, seat, means)
        if not 0 < len(slip.id) <= MOST_ID:
            return _about(
                slip, Reason.BAD_VALUE, RETRIES, f"an id of 1 to {MOST_ID} characters", len(slip.id)
            )
    if len(slips) > 1 and len({slip.id for slip in slips}) < len(slips):
        return refused(Reason.BAD_VALUE, RETRIES, "an id of its own for every bet", "one twice")
    phase = round_.phase
    if (phase is not _OPEN and phase is not _OPEN_TUMBLED) or table.held is not None:
        return _too_late(table, command.round)
    if not 0 < len(slips) <= MOST_IN_BATCH or len(known) + len(slips) > MOST_BETS:
        expected = f"1 to {MOST_IN_BATCH} bets at once and {MOST_BETS} in a round"
        return refused(Reason.TOO_MANY, "house:most", expected, len(slips))
    terms = seat.terms
    assert terms is not None
    wrong = _refusal(table, round_, seat, terms, means, slips=slips)
    if wrong is not None:
        return wrong
    at, by, number, name, layout = command.at, command.by, round_.number, seat.name, terms.layout
    placing = table.ranks.placing
    clause = placing.clause if at_request and placing else table.bet_clause
    return tuple(
        [
            BetRegistered(
                at=at, by=by, clause=clause, round=number, id=slip.id, seat=name, means=means,
                layout=layout, area=slip.area, stake=slip.stake, at_request=at_request,
            )
            for slip in slips
        ]
    )  # fmt: skip


def _again(
    table: Table, known: Round | None, command: PlaceBets | RecordBets, seat: Seat, means: Means
) -> Events | Refusal:
    """A batch of which something is known already: a retry, or ids that are taken."""
    slips = _in_money(command, seat)
    taken = [slip for slip in slips if known is not None and slip.id in known.bets]
    if known is None or not taken:
        return _too_late(table, command.round)
    for slip in taken:
        bet = known.bets[slip.id]
        if (bet.seat, bet.means, bet.area, bet.stake) != (seat.name, means, slip.area, slip.stake):
            expected = f"bet {slip.id} as it was registered ({bet.seat}, {bet.area}, {bet.stake})"
            got = f"{seat.name}, {slip.area}, {slip.stake}"
            return _about(slip, Reason.OTHER_CONTENT, RETRIES, expected, got)
    if len(taken) < len(slips):
        fresh = next(slip for slip in slips if slip.id not in known.bets)
        expected = f"the whole batch of {taken[0].id} again, or none of it"
        return _about(fresh, Reason.OTHER_CONTENT, RETRIES, expected, f"{fresh.id} with it")
    return ()


def _too_late(table: Table, number: int) -> Refusal:
    """Why bets are not taken now: no round, another round, the close, or something that is open."""
    opens = table.clause_of(Act.OPEN_BETS)
    if not table.open:
        return refused(Reason.TABLE_NOT_OPEN, "house:table", "a table that is open", "one that is not")
    if table.round is None:
        return refused(Reason.OUT_OF_ORDER, opens, "bets to be open", "no round in hand")
    if number != table.round.number:
        return refused(Reason.WRONG_ROUND, RETRIES, f"a bet in round {table.round.number}", f"round {number}")
    if table.held and table.round.phase.bets_open:
        return refused(
            Reason.ON_HOLD, table.held.clause, f"the {table.held.hold} to be over first", "it is open"
        )
    ruled = table.irregularities.ruled(Irregularity.LATE_BET, table.round.phase, table.settings)
    return refused(Reason.LATE, ruled.clause, "a bet before the close", f"one when {table.round.phase}")


def _refusal(  # noqa: C901  every bet passes here: one loop, and no calls in it
    table: Table, round_: Round, seat: Seat, terms: Terms, means: Means, *, slips: tuple[Slip, ...]
) -> Refusal | None:
    """Why a batch cannot be taken, looking at every bet of it in turn."""
    refusals: list[Refusal] = []
    columns = round_.columns.get(terms.layout)
    wanted, bound, steps = 0, round_.bound, terms.steps
    laid: list[tuple[int, int, int]] = []
    """(row, stake, how much of it is within the limits) of the bets looked at so far."""
    for slip in slips:
        stake = slip.stake
        row = terms.rows.get(slip.area, -1)
        if row < 0 or type(stake) is not int or not 0 < stake <= terms.greatest[row] or stake % steps[row]:
            refusals.append(_not_a_bet(terms, slip))
            continue
        lying = 0
        column = columns[row] if columns is not None else None
        if column is not None:
            for purse in seat.purses.values():
                if purse.lane < len(column):
                    lying += column[purse.lane]
        for other, with_it, _ in laid:
            if other == row:
                lying += with_it
        total, counted = lying + stake, stake
        if total > terms.most[row] or total < terms.least[row]:
            outside = _outside_limits(table, terms, row, slip, total)
            if outside is not None:
                refusals.append(outside)
                continue
            counted = min(total, terms.most[row]) - min(lying, terms.most[row])
        wanted += stake
        bound += counted * terms.best[row]
        laid.append((row, stake, counted))
    if refusals:
        return first(refusals)
    short = _credits_short(seat, means, wanted)
    if short is not None:
        return short
    exposure = table.limits.exposure
    ceiling = GREATEST_SUM if exposure is None else min(GREATEST_SUM, exposure + round_.staked + wanted)
    if bound <= ceiling * terms.unit:
        return None
    return _beyond_exposure(table, round_, terms, laid, ceiling)


def _credits_short(seat: Seat, means: Means, wanted: int) -> Refusal | None:
    """Why the player cannot carry the bets; cash chips lie there already."""
    if means is not _CREDITS and means is not _COLOUR:
        return None
    purse = seat.purses.get(means)
    has = purse.credits if purse is not None else 0
    if has >= wanted:
        return None
    clause = CREDITS if means is _CREDITS else Clause("house:colour-chips")
    return refused(Reason.CREDITS_SHORT, clause, f"credits of {wanted}", has)


def _beyond_exposure(
    table: Table, round_: Round, terms: Terms, laid: list[tuple[int, int, int]], ceiling: int
) -> Refusal | None:
    """Why the house cannot carry the bets, outcome by outcome."""
    returned = round_.returned + sum(counted * terms.lanes[row] for row, _, counted in laid)
    if lanes.none_above(returned, ceiling * terms.unit, ONES, GUARDS):
        return None
    if table.limits.exposure is None:
        clause = Clause("house:greatest-sum")
        return refused(Reason.BEYOND_GREATEST_SUM, clause, "returns of at most 2^53 - 1", "more")
    staked = round_.staked + sum(stake for _, stake, _ in laid)
    worst = max(lanes.unpacked(returned, len(OUTCOMES))) // terms.unit - staked
    expected = f"an exposure of at most {table.limits.exposure}"
    return refused(Reason.EXPOSURE, "house:exposure", expected, worst)


def _outside_limits(table: Table, terms: Terms, row: int, slip: Slip, total: int) -> Refusal | None:
    """Why a stake outside the limits is refused, where the document does not have it settled."""
    limits = table.book.limits
    if total > terms.most[row]:
        if limits.over_maximum is not LimitPolicy.REFUSE:
            return None
        expected = f"at most {terms.most[row]} of one player on {slip.area}"
        return _about(slip, Reason.OVER_MAXIMUM, limits.over_clause, expected, total)
    if limits.under_minimum is not LimitPolicy.REFUSE:
        return None
    expected = f"at least {terms.least[row]} of one player on {slip.area}"
    return _about(slip, Reason.UNDER_MINIMUM, limits.under_clause, expected, total)


def _about(slip: Slip, reason: Reason, clause: Clause, expected: str, got: object) -> Refusal:
    return refused(reason, clause, expected, got)._replace(bet=slip.id)


def _not_a_bet(terms: Terms, slip: Slip) -> Refusal:
    """Why the matrix does not take it, in its own words."""
    wrong = terms.matrix.refusal(Bet.on(slip.area, slip.stake))
    if wrong is None:
        row = terms.rows[slip.area]
        expected = f"a stake on {slip.area} of at most {terms.greatest[row]}"
        return _about(slip, Reason.BEYOND_GREATEST_SUM, Clause("house:greatest-sum"), expected, slip.stake)
    return Refusal(Reason(wrong.reason), wrong.clause, wrong.message, slip.id)


# Taking back and moving


def take_back(table: Table, command: TakeBack) -> Events | Refusal:
    """Bets that go back before the close; after it they stay live."""
    seat = table.seats.get(command.seat)
    if seat is None or not seat.taken:
        return no_seat(table, command.seat)
    if command.by not in (seat.terminal, CHIP_READER):
        wrong = at_table(table, command.by)
        if wrong:
            return wrong
    round_ = table.round
    if round_ is None or round_.number != command.round:
        return _too_late(table, command.round)
    for name in command.ids:
        if name not in round_.bets or round_.bets[name].seat != seat.name:
            return refused(Reason.UNKNOWN_BET, RETRIES, f"a bet of seat {seat.name}", name)._replace(bet=name)
    ids = [name for name in dict.fromkeys(command.ids) if name not in round_.gone]
    if not ids:
        return ()
    if not round_.phase.bets_open:
        ruled = table.irregularities.ruled(Irregularity.LATE_WITHDRAWAL, round_.phase, table.settings)
        return refused(
            Reason.LATE, ruled.clause, "a bet taken back before the close", f"{round_.phase}: it stays live"
        )
    if table.held:
        return _too_late(table, command.round)
    return _left_under_minimum(table, round_, seat, ids) or tuple(
        BetTakenBack(
            at=command.at, by=command.by, clause=table.clause_of(Act.CLOSE_BETS), round=round_.number, id=name
        )
        for name in ids
    )


def _left_under_minimum(table: Table, round_: Round, seat: Seat, ids: list[str]) -> Refusal | None:
    if table.book.limits.under_minimum is not LimitPolicy.REFUSE:
        return None
    left: dict[tuple[str, str], int] = {}
    for bet in round_.live():
        if bet.seat == seat.name and bet.id not in ids:
            left[bet.layout, bet.area] = left.get((bet.layout, bet.area), 0) + bet.stake
    for name in ids:
        bet = round_.bets[name]
        rest = left.get((bet.layout, bet.area), 0)
        terms = table.terms[bet.layout]
        if 0 < rest < terms.least[terms.rows[bet.area]]:
            expected = f"nothing or at least {terms.least[terms.rows[bet.area]]} left on {bet.area}"
            return refused(Reason.UNDER_MINIMUM, table.book.limits.under_clause, expected, rest)._replace(
                bet=name
            )
    return None


def lying_on(round_: Round, seat: Seat, terms: Terms, row: int) -> int:
    """What a player has on an area, whatever it is made of."""
    columns = round_.columns.get(terms.layout)
    column = columns[row] if columns else None
    if column is None:
        return 0
    return sum(column[purse.lane] for purse in seat.purses.values() if purse.lane < len(column))


def exposures(table: Table) -> list[int]:
    """What the house would lose on each of the 56 outcomes; negative where it would win."""
    round_ = table.round
    if round_ is None:
        return [0] * len(OUTCOMES)
    unit = next(iter(table.terms.values())).unit
    return [amount // unit - round_.staked for amount in lanes.unpacked(round_.returned, len(OUTCOMES))]


def positions_fixed(table: Table, round_: Round) -> bool:
    """Whether bets already count as they lie."""
    return table.procedure.positions.fixed_by in round_.acts


def move(table: Table, command: MoveBet) -> Events | Refusal:
    """A bet lies elsewhere than it was recorded."""
    wrong = at_table(table, command.by) if command.by != CHIP_READER or not table.open else None
    if wrong:
        return wrong
    round_ = table.round
    if round_ is None or round_.number != command.round:
        return _too_late(table, command.round)
    bet = round_.bets.get(command.id)
    if bet is None or command.id in round_.gone:
        return refused(Reason.UNKNOWN_BET, RETRIES, "a bet that stands in this round", command.id)
    clause = table.procedure.positions.clause
    if bet.means is Means.CREDITS:
        return refused(Reason.NOT_HIS_TO_DO, "house:terminals", "a bet of chips on a layout", bet.means)
    if positions_fixed(table, round_):
        got = f"{table.procedure.positions.fixed_by} is done"
        return refused(Reason.LATE, clause, "a move before positions count", got)
    terms = table.terms[bet.layout]
    if bet.area == command.area:
        return ()
    slip = Slip(bet.id, command.area, bet.stake)
    row = terms.rows.get(command.area, -1)
    if row < 0 or bet.stake > terms.greatest[row] or bet.stake % terms.steps[row]:
        return _not_a_bet(terms, slip)
    total = lying_on(round_, table.seats[bet.seat], terms, row) + bet.stake
    outside = _outside_limits(table, terms, row, slip, total) if total > terms.most[row] else None
    return outside or (
        BetMoved(
            at=command.at, by=command.by, clause=clause, round=round_.number, id=bet.id, area=command.area
        ),
    )

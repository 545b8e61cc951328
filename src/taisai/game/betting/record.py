"""Corrections of the record: what was recorded of a round's chips is put right, as they lay on the layout."""

from __future__ import annotations

from typing import Final

from msgspec.structs import replace

from taisai.game.betting.messages import BetRegistered, CorrectRecord, RecordCorrected, RecordedBet, Slip
from taisai.game.betting.placing import (
    RETRIES,
    credits_short,
    means_refusal,
    not_a_bet,
    outside_limits,
    withdrew,
)
from taisai.game.betting.rewriting import RecordEdit, restated
from taisai.game.checks import at_least, at_table, bad_name, bad_text, listed, refused, two_people
from taisai.game.irregularities import consequences, rulings
from taisai.game.irregularities.consequences import IrregularityCase
from taisai.game.messages import Events
from taisai.game.money import packed_sums
from taisai.game.refusals import Reason, Refusal
from taisai.game.rounds.corrections import CorrectionOrder, resettled, unpaid
from taisai.game.rounds.round import Round, SeatedPlayer
from taisai.game.table import MOST_BETS, Deciders, Table
from taisai.game.terms.terms import GUARDS, ONES, Terms
from taisai.game.vocabulary import Means, RecordChange
from taisai.rules.clauses import Clause
from taisai.rules.equipment import LimitPolicy
from taisai.rules.settlement import GREATEST_SUM
from taisai.rules.vocabulary import Irregularity, Visibility

TERMINALS: Final = Clause("house:terminals")
_NEW_IDS: Final = {RecordChange.ADD: "id", RecordChange.SPLIT: "new_id"}
"""Change → the field with the id of the new bet."""
_GIVES_MORE: Final = frozenset({RecordChange.ADD, RecordChange.SEAT, RecordChange.AREA, RecordChange.SPLIT})
"""Changes that take two people once a die is seen, as a raised stake does."""


def correct(table: Table, command: CorrectRecord) -> Events | Refusal:
    """Someone of the rank puts the record right; after a die is seen, two do if a player may gain by it."""
    rules = table.book.record
    if rules is None:
        return at_table(table, command.by) or _no_record(table)
    refusal = at_least(table, command.by, rules.by, rules.clause)
    refusal = refusal or bad_text("a reason", command.reason, least=1)
    refusal = refusal or bad_text("evidence (camera and time)", command.evidence, least=1)
    if refusal:
        return refusal
    round_ = _round_of(table, command)
    if isinstance(round_, Refusal):
        return round_
    edit = _edit(table, round_, command)
    if edit is None or isinstance(edit, Refusal):
        return edit or ()
    takes_two = _takes_two(round_, command.change, edit)
    if takes_two or command.second is not None:
        refusal = two_people(table, command.by, command.second)
    refusal = refusal or _not_together(table, round_, edit)
    if refusal:
        return refusal
    event = RecordCorrected(
        at=command.at, by=command.by, clause=rules.clause, round=round_.number, change=command.change,
        before=edit.before, after=edit.after, part=edit.part, reason=command.reason,
        evidence=command.evidence, second=command.second,
    )  # fmt: skip
    trial = restated(table, round_, event)
    refusal = _too_great(table, trial)
    limited = _outside(table, command, round_, trial, edit) if refusal is None else ()
    if refusal or isinstance(limited, Refusal):
        return refusal or limited
    if round_.settled is None:
        return (event, *limited)
    assert round_.result is not None
    order = CorrectionOrder(command.at, command.by, command.second, rules.clause)
    again = resettled(table, order, trial, round_.result, is_unpaid=unpaid(table, round_))
    return (event, again, *limited)


def _no_record(table: Table) -> Refusal:
    """Why there is no record of chips to correct."""
    if Means.CREDITS in table.means:
        message = "players bet at terminals here: the terminal is the record, and nobody corrects it"
        return refused(Reason.NOT_PERMITTED, TERMINALS, message)
    message = f"this edition of {table.book.id} names nobody who corrects the record of the chips"
    return refused(Reason.NOT_PERMITTED, "house:outside-the-rules", message)


def _round_of(table: Table, command: CorrectRecord) -> Round | Refusal:
    current = table.round
    newest = len(table.rounds) + (current is not None)
    number = newest if command.round is None else command.round
    round_ = current if current is not None and current.number == number else table.past(number)
    if round_ is None:
        message = (
            f"expected a round from 1 to {newest}, got {number}" if newest else "no round was played yet"
        )
        return refused(Reason.WRONG_ROUND, "house:order", message)
    if round_.settled is None and round_ is not current and not round_.voided:
        message = f"round {number} ended without a settlement, and nothing remains to correct"
        return refused(Reason.RULED_OUT, "house:order", message)
    if round_.voided:
        message = f"round {number} is void: every bet went back, and nothing remains to correct"
        return refused(Reason.RULED_OUT, table.irregularities.void, message)
    return round_


def _takes_two(round_: Round, change: RecordChange, edit: RecordEdit) -> bool:
    """Whether a second person is needed: settled money moves, or a die is seen and a player may gain."""
    if round_.settled is not None:
        return True
    is_seen = round_.seen or round_.phase.visibility is Visibility.SHOWN
    return is_seen and (change in _GIVES_MORE or edit.raises)


# What the command asks for


def _edit(table: Table, round_: Round, command: CorrectRecord) -> RecordEdit | Refusal | None:
    """The bets before and after the correction; None if the record says so already."""
    change = command.change
    new_id = _new_id(round_, command)
    if isinstance(new_id, Refusal):
        return new_id
    if change is RecordChange.ADD:
        return _added(table, round_, command, new_id)
    bet = round_.bets.get(command.id)
    if bet is None or (command.id in round_.gone and change is not RecordChange.REMOVE):
        message = f"no bet {command.id!r} stands in round {round_.number}"
        return refused(Reason.UNKNOWN_BET, RETRIES, message)
    if bet.means is Means.CREDITS:
        message = f"only chips on the layout are recorded by staff: bet {bet.id} is of {bet.means}"
        return refused(Reason.NOT_PERMITTED, TERMINALS, message)
    before = _as_recorded(bet)
    if change is RecordChange.REMOVE:
        return None if bet.id in round_.gone else RecordEdit(before, None)
    if change is RecordChange.SPLIT:
        return _split(table, round_, command, before, new_id)
    wanted = {RecordChange.STAKE: "stake", RecordChange.SEAT: "seat", RecordChange.AREA: "area"}[change]
    if getattr(command, wanted) is None:
        return _missing(wanted, change)
    after = _changed(table, round_, command, before)
    if isinstance(after, Refusal):
        return after
    return None if after == before else RecordEdit(before, after)


def _as_recorded(bet: BetRegistered) -> RecordedBet:
    return RecordedBet(bet.id, bet.seat, bet.means, bet.layout, bet.area, bet.stake)


def _missing(field: str, change: RecordChange) -> Refusal:
    return refused(Reason.BAD_VALUE, RETRIES, f"{field} is missing: {change} needs it")


def _new_id(round_: Round, command: CorrectRecord) -> str | Refusal:
    """The id of the bet that comes into the record: as given, or the next free one."""
    field = _NEW_IDS.get(command.change)
    given = getattr(command, field) if field is not None else ""
    if given or field is None:
        return (bad_name("an id", given) if given else None) or given
    number = len(round_.bets) + 1
    while f"corrected-{number}" in round_.bets:
        number += 1
    return f"corrected-{number}"


def _added(table: Table, round_: Round, command: CorrectRecord, new_id: str) -> RecordEdit | Refusal | None:
    for field in ("seat", "means", "area", "stake"):
        if getattr(command, field) is None:
            return _missing(field, command.change)
    assert command.seat is not None
    assert command.means is not None
    assert command.area is not None
    assert command.stake is not None
    seated = _seated(table, round_, command.seat)
    if isinstance(seated, Refusal):
        return seated
    if refusal := means_refusal(table, command.means, command.seat, seated.colour_value):
        return refusal
    stake = command.stake * (seated.colour_value if command.means is Means.COLOUR_CHIPS else 1)
    bet = RecordedBet(
        new_id, command.seat, command.means, _layout(table, round_, command.seat), command.area, stake
    )
    known = round_.bets.get(new_id)
    if known is not None:
        return _again(known, bet)
    if len(round_.bets) >= MOST_BETS:
        return refused(Reason.TOO_MANY, "house:most", f"round {round_.number} has {MOST_BETS} bets, the most")
    return _not_laid(table, round_, bet) or RecordEdit(None, bet)


def _again(known: BetRegistered, bet: RecordedBet) -> Refusal | None:
    """A retry of a correction whose bet is in the record already changes nothing."""
    if _as_recorded(known) == bet:
        return None
    message = f"bet {known.id} is in the record, of seat {known.seat} with {known.stake} on {known.area}"
    return refused(Reason.DIFFERENT_CONTENT, RETRIES, message)._replace(bet=known.id)


def _layout(table: Table, round_: Round, seat: str) -> str:
    """The layout on which the chips of a seat lay."""
    own = table.seats[seat].layout
    return own if own in table.in_force[round_.terms] else table.layout


def _seated(table: Table, round_: Round, name: str) -> SeatedPlayer | Refusal:
    """The player who sat on a seat in a round."""
    seated = round_.seated.get(name)
    if seated is None:
        message = f"nobody sat at seat {name} in round {round_.number}; seats: {listed(round_.seated)}"
        return refused(Reason.UNKNOWN_SEAT, "house:seats", message)
    seat = table.seats[name]
    is_open = round_.settled is None or unpaid(table, round_)
    if is_open and (not seat.taken or seat.session != seated.session):
        message = (
            f"the player of seat {name} has left: “Correct the record of an earlier round” when round "
            f"{round_.number} is paid, then a claim follows"
        )
        return refused(Reason.UNKNOWN_SEAT, "house:seats", message)
    if seated.memory_key in round_.withdrawn and round_.settled is None:
        return withdrew(table, round_, seat)
    return seated


def _changed(
    table: Table, round_: Round, command: CorrectRecord, before: RecordedBet
) -> RecordedBet | Refusal:
    """A bet with its true stake, seat or area."""
    change, after = command.change, before
    if change is RecordChange.STAKE:
        assert command.stake is not None
        stake = _in_money(table, round_, before, before.seat, command.stake)
        if isinstance(stake, Refusal):
            return stake
        after = replace(before, stake=stake)
    elif change is RecordChange.AREA:
        assert command.area is not None
        after = replace(before, area=command.area)
    elif command.seat != before.seat:
        assert command.seat is not None
        moved = _at_seat(table, round_, before, command.seat)
        if isinstance(moved, Refusal):
            return moved
        after = moved
    if after == before:
        return after
    return _not_laid(table, round_, after) or after


def _at_seat(table: Table, round_: Round, bet: RecordedBet, name: str) -> RecordedBet | Refusal:
    """A bet as one of another player: so many colour chips have the value of that player's colour."""
    seated = _seated(table, round_, name)
    if isinstance(seated, Refusal):
        return seated
    if refusal := means_refusal(table, bet.means, name, seated.colour_value):
        return refusal
    stake = bet.stake
    if bet.means is Means.COLOUR_CHIPS:
        value = round_.seated[bet.seat].colour_value
        stake = bet.stake // value * seated.colour_value
    return replace(bet, seat=name, stake=stake)


def _in_money(table: Table, round_: Round, bet: RecordedBet, seat: str, stake: int) -> int | Refusal:
    """A stake in money, which is given in pieces for colour chips."""
    seated = _seated(table, round_, seat)
    if isinstance(seated, Refusal):
        return seated
    return stake * (seated.colour_value if bet.means is Means.COLOUR_CHIPS else 1)


def _split(
    table: Table, round_: Round, command: CorrectRecord, before: RecordedBet, new_id: str
) -> RecordEdit | Refusal | None:
    if command.stake is None:
        return _missing("stake", command.change)
    part_stake = _in_money(table, round_, before, before.seat, command.stake)
    if isinstance(part_stake, Refusal):
        return part_stake
    part = replace(before, id=new_id, stake=part_stake)
    if command.seat is not None and command.seat != before.seat:
        moved = _at_seat(table, round_, part, command.seat)
        if isinstance(moved, Refusal):
            return moved
        part = moved
    part = replace(part, area=command.area or before.area)
    if (known := round_.bets.get(new_id)) is not None:
        return _again(known, part)
    if (part.seat, part.area) == (before.seat, before.area):
        message = f"expected another area or seat for the part of bet {before.id}, got the same"
        return refused(Reason.BAD_VALUE, RETRIES, message)
    if not 0 < part_stake < before.stake:
        message = f"expected a part of bet {before.id} between 0 and {before.stake}, got {part_stake}"
        return refused(Reason.BAD_VALUE, "house:stakes", message)
    if len(round_.bets) >= MOST_BETS:
        return refused(Reason.TOO_MANY, "house:most", f"round {round_.number} has {MOST_BETS} bets, the most")
    rest = replace(before, stake=before.stake - part_stake)
    refusal = _not_laid(table, round_, rest) or _not_laid(table, round_, part)
    return refusal or RecordEdit(before, rest, part)


def _not_laid(table: Table, round_: Round, bet: RecordedBet) -> Refusal | None:
    """Why no chips can have lain so: no such area, or a stake that is no bet there."""
    terms = table.in_force[round_.terms][bet.layout]
    row = terms.rows.get(bet.area, -1)
    if row < 0 or not 0 < bet.stake <= terms.greatest[row] or bet.stake % terms.steps[row]:
        return not_a_bet(terms, Slip(bet.id, bet.area, bet.stake))
    return None


# Whether it fits together


def _not_together(table: Table, round_: Round, edit: RecordEdit) -> Refusal | None:
    """Why colour chips cannot have lain there: the player has no more of them."""
    if round_.settled is not None and not unpaid(table, round_):
        return None  # what is missing becomes a claim
    changes: dict[tuple[str, Means], int] = {}
    for bet, stake in edit.stakes():
        if bet.means.purse is not Means.CASH_CHIPS:
            changes[bet.seat, bet.means] = changes.get((bet.seat, bet.means), 0) + stake
    for (seat, means), change in changes.items():
        has = table.seats[seat].purses[means].credits
        if change > has:
            return credits_short(means, change, has)
    return None


def _too_great(table: Table, trial: Round) -> Refusal | None:
    """Why the sums of the round would be too great."""
    if trial.staked > GREATEST_SUM:
        message = f"expected stakes of at most 2^53 - 1 in a round, got {trial.staked}"
        return refused(Reason.BEYOND_GREATEST_SUM, "house:greatest-sum", message)
    in_force = table.in_force[trial.terms]
    returned = 0
    for bet in trial.live():
        terms = in_force[bet.layout]
        returned += bet.stake * terms.packed_returns[terms.rows[bet.area]]
    unit = next(iter(in_force.values())).unit
    if packed_sums.none_above(returned, GREATEST_SUM * unit, ONES, GUARDS):
        return None
    message = "the returns would exceed 2^53 - 1 on an outcome of the round"
    return refused(Reason.BEYOND_GREATEST_SUM, "house:greatest-sum", message)


def _outside(
    table: Table, command: CorrectRecord, round_: Round, trial: Round, edit: RecordEdit
) -> Events | Refusal:
    """What follows from stakes outside the limits, where the document refuses them when they are laid.

    While bets are open the chips are given back instead of being recorded; after that it is referred.
    """
    if table.book.limits.over_maximum is not LimitPolicy.REFUSE:
        return ()
    found = [
        (bet, refusal) for bet, stake in edit.stakes()
        if stake > 0 and (refusal := _limit_refusal(table, trial, bet)) is not None
    ]  # fmt: skip
    if not found:
        return ()
    bet, refusal = found[0]
    if round_ is table.round and round_.phase.bets_open:
        return refusal
    is_over = refusal.reason is Reason.OVER_MAXIMUM
    event = Irregularity.OVER_MAXIMUM if is_over else Irregularity.UNDER_MINIMUM
    phase = round_.phase
    ruled = table.irregularities.ruling_for(event, phase, table.settings)
    case = IrregularityCase(
        command.at, command.by, event, round_, phase, ruled, detail=f"bet {bet.id}: {refusal.message}",
        second=command.second,
    )  # fmt: skip
    follows = consequences.consequences(table, case)
    assert not isinstance(follows, Refusal)
    return (rulings.ruling_record(table, case), *follows)


def _limit_refusal(table: Table, trial: Round, bet: RecordedBet) -> Refusal | None:
    """Why a player could not have had so much, or so little, on an area."""
    terms: Terms = table.in_force[trial.terms][bet.layout]
    row = terms.rows[bet.area]
    total = sum(
        other.stake for other in trial.live()
        if (other.seat, other.layout, other.area) == (bet.seat, bet.layout, bet.area)
    )  # fmt: skip
    if terms.least[row] <= total <= terms.most[row]:
        return None
    return outside_limits(table, terms, row, Slip(bet.id, bet.area, bet.stake), total)


DECIDERS: Final[Deciders] = {CorrectRecord: correct}

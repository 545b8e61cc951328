"""A table as its staff see it."""

from __future__ import annotations

from typing import Final

import msgspec

from taisai.game import Table, exposures
from taisai.game.dice.readings import faces_read, suggested
from taisai.game.equipment.items import HOUR
from taisai.game.vocabulary import Hold, Means
from taisai.protocol import views
from taisai.rules.equipment import EquipmentItem, InspectedBefore
from taisai.rules.outcomes import OUTCOMES, Outcome
from taisai.server.projections import texts
from taisai.server.projections.held_reports import report_lines
from taisai.server.projections.offers import irregularities, offers
from taisai.server.projections.seats import colours
from taisai.server.projections.table import countdown_view

MOST_SEATS: Final = 200  # that are shown; all are counted
MOST_REFERRALS: Final = 50  # that are shown
MOST_CLAIMS: Final = 100  # that are shown


def console_view(
    table: Table,
    *,
    now: int | None = None,
    countdown: views.CountdownView | None = None,
    transfers: tuple[views.TransferInTransit, ...] = (),
    watch: views.WatchView | None = None,
) -> views.ConsoleView:
    """A table as its staff see it. The caller gives clock, transfers and the test of the dice."""
    return views.ConsoleView(
        table=table.name,
        day=table.day,
        shift=table.shift,
        offers=offers(table, now),
        irregularities=irregularities(table, now),
        countdown=countdown or countdown_view(table),
        people=tuple(
            views.PersonLine(
                name=name, rank=person.rank, position=person.position,
                label=texts.rank_label(table, person.position),
            )
            for name, person in table.people.items()
        ),
        equipment=tuple(_item(table, item) for item in table.equipment.items.values()),
        shoe=_shoe(table),
        seats=_seats(table),
        risk=_risk(table),
        referrals=tuple(map(texts.referral_line, texts.waiting(table, MOST_REFERRALS))),
        reports=report_lines(table, table.latest if now is None else now),
        withdrawal=_withdrawal(table),
        claims=texts.claim_lines(table.claims.values(), MOST_CLAIMS),
        reading=_reading(table, now),
        transfers=transfers,
        watch=watch,
        exposure=table.limits.exposure,
        odds=dict(table.offers),
    )  # fmt: skip


def after_bets(before: views.ConsoleView, table: Table) -> views.ConsoleView | None:
    """The console after changes of bets only, made much faster; None if they may change its offers."""
    if before.referrals or before.claims or before.reports:
        return None
    if table.equipment.outlived(table.latest, table.settings) is not None:
        return None  # dice that became too old are offered to be replaced before the shake
    return msgspec.structs.replace(before, seats=_seats(table), risk=_risk(table))


def _item(table: Table, item: EquipmentItem) -> views.ItemLine:
    kit, hours = table.equipment, item.hours_on_table
    placed = kit.placed.get(item.id)
    due = (
        inspection
        for before in InspectedBefore
        for other, inspection in kit.due(before, table.settings)
        if other.id == item.id
    )
    return views.ItemLine(
        item=item.id,
        label=texts.item_label(table, item.id),
        clause=str(item.clause),
        placed=placed is not None,
        failed=placed is not None and not placed.working,
        serial=placed.serial if placed else "",
        custodian=placed.custodian if placed else None,
        until=placed.since + hours * HOUR if placed and hours is not None else None,
        due=tuple(
            views.InspectionDue(before=str(one.before), by=one.by, runs=one.runs, clause=str(one.clause))
            for one in due
        ),
    )


def _shoe(table: Table) -> views.ShoeView | None:
    shoe = table.shoe
    if not shoe.used:
        return None
    return views.ShoeView(
        decks=shoe.decks, cards=shoe.cards, left=shoe.left, burnt=shoe.burnt, rounds=shoe.rounds,
        seen=tuple(shoe.seen), shuffled=shoe.shuffled, spoilt=shoe.spoilt,
        unready=shoe.unready(table.settings),
    )  # fmt: skip


def _seats(table: Table) -> views.SeatsView:
    taken = [seat for seat in table.seats.values() if seat.taken]
    return views.SeatsView(
        taken=len(taken),
        shown=tuple(
            views.SeatLine(
                seat=seat.name, player=seat.player, terminal=seat.terminal, session=seat.session,
                layout=seat.layout, at_risk=seat.at_risk,
                credits=sum(purse.credits for purse in seat.purses.values()),
                colour=seat.colour, colour_value=seat.colour_value,
            )
            for seat in taken[:MOST_SEATS]
        ),
        colours=colours(len(taken) + 1) if Means.COLOUR_CHIPS in table.means else (),
    )  # fmt: skip


def _risk(table: Table) -> views.RiskView | None:
    round_ = table.round
    if round_ is None:
        return None
    losses = exposures(table)
    worst, best = losses.index(max(losses)), losses.index(min(losses))
    return views.RiskView(
        staked=round_.staked, bets=len(round_.bets) - len(round_.gone),
        worst=texts.extreme(OUTCOMES[worst], losses[worst]),
        best=texts.extreme(OUTCOMES[best], losses[best]), exposures=tuple(losses),
    )  # fmt: skip


def _withdrawal(table: Table) -> views.WithdrawalView | None:
    clause = table.holds.get(Hold.WITHDRAWAL)
    if clause is None or table.round is None:
        return None
    chosen = table.round.choices
    unasked = [seat for seat in table.round.seats() if seat not in chosen]
    return views.WithdrawalView(
        clause=str(clause), chosen=dict(chosen), waiting=len(unasked),
        unasked=tuple(
            views.UnaskedSeat(seat=seat, player=table.seats[seat].player, at_risk=table.seats[seat].at_risk)
            for seat in unasked[:MOST_SEATS]
        ),
    )  # fmt: skip


def _reading(table: Table, now: int | None) -> views.ReadingView | None:
    """The reading of the current shake; after a fault, with the irregularity to report."""
    reading = table.round.reading if table.round else None
    if reading is None:
        return None
    fault, faces = reading.fault, faces_read(table)
    return views.ReadingView(
        id=reading.id, device=reading.device, shake=reading.shake,
        faces=texts.faces_of(Outcome.of(*faces)) if faces else None, fault=str(fault) if fault else None,
        label=texts.FAULTS[fault] if fault else texts.SAW,
        suggested=irregularities(table, now, (suggested(table, fault),))[0] if fault else None,
    )  # fmt: skip

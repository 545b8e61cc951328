"""A table as its staff see it."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import Final

import msgspec

from taisai.game import Table, events, exposures
from taisai.game.dice.readings import faces_read, suggested
from taisai.game.equipment.items import HOUR
from taisai.game.vocabulary import Hold, Means
from taisai.protocol.views import (
    ConsoleView,
    CountdownView,
    InspectionDue,
    ItemLine,
    PersonLine,
    ReadingView,
    RiskView,
    SeatLine,
    SeatsView,
    ShoeView,
    TransferInTransit,
    WatchView,
    WithdrawalView,
)
from taisai.rules.equipment import EquipmentItem, InspectedBefore
from taisai.rules.outcomes import OUTCOMES, Outcome
from taisai.server.projections import texts
from taisai.server.projections.betting_time import countdown_view
from taisai.server.projections.labels import (
    claim_line,
    colours,
    extreme,
    faces_of,
    item_label,
    rank_label,
    waiting,
)
from taisai.server.projections.offers import irregularities, irregularity, offers

MOST_SEATS: Final = 200  # that are shown; all are counted
MOST_REFERRALS: Final = 50  # that are shown
MOST_CLAIMS: Final = 100  # that are shown
ONLY_BETS: Final = frozenset({events.BetRegistered, events.BetTakenBack, events.BetMoved})
"""Events that change only bets, and no offer while no referral or claim is open."""


def console_view(
    table: Table,
    *,
    now: int | None = None,
    countdown: CountdownView | None = None,
    transfers: tuple[TransferInTransit, ...] = (),
    watch: WatchView | None = None,
) -> ConsoleView:
    """A table as its staff see it. The caller gives clock, transfers and the test of the dice."""
    return ConsoleView(
        table=table.name,
        day=table.day,
        shift=table.shift,
        offers=offers(table, now),
        irregularities=irregularities(table, now),
        countdown=countdown or countdown_view(table),
        people=_people(table),
        equipment=tuple(_item(table, item) for item in table.equipment.items.values()),
        shoe=_shoe(table),
        seats=_seats(table),
        risk=_risk(table),
        referrals=waiting(table, MOST_REFERRALS),
        withdrawal=_withdrawal(table),
        claims=tuple(map(claim_line, islice(table.claims.values(), MOST_CLAIMS))),
        reading=_reading(table, now),
        transfers=transfers,
        watch=watch,
        exposure=table.limits.exposure,
        odds=dict(table.offers),
    )


def after_bets(before: ConsoleView, table: Table, events: Iterable[object] = ()) -> ConsoleView | None:
    """The console after changes of bets only, made much faster; None if more has changed."""
    if any(type(event) not in ONLY_BETS for event in events) or before.referrals or before.claims:
        return None
    return msgspec.structs.replace(before, seats=_seats(table), risk=_risk(table))


def _people(table: Table) -> tuple[PersonLine, ...]:
    return tuple(
        PersonLine(
            name=name, rank=person.rank, position=person.position, label=rank_label(table, person.position)
        )
        for name, person in table.people.items()
    )


def _item(table: Table, item: EquipmentItem) -> ItemLine:
    kit = table.equipment
    placed = kit.placed.get(item.id)
    is_counted = placed is not None and item.hours_on_table is not None
    due = (
        inspection
        for before in InspectedBefore
        for other, inspection in kit.due(before, table.settings)
        if other.id == item.id
    )
    return ItemLine(
        item=item.id,
        label=item_label(table, item.id),
        clause=str(item.clause),
        placed=placed is not None,
        failed=placed is not None and not placed.working,
        serial=placed.serial if placed else "",
        custodian=placed.custodian if placed else None,
        until=placed.since + (item.hours_on_table or 0) * HOUR if placed and is_counted else None,
        due=tuple(
            InspectionDue(
                before=str(inspection.before),
                by=inspection.by,
                runs=inspection.runs,
                clause=str(inspection.clause),
            )
            for inspection in due
        ),
    )


def _shoe(table: Table) -> ShoeView | None:
    shoe = table.shoe
    if not shoe.used:
        return None
    return ShoeView(
        decks=shoe.decks, cards=shoe.cards, left=shoe.left, burnt=shoe.burnt, rounds=shoe.rounds,
        seen=tuple(shoe.seen), shuffled=shoe.shuffled, spoilt=shoe.spoilt,
        unready=shoe.unready(table.settings),
    )  # fmt: skip


def _seats(table: Table) -> SeatsView:
    taken = [seat for seat in table.seats.values() if seat.taken]
    return SeatsView(
        taken=len(taken),
        shown=tuple(
            SeatLine(
                seat=seat.name, player=seat.player, terminal=seat.terminal, session=seat.session,
                layout=seat.layout, at_risk=seat.at_risk,
                credits=sum(purse.credits for purse in seat.purses.values()),
                colour=seat.colour, colour_value=seat.colour_value,
            )
            for seat in taken[:MOST_SEATS]
        ),
        colours=colours(len(taken) + 1) if Means.COLOUR_CHIPS in table.means else (),
    )  # fmt: skip


def _risk(table: Table) -> RiskView | None:
    round_ = table.round
    if round_ is None:
        return None
    losses = exposures(table)
    worst, best = losses.index(max(losses)), losses.index(min(losses))
    return RiskView(
        staked=round_.staked,
        bets=len(round_.bets) - len(round_.gone),
        worst=extreme(OUTCOMES[worst], losses[worst]),
        best=extreme(OUTCOMES[best], losses[best]),
        exposures=tuple(losses),
    )


def _withdrawal(table: Table) -> WithdrawalView | None:
    clause = table.holds.get(Hold.WITHDRAWAL)
    if clause is None or table.round is None:
        return None
    chosen = table.round.choices
    waiting_for = sum(1 for seat in table.round.seats() if seat not in chosen)
    return WithdrawalView(clause=str(clause), chosen=dict(chosen), waiting=waiting_for)


def _reading(table: Table, now: int | None) -> ReadingView | None:
    """The reading of the current shake; after a fault, with the irregularity to report."""
    reading = table.round.reading if table.round else None
    if reading is None:
        return None
    fault, faces = reading.fault, faces_read(table)
    return ReadingView(
        id=reading.id,
        device=reading.device,
        shake=reading.shake,
        faces=faces_of(Outcome.of(*faces)) if faces else None,
        fault=str(fault) if fault else None,
        label=texts.FAULTS[fault] if fault else texts.SAW,
        suggested=irregularity(table, suggested(table, fault), now) if fault else None,
    )

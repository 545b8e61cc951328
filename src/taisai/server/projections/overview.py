"""The lobby, the pit and the cage: what is shown of all tables together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Final

from taisai.cage import House
from taisai.cage.messages import ClockJumped, DiceAlarmNoted, OverrideNoted, PersonLocked
from taisai.game import Account, Table, exposures
from taisai.protocol.views import (
    Alarm,
    CageView,
    LargeWin,
    LobbyTable,
    LobbyView,
    PitTable,
    PitView,
    TableClaims,
    Words,
)
from taisai.server.projections.books import TransfersInTransit
from taisai.server.projections.felt import denominations
from taisai.server.projections.history import History
from taisai.server.projections.labels import board_of, claim_line, phase_label, title_of, waiting
from taisai.server.projections.table import limits_range

MOST_WAITING: Final = 20  # referrals of a table that the pit is shown
MOST_QUICK: Final = 6  # amounts that the cage is offered to sell
MOST_WINS: Final = 50  # the latest large wins that the pit is shown
MOST_CLAIMS: Final = 100  # of a table that the cage is shown


def lobby_view(tables: Mapping[str, tuple[Table, History]]) -> LobbyView:
    """Every table that one may go to."""
    return LobbyView(
        tables=tuple(_in_lobby(table, history) for table, history in tables.values() if table.open)
    )


def _in_lobby(table: Table, history: History) -> LobbyTable:
    least, most = limits_range(table)
    return LobbyTable(
        name=table.name,
        title=title_of(table),
        rulebook=table.book.id,
        phase=str(table.phase),
        label=phase_label(table),
        bets_open=table.phase.bets_open,
        number=table.round.number if table.round else len(table.rounds),
        last=history.last,
        operator=table.book.operator,
        least=least,
        most=most,
        currency=table.currency,
        demonstration=table.demonstration,
        shut=table.shut is not None,
    )


def pit_view(house: House, tables: Mapping[str, Table], alarms: tuple[Alarm, ...] = ()) -> PitView:
    """Every table, and what needs someone's attention; alarms come from outside."""
    return PitView(
        tables=tuple(_in_pit(table) for table in tables.values() if table.name),
        alarms=alarms,
        wins=tuple(
            LargeWin(table=table, round=number, seat=seat, won=won)
            for (table, number, seat), won in islice(reversed(house.wins.items()), MOST_WINS)
        ),
        locked=tuple(sorted(house.locked)),
    )


def _in_pit(table: Table) -> PitTable:
    board = board_of(table)
    return PitTable(
        name=table.name,
        title=title_of(table),
        phase=str(table.phase),
        label=phase_label(table),
        number=table.round.number if table.round else len(table.rounds),
        dealer=table.dealer(),
        shut=board.shut,
        hold=board.hold,
        says=board.says,
        clause=board.clause,
        referrals=waiting(table, MOST_WAITING),
        staked=table.round.staked if table.round else 0,
        worst=max(exposures(table)),
    )


def cage_view(
    house: House, tables: Mapping[str, Table], transit: TransfersInTransit | None = None
) -> CageView:
    """The cage; give `transit` where it is shown again and again."""
    transit = transit or TransfersInTransit()
    transit.catch_up(house, tables)
    balances = house.ledger.balances
    return CageView(
        house=house.name,
        currency=house.currency,
        quick=_quick(tables.values()),
        cash=balances[Account.CAGE],
        outstanding=balances[Account.TICKETS],
        flights=transit.flights(),
        claims=tuple(_claims(table) for table in tables.values() if table.claims),
    )


def _quick(tables: Iterable[Table]) -> tuple[int, ...]:
    """A few round amounts: the greatest chips that are played with anywhere."""
    chips = {
        chip
        for table in tables
        if table.open
        for chip in denominations(table.limits.least, table.limits.most)
    }
    return tuple(sorted(chips))[-MOST_QUICK:]


def _claims(table: Table) -> TableClaims:
    balances = table.ledger.balances
    return TableClaims(
        table=table.name,
        to_players=balances[Account.CLAIMS_OF_PLAYERS],
        by_players=balances[Account.CLAIMS_ON_PLAYERS],
        claims=tuple(map(claim_line, islice(table.claims.values(), MOST_CLAIMS))),
    )


def alarm_of(event: object) -> Alarm | None:
    """What the pit is told of an event, if it is told anything."""
    match event:
        case DiceAlarmNoted():
            says = Words(
                en=f"Dice {event.serial} look unfair: {event.results} results counted, e = {event.e_value}",
                zh=f"骰子 {event.serial} 疑似不公平：已计 {event.results} 次，e = {event.e_value}",
            )
            return Alarm(at=event.at, about=event.table, says=says)
        case ClockJumped():
            says = Words(en=f"The clock was set by {event.jump} ms", zh=f"时钟被调整 {event.jump} 毫秒")
            return Alarm(at=event.at, about="floor", says=says)
        case OverrideNoted():
            says = Words(en=f"{event.person}: {event.detail}", zh=f"{event.person}：{event.detail}")
            return Alarm(at=event.at, about=event.table, says=says)
        case PersonLocked():
            says = Words(en=f"{event.person} is locked", zh=f"{event.person} 已被锁定")
            return Alarm(at=event.at, about="floor", says=says)
        case _:
            return None
